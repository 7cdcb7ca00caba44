// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan of several programs seen as one: what one device would have, and where
// each part of it is.

#ifndef PIPER_LIB_RUNTIME_PROGRAM_PLANVIEW_H
#define PIPER_LIB_RUNTIME_PROGRAM_PLANVIEW_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <unordered_map>

namespace piper::rt {

class PlanView {
public:
  /// A state tensor or a value of a rank.
  struct Place {
    int rank = 0;
    int32_t index = 0;
  };
  /// An input of one rank.
  struct InputPlace {
    Place place;
    /// Binding::split and the number of micro-batches.
    int32_t split = -1;
  };
  struct Entry {
    /// The entry point of each rank.
    std::vector<int> ranks;
    /// By value of the view.
    std::vector<Place> values;
    /// By input of the view: all ranks that have it.
    std::vector<std::vector<InputPlace>> inputs;
  };

  /// State and gradients of several programs stand in the order of their
  /// updates in the plan, state without one after them. Requires: checkProgram
  /// accepts each program; `plan` outlives the view. Fails where there is no
  /// program, where not all programs have the same entry points, or where two
  /// have state or inputs of one name that differ.
  static Result<PlanView> create(const Plan &plan);

  const Program &program() const {
    return isPlain ? plan->programs.front() : merged;
  }
  const Entry &entry(int index) const { return entries[index]; }
  /// Where a value of an entry point of program() is.
  Place valuePlace(int entry, int32_t value) const {
    return isPlain ? Place{0, value} : entries[entry].values[value];
  }
  /// All ranks that hold a state tensor of program(), ascending.
  const std::vector<Place> &holders(int state) const {
    return stateHolders[state];
  }

private:
  Status addState(int rank, int32_t index);
  Status addEntry(const EntryPoint &first);
  Status addInput(EntryPoint &merged, Entry &places, const EntryPoint &mine,
                  const Binding &input, int rank);
  void addOutputs(std::vector<Binding> &merged, EntryPoint &entry,
                  Entry &places, const EntryPoint &mine,
                  const std::vector<Binding> &bindings, int rank);

  const Plan *plan = nullptr;
  /// One program whose inputs are not cut.
  bool isPlain = false;
  Program merged;
  std::vector<Entry> entries;
  std::vector<std::vector<Place>> stateHolders;
  std::unordered_map<std::string, size_t> stateByName;
};

/// The type of a whole batch: [4, 2, 8] with `split` 0 is [8, 8].
TensorType wholeBatchType(const TensorType &type, int32_t split);

/// Copies a whole batch to an input that is cut into micro-batches: for `split`
/// 1 [seq, batch] to [micro-batches, seq, batch / micro-batches].
void copyInput(const TensorType &type, int32_t split, const std::byte *batch,
               std::byte *input);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_PROGRAM_PLANVIEW_H
