// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules by which two tensors are compared.

#include "Piper/Runtime/Compare.h"
#include "Piper/Runtime/Step.h"

#include <algorithm>
#include <cmath>

using namespace piper::rt;

static double elementAt(const TensorView &view, int64_t index) {
  return readScalar(view.type.element,
                    view.data + index * elementBytes(view.type.element));
}

/// Keeps in `result` the element with the largest |x - ref| / allowed.
/// `Allowed` maps |ref| to the allowed difference, which is positive.
template <typename Allowed>
static MatchResult findWorst(const TensorView &value,
                             const TensorView &reference, Allowed allowed) {
  MatchResult worst;
  double worstRatio = -1;
  for (int64_t i = 0; i < reference.type.numElements(); ++i) {
    double x = elementAt(value, i), ref = elementAt(reference, i);
    double limit = allowed(std::abs(ref));
    double ratio = std::abs(x - ref) / limit;
    if (!std::isfinite(x) || !std::isfinite(ref)) {
      bool same = x == ref || (std::isnan(x) && std::isnan(ref));
      ratio = same ? 0 : HUGE_VAL;
    }
    if (ratio <= worstRatio)
      continue;
    worstRatio = ratio;
    worst = {ratio <= 1, i, x, ref, limit};
  }
  return worst;
}

MatchResult piper::rt::matchTensors(const TensorView &value,
                                    const TensorView &reference) {
  double largest = 0;
  for (int64_t i = 0; i < reference.type.numElements(); ++i) {
    double size = std::abs(elementAt(reference, i));
    if (std::isfinite(size))
      largest = std::max(largest, size);
  }
  constexpr double kZero = 1e-7;
  if (largest <= kZero)
    return matchWithin(value, reference, kZero);
  return findWorst(value, reference, [&](double size) {
    double limit = 1e-5 * largest;
    return size > 1e-3 * largest ? std::min(limit, 1e-3 * size) : limit;
  });
}

MatchResult piper::rt::matchWithin(const TensorView &value,
                                   const TensorView &reference, double bound) {
  return findWorst(value, reference, [&](double) { return bound; });
}
