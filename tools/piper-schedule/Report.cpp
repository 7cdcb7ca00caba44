// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers into columns.

#include "Report.h"

#include <cstdarg>
#include <cstdio>

namespace piper::schedule {

static std::string format(const char *pattern, ...) {
  char buffer[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return buffer;
}

Result<Report> makeReport(const Schedule &schedule, const Costs &costs,
                          const SimulateOptions &options) {
  auto simulation = simulate(schedule, costs, options);
  if (!simulation)
    return Error{simulation.error()};
  auto bounds = lowerBounds(schedule, costs, options.overlap);
  if (!bounds)
    return Error{bounds.error()};
  return Report{schedule, *simulation, *bounds};
}

std::string figures(const Report &report) {
  const Schedule &s = report.schedule;
  const Simulation &sim = report.simulation;
  std::string text = s.kind + ": " +
                     format("P %d, V %d, M %d, %lld actions\n", s.P, s.V, s.M,
                            static_cast<long long>(s.numActions()));
  text +=
      format("length %.6g, idle share %.4f, largest idle %.6g (within a "
             "coordinate's own span %.6g)\n",
             sim.makespan, sim.bubbleRatio(), sim.maxIdle(), sim.maxSpanIdle());
  const LowerBounds &b = report.bounds;
  text += format("no order is shorter than %.6g: critical path %.6g, work "
                 "%.6g, ramp %.6g, residence %.6g\n",
                 b.best(), b.criticalPath, b.work, b.ramp, b.residence);
  text += "activations in flight are chunk activations, one per stage and "
          "micro-batch\n";
  text += "coordinate       busy       idle  span idle  in flight until "
          "B/BW  until B/BI\n";
  for (int rank = 0; rank < s.P; ++rank)
    text += format("%10d %10.6g %10.6g %10.6g %20d %11d\n", rank,
                   sim.busy[rank], sim.idle[rank], sim.spanIdle[rank],
                   sim.peak[rank], sim.peakAtInput[rank]);
  return text;
}

std::string comparisonHead() {
  return "kind                V     length  idle share  largest idle  most in "
         "flight  in micro-batches  lower bound\n";
}

std::string comparisonLine(const Report &report) {
  const Simulation &sim = report.simulation;
  int peak = sim.maxPeak();
  // A chain's chunks on a coordinate; two chains have whole stages each.
  double chunks = static_cast<double>(report.schedule.V) /
                  static_cast<double>(report.schedule.chains.size());
  std::string kind = report.schedule.kind;
  kind.resize(std::max<size_t>(kind.size(), 18), ' ');
  return kind + format(" %2d %10.6g %11.4f %13.6g %15d %17.6g %12.6g\n",
                       report.schedule.V, sim.makespan, sim.bubbleRatio(),
                       sim.maxIdle(), peak, peak / chunks,
                       report.bounds.best());
}

} // namespace piper::schedule
