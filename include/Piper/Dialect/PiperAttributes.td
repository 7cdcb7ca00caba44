// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attributes: what a user writes on a model (inputs, parameters, tags) and
// what passes add (level, state, target, memory).

#ifndef PIPER_DIALECT_ATTRIBUTES_TD
#define PIPER_DIALECT_ATTRIBUTES_TD

include "Piper/Dialect/PiperBase.td"

//===----------------------------------------------------------------------===//
// Of the model
//===----------------------------------------------------------------------===//

def TagsAttr : Piper_Attr<"Tags", "tags"> {
  let summary = "Annotations of an op: names with values";
  let description = [{
    The user's annotations, integers or strings, which segments, directives
    and traces refer to. Names are unique; the order does not matter.

    Example: `#piper.tags<layer = 3>`, `#piper.tags<layer = 1, name = "block">`.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$entries);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// "layer = 3, name = \"block\"": the text between the brackets.
    std::string text() const;
  }];
}

def InputAttr : Piper_Attr<"Input", "input"> {
  let summary = "An input of the step: its name and the names of its dimensions";
  let description = [{
    `split` is the dimension that `piper-split` has cut into micro-batches, which
    the type then has as its first dimension; -1 before.

    Example: `#piper.input<"tokens", dims = [batch, seq]>`, `#piper.input<"tokens", dims = [batch, seq], split = 0>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$dims,
                        DefaultValuedParameter<"int64_t", "-1">:$split);
  let hasCustomAssemblyFormat = 1;
}

def ParamAttr : Piper_Attr<"Param", "param"> {
  let summary = "A parameter: its name, dimensions, initial values";
  let description = [{
    `init` is `zeros`, `ones`, `normal<S>` (mean 0, standard deviation S) or a
    dense constant of the parameter's type; default `zeros`. A `frozen` parameter has no gradient, no
    optimizer state, and no update changes it.

    Example: `#piper.param<"wte", dims = [vocab, embed], init = normal<0.02>>`,
    `#piper.param<"b", frozen>`, `#piper.param<"w", init = dense<[1.0, 2.0]> : tensor<2xf32>>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$dims,
                        "::mlir::Attribute":$init, "bool":$frozen);
  let hasCustomAssemblyFormat = 1;
}

def InitAttr : Piper_Attr<"Init", "init"> {
  let summary = "A rule for initial values: zeros, ones, or normal with a standard deviation";
  let parameters = (ins "::mlir::StringAttr":$kind, "::mlir::FloatAttr":$scale);
  let assemblyFormat = "`<` $kind `,` $scale `>`";
}

def StrategyAttr : Piper_Attr<"Strategy", "strategy"> {
  let summary = "How to distribute a module: the keys of --piper-compile";
  let description = [{
    Stands on the module as `piper.strategy`. The keys are those of `--piper-compile`, which
    override it.

    Example: `#piper.strategy<"pipeline-parallel=4 schedule=1f1b micro-batches=8">`.
  }];
  let parameters = (ins "::mlir::StringAttr":$keys);
  let assemblyFormat = "`<` $keys `>`";
}

//===----------------------------------------------------------------------===//
// Made by passes
//===----------------------------------------------------------------------===//

def DistType : TypeDef<Piper_Dialect, "Dist"> {
  let mnemonic = "dist";
  let summary = "A tensor and the pipeline coordinates that store it";
  let description = [{
    The value is stored on each of the coordinates `on` of the mesh axis `pp` and is equal on all. A task
    runs on every coordinate of its results, and its operands are on these at least. A value of plain
    tensor type in a placed step is a step input, which every rank can read.

    Example: `!piper.dist<tensor<256x64xf32>, on [pp = 0, 3]>`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor, ArrayRefParameter<"int64_t">:$on);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Piper_Dist : Type<CPred<"::mlir::isa<::mlir::piper::DistType>($_self)">, "tensor with coordinates", "::mlir::piper::DistType">;

def LevelEnum : I32EnumAttr<"Level", "How far a module is on its way", [
    I32EnumAttrCase<"Model", 0, "model">,
    I32EnumAttrCase<"DAG", 1, "dag">,
    I32EnumAttrCase<"Placed", 2, "placed">,
    I32EnumAttrCase<"Programs", 3, "programs">,
    I32EnumAttrCase<"Plan", 4, "plan">]> {
  let cppNamespace = "::mlir::piper";
  let genSpecializedAttr = 0;
}
def LevelAttr : EnumAttr<Piper_Dialect, LevelEnum, "level"> {
  let assemblyFormat = "`<` $value `>`";
}

def PassEnum : I32EnumAttr<"PassKind", "Which part of the step a task is", [
    I32EnumAttrCase<"F", 0>, I32EnumAttrCase<"B", 1>, I32EnumAttrCase<"BI", 2>,
    I32EnumAttrCase<"BW", 3>, I32EnumAttrCase<"R", 4>, I32EnumAttrCase<"U", 5>,
    I32EnumAttrCase<"Once", 6, "once">]> {
  let cppNamespace = "::mlir::piper";
  let genSpecializedAttr = 0;
}

def StateAttr : Piper_Attr<"State", "state"> {
  let summary = "State of the optimizer or of the step: a moment of a parameter, or a counter";
  let description = [{
    Example: `#piper.state<"wte.m", of = "wte">`, `#piper.state<"update">`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalParameter<"::mlir::StringAttr">:$parameter);
  let assemblyFormat = "`<` $name (`,` `of` `=` $parameter^)? `>`";
}

def TargetAttr : Piper_Attr<"Target", "target"> {
  let summary = "What a plan is made for";
  let description = [{
    Example: `#piper.target<cpu, threads = 1>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$device, "int64_t":$threads);
  let hasCustomAssemblyFormat = 1;
}

def MemoryAttr : Piper_Attr<"Memory", "memory"> {
  let summary = "Where the values of a shared body lie";
  let description = [{
    `values` has three numbers for each result of each op, in order: the base (0 an
    operand of the body, 1 a result, 2 the workspace), which operand or
    result, and the byte offset in it. `kernels` has, for each op, the offset of its scratch memory in the
    workspace, or -1. `bytes` is the size of the workspace.

    Example: `#piper.memory<bytes = 64, values = [2, 0, 0, 1, 0, 0], kernels = [-1, -1]>`.
  }];
  let parameters = (ins "int64_t":$bytes, OptionalArrayRefParameter<"int64_t">:$values,
                        OptionalArrayRefParameter<"int64_t">:$kernels);
  let assemblyFormat = "`<` `bytes` `=` $bytes (`,` `values` `=` `[` $values^ `]`)? (`,` `kernels` `=` `[` $kernels^ `]`)? `>`";
}

#endif // PIPER_DIALECT_ATTRIBUTES_TD
