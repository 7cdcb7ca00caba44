// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each directive of a module came from, for messages.

#include "Origins.h"

#include "Piper/Dialect/PiperDialect.h"

using namespace mlir;
using namespace mlir::piper;

/// The origins of all directives, the unit attribute for one of the text.
static ArrayAttr getOrigins(ModuleOp module) {
  auto fused = dyn_cast<FusedLoc>(module.getLoc());
  return fused ? dyn_cast_or_null<ArrayAttr>(fused.getMetadata()) : ArrayAttr();
}

void mlir::piper::addDirectives(ModuleOp module, ArrayRef<Attribute> directives,
                                ArrayRef<Attribute> origins) {
  if (directives.empty())
    return;
  Builder builder(module.getContext());
  StringRef name = PiperDialect::DirectivesAttrHelper::getNameStr();
  SmallVector<Attribute> list, from;
  if (auto present = module->getAttrOfType<ArrayAttr>(name))
    llvm::append_range(list, present);
  if (ArrayAttr known = getOrigins(module))
    llvm::append_range(from, known);
  from.resize(list.size(), builder.getUnitAttr());
  llvm::append_range(list, directives);
  llvm::append_range(from, origins);
  module->setAttr(name, builder.getArrayAttr(list));
  Location place = getProgramLoc(module);
  module->setLoc(
      FusedLoc::get({place}, builder.getArrayAttr(from), module.getContext()));
}

Origins::Origins(ModuleOp module) : module(module) {
  if (ArrayAttr known = getOrigins(module))
    llvm::append_range(origins, known);
}

Attribute Origins::at(int64_t number) const {
  size_t index = number - 1;
  return index < origins.size() ? origins[index] : Attribute();
}

std::string Origins::name(int64_t number, StringRef op) const {
  Attribute origin = at(number);
  if (auto key = dyn_cast_or_null<StringAttr>(origin))
    return ("key '" + key.getValue() + "'").str();
  if (auto place = dyn_cast_or_null<FileLineColLoc>(origin)) {
    // A file counts its own.
    int64_t before = 0;
    for (int64_t other = 1; other < number; ++other) {
      auto place2 = dyn_cast_or_null<FileLineColLoc>(at(other));
      before += place2 && place2.getFilename() == place.getFilename();
    }
    number = before + 1;
  }
  return ("directive #" + Twine(number) + " (" + op + ")").str();
}

Location Origins::place(int64_t number) const {
  if (auto place = dyn_cast_or_null<FileLineColLoc>(at(number)))
    return place;
  return getProgramLoc(module);
}

InFlightDiagnostic Origins::error(int64_t number) const {
  return emitError(place(number));
}

InFlightDiagnostic Origins::error(int64_t number, StringRef op) const {
  InFlightDiagnostic diagnostic = error(number);
  diagnostic << name(number, op) << ": ";
  return diagnostic;
}
