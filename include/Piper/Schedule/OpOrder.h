// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One total order of all actions and transfers: the schedule as the compiler
// writes it into a block, and the time it takes under the rules of that order.

#ifndef PIPER_SCHEDULE_OPORDER_H
#define PIPER_SCHEDULE_OPORDER_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

#include <vector>

namespace piper::schedule {

/// An action (`rank`, `index` into Schedule::ranks), or, where `toRank` >= 0,
/// the transfer of one result of that action to its consumer (`toRank`,
/// `toIndex`). `backward`: the result is a gradient (an FB pair has both).
struct PlannedOp {
  int rank = 0;
  int index = 0;
  int toRank = -1;
  int toIndex = -1;
  bool backward = false;

  bool isTransfer() const { return toRank >= 0; }
};

/// Actions in the order in which they start under eager transfers.
struct ActionOrder {
  std::vector<PlannedOp> actions;
  /// For each the last one that starts before it ends, or itself: behind that
  /// one its results leave. (Right behind the producer they would stand in the
  /// way of those that are ready earlier.)
  std::vector<int> leaves;
  /// When each ends.
  std::vector<double> ends;
};

/// Errors as `simulate`.
Result<ActionOrder> makeActionOrder(const Schedule &schedule,
                                    const Costs &costs,
                                    Overlap overlap = Overlap::Sum);

/// Actions in that order. A transfer stands where its producer's results leave,
/// but no earlier than `prefetch` actions of the receiver ahead of its
/// consumer. Errors as `simulate`.
Result<std::vector<PlannedOp>> makeOpOrder(const Schedule &schedule,
                                           const Costs &costs, int prefetch,
                                           Overlap overlap = Overlap::Sum);

/// Start and end of each op of such an order, in its order: (a) a coordinate's
/// actions run one after the other, transfers one after the other on each of
/// its outgoing and incoming streams; (b) an op waits for the producers of its
/// operands; (c) a transfer starts no earlier than the last action before it
/// on either coordinate has started (of a pair without overlap its second
/// half). Requires: an order of `makeOpOrder`.
struct OpTimes {
  std::vector<double> start, end;
};
Result<OpTimes> timeOpOrder(const Schedule &schedule, const Costs &costs,
                            const std::vector<PlannedOp> &order,
                            Overlap overlap = Overlap::Sum);

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_OPORDER_H
