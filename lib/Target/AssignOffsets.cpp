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
      erase(offset, found);
      if (found > bytes)
        insert(offset + bytes, found - bytes);
      return offset;
    }
    // Nothing fits: extend the block, from the free range at its end if any.
    int64_t offset = end;
    if (!byOffset.empty()) {
      auto last = std::prev(byOffset.end());
      if (last->first + last->second == end) {
        offset = last->first;
        erase(last->first, last->second);
      }
    }
    end = offset + bytes;
    return offset;
  }

  void release(int64_t offset, int64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && offset + bytes == next->first) {
      auto [nextOffset, nextBytes] = *next;
      bytes += nextBytes;
      erase(nextOffset, nextBytes);
    }
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.begin()) {
      auto [previousOffset, previousBytes] = *std::prev(after);
      if (previousOffset + previousBytes == offset) {
        erase(previousOffset, previousBytes);
        offset = previousOffset;
        bytes += previousBytes;
      }
    }
    insert(offset, bytes);
  }

private:
  void insert(int64_t offset, int64_t bytes) {
    byOffset.emplace(offset, bytes);
    bySize.emplace(bytes, offset);
  }
  void erase(int64_t offset, int64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }

  int64_t end = 0;
  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
};

} // namespace

static int64_t roundUp(int64_t bytes) {
  return (bytes + ::piper::rt::kAlignment - 1) / ::piper::rt::kAlignment *
         ::piper::rt::kAlignment;
}

/// The largest sum of bytes alive at one step.
static void measureLive(llvm::ArrayRef<Lifetime> buffers,
                        OffsetsSummary &summary) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  changes.reserve(2 * buffers.size());
  for (const Lifetime &buffer : buffers) {
    changes.emplace_back(2 * buffer.begin, roundUp(buffer.bytes));
    changes.emplace_back(2 * buffer.end + 1, -roundUp(buffer.bytes));
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  for (auto [time, bytes] : changes) {
    live += bytes;
    if (live > summary.live) {
      summary.live = live;
      summary.peakStep = time / 2;
    }
  }
}

/// One sweep. Returns the size of the block; offsets go to `offsets`.
static int64_t sweep(llvm::ArrayRef<Lifetime> buffers, bool backward,
                     bool largestFirst, std::vector<int64_t> &offsets) {
  auto begin = [&](int64_t i) {
    return backward ? -buffers[i].end : buffers[i].begin;
  };
  auto end = [&](int64_t i) {
    return backward ? -buffers[i].begin : buffers[i].end;
  };
  std::vector<int64_t> starts(buffers.size()), ends;
  std::iota(starts.begin(), starts.end(), 0);
  ends = starts;
  std::stable_sort(starts.begin(), starts.end(), [&](int64_t a, int64_t b) {
    if (begin(a) != begin(b))
      return begin(a) < begin(b);
    // Of the buffers that begin together the longest-lived go first (lowest),
    // or the largest.
    if (largestFirst && buffers[a].bytes != buffers[b].bytes)
      return buffers[a].bytes > buffers[b].bytes;
    return end(a) > end(b);
  });
  std::stable_sort(ends.begin(), ends.end(),
                   [&](int64_t a, int64_t b) { return end(a) < end(b); });
  FreeRanges ranges;
  size_t nextEnd = 0;
  for (int64_t i : starts) {
    for (; nextEnd < ends.size() && end(ends[nextEnd]) < begin(i); ++nextEnd) {
      const Lifetime &dead = buffers[ends[nextEnd]];
      if (dead.bytes > 0)
        ranges.release(offsets[ends[nextEnd]], roundUp(dead.bytes));
    }
    offsets[i] =
        buffers[i].bytes > 0 ? ranges.take(roundUp(buffers[i].bytes)) : 0;
  }
  return ranges.size();
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
  for (bool backward : {false, true})
    for (bool largestFirst : {false, true})
      keepBetter(sweep(buffers, backward, largestFirst, offsets),
                 !backward && !largestFirst);
  bool isGood = summary.bytes - summary.live <= summary.live / 64;
  if (!isGood && buffers.size() <= kMaxPlacedBySize)
    keepBetter(placeBySize(buffers, offsets), /*first=*/false);
  return summary;
}
