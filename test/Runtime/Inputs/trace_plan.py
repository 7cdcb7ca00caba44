# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: trace_plan.py PLAN TRACE [--tight]: checks that a trace tells of the run of a
# printed plan, read on its own here: each step has each op of `train` once, under its
# name; every send has one receive of equal id and bytes, which ends no earlier; ops of
# one stream do not overlap; an op starts after those that it waits for have ended, and
# a message after the last task before it has started. With --tight each task also
# starts as soon as that allows; then the end of the last backward is printed.

import collections
import json
import re
import sys

STREAMS = {"task": 0, "send": 1, "receive": 2, "reduce": 3}
# Times have three digits after the point, and a begin and a length are rounded.
SLACK = 0.0021

Op = collections.namedtuple("Op", "kind name id waits")


def read_plan(path):
    """The ops of `train`, by rank."""
    ranks, inside = [], False
    for line in open(path):
        if re.match(r"\s*piper\.program ", line):
            ranks.append([])
        entry = re.match(r"\s*piper\.entry @(\w+)\(", line)
        if entry:
            inside = entry[1] == "train"
        op = re.match(r"\s*(?:%[\w:]+ = )?piper\.(task|send|receive|reduce)\b(.*)", line)
        if not op or not inside:
            continue
        kind, rest = op[1], op[2].rsplit(" : ", 1)[0]
        if kind == "task":
            name = re.match(r" @([\w.]+)", rest)[1]
            tags = re.search(r"tags = <(.*?)> segment", rest)
            name += f" ({tags[1]})" if tags else ""
        else:
            peer = re.search(r"\b(to|from) (\d+)", rest)
            name = f"{kind} {peer[1]} {peer[2]}" if peer else kind
        waits = re.search(r" waits = \[([\d, ]*)\]", rest)
        ids = [int(w) for w in waits[1].split(",")] if waits else []
        ranks[-1].append(Op(kind, name, int(re.search(r" id = (\d+)", rest)[1]), ids))
    return ranks


def fail(text):
    sys.exit(f"trace_plan: {text}")


def check_ops(step, ranks, events):
    """Each op of the plan has one event under its name, on its stream."""
    for rank, ops in enumerate(ranks):
        for op in ops:
            found = events.pop((rank, op.id), None)
            if not found:
                fail(f"step {step}: rank {rank} has no event of {op}")
            if found["name"] != op.name or found["tid"] != STREAMS[op.kind]:
                fail(f"step {step}: rank {rank}: {found} is not {op}")
            yield (rank, op.id), found
    if events:
        fail(f"step {step}: the plan has no {list(events.values())[0]}")


def check_messages(ranks, events):
    """Returns the number of messages."""
    count = 0
    for rank, ops in enumerate(ranks):
        for op in ops:
            send = events[rank, op.id]
            if op.kind == "receive":
                count -= 1
            if op.kind != "send":
                continue
            count += 2
            receive = events.get((send["args"]["peer"], op.id))
            if not receive or receive["cat"] != "transfer" or receive["args"]["peer"] != rank:
                fail(f"no receive for {send}")
            if receive["args"]["bytes"] != send["args"]["bytes"]:
                fail(f"{receive} has other bytes than {send}")
            if end(receive) < end(send) - SLACK:
                fail(f"{receive} ends before {send}")
    return count


def end(event):
    return event["ts"] + event["dur"]


def check_order(rank, ops, events, tight):
    """Returns the number of waits."""
    last = {}
    waits = 0
    for op in ops:
        event = events[rank, op.id]
        needs = [end(events[rank, wait]) for wait in op.waits]
        waits += len(needs)
        if op.kind in last:
            needs.append(end(last[op.kind]))
        if op.kind != "task" and "task" in last:
            needs.append(last["task"]["ts"])
        ready = max(needs, default=None)
        if ready is not None and event["ts"] < ready - SLACK:
            fail(f"rank {rank}: {event} starts before {ready}")
        if tight and ready is not None and op.kind == "task" and event["ts"] > ready + SLACK:
            fail(f"rank {rank}: {event} could start at {ready}")
        last[op.kind] = event
    return waits


def main():
    ranks = read_plan(sys.argv[1])
    tight = "--tight" in sys.argv[3:]
    steps = collections.defaultdict(dict)
    for event in json.load(open(sys.argv[2])):
        if event["ph"] != "X":
            continue
        key = event["pid"], event["args"]["id"]
        step = steps[event["args"]["step"]]
        if key in step:
            fail(f"twice in a step: {event}")
        step[key] = event
    first = min(steps)
    if sorted(steps) != list(range(first, first + len(steps))):
        fail(f"steps {sorted(steps)}")
    for number, found in sorted(steps.items()):
        events = dict(check_ops(number, ranks, found))
        messages = check_messages(ranks, events)
        waits = sum(check_order(rank, ops, events, tight) for rank, ops in enumerate(ranks))
    print(f"steps {first} to {first + len(steps) - 1} of {len(ranks)} ranks: {messages} messages and {waits} waits each")
    begin = min(e["ts"] for e in events.values())
    last = max((end(e) for e in events.values() if e["cat"] in ("B", "BI", "BW")), default=begin)
    if tight:
        print(f"the last backward ends after {last - begin:.3f}")


if __name__ == "__main__":
    main()
