// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two pictures: golden text, colours, labels, and what SVG must contain.

#include "TestSchedules.h"

#include "Piper/Schedule/Print.h"

#include <algorithm>

using namespace piper::schedule;

static std::string timetable(const Schedule &s, const Costs &costs = {},
                             const TextOptions &options = {}) {
  return printTimetable(s, run(s, costs), options);
}

TEST(Print, OneStagePerCoordinate) {
  EXPECT_EQ(timetable(make("1f1b", 4, 1, 4)),
            "0 |F0 F1 F2 F3 .  .  .  .  .  .  B0--- .  B1--- .  B2--- .  "
            "B3---\n"
            "1 |.  F0 F1 F2 .  .  .  .  B0--- F3 B1--- .  B2--- .  B3--- .  "
            ".\n"
            "2 |.  .  F0 F1 .  .  B0--- F2 B1--- F3 B2--- .  B3--- .  .  .  "
            ".\n"
            "3 |.  .  .  F0 B0--- F1 B1--- F2 B2--- F3 B3--- .  .  .  .  .  "
            ".\n");
}

TEST(Print, ChunksAndPairs) {
  EXPECT_EQ(timetable(make("dualpipe", 2, 2, 4)),
            "0 |F0a F2b F1a B2b---- F3bB0a----- B3b---- I1a W1a\n"
            "1 |F2b F0a F3b B0a---- F1aB2b----- B1a---- I3b W3b\n");
}

TEST(Print, FractionsOfTheShortestAction) {
  // Half a unit is the largest that 1, 1.5 and 0.5 are multiples of.
  EXPECT_EQ(timetable(make("gpipe", 2, 1, 1), Costs::uniform(1, 1, 0.5, 0.5)),
            "0 |F0- . . . . . . . B0---\n"
            "1 |. . . F0- B0--- . . . .\n");
}

TEST(Print, ColoursOnlyWhereAsked) {
  TextOptions options;
  options.color = true;
  EXPECT_EQ(timetable(make("zb_h1", 1, 1, 1), {}, options),
            "0 |\x1b[30;44mF0\x1b[0m \x1b[30;46mI0\x1b[0m "
            "\x1b[30;43mW0\x1b[0m\n");
}

TEST(Print, LeavesOutWhatIsTooWide) {
  TextOptions options;
  options.maxColumns = 40;
  EXPECT_EQ(timetable(make("1f1b", 4, 1, 4), {}, options), "");
  // Costs without a common unit, and none at all, still print.
  EXPECT_NE(timetable(make("1f1b", 2, 1, 2), Costs::uniform(1, 0.77, 0.3331)),
            "");
  EXPECT_NE(timetable(make("1f1b", 2, 1, 2), Costs::uniform(0, 0, 0)), "");
}

TEST(Print, LabelsPastTheAlphabet) {
  Schedule s = make("looped_bfs", 1, 28, 1);
  CellLabels labels(s);
  EXPECT_EQ(labels.of(Action::forward(25, 0)), "F0z");
  EXPECT_EQ(labels.of(Action::backward(27, 0)), "B0.27");
}

static size_t count(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

TEST(Print, SVGHasEveryActionWithARoomyBox) {
  Schedule s = make("dualpipev", 2, 2, 12);
  std::string svg = toSVG(s, run(s));
  EXPECT_EQ(count(svg, "<rect"), static_cast<size_t>(s.numActions()));
  EXPECT_EQ(count(svg, ">F11a<") + count(svg, ">F11aB"), 2u);
  EXPECT_EQ(count(svg, "<title>BI(stage 0, mb 11)</title>"), 1u);
  // The shortest box holds four characters of 7 pixels and a margin.
  size_t at = svg.find("<rect"), smallest = 1000;
  for (; at != std::string::npos; at = svg.find("<rect", at + 1)) {
    size_t width = svg.find("width=\"", at) + 7;
    smallest = std::min<size_t>(smallest, std::stoul(svg.substr(width)));
  }
  EXPECT_GE(smallest, 4u * 7);
}
