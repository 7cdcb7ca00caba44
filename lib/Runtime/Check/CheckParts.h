// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small checks that the loader is made of. `what` says which part of the
// program is checked; it starts the message. A plan has millions of checks and
// hardly ever a message, so the text is made when a check has failed.

#ifndef PIPER_LIB_RUNTIME_CHECK_CHECKPARTS_H
#define PIPER_LIB_RUNTIME_CHECK_CHECKPARTS_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <type_traits>

namespace piper::rt {

/// How a message starts. Refers to a function that makes the text, which has to
/// outlive it.
class What {
public:
  template <typename Make, typename = std::enable_if_t<std::is_invocable_r_v<
                               std::string, const Make &>>>
  What(const Make &make)
      : make(&make), call([](const void *make) -> std::string {
          return (*static_cast<const Make *>(make))();
        }) {}
  std::string operator()() const { return call(make); }

private:
  const void *make;
  std::string (*call)(const void *);
};

/// `what` and more text, for as long as `what` is there.
inline auto operator+(What what, const char *more) {
  return [what, more] { return what() + more; };
}

/// No negative dimension, and a size that fits into 63 bits.
Status checkType(const TensorType &type, What what);

/// `offset` is a multiple of `alignment` and `bytes` from there end at `limit`
/// or before.
Status checkRange(int64_t offset, int64_t bytes, int64_t limit,
                  int64_t alignment, What what);

Status checkIndex(int64_t index, size_t count, What what);
Status checkCount(size_t got, size_t expected, What what);
Status checkSameType(const TensorType &got, const TensorType &expected,
                     What what);

/// Everything of an entry point except who overwrites what (MemoryWalk).
/// Requires: state and functions are checked.
Status checkEntry(const Program &program, const EntryPoint &entry);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_CHECKPARTS_H
