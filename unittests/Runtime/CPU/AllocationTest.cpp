// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run of a kernel allocates nothing: counted in every operator new of the
// process. What oneDNN allocates inside its execute functions is not Piper's,
// so the kernels that call it are left out.

#include "KernelTester.h"
#include "SampleSpecs.h"

#include <atomic>
#include <cstdlib>
#include <new>

using namespace piper::rt;
using namespace piper::rt::test;

static std::atomic<int64_t> allocations{0};

void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

static bool callsOneDnn(const KernelSpec &spec) {
  return spec.name == "matmul" || spec.name == "attention" ||
         spec.name == "attention_grad";
}

TEST(Allocation, ARunAllocatesNothing) {
  for (const KernelSpec &spec : validSpecs()) {
    if (callsOneDnn(spec))
      continue;
    for (int threads : {1, 2}) {
      const KernelEntry *entry = findKernel(spec.name);
      Target target{"cpu", threads};
      auto kernel = entry->create(spec, target);
      ASSERT_TRUE(kernel.ok());
      std::vector<Tensor> tensors;
      for (const TensorType &type : spec.operands)
        tensors.push_back(
            Tensor(type, std::vector<double>(size_t(type.numElements()), 0)));
      for (const TensorType &type : spec.results)
        tensors.emplace_back(type);
      int64_t bytes =
          entry->workspaceBytes ? entry->workspaceBytes(spec, target) : 0;
      Tensor workspace({I1, {std::max<int64_t>(bytes, 1)}});
      std::vector<const void *> operands;
      std::vector<void *> results;
      for (size_t i = 0; i < tensors.size(); ++i)
        if (i < spec.operands.size())
          operands.push_back(tensors[i].data());
        else
          results.push_back(tensors[i].data());
      KernelCall call{operands.data(), results.data(), workspace.data(), 0};
      Status first = (*kernel)->run(call);
      int64_t before = allocations;
      Status second = (*kernel)->run(call);
      EXPECT_EQ(allocations, before) << spec.name;
      EXPECT_TRUE(first.ok() && second.ok()) << spec.name;
    }
  }
}
