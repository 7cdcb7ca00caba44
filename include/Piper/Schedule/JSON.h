// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file form of schedules.

#ifndef PIPER_SCHEDULE_JSON_H
#define PIPER_SCHEDULE_JSON_H

#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace piper::schedule {

/// One object on one line:
/// {"kind":"1f1b","P":4,"V":1,"M":8,"stage_rank":[0,1,2,3],
///  "chains":[[0,1,2,3]],"cap":null,"ranks":[[["F",0,0],["B",0,0]],..]}
/// with actions ["F",stage,mb], ["B",..], ["BI",..], ["BW",..] and
/// ["FB",stageF,mbF,stageB,mbB]. `cap` is null, one number, or one for each
/// coordinate; "mb_chain" stands after "chains" where there is more than one.
std::string toJSON(const Schedule &schedule);

/// Reads one object, a list of them, or {"entries": [..]}. Any kind name and
/// unknown keys are taken. "chains" (one chain of all stages), "kind", "cap"
/// and "mb_chain" may be missing. Only the shape is checked here: run `verify`.
/// Errors name the entry, the key and what was expected.
Result<std::vector<Schedule>> fromJSON(const std::string &text);

/// The error of a text that begins with a byte-order mark, which the parser
/// would skip and others do not.
constexpr char kByteOrderMarkError[] =
    "the file begins with a byte-order mark, which is not JSON: write it "
    "without";
bool hasByteOrderMark(const std::string &text);

/// A key that an object of a JSON text has twice, of which parsers keep the
/// last; nothing if there is none, or the text is no JSON.
std::optional<std::string> findRepeatedKey(const std::string &text);

/// What an exception of the JSON parser says, without its name and number.
std::string parserMessage(const std::string &what);

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_JSON_H
