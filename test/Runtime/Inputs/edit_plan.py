# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Edits every number of memory in a plan, and more, and runs each edited plan:
#   edit_plan.py PIPER-RUN PLAN INPUTS FOLDER [EVERY=1]
# It must be refused with an error, exit status 1 and no file saved, or save the bits
# that the plan itself saves. EVERY=N tries one in N of the edits of numbers.

import os
import re
import subprocess
import sys

# Numbers that say where in memory something is, by the words before them.
PLACES = r"(?:offsets = (?:array<i64: |\[)|workspace = |values = \[|kernels = \[|bytes = |arena = |peak = |peak_op = |live = )"
REPLACEMENTS = {
    "up": lambda n: n + 64, "down": lambda n: n - 64, "odd": lambda n: n + 1,
    "negative": lambda n: -n - 64, "zero": lambda n: 0, "far": lambda n: 1 << 40,
    "huge": lambda n: (1 << 63) - 1,
}  # fmt: skip

# Name, pattern, replacement of the first match.
EDITS = [
    ("no-workspace", r" workspace = \d+", ""),
    ("no-offsets", r" offsets = \[\d+\]", ""),
    ("too-few-offsets", r"offsets = \[\d+, ", "offsets = ["),
    ("too-many-offsets", r"offsets = \[", "offsets = [0, "),
    ("no-argument-offsets", r" offsets = array<i64: [^>]+>,", ""),
    ("too-few-argument-offsets", r"offsets = array<i64: \d+, ", "offsets = array<i64: "),
    ("no-arena", r" arena = \d+", ""),
    ("no-peak", r", peak = \d+ : i64", ""),
    ("no-memory", r" attributes \{piper.memory = [^}]+>\}", ""),
    ("other-memory", r"piper.memory = #piper.memory<[^>]+>", "piper.memory = 3"),
    ("no-values", r"values = \[[^]]+\]", "values = []"),
    ("no-kernels", r"kernels = \[[^]]+\]", "kernels = []"),
    ("more-kernels", r"kernels = \[", "kernels = [-1, "),
    ("unknown-callee", r"piper.task @layer.fw\(", "piper.task @nothing("),
    ("other-callee", r"piper.task @layer.fw\(", "piper.task @learning_rate("),
    ("entry-as-callee", r"piper.task @layer.fw\(", "piper.task @train("),
    ("unknown-kernel", r"piper.tanh ", "piper.thanh "),
    ("other-dialect", r"piper.tanh ", "math.tanh "),
    ("wrong-kernel-shape", r"piper.tanh %0 : tensor<8x4xf32>", "piper.tanh %0 : tensor<4x8xf32>"),
    ("wrong-type", r"piper.tanh %0 : tensor<8x4xf32>", "piper.tanh %0 : tensor<8x4xf64>"),
    ("wrong-task-shape", r"\(tensor<8x4xf32>, tensor<4x4xf32>\) -> tensor<8x4xf32>", "(tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>"),
    ("no-threads", r"threads = 1", "threads = 0"),
    ("negative-threads", r"threads = 1", "threads = -1"),
    ("many-threads", r"threads = 1", "threads = 2000000000"),
    ("unknown-device", r"target = <cpu", "target = <abacus"),
    ("unknown-next", r'piper.next = "w1"', 'piper.next = "w9"'),
    ("doubled-next", r'piper.next = "w1"', 'piper.next = "w0"'),
    ("next-of-other-type", r'piper.next = "update"', 'piper.next = "w1"'),
    ("doubled-parameter", r'piper.param<"w1"', 'piper.param<"w0"'),
    ("state-called-as-parameter", r'piper.state<"w1.m"', 'piper.state<"w1"'),
    ("doubled-input", r'piper.input<"t"', 'piper.input<"x"'),
    ("doubled-output", r'piper.output = "grad_norm"', 'piper.output = "loss"'),
    ("no-loss", r'piper.output = "loss"', 'piper.output = "gain"'),
    ("moment-of-nothing", r'of = "w1"', 'of = "w9"'),
    ("returned-twice", r"piper.return %(\d+), %(\d+)#0", r"piper.return %\1, %\1"),
    ("short-return", r"piper.return %\d+, ", "piper.return "),
    ("value-before-it-is-made", r"piper.task @layer.fw\(%1,", "piper.task @layer.fw(%3,"),
    ("unknown-pass", r"pass = F", "pass = Q"),
    ("clip-zero", r"max_norm = [^ ]+", "max_norm = 0.0"),
    ("clip-nan", r"max_norm = [^ ]+", "max_norm = 0x7FF8000000000000"),
    ("beta-two", r"beta1 = [^ ]+", "beta1 = 2.0"),
    ("eps-negative", r"eps = [^ ]+", "eps = -1.0"),
    ("lr-nan", r"lr = [^ ]+ : f64, schedule", "lr = 0x7FF8000000000000 : f64, schedule"),
    ("unknown-schedule", r'schedule = "constant"', 'schedule = "wavy"'),
    ("level-model", r"#piper.level<plan>", "#piper.level<model>"),
    ("level-dag", r"#piper.level<plan>", "#piper.level<dag>"),
    ("level-unknown", r"#piper.level<plan>", "#piper.level<roof>"),
    ("no-level", r" attributes \{piper.level = #piper.level<plan>\}", ""),
    ("initial-shape", r"init = dense<\[\[[^>]+> : tensor<4x4xf32>", "init = dense<1.0> : tensor<2x2xf32>"),
    ("no-entry-train", r"piper.entry @train", "piper.entry @tram"),
    ("two-entries-train", r"piper.entry @eval", "piper.entry @train"),
]  # fmt: skip


def numbersOfMemory(text):
    """(begin, end) of every number that PLACES names, lists included."""
    for place in re.finditer(PLACES + r"(-?\d+(?:, -?\d+)*)", text):
        for number in re.finditer(r"-?\d+", place[1]):
            yield place.start(1) + number.start(), place.start(1) + number.end()


def editedPlans(text, every):
    count = 0
    for begin, end in numbersOfMemory(text):
        for word, change in REPLACEMENTS.items():
            count += 1
            old = int(text[begin:end])
            if change(old) != old and count % every == 0:
                line = text.count("\n", 0, begin) + 1
                yield f"{word} at {line}:{begin}", text[:begin] + str(change(old)) + text[end:]
    for name, pattern, replacement in EDITS:
        edited, found = re.subn(pattern, replacement, text, count=1)
        if not found or edited == text:
            sys.exit(f"edit_plan: the edit '{name}' changes nothing")
        yield name, edited
    for part in range(1, 12):
        yield f"truncated to {part}/12", text[: len(text) * part // 12]


class Runner:
    def __init__(self, tool, inputs, folder):
        self.tool, self.inputs, self.saved = tool, inputs, os.path.join(folder, "state")
        self.plan = os.path.join(folder, "plan.mlir")

    def run(self, text):
        """(status, standard error, saved bytes or None)"""
        with open(self.plan, "w") as file:
            file.write(text)
        if os.path.exists(self.saved):
            os.remove(self.saved)
        command = [self.tool, self.plan, "--inputs", self.inputs, "--steps", "1", "--save-state", self.saved]
        done = subprocess.run(command, capture_output=True, timeout=60)
        saved = None
        if os.path.exists(self.saved):
            with open(self.saved, "rb") as file:
                saved = file.read()
        return done.returncode, done.stderr.decode(errors="replace"), saved


def main():
    tool, plan, inputs, folder = sys.argv[1:5]
    every = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    os.makedirs(folder, exist_ok=True)
    runner = Runner(tool, inputs, folder)
    with open(plan) as file:
        text = file.read()
    status, errors, wanted = runner.run(text)
    if status != 0 or wanted is None:
        sys.exit(f"edit_plan: the plan itself fails: {errors}")
    refused = same = wrong = 0
    for name, edited in editedPlans(text, every):
        status, errors, saved = runner.run(edited)
        if status == 1 and "error: " in errors and saved is None:
            refused += 1
            reason = next(line for line in errors.splitlines() if "error: " in line)
            print(f"{name}: {reason.split('error: ', 1)[1]}")
        elif status == 0 and saved == wanted:
            same += 1
            print(f"{name}: the same numbers")
        else:
            wrong += 1
            print(f"{name}: WRONG, status {status}, {errors.strip()}")
    print(f"{refused} refused, {same} with the same numbers, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
