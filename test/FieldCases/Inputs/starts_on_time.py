#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a trace on the device clock and checks that each task of the body starts when
# its inputs are there and the task before it on its rank has ended, not later: an
# input from another rank is there LINK after its producer has ended. One task for
# each stage, pass and micro-batch.

import json
import sys

path, link, stages = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
with open(path) as file:
    events = [e for e in json.load(file) if e.get("ph") == "X" and "mb" in e["args"]]
tasks = {(e["cat"], e["args"]["stage"], e["args"]["mb"]): e for e in events}


def end(event):
    return event["ts"] + event["dur"]


def inputs(kind, stage, mb):
    if kind == "F":
        return [("F", stage - 1, mb)] if stage > 0 else []
    return [("F", stage, mb)] + ([("B", stage + 1, mb)] if stage + 1 < stages else [])


late, free = [], {}
for event in sorted(events, key=lambda e: (e["ts"], end(e))):
    kind, stage, mb = event["cat"], event["args"]["stage"], event["args"]["mb"]
    ready = free.get(event["pid"], 0.0)
    for producer in map(tasks.get, inputs(kind, stage, mb)):
        ready = max(ready, end(producer) + (link if producer["pid"] != event["pid"] else 0))
    if abs(event["ts"] - ready) > 2e-3:
        late.append(f"{kind}{mb} of stage {stage} starts at {event['ts']}, not at {ready:.3f}")
    free[event["pid"]] = end(event)
print("\n".join(late) if late else f"{len(tasks)} tasks start on time")
