// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where messages about a whole program stand.

#ifndef PIPER_DIALECT_PROGRAMLOCATION_H
#define PIPER_DIALECT_PROGRAMLOCATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::piper {

/// The place of `module` in its text. A text without `module` has none (the
/// parser gives line 0): then that of `train`, else of the first op that has
/// one, else the start of the file.
Location getProgramLoc(ModuleOp module);

InFlightDiagnostic emitProgramError(ModuleOp module);
InFlightDiagnostic emitProgramRemark(ModuleOp module);

} // namespace mlir::piper

#endif // PIPER_DIALECT_PROGRAMLOCATION_H
