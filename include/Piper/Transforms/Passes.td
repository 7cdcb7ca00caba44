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
    Drops the ops that no result needs, with a remark for each segment of `train` that they were all of. Cuts each entry point into a prologue (values that depend on step inputs only and have no
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
    added at the end in the order of the segments. The gradients of the epilogue come before the body where nothing of the body makes them; where a
    loss is not linear in the sums over the batch, the epilogue joins the body, which then cannot be split. A parameter that the loss does not reach is named in a
    remark. Level 1 to level 1.
  }];
}

def PiperOptimizer : Pass<"piper-optimizer", "ModuleOp"> {
  let summary = "Add optimizer state, the step protocol and the updates to `train`";
  let description = [{
    Adds the state of the optimizer and the counters `iteration`, `update` and `seed` as arguments,
    and the end of the step: the norm of all gradients, a check of what each update would write, the decision `ok`, the updates, the next counters. Nothing writes
    state before the decision. Weight decay applies to parameters of two or more dimensions. Level 1 to level 1.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw or sgd">,
    Option<"lr", "lr", "Number", "1e-3", "Learning rate">,
    Option<"momentum", "momentum", "Number", "0.0", "Momentum of sgd">,
    Option<"beta1", "beta1", "Number", "0.9", "Decay of the first moment of adamw">,
    Option<"beta2", "beta2", "Number", "0.999", "Decay of the second moment of adamw">,
    Option<"eps", "eps", "Number", "1e-8", "Epsilon of adamw">,
    Option<"weightDecay", "weight-decay", "Number", "0.0", "Weight decay">,
    Option<"clip", "clip", "Number", "std::numeric_limits<double>::infinity()",
           "Largest global norm of the gradients; inf measures only">,
    Option<"schedule", "lr-schedule", "std::string", "\"constant\"", "constant, linear or cosine">,
    Option<"warmupSteps", "warmup-steps", "int64_t", "0", "Updates of linear warm-up">,
    Option<"totalSteps", "total-steps", "int64_t", "0", "Updates until the rate is min-lr (linear, cosine)">,
    Option<"minLr", "min-lr", "Number", "0.0", "Final learning rate (linear, cosine)">,
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

def PiperPipeline : Pass<"piper-pipeline", "ModuleOp"> {
  let summary = "Expand the strategy into directives and give each task its stage";
  let description = [{
    Adds the directives that the options ask for to those of the module (`piper.directives`): `place` for each
    segment of `train`, by the tags, by `cuts`, or balanced by cost; `split`, `recompute`, `schedule`, `options`. A remark says the cost of each
    stage, and of the balanced cuts where the user's are worse. Then sets `stage` on every task of the body of every entry point, as the `place`
    directives say. Without a strategy and directives nothing changes. An option that is not given is as the strategy of the module
    says; 0 or the empty text takes back what it says. Level 1 to level 1.
  }];
  let options = [
    Option<"pipelineParallel", "pipeline-parallel", "int64_t", "-1", "Pipeline coordinates; 0: no pipeline">,
    Option<"chunks", "chunks", "int64_t", "-1", "Stages on each coordinate; 0: as the schedule needs">,
    Option<"cuts", "cuts", "std::string", "\"-\"", "First segment of stages 1.., as 3,6,9; empty: balanced by cost">,
    Option<"schedule", "schedule", "std::string", "\"-\"", "Kind of schedule, or a JSON file; empty: 1f1b">,
    Option<"microBatches", "micro-batches", "int64_t", "-1", "Micro-batches of a step; 0: one">,
    Option<"recompute", "recompute", "std::string", "\"-\"", "true, or TAG=VALUE: segments that keep their inputs only">,
    Option<"prefetch", "prefetch", "int64_t", "-1", "Actions that a transfer may run ahead; -1: 1">,
    Option<"buffering", "buffering", "int64_t", "-1", "Messages that a channel may hold; -1: 0">,
    Option<"memoryLimit", "memory-limit", "std::string", "\"-\"", "Bytes of each coordinate, one number or one for each">,
    Option<"costs", "costs", "std::string", "\"-\"", "JSON file of costs">,
  ];
}

def PiperRecompute : Pass<"piper-recompute", "ModuleOp"> {
  let summary = "Run chosen segments again before their backward";
  let description = [{
    For each segment that a `recompute` directive matches: the forward task returns only what the model uses, and a
    task of pass R before the backward makes the values that the backward reads again, with the same salt. Level 1 to level 1.
  }];
}

def PiperSplit : Pass<"piper-split", "ModuleOp"> {
  let summary = "Split the batch into micro-batches";
  let description = [{
    Executes the `split` directive: step inputs get a leading micro-batch dimension; a body whose values have the split dimension is made
    smaller, and called once for each micro-batch with `mb`; what is summed over the batch becomes a chain of `into`
    accumulators, in ascending micro-batch; a term of such a sum that has no batch is added once, in the first. Prologue and epilogue, and tasks without the dimension, stay single. An op that mixes samples is an
    error that names op, dimension and reason. Level 1 to level 1.
  }];
  let options = [
    Option<"microBatches", "micro-batches", "int64_t", "0", "Micro-batches; 0: as the directive says">,
    Option<"dim", "dim", "std::string", "\"batch\"", "Name of the dimension of the inputs">,
  ];
}

def PiperSplitBackward : Pass<"piper-split-backward", "ModuleOp"> {
  let summary = "Cut backward tasks into the gradient of the input and of the weights";
  let description = [{
    Replaces a task of pass B by one of BI, the slice that makes what other stages and segments wait for, and one of BW, the rest; values of BI that
    BW reads become results of BI, cut where the bytes are fewest. Only where the schedule or an `order` directive names the halves, or, with `all`, everywhere. Level 1 to level 1.
  }];
  let options = [
    Option<"all", "all", "bool", "false", "Every backward task, whatever the schedule">,
  ];
}

def PiperPlace : Pass<"piper-place", "ModuleOp"> {
  let summary = "Put every task on its pipeline coordinates";
  let description = [{
    Gives every value its `!piper.dist` type. Body tasks go where the `place` directives put their stage; parameters are stored where they are used; values that cross coordinates
    become transfers, gradients of parameters used on several coordinates one `piper.all_reduce`; prologue and decision run on every coordinate that uses them; the norm becomes
    one table for each coordinate. Without `place` directives nothing changes. Level 1 to level 2.
  }];
}

def PiperApplySchedule : Pass<"piper-apply-schedule", "ModuleOp"> {
  let summary = "Put the ops in the order of the schedule";
  let description = [{
    Executes the `schedule` directive (or the option): makes the order of all actions by simulation with the costs of the stages, puts every task and transfer at its place (a transfer right
    after its producer but at most `prefetch` actions of the receiver ahead of its consumer), and relinks `into` chains in the order of running. Level 2 to level 2, or level 1 without a pipeline.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"", "Kind or JSON file, if the module has no directive">,
  ];
}

def PiperOrder : Pass<"piper-order", "ModuleOp"> {
  let summary = "Put the ops in the order of `order` directives";
  let description = [{
    Executes the `order` directives: each group of tasks before the next, the filters of one group interleaved; tasks that are not named are free. An order that contradicts the data
    flow is an error that shows the cycle. Level 2 to level 2, or level 1 without a pipeline.
  }];
}

def PiperPrintSchedule : Pass<"piper-print-schedule", "ModuleOp"> {
  let summary = "Print the schedule that the op order is";
  let description = [{
    Reads the actions of `train` back from the op order and prints them as JSON and as a timetable. Level 1 or 2; changes nothing.
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"", "Where the text goes; -: standard error">,
    Option<"json", "json", "bool", "true", "Print the JSON line">,
    Option<"timetable", "timetable", "bool", "true", "Print the timetable">,
  ];
}

def PiperPrintDirectives : Pass<"piper-print-directives", "ModuleOp"> {
  let summary = "Print the directives of a module as JSON";
  let options = [
    Option<"output", "output", "std::string", "\"-\"", "Where the text goes; -: standard error">,
  ];
}

def PiperDirectives : Pass<"piper-directives", "ModuleOp"> {
  let summary = "Read directives from a JSON file";
  let description = [{
    Adds the directives of the file to `piper.directives` of the module.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "A list of objects {\"op\": \"place\" | ..}">,
  ];
}

def PiperVerifyPlaced : Pass<"piper-verify-placed", "ModuleOp"> {
  let summary = "Check a placed step";
  let description = [{
    The wall of level 2: tasks, transfers, all-reduces and micro-batch views and nothing else; every value but step inputs has coordinates; every stage is on the coordinates of its tasks; each parameter in at most one update.
  }];
}

def PiperVerifyPlan : Pass<"piper-verify-plan", "ModuleOp"> {
  let summary = "Check a plan without trusting the passes that made it";
  let description = [{
    Checks all programs together: ids complete, each task once on each of its coordinates, each message with one send and one receive of equal type and order, each
    all-reduce with equal terms at all members, no cycle, every read after its write and every overwrite after the last read through streams, waits and messages. Level 4.
  }];
}

def PiperPartition : Pass<"piper-partition", "ModuleOp"> {
  let summary = "Make the program of each place";
  let description = [{
    Turns the entry points into one `piper.program` for each pipeline coordinate, or one in all. A transfer becomes a send and a receive, an all-reduce a `piper.reduce` in each
    member; the `into` operands of a task become operands of a body that adds them. Level 1 or 2 to level 3.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "0", "Threads of a rank; 0: all cores">,
  ];
}

def PiperPlanMemory : Pass<"piper-plan-memory", "ModuleOp"> {
  let summary = "Give every value its offset in the arena";
  let description = [{
    State comes first, at the same offsets in all entry points. Updates are made in
    place. `waits` of each op are set to what must end before it on other streams of its program: the producers of its operands, and the last users of the memory that it overwrites. What lives only within an entry point is packed behind the state by lifetime, with the workspace of each
    task; bodies get the offsets of their temporaries once. Records the exact peak, its category and op. Level 3 to level 4.
  }];
  let options = [
    Option<"limit", "limit", "std::string", "\"\"", "Bytes that a program may need, one number or one for each; empty: any">,
  ];
}

#endif // PIPER_TRANSFORMS_PASSES_TD
