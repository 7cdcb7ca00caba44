// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans are not trusted: a spec that is wrong in any way must give an error or
// a kernel, and never crash a function of the table.

#include "KernelTester.h"
#include "SampleSpecs.h"

#include <climits>
#include <cmath>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

/// Calls every function of the table; true if a kernel was made.
static bool callAll(const KernelSpec &spec) {
  const KernelEntry *entry = findKernel(spec.name);
  Target target{"cpu", 2};
  if (entry->viewOffset)
    entry->viewOffset(spec);
  if (entry->mayAlias)
    for (int operand = 0; operand < 9; ++operand)
      for (int result = 0; result < 4; ++result)
        entry->mayAlias(spec, operand, result);
  if (entry->workspaceBytes) {
    EXPECT_GE(entry->workspaceBytes(spec, target), 0) << spec.name;
  }
  auto made = entry->create(spec, target);
  if (made.ok())
    return true;
  std::string message = made.takeStatus().message();
  EXPECT_EQ(message.rfind("kernel '" + spec.name + "' expects ", 0), 0u)
      << message;
  EXPECT_NE(message.find(" but got "), std::string::npos) << message;
  return false;
}

TEST(BadSpec, TheTableHasEveryKernel) {
  for (const KernelSpec &spec : validSpecs()) {
    ASSERT_NE(findKernel(spec.name), nullptr) << spec.name;
    EXPECT_STREQ(findKernel(spec.name)->name, spec.name.c_str());
    EXPECT_TRUE(callAll(spec)) << spec.name;
  }
  EXPECT_EQ(validSpecs().size(), 58u);
  EXPECT_EQ(findKernel(""), nullptr);
  EXPECT_EQ(findKernel("zzz"), nullptr);
  EXPECT_EQ(findKernel("matmu"), nullptr);
}

TEST(BadSpec, NumbersOfThreadsThatNoTargetHas) {
  for (const KernelSpec &spec : validSpecs())
    for (int threads : {0, -5, INT_MIN}) {
      const KernelEntry *entry = findKernel(spec.name);
      Target target{"cpu", threads};
      EXPECT_TRUE(entry->create(spec, target).ok()) << spec.name;
      if (entry->workspaceBytes) {
        EXPECT_EQ(entry->workspaceBytes(spec, target),
                  entry->workspaceBytes(spec, Target{"cpu", 1}));
      }
    }
}

TEST(BadSpec, WrongNumbersOfOperandsAndResults) {
  for (const KernelSpec &valid : validSpecs()) {
    KernelSpec spec = valid;
    spec.results.clear();
    EXPECT_FALSE(callAll(spec)) << spec.name;
    spec = valid;
    spec.results.resize(5, spec.results[0]);
    EXPECT_FALSE(callAll(spec)) << spec.name;
    for (size_t n = 0; n < 10; ++n) {
      spec = valid;
      spec.operands.resize(n, valid.operands.empty() ? valid.results[0]
                                                     : valid.operands[0]);
      callAll(spec);
    }
  }
}

TEST(BadSpec, WrongTypes) {
  const std::vector<Shape> shapes = {{},
                                     {1},
                                     {0},
                                     {-1},
                                     {4, -8},
                                     {4, 0, 8},
                                     {8, 4},
                                     {4, 8, 1},
                                     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                     {INT64_MAX},
                                     {INT64_MIN},
                                     {int64_t(1) << 40, int64_t(1) << 40},
                                     {int64_t(1) << 32, int64_t(1) << 32},
                                     {INT64_MAX, INT64_MAX, 2}};
  for (const KernelSpec &valid : validSpecs()) {
    size_t operands = valid.operands.size();
    for (size_t i = 0; i < operands + valid.results.size(); ++i) {
      auto type = [&](KernelSpec &spec) -> TensorType & {
        return i < operands ? spec.operands[i] : spec.results[i - operands];
      };
      for (int element = 0; element < 6; ++element) {
        KernelSpec spec = valid;
        type(spec).element = ElementType(element);
        callAll(spec);
      }
      KernelSpec unknown = valid;
      type(unknown).element = ElementType(77);
      EXPECT_FALSE(callAll(unknown)) << valid.name;
      for (const Shape &shape : shapes) {
        KernelSpec spec = valid;
        type(spec).shape = shape;
        // Numbers that no address space holds must not be accepted.
        bool sane = true;
        for (int64_t dim : shape)
          sane = sane && dim > 0 && dim < (int64_t(1) << 30);
        bool made = callAll(spec);
        EXPECT_TRUE(sane || !made) << valid.name << " " << i;
      }
    }
  }
}

TEST(BadSpec, WrongAttributes) {
  const std::vector<Attributes::Value> values = {integer(-1),
                                                 integer(INT64_MAX),
                                                 integer(INT64_MIN),
                                                 number(NAN),
                                                 number(-1),
                                                 number(1e300),
                                                 text("x"),
                                                 list({}),
                                                 list({-1}),
                                                 list({1, 0, 5}),
                                                 list({INT64_MAX, INT64_MIN}),
                                                 list({0, 0, 0, 0}),
                                                 std::vector<uint8_t>{1}};
  for (const KernelSpec &valid : validSpecs())
    for (size_t i = 0; i < valid.attributes.entries.size(); ++i) {
      for (const Attributes::Value &value : values) {
        KernelSpec spec = valid;
        spec.attributes.entries[i].second = value;
        callAll(spec);
      }
      KernelSpec spec = valid;
      spec.attributes.entries.erase(spec.attributes.entries.begin() +
                                    int64_t(i));
      callAll(spec);
    }
}

TEST(BadSpec, ManyThingsAtOnce) {
  std::mt19937 generator{1};
  std::vector<KernelSpec> specs = validSpecs();
  for (int trial = 0; trial < 20000; ++trial) {
    KernelSpec spec = specs[generator() % specs.size()];
    for (int change = 0; change < 3; ++change) {
      std::vector<TensorType> &types =
          generator() % 2 ? spec.operands : spec.results;
      if (types.empty())
        continue;
      TensorType &type = types[generator() % types.size()];
      switch (generator() % 5) {
      case 0:
        type.element = ElementType(generator() % 6);
        break;
      case 1:
        if (!type.shape.empty())
          type.shape[generator() % type.shape.size()] =
              int64_t(generator() % 9);
        break;
      case 2:
        type.shape.push_back(1 + int64_t(generator() % 3));
        break;
      case 3:
        type = specs[generator() % specs.size()].results[0];
        break;
      default:
        types.push_back(type);
      }
    }
    callAll(spec);
  }
}

TEST(BadSpec, Messages) {
  EXPECT_EQ(errorOf({"softmax", {Tensor()}, {}, {}}),
            "kernel 'softmax' expects 1 results but got 0");
  KernelSpec spec{"exp", {{F32, {4, -8}}}, {{F32, {4, -8}}}, {}};
  auto made = findKernel("exp")->create(spec, Target{"cpu", 1});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(
      made.takeStatus().message(),
      "kernel 'exp' expects positive dimensions of operand 0 but got 4x-8");
  spec.operands[0].shape = {int64_t(1) << 40, int64_t(1) << 40};
  made = findKernel("exp")->create(spec, Target{"cpu", 1});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.takeStatus().message(),
            "kernel 'exp' expects fewer than 2^58 elements of operand 0 but "
            "got 1099511627776x1099511627776");
  spec.operands[0] = {ElementType(9), {1}};
  made = findKernel("exp")->create(spec, Target{"cpu", 1});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.takeStatus().message(), "kernel 'exp' expects a known element "
                                         "type for operand 0 but got number 9");
  EXPECT_EQ(errorOf({"layer_norm", {}, {{F32, {4}}}, {}}),
            "kernel 'layer_norm' expects 3 operands but got 0");
  EXPECT_EQ(errorOf({"attention", {}, {}, {}}),
            "kernel 'attention' expects 3 to 5 operands but got 0");
}
