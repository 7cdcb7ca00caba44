// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier: each rule by its message, and a thousand mutants judged by an
// independent check.

#include "TestSchedules.h"

#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace piper::schedule;

static std::string firstError(const Schedule &s, bool ascending = true) {
  VerifyOptions options;
  options.ascendingBackwards = ascending;
  auto errors = verify(s, options);
  return errors.empty() ? "valid" : errors.front();
}

TEST(Verify, Sizes) {
  Schedule s = make("1f1b", 2, 1, 2);
  s.M = 0;
  EXPECT_EQ(firstError(s),
            "P, V and M must be at least 1 but are P = 2, V = 1, M = 0");
  s = make("1f1b", 2, 1, 2);
  s.M = 1000000000;
  EXPECT_EQ(firstError(s), "P * V * M is over the limit of 4000000 for P = 2, "
                           "V = 1, M = 1000000000");
  s = make("1f1b", 2, 1, 2);
  s.V = 2;
  EXPECT_EQ(firstError(s), "P * V stages are needed but stage_rank has 2 for P "
                           "= 2, V = 2");
  s = make("1f1b", 2, 1, 2);
  s.ranks.pop_back();
  EXPECT_EQ(firstError(s), "one action list per coordinate is needed but there "
                           "are 1 for P = 2");
  s = make("1f1b", 2, 1, 2);
  s.cap = {1, 2, 3};
  EXPECT_EQ(firstError(s), "cap has 3 values but P = 2");
}

TEST(Verify, PlacementOfStages) {
  Schedule s = make("1f1b", 2, 1, 2);
  s.stageRank = {0, 2};
  EXPECT_EQ(firstError(s), "stage 1 is placed on coordinate 2 but P = 2");
  s.stageRank = {0, 0};
  EXPECT_EQ(firstError(s), "coordinate 0 holds 2 stages but V = 1");
}

TEST(Verify, Chains) {
  Schedule s = make("1f1b", 2, 1, 2);
  s.chains = {{0, 1}, {}};
  EXPECT_EQ(firstError(s), "a chain has no stages");
  s.chains = {{0, 2}};
  EXPECT_EQ(firstError(s), "a chain names stage 2 of 2");
  s.chains = {{0, 0}};
  EXPECT_EQ(firstError(s), "stage 0 stands twice in the chains");
  s.chains = {{1}};
  EXPECT_EQ(firstError(s), "stage 0 is in no chain");
  s.chains = {{0}, {1}};
  EXPECT_EQ(firstError(s), "mb_chain is needed where there are 2 chains");
  s.mbChain = {0};
  EXPECT_EQ(firstError(s), "mb_chain has 1 values but M = 2");
  s.mbChain = {0, 2};
  EXPECT_EQ(firstError(s), "mb 1 runs through chain 2 of 2");
  s.mbChain = {0, 1};
  EXPECT_EQ(firstError(s), "F(stage 0, mb 1) is not on the chain of mb 1");
}

TEST(Verify, Completeness) {
  Schedule s = make("1f1b", 2, 1, 2);
  s.ranks[0].push_back(Action::forward(0, 1));
  EXPECT_EQ(firstError(s), "F(stage 0, mb 1) stands twice");
  s = make("1f1b", 2, 1, 2);
  s.ranks[0].push_back(Action::backwardInput(0, 1));
  EXPECT_EQ(firstError(s), "BI(stage 0, mb 1) stands twice");
  s = make("1f1b", 2, 1, 2);
  s.ranks[0].push_back(Action::backward(1, 0));
  EXPECT_EQ(firstError(s), "B(stage 1, mb 0) stands on coordinate 0 but its "
                           "stage is placed on 1");
  s = make("1f1b", 2, 1, 2);
  s.ranks[0].push_back(Action::forward(0, 2));
  EXPECT_EQ(firstError(s), "F(stage 0, mb 2) does not exist: there are 2 "
                           "stages and M = 2");
  s = make("1f1b", 2, 1, 2);
  s.ranks[0].pop_back();
  EXPECT_EQ(firstError(s), "B(stage 0, mb 1) is missing");
  s = make("1f1b", 2, 1, 2);
  s.ranks[1].erase(s.ranks[1].begin());
  EXPECT_EQ(firstError(s), "F(stage 1, mb 0) is missing");
  s = make("zb_h1", 2, 1, 2);
  s.ranks[0].pop_back();
  EXPECT_EQ(firstError(s), "BW(stage 0, mb 1) is missing");
  s.ranks[0] = {Action::forward(0, 0), Action::forward(0, 1),
                Action::backwardWeight(0, 0), Action::backward(0, 1)};
  EXPECT_EQ(firstError(s), "BI(stage 0, mb 0) is missing");
}

TEST(Verify, IndependentErrorsTogetherAtMostEight) {
  Schedule s = make("gpipe", 2, 1, 20);
  for (auto &rank : s.ranks)
    rank.clear();
  auto errors = verify(s);
  ASSERT_EQ(errors.size(), 8u);
  EXPECT_EQ(errors[1], "B(stage 0, mb 0) is missing");
  EXPECT_EQ(errors[2], "F(stage 0, mb 1) is missing");
}

TEST(Verify, CycleNamesItsActions) {
  Schedule s = make("gpipe", 2, 1, 2);
  s.ranks[0] = {Action::forward(0, 0), Action::backward(0, 0),
                Action::forward(0, 1), Action::backward(0, 1)};
  s.ranks[1] = {Action::forward(1, 0), Action::forward(1, 1),
                Action::backward(1, 0), Action::backward(1, 1)};
  EXPECT_EQ(firstError(s),
            "the order contradicts the data flow: coordinate 0 stands at "
            "B(stage 0, mb 0), which needs B(stage 1, mb 0), later on "
            "coordinate 1; coordinate 1 stands at F(stage 1, mb 1), which "
            "needs F(stage 0, mb 1), later on coordinate 0");
  // On one coordinate: a weight gradient before its input gradient.
  s = make("zb_h1", 1, 1, 1);
  std::swap(s.ranks[0][1], s.ranks[0][2]);
  EXPECT_EQ(firstError(s),
            "the order contradicts the data flow: coordinate 0 stands at "
            "BW(stage 0, mb 0), which needs BI(stage 0, mb 0), later on "
            "coordinate 0");
  // A pair of a micro-batch with itself.
  s = make("gpipe", 1, 1, 1);
  s.ranks[0] = {Action::pair(0, 0, 0, 0)};
  EXPECT_EQ(firstError(s),
            "the order contradicts the data flow: coordinate 0 stands at "
            "F(stage 0, mb 0)+B(stage 0, mb 0), which needs F(stage 0, mb "
            "0)+B(stage 0, mb 0), later on coordinate 0");
}

TEST(Verify, AscendingBackwardsOnlyWhereAsked) {
  Schedule s = make("gpipe", 1, 1, 2);
  std::swap(s.ranks[0][2], s.ranks[0][3]);
  EXPECT_EQ(firstError(s), "backwards of a stage must ascend in micro-batch "
                           "but B(stage 0, mb 0) follows mb 1");
  EXPECT_EQ(firstError(s, false), "valid");
}

TEST(Verify, MemoryLimit) {
  Schedule s = make("1f1b", 4, 1, 8);
  s.cap = {4, 3, 2, 1};
  EXPECT_EQ(firstError(s), "valid");
  s.cap = {4, 3, 1, 1};
  EXPECT_EQ(firstError(s), "coordinate 2 (stage 2) needs 2 chunk activations "
                           "at F(stage 2, mb 1) but its limit is 1");
  // In a pair the new activation counts before the old one is released.
  s = make("gpipe", 1, 1, 2);
  s.ranks[0] = {Action::forward(0, 0), Action::pair(0, 1, 0, 0),
                Action::backward(0, 1)};
  s.cap = {1};
  EXPECT_EQ(firstError(s),
            "coordinate 0 (stage 0) needs 2 chunk activations at F(stage 0, mb "
            "1)+B(stage 0, mb 0) but its limit is 1");
  s.cap = {2};
  EXPECT_EQ(firstError(s), "valid");
  // Split backwards release at BW.
  s = make("zbv", 4, 2, 8);
  s.cap.assign(4, 8);
  EXPECT_EQ(firstError(s), "valid");
  s.cap.assign(4, 7);
  EXPECT_EQ(firstError(s).substr(0, 48),
            "coordinate 0 (stage 0, 7) needs 8 chunk activati");
}

namespace {
/// Another way to the same answer: executes the lists round robin, with sets of
/// what is done, and counts.
class IndependentCheck {
public:
  static bool isValid(const Schedule &s) {
    IndependentCheck check(s);
    return check.isComplete() && check.runs() && check.fits();
  }

private:
  using Done = std::tuple<char, int, int>; // 'f', 'i', 'w'; stage; mb
  explicit IndependentCheck(const Schedule &s) : s(s) {}

  static std::vector<Done> products(const Action &a) {
    switch (a.pass) {
    case Pass::F:
      return {{'f', a.stage, a.microBatch}};
    case Pass::BI:
      return {{'i', a.stage, a.microBatch}};
    case Pass::BW:
      return {{'w', a.stage, a.microBatch}};
    case Pass::B:
      return {{'i', a.stage, a.microBatch}, {'w', a.stage, a.microBatch}};
    case Pass::FB:
      return {{'f', a.stage, a.microBatch},
              {'i', a.stageB, a.microBatchB},
              {'w', a.stageB, a.microBatchB}};
    }
    return {};
  }

  bool isComplete() const {
    std::multiset<Done> have, want;
    for (int r = 0; r < s.P; ++r)
      for (const Action &a : s.ranks[r])
        for (const Done &p : products(a)) {
          if (s.stageRank[std::get<1>(p)] != r)
            return false;
          have.insert(p);
        }
    for (int mb = 0; mb < s.M; ++mb)
      for (int stage : s.chains[s.chainOf(mb)])
        for (char c : {'f', 'i', 'w'})
          want.insert({c, stage, mb});
    return have == want;
  }

  bool ready(const Done &p, const std::set<Done> &done) const {
    auto [what, stage, mb] = p;
    const auto &chain = s.chains[s.chainOf(mb)];
    size_t i = std::find(chain.begin(), chain.end(), stage) - chain.begin();
    if (what == 'f')
      return i == 0 || done.count({'f', chain[i - 1], mb});
    if (what == 'w')
      return true; // with 'i' of the same action or checked by the caller
    return done.count({'f', stage, mb}) &&
           (i + 1 == chain.size() || done.count({'i', chain[i + 1], mb}));
  }

  bool runs() const {
    std::vector<size_t> next(s.P, 0);
    std::set<Done> done;
    for (bool progress = true; progress;) {
      progress = false;
      for (int r = 0; r < s.P; ++r)
        while (next[r] < s.ranks[r].size()) {
          const Action &a = s.ranks[r][next[r]];
          bool good =
              a.pass != Pass::BW || done.count({'i', a.stage, a.microBatch});
          for (const Done &p : products(a))
            good = good && ready(p, done);
          if (!good)
            break;
          for (const Done &p : products(a))
            done.insert(p);
          ++next[r];
          progress = true;
        }
    }
    for (int r = 0; r < s.P; ++r)
      if (next[r] != s.ranks[r].size())
        return false;
    return ascending();
  }

  bool ascending() const {
    std::map<int, std::vector<int>> order;
    for (const auto &rank : s.ranks)
      for (const Action &a : rank)
        for (auto [what, stage, mb] : products(a))
          if (what == 'i')
            order[stage].push_back(mb);
    for (auto &[stage, mbs] : order)
      if (!std::is_sorted(mbs.begin(), mbs.end()))
        return false;
    return true;
  }

  bool fits() const {
    for (int r = 0; r < static_cast<int>(s.cap.size()); ++r) {
      std::set<std::pair<int, int>> live;
      for (const Action &a : s.ranks[r])
        for (auto [what, stage, mb] : products(a)) {
          if (what == 'f')
            live.insert({stage, mb});
          if (static_cast<int>(live.size()) > s.cap[r])
            return false;
          if (what == 'w')
            live.erase({stage, mb});
        }
    }
    return true;
  }

  const Schedule &s;
};
} // namespace

/// One random change of one of five sorts.
static void mutate(Schedule &s, std::mt19937 &random) {
  auto below = [&](size_t n) { return random() % n; };
  auto &rank = s.ranks[below(s.P)];
  size_t i = below(rank.size()), j = below(rank.size());
  switch (below(5)) {
  case 0:
    std::swap(rank[i], rank[j]);
    break;
  case 1:
    rank.erase(rank.begin() + i);
    break;
  case 2:
    rank.insert(rank.begin() + j, Action(rank[i]));
    break;
  case 3: { // to another place in the same list
    Action moved = rank[i];
    rank.erase(rank.begin() + i);
    rank.insert(rank.begin() + below(rank.size() + 1), moved);
    break;
  }
  case 4: { // to another coordinate
    Action moved = rank[i];
    rank.erase(rank.begin() + i);
    auto &other = s.ranks[below(s.P)];
    other.insert(other.begin() + below(other.size() + 1), moved);
    break;
  }
  }
}

TEST(Verify, ThousandMutants) {
  std::vector<Schedule> originals;
  for (const KindInfo &kind : kinds()) {
    int V = kind.chunks ? kind.chunks : 2;
    Schedule s = make(kind.name, 4, V, 8);
    s.cap = run(s).peak;
    originals.push_back(s);
    ASSERT_TRUE(IndependentCheck::isValid(s)) << kind.name;
  }
  std::mt19937 random(7);
  int rejected = 0, valid = 0;
  for (int i = 0; i < 1300; ++i) {
    Schedule mutant = originals[i % originals.size()];
    mutate(mutant, random);
    bool accepted = verify(mutant).empty();
    ASSERT_EQ(accepted, IndependentCheck::isValid(mutant))
        << mutant.kind << " mutant " << i << ": " << firstError(mutant);
    (accepted ? valid : rejected) += 1;
  }
  EXPECT_GE(rejected, 1000);
  EXPECT_GT(valid, 0);
}
