// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file form of directives: a JSON list of objects {"op": "place", ..}.

#ifndef PIPER_TRANSFORMS_DIRECTIVEJSON_H
#define PIPER_TRANSFORMS_DIRECTIVEJSON_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::piper {

/// The directives of a file as they stand in `piper.directives`, checked one by
/// one. Emits one error for what is wrong, at its place in the file.
FailureOr<SmallVector<Attribute>> readDirectiveFile(ModuleOp module,
                                                    StringRef path);

/// One directive on a line, "op" first, then the keys in alphabetical order;
/// reading the text gives the same list. Requires: a list that
/// `parseDirectives` takes.
std::string printDirectives(ArrayRef<Attribute> list);

} // namespace mlir::piper

#endif // PIPER_TRANSFORMS_DIRECTIVEJSON_H
