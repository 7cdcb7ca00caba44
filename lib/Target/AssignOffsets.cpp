// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs buffers with known lifetimes into one block of memory.
//
// A sweep over time keeps the free ranges of the block, by address and by
// size. A buffer takes the smallest free range that holds it, or else extends
// the block at its end, including a free range that ends there. Which of two
// sweeps packs better depends on the program (a training step is close to its
// own mirror image), so both are tried. Where neither packs well, the largest
// buffers are placed first, whenever they live.

#include "Piper/Target/AssignOffsets.h"

#include "Piper/Runtime/Program.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

using namespace mlir::piper;

namespace {

/// The free ranges of a block that grows at its end.
class FreeRanges {
public:
  int64_t size() const { return end; }

  int64_t take(int64_t bytes) {
    auto fit = bySize.lower_bound({bytes, 0});
    if (fit != bySize.end()) {
      auto [found, offset] = *fit;
      auto range = byOffset.find(offset);
      if (found > bytes)
        change(range, offset + bytes, found - bytes);
      else
        erase(range);
      return offset;
    }
    // Nothing fits: extend the block, from the free range at its end if any.
    int64_t offset = end;
    if (!byOffset.empty()) {
      auto last = std::prev(byOffset.end());
      if (endOf(last) == end) {
        offset = last->first;
        erase(last);
      }
    }
    end = offset + bytes;
    return offset;
  }

  void release(int64_t offset, int64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    bool joinsNext = next != byOffset.end() && offset + bytes == next->first;
    if (next != byOffset.begin() && endOf(std::prev(next)) == offset) {
      auto before = std::prev(next);
      int64_t joined = endOf(joinsNext ? next : before) - before->first;
      change(before, before->first, joinsNext ? joined : joined + bytes);
      if (joinsNext)
        erase(next);
    } else if (joinsNext) {
      change(next, offset, endOf(next) - offset);
    } else {
      byOffset.emplace_hint(next, offset, bySize.emplace(bytes, offset).first);
    }
  }

private:
  using Sizes = std::set<std::pair<int64_t, int64_t>>;
  using Offsets = std::map<int64_t, Sizes::iterator>;

  static int64_t endOf(Offsets::iterator range) {
    return range->first + range->second->first;
  }
  void erase(Offsets::iterator range) {
    bySize.erase(range->second);
    byOffset.erase(range);
  }
  /// A range changes its ends but not its place among the others. Its nodes
  /// stay: ranges change all the time.
  void change(Offsets::iterator range, int64_t offset, int64_t bytes) {
    auto size = bySize.extract(range->second);
    size.value() = {bytes, offset};
    range->second = bySize.insert(std::move(size)).position;
    if (range->first == offset)
      return;
    auto next = std::next(range);
    auto node = byOffset.extract(range);
    node.key() = offset;
    byOffset.insert(next, std::move(node));
  }

  int64_t end = 0;
  /// Each with its place among the sizes.
  Offsets byOffset;
  /// Bytes, then offset.
  Sizes bySize;
};

} // namespace

static int64_t roundUp(int64_t bytes) {
  return (bytes + ::piper::rt::kAlignment - 1) / ::piper::rt::kAlignment *
         ::piper::rt::kAlignment;
}

/// The first step of all, and the number of steps.
static std::pair<int64_t, int64_t> timeRange(llvm::ArrayRef<Lifetime> buffers) {
  if (buffers.empty())
    return {0, 0};
  int64_t first = buffers.front().begin, last = buffers.front().end;
  for (const Lifetime &buffer : buffers) {
    first = std::min(first, buffer.begin);
    last = std::max(last, buffer.end);
  }
  return {first, last - first + 1};
}

/// The largest sum of bytes alive at one step.
static void measureLive(llvm::ArrayRef<Lifetime> buffers,
                        OffsetsSummary &summary) {
  auto [first, numSteps] = timeRange(buffers);
  std::vector<int64_t> changes(numSteps + 1);
  for (const Lifetime &buffer : buffers) {
    changes[buffer.begin - first] += roundUp(buffer.bytes);
    changes[buffer.end - first + 1] -= roundUp(buffer.bytes);
  }
  int64_t live = 0;
  for (int64_t step = 0; step < numSteps; ++step) {
    live += changes[step];
    if (live > summary.live) {
      summary.live = live;
      summary.peakStep = first + step;
    }
  }
}

/// The numbers of the buffers, ascending by `time` and then by number.
static std::vector<int32_t> orderBy(int64_t Lifetime::*time,
                                    llvm::ArrayRef<Lifetime> buffers) {
  auto [first, numSteps] = timeRange(buffers);
  // How many come before a step; then the next place of those of the step.
  std::vector<int32_t> places(numSteps + 1);
  for (const Lifetime &buffer : buffers)
    ++places[buffer.*time - first + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<int32_t> order(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    order[places[buffers[i].*time - first]++] = static_cast<int32_t>(i);
  return order;
}

/// One sweep. Returns the size of the block; offsets go to `offsets`.
static int64_t sweep(llvm::ArrayRef<Lifetime> buffers, bool largestFirst,
                     std::vector<int64_t> &offsets) {
  std::vector<int32_t> starts = orderBy(&Lifetime::begin, buffers),
                       ends = orderBy(&Lifetime::end, buffers);
  // Of the buffers that begin together the longest-lived go first (lowest), or
  // the largest.
  auto isBefore = [&](int32_t i, int32_t j) {
    const Lifetime &a = buffers[i], &b = buffers[j];
    if (largestFirst && a.bytes != b.bytes)
      return a.bytes > b.bytes;
    return a.end != b.end ? a.end > b.end : i < j;
  };
  for (auto group = starts.begin(); group != starts.end();) {
    auto next = std::find_if(group, starts.end(), [&](int32_t i) {
      return buffers[i].begin != buffers[*group].begin;
    });
    std::sort(group, next, isBefore);
    group = next;
  }
  FreeRanges ranges;
  auto ended = ends.begin();
  for (int32_t i : starts) {
    for (; buffers[*ended].end < buffers[i].begin; ++ended)
      if (buffers[*ended].bytes > 0)
        ranges.release(offsets[*ended], roundUp(buffers[*ended].bytes));
    offsets[i] =
        buffers[i].bytes > 0 ? ranges.take(roundUp(buffers[i].bytes)) : 0;
  }
  return ranges.size();
}

/// The same lifetimes, time running backward.
static std::vector<Lifetime> mirror(llvm::ArrayRef<Lifetime> buffers) {
  std::vector<Lifetime> mirrored(buffers.begin(), buffers.end());
  for (Lifetime &buffer : mirrored)
    std::tie(buffer.begin, buffer.end) =
        std::make_pair(-buffer.end, -buffer.begin);
  return mirrored;
}

/// Places the largest buffers first, each into the smallest gap that those
/// already placed leave it during its lifetime. Takes quadratic time. Returns
/// the size of the block; offsets go to `offsets`.
static int64_t placeBySize(llvm::ArrayRef<Lifetime> buffers,
                           std::vector<int64_t> &offsets) {
  std::vector<int64_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return buffers[a].bytes > buffers[b].bytes;
  });
  // Ascending by offset.
  std::vector<int64_t> placed;
  int64_t size = 0;
  for (int64_t i : order) {
    offsets[i] = 0;
    int64_t bytes = roundUp(buffers[i].bytes);
    if (bytes == 0)
      continue;
    int64_t end = 0, bestGap = std::numeric_limits<int64_t>::max(), best = -1;
    for (int64_t other : placed) {
      if (buffers[other].end < buffers[i].begin ||
          buffers[i].end < buffers[other].begin)
        continue;
      int64_t gap = offsets[other] - end;
      if (gap >= bytes && gap < bestGap) {
        bestGap = gap;
        best = end;
      }
      end = std::max(end, offsets[other] + roundUp(buffers[other].bytes));
    }
    offsets[i] = best < 0 ? end : best;
    size = std::max(size, offsets[i] + bytes);
    auto place = std::upper_bound(
        placed.begin(), placed.end(), offsets[i],
        [&](int64_t offset, int64_t j) { return offset < offsets[j]; });
    placed.insert(place, i);
  }
  return size;
}

/// Up to how many buffers the quadratic way is worth its time.
static constexpr size_t kMaxPlacedBySize = 8192;

OffsetsSummary
mlir::piper::assignOffsets(llvm::MutableArrayRef<Lifetime> buffers) {
  OffsetsSummary summary;
  measureLive(buffers, summary);
  std::vector<int64_t> offsets(buffers.size());
  auto keepBetter = [&](int64_t bytes, bool first) {
    if (!first && bytes >= summary.bytes)
      return;
    summary.bytes = bytes;
    for (size_t i = 0; i < buffers.size(); ++i)
      buffers[i].offset = offsets[i];
  };
  std::vector<Lifetime> mirrored = mirror(buffers);
  for (llvm::ArrayRef<Lifetime> direction :
       {llvm::ArrayRef<Lifetime>(buffers), llvm::ArrayRef(mirrored)})
    for (bool largestFirst : {false, true})
      keepBetter(sweep(direction, largestFirst, offsets),
                 direction.data() == buffers.data() && !largestFirst);
  bool isGood = summary.bytes - summary.live <= summary.live / 64;
  if (!isGood && buffers.size() <= kMaxPlacedBySize)
    keepBetter(placeBySize(buffers, offsets), /*first=*/false);
  return summary;
}
