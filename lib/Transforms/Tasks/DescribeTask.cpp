// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a task's own facts and the type of its first result.

#include "DescribeTask.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::piper;

std::string mlir::piper::describeTask(TaskOp task) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "'" << task.getCallee() << "' (";
  if (TagsAttr tags = task.getTagsAttr())
    os << tags.text() << ", ";
  os << stringifyPassKind(task.getPass());
  if (task.getMb() >= 0)
    os << ", mb " << task.getMb();
  if (task.getStage() >= 0)
    os << ", stage " << task.getStage();
  if (task.getCopy() != 0)
    os << ", copy " << task.getCopy();
  os << ")";
  return text;
}

int64_t mlir::piper::getCoordinate(TaskOp task) {
  if (task->getNumResults() == 0)
    return 0;
  ArrayRef<int64_t> on = getCoordinates(task->getResult(0).getType());
  return on.empty() ? 0 : on.front();
}
