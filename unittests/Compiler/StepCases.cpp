// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the table of ops: the end of a step.

#include "OpCase.h"

using namespace piper::test;

void piper::test::addStepCases(std::vector<OpCase> &cases) {
  cases.push_back({"learning_rate",
                   "schedule = \"cosine\", lr = 0.5 : f64, min_lr = 0.25 : "
                   "f64, warmup_steps = 2 : i64, total_steps = 9 : i64",
                   {"i64 row 4"},
                   {"f64"},
                   8,
                   16});
  // Two operations per element; 8 * (15 + 7) + 8 * 68 + 8 * 2.
  cases.push_back({"norm_table",
                   "",
                   {"5x3xf64", "7xf64"},
                   {"68xi64", "2xi64"},
                   44,
                   176 + 544 + 16});
  cases.push_back({"clip",
                   "max_norm = 1.0 : f64",
                   {"68xi64 index 100", "2xi64 row 0 0", "i64 row 5"},
                   {"f64", "f64", "i1"},
                   136,
                   544 + 16 + 8 + 8 + 8 + 1});
  cases.push_back({"sgd",
                   "weight_decay = 0.1 : f64",
                   {"5x3xf64", "5x3xf64", "f64", "f64", "i1 row 1"},
                   {"5x3xf64"},
                   75,
                   3 * 120 + 8 + 8 + 1});
  cases.push_back({"sgd",
                   "momentum = 0.9 : f64, weight_decay = 0.1 : f64",
                   {"5x3xf64", "5x3xf64", "f64", "f64", "i1 row 1", "5x3xf64"},
                   {"5x3xf64", "5x3xf64"},
                   105,
                   5 * 120 + 8 + 8 + 1});
  for (const char *ok : {"i1 row 1", "i1 row 0"})
    cases.push_back({"adamw",
                     "beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : "
                     "f64, weight_decay = 0.1 : f64",
                     {"5x3xf64", "5x3xf64", "5x3xf64", "5x3xf64 positive",
                      "f64", "i64 row 4", "f64", ok},
                     {"5x3xf64", "5x3xf64", "5x3xf64"},
                     240,
                     7 * 120 + 8 + 8 + 8 + 1});
  // As many operations as the updates; four and two tensors, scalars, a count.
  cases.push_back({"adamw_check",
                   "beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : "
                   "f64, weight_decay = 0.1 : f64",
                   {"5x3xf64", "5x3xf64", "5x3xf64", "5x3xf64 positive", "f64",
                    "i64 row 4", "f64", "f64 positive"},
                   {"1xi64"},
                   240,
                   4 * 120 + 8 + 8 + 8 + 8 + 8});
  cases.push_back({"sgd_check",
                   "weight_decay = 0.1 : f64",
                   {"5x3xf64", "5x3xf64", "f64", "f64", "f64 positive"},
                   {"1xi64"},
                   75,
                   2 * 120 + 8 + 8 + 8 + 8});
  cases.push_back(
      {"sgd_check",
       "momentum = 0.9 : f64",
       {"5x3xf64", "5x3xf64", "f64", "f64", "f64 positive", "5x3xf64"},
       {"1xi64"},
       105,
       3 * 120 + 8 + 8 + 8 + 8});
  cases.push_back({"advance",
                   "",
                   {"i64 row 4", "i64 row 3", "i1 row 1"},
                   {"i64", "i64"},
                   0,
                   33});
}
