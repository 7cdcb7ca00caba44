// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions, arguments and attributes of Level 0 models. The layers are in
// Layers.cpp.

#include "Piper/Models/ModelBuilder.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::piper;

/// Largest tensor a model may have: beyond any memory, far from overflow.
static constexpr int64_t kMostElements = int64_t(1) << 40;

ModelBuilder::ModelBuilder(MLIRContext *context, const ModelOptions &options)
    : context(context), builder(context) {
  context->loadDialect<func::FuncDialect>();
  dialect = context->getOrLoadDialect<PiperDialect>();
  element = options.doublePrecision ? FloatType(builder.getF64Type())
                                    : FloatType(builder.getF32Type());
  // Messages about a model need a place, though no text has made it.
  place = FileLineColLoc::get(context, "piper-model", 1, 1);
  module = ModuleOp::create(place);
  for (const std::string &text : options.freeze) {
    auto pattern = llvm::GlobPattern::create(text);
    if (pattern)
      freeze.push_back({text, std::move(*pattern), false});
    else
      fail("--freeze '" + text +
           "' is not a glob: " + llvm::toString(pattern.takeError()));
  }
}

void ModelBuilder::fail(const Twine &message) {
  if (error.empty())
    error = message.str();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void ModelBuilder::beginFunction(StringRef name) {
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, place, name,
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  argumentAttributes.clear();
  parameters.clear();
  randomKey = nullptr;
  untagged();
}

void ModelBuilder::endFunction(ArrayRef<std::pair<Value, StringRef>> outputs) {
  SmallVector<Value> values;
  SmallVector<Attribute> resultAttributes;
  for (auto [value, name] : outputs) {
    values.push_back(value);
    NamedAttribute output(dialect->getOutputAttrHelper().getName(),
                          builder.getStringAttr(name));
    resultAttributes.push_back(builder.getDictionaryAttr(output));
  }
  func::ReturnOp::create(builder, place, values);
  Block &body = function.getBody().front();
  function.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), ValueRange(values).getTypes()));
  function.setArgAttrsAttr(builder.getArrayAttr(argumentAttributes));
  function.setResAttrsAttr(builder.getArrayAttr(resultAttributes));
}

llvm::Expected<OwningModule> ModelBuilder::finish() {
  for (const Freeze &glob : freeze)
    if (!glob.matched)
      fail("--freeze '" + glob.text + "' matches no parameter");
  if (!error.empty())
    return llvm::createStringError(error);
  if (failed(verify(*module)))
    return llvm::createStringError("the model does not verify");
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value ModelBuilder::argument(StringRef name, Type type,
                             NamedAttribute attribute) {
  argumentAttributes.push_back(builder.getDictionaryAttr(attribute));
  return function.getBody().front().addArgument(
      type, NameLoc::get(builder.getStringAttr(name)));
}

SmallVector<StringAttr> ModelBuilder::strings(ArrayRef<StringRef> names) {
  return llvm::map_to_vector(
      names, [&](StringRef name) { return builder.getStringAttr(name); });
}

Value ModelBuilder::input(StringRef name, RankedTensorType type,
                          ArrayRef<StringRef> dims) {
  auto attribute =
      InputAttr::get(context, builder.getStringAttr(name), strings(dims), -1);
  return argument(name, type,
                  {dialect->getInputAttrHelper().getName(), attribute});
}

Value ModelBuilder::param(StringRef name, ArrayRef<int64_t> shape,
                          ArrayRef<StringRef> dims, Attribute init) {
  Value &value = parameters[name];
  if (value)
    return value;
  auto attribute = ParamAttr::get(context, builder.getStringAttr(name),
                                  strings(dims), init, isFrozen(name));
  value = argument(name, floats(shape),
                   {dialect->getParamAttrHelper().getName(), attribute});
  return value;
}

bool ModelBuilder::isFrozen(StringRef name) {
  bool frozen = false;
  for (Freeze &glob : freeze)
    if (glob.pattern.match(name))
      frozen = glob.matched = true;
  return frozen;
}

Attribute ModelBuilder::rule(StringRef kind, double scale) {
  return InitAttr::get(context, builder.getStringAttr(kind),
                       builder.getF64FloatAttr(scale));
}

RankedTensorType ModelBuilder::tensor(ArrayRef<int64_t> shape, Type type) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(elements, size, &elements) ||
        elements > kMostElements) {
      std::string sizes;
      llvm::raw_string_ostream os(sizes);
      llvm::interleaveComma(shape, os);
      fail("a tensor of [" + sizes + "] has more than 2^40 elements");
      return RankedTensorType::get(SmallVector<int64_t>(shape.size(), 1), type);
    }
  return RankedTensorType::get(shape, type);
}

RankedTensorType ModelBuilder::floats(ArrayRef<int64_t> shape) {
  return tensor(shape, element);
}

RankedTensorType ModelBuilder::integers(ArrayRef<int64_t> shape) {
  return tensor(shape, builder.getI32Type());
}

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

void ModelBuilder::tag(int64_t layer, StringRef name) {
  NamedAttribute entries[] = {
      builder.getNamedAttr("layer", builder.getI64IntegerAttr(layer)),
      builder.getNamedAttr("name", builder.getStringAttr(name))};
  tags = TagsAttr::get(context, builder.getDictionaryAttr(entries));
}
