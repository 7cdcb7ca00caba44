// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Piper dialect: its attributes, interfaces and ops.

#ifndef PIPER_DIALECT_PIPERDIALECT_H
#define PIPER_DIALECT_PIPERDIALECT_H

#include "Piper/Dialect/ShardingRule.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Piper/Dialect/PiperEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Piper/Dialect/PiperAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Piper/Dialect/PiperTypes.h.inc"

#include "Piper/Dialect/PiperDialect.h.inc"

#include "Piper/Dialect/PiperInterfaces.h.inc"

#define GET_OP_CLASSES
#include "Piper/Dialect/PiperOps.h.inc"

namespace mlir::piper {

/// The tensor that a rank stores of a value: that of a DistType, or the type
/// itself. Null for a type that is neither.
RankedTensorType getLocalTensor(Type type);

/// The coordinates that store a value, ascending; empty for a plain tensor.
ArrayRef<int64_t> getCoordinates(Type type);

} // namespace mlir::piper

#endif // PIPER_DIALECT_PIPERDIALECT_H
