// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a KernelSpec, which may come from a hostile file: a kernel indexes
// operands and shapes only after them.

#ifndef PIPER_LIB_RUNTIME_CPU_SPECCHECK_H
#define PIPER_LIB_RUNTIME_CPU_SPECCHECK_H

#include "Loops/Loops.h"
#include "Piper/Runtime/Kernel.h"

#include <string>
#include <vector>

namespace piper::rt::cpu {

using Shape = std::vector<int64_t>;

/// The table that families of kernels add their rows to.
using KernelTable = std::vector<KernelEntry>;

/// Where an element lies, as messages say it: "position 5 (row 1)", the row
/// being the index in the first dimension of several.
inline std::string placeOf(int64_t element, const TensorType &type) {
  std::string text = "position " + std::to_string(element);
  if (type.rank() > 1)
    text += " (row " +
            std::to_string(element / (type.numElements() / type.shape[0])) +
            ")";
  return text;
}

/// "kernel 'NAME' expects EXPECTED but got GOT".
Status kernelError(const KernelSpec &spec, const std::string &expected,
                   const std::string &got);

/// A number of operands or results, or a range of it.
struct Arity {
  Arity(int64_t count) : least(count), most(count) {}
  Arity(int64_t least, int64_t most) : least(least), most(most) {}
  int64_t least, most;
};
constexpr int64_t kAnyNumber = 1 << 20;

/// Whether this process can make kernels at all: PIPER_CPU makes sense.
Status checkProcess();

/// The `create` of a kernel after checkProcess, which the other functions of
/// its row do not need: they depend on the spec alone.
template <auto create>
Result<std::unique_ptr<Kernel>> checked(const KernelSpec &spec,
                                        const Target &target) {
  PIPER_RETURN_IF_ERROR(checkProcess());
  return create(spec, target);
}

/// The numbers of operands and results; types whose dimensions are positive and
/// whose size in bytes fits in 62 bits.
Status checkSpec(const KernelSpec &spec, Arity operands, Arity results);

/// Requires for all below: checkSpec succeeded and the index is in range.
Status expectElement(const KernelSpec &spec, const TensorType &type,
                     const std::string &which, ElementType element);
/// f32 or f64.
Status expectReal(const KernelSpec &spec, const TensorType &type,
                  const std::string &which);
/// i32 or i64.
Status expectIndices(const KernelSpec &spec, const TensorType &type,
                     const std::string &which);
Status expectType(const KernelSpec &spec, const TensorType &type,
                  const std::string &which, ElementType element,
                  const Shape &shape);
/// At least `rank` dimensions.
Status expectRank(const KernelSpec &spec, const TensorType &type,
                  const std::string &which, int64_t rank);
/// f32 or f64, and no dimension.
Status expectScalarReal(const KernelSpec &spec, const TensorType &type,
                        const std::string &which);
/// A finite float attribute, present.
Status expectFloatAttribute(const KernelSpec &spec, const char *name);
/// All operands and results have the type of operand 0, of f32 or f64.
Status expectAllEqualReal(const KernelSpec &spec);

inline std::string operandName(int64_t index) {
  return "operand " + std::to_string(index);
}
inline std::string resultName(int64_t index) {
  return "result " + std::to_string(index);
}

/// The product of dims begin .. end - 1.
int64_t product(const Shape &shape, int64_t begin, int64_t end);
int64_t product(const Shape &shape);
/// "4x8", "scalar" for rank 0.
std::string shapeText(const Shape &shape);

/// The threads of a target, from a plan that nobody checked yet: 1 to 1024.
inline int threadsOf(const Target &target) {
  return target.threads < 1 ? 1 : target.threads > 1024 ? 1024 : target.threads;
}

/// The loops of f32 or f64.
template <typename T> const TypedLoops<T> &typedLoops();
template <> inline const TypedLoops<float> &typedLoops<float>() {
  return loops().f32;
}
template <> inline const TypedLoops<double> &typedLoops<double>() {
  return loops().f64;
}

/// Makes Of<float> or Of<double> by element type. Requires: f32 or f64.
template <template <typename> class Of, typename... Arguments>
std::unique_ptr<Kernel> makeReal(ElementType element,
                                 const Arguments &...arguments) {
  if (element == ElementType::F64)
    return std::make_unique<Of<double>>(arguments...);
  return std::make_unique<Of<float>>(arguments...);
}

template <typename T> constexpr ElementType kElement = ElementType::F32;
template <> constexpr ElementType kElement<double> = ElementType::F64;

/// Element `i` of a tensor of i32 or i64.
inline int64_t readIndex(const void *data, ElementType type, int64_t i) {
  return type == ElementType::I32 ? static_cast<const int32_t *>(data)[i]
                                  : static_cast<const int64_t *>(data)[i];
}

/// The number in a scalar of f32 or f64.
inline double readReal(const void *data, ElementType type) {
  return type == ElementType::F64 ? *static_cast<const double *>(data)
                                  : double(*static_cast<const float *>(data));
}
inline void writeReal(void *data, ElementType type, double value) {
  if (type == ElementType::F64)
    *static_cast<double *>(data) = value;
  else
    *static_cast<float *>(data) = float(value);
}

// Each family of kernels.
void addAttentionKernels(KernelTable &table);
void addAttentionGradKernels(KernelTable &table);
void addBroadcastKernels(KernelTable &table);
void addCastKernels(KernelTable &table);
void addConstantKernels(KernelTable &table);
void addCrossEntropyKernels(KernelTable &table);
void addDropoutKernels(KernelTable &table);
void addElementwiseKernels(KernelTable &table);
void addEmbeddingKernels(KernelTable &table);
void addLayerNormKernels(KernelTable &table);
void addMatmulKernels(KernelTable &table);
void addNormKernels(KernelTable &table);
void addReduceKernels(KernelTable &table);
void addReduceMaxKernels(KernelTable &table);
void addScalarKernels(KernelTable &table);
void addShapeKernels(KernelTable &table);
void addSoftmaxKernels(KernelTable &table);
void addTransposeKernels(KernelTable &table);
void addUpdateKernels(KernelTable &table);

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_SPECCHECK_H
