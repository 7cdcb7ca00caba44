// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map from the bytes of an arena to owners, as disjoint intervals.

#ifndef PIPER_LIB_RUNTIME_ARENAMAP_H
#define PIPER_LIB_RUNTIME_ARENAMAP_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace piper::rt {

class ArenaMap {
public:
  /// The owner of bytes that nobody was given.
  static constexpr int32_t kNobody = -1;

  void clear() { pieces.clear(); }

  /// Gives bytes begin .. end - 1 to `owner`, whoever had them.
  void assign(int64_t begin, int64_t end, int32_t owner) {
    if (begin >= end)
      return;
    splitAt(begin);
    splitAt(end);
    pieces.erase(pieces.lower_bound(begin), pieces.lower_bound(end));
    pieces[begin] = {end, owner};
  }

  /// Calls `visit(begin, end, owner)` for the pieces of begin .. end - 1 in
  /// order, those of nobody included.
  template <typename Visit>
  void visit(int64_t begin, int64_t end, Visit visit) const {
    auto it = pieces.upper_bound(begin);
    if (it != pieces.begin() && std::prev(it)->second.end > begin)
      --it;
    for (; begin < end; ++it) {
      int64_t next = it == pieces.end() ? end : std::min(it->first, end);
      if (begin < next)
        visit(begin, next, kNobody);
      if (it == pieces.end() || it->first >= end)
        return;
      int64_t stop = std::min(it->second.end, end);
      visit(std::max(begin, it->first), stop, it->second.owner);
      begin = stop;
    }
  }

private:
  struct Piece {
    int64_t end;
    int32_t owner;
  };

  /// Makes sure that no piece lies on both sides of `at`.
  void splitAt(int64_t at) {
    auto it = pieces.lower_bound(at);
    if (it == pieces.begin())
      return;
    Piece &piece = std::prev(it)->second;
    if (piece.end <= at)
      return;
    pieces[at] = piece;
    piece.end = at;
  }

  std::map<int64_t, Piece> pieces;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_ARENAMAP_H
