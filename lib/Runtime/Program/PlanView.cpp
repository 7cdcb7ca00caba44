// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merging the programs of a plan into what one device would have.

#include "PlanView.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace piper::rt;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

TensorType piper::rt::wholeBatchType(const TensorType &type, int32_t split) {
  if (split < 0)
    return type;
  TensorType whole = type;
  whole.shape.erase(whole.shape.begin());
  // Only a tensor without elements may have sizes that overflow.
  if (__builtin_mul_overflow(whole.shape[split], type.shape[0],
                             &whole.shape[split]))
    whole.shape[split] = 0;
  return whole;
}

void piper::rt::copyInput(const TensorType &type, int32_t split,
                          const std::byte *batch, std::byte *input) {
  if (split <= 0) {
    std::memcpy(input, batch, type.numBytes());
    return;
  }
  // The whole batch is [outer, micro-batches, inner] and the input
  // [micro-batches, outer, inner], in runs of bytes.
  int64_t parts = type.shape[0], outer = 1;
  for (int32_t d = 0; d < split; ++d)
    outer *= type.shape[1 + d];
  if (parts * outer == 0)
    return;
  int64_t inner = type.numBytes() / (parts * outer);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t p = 0; p < parts; ++p)
      std::memcpy(input + (p * outer + o) * inner,
                  batch + (o * parts + p) * inner, inner);
}

/// By state tensor of a program: the id of the op that makes its next value (a
/// result in its place), the largest number where there is none.
static std::vector<int64_t> findUpdates(const Program &program) {
  std::vector<int64_t> updates(program.state.size(),
                               std::numeric_limits<int64_t>::max());
  std::unordered_map<int64_t, size_t> stateAt;
  for (size_t s = 0; s < program.state.size(); ++s)
    if (program.state[s].type.numBytes() > 0)
      stateAt[program.state[s].offset] = s;
  for (const EntryPoint &entry : program.entries)
    for (const Instruction &instruction : entry.instructions)
      for (int32_t result : instruction.results) {
        auto it = stateAt.find(entry.values[result].offset);
        if (it != stateAt.end() &&
            program.state[it->second].type == entry.values[result].type)
          updates[it->second] = std::min(updates[it->second], instruction.id);
      }
  return updates;
}

/// The binding of that name, or null.
static const Binding *findBinding(const std::vector<Binding> &bindings,
                                  const std::string &name) {
  for (const Binding &binding : bindings)
    if (binding.name == name)
      return &binding;
  return nullptr;
}

Status PlanView::addState(int rank, int32_t index) {
  const StateTensor &tensor = plan->programs[rank].state[index];
  auto [it, isNew] = stateByName.emplace(tensor.name, merged.state.size());
  if (isNew) {
    merged.state.push_back(tensor);
    merged.state.back().offset = 0;
    stateHolders.push_back({{rank, index}});
    return Status::success();
  }
  const StateTensor &known = merged.state[it->second];
  std::vector<Place> &holders = stateHolders[it->second];
  if (known.type != tensor.type || known.kind != tensor.kind ||
      known.init != tensor.init || known.scale != tensor.scale ||
      known.data != tensor.data || known.trainable != tensor.trainable)
    return Status::error(
        "state " + quote(tensor.name) + " of rank " + std::to_string(rank) +
        " (" + tensor.type.str() + ") differs from that of rank " +
        std::to_string(holders.front().rank) + " (" + known.type.str() + ")");
  holders.push_back({rank, index});
  return Status::success();
}

Status PlanView::addInput(EntryPoint &entry, Entry &places,
                          const EntryPoint &mine, const Binding &input,
                          int rank) {
  const TensorType &type = mine.values[input.value].type;
  TensorType whole = wholeBatchType(type, input.split);
  InputPlace place{{rank, input.value}, input.split};
  if (const Binding *known = findBinding(entry.inputs, input.name)) {
    const TensorType &other = entry.values[known->value].type;
    if (other != whole)
      return Status::error("input " + quote(input.name) + " of entry point " +
                           quote(entry.name) + " is " + whole.str() +
                           " on rank " + std::to_string(rank) + " but " +
                           other.str() + " on an earlier one");
    places.inputs[known - entry.inputs.data()].push_back(place);
    return Status::success();
  }
  Binding binding{input.name, int32_t(entry.values.size()), input.dims};
  entry.values.push_back({whole, 0});
  places.values.push_back(place.place);
  entry.inputs.push_back(std::move(binding));
  places.inputs.push_back({place});
  return Status::success();
}

void PlanView::addOutputs(std::vector<Binding> &outputs, EntryPoint &entry,
                          Entry &places, const EntryPoint &mine,
                          const std::vector<Binding> &bindings, int rank) {
  for (const Binding &output : bindings) {
    if (findBinding(outputs, output.name))
      continue;
    outputs.push_back({output.name, int32_t(entry.values.size()), {}});
    entry.values.push_back({mine.values[output.value].type, 0});
    places.values.push_back({rank, output.value});
  }
}

Status PlanView::addEntry(const EntryPoint &first) {
  EntryPoint entry;
  Entry places;
  entry.name = first.name;
  for (size_t r = 0; r < plan->programs.size(); ++r) {
    const Program &program = plan->programs[r];
    const EntryPoint *mine = program.findEntry(first.name);
    if (!mine || program.entries.size() != plan->programs[0].entries.size())
      return Status::error("rank " + std::to_string(r) +
                           " does not have the entry points of rank 0");
    places.ranks.push_back(int(mine - program.entries.data()));
    for (const Binding &input : mine->inputs)
      PIPER_RETURN_IF_ERROR(addInput(entry, places, *mine, input, int(r)));
    addOutputs(entry.outputs, entry, places, *mine, mine->outputs, int(r));
    addOutputs(entry.gradients, entry, places, *mine, mine->gradients, int(r));
  }
  if (plan->programs.size() > 1)
    std::stable_sort(entry.gradients.begin(), entry.gradients.end(),
                     [&](const Binding &a, const Binding &b) {
                       return stateByName.at(a.name) < stateByName.at(b.name);
                     });
  merged.entries.push_back(std::move(entry));
  entries.push_back(std::move(places));
  return Status::success();
}

Result<PlanView> PlanView::create(const Plan &plan) {
  if (plan.programs.empty())
    return Status::error("the plan has no program");
  PlanView view;
  view.plan = &plan;
  const Program &first = plan.programs.front();
  view.merged.name = plan.name.empty() ? first.name : plan.name;
  view.merged.target = first.target;
  std::vector<std::pair<int64_t, Place>> state;
  for (size_t r = 0; r < plan.programs.size(); ++r) {
    std::vector<int64_t> updates = findUpdates(plan.programs[r]);
    for (size_t s = 0; s < updates.size(); ++s)
      state.push_back({updates[s], {int(r), int32_t(s)}});
  }
  // In the common order of the updates, which is that of the source.
  if (plan.programs.size() > 1)
    std::stable_sort(
        state.begin(), state.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[update, place] : state)
    PIPER_RETURN_IF_ERROR(view.addState(place.rank, place.index));
  view.isPlain = plan.programs.size() == 1;
  for (const EntryPoint &entry : first.entries) {
    PIPER_RETURN_IF_ERROR(view.addEntry(entry));
    for (const Binding &input : entry.inputs)
      view.isPlain &= input.split < 0;
  }
  return view;
}
