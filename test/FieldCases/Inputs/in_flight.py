# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: in_flight.py PLAN: for each program of a plan, the largest number of
# micro-batches that are between the first forward task of a stage and its last
# backward task, counted over the tasks of `train` in their order.

import re
import sys


def peak(train):
    tasks = []
    for line in train.split("\n"):
        task = re.search(r"piper\.task .*? pass = (\w+) .*? mb = (\d+) stage = (\d+)(?: copy = (\d+))? ", line)
        if task:
            tasks.append((task[1], task.groups()[1:]))
    last = {key: i for i, (_, key) in enumerate(tasks)}
    live, most = set(), 0
    for i, (kind, key) in enumerate(tasks):
        if kind == "F":
            live.add(key)
        most = max(most, len(live))
        if last[key] == i:
            live.discard(key)
    if live:
        sys.exit(f"in_flight: {live} never end")
    return most


text = open(sys.argv[1]).read()
trains = [p.split("piper.entry @train", 1)[1].split("\n    }", 1)[0] for p in text.split("\n  piper.program ")[1:]]
print(*map(peak, trains))
