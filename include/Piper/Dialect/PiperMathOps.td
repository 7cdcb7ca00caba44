// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix product, arithmetic, activations, reductions and shape ops.

#ifndef PIPER_DIALECT_MATHOPS_TD
#define PIPER_DIALECT_MATHOPS_TD

include "Piper/Dialect/PiperComputeBase.td"

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

def ConstantOp : Piper_Op<"constant", [Pure, ConstantLike,
    AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "A tensor known at compile time";
  let description = [{
    The `piper.constant` operation makes a dense constant.

    Example:
    ```mlir
    %rows = piper.constant dense<8> : tensor<i64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Piper_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

def MatmulOp : Piper_ComputeOp<"matmul"> {
  let summary = "Matrix product, batched, with optional transposes";
  let description = [{
    The `piper.matmul` operation multiplies the last two dimensions:
    `[.., M, K] x [.., K, N] -> [.., M, N]`. `transpose_a` reads `a` as
    `[.., K, M]`, `transpose_b` reads `b` as `[.., N, K]`. The dimensions before
    are batch dimensions: equal, or 1, or absent on one side (as for `piper.add`). Sums are made in f32
    (f64 in an f64 program).

    Example:
    ```mlir
    %z = piper.matmul %y, %wte {transpose_b}
        : (tensor<16x128x64xf32>, tensor<256x64xf32>) -> tensor<16x128x256xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$a, Piper_FloatTensor:$b,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Piper_FloatTensor:$y);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic with broadcasting
//===----------------------------------------------------------------------===//

def AddOp : Piper_BinaryOp<"add", Piper_NumberTensor> {
  let summary = "Sum, element by element, with broadcasting";
  let description = [{
    The `piper.add` operation adds two tensors. Shapes are aligned at their
    last dimension; a dimension that is 1 or absent is repeated. Integers wrap around.

    Example:
    ```mlir
    %y = piper.add %x, %bias : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let hasFolder = 1;
}
def SubOp : Piper_BinaryOp<"sub"> {
  let summary = "Difference, element by element, with broadcasting";
  let description = [{
    The `piper.sub` operation subtracts `b` from `a`, with the broadcasting of `piper.add`.

    Example:
    ```mlir
    %y = piper.sub %x, %t : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let hasFolder = 1;
}
def MulOp : Piper_BinaryOp<"mul"> {
  let summary = "Product, element by element, with broadcasting";
  let description = [{
    The `piper.mul` operation multiplies two tensors, with the broadcasting of `piper.add`.

    Example:
    ```mlir
    %y = piper.mul %x, %g : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let hasFolder = 1;
}
def DivOp : Piper_BinaryOp<"div"> {
  let summary = "Quotient, element by element, with broadcasting";
  let description = [{
    The `piper.div` operation divides `a` by `b`, with the broadcasting of `piper.add`. For
    the mean of a loss use `piper.divide`.

    Example:
    ```mlir
    %y = piper.div %x, %d : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    ```
  }];
  let hasFolder = 1;
}

def SelectOp : Piper_ComputeOp<"select", [], ["buildGradient", "isCheapToRecompute"]> {
  let summary = "Chooses between two tensors by a mask";
  let description = [{
    The `piper.select` operation takes the element of `a` where the mask is
    true and that of `b` elsewhere, with the broadcasting of `piper.add`. The
    mask has no gradient.

    Example:
    ```mlir
    %y = piper.select %keep, %x, %z : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_MaskTensor:$mask, Piper_FloatTensor:$a, Piper_FloatTensor:$b);
  let results = (outs Piper_FloatTensor:$y);
  let hasVerifier = 1;
}

def ScaleOp : Piper_UnaryOp<"scale"> {
  let summary = "Product with a constant";
  let description = [{
    The `piper.scale` operation multiplies by a number known at compile time.

    Example:
    ```mlir
    %y = piper.scale %x {factor = 5.000000e-01 : f64} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x, F64Attr:$factor);
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Piper_SimpleUnaryOp<string mnemonic, string what, string formula>
    : Piper_UnaryOp<mnemonic> {
  let summary = what # ", element by element";
  let description = "\n    The `piper." # mnemonic # "` operation computes " # formula # [{ for each element.

    Example:
    ```mlir
    %y = piper.}] # mnemonic # [{ %x : tensor<4x8xf32>
    ```
  }];
}
def NegOp : Piper_SimpleUnaryOp<"neg", "Negative", "-x"> { let hasFolder = 1; }
def ExpOp : Piper_SimpleUnaryOp<"exp", "Exponential", "e^x">;
def LogOp : Piper_SimpleUnaryOp<"log", "Natural logarithm", "ln x">;
def RsqrtOp : Piper_SimpleUnaryOp<"rsqrt", "Reciprocal square root", "1/sqrt(x)">;
def SquareOp : Piper_SimpleUnaryOp<"square", "Square", "x*x">;
def TanhOp : Piper_SimpleUnaryOp<"tanh", "Hyperbolic tangent", "tanh x">;
def SigmoidOp : Piper_SimpleUnaryOp<"sigmoid", "Logistic function", "1/(1 + e^-x)">;
def ReluOp : Piper_SimpleUnaryOp<"relu", "Rectifier", "max(x, 0)">;
def SiluOp : Piper_SimpleUnaryOp<"silu", "Sigmoid-weighted linear unit", "x/(1 + e^-x)">;

def GeluOp : Piper_UnaryOp<"gelu"> {
  let summary = "Gaussian error linear unit, element by element";
  let description = [{
    The `piper.gelu` operation computes `x * Phi(x)` with the error function or,
    with `approximate`, `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`
    (Hendrycks and Gimpel, arXiv 1606.08415, section 2; `gelu_new` of GPT-2).

    Example:
    ```mlir
    %y = piper.gelu %x {approximate} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x, UnitAttr:$approximate);
}

def StopGradientOp : Piper_UnaryOp<"stop_gradient"> {
  let summary = "The operand, without a gradient";
  let description = [{
    The `piper.stop_gradient` operation returns its operand; the gradient of the
    operand is zero.

    Example:
    ```mlir
    %y = piper.stop_gradient %x : tensor<4x8xf32>
    ```
  }];
}

class Piper_SimpleUnaryGradOp<string of, string formula> : Piper_UnaryGradOp<of # "_grad"> {
  let summary = "Gradient of piper." # of;
  let description = "\n    The `piper." # of # "_grad` operation computes " # formula # [{. Made by `piper-autodiff`.

    Example:
    ```mlir
    %dx = piper.}] # of # [{_grad %dy, %s : tensor<4x8xf32>
    ```
  }];
}
def TanhGradOp : Piper_SimpleUnaryGradOp<"tanh", "`dy (1 - y^2)` from the result y">;
def SigmoidGradOp : Piper_SimpleUnaryGradOp<"sigmoid", "`dy y (1 - y)` from the result y">;
def ReluGradOp : Piper_SimpleUnaryGradOp<"relu", "dy where the operand x is positive, 0 where it is not, NaN where it is NaN">;
def SiluGradOp : Piper_SimpleUnaryGradOp<"silu", "`dy s (1 + x (1 - s))` with s = sigmoid(x), from the operand x">;
def GeluGradOp : Piper_UnaryGradOp<"gelu_grad"> {
  let summary = "Gradient of piper.gelu";
  let description = [{
    The `piper.gelu_grad` operation computes the gradient from the operand x, in
    the same form (`approximate` or not). Made by `piper-autodiff`.

    Example:
    ```mlir
    %dx = piper.gelu_grad %dy, %x {approximate} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$dy, Piper_FloatTensor:$saved, UnitAttr:$approximate);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def ReduceSumOp : Piper_ComputeOp<"reduce_sum"> {
  let summary = "Sum over some dimensions";
  let description = [{
    The `piper.reduce_sum` operation sums over `dims` (ascending, unique). The
    result lacks these dimensions, or has 1 there with `keep_dims`.

    Example:
    ```mlir
    %s = piper.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x, DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims);
  let results = (outs Piper_FloatTensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReduceMaxOp : Piper_ComputeOp<"reduce_max"> {
  let summary = "Maximum over some dimensions";
  let description = [{
    The `piper.reduce_max` operation takes the maximum over `dims` (ascending,
    unique). The gradient goes to the elements equal to the maximum, in equal
    parts.

    Example:
    ```mlir
    %s = piper.reduce_max %x {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x, DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims);
  let results = (outs Piper_FloatTensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReduceMaxGradOp : Piper_PlainOp<"reduce_max_grad"> {
  let summary = "Gradient of piper.reduce_max";
  let description = [{
    The `piper.reduce_max_grad` operation spreads `dy` over the elements of `x`
    that equal the maximum `y`, in equal parts. Made by `piper-autodiff`.

    Example:
    ```mlir
    %dx = piper.reduce_max_grad %dy, %x, %y {dims = array<i64: 1>} : (tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$dy, Piper_FloatTensor:$x, Piper_FloatTensor:$y,
                       DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims);
  let results = (outs Piper_FloatTensor:$dx);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shapes and element types
//===----------------------------------------------------------------------===//

class Piper_ShapeOp<string mnemonic, list<Trait> traits = [], list<string> costMethods = []>
    : Piper_ComputeOp<mnemonic, traits, ["buildGradient", "isCheapToRecompute"], costMethods> {
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReshapeOp : Piper_ShapeOp<"reshape", [], ["getBytes"]> {
  let summary = "The same elements in another shape";
  let description = [{
    The `piper.reshape` operation reads the elements, in row-major order, in the
    shape of its result. It moves no data.

    Example:
    ```mlir
    %y = piper.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
    ```
  }];
  let arguments = (ins Piper_Tensor:$x);
  let results = (outs Piper_Tensor:$y);
}

def TransposeOp : Piper_ShapeOp<"transpose"> {
  let summary = "Dimensions in another order";
  let description = [{
    The `piper.transpose` operation permutes dimensions: dimension i of the
    result is dimension `permutation[i]` of the operand.

    Example:
    ```mlir
    %y = piper.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Piper_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Piper_Tensor:$y);
}

def SliceOp : Piper_ShapeOp<"slice", [], ["getBytes"]> {
  let summary = "A part of a tensor";
  let description = [{
    The `piper.slice` operation takes the elements from `offsets` on, as many as
    its result type says. A slice of the first dimension alone moves no data.

    Example:
    ```mlir
    %y = piper.slice %x {offsets = array<i64: 0, 4>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Piper_Tensor:$x, DenseI64ArrayAttr:$offsets);
  let results = (outs Piper_Tensor:$y);
}

def PadOp : Piper_ShapeOp<"pad"> {
  let summary = "A tensor with zeros around it";
  let description = [{
    The `piper.pad` operation puts its operand at `offsets` into a result that is
    zero elsewhere: the gradient of `piper.slice`.

    Example:
    ```mlir
    %y = piper.pad %x {offsets = array<i64: 0, 4>} : (tensor<4x2xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_Tensor:$x, DenseI64ArrayAttr:$offsets);
  let results = (outs Piper_Tensor:$y);
}

def ConcatOp : Piper_ShapeOp<"concat"> {
  let summary = "Tensors one after another along a dimension";
  let description = [{
    The `piper.concat` operation joins its operands along `dim`.

    Example:
    ```mlir
    %y = piper.concat %a, %b {dim = 1 : i64} : (tensor<4x2xf32>, tensor<4x6xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Piper_Tensor>:$parts, I64Attr:$dim);
  let results = (outs Piper_Tensor:$y);
}

def BroadcastOp : Piper_ShapeOp<"broadcast"> {
  let summary = "A tensor repeated to a larger shape";
  let description = [{
    The `piper.broadcast` operation repeats its operand, with shapes aligned at
    their last dimension.

    Example:
    ```mlir
    %y = piper.broadcast %x : (tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_Tensor:$x);
  let results = (outs Piper_Tensor:$y);
}

def CastOp : Piper_ShapeOp<"cast"> {
  let summary = "Another element type";
  let description = [{
    The `piper.cast` operation converts each element: to a float type by rounding to
    nearest even, from float to integer by truncation toward zero, to i1 by comparison with zero. Only casts
    between float types have a gradient.

    Example:
    ```mlir
    %y = piper.cast %x : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Piper_Tensor:$x);
  let results = (outs Piper_Tensor:$y);
}

#endif // PIPER_DIALECT_MATHOPS_TD
