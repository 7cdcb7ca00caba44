// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing and reading the file form. Written by hand because a schedule may
// have 200,000 actions; read through nlohmann-json, whose exceptions stay here.

#include "Piper/Schedule/JSON.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace piper::schedule {

using nlohmann::json;

/// A value in a message: whole if it is short and flat (a file may nest deeper
/// than the stack), else its type.
static std::string show(const json &value) {
  bool flat = value.size() <= 5 &&
              std::none_of(value.begin(), value.end(), [](const json &part) {
                return part.is_structured();
              });
  if (value.is_structured() && !flat)
    return value.type_name();
  return value.dump(-1, ' ', false, json::error_handler_t::replace)
      .substr(0, 60);
}

static void append(std::string &out, const std::vector<int> &values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i)
      out += ',';
    out += std::to_string(values[i]);
  }
  out += ']';
}

static void append(std::string &out, const Action &a) {
  out += "[\"";
  out += passName(a.pass);
  out += "\"";
  for (int value : {a.stage, a.microBatch, a.stageB, a.microBatchB}) {
    if (value < 0)
      break;
    out += ',';
    out += std::to_string(value);
  }
  out += ']';
}

template <typename T>
static void appendLists(std::string &out, const std::vector<T> &lists,
                        void (*appendOne)(std::string &, const T &)) {
  out += '[';
  for (size_t i = 0; i < lists.size(); ++i) {
    if (i)
      out += ',';
    appendOne(out, lists[i]);
  }
  out += ']';
}

static void appendCap(std::string &out, const std::vector<int> &cap) {
  bool equal = std::all_of(cap.begin(), cap.end(),
                           [&](int value) { return value == cap[0]; });
  if (cap.empty())
    out += "null";
  else if (equal)
    out += std::to_string(cap[0]);
  else
    append(out, cap);
}

std::string toJSON(const Schedule &s) {
  std::string out;
  out.reserve(static_cast<size_t>(s.numActions()) * 16 + 256);
  out += "{\"kind\":" +
         json(s.kind).dump(-1, ' ', false, json::error_handler_t::replace) +
         ",\"P\":" + std::to_string(s.P) + ",\"V\":" + std::to_string(s.V) +
         ",\"M\":" + std::to_string(s.M) + ",\"stage_rank\":";
  append(out, s.stageRank);
  out += ",\"chains\":";
  appendLists<std::vector<int>>(out, s.chains, append);
  if (!s.mbChain.empty()) {
    out += ",\"mb_chain\":";
    append(out, s.mbChain);
  }
  out += ",\"cap\":";
  appendCap(out, s.cap);
  out += ",\"ranks\":";
  appendLists<std::vector<Action>>(
      out, s.ranks, [](std::string &to, const std::vector<Action> &actions) {
        appendLists<Action>(to, actions, append);
      });
  out += '}';
  return out;
}

namespace {
/// Reads one entry; the first problem is kept in `error`.
class Reader {
public:
  Reader(const json &entry, size_t index)
      : entry(entry), where("entry " + std::to_string(index) + ": ") {}

  Result<Schedule> read();

private:
  bool fail(const std::string &message) {
    if (error.empty())
      error = where + message;
    return false;
  }
  /// The member `key`, or a null pointer where it is missing.
  const json *find(const char *key) {
    auto it = entry.find(key);
    return it == entry.end() ? nullptr : &*it;
  }
  bool toInt(const json &value, const std::string &name, int &out);
  bool toInts(const json &value, const std::string &name,
              std::vector<int> &out);
  bool toAction(const json &value, const std::string &name, Action &out);
  bool readSize(const char *key, int &out);
  bool readCap(Schedule &s);
  bool readChains(Schedule &s);
  bool readRanks(Schedule &s);

  const json &entry;
  std::string where, error;
};
} // namespace

bool Reader::toInt(const json &value, const std::string &name, int &out) {
  constexpr int64_t kMost = 1'000'000'000;
  auto refuse = [&](const std::string &what) {
    return fail("'" + name + "' expects " + what + " but got " + show(value));
  };
  if (!value.is_number_integer())
    return refuse("an integer");
  // A number above the largest int64_t is unsigned.
  bool isLarge = value.is_number_unsigned()
                     ? value.get<uint64_t>() > uint64_t(kMost)
                     : value.get<int64_t>() > kMost;
  if (isLarge)
    return refuse("at most " + std::to_string(kMost));
  if (value.get<int64_t>() < -kMost)
    return refuse("at least " + std::to_string(-kMost));
  out = value.get<int>();
  return true;
}

bool Reader::toInts(const json &value, const std::string &name,
                    std::vector<int> &out) {
  if (!value.is_array())
    return fail("'" + name + "' expects a list of integers but got " +
                show(value));
  out.resize(value.size());
  for (size_t i = 0; i < value.size(); ++i)
    if (!toInt(value[i], name, out[i]))
      return false;
  return true;
}

bool Reader::readSize(const char *key, int &out) {
  const json *value = find(key);
  return value ? toInt(*value, key, out)
               : fail("key '" + std::string(key) + "' is missing");
}

bool Reader::toAction(const json &value, const std::string &name, Action &out) {
  static const std::pair<const char *, Pass> passes[] = {{"F", Pass::F},
                                                         {"B", Pass::B},
                                                         {"BI", Pass::BI},
                                                         {"BW", Pass::BW},
                                                         {"FB", Pass::FB}};
  bool named = value.is_array() && !value.empty() && value[0].is_string();
  for (const auto &[text, pass] : passes) {
    if (!named || value[0] != text)
      continue;
    size_t length = pass == Pass::FB ? 5 : 3;
    if (value.size() != length)
      break;
    out.pass = pass;
    return toInt(value[1], name, out.stage) &&
           toInt(value[2], name, out.microBatch) &&
           (pass != Pass::FB || (toInt(value[3], name, out.stageB) &&
                                 toInt(value[4], name, out.microBatchB)));
  }
  return fail("'" + name +
              "' expects [\"F\"|\"B\"|\"BI\"|\"BW\", stage, mb] or [\"FB\", "
              "stage, mb, stage, mb] but got " +
              show(value));
}

bool Reader::readCap(Schedule &s) {
  const json *cap = find("cap");
  if (!cap || cap->is_null())
    return true;
  if (cap->is_array())
    return toInts(*cap, "cap", s.cap);
  int value = 0;
  if (!toInt(*cap, "cap", value))
    return false;
  s.cap.assign(s.ranks.size(), value);
  return true;
}

bool Reader::readChains(Schedule &s) {
  const json *chains = find("chains");
  if (!chains) {
    s.chains.emplace_back(s.stageRank.size());
    std::iota(s.chains[0].begin(), s.chains[0].end(), 0);
  } else if (!chains->is_array()) {
    return fail("'chains' expects a list of lists but got " + show(*chains));
  } else {
    s.chains.resize(chains->size());
    for (size_t i = 0; i < chains->size(); ++i)
      if (!toInts((*chains)[i], "chains", s.chains[i]))
        return false;
  }
  const json *mbChain = find("mb_chain");
  return !mbChain || toInts(*mbChain, "mb_chain", s.mbChain);
}

bool Reader::readRanks(Schedule &s) {
  const json *ranks = find("ranks");
  if (!ranks)
    return fail("key 'ranks' is missing");
  if (!ranks->is_array())
    return fail("'ranks' expects a list of action lists but got " +
                show(*ranks));
  s.ranks.resize(ranks->size());
  for (size_t r = 0; r < ranks->size(); ++r) {
    const json &actions = (*ranks)[r];
    std::string name = "ranks[" + std::to_string(r) + "]";
    if (!actions.is_array())
      return fail("'" + name + "' expects a list of actions");
    s.ranks[r].resize(actions.size());
    for (size_t i = 0; i < actions.size(); ++i)
      if (!toAction(actions[i], name, s.ranks[r][i]))
        return false;
  }
  return true;
}

Result<Schedule> Reader::read() {
  Schedule s;
  if (!entry.is_object()) {
    fail("expects an object");
    return Error{error};
  }
  const json *kind = find("kind");
  if (kind && !kind->is_string()) {
    fail("'kind' expects a string but got " + show(*kind));
    return Error{error};
  }
  if (kind)
    s.kind = kind->get<std::string>();
  const json *stageRank = find("stage_rank");
  bool good = readSize("P", s.P) && readSize("V", s.V) && readSize("M", s.M);
  if (good && !stageRank)
    good = fail("key 'stage_rank' is missing");
  good = good && toInts(*stageRank, "stage_rank", s.stageRank) &&
         readRanks(s) && readChains(s) && readCap(s);
  if (!good)
    return Error{error};
  return s;
}

namespace {
/// Looks at keys and keeps nothing else; stops at the first that is repeated.
class KeyFinder : public nlohmann::json_sax<json> {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override {
    keys.emplace_back();
    return true;
  }
  bool end_object() override {
    keys.pop_back();
    return true;
  }
  bool key(string_t &name) override {
    if (keys.back().insert(name).second)
      return true;
    repeated = name;
    return false;
  }
  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &) override {
    return false;
  }

  std::optional<std::string> repeated;

private:
  std::vector<std::set<std::string>> keys;
};
} // namespace

bool hasByteOrderMark(const std::string &text) {
  return text.compare(0, 3, "\xEF\xBB\xBF") == 0;
}

std::optional<std::string> findRepeatedKey(const std::string &text) {
  KeyFinder finder;
  json::sax_parse(text, &finder);
  return finder.repeated;
}

std::string parserMessage(const std::string &what) {
  size_t end = what.find("] ");
  return what.rfind("[json.exception", 0) == 0 && end != std::string::npos
             ? what.substr(end + 2)
             : what;
}

Result<std::vector<Schedule>> fromJSON(const std::string &text) {
  if (hasByteOrderMark(text))
    return Error{kByteOrderMarkError};
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception &problem) {
    return Error{"not JSON: " + parserMessage(problem.what())};
  }
  if (auto key = findRepeatedKey(text))
    return Error{"key " + show(*key) + " is given twice"};
  if (root.is_object() && root.contains("entries")) {
    json entries = std::move(root["entries"]);
    root = std::move(entries);
    if (!root.is_array())
      return Error{"'entries' expects a list"};
  }
  if (root.is_object()) {
    json list = json::array();
    list.push_back(std::move(root));
    root = std::move(list);
  }
  if (!root.is_array())
    return Error{"expects an object, a list of objects, or {\"entries\": []}"};
  std::vector<Schedule> schedules;
  for (size_t i = 0; i < root.size(); ++i) {
    auto schedule = Reader(root[i], i).read();
    if (!schedule)
      return Error{schedule.error()};
    schedules.push_back(std::move(*schedule));
  }
  return schedules;
}

} // namespace piper::schedule
