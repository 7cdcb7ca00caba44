// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself, the base classes of its definitions, and the type
// constraints that ops share.

#ifndef PIPER_DIALECT_BASE_TD
#define PIPER_DIALECT_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"

def Piper_Dialect : Dialect {
  let name = "piper";
  let cppNamespace = "::mlir::piper";
  let summary = "Training programs and their distribution";
  let description = [{
    The Piper dialect holds a training program at every level of its way from a
    single-device model to one plan per device: compute ops at the level of a
    kernel library, tasks that call shared bodies, and the programs of each
    place with the offset of every buffer.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let discardableAttrs = (ins
    "::mlir::piper::TagsAttr":$tags,
    "::mlir::piper::InputAttr":$input,
    "::mlir::piper::ParamAttr":$param,
    "::mlir::piper::StateAttr":$state,
    "::mlir::StringAttr":$output,
    "::mlir::StringAttr":$next,
    "::mlir::StringAttr":$gradient,
    "::mlir::piper::LevelAttr":$level,
    "::mlir::piper::MemoryAttr":$memory,
    "::mlir::piper::StrategyAttr":$strategy,
    "::mlir::ArrayAttr":$directives
  );
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Piper_Op<string mnemonic, list<Trait> traits = []>
    : Op<Piper_Dialect, mnemonic, traits>;

class Piper_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Piper_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

//===----------------------------------------------------------------------===//
// Type constraints
//===----------------------------------------------------------------------===//

def Piper_FloatTensor : StaticShapeTensorOf<[F32, F64, BF16]>;
def Piper_IndexTensor : StaticShapeTensorOf<[I32, I64]>;
def Piper_NumberTensor : StaticShapeTensorOf<[F32, F64, BF16, I32, I64]>;
def Piper_MaskTensor : StaticShapeTensorOf<[I1]>;
def Piper_Tensor : StaticShapeTensorOf<[F32, F64, BF16, I1, I32, I64]>;
def Piper_Count : 0DTensorOf<[I64]>;
def Piper_Scalar : 0DTensorOf<[F32, F64]>;
def Piper_Flag : 0DTensorOf<[I1]>;
/// (seed, update): what random numbers depend on beside salt and position.
def Piper_RandomKey : StaticShapeTensorOf<[I64]>;
/// Where a piece lies in a whole tensor: one number per dimension.
def Piper_Origin : StaticShapeTensorOf<[I64]>;

#endif // PIPER_DIALECT_BASE_TD
