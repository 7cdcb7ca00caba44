// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where messages about a whole program stand.

#include "Piper/Dialect/ProgramLocation.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

/// Whether a location is a line of a text; a module that the parser made
/// around a text has line 0.
static bool isInText(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  return place && place.getLine() > 0;
}

Location mlir::piper::getProgramLoc(ModuleOp module) {
  Location loc = module.getLoc();
  // With metadata, of which messages have no use.
  if (auto fused = dyn_cast<FusedLoc>(loc);
      fused && !fused.getLocations().empty())
    loc = fused.getLocations().front();
  if (isInText(loc))
    return loc;
  if (Operation *train = module.lookupSymbol("train");
      train && isInText(train->getLoc()))
    return train->getLoc();
  for (Operation &op : *module.getBody())
    if (isInText(op.getLoc()))
      return op.getLoc();
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return FileLineColLoc::get(file.getFilename(), 1, 1);
  return loc;
}

InFlightDiagnostic mlir::piper::emitProgramError(ModuleOp module) {
  return emitError(getProgramLoc(module));
}

InFlightDiagnostic mlir::piper::emitProgramRemark(ModuleOp module) {
  return emitRemark(getProgramLoc(module));
}
