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
#include <optional>
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

namespace {

/// The buffers placed so far, in windows of time: most live for a few steps, so
/// that few others can be in their way.
class PlacedBuffers {
public:
  struct Place {
    int64_t offset, top;
    int64_t begin, end;
  };

  explicit PlacedBuffers(llvm::ArrayRef<Lifetime> buffers) {
    int64_t numSteps;
    std::tie(first, numSteps) = timeRange(buffers);
    windows.resize(numSteps / kSteps + 1);
  }

  /// The start of the smallest gap of `bytes` bytes or more that the others
  /// leave during a lifetime.
  int64_t findGap(const Lifetime &buffer, int64_t bytes) {
    int64_t end = 0, bestGap = std::numeric_limits<int64_t>::max(), best = -1;
    list(buffer);
    for (const Place &other : found) {
      int64_t gap = other.offset - end;
      if (gap >= bytes && gap < bestGap) {
        bestGap = gap;
        best = end;
      }
      end = std::max(end, other.top);
    }
    return best < 0 ? end : best;
  }

  void add(const Place &place) {
    for (int64_t w = windowOf(place.begin); w <= windowOf(place.end); ++w)
      windows[w].insert(std::upper_bound(windows[w].begin(), windows[w].end(),
                                         place, isLower),
                        place);
  }

  /// How many places were looked at.
  int64_t numVisits() const { return visits; }

private:
  static constexpr int64_t kSteps = 32;

  static bool isLower(const Place &a, const Place &b) {
    return a.offset < b.offset;
  }
  int64_t windowOf(int64_t step) const { return (step - first) / kSteps; }

  /// Finds what is alive together with a buffer, ascending by offset.
  void list(const Lifetime &buffer) {
    found.clear();
    int64_t from = windowOf(buffer.begin), to = windowOf(buffer.end);
    // It takes longer to merge many lists than to sort them.
    bool merges = to - from < 4;
    for (int64_t w = from; w <= to; ++w) {
      visits += windows[w].size();
      size_t known = found.size();
      // What began earlier was found in the window before.
      for (const Place &place : windows[w])
        if (place.begin <= buffer.end && buffer.begin <= place.end &&
            (w == from || windowOf(place.begin) == w))
          found.push_back(place);
      if (merges)
        std::inplace_merge(found.begin(), found.begin() + known, found.end(),
                           isLower);
    }
    if (!merges)
      std::sort(found.begin(), found.end(), isLower);
  }

  int64_t first = 0;
  int64_t visits = 0;
  /// Each ascending by offset.
  std::vector<std::vector<Place>> windows;
  std::vector<Place> found;
};

} // namespace

/// How many others a buffer may meet on the average, and up to how many buffers
/// the largest go first: what more would save is not worth the time.
static constexpr int64_t kMaxVisits = 512;
static constexpr size_t kMaxPlacedBySize = 8192;

/// Places the largest buffers first, each into the smallest gap that those
/// already placed leave it during its lifetime. Returns the size of the block,
/// or nothing where it takes too long; offsets go to `offsets`.
static std::optional<int64_t> placeBySize(llvm::ArrayRef<Lifetime> buffers,
                                          std::vector<int64_t> &offsets) {
  if (buffers.size() > kMaxPlacedBySize)
    return std::nullopt;
  std::vector<int64_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return buffers[a].bytes > buffers[b].bytes;
  });
  PlacedBuffers placed(buffers);
  int64_t size = 0, limit = kMaxVisits * int64_t(buffers.size());
  for (int64_t i : order) {
    const Lifetime &buffer = buffers[i];
    offsets[i] = 0;
    int64_t bytes = roundUp(buffer.bytes);
    if (bytes == 0)
      continue;
    offsets[i] = placed.findGap(buffer, bytes);
    size = std::max(size, offsets[i] + bytes);
    placed.add({offsets[i], offsets[i] + bytes, buffer.begin, buffer.end});
    if (placed.numVisits() > limit)
      return std::nullopt;
  }
  return size;
}

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
  if (isGood)
    return summary;
  if (std::optional<int64_t> bytes = placeBySize(buffers, offsets))
    keepBetter(*bytes, /*first=*/false);
  return summary;
}
