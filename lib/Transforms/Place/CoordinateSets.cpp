// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of pipeline coordinates, each stored once.

#include "CoordinateSets.h"

#include <algorithm>
#include <iterator>

using namespace mlir;
using namespace mlir::piper;

CoordinateSets::Set CoordinateSets::get(ArrayRef<int64_t> coordinates) {
  auto [found, isNew] =
      known.try_emplace(coordinates.vec(), static_cast<Set>(sets.size()));
  if (isNew)
    sets.push_back(&found->first);
  return found->second;
}

CoordinateSets::Set CoordinateSets::unite(Set a, Set b) {
  if (a == b || b == kNone)
    return a;
  if (a == kNone)
    return b;
  auto [found, isNew] = unions.try_emplace(std::minmax(a, b));
  if (isNew) {
    std::vector<int64_t> both;
    std::set_union(sets[a]->begin(), sets[a]->end(), sets[b]->begin(),
                   sets[b]->end(), std::back_inserter(both));
    found->second = get(both);
  }
  return found->second;
}

CoordinateSets::Set CoordinateSets::intersect(Set a, Set b) {
  std::vector<int64_t> both;
  std::set_intersection(sets[a]->begin(), sets[a]->end(), sets[b]->begin(),
                        sets[b]->end(), std::back_inserter(both));
  return get(both);
}

Type CoordinateSets::distribute(Type type, Set set) {
  Type &known = types[{type, set}];
  if (!known)
    known = DistType::get(type.getContext(), getLocalTensor(type), *sets[set]);
  return known;
}

CoordinateSets::Set CoordinateSets::of(Type type) {
  auto [found, isNew] = setOfType.try_emplace(type, kNone);
  if (isNew)
    found->second = get(getCoordinates(type));
  return found->second;
}
