// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of the 16-bit float types, for files and initial values.

#ifndef PIPER_LIB_RUNTIME_PROGRAM_FLOATCONVERSION_H
#define PIPER_LIB_RUNTIME_PROGRAM_FLOATCONVERSION_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace piper::rt {

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t bitsFromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Exact: a bf16 is the upper half of an f32.
inline float floatFromBf16(uint16_t bits) {
  return floatFromBits(uint32_t(bits) << 16);
}

/// Rounds to nearest even; a NaN stays one.
inline uint16_t bf16FromFloat(float value) {
  uint32_t bits = bitsFromFloat(value);
  if (std::isnan(value))
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// Exact, for IEEE binary16.
inline float floatFromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 0x1F)
    return floatFromBits(sign | 0x7F800000 | (mantissa << 13));
  if (exponent == 0) {
    float value = std::ldexp(float(mantissa), -24);
    return sign ? -value : value;
  }
  return floatFromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_PROGRAM_FLOATCONVERSION_H
