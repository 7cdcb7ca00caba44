// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same model under another kind, for --compare.

#ifndef PIPER_TOOLS_SCHEDULE_COMPARE_H
#define PIPER_TOOLS_SCHEDULE_COMPARE_H

#include "Flags.h"

namespace piper::schedule {

/// The request of `kind` for the model of `flags`: its stages are merged or
/// cut in equal parts to the number that the kind needs, costs and limit with
/// them. Errors: unknown kind, stages that can be neither merged nor cut.
Result<Request> requestFor(const Flags &flags, const std::string &kind);

} // namespace piper::schedule

#endif // PIPER_TOOLS_SCHEDULE_COMPARE_H
