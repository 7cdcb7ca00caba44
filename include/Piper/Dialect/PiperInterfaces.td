// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op tells the passes about itself: its gradient, how its dimensions
// may be split, and what it costs. A pass reads these and no op names.

#ifndef PIPER_DIALECT_INTERFACES_TD
#define PIPER_DIALECT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::piper";
  let description = [{
    An op that has a gradient, given as a vector-Jacobian product.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands. `resultGrads` has one entry per
      result, null where no gradient arrives (at least one is not null).
      `wanted` has one entry per operand; `operandGrads` (preset to nulls, one per operand) gets a value of the operand's
      type for each wanted operand that has a gradient, and stays null where
      the gradient is zero. The ops are built at `builder`, which may be in
      another block than the op: they may use the operands and results of the
      op, which the caller makes available there.
      }],
      "void", "buildGradient",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
           "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>,
    InterfaceMethod<[{
      Appends the types of the further results that the gradient needs and that the
      op can return beside its own (statistics of a norm, the log-sum-exp of a
      softmax). The op is then cloned with these results added at the end.
      Nothing where the op needs none or has them.
      }],
      "void", "getSavedTypes",
      (ins "::llvm::SmallVectorImpl<::mlir::Type> &":$types), "", [{ (void)types; }]>,
    InterfaceMethod<[{
      Whether the backward should run this op again rather than keep its
      result: true for element-wise ops and views.
      }],
      "bool", "isCheapToRecompute", (ins), "", [{ return false; }]>,
  ];
}

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::mlir::piper";
  let description = [{
    An op whose dimensions are named by factors as in an einsum, so that it
    can be split along any of them. See ShardingRule.
  }];
  let methods = [
    InterfaceMethod<"The factors of the op.",
      "::mlir::piper::ShardingRule", "getShardingRule">,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mlir::piper";
  let description = [{
    An op that knows its own cost, from its shapes alone.
  }];
  let methods = [
    InterfaceMethod<"Floating point operations of one run.",
      "int64_t", "getFlops">,
    InterfaceMethod<[{
      Bytes that one run reads and writes: by default all operands and results.
      }],
      "int64_t", "getBytes", (ins), "", [{
        return ::mlir::piper::operandAndResultBytes($_op.getOperation());
      }]>,
  ];
}

def PositionOpInterface : OpInterface<"PositionOpInterface"> {
  let cppNamespace = "::mlir::piper";
  let description = [{
    An op whose results depend on where its elements lie in a whole tensor, as
    random numbers do. Where the op has only a piece of that tensor, `global_shape` is
    the shape of the whole, and the operand `origin` says where the piece begins.
  }];
  let methods = [
    InterfaceMethod<[{
      The factors of the whole tensor's dimensions, of the rule of the op; none if
      the results do not depend on positions.
      }],
      "::mlir::piper::ShardingRule::Dims", "getPositionDims",
      (ins "const ::mlir::piper::ShardingRule &":$rule)>,
    InterfaceMethod<"The operand that says where the piece begins, or null for its start.",
      "::mlir::Value", "getOrigin">,
    InterfaceMethod<"The shape of the whole tensor, where the op has a piece of it.",
      "::std::optional<::llvm::ArrayRef<int64_t>>", "getGlobalShape">,
    InterfaceMethod<"Makes the op one on a piece of a tensor of this shape.",
      "void", "setPosition",
      (ins "::mlir::Value":$origin, "::llvm::ArrayRef<int64_t>":$globalShape)>,
  ];
}

def UpdateCheckOpInterface : OpInterface<"UpdateCheckOpInterface"> {
  let cppNamespace = "::mlir::piper";
  let description = [{
    An op that counts which elements of an update would not be finite. It runs where the
    parameter is, and the update waits for it.
  }];
  let methods = [
    InterfaceMethod<"The parameter.", "::mlir::Value", "getParam">,
    InterfaceMethod<"The count, of one element.", "::mlir::Value", "getNonfinite">,
  ];
}

#endif // PIPER_DIALECT_INTERFACES_TD
