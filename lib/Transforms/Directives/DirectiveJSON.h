// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file form of directives: a JSON list of objects {"op": "place", ..}.

#ifndef PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVEJSON_H
#define PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVEJSON_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::piper {

/// Adds the directives of a file, checked one by one, to those of the module.
/// Emits one error for what is wrong, at its place in the file.
LogicalResult addDirectiveFile(ModuleOp module, StringRef path);

/// One directive on a line, "op" first, then the keys in alphabetical order;
/// reading the text gives the same list. Requires: a list that
/// `parseDirectives` takes.
std::string printDirectives(ArrayRef<Attribute> list);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVEJSON_H
