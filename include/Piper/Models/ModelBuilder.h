// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes Level 0 models: functions whose arguments are named inputs and
// parameters, and the layers that model families are made of.

#ifndef PIPER_MODELS_MODELBUILDER_H
#define PIPER_MODELS_MODELBUILDER_H

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <string>
#include <vector>

namespace mlir::piper {

/// What every family takes beside its own sizes.
struct ModelOptions {
  /// f64 instead of f32, for gradient checks.
  bool doublePrecision = false;
  /// Globs over parameter names; what matches is frozen. One that matches
  /// nothing is an error.
  std::vector<std::string> freeze;
};

using OwningModule = OwningOpRef<ModuleOp>;

/// Makes a module function by function. A function's arguments are declared
/// while its body is written: inputs by `input`, parameters at their first use.
/// The first error is kept and returned by `finish`; what is written after
/// it is of no use but does no harm.
class ModelBuilder {
public:
  ModelBuilder(MLIRContext *context, const ModelOptions &options);

  void beginFunction(StringRef name);
  /// Ends the function; each output is a value and the name it is read by.
  void endFunction(ArrayRef<std::pair<Value, StringRef>> outputs);
  /// The verified module, or the first error in one line.
  llvm::Expected<OwningModule> finish();

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  Value input(StringRef name, RankedTensorType type, ArrayRef<StringRef> dims);
  /// The parameter of this name, declared at its first use. `init` is one of
  /// the rules below or a dense constant of the parameter's type.
  Value param(StringRef name, ArrayRef<int64_t> shape, ArrayRef<StringRef> dims,
              Attribute init);
  Attribute zeros() { return rule("zeros", 0); }
  Attribute ones() { return rule("ones", 0); }
  Attribute normal(double scale) { return rule("normal", scale); }

  RankedTensorType floats(ArrayRef<int64_t> shape);
  RankedTensorType integers(ArrayRef<int64_t> shape);

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// Tags of the ops written from here on; `untagged` ends them.
  void tag(int64_t layer, StringRef name);
  void untagged() { tags = nullptr; }

  /// Writes an op with the current tags. `name` is what the text calls the
  /// result.
  template <typename Op, typename... Args>
  Op write(StringRef name, Args &&...args) {
    Location loc = NameLoc::get(builder.getStringAttr(name));
    Op op = Op::create(builder, loc, std::forward<Args>(args)...);
    if (tags)
      dialect->getTagsAttrHelper().setAttr(op, tags);
    return op;
  }

  Value add(StringRef name, Value x, Value y);
  /// x w, or x w^T.
  Value matmul(StringRef name, Value x, Value weight, bool transposed = false);
  /// x w + b with `PREFIX.weight` [in, out] and `PREFIX.bias` [out]: the
  /// storage of GPT-2's Conv1D.
  Value linear(StringRef prefix, Value x, int64_t out, StringRef inDim,
               StringRef outDim, double scale);
  Value layerNorm(StringRef prefix, Value x, double eps, StringRef dim);
  /// The activation that Hugging Face configs call `kind`; see `isActivation`.
  Value activation(StringRef kind, Value x);
  static bool isActivation(StringRef kind);
  /// A comma-separated list for messages.
  static std::string activationNames();
  /// Dropout with the function's random key; x itself for p = 0. `index` is
  /// unique among the random ops of one layer.
  Value dropout(Value x, double p, int64_t index);
  /// The function's random key, made where the function begins. Needed before
  /// the first op with random numbers.
  void makeRandomKey();
  Value getRandomKey() const { return randomKey; }
  /// Mean cross entropy over labels >= 0; count and division carry no tags.
  Value meanCrossEntropy(Value logits, Value labels);
  /// Sum of squared errors over `rows`; the division carries no tags.
  Value squaredError(Value x, Value target, int64_t rows);

  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  OpBuilder &ops() { return builder; }

private:
  Attribute rule(StringRef kind, double scale);
  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element);
  Value argument(StringRef name, Type type, NamedAttribute attribute);
  SmallVector<StringAttr> strings(ArrayRef<StringRef> names);
  bool isFrozen(StringRef name);
  void fail(const Twine &message);

  MLIRContext *context;
  PiperDialect *dialect;
  OpBuilder builder;
  FloatType element;
  /// Where messages about the model stand.
  LocationAttr place;
  OwningModule module;
  func::FuncOp function;
  SmallVector<Attribute> argumentAttributes;
  llvm::StringMap<Value> parameters;
  Value randomKey;
  TagsAttr tags;
  struct Freeze {
    std::string text;
    llvm::GlobPattern pattern;
    bool matched;
  };
  std::vector<Freeze> freeze;
  std::string error;
};

} // namespace mlir::piper

#endif // PIPER_MODELS_MODELBUILDER_H
