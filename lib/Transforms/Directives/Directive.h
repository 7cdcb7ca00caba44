// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The directives of a module (`piper.directives`) as values, and what follows
// from them: where stages live, the schedule, what tasks cost.

#ifndef PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVE_H
#define PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVE_H

#include "Origins.h"
#include "Piper/Runtime/TaskCosts.h"
#include "Piper/Schedule/Schedule.h"
#include "Piper/Transforms/BodyTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mlir::piper {

/// A conjunction of `tag = value`. A tag is one of the user's, or a property of
/// tasks: PASS ("F", "B", "BI", "BW"), SEGMENT, STAGE, or the tag of the
/// `split` directive (the index of the micro-batch).
struct Filter {
  /// Without a value: any ("*").
  using Value = std::optional<std::variant<int64_t, std::string>>;
  SmallVector<std::pair<std::string, Value>> terms;

  /// Whether a task has all tags with these values. The empty filter matches
  /// every task. An index that a task has not (-1) is none, not even "*".
  bool matches(TaskOp task, StringRef microBatchTag) const;
  /// "{layer = 3, PASS = "F"}", as it stands in the attribute.
  std::string text() const;
};

/// Directives have the `number` by which messages name them: 1 is the first.
struct PlaceDirective {
  Filter filter;
  /// Two devices: the two copies of DualPipe.
  SmallVector<int64_t> devices;
  /// -1: a run of consecutive segments with equal devices is a stage.
  int64_t stage = -1;
  int64_t number = 0;
};

struct SplitDirective {
  Filter filter; ///< always {}
  std::string tag = "MB";
  std::string dim = "batch";
  int64_t microBatches = 1;
  int64_t number = 0;
};

struct ScheduleDirective {
  /// One of the two is empty.
  std::string kind, file;
  int64_t chunks = 0;         ///< 0: as many as there are stages
  SmallVector<int64_t> limit; ///< in activations of one stage
  int64_t number = 0;
};

struct RecomputeDirective {
  Filter filter;
  int64_t number = 0;
};

struct OrderDirective {
  /// A group of several filters is an overlap group.
  SmallVector<SmallVector<Filter>> groups;
  int64_t number = 0;
};

struct OptionsDirective {
  int64_t prefetch = 1;
  int64_t buffering = 0;
  std::string costs;                ///< a file; empty: costs of a nominal core
  int64_t costsNumber = 0;          ///< of the directive that names the file
  SmallVector<int64_t> memoryLimit; ///< bytes: none, one, or one per coordinate
  int64_t memoryLimitNumber = 0;    ///< of the directive that has the limits
};

struct Directives {
  std::vector<PlaceDirective> place;
  std::optional<SplitDirective> split;
  std::optional<ScheduleDirective> schedule;
  std::vector<RecomputeDirective> recompute;
  std::vector<OrderDirective> order;
  OptionsDirective options;

  /// The filter tag that is the index of the micro-batch.
  std::string microBatchTag() const { return split ? split->tag : "MB"; }
};

/// Reads a list of dictionaries, as in `piper.directives`. What is wrong with
/// it is one error, which names the directive and the key.
FailureOr<Directives> parseDirectives(ArrayRef<Attribute> list,
                                      const Origins &origins);

/// Refuses a filter with a name that is both a property of tasks and a tag of
/// the model, before what its value means is asked.
LogicalResult verifyFilterNames(ModuleOp module, ArrayRef<Attribute> list,
                                const Origins &origins);

/// From `piper.directives` of the module, none if absent. Emits an error at the
/// module for anything malformed, and from level 1 on for a tag that no task
/// has. A filter that matches nothing is an error of the pass that executes it.
FailureOr<Directives> readDirectives(ModuleOp module);

/// Where stages live. The default is the one stage of a step without `place`.
struct StagePlan {
  int64_t coordinates = 1; ///< P
  int64_t stages = 1;      ///< S
  int64_t copies = 1;      ///< 2: both directions of DualPipe
  /// [stage][copy]: its coordinate.
  SmallVector<SmallVector<int64_t, 2>> devices = {{0}};
  DenseMap<int64_t, int64_t> stageOfSegment;
};

/// From the `place` directives and the forward tasks of `train`; none if there
/// are no such directives. Errors: a segment that no or several directives
/// match, a directive that matches none, stages that do not ascend with the
/// segments, devices that are not all of 0..P-1.
FailureOr<std::optional<StagePlan>> getStagePlan(ModuleOp module,
                                                 const Directives &directives);

/// The schedule of the module for its stages and micro-batches; none if there
/// is no such directive. Errors: sizes that the kind cannot run, in the words
/// of the schedule library; a file that is no schedule of these stages.
FailureOr<std::optional<::piper::schedule::Schedule>>
getSchedule(ModuleOp module, const Directives &directives,
            const StagePlan &plan, int64_t microBatches);

/// Whether `getSchedule` has what it needs, without making a schedule.
LogicalResult verifySchedule(ModuleOp module, const Directives &directives,
                             const StagePlan &plan, int64_t microBatches);

/// The costs of the file that the directives name, else those of a nominal
/// core.
FailureOr<::piper::rt::TaskCosts> getTaskCosts(const Directives &directives,
                                               const Origins &origins);

/// What one call of each task costs, in microseconds.
class TaskCostTable {
public:
  TaskCostTable(ModuleOp module, ::piper::rt::TaskCosts costs);

  double of(TaskOp task);
  const ::piper::rt::TaskCosts &costs() const { return given; }

private:
  /// Of one body: its ops added up.
  struct Work {
    int64_t flops = 0, bytes = 0;
  };

  ::piper::rt::TaskCosts given;
  SymbolTable symbols;
  llvm::StringMap<Work> bodies;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVE_H
