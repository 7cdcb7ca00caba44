// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// norm_table and clip: the exact sum of squares of all gradients, and the
// decision to update. The table is an integer in base 2^32; adding to it is
// exact, so that no split of the storage, and no number of threads or ranks,
// changes a bit.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

#include <cmath>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// Digits of the table, and the weight of digit 0 as a power of two: those of
/// piper.norm_table.
static constexpr int64_t kDigits = 68, kLowestExponent = -1088;

/// Adds a finite number >= 0. Its 53 bits touch three digits.
static void addExactly(double value, int64_t *digits) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  int64_t exponent = int64_t(bits >> 52);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (exponent > 0)
    mantissa |= uint64_t(1) << 52;
  else
    exponent = 1;
  // The last bit of the mantissa has weight 2^(exponent - 1075).
  int64_t position = exponent - 1075 - kLowestExponent;
  unsigned __int128 wide = static_cast<unsigned __int128>(mantissa)
                           << (position % 32);
  digits += position / 32;
  digits[0] += int64_t(uint32_t(wide));
  digits[1] += int64_t(uint32_t(wide >> 32));
  digits[2] += int64_t(uint32_t(wide >> 64));
}

namespace {
class NormTableKernel : public Kernel {
public:
  NormTableKernel(const KernelSpec &spec, const Target &target)
      : threads(threadsOf(target)) {
    for (const TensorType &type : spec.operands)
      gradients.push_back({type.numElements(), type.element});
  }

  /// The table of a thread: its digits and its count of blocks that are not
  /// finite, in whole cache lines.
  static constexpr int64_t kTable = 72;

  Status run(const KernelCall &call) const override {
    int64_t *sum = static_cast<int64_t *>(call.results[0]);
    int64_t *nonfinite = static_cast<int64_t *>(call.results[1]);
    int64_t *tables = reinterpret_cast<int64_t *>(call.workspace);
    std::memset(tables, 0, size_t(kTable * threads) * sizeof(int64_t));
    for (size_t i = 0; i < gradients.size(); ++i) {
      const void *data = call.operands[i];
      int64_t n = gradients[i].elements;
      bool isDouble = gradients[i].element == ElementType::F64;
      int64_t groups = (n + kGroup - 1) / kGroup;
      parallelFor(threads, groups, rowGrain(kGroup),
                  [=](int64_t begin, int64_t end, int part) {
                    int64_t first = begin * kGroup, last = end * kGroup;
                    last = std::min(last, n);
                    int64_t *table = tables + part * kTable;
                    if (isDouble)
                      add(static_cast<const double *>(data), first, last,
                          table);
                    else
                      add(static_cast<const float *>(data), first, last, table);
                  });
      nonfinite[i] = 0;
      for (int64_t t = 0; t < threads; ++t) {
        nonfinite[i] += tables[t * kTable + kDigits];
        tables[t * kTable + kDigits] = 0;
      }
    }
    for (int64_t d = 0; d < kDigits; ++d) {
      sum[d] = 0;
      for (int64_t t = 0; t < threads; ++t)
        sum[d] += tables[t * kTable + d];
    }
    return Status::success();
  }

private:
  struct Gradient {
    int64_t elements;
    ElementType element;
  };
  static constexpr int64_t kBlock = 64, kGroup = 64 * kBlock;

  template <typename T>
  static void add(const T *x, int64_t first, int64_t last, int64_t *table) {
    double sums[kGroup / kBlock];
    for (; first < last; first += kGroup) {
      int64_t n = std::min(kGroup, last - first);
      typedLoops<T>().squareBlocks(x + first, n, sums);
      for (int64_t block = 0; block < (n + kBlock - 1) / kBlock; ++block)
        if (std::isfinite(sums[block]))
          addExactly(sums[block], table);
        else
          ++table[kDigits];
    }
  }

  std::vector<Gradient> gradients;
  int threads;
};

/// The square root of a table, with a relative error below 1e-15; inf or NaN
/// where the digits have no such meaning.
double rootOfTable(const int64_t *table) {
  int64_t digits[kDigits], carry = 0, top = -1;
  for (int64_t i = 0; i < kDigits; ++i) {
    // The arithmetic shift rounds down: the digit left is never negative.
    int64_t low = (table[i] & 0xffffffff) + carry;
    digits[i] = low & 0xffffffff;
    carry = (table[i] >> 32) + (low >> 32);
    if (digits[i] != 0)
      top = i;
  }
  if (carry != 0)
    return carry > 0 ? INFINITY : NAN;
  if (top < 0)
    return 0;
  double mantissa = 0;
  for (int64_t i = top; i > top - 3; --i)
    mantissa = mantissa * 0x1p32 + (i >= 0 ? double(digits[i]) : 0);
  // The exponent is even, so that its half belongs outside of the root.
  int64_t exponent = 32 * (top - 2) + kLowestExponent;
  return std::ldexp(std::sqrt(mantissa), int(exponent / 2));
}

class ClipKernel : public Kernel {
public:
  ClipKernel(const KernelSpec &spec)
      : maxNorm(spec.attributes.getFloat("max_norm")),
        gradients(spec.operands[1].numElements()),
        hasCount(spec.operands.size() == 3), normType(spec.results[0].element),
        scaleType(spec.results[1].element) {}

  Status run(const KernelCall &call) const override {
    const int64_t *nonfinite = static_cast<const int64_t *>(call.operands[1]);
    bool finite = true;
    for (int64_t i = 0; i < gradients; ++i)
      finite = finite && nonfinite[i] == 0;
    double norm =
        finite ? rootOfTable(static_cast<const int64_t *>(call.operands[0]))
               : NAN;
    if (normType == ElementType::F32)
      norm = double(float(norm));
    double scale = maxNorm / (norm + 1e-6);
    writeReal(call.results[0], normType, norm);
    scale = scale > 1 ? 1 : scale;
    writeReal(call.results[1], scaleType, scale);
    // Below the normal numbers the scale has few digits, or none.
    bool keepsDigits =
        scale >= (scaleType == ElementType::F32 ? 0x1p-126 : 0x1p-1022);
    bool counts =
        !hasCount || *static_cast<const int64_t *>(call.operands[2]) > 0;
    *static_cast<uint8_t *>(call.results[2]) =
        std::isfinite(norm) && keepsDigits && counts;
    return Status::success();
  }

private:
  double maxNorm;
  int64_t gradients;
  bool hasCount;
  ElementType normType, scaleType;
};
} // namespace

static Status checkNormTable(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(1, kAnyNumber), 2));
  for (size_t i = 0; i < spec.operands.size(); ++i)
    PIPER_RETURN_IF_ERROR(
        expectReal(spec, spec.operands[i], operandName(int64_t(i))));
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[0], resultName(0),
                                   ElementType::I64, {kDigits}));
  return expectType(spec, spec.results[1], resultName(1), ElementType::I64,
                    {int64_t(spec.operands.size())});
}

static Result<std::unique_ptr<Kernel>> createNormTable(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkNormTable(spec));
  return std::unique_ptr<Kernel>(
      std::make_unique<NormTableKernel>(spec, target));
}

static int64_t normTableWorkspace(const KernelSpec &spec,
                                  const Target &target) {
  return NormTableKernel::kTable * threadsOf(target) * int64_t(sizeof(int64_t));
}

static Result<std::unique_ptr<Kernel>> createClip(const KernelSpec &spec,
                                                  const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(2, 3), 3));
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[0], operandName(0),
                                   ElementType::I64, {kDigits}));
  PIPER_RETURN_IF_ERROR(
      expectElement(spec, spec.operands[1], operandName(1), ElementType::I64));
  if (spec.operands.size() == 3)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[2], operandName(2),
                                     ElementType::I64, {}));
  PIPER_RETURN_IF_ERROR(expectScalarReal(spec, spec.results[0], resultName(0)));
  PIPER_RETURN_IF_ERROR(expectScalarReal(spec, spec.results[1], resultName(1)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[2], resultName(2), ElementType::I1, {}));
  double maxNorm = spec.attributes.getFloat("max_norm", NAN);
  if (!(maxNorm > 0))
    return kernelError(
        spec, "a positive float attribute 'max_norm'",
        spec.attributes.find("max_norm") ? std::to_string(maxNorm) : "none");
  return std::unique_ptr<Kernel>(std::make_unique<ClipKernel>(spec));
}

void cpu::addNormKernels(KernelTable &table) {
  table.push_back({"norm_table", checked<createNormTable>, normTableWorkspace,
                   nullptr, nullptr});
  table.push_back({"clip", checked<createClip>, nullptr, nullptr, nullptr});
}
