// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The norm of gradients that lie on several coordinates, and the counts of the
// checks of updates: a table on each coordinate, of what counts there, with
// zeros for the others. The tables are integers, so their sum has the same
// bits as the table of all.

#include "EntryPlacer.h"

using namespace mlir;
using namespace mlir::piper;

static RankedTensorType vectorOf(OpBuilder &builder, int64_t size) {
  return RankedTensorType::get({size}, builder.getI64Type());
}

/// The counts of the gradients `indices` in a vector of all, zero elsewhere.
static Value spread(OpBuilder &builder, Location loc, Value counts,
                    ArrayRef<int64_t> indices, int64_t all) {
  auto vector = [&](int64_t size) { return vectorOf(builder, size); };
  SmallVector<Value> pieces;
  auto addZeros = [&](int64_t size) {
    if (size > 0)
      pieces.push_back(ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(vector(size), builder.getI64IntegerAttr(0))));
  };
  int64_t end = 0;
  for (size_t first = 0, last = 0; first < indices.size(); first = last) {
    // A run of gradients side by side.
    while (last < indices.size() &&
           indices[last] - indices[first] == static_cast<int64_t>(last - first))
      ++last;
    addZeros(indices[first] - end);
    int64_t size = last - first;
    pieces.push_back(size == static_cast<int64_t>(indices.size())
                         ? counts
                         : SliceOp::create(builder, loc, vector(size), counts,
                                           static_cast<int64_t>(first)));
    end = indices[last - 1] + 1;
  }
  addZeros(all - end);
  if (pieces.size() == 1)
    return pieces.front();
  return ConcatOp::create(builder, loc, vector(all), pieces,
                          builder.getI64IntegerAttr(0));
}

/// The body for the operands `indices` of `all`.
static func::FuncOp buildTable(BodyTable &bodies, TaskOp task, bool isNorm,
                               TypeRange operands, ArrayRef<int64_t> indices,
                               int64_t all) {
  Location loc = task.getLoc();
  return bodies.build(
      isNorm ? "norm_table" : "check_table", loc, operands,
      [&](OpBuilder &builder, ValueRange own) -> SmallVector<Value> {
        auto counts = vectorOf(builder, indices.size());
        if (!isNorm) {
          Value joined = ConcatOp::create(builder, loc, counts, own,
                                          builder.getI64IntegerAttr(0));
          return {spread(builder, loc, joined, indices, all)};
        }
        auto table = NormTableOp::create(
            builder, loc, vectorOf(builder, NormTableOp::kDigits), counts, own);
        return {table.getSum(),
                spread(builder, loc, table.getNonfinite(), indices, all)};
      });
}

void EntryPlacer::splitTable(TaskOp task) {
  bool isNorm = shared.kindOf(task) == BodyKind::NormTable;
  // A gradient on several coordinates counts on the first.
  std::map<int64_t, SmallVector<int64_t>> counted;
  SmallVector<Value> values;
  for (auto [index, value] : llvm::enumerate(task.getInputs())) {
    values.push_back(read(value, target(value)));
    counted[getCoordinates(values.back().getType()).front()].push_back(index);
  }
  OpBuilder builder(cursor);
  for (auto &[coordinate, indices] : counted) {
    SmallVector<Value> operands = llvm::map_to_vector(
        indices, [&](int64_t index) { return values[index]; });
    SmallVector<Type> types = llvm::map_to_vector(operands, [](Value value) {
      return Type(getLocalTensor(value.getType()));
    });
    func::FuncOp body =
        buildTable(shared.bodies, task, isNorm, types, indices, values.size());
    TaskOp table = createTask(builder, task.getLoc(), body, operands,
                              task.getPass(), task.getTagsAttr());
    for (auto [whole, part] :
         llvm::zip_equal(task.getResults(), table.getResults())) {
      part.setType(sets.distribute(part.getType(), sets.get(coordinate)));
      sums[whole].push_back(part);
    }
  }
  replaced.push_back(task);
}
