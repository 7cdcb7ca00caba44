// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks, programs and their entry points.

#ifndef PIPER_DIALECT_PLANOPS_TD
#define PIPER_DIALECT_PLANOPS_TD

include "Piper/Dialect/PiperAttributes.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

/// A value of a step: a local tensor, or one with its coordinates.
def Piper_Value : AnyTypeOf<[Piper_Tensor, Piper_Dist]>;

//===----------------------------------------------------------------------===//
// Of the step
//===----------------------------------------------------------------------===//

def TaskOp : Piper_Op<"task", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One call of a body: the unit of placing, ordering and running";
  let description = [{
    The `piper.task` operation calls a function that computes its results from
    its operands and nothing else. The operands of `into` are tied to the last results, in order: such a result is
    the operand plus what the function returns, made in place; a call without `into` writes what
    the function returns, so one function serves both.

    `pass` says which part of the step it is; `salt` is the key of the call's random numbers.
    `segment` is the number of the group of ops of the model it comes from, `mb` its micro-batch, `stage` its pipeline stage and `copy` which
    of two copies of that stage; -1 stands for none. In a plan, `id` is its place in the common order
    of all programs, `on` the coordinates that run it where there are several, `waits` the ids of ops of other streams of this
    program that end before it starts, `offsets` has one byte
    offset in the arena per result, and `workspace` that of the body's temporaries.

    Example:
    ```mlir
    func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %y = piper.tanh %x : tensor<4xf32>
      %z = piper.square %x : tensor<4xf32>
      return %y, %z : tensor<4xf32>, tensor<4xf32>
    }
    func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y:2 = piper.task @f(%x) pass = F salt = 3 tags = <layer = 1> segment = 1 mb = 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %z:2 = piper.task @f(%x) into(%y#1) pass = F salt = 3 tags = <layer = 1> segment = 1 mb = 1
          : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      return %z#1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Piper_Value>:$inputs,
                       Variadic<Piper_Value>:$into,
                       EnumProp<PassEnum>:$pass,
                       DefaultValuedProp<IntProp<"int64_t">, "0">:$salt,
                       OptionalAttr<TagsAttr>:$tags,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$segment,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$mb,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$stage,
                       DefaultValuedProp<IntProp<"int64_t">, "0">:$copy,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$id,
                       OptionalAttr<DenseI64ArrayAttr>:$on,
                       OptionalAttr<DenseI64ArrayAttr>:$waits,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$workspace,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Variadic<Piper_Value>:$outs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` (`into` `(` $into^ `)`)? `pass` `=` $pass (`salt` `=` $salt^)?
    (`tags` `=` $tags^)? (`segment` `=` $segment^)? (`mb` `=` $mb^)? (`stage` `=` $stage^)?
    (`copy` `=` $copy^)? (`id` `=` $id^)? (`on` `=` $on^)? (`waits` `=` $waits^)?
    (`workspace` `=` $workspace^)? (`offsets` `=` $offsets^)? attr-dict `:` functional-type(operands, results)
  }];
}

def MicroBatchOp : Piper_Op<"micro_batch", [Pure]> {
  let summary = "The rows of one micro-batch of a step input";
  let description = [{
    The `piper.micro_batch` operation is slice `index` of the first dimension of a step input that
    `piper-split` has given a leading micro-batch dimension. It is a view: nothing runs.

    Example:
    ```mlir
    func.func @f(%tokens: tensor<4x2x8xi32>) -> tensor<2x8xi32> {
      %0 = piper.micro_batch %tokens[1] : tensor<4x2x8xi32> -> tensor<2x8xi32>
      return %0 : tensor<2x8xi32>
    }
    ```
  }];
  let arguments = (ins Piper_Tensor:$input, IntProp<"int64_t">:$index);
  let results = (outs Piper_Tensor:$out);
  let assemblyFormat = "$input `[` $index `]` attr-dict `:` type($input) `->` type($out)";
  let hasVerifier = 1;
}

def MeshOp : Piper_Op<"mesh", [Symbol]> {
  let summary = "The axes along which a step is distributed";
  let description = [{
    The `piper.mesh` operation names the axes of the mesh and their sizes; a rank is a row-major
    index. Made by `piper-place`.

    Example:
    ```mlir
    piper.mesh @mesh ["pp"] = [4]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axes, DenseI64ArrayAttr:$sizes);
  let assemblyFormat = "$sym_name $axes `=` $sizes attr-dict";
  let hasVerifier = 1;
}

def TransferOp : Piper_Op<"transfer", [Pure]> {
  let summary = "A value goes from one pipeline coordinate to another";
  let description = [{
    The `piper.transfer` operation sends its operand from the first of its coordinates to the one
    coordinate of its result. It runs on the stream `pp.out` of the one and `pp.in` of the other. Made by
    `piper-place`, turned into a send and a receive by `piper-partition`.

    Example:
    ```mlir
    func.func @f(%x: !piper.dist<tensor<4xf32>, on [pp = 0]>) -> !piper.dist<tensor<4xf32>, on [pp = 1]> {
      %y = piper.transfer %x : !piper.dist<tensor<4xf32>, on [pp = 0]> -> !piper.dist<tensor<4xf32>, on [pp = 1]>
      return %y : !piper.dist<tensor<4xf32>, on [pp = 1]>
    }
    ```
  }];
  let arguments = (ins Piper_Dist:$input);
  let results = (outs Piper_Dist:$out);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($out)";
  let hasVerifier = 1;
}

def AllReduceOp : Piper_Op<"all_reduce", [Pure]> {
  let summary = "The sum of values of several coordinates, on all of them";
  let description = [{
    The `piper.all_reduce` operation adds its operands from left to right and stores the sum on every coordinate of
    its result. Each operand is taken from the first of its coordinates. Of one operand it is a broadcast, of
    any element type; a sum has elements of f32, f64, i32 or i64. It runs on the stream `reduce`. Made by `piper-place`.

    Example:
    ```mlir
    func.func @f(%a: !piper.dist<tensor<4xf32>, on [pp = 0]>, %b: !piper.dist<tensor<4xf32>, on [pp = 3]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 3]> {
      %c = piper.all_reduce %a, %b over ["pp"] : (!piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 3]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 3]>
      return %c : !piper.dist<tensor<4xf32>, on [pp = 0, 3]>
    }
    ```
  }];
  let arguments = (ins Variadic<Piper_Dist>:$inputs, StrArrayAttr:$axes);
  let results = (outs Piper_Dist:$out);
  let assemblyFormat = "$inputs `over` $axes attr-dict `:` functional-type($inputs, $out)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Of a program
//===----------------------------------------------------------------------===//

def SendOp : Piper_Op<"send"> {
  let summary = "The sending end of a transfer";
  let description = [{
    The `piper.send` operation sends its operand to coordinate `to`. `id` is the number of
    the message, the same at both ends, and its place in the common order of all programs. `waits` is as that of `piper.task`. It runs on the stream `pp.out`.

    Example:
    ```mlir
    piper.program @p0 at [pp = 0] target = <cpu, threads = 1> {
      piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> () {
        piper.send %x to 1 id = 7 waits = [5] : tensor<4xf32>
        piper.return
      }
    }
    ```
  }];
  let arguments = (ins Piper_Tensor:$input, IntProp<"int64_t">:$to, IntProp<"int64_t">:$id,
                       OptionalAttr<DenseI64ArrayAttr>:$waits);
  let assemblyFormat = [{
    $input `to` $to `id` `=` $id (`waits` `=` $waits^)? attr-dict `:` type($input)
  }];
}

def ReceiveOp : Piper_Op<"receive"> {
  let summary = "The receiving end of a transfer";
  let description = [{
    The `piper.receive` operation receives a value from coordinate `from`: see `piper.send`. It runs on the stream `pp.in`.

    Example:
    ```mlir
    piper.program @p1 at [pp = 1] target = <cpu, threads = 1> {
      piper.entry @eval() -> (tensor<4xf32> {piper.output = "y"}) {
        %y = piper.receive from 0 id = 7 : tensor<4xf32>
        piper.return %y : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins IntProp<"int64_t">:$from, IntProp<"int64_t">:$id,
                       OptionalAttr<DenseI64ArrayAttr>:$waits,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Piper_Tensor:$out);
  let assemblyFormat = [{
    `from` $from `id` `=` $id (`waits` `=` $waits^)? (`offsets` `=` $offsets^)? attr-dict `:` type($out)
  }];
}

def ReduceOp : Piper_Op<"reduce"> {
  let summary = "One coordinate's part in an all-reduce";
  let description = [{
    The `piper.reduce` operation is what one coordinate does in a `piper.all_reduce`: `terms` has the coordinate of each term
    of the sum, in the order of addition, and this coordinate's terms are its operands, in that order. `members` are all coordinates that take part;
    one that stores the sum has a result. `id` is the number of the all-reduce, as that of `piper.send`. It runs on the stream `reduce`.

    Example:
    ```mlir
    piper.program @p3 at [pp = 3] target = <cpu, threads = 1> {
      piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
        %y = piper.reduce %x terms = [0, 3] members = [0, 3] id = 9 : (tensor<4xf32>) -> tensor<4xf32>
        piper.return %y : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins Variadic<Piper_Tensor>:$inputs, DenseI64ArrayAttr:$terms,
                       DenseI64ArrayAttr:$members, IntProp<"int64_t">:$id,
                       OptionalAttr<DenseI64ArrayAttr>:$waits,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Variadic<Piper_Tensor>:$outs);
  let assemblyFormat = [{
    ($inputs^)? `terms` `=` $terms `members` `=` $members `id` `=` $id (`waits` `=` $waits^)?
    (`offsets` `=` $offsets^)? attr-dict `:` functional-type($inputs, $outs)
  }];
}

def ProgramOp : Piper_Op<"program", [IsolatedFromAbove, SymbolTable, Symbol,
    SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "What the ranks of one place run";
  let description = [{
    The `piper.program` operation holds the entry points of one place: `train`,
    `eval`, `predict`. All share one arena; parameters and optimizer state lie at the same
    offsets in each. `at` is its coordinate of the mesh, where there is one. `buffering` is the number of messages that a channel
    may hold (0: a send ends when the value is received). `arena` is its size in bytes, once `piper-plan-memory` has run.

    Example:
    ```mlir
    piper.program @main target = <cpu, threads = 1> {
      piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
        piper.return %x : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$coordinate,
                       TargetAttr:$target,
                       DefaultValuedProp<IntProp<"int64_t">, "0">:$buffering,
                       OptionalAttr<I64Attr>:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`at` ` ` `[` `pp` `=` $coordinate^ `]`)? `target` `=` $target
    (`buffering` `=` $buffering^)? (`arena` `=` $arena^)? attr-dict-with-keyword $body
  }];
}

def EntryOp : Piper_Op<"entry", [IsolatedFromAbove, FunctionOpInterface, HasParent<"ProgramOp">,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "One entry point of a program";
  let description = [{
    The `piper.entry` operation is a list of ops in the order in which they
    run. `ops` is the number of ops of the step in all programs: their ids go from 0 to `ops` - 1. Its arguments are inputs, parameters and state; its results outputs, the next values of state (in place), and
    gradients that are kept. `offsets` has one byte offset per argument; `peak` is the
    end of the last byte used, `live` the largest sum of bytes live at one time, and `peak_op` the index of
    the task where that is. `categories` says what these bytes are.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<I64Attr>:$ops,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets,
                       OptionalAttr<I64Attr>:$peak, OptionalAttr<I64Attr>:$live,
                       OptionalAttr<I64Attr>:$peak_op,
                       OptionalAttr<DictionaryAttr>:$categories);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def ReturnOp : Piper_Op<"return", [Pure, Terminator, HasParent<"EntryOp">]> {
  let summary = "The results of an entry point";
  let description = [{
    The `piper.return` operation ends a `piper.entry`.
  }];
  let arguments = (ins Variadic<Piper_Tensor>:$outs);
  let assemblyFormat = "($outs^ `:` type($outs))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)odsState; }]>];
  let hasVerifier = 1;
}

#endif // PIPER_DIALECT_PLANOPS_TD
