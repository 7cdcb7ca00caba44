// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and printing of the attributes whose text is made for people.

#include "Piper/Dialect/Numbers.h"
#include "Piper/Dialect/PiperDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::piper;

#include "Piper/Dialect/PiperEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Piper/Dialect/PiperAttributes.cpp.inc"

void PiperDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Piper/Dialect/PiperAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TagsAttr
//===----------------------------------------------------------------------===//

LogicalResult TagsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               DictionaryAttr entries) {
  for (NamedAttribute entry : entries) {
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if (!(number && number.getType().isInteger(64)) &&
        !isa<StringAttr>(entry.getValue()))
      return emitError() << "expects tag '" << entry.getName().strref()
                         << "' to be an integer or a string but got "
                         << entry.getValue();
  }
  return success();
}

std::string TagsAttr::text() const {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::interleaveComma(getEntries(), os, [&](NamedAttribute entry) {
    os << entry.getName().strref() << " = ";
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      os << number.getInt();
    else
      entry.getValue().print(os);
  });
  return result;
}

Attribute TagsAttr::parse(AsmParser &parser, Type) {
  Builder &builder = parser.getBuilder();
  NamedAttrList entries;
  llvm::StringSet<> seen;
  auto parseEntry = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    if (!seen.insert(name).second)
      return parser.emitError(loc) << "tag '" << name << "' is given twice";
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      if (failed(*isNumber))
        return failure();
      entries.append(name, builder.getI64IntegerAttr(number));
      return success();
    }
    std::string text;
    if (failed(parser.parseOptionalString(&text)))
      return parser.emitError(parser.getCurrentLocation())
             << "expects tag '" << name << "' to be an integer or a string";
    entries.append(name, builder.getStringAttr(text));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry))
    return {};
  return TagsAttr::get(parser.getContext(),
                       entries.getDictionary(parser.getContext()));
}

void TagsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getEntries(), printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    printer << " = ";
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      printer << number.getInt();
    else
      printer << entry.getValue();
  });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// InputAttr, ParamAttr
//===----------------------------------------------------------------------===//

/// Parses `= [batch, seq]`.
static ParseResult parseDims(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &dims) {
  return failure(parser.parseEqual() ||
                 parser.parseCommaSeparatedList(
                     AsmParser::Delimiter::Square, [&]() -> ParseResult {
                       SMLoc loc = parser.getCurrentLocation();
                       std::string name;
                       if (parser.parseKeywordOrString(&name))
                         return failure();
                       StringAttr dim = parser.getBuilder().getStringAttr(name);
                       if (llvm::is_contained(dims, dim))
                         return parser.emitError(loc)
                                << "dimension '" << name << "' is named twice";
                       dims.push_back(dim);
                       return success();
                     }));
}

static void printDims(AsmPrinter &printer, ArrayRef<StringAttr> dims) {
  if (dims.empty())
    return;
  printer << ", dims = [";
  llvm::interleaveComma(dims, printer, [&](StringAttr dim) {
    printer.printKeywordOrString(dim);
  });
  printer << "]";
}

Attribute InputAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SmallVector<StringAttr> dims;
  int64_t split = -1;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && failed(parser.parseOptionalKeyword("split"))) {
    if (parser.parseKeyword("dims") || parseDims(parser, dims))
      return {};
    more = succeeded(parser.parseOptionalComma());
    if (more && parser.parseKeyword("split"))
      return {};
  }
  if (more) {
    SMLoc loc;
    if (parser.parseEqual() || parser.getCurrentLocation(&loc) ||
        parser.parseInteger(split))
      return {};
    if (split < 0) {
      parser.emitError(loc) << "expects a dimension of 0 or more";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return InputAttr::get(parser.getContext(),
                        parser.getBuilder().getStringAttr(name), dims, split);
}

void InputAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  printDims(printer, getDims());
  if (getSplit() >= 0)
    printer << ", split = " << getSplit();
  printer << ">";
}

/// Parses `zeros`, `ones`, `normal<0.02>` or a dense constant.
static ParseResult parseInit(AsmParser &parser, Attribute &init) {
  Builder &builder = parser.getBuilder();
  auto rule = [&](StringRef kind, double scale) {
    init = InitAttr::get(builder.getContext(), builder.getStringAttr(kind),
                         builder.getF64FloatAttr(scale));
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("zeros")))
    return rule("zeros", 0);
  if (succeeded(parser.parseOptionalKeyword("ones")))
    return rule("ones", 0);
  if (succeeded(parser.parseOptionalKeyword("normal"))) {
    double scale = 0;
    SMLoc loc;
    if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
        parser.parseFloat(scale) || parser.parseGreater())
      return failure();
    if (!(scale > 0) || !std::isfinite(scale))
      return parser.emitError(loc) << "expects a positive standard deviation";
    // Normal numbers of 53 random bits are below 8.6: all initial values, which
    // are rounded to f32, are then finite.
    constexpr double kLeast = 0x1p-126, kMost = 0x1p124;
    if (scale < kLeast || scale > kMost)
      return parser.emitError(loc)
             << "expects a standard deviation from " << numberText(kLeast)
             << " to " << numberText(kMost) << " but got " << numberText(scale);
    return rule("normal", scale);
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(init))
    return failure();
  if (!isa<DenseElementsAttr>(init))
    return parser.emitError(loc)
           << "expects 'zeros', 'ones', 'normal<S>' or a dense constant";
  return success();
}

Attribute ParamAttr::parse(AsmParser &parser, Type) {
  Builder &builder = parser.getBuilder();
  std::string name;
  SmallVector<StringAttr> dims;
  Attribute init =
      InitAttr::get(builder.getContext(), builder.getStringAttr("zeros"),
                    builder.getF64FloatAttr(0));
  bool frozen = false;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  llvm::StringSet<> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return {};
    if (!seen.insert(key).second) {
      parser.emitError(loc) << "'" << key << "' is given twice";
      return {};
    }
    if (key == "dims") {
      if (parseDims(parser, dims))
        return {};
    } else if (key == "init") {
      if (parser.parseEqual() || parseInit(parser, init))
        return {};
    } else if (key == "frozen") {
      frozen = true;
    } else {
      parser.emitError(loc)
          << "expects 'dims', 'init' or 'frozen' but got '" << key << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return ParamAttr::get(parser.getContext(), builder.getStringAttr(name), dims,
                        init, frozen);
}

void ParamAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  printDims(printer, getDims());
  printer << ", init = ";
  if (auto rule = dyn_cast<InitAttr>(getInit())) {
    printer << rule.getKind().getValue();
    if (rule.getKind() == "normal")
      printer << "<" << rule.getScale().getValueAsDouble() << ">";
  } else {
    printer << getInit();
  }
  if (getFrozen())
    printer << ", frozen";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  StringRef device;
  int64_t threads = 0;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&device))
    return {};
  if (device != "cpu") {
    parser.emitError(loc) << "expects device 'cpu' but got '" << device << "'";
    return {};
  }
  if (parser.parseComma() || parser.parseKeyword("threads") ||
      parser.parseEqual() || parser.getCurrentLocation(&loc) ||
      parser.parseInteger(threads) || parser.parseGreater())
    return {};
  if (threads < 1 || threads > 1024) {
    parser.emitError(loc) << "expects 1 to 1024 threads but got " << threads;
    return {};
  }
  return TargetAttr::get(parser.getContext(),
                         parser.getBuilder().getStringAttr(device), threads);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << "<" << getDevice().getValue() << ", threads = " << getThreads()
          << ">";
}
