// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error type of this library: a value, or one sentence that says which
// rule was broken, by which values, and what would be legal instead.

#ifndef PIPER_SCHEDULE_RESULT_H
#define PIPER_SCHEDULE_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace piper::schedule {

struct Error {
  std::string message;
};

/// Either a `T` or an error message. Reading the value of a failed result is
/// a bug of the caller.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : stored(std::move(value)) {}
  Result(Error error) : message(std::move(error.message)) {}

  explicit operator bool() const { return stored.has_value(); }
  T &operator*() { return *stored; }
  const T &operator*() const { return *stored; }
  T *operator->() { return &*stored; }
  const T *operator->() const { return &*stored; }

  /// The message of a failed result; empty for a value.
  const std::string &error() const { return message; }

private:
  std::optional<T> stored;
  std::string message;
};

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_RESULT_H
