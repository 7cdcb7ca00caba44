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

def TaskOp : Piper_Op<"task", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One call of a body: the unit of placing, ordering and running";
  let description = [{
    The `piper.task` operation calls a function that computes its results from
    its operands and nothing else. `pass` says which part of the step it is; `salt` is
    the key of the call's random numbers. In a plan, `offsets` has one byte
    offset in the arena per result, and `workspace` that of the body's temporaries.

    Example:
    ```mlir
    func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = piper.tanh %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = piper.task @f(%x) pass = F salt = 3 tags = <layer = 1> : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Piper_Tensor>:$inputs,
                       EnumProp<PassEnum>:$pass,
                       DefaultValuedProp<IntProp<"int64_t">, "0">:$salt,
                       OptionalAttr<TagsAttr>:$tags,
                       DefaultValuedProp<IntProp<"int64_t">, "-1">:$workspace,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Variadic<Piper_Tensor>:$outs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `pass` `=` $pass (`salt` `=` $salt^)? (`tags` `=` $tags^)?
    (`workspace` `=` $workspace^)? (`offsets` `=` $offsets^)? attr-dict `:` functional-type($inputs, $outs)
  }];
}

def ProgramOp : Piper_Op<"program", [IsolatedFromAbove, SymbolTable, Symbol,
    SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "What the ranks of one place run";
  let description = [{
    The `piper.program` operation holds the entry points of one place: `train`,
    `eval`, `predict`. All share one arena; parameters and optimizer state lie at the same
    offsets in each. `arena` is its size in bytes, once `piper-plan-memory` has run.

    Example:
    ```mlir
    piper.program @main target = <cpu, threads = 1> {
      piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
        piper.return %x : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TargetAttr:$target,
                       OptionalAttr<I64Attr>:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `target` `=` $target (`arena` `=` $arena^)? attr-dict-with-keyword $body
  }];
}

def EntryOp : Piper_Op<"entry", [IsolatedFromAbove, FunctionOpInterface, HasParent<"ProgramOp">,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "One entry point of a program";
  let description = [{
    The `piper.entry` operation is a list of tasks in the order in which they
    run. Its arguments are inputs, parameters and state; its results outputs, the next values of state (in place), and
    gradients that are kept. `offsets` has one byte offset per argument; `peak` is the
    end of the last byte used, `live` the largest sum of bytes live at one time, and `peak_op` the index of
    the task where that is. `categories` says what these bytes are.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
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
