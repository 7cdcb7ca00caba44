// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the runtime reports failure: a Status is either success (a null pointer,
// so passing one costs nothing) or a message with notes added on the way up.
// No exception crosses the API and no library calls exit.

#ifndef PIPER_RUNTIME_STATUS_H
#define PIPER_RUNTIME_STATUS_H

#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace piper::rt {

/// Success, or one error message with notes. Move-only.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(std::string message) {
    Status status;
    status.detail = std::make_unique<Detail>();
    status.detail->message = std::move(message);
    return status;
  }
  static Status success() { return Status(); }

  bool ok() const { return !detail; }
  /// Requires: !ok().
  const std::string &message() const { return detail->message; }
  const std::vector<std::string> &notes() const { return detail->notes; }
  Status &addNote(std::string note) & {
    if (detail)
      detail->notes.push_back(std::move(note));
    return *this;
  }
  Status &&addNote(std::string note) && {
    addNote(std::move(note));
    return std::move(*this);
  }
  /// "message\n  note: ...\n  note: ..." without a final newline.
  std::string str() const;

private:
  struct Detail {
    std::string message;
    std::vector<std::string> notes;
  };
  std::unique_ptr<Detail> detail;
};

/// A value or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Status status) : storage(std::move(status)) {
    assert(!std::get<Status>(storage).ok() && "a Result needs a value");
  }
  bool ok() const { return storage.index() == 0; }
  T &operator*() { return std::get<0>(storage); }
  const T &operator*() const { return std::get<0>(storage); }
  T *operator->() { return &std::get<0>(storage); }
  const T *operator->() const { return &std::get<0>(storage); }
  /// Moves the error out. Requires: !ok().
  Status takeStatus() { return std::move(std::get<1>(storage)); }

private:
  std::variant<T, Status> storage;
};

} // namespace piper::rt

/// Returns the error of `expr` from the enclosing function, if it has one.
#define PIPER_RETURN_IF_ERROR(expr)                                            \
  do {                                                                         \
    ::piper::rt::Status piperStatus = (expr);                                  \
    if (!piperStatus.ok())                                                     \
      return piperStatus;                                                      \
  } while (false)

#endif // PIPER_RUNTIME_STATUS_H
