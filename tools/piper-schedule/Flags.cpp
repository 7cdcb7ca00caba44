// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flags as one table: name, value, what it does.

#include "Flags.h"

#include <algorithm>
#include <functional>

namespace piper::schedule {

const char *const helpText =
    R"(usage: piper-schedule KIND --ranks P --micro-batches M [options]
       piper-schedule --check FILE.json [options]

Prints the timetable and the figures of a pipeline schedule.

  KIND                 one of the kinds below, or search
  --ranks P            coordinates of the pipeline
  --micro-batches M    micro-batches
  --stages N           stages of one chain (default: what the kind needs)
  --placement loop|v   where chunks live, for search (default: loop)
  --costs LIST         F=1,B=2,BI=1,BW=1,update=0,comm=0; per stage F=1:1:1:3
  --limit N[,N..]      chunk activations per coordinate (default: none)
  --overlap sum|max|none   an overlapped pair takes the sum (default) or the
                       larger; none: its forward runs first, each by itself
  --transfers eager|rendezvous   (default: eager)
  --prefetch N         actions a rendezvous may run ahead (default: 1)
  --seed N             of search (default: 1)
  --effort N           of search, starts and ends computed (default: 1500000000)
  --compare KIND,..    the same model under other kinds, stages cut to fit
  --json FILE          write the schedule, - for standard output
  --svg FILE           write the timetable as SVG
  --color auto|always|never
  --check FILE         verify and simulate the schedules of a file

Kinds:
)";

namespace {
/// Turns the value of one flag into fields of `flags`; returns an error text,
/// empty if there is none.
using Setter = std::function<std::string(Flags &, const std::string &)>;
struct Flag {
  const char *name;
  Setter set;
};
} // namespace

static std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// A whole number in [low, high], in digits only.
static bool parseNumber(const std::string &text, int64_t low, int64_t high,
                        int64_t &value) {
  bool digits = !text.empty() && text.size() <= 18 &&
                std::all_of(text.begin(), text.end(),
                            [](char c) { return c >= '0' && c <= '9'; });
  if (!digits)
    return false;
  value = std::stoll(text);
  return value >= low && value <= high;
}

static Setter number(int64_t low, int64_t high,
                     std::function<void(Flags &, int64_t)> store) {
  return [=](Flags &flags, const std::string &text) -> std::string {
    int64_t value = 0;
    if (!parseNumber(text, low, high, value))
      return "a whole number from " + std::to_string(low) + " to " +
             std::to_string(high);
    store(flags, value);
    return "";
  };
}

template <typename T>
static Setter choice(std::vector<std::pair<std::string, T>> values,
                     std::function<void(Flags &, T)> store) {
  return [=](Flags &flags, const std::string &text) -> std::string {
    std::string names;
    for (const auto &[name, value] : values) {
      if (name == text) {
        store(flags, value);
        return "";
      }
      names += (names.empty() ? "" : " or ") + name;
    }
    return names;
  };
}

static std::string setLimit(Flags &flags, const std::string &text) {
  flags.request.limit.clear();
  for (const std::string &part : splitList(text)) {
    int64_t value = 0;
    if (!parseNumber(part, 1, 1'000'000'000, value))
      return "whole numbers from 1 to 1000000000";
    flags.request.limit.push_back(static_cast<int>(value));
  }
  return "";
}

static Setter text(std::function<void(Flags &, const std::string &)> store) {
  return [=](Flags &flags, const std::string &value) -> std::string {
    if (value.empty())
      return "a name";
    store(flags, value);
    return "";
  };
}

static const std::vector<Flag> &flagTable() {
  constexpr int64_t most = kMaxStageMicroBatches;
  static const std::vector<Flag> table = {
      {"--ranks",
       number(1, most, [](Flags &f, int64_t v) { f.request.P = v; })},
      {"--micro-batches",
       number(1, most, [](Flags &f, int64_t v) { f.request.M = v; })},
      {"--stages", number(1, most, [](Flags &f, int64_t v) { f.stages = v; })},
      {"--prefetch", number(0, 1'000'000,
                            [](Flags &f, int64_t v) {
                              f.simulate.prefetch = static_cast<int>(v);
                            })},
      {"--seed", number(0, 1'000'000'000'000,
                        [](Flags &f, int64_t v) { f.request.seed = v; })},
      {"--effort",
       number(0, 100'000'000'000,
              [](Flags &f, int64_t v) { f.request.effort.evaluations = v; })},
      {"--placement",
       choice<Placement>(
           {{"loop", Placement::Loop}, {"v", Placement::V}},
           [](Flags &f, Placement p) { f.request.placement = p; })},
      {"--overlap",
       choice<Overlap>({{"sum", Overlap::Sum},
                        {"max", Overlap::Max},
                        {"none", Overlap::None}},
                       [](Flags &f, Overlap o) { f.simulate.overlap = o; })},
      {"--transfers",
       choice<Transfers>(
           {{"eager", Transfers::Eager}, {"rendezvous", Transfers::Rendezvous}},
           [](Flags &f, Transfers t) { f.simulate.transfers = t; })},
      {"--color",
       choice<ColorMode>({{"auto", ColorMode::Auto},
                          {"always", ColorMode::Always},
                          {"never", ColorMode::Never}},
                         [](Flags &f, ColorMode c) { f.color = c; })},
      {"--limit", setLimit},
      {"--compare",
       text([](Flags &f, const std::string &v) { f.compare = splitList(v); })},
      {"--json", text([](Flags &f, const std::string &v) { f.json = v; })},
      {"--svg", text([](Flags &f, const std::string &v) { f.svg = v; })},
      {"--check", text([](Flags &f, const std::string &v) { f.check = v; })},
  };
  return table;
}

/// Default of --stages, and V from it.
static Result<Flags> resolveSizes(Flags flags) {
  Request &request = flags.request;
  if (flags.stages == 0) {
    const KindInfo *kind = findKind(request.kind);
    bool oneStage = !kind || kind->placement == Placement::Bidirectional;
    int chunks = oneStage ? 1 : kind->chunks ? kind->chunks : 2;
    flags.stages = static_cast<int>(
        std::min<int64_t>(int64_t(request.P) * chunks, kMaxStageMicroBatches));
  }
  auto chunks = chunksFor(request.kind, flags.stages, request.P);
  if (!chunks)
    return Error{chunks.error()};
  request.V = *chunks;
  return flags;
}

static std::string setFlag(Flags &flags, const std::string &name,
                           const std::string &value) {
  if (name == "--costs") {
    auto costs = parseCosts(value);
    if (costs)
      flags.request.costs = *costs;
    return costs.error();
  }
  for (const Flag &flag : flagTable()) {
    if (name != flag.name)
      continue;
    std::string expected = flag.set(flags, value);
    return expected.empty()
               ? ""
               : name + " expects " + expected + " but got '" + value + "'";
  }
  return "unknown flag '" + name + "', see --help";
}

/// A flag that would change nothing is refused; empty if there is none. A kind
/// that is not known is left to those who look it up.
static std::string findIdleFlag(const Flags &flags,
                                const std::vector<std::string> &given) {
  auto has = [](const std::vector<std::string> &names,
                const std::string &name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::string &kind = flags.request.kind;
  if (has(given, "--prefetch") &&
      flags.simulate.transfers != Transfers::Rendezvous)
    return "--prefetch is for --transfers rendezvous";
  if (!findKind(kind))
    return "";
  for (const char *name : {"--placement", "--seed", "--effort"}) {
    // A comparison passes on all but the placement.
    bool passesOn = name != std::string("--placement");
    if (has(given, name) && !(passesOn && has(flags.compare, "search")))
      return std::string(name) + " is for search but got kind '" + kind + "'";
  }
  return "";
}

Result<Flags> parseFlags(const std::vector<std::string> &arguments) {
  Flags flags;
  std::vector<std::string> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i], value;
    if (name == "--help" || name == "-h") {
      flags.help = true;
      return flags;
    }
    if (name.rfind("--", 0) != 0) {
      if (!flags.request.kind.empty())
        return Error{"expects one kind but got '" + flags.request.kind +
                     "' and '" + name + "'"};
      flags.request.kind = name;
      continue;
    }
    size_t equal = name.find('=');
    if (equal != std::string::npos) {
      value = name.substr(equal + 1);
      name.resize(equal);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    if (std::find(given.begin(), given.end(), name) != given.end())
      return Error{"flag '" + name + "' is given twice"};
    std::string error = setFlag(flags, name, value);
    if (!error.empty())
      return Error{error};
    given.push_back(name);
  }
  auto has = [&](const char *name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  if (has("--check")) {
    if (!flags.request.kind.empty())
      return Error{"--check takes no kind but got '" + flags.request.kind +
                   "'"};
    for (const char *name :
         {"--ranks", "--micro-batches", "--stages", "--placement", "--limit",
          "--seed", "--effort", "--compare", "--json", "--svg"})
      if (has(name))
        return Error{"--check takes what the file says, and no " +
                     std::string(name)};
    std::string idle = findIdleFlag(flags, given);
    if (!idle.empty())
      return Error{idle};
    return flags;
  }
  if (flags.request.kind.empty())
    return Error{"expects a kind, see --help"};
  for (const char *name : {"--ranks", "--micro-batches"})
    if (!has(name))
      return Error{std::string(name) + " is missing"};
  std::string idle = findIdleFlag(flags, given);
  if (!idle.empty())
    return Error{idle};
  return resolveSizes(flags);
}

} // namespace piper::schedule
