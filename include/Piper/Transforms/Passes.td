// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes, in the order of the pipeline.

#ifndef PIPER_TRANSFORMS_PASSES_TD
#define PIPER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PiperVerifyModel : Pass<"piper-verify-model", "ModuleOp"> {
  let summary = "Check that a module is a model that can be trained";
  let description = [{
    Checks what the passes rely on, with one error for each place: level 0; only the functions `train`
    (needed), `eval` and `predict`, of one block of compute ops of this dialect; static shapes without
    empty dimensions or encodings, at most 2^46 bytes each; every argument an input or a parameter with a name of its
    own, which is no counter or moment; every result with a name of its own; a floating-point scalar result
    "loss" of `train`; a parameter with the same type and attribute in all entry points; trained
    parameters all f32 or all f64, and all in `train`.
  }];
}

def PiperAddEvaluation : Pass<"piper-add-evaluation", "ModuleOp"> {
  let summary = "Add the entry point `eval`: the loss of `train` without dropout";
  let description = [{
    Clones `train` as `eval`, unless the model has one, and removes dropout from every entry point
    but `train`. Level 0 to level 0.
  }];
}

def PiperOutlineSegments : Pass<"piper-outline-segments", "ModuleOp"> {
  let summary = "Group runs of ops with equal tags into tasks";
  let description = [{
    Cuts each entry point into a prologue (values that depend on step inputs only and have no
    batch dimension, such as the number of valid labels), a body (runs of ops with equal tags, in order; an op
    without tags belongs to the run before it), and an epilogue (what follows the last sum over the batch). Each becomes a
    `piper.task`; equal bodies become one function. The batch dimension is the one named `batch` of the inputs, followed
    through the sharding rules. Level 0 to level 1.

    Before:
    ```mlir
    %h0 = piper.embedding %wte, %tokens {piper.tags = #piper.tags<layer = 0>} : ...
    %n = piper.count_valid %labels : ...
    ```
    After:
    ```mlir
    %n = piper.task @count(%labels) pass = once : ...
    %h0 = piper.task @embed(%wte, %tokens) pass = F tags = <layer = 0> : ...
    ```
  }];
}

def PiperAutodiff : Pass<"piper-autodiff", "ModuleOp"> {
  let summary = "Add the backward tasks to `train`";
  let description = [{
    Adds the gradient of the result "loss" with respect to every trainable parameter that it depends on, as further
    results of `train` with the attribute `piper.gradient`. A body `f` becomes `f.fw`, which also returns what the
    backward needs and cannot cheaply make again, and `f.bw`. There is no gradient for
    integers, frozen parameters, and what only they reach. A parameter that several segments use has one gradient for each,
    added at the end in the order of the segments. A parameter that the loss does not reach is named in a
    remark. Level 1 to level 1.
  }];
}

def PiperOptimizer : Pass<"piper-optimizer", "ModuleOp"> {
  let summary = "Add optimizer state, the step protocol and the updates to `train`";
  let description = [{
    Adds the state of the optimizer and the counters `iteration`, `update` and `seed` as arguments,
    and the end of the step: the norm of all gradients, the decision `ok`, the updates, the next counters. Nothing writes
    state before the decision. Weight decay applies to parameters of two or more dimensions. Level 1 to level 1.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw or sgd">,
    Option<"lr", "lr", "double", "1e-3", "Learning rate">,
    Option<"momentum", "momentum", "double", "0.0", "Momentum of sgd">,
    Option<"beta1", "beta1", "double", "0.9", "Decay of the first moment of adamw">,
    Option<"beta2", "beta2", "double", "0.999", "Decay of the second moment of adamw">,
    Option<"eps", "eps", "double", "1e-8", "Epsilon of adamw">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "Weight decay">,
    Option<"clip", "clip", "double", "std::numeric_limits<double>::infinity()",
           "Largest global norm of the gradients; inf measures only">,
    Option<"schedule", "lr-schedule", "std::string", "\"constant\"", "constant, linear or cosine">,
    Option<"warmupSteps", "warmup-steps", "int64_t", "0", "Updates of linear warm-up">,
    Option<"totalSteps", "total-steps", "int64_t", "0", "Updates until the rate is min-lr (linear, cosine)">,
    Option<"minLr", "min-lr", "double", "0.0", "Final learning rate (linear, cosine)">,
    Option<"keepGradients", "keep-gradients", "bool", "false", "Keep the raw gradients to the end of the step">,
  ];
}

def PiperVerifyDag : Pass<"piper-verify-dag", "ModuleOp"> {
  let summary = "Check a training DAG";
  let description = [{
    Checks level 1: entry points hold only tasks; bodies only ops with a kernel's interfaces; every state argument has exactly one next value, and
    each trainable parameter with a gradient exactly one update.
  }];
}

def PiperPartition : Pass<"piper-partition", "ModuleOp"> {
  let summary = "Make the program of each place";
  let description = [{
    Turns the entry points into one `piper.program`. Level 1 to level 3.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "0", "Threads of a rank; 0: all cores">,
  ];
}

def PiperPlanMemory : Pass<"piper-plan-memory", "ModuleOp"> {
  let summary = "Give every value its offset in the arena";
  let description = [{
    State comes first, at the same offsets in all entry points. Updates are made in
    place. What lives only within an entry point is packed behind the state by lifetime, with the workspace of each
    task; bodies get the offsets of their temporaries once. Records the exact peak, its category and op. Level 3 to level 4.
  }];
}

#endif // PIPER_TRANSFORMS_PASSES_TD
