// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of pipeline coordinates as numbers. A step has very many values and few
// different sets, so each set is stored once and each pair is united once.

#ifndef PIPER_LIB_TRANSFORMS_PLACE_COORDINATESETS_H
#define PIPER_LIB_TRANSFORMS_PLACE_COORDINATESETS_H

#include "Piper/Dialect/PiperDialect.h"

#include <map>
#include <vector>

namespace mlir::piper {

class CoordinateSets {
public:
  using Set = uint32_t;
  static constexpr Set kNone = 0;

  CoordinateSets() { get(ArrayRef<int64_t>()); }

  /// Requires: `coordinates` ascends.
  Set get(ArrayRef<int64_t> coordinates);
  Set get(int64_t coordinate) { return get(ArrayRef<int64_t>(coordinate)); }
  ArrayRef<int64_t> operator[](Set set) const { return *sets[set]; }

  Set unite(Set a, Set b);
  Set intersect(Set a, Set b);
  /// Whether all coordinates of `part` are in `whole`.
  bool covers(Set whole, Set part) {
    return whole == part || unite(whole, part) == whole;
  }

  /// `!piper.dist<tensor, on [pp = set]>` of what a value of `type` stores.
  Type distribute(Type type, Set set);
  /// The set of a type; none for a plain tensor.
  Set of(Type type);

private:
  std::map<std::vector<int64_t>, Set> known;
  /// Keys of `known`, which never move.
  std::vector<const std::vector<int64_t> *> sets;
  DenseMap<std::pair<Set, Set>, Set> unions;
  DenseMap<std::pair<Type, Set>, Type> types;
  DenseMap<Type, Set> setOfType;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_PLACE_COORDINATESETS_H
