// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base classes of the compute ops. Each has a gradient (or says in its
// description why not), a sharding rule and a cost.

#ifndef PIPER_DIALECT_COMPUTEBASE_TD
#define PIPER_DIALECT_COMPUTEBASE_TD

include "Piper/Dialect/PiperAttributes.td"
include "Piper/Dialect/PiperInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Differentiable. `gradientMethods` and `costMethods` name the interface methods
/// that the op defines itself instead of taking the default.
class Piper_ComputeOp<string mnemonic, list<Trait> traits = [],
    list<string> gradientMethods = ["buildGradient"],
    list<string> costMethods = []>
    : Piper_Op<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<DifferentiableOpInterface, gradientMethods>,
        DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface, costMethods>]> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

/// Not differentiable: made by gradients and the optimizer, or of integers.
class Piper_PlainOp<string mnemonic, list<Trait> traits = []>
    : Piper_Op<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface>]> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

/// One float tensor in, one of the same type out, element by element.
class Piper_UnaryOp<string mnemonic, list<Trait> traits = []>
    : Piper_ComputeOp<mnemonic, traits # [SameOperandsAndResultType],
        ["buildGradient", "isCheapToRecompute"]> {
  let arguments = (ins Piper_FloatTensor:$x);
  let results = (outs Piper_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}

/// The gradient of a unary op from the gradient of its result and what it saved
/// (operand x or result y, as each says).
class Piper_UnaryGradOp<string mnemonic, list<Trait> traits = []>
    : Piper_PlainOp<mnemonic, traits # [SameOperandsAndResultType]> {
  let arguments = (ins Piper_FloatTensor:$dy, Piper_FloatTensor:$saved);
  let results = (outs Piper_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $saved attr-dict `:` type($dx)";
}

/// Two tensors, of floats unless said otherwise, element by element, with broadcasting: shapes are aligned at their last
/// dimension, and a dimension of 1 or absent is repeated.
class Piper_BinaryOp<string mnemonic, TypeConstraint type = Piper_FloatTensor,
                     list<Trait> traits = []>
    : Piper_ComputeOp<mnemonic, traits, ["buildGradient", "isCheapToRecompute"]> {
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$y);
  let hasVerifier = 1;
}

#endif // PIPER_DIALECT_COMPUTEBASE_TD
