// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel on small tensors and compares it with a reference.

#include "KernelTester.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

Tensor::Tensor(TensorType type)
    : theType(std::move(type)),
      memory(size_t(theType.numBytes()) + kAlignment + kGuard,
             std::byte(0xff)) {
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  start = memory.data() + (kAlignment - address % kAlignment) % kAlignment;
  std::memset(start + theType.numBytes(), 0xab, kGuard);
}

Tensor::Tensor(TensorType type, const std::vector<double> &values)
    : Tensor(std::move(type)) {
  EXPECT_EQ(size(), int64_t(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    set(int64_t(i), values[i]);
}

Tensor &Tensor::operator=(const Tensor &other) {
  if (this == &other)
    return *this;
  theType = other.theType;
  Tensor fresh;
  memory.assign(other.memory.size(), std::byte(0xff));
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  start = memory.data() + (kAlignment - address % kAlignment) % kAlignment;
  if (other.start)
    std::memcpy(start, other.start, size_t(theType.numBytes()) + kGuard);
  return *this;
}

Tensor Tensor::random(TensorType type, int seed, double low, double high) {
  std::mt19937 generator{unsigned(seed)};
  std::uniform_real_distribution<double> uniform(low, high);
  Tensor made(std::move(type));
  for (int64_t i = 0; i < made.size(); ++i)
    made.set(i, uniform(generator));
  return made;
}

Tensor Tensor::randomIndices(TensorType type, int seed, int64_t count) {
  std::mt19937 generator{unsigned(seed)};
  Tensor made(std::move(type));
  for (int64_t i = 0; i < made.size(); ++i)
    made.set(i, double(generator() % count));
  return made;
}

Tensor Tensor::scalar(ElementType element, double value) {
  return Tensor({element, {}}, {value});
}

static float fromBFloat16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

double Tensor::operator[](int64_t i) const {
  switch (theType.element) {
  case F32:
    return reinterpret_cast<const float *>(start)[i];
  case F64:
    return reinterpret_cast<const double *>(start)[i];
  case BF16:
    return fromBFloat16(reinterpret_cast<const uint16_t *>(start)[i]);
  case I1:
    return double(reinterpret_cast<const uint8_t *>(start)[i]);
  case I32:
    return reinterpret_cast<const int32_t *>(start)[i];
  case I64:
    return double(reinterpret_cast<const int64_t *>(start)[i]);
  }
  return 0;
}

void Tensor::set(int64_t i, double value) {
  switch (theType.element) {
  case F32:
    reinterpret_cast<float *>(start)[i] = float(value);
    break;
  case F64:
    reinterpret_cast<double *>(start)[i] = value;
    break;
  case BF16: {
    float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    reinterpret_cast<uint16_t *>(start)[i] = uint16_t(bits >> 16);
    break;
  }
  case I1:
    reinterpret_cast<uint8_t *>(start)[i] = value != 0;
    break;
  case I32:
    reinterpret_cast<int32_t *>(start)[i] = int32_t(value);
    break;
  case I64:
    reinterpret_cast<int64_t *>(start)[i] = int64_t(value);
    break;
  }
}

bool Tensor::guardsIntact() const {
  for (size_t i = 0; i < kGuard; ++i)
    if (start[size_t(theType.numBytes()) + i] != std::byte(0xab))
      return false;
  return true;
}

bool Tensor::sameBytes(const Tensor &other) const {
  return theType == other.theType &&
         std::memcmp(start, other.start, size_t(theType.numBytes())) == 0;
}

std::vector<double> Tensor::values() const {
  std::vector<double> list;
  for (int64_t i = 0; i < size(); ++i)
    list.push_back((*this)[i]);
  return list;
}

Tolerance test::toleranceOf(ElementType element, double f32) {
  double bound = element == F64 ? f32 * 1e-7 : f32;
  return {bound, bound};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

KernelSpec Call::spec() const {
  KernelSpec spec;
  spec.name = name;
  for (const Tensor &operand : operands)
    spec.operands.push_back(operand.type());
  spec.results = results;
  spec.attributes = attributes;
  return spec;
}

/// Runs `kernel` with result `aliasResult` in the memory of operand
/// `aliasOperand`.
static Result<std::vector<Tensor>> runWith(const Kernel &kernel,
                                           const Call &call,
                                           int64_t workspaceBytes,
                                           int aliasOperand, int aliasResult) {
  std::vector<Tensor> operands = call.operands, results;
  for (const TensorType &type : call.results)
    results.emplace_back(type);
  Tensor workspace({I1, {std::max<int64_t>(workspaceBytes, 1)}});
  std::vector<const void *> in;
  std::vector<void *> out;
  for (Tensor &operand : operands)
    in.push_back(operand.data());
  for (Tensor &result : results)
    out.push_back(result.data());
  if (aliasResult >= 0)
    out[size_t(aliasResult)] = operands[size_t(aliasOperand)].data();
  KernelCall kernelCall{in.data(), out.data(), workspace.data(), call.salt,
                        call.microBatch};
  Status status = kernel.run(kernelCall);
  EXPECT_TRUE(workspace.guardsIntact()) << call.name << " workspace";
  for (size_t i = 0; i < operands.size(); ++i) {
    EXPECT_TRUE(operands[i].guardsIntact()) << call.name << " operand " << i;
    if (int(i) == aliasOperand)
      continue;
    EXPECT_TRUE(operands[i].sameBytes(call.operands[i]))
        << call.name << " changed operand " << i;
  }
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_TRUE(results[i].guardsIntact()) << call.name << " result " << i;
  if (aliasResult >= 0)
    std::memcpy(results[size_t(aliasResult)].data(),
                operands[size_t(aliasOperand)].data(),
                size_t(call.results[size_t(aliasResult)].numBytes()));
  if (!status.ok())
    return status;
  return results;
}

static int64_t workspaceOf(const Call &call, int threads) {
  const KernelEntry *entry = findKernel(call.name);
  return entry->workspaceBytes
             ? entry->workspaceBytes(call.spec(), Target{"cpu", threads})
             : 0;
}

static Result<std::unique_ptr<Kernel>> makeKernel(const Call &call,
                                                  int threads) {
  const KernelEntry *entry = findKernel(call.name);
  if (!entry)
    return Status::error("no kernel '" + call.name + "'");
  return entry->create(call.spec(), Target{"cpu", threads});
}

Result<std::vector<Tensor>> test::run(const Call &call, int threads) {
  Result<std::unique_ptr<Kernel>> kernel = makeKernel(call, threads);
  if (!kernel.ok())
    return kernel.takeStatus();
  return runWith(**kernel, call, workspaceOf(call, threads), -1, -1);
}

std::vector<Tensor> test::runOk(const Call &call, int threads) {
  Result<std::vector<Tensor>> results = run(call, threads);
  if (results.ok())
    return *results;
  ADD_FAILURE() << call.name << ": " << results.takeStatus().str();
  std::vector<Tensor> empty;
  for (const TensorType &type : call.results)
    empty.emplace_back(type);
  return empty;
}

static void compare(const Call &call, const std::vector<Tensor> &results,
                    const std::vector<std::vector<double>> &expected,
                    Tolerance tolerance) {
  ASSERT_EQ(results.size(), expected.size());
  for (size_t r = 0; r < results.size(); ++r) {
    ASSERT_EQ(results[r].size(), int64_t(expected[r].size())) << call.name;
    for (int64_t i = 0; i < results[r].size(); ++i) {
      double x = results[r][i], wanted = expected[r][size_t(i)];
      bool same =
          std::isnan(wanted) ? std::isnan(x)
          : std::isinf(wanted)
              ? x == wanted
              : std::abs(x - wanted) <=
                    tolerance.relative * std::abs(wanted) + tolerance.absolute;
      ASSERT_TRUE(same) << call.name << " result " << r << " element " << i
                        << " is " << x << ", expected " << wanted << " ("
                        << results[r].type().str() << ")";
    }
  }
}

/// Every use in place that the kernel allows gives the same bytes.
static void checkAliases(const Kernel &kernel, const Call &call, int threads,
                         const std::vector<Tensor> &plain) {
  const KernelEntry *entry = findKernel(call.name);
  if (!entry->mayAlias)
    return;
  for (size_t o = 0; o < call.operands.size(); ++o)
    for (size_t r = 0; r < call.results.size(); ++r) {
      if (call.operands[o].type().numBytes() != call.results[r].numBytes() ||
          !entry->mayAlias(call.spec(), int(o), int(r)))
        continue;
      auto inPlace =
          runWith(kernel, call, workspaceOf(call, threads), int(o), int(r));
      ASSERT_TRUE(inPlace.ok());
      for (size_t i = 0; i < plain.size(); ++i)
        EXPECT_TRUE((*inPlace)[i].sameBytes(plain[i]))
            << call.name << " with result " << r << " over operand " << o
            << " changes result " << i;
    }
}

static void checkView(const Call &call, const std::vector<Tensor> &plain) {
  const KernelEntry *entry = findKernel(call.name);
  int64_t offset = entry->viewOffset ? entry->viewOffset(call.spec()) : -1;
  if (offset < 0)
    return;
  int64_t bytes = plain[0].type().numBytes();
  ASSERT_LE(offset + bytes, call.operands[0].type().numBytes());
  EXPECT_EQ(std::memcmp(call.operands[0].data() + offset, plain[0].data(),
                        size_t(bytes)),
            0)
      << call.name << " is no view at " << offset;
}

void test::expectResults(const Call &call,
                         const std::vector<std::vector<double>> &expected,
                         Tolerance tolerance) {
  ASSERT_NE(findKernel(call.name), nullptr) << call.name;
  for (int threads : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    auto kernel = makeKernel(call, threads);
    ASSERT_TRUE(kernel.ok()) << kernel.takeStatus().str();
    int64_t workspace = workspaceOf(call, threads);
    auto first = runWith(**kernel, call, workspace, -1, -1);
    ASSERT_TRUE(first.ok()) << first.takeStatus().str();
    compare(call, *first, expected, tolerance);
    auto second = runWith(**kernel, call, workspace, -1, -1);
    ASSERT_TRUE(second.ok());
    for (size_t i = 0; i < first->size(); ++i)
      EXPECT_TRUE((*first)[i].sameBytes((*second)[i]))
          << call.name << " gives other bits the second time";
    checkAliases(**kernel, call, threads, *first);
    checkView(call, *first);
  }
}

std::string test::errorOf(const Call &call) {
  Result<std::vector<Tensor>> results = run(call);
  if (!results.ok())
    return results.takeStatus().message();
  return "no error";
}

void test::forReals(const std::function<void(ElementType)> &body) {
  for (ElementType element : {F32, F64}) {
    SCOPED_TRACE(elementName(element));
    body(element);
  }
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Shape test::stridesOf(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

int64_t test::elementsOf(const Shape &shape) {
  int64_t elements = 1;
  for (int64_t dim : shape)
    elements *= dim;
  return elements;
}

int64_t test::broadcastIndex(int64_t flat, const Shape &result,
                             const Shape &shape) {
  Shape strides = stridesOf(shape);
  int64_t index = 0;
  size_t lead = result.size() - shape.size();
  for (size_t i = result.size(); i-- > 0;) {
    int64_t at = flat % result[i];
    flat /= result[i];
    if (i >= lead && shape[i - lead] != 1)
      index += at * strides[i - lead];
  }
  return index;
}
