// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost files: what they say, in microseconds, and what is refused.

#include "Piper/Runtime/TaskCosts.h"

#include "TempFolder.h"

#include "gtest/gtest.h"

using namespace piper::rt;
using namespace piper::rt::test;

static TaskCosts readText(const std::string &text) {
  TempFolder folder;
  auto costs = readTaskCosts(folder.write("c.json", text));
  EXPECT_TRUE(costs.ok());
  return costs.ok() ? *costs : TaskCosts();
}

TEST(TaskCosts, NamesOfTasks) {
  TaskCosts costs = readText(
      R"({"tasks": {"f.fw": 10, "g": 2.5, "g.into": 4}, "update": 3})");
  // By name, whatever the pass and the size.
  EXPECT_EQ(costs.ofTask("f.fw", "F", 1 << 30, 1), 10);
  EXPECT_EQ(costs.ofTask("f.fw", "U", 1, 1), 10);
  EXPECT_EQ(costs.ofTask("f.fw", "once", 1, 1), 10);
  // Accumulators cost nothing of their own unless the file says so.
  EXPECT_EQ(costs.ofTask("f.fw.into", "B", 1, 1), 10);
  EXPECT_EQ(costs.ofTask("g.into", "B", 1, 1), 4);
  EXPECT_EQ(costs.ofTask("g", "B", 1, 1), 2.5);
  EXPECT_EQ(costs.ofTask("adamw", "U", 1 << 30, 1), 3);
}

TEST(TaskCosts, TasksThatAreNotNamed) {
  TaskCosts costs = readText("{}");
  EXPECT_EQ(costs.ofTask("f", "F", 1000000, 100), 20);
  EXPECT_EQ(costs.ofTask("f", "BW", 1000, 50000), 5);
  EXPECT_EQ(costs.ofTask("adamw", "U", 1000000, 100), 20);
  EXPECT_EQ(costs.ofTask("norm", "once", 1000000, 100), 0);
  // ".into" alone is no accumulating form of a nameless function.
  EXPECT_EQ(costs.ofTask(".into", "F", 50000, 0), 1);
}

TEST(TaskCosts, Messages) {
  EXPECT_EQ(readText("{}").ofMessage(1 << 30), 0);
  TaskCosts costs =
      readText(R"({"link": {"latency": 0.5, "bytes_per_us": 1000}})");
  EXPECT_EQ(costs.ofMessage(0), 0.5);
  EXPECT_EQ(costs.ofMessage(4000), 4.5);
  EXPECT_EQ(readText(R"({"link": {"latency": 2}})").ofMessage(1 << 30), 2);
}

TEST(TaskCosts, Units) {
  TaskCosts ms = readText(R"({"link": {"bytes_per_ms": 5000, "latency": 2},
                              "tasks": {"f": 3}, "update": 0.5, "unit": "ms"})");
  EXPECT_EQ(ms.ofTask("f", "F", 0, 0), 3000);
  EXPECT_EQ(ms.ofTask("u", "U", 0, 0), 500);
  EXPECT_EQ(ms.ofMessage(10), 2002);
  TaskCosts ns = readText(R"({"unit": "ns", "tasks": {"f": 2500}})");
  EXPECT_DOUBLE_EQ(ns.ofTask("f", "F", 0, 0), 2.5);
  EXPECT_EQ(readText(R"({"unit": "s", "update": 2})").ofTask("u", "U", 0, 0),
            2e6);
  EXPECT_EQ(readText(R"({"unit": "us", "update": 2})").ofTask("u", "U", 0, 0),
            2);
}

/// Expects the error "costs 'FILE': `message`" of a file with `text`.
static void expectError(const std::string &text, const std::string &message) {
  TempFolder folder;
  std::string path = folder.write("c.json", text);
  auto costs = readTaskCosts(path);
  ASSERT_FALSE(costs.ok()) << text;
  std::string got = costs.takeStatus().message();
  std::string expected = "costs '" + path + "': " + message;
  EXPECT_EQ(got.substr(0, expected.size()), expected);
}

TEST(TaskCosts, Errors) {
  expectError("", "not JSON: parse error at line 1");
  expectError("\xEF\xBB\xBF{\"update\": 1}",
              "the file begins with a byte-order mark, which is not JSON: "
              "write it without");
  expectError("{\"update\": 1e999}", "not JSON: number overflow");
  expectError(R"({"update": 1e16})", "'update' expects at most 1e15 but got "
                                     "1e+16");
  expectError(R"({"tasks": {"f": 1, "g": 1, "f": 1}})",
              "key \"f\" is given twice");
  expectError(R"({"update": 1, "tasks": {"update": 1}, "update": 1})",
              "key \"update\" is given twice");
  expectError("[]", "expects an object but got a list");
  expectError("3", "expects an object but got 3");
  expectError(R"({"task": {}})", "unknown key 'task', expects 'unit', 'tasks', "
                                 "'update' or 'link'");
  expectError(R"({"tasks": [1]})", "'tasks' expects an object but got a list");
  expectError(R"({"tasks": {"f": -1}})",
              "'tasks.f' expects a number of 0 or more but got -1");
  expectError(R"({"tasks": {"f": "1"}})",
              "'tasks.f' expects a number of 0 or more but got \"1\"");
  expectError(R"({"update": null})",
              "'update' expects a number of 0 or more but got null");
  expectError(R"({"unit": "min"})",
              "'unit' expects \"ns\", \"us\", \"ms\" or \"s\" but got \"min\"");
  expectError(R"({"link": 1})", "'link' expects an object but got 1");
  expectError(R"({"link": {"latency": {}}})",
              "'link.latency' expects a number of 0 or more but got an object");
  expectError(R"({"link": {"bytes_per_us": 0}})",
              "'link.bytes_per_us' expects a number above 0 but got 0");
  expectError(R"({"link": {"bytes_per_us": 1}, "unit": "ms"})",
              "unknown key 'link.bytes_per_us', expects 'latency' or "
              "'bytes_per_ms'");
}

TEST(TaskCosts, FileThatIsNotThere) {
  TempFolder folder;
  auto costs = readTaskCosts(folder.file("none.json"));
  ASSERT_FALSE(costs.ok());
  EXPECT_EQ(costs.takeStatus().message(), "cannot open '" +
                                              folder.file("none.json") +
                                              "': No such file or directory");
}
