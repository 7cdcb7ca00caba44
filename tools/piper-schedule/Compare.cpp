// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fair comparison: equal model, equal coordinates, equal micro-batches.

#include "Compare.h"

namespace piper::schedule {

/// One cost per stage for `to` stages instead of `from`, the sum unchanged.
static std::vector<double> resample(const std::vector<double> &list, int from,
                                    int to) {
  std::vector<double> result(to, 0);
  for (int i = 0; i < std::max(from, to); ++i) {
    double cost =
        list.size() == 1 ? list[0] : list[from > to ? i : i * from / to];
    if (from > to)
      result[i * to / from] += cost;
    else
      result[i] = cost * from / to;
  }
  return result;
}

Result<Request> requestFor(const Flags &flags, const std::string &name) {
  const KindInfo *kind = findKind(name);
  bool twoChains = kind && kind->placement == Placement::Bidirectional;
  Request request = flags.request;
  request.kind = name;
  request.placement.reset();
  // The kind's own V, otherwise the model's where it has chunks, else two.
  int perChain = twoChains ? 1 : kind ? kind->chunks : flags.stages / request.P;
  if (perChain == 0)
    perChain = std::max(2, flags.stages / request.P);
  int64_t stages = int64_t(perChain) * request.P;
  if (stages > kMaxStageMicroBatches ||
      (stages % flags.stages != 0 && flags.stages % stages != 0))
    return Error{"kind '" + name + "' needs " + std::to_string(stages) +
                 " stages, and the model's " + std::to_string(flags.stages) +
                 " can be neither merged nor cut to that"};
  auto chunks = chunksFor(name, static_cast<int>(stages), request.P);
  if (!chunks)
    return Error{chunks.error()};
  for (int &limit : request.limit)
    limit = static_cast<int>(int64_t(limit) * *chunks / flags.request.V);
  request.V = *chunks;
  for (auto list : {&Costs::forward, &Costs::backward, &Costs::backwardInput,
                    &Costs::backwardWeight, &Costs::update}) {
    auto &costs = request.costs.*list;
    if (costs.size() != 1 && static_cast<int>(costs.size()) != flags.stages)
      return Error{"costs have " + std::to_string(costs.size()) +
                   " values, expected 1 or one for each of the " +
                   std::to_string(flags.stages) + " stages"};
    costs = resample(costs, flags.stages, static_cast<int>(stages));
  }
  return request;
}

} // namespace piper::schedule
