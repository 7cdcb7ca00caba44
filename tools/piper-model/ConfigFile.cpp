// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a file to JSON to the family that `model_type` names.

#include "ConfigFile.h"

#include "Piper/Schedule/JSON.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::piper;

/// LLVM's JSON parser recurses; deeper text than this is no config.
static constexpr int kDeepest = 100;

static bool isTooDeep(StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kDeepest)
      return true;
  }
  return false;
}

static llvm::Expected<GPT2Config> readText(StringRef text,
                                           std::vector<std::string> &warnings) {
  if (::piper::schedule::hasByteOrderMark(text.str()))
    return llvm::createStringError(::piper::schedule::kByteOrderMarkError);
  if (isTooDeep(text))
    return llvm::createStringError("brackets are nested deeper than 100");
  auto json = llvm::json::parse(text);
  if (!json)
    return json.takeError();
  if (auto key = ::piper::schedule::findRepeatedKey(text.str()))
    return llvm::createStringError("key '" + *key + "' is given twice");
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return llvm::createStringError("expects a JSON object");
  const llvm::json::Value *type = object->get("model_type");
  if (!type)
    return llvm::createStringError("lacks 'model_type'; supported is \"gpt2\"");
  if (*type != llvm::json::Value("gpt2")) {
    std::string got;
    llvm::raw_string_ostream(got) << *type;
    return llvm::createStringError("'model_type' is " + got +
                                   "; supported is \"gpt2\"");
  }
  return readGPT2Config(*object, warnings);
}

llvm::Expected<GPT2Config>
mlir::piper::readConfigFile(StringRef path,
                            std::vector<std::string> &warnings) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  auto config = readText((*buffer)->getBuffer(), warnings);
  for (std::string &warning : warnings)
    warning = path.str() + ": " + warning;
  if (!config)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(config.takeError()));
  return config;
}
