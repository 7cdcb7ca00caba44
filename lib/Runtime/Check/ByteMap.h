// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map from the bytes of an arena to what is known of them, as disjoint
// pieces. Each operation searches once and goes on from piece to piece: the
// checks of a plan make millions of them.

#ifndef PIPER_LIB_RUNTIME_CHECK_BYTEMAP_H
#define PIPER_LIB_RUNTIME_CHECK_BYTEMAP_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace piper::rt {

template <typename T> class ByteMap {
public:
  /// `nothing`: what bytes have that were given nothing.
  explicit ByteMap(T nothing = T()) : nothing(nothing) {}

  void clear() { pieces.clear(); }

  /// Gives bytes begin .. end - 1 one value, whatever they had.
  void assign(int64_t begin, int64_t end, const T &value) {
    if (begin >= end)
      return;
    // A piece that begins here is taken over: buffers come back to their place.
    auto it = cutAt(begin);
    if (it == pieces.end() || it->first > begin)
      it = pieces.emplace_hint(it, begin, Piece{end, value});
    cutPiece(it, end);
    it->second = {end, value};
    auto next = std::next(it);
    while (next != pieces.end() && next->second.end <= end)
      next = pieces.erase(next);
    if (next == pieces.end() || next->first >= end)
      return;
    auto node = pieces.extract(next++);
    node.key() = end;
    pieces.insert(next, std::move(node));
  }

  /// Calls `visit(begin, end, value)` for the pieces of begin .. end - 1 in
  /// order, those with nothing included.
  template <typename Visit>
  void visit(int64_t begin, int64_t end, Visit visit) const {
    if (begin >= end)
      return;
    auto it = pieces.upper_bound(begin);
    if (it != pieces.begin() && std::prev(it)->second.end > begin)
      --it;
    for (; begin < end; ++it) {
      int64_t next = it == pieces.end() ? end : std::min(it->first, end);
      if (begin < next)
        visit(begin, next, nothing);
      if (it == pieces.end() || it->first >= end)
        return;
      int64_t stop = std::min(it->second.end, end);
      visit(std::max(begin, it->first), stop, it->second.value);
      begin = stop;
    }
  }

  /// Calls `change(value)` for the pieces of begin .. end - 1 in order.
  template <typename Change>
  void update(int64_t begin, int64_t end, Change change) {
    if (begin >= end)
      return;
    for (auto it = cutAt(begin); begin < end; ++it) {
      if (it == pieces.end() || it->first > begin) {
        int64_t stop = it == pieces.end() ? end : std::min(it->first, end);
        it = pieces.emplace_hint(it, begin, Piece{stop, nothing});
      }
      cutPiece(it, end);
      change(it->second.value);
      begin = it->second.end;
    }
  }

private:
  struct Piece {
    int64_t end;
    T value;
  };
  /// By the first byte.
  using Pieces = std::map<int64_t, Piece>;

  /// Cuts a piece in two if it reaches over `at`.
  void cutPiece(typename Pieces::iterator it, int64_t at) {
    if (it->second.end <= at)
      return;
    pieces.emplace_hint(std::next(it), at, it->second);
    it->second.end = at;
  }
  /// Makes sure that no piece lies on both sides of `at`. Returns the first
  /// behind it.
  typename Pieces::iterator cutAt(int64_t at) {
    auto it = pieces.lower_bound(at);
    if (it == pieces.begin())
      return it;
    cutPiece(std::prev(it), at);
    return std::prev(it)->first == at ? std::prev(it) : it;
  }

  T nothing;
  Pieces pieces;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_BYTEMAP_H
