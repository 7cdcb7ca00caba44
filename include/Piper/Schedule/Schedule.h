// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline schedule as a value: for each pipeline coordinate the ordered
// list of its actions, and where each stage lives.

#ifndef PIPER_SCHEDULE_SCHEDULE_H
#define PIPER_SCHEDULE_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

namespace piper::schedule {

/// What an action computes. `B` is the full backward; `BI` (gradient of the
/// input) and `BW` (gradient of the weights) are its halves; `FB` is a forward
/// and a full backward that run as one overlapped pair.
enum class Pass : uint8_t { F, B, BI, BW, FB };

/// "F", "B", "BI", "BW" or "FB".
const char *passName(Pass pass);

/// The work of one stage for one micro-batch. For `FB`, `stage` and
/// `microBatch` are those of the forward, `stageB` and `microBatchB` those of
/// the backward; otherwise the latter two are -1.
struct Action {
  Pass pass = Pass::F;
  int stage = 0;
  int microBatch = 0;
  int stageB = -1;
  int microBatchB = -1;

  static Action forward(int stage, int mb) { return {Pass::F, stage, mb}; }
  static Action backward(int stage, int mb) { return {Pass::B, stage, mb}; }
  static Action backwardInput(int stage, int mb) {
    return {Pass::BI, stage, mb};
  }
  static Action backwardWeight(int stage, int mb) {
    return {Pass::BW, stage, mb};
  }
  static Action pair(int stageF, int mbF, int stageB, int mbB) {
    return {Pass::FB, stageF, mbF, stageB, mbB};
  }

  bool operator==(const Action &o) const {
    return pass == o.pass && stage == o.stage && microBatch == o.microBatch &&
           stageB == o.stageB && microBatchB == o.microBatchB;
  }
  bool operator!=(const Action &o) const { return !(*this == o); }
};

/// "F(stage 0, mb 3)", the way messages name an action.
std::string toString(const Action &action);

/// A schedule. Stages are numbered 0..numStages()-1; `chains` lists, per
/// chain, its stages in order of visit, and every stage is in one chain.
/// Micro-batch m runs through chain `mbChain[m]` (chain 0 where `mbChain` is
/// empty). DualPipe has two chains: stages P..2P-1 are the second copies of
/// the model's stages 0..P-1, in order of visit.
struct Schedule {
  std::string kind;
  int P = 0; ///< pipeline coordinates
  int V = 0; ///< stages on each coordinate
  int M = 0; ///< micro-batches
  std::vector<int> stageRank;
  std::vector<std::vector<int>> chains;
  std::vector<int> mbChain;
  /// Memory limit per coordinate in chunk activations (one activation = what
  /// one stage keeps of one micro-batch); empty where there is none.
  std::vector<int> cap;
  std::vector<std::vector<Action>> ranks;

  int numStages() const { return static_cast<int>(stageRank.size()); }
  int chainOf(int microBatch) const {
    return mbChain.empty() ? 0 : mbChain[microBatch];
  }
  int64_t numActions() const {
    int64_t count = 0;
    for (const auto &rank : ranks)
      count += static_cast<int64_t>(rank.size());
    return count;
  }
};

/// Largest P * V * M this library takes, so that no request can exhaust the
/// machine.
constexpr int64_t kMaxStageMicroBatches = 4'000'000;
/// Largest P * V * M of a search, which costs thousands of times as much.
constexpr int64_t kMaxSearched = 262'144;

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_SCHEDULE_H
