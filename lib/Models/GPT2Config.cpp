// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the config.json of a Hugging Face GPT-2. Keys and defaults:
// transformers 5.24, configuration_gpt2.py.

#include "Piper/Models/GPT2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::piper;

using llvm::json::Object;
using JSON = llvm::json::Value;

namespace {
/// Reads keys one by one, remembers which, and keeps the first error.
class ConfigReader {
public:
  explicit ConfigReader(const Object &json) : json(json) {}

  /// A size from 1 to INT32_MAX, under its own name or the one transformers
  /// takes as well; absent is the default, and nothing else is: transformers
  /// would keep a null, and fail with it later.
  void size(StringRef key, StringRef alias, int64_t &value) {
    bool given = oneSize(key, value);
    int64_t other = value;
    if (!alias.empty() && oneSize(alias, other)) {
      if (given && other != value)
        fail("'" + key + "' and '" + alias +
             "' are two names of one size but "
             "differ: " +
             Twine(value) + " and " + Twine(other));
      value = other;
    }
  }

  void number(StringRef key, double low, double high, double &value) {
    if (const JSON *found = find(key)) {
      auto read = found->getAsNumber();
      if (!read || !(*read >= low && *read < high))
        return expects(
            key, "a number from " + print(low) + " to below " + print(high),
            *found);
      if (*read != 0 && std::abs(*read) < FLT_MIN)
        return expects(key, "0 or a number of at least 1.17549435e-38", *found);
      value = *read;
    }
  }

  void flag(StringRef key, bool &value) {
    if (const JSON *found = find(key)) {
      auto read = found->getAsBoolean();
      if (!read)
        return expects(key, "true or false", *found);
      value = *read;
    }
  }

  void text(StringRef key, std::string &value) {
    if (const JSON *found = find(key)) {
      auto read = found->getAsString();
      if (!read)
        return expects(key, "a string", *found);
      value = read->str();
    }
  }

  /// A size that may be null, as if absent.
  void sizeOrNull(StringRef key, int64_t &value) {
    if (!isNull(key))
      oneSize(key, value);
  }

  /// A key that changes the result unless it has this value, or without one is
  /// null or empty.
  void only(StringRef key, std::optional<bool> harmless) {
    const JSON *found = find(key);
    if (!found || (harmless && found->getAsBoolean() == harmless) ||
        (!harmless && isNull(key)))
      return;
    if (harmless && isNull(key))
      return expects(key, "true or false", *found);
    const Object *object = found->getAsObject();
    const llvm::json::Array *array = found->getAsArray();
    if ((object && object->empty()) || (array && array->empty()))
      return;
    fail("'" + key + "' is not supported" +
         (harmless ? (*harmless ? " but as true" : " but as false") : ""));
  }

  void expects(StringRef key, const Twine &what, const JSON &got) {
    std::string text;
    llvm::raw_string_ostream(text) << got;
    fail("expects '" + key + "' to be " + what + " but got " + text);
  }

  void fail(const Twine &message) {
    if (error.empty())
      error = message.str();
  }

  const JSON *find(StringRef key) {
    read.insert(key);
    return json.get(key);
  }

  bool isNull(StringRef key) {
    const JSON *found = find(key);
    return found && found->kind() == JSON::Null;
  }

  bool wasRead(StringRef key) const { return read.contains(key); }
  const std::string &getError() const { return error; }

private:
  bool oneSize(StringRef key, int64_t &value) {
    const JSON *found = find(key);
    if (!found)
      return false;
    auto read = found->getAsInteger();
    if (!read || *read < 1 || *read > INT32_MAX) {
      expects(key, "an integer from 1 to 2147483647", *found);
      return false;
    }
    value = *read;
    return true;
  }

  static std::string print(double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", value);
    return text;
  }

  const Object &json;
  llvm::StringSet<> read;
  std::string error;
};
} // namespace

/// Keys that the language model does not read: tokens, other heads, generation,
/// bookkeeping. Those that start with `summary_` or `_` count as such too.
static bool isHarmless(StringRef key) {
  static constexpr StringLiteral keys[] = {"model_type",
                                           "bos_token_id",
                                           "eos_token_id",
                                           "pad_token_id",
                                           "sep_token_id",
                                           "decoder_start_token_id",
                                           "use_cache",
                                           "dtype",
                                           "torch_dtype",
                                           "transformers_version",
                                           "task_specific_params",
                                           "output_attentions",
                                           "output_hidden_states",
                                           "output_past",
                                           "return_dict",
                                           "torchscript",
                                           "gradient_checkpointing",
                                           "id2label",
                                           "label2id",
                                           "num_labels",
                                           "problem_type",
                                           "finetuning_task",
                                           "n_ctx",
                                           "n_special",
                                           "predict_special_tokens",
                                           "is_decoder",
                                           "tokenizer_class",
                                           "prefix",
                                           "chunk_size_feed_forward",
                                           "reorder_and_upcast_attn",
                                           "max_length",
                                           "min_length",
                                           "do_sample",
                                           "early_stopping",
                                           "num_beams",
                                           "num_beam_groups",
                                           "diversity_penalty",
                                           "temperature",
                                           "top_k",
                                           "top_p",
                                           "typical_p",
                                           "repetition_penalty",
                                           "length_penalty",
                                           "no_repeat_ngram_size",
                                           "encoder_no_repeat_ngram_size",
                                           "bad_words_ids",
                                           "num_return_sequences",
                                           "output_scores",
                                           "return_dict_in_generate",
                                           "forced_bos_token_id",
                                           "forced_eos_token_id",
                                           "remove_invalid_values",
                                           "exponential_decay_length_penalty",
                                           "suppress_tokens",
                                           "begin_suppress_tokens"};
  return key.starts_with("summary_") || key.starts_with("_") ||
         llvm::is_contained(keys, key);
}

static void checkArchitecture(ConfigReader &reader) {
  const JSON *found = reader.find("architectures");
  if (!found || reader.isNull("architectures"))
    return; // transformers writes null where it does not know
  const llvm::json::Array *names = found->getAsArray();
  if (names && names->empty())
    return reader.expects("architectures", "GPT2LMHeadModel or GPT2Model",
                          *found);
  for (const JSON &name : names ? *names : llvm::json::Array{*found})
    if (name != JSON("GPT2LMHeadModel") && name != JSON("GPT2Model"))
      reader.expects("architectures", "GPT2LMHeadModel or GPT2Model", name);
}

llvm::Expected<GPT2Config>
mlir::piper::readGPT2Config(const Object &json,
                            std::vector<std::string> &warnings) {
  GPT2Config config;
  config.layers = config.heads = 12;
  config.hidden = 768;
  config.vocab = 50257;
  config.positions = 1024;
  config.embeddingDropout = config.attentionDropout = config.residualDropout =
      0.1;
  ConfigReader reader(json);
  reader.size("n_layer", "num_hidden_layers", config.layers);
  reader.size("n_embd", "hidden_size", config.hidden);
  reader.size("n_head", "num_attention_heads", config.heads);
  reader.size("n_positions", "max_position_embeddings", config.positions);
  reader.size("vocab_size", "", config.vocab);
  reader.sizeOrNull("n_inner", config.inner);
  reader.number("embd_pdrop", 0, 1, config.embeddingDropout);
  reader.number("attn_pdrop", 0, 1, config.attentionDropout);
  reader.number("resid_pdrop", 0, 1, config.residualDropout);
  reader.number("layer_norm_epsilon", 1e-30, 1, config.epsilon);
  reader.number("initializer_range", 1e-12, 1e12, config.initializerRange);
  reader.flag("tie_word_embeddings", config.tied);
  reader.flag("scale_attn_weights", config.scaleAttention);
  reader.flag("scale_attn_by_inverse_layer_idx", config.scaleByInverseLayer);
  reader.text("activation_function", config.activation);
  if (!ModelBuilder::isActivation(config.activation))
    reader.fail("'activation_function' is '" + config.activation +
                "' but Piper has " + ModelBuilder::activationNames());
  checkArchitecture(reader);
  // Cross attention, pruned heads, quantised weights, code outside
  // transformers.
  reader.only("add_cross_attention", false);
  reader.only("is_encoder_decoder", false);
  reader.only("pruned_heads", std::nullopt);
  reader.only("quantization_config", std::nullopt);
  reader.only("auto_map", std::nullopt);
  reader.only("use_bfloat16", false);
  reader.only("tie_encoder_decoder", false);
  reader.only("cross_attention_hidden_size", std::nullopt);
  if (!reader.getError().empty())
    return llvm::createStringError(reader.getError());
  for (const auto &entry : json)
    if (!reader.wasRead(entry.first) && !isHarmless(entry.first))
      warnings.push_back("key '" + entry.first.str() +
                         "' is not known and changes nothing");
  llvm::sort(warnings);
  return config;
}
