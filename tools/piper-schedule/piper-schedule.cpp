// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-schedule: timetable and figures of a pipeline schedule, generated,
// searched, or read from a file.

#include "Compare.h"
#include "Flags.h"
#include "Piper/Runtime/CommandFiles.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Schedule/JSON.h"
#include "Piper/Schedule/Print.h"
#include "Piper/Schedule/Verify.h"
#include "Report.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

using namespace piper::schedule;

static int fail(const std::string &message) {
  std::cout.flush();
  std::cerr << "piper-schedule: error: " << message << '\n';
  return 1;
}

using piper::rt::CommandFiles;
using piper::rt::Status;

/// Before a search, which may be long.
static Status checkFiles(const Flags &flags) {
  CommandFiles files;
  for (const std::string *path : {&flags.json, &flags.svg})
    if (!path->empty())
      PIPER_RETURN_IF_ERROR(files.addOutput(*path));
  return Status::success();
}

static Status writeResults(const Report &report, const Flags &flags) {
  std::vector<std::pair<std::string, std::string>> files;
  if (!flags.json.empty())
    files.emplace_back(flags.json, toJSON(report.schedule) + "\n");
  if (!flags.svg.empty())
    files.emplace_back(flags.svg, toSVG(report.schedule, report.simulation));
  return piper::rt::writeFiles(files);
}

static void printReport(const Report &report, const Flags &flags) {
  TextOptions options;
  options.color = flags.color == ColorMode::Always ||
                  (flags.color == ColorMode::Auto && isatty(STDOUT_FILENO));
  std::string timetable =
      printTimetable(report.schedule, report.simulation, options);
  if (timetable.empty())
    timetable = "(the timetable is wider than " +
                std::to_string(options.maxColumns) +
                " columns; --svg draws it)\n";
  std::cout << timetable << figures(report);
}

/// A schedule of the request that passed the verifier, with its figures.
static Result<Report> run(const Request &request, const Flags &flags) {
  auto schedule = generate(request);
  if (!schedule)
    return Error{schedule.error()};
  auto errors = verify(*schedule);
  if (!errors.empty())
    return Error{"kind '" + request.kind + "': " + errors.front()};
  return makeReport(*schedule, request.costs, flags.simulate);
}

/// The lines of all kinds to compare with, before anything is printed.
static Result<std::string> compare(const Report &report, const Flags &flags) {
  if (flags.compare.empty())
    return std::string();
  std::string lines = comparisonHead() + comparisonLine(report);
  for (const std::string &kind : flags.compare) {
    auto request = requestFor(flags, kind);
    if (!request)
      return Error{request.error()};
    auto other = run(*request, flags);
    if (!other)
      return Error{other.error()};
    lines += comparisonLine(*other);
  }
  return lines;
}

/// Writes what the flags ask for; --json - prints nothing else.
static int finish(const Report &report, const Flags &flags) {
  auto comparison = compare(report, flags);
  if (!comparison)
    return fail(comparison.error());
  Status written = writeResults(report, flags);
  if (!written.ok())
    return fail(written.message());
  if (flags.json == "-" || flags.svg == "-")
    return 0;
  printReport(report, flags);
  std::cout << *comparison;
  return 0;
}

static int check(const Flags &flags) {
  std::ifstream file(flags.check, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return fail("cannot read '" + flags.check + "'");
  auto schedules = fromJSON(text.str());
  if (!schedules)
    return fail(flags.check + ": " + schedules.error());
  if (schedules->empty())
    return fail(flags.check + ": there is no schedule in it");
  VerifyOptions options;
  options.ascendingBackwards = false;
  // A file with many bad schedules is said to have them, not listed.
  constexpr int64_t kShown = 20;
  int64_t broken = 0;
  auto say = [&](const std::string &error) {
    if (broken++ < kShown)
      fail(error);
  };
  for (size_t i = 0; i < schedules->size(); ++i) {
    const Schedule &schedule = (*schedules)[i];
    std::string where = flags.check + ": entry " + std::to_string(i) + " (" +
                        schedule.kind + "): ";
    auto errors = verify(schedule, options);
    for (const std::string &error : errors)
      say(where + error);
    if (!errors.empty())
      continue;
    auto report = makeReport(schedule, flags.request.costs, flags.simulate);
    if (!report)
      say(where + report.error());
    else
      printReport(*report, flags);
  }
  if (broken > kShown)
    fail("and " + std::to_string(broken - kShown) + " more");
  return broken ? 1 : 0;
}

static int runTool(int argc, char **argv) {
  auto flags = parseFlags({argv + 1, argv + argc});
  if (!flags)
    return fail(flags.error());
  if (flags->help) {
    std::cout << helpText;
    for (const KindInfo &kind : kinds()) {
      std::string name = kind.name;
      name.resize(20, ' ');
      std::cout << "  " << name << kind.summary << '\n';
    }
    std::cout << "  search              an order near the bound for --costs "
                 "and --limit\n";
    return 0;
  }
  if (!flags->check.empty())
    return check(*flags);
  Status files = checkFiles(*flags);
  if (!files.ok())
    return fail(files.message());
  auto report = run(flags->request, *flags);
  return report ? finish(*report, *flags) : fail(report.error());
}

int main(int argc, char **argv) {
  // A file that grows past a limit is an error of the write, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  int result = runTool(argc, argv);
  if (!std::cout.flush())
    return fail("cannot write to standard output");
  return result;
}
