// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading costs, and spreading them over the stages of a schedule.

#include "Piper/Schedule/Costs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace piper::schedule {

Costs Costs::uniform(double f, double bi, double bw, double comm) {
  Costs costs;
  costs.forward = {f};
  costs.backward = {bi + bw};
  costs.backwardInput = {bi};
  costs.backwardWeight = {bw};
  costs.comm = comm;
  return costs;
}

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

static Result<std::vector<double>> parseList(const std::string &key,
                                             const std::string &text) {
  std::vector<double> values;
  for (const std::string &part : split(text, ':')) {
    char *end = nullptr;
    double value = std::strtod(part.c_str(), &end);
    if (part.empty() || *end != '\0' || std::isnan(value) || value < 0)
      return Error{"cost '" + key + "' expects numbers >= 0 but got '" + part +
                   "'"};
    // Sums over all actions stay finite.
    if (value > 1e15)
      return Error{"cost '" + key + "' expects at most 1e15 but got '" + part +
                   "'"};
    values.push_back(value);
  }
  return values;
}

/// Entry `i` of a list with one value for all, or one each.
static double at(const std::vector<double> &list, size_t i) {
  return list.size() == 1 ? list[0] : list[i];
}

/// a + sign * b, element by element.
static Result<std::vector<double>> combine(const std::vector<double> &a,
                                           double sign,
                                           const std::vector<double> &b,
                                           const std::string &what) {
  size_t n = std::max(a.size(), b.size());
  if ((a.size() != 1 && a.size() != n) || (b.size() != 1 && b.size() != n))
    return Error{"costs " + what + " have lists of " +
                 std::to_string(a.size()) + " and " + std::to_string(b.size()) +
                 " values, expected equal lengths or one value"};
  std::vector<double> sum(n);
  for (size_t i = 0; i < n; ++i) {
    sum[i] = at(a, i) + sign * at(b, i);
    if (sum[i] < 0)
      return Error{"costs " + what + " leave " + std::to_string(sum[i]) +
                   " for the other half of the backward, expected >= 0"};
  }
  return sum;
}

namespace {
struct CostKey {
  const char *name;
  std::vector<double> Costs::*list;
};
} // namespace

static const CostKey costKeys[] = {{"F", &Costs::forward},
                                   {"B", &Costs::backward},
                                   {"BI", &Costs::backwardInput},
                                   {"BW", &Costs::backwardWeight},
                                   {"update", &Costs::update}};

/// Fills the backward costs that were not given from those that were.
static Result<Costs> completeBackward(Costs costs, bool hasB, bool hasBI,
                                      bool hasBW) {
  if (!hasB) {
    auto sum = combine(costs.backwardInput, 1, costs.backwardWeight, "BI, BW");
    if (!sum)
      return Error{sum.error()};
    costs.backward = *sum;
  } else if (!hasBI && !hasBW) {
    for (double &value : costs.backwardInput = costs.backward)
      value /= 2;
    costs.backwardWeight = costs.backwardInput;
  } else if (!hasBI || !hasBW) {
    auto &given = hasBI ? costs.backwardInput : costs.backwardWeight;
    auto &missing = hasBI ? costs.backwardWeight : costs.backwardInput;
    auto rest = combine(costs.backward, -1, given, hasBI ? "B - BI" : "B - BW");
    if (!rest)
      return Error{rest.error()};
    missing = *rest;
  }
  return costs;
}

Result<Costs> parseCosts(const std::string &text) {
  Costs costs;
  bool hasB = false, hasBI = false, hasBW = false;
  std::set<std::string> seen;
  for (const std::string &item : split(text, ',')) {
    size_t equal = item.find('=');
    std::string key = item.substr(0, equal);
    if (equal == std::string::npos)
      return Error{"costs expect KEY=VALUE but got '" + item + "'"};
    if (!seen.insert(key).second)
      return Error{"cost '" + key + "' is given twice"};
    auto values = parseList(key, item.substr(equal + 1));
    if (!values)
      return Error{values.error()};
    auto *row =
        std::find_if(std::begin(costKeys), std::end(costKeys),
                     [&](const CostKey &row) { return key == row.name; });
    if (row != std::end(costKeys)) {
      costs.*(row->list) = *values;
    } else if (key == "comm") {
      if (values->size() != 1)
        return Error{"cost 'comm' expects one value but got " +
                     std::to_string(values->size())};
      costs.comm = values->front();
    } else {
      return Error{"unknown cost '" + key +
                   "', expected F, B, BI, BW, update or comm"};
    }
    hasB |= key == "B";
    hasBI |= key == "BI";
    hasBW |= key == "BW";
  }
  return completeBackward(costs, hasB, hasBI, hasBW);
}

Result<StageCosts> stageCosts(const Schedule &schedule, const Costs &costs) {
  StageCosts result;
  result.comm = costs.comm;
  const std::pair<std::vector<double> StageCosts::*, CostKey> targets[] = {
      {&StageCosts::forward, costKeys[0]},
      {&StageCosts::backward, costKeys[1]},
      {&StageCosts::backwardInput, costKeys[2]},
      {&StageCosts::backwardWeight, costKeys[3]},
      {&StageCosts::update, costKeys[4]}};
  for (const auto &[target, key] : targets) {
    const std::vector<double> &list = costs.*(key.list);
    auto &out = result.*target;
    out.assign(schedule.stageRank.size(), 0);
    for (const auto &chain : schedule.chains) {
      if (list.size() != 1 && list.size() != chain.size())
        return Error{"cost '" + std::string(key.name) + "' has " +
                     std::to_string(list.size()) +
                     " values, expected 1 or one for each of the " +
                     std::to_string(chain.size()) + " stages"};
      for (size_t i = 0; i < chain.size(); ++i)
        out[chain[i]] = at(list, i);
    }
  }
  return result;
}

double durationOf(const Action &action, const StageCosts &costs,
                  Overlap overlap) {
  switch (action.pass) {
  case Pass::F:
    return costs.forward[action.stage];
  case Pass::B:
    return costs.backward[action.stage];
  case Pass::BI:
    return costs.backwardInput[action.stage];
  case Pass::BW:
    return costs.backwardWeight[action.stage];
  case Pass::FB: {
    double f = costs.forward[action.stage];
    double b = costs.backward[action.stageB];
    return overlap == Overlap::Max ? std::max(f, b) : f + b;
  }
  }
  return 0;
}

ActionTime timeAction(const Action &action, const StageCosts &costs,
                      Overlap overlap, double free, double forwardInput,
                      double backwardInput) {
  ActionTime time;
  if (action.pass == Pass::FB && overlap == Overlap::None) {
    time.start = std::max(free, forwardInput);
    time.forwardEnd = time.start + costs.forward[action.stage];
    time.backwardStart = std::max(time.forwardEnd, backwardInput);
    time.end = time.backwardStart + costs.backward[action.stageB];
    return time;
  }
  time.start = std::max({free, forwardInput, backwardInput});
  time.backwardStart = time.start;
  time.end = time.start + durationOf(action, costs, overlap);
  time.forwardEnd = time.end;
  return time;
}

} // namespace piper::schedule
