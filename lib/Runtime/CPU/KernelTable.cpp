// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the kernels of the CPU.

#include "Piper/Runtime/Kernel.h"
#include "SpecCheck.h"

#include <algorithm>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

static KernelTable makeTable() {
  KernelTable table;
  addAttentionKernels(table);
  addAttentionGradKernels(table);
  addBroadcastKernels(table);
  addCastKernels(table);
  addConstantKernels(table);
  addCrossEntropyKernels(table);
  addDropoutKernels(table);
  addElementwiseKernels(table);
  addEmbeddingKernels(table);
  addLayerNormKernels(table);
  addMatmulKernels(table);
  addNormKernels(table);
  addReduceKernels(table);
  addReduceMaxKernels(table);
  addScalarKernels(table);
  addShapeKernels(table);
  addSoftmaxKernels(table);
  addTransposeKernels(table);
  addUpdateKernels(table);
  std::sort(table.begin(), table.end(),
            [](const KernelEntry &a, const KernelEntry &b) {
              return std::strcmp(a.name, b.name) < 0;
            });
  return table;
}

const KernelEntry *piper::rt::findKernel(const std::string &name) {
  static const KernelTable table = makeTable();
  auto at =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const KernelEntry &entry, const std::string &wanted) {
                         return entry.name < wanted;
                       });
  return at != table.end() && at->name == name ? &*at : nullptr;
}
