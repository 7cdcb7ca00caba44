# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The clocks of a pipeline against each other.
#
# clocks.py replay A B: the last steps of two traces have the same ops, which begin and
# end at the same times, relative to the step, to 1e-6.
# clocks.py costs KIND RANKS MICRO-BATCHES COSTS TRACE [body]: the flags of piper-schedule
# for the plan of a trace and a cost file: each stage costs what the file says about the
# functions of its tasks. No time of the trace is read. "body" leaves out what follows
# the tasks of stages.
# clocks.py length METRICS SCHEDULE SIMULATION [PERCENT]: the device time of each step is
# the length that piper-schedule prints, to some percent, and each rank has as many
# micro-batches in flight there as in the simulation of the plan.
# clocks.py waits PLAN COSTS METRICS SCHEDULE: by the rules of a plan, applied to its text,
# a step takes what the clock of devices says; where no op waits for memory, only for its
# operands and its stream, the body takes what piper-schedule prints.

import json
import re
import sys
from collections import defaultdict


def events(path):
    """Those of the last step, by rank and instruction."""
    with open(path) as file:
        found = [e for e in json.load(file) if e["ph"] == "X"]
    last = max(e["args"]["step"] for e in found)
    return {(e["pid"], e["args"]["instruction"]): e for e in found if e["args"]["step"] == last}


def replay(first, second):
    traces = [events(path) for path in (first, second)]
    if traces[0].keys() != traces[1].keys() or not traces[0]:
        sys.exit("clocks: the traces have other ops")
    starts = [min(e["ts"] for e in trace.values()) for trace in traces]
    ends = [max(e["ts"] + e["dur"] for e in trace.values()) for trace in traces]
    length = ends[0] - starts[0]
    for key, a in traces[0].items():
        b = traces[1][key]
        if a["name"] != b["name"]:
            sys.exit(f"clocks: {key} is {a['name']} and {b['name']}")
        for what, times in (("begin", [e["ts"] - s for e, s in zip((a, b), starts)]),
                            ("end", [e["ts"] + e["dur"] - s for e, s in zip((a, b), starts)])):
            # Zero only to the digits of a trace.
            if abs(times[0] - times[1]) > max(1e-6 * max(times), 1e-11 * ends[0], 1e-9 * length):
                sys.exit(f"clocks: {what} of {a['name']} {key}: {times[0]} and {times[1]} us")
    if length <= 0:
        sys.exit("clocks: an empty step")
    print(f"{len(traces[0])} ops agree")


def call_cost(costs, event):
    name = event["name"].split(" (")[0]
    name = name.removesuffix(".into")
    if name in costs["tasks"]:
        return costs["tasks"][name]
    return costs.get("update", 0) if event["cat"] == "U" else 0


def stage_costs(costs, trace):
    """Lists F, B, BI, BW over the stages, of a micro-batch: a recomputation counts with its backward."""
    calls = [(e, e["args"]["stage"], e["args"].get("mb", 0)) for e in trace.values() if "stage" in e["args"]]
    split = {(stage, mb) for e, stage, mb in calls if e["cat"] == "BI"}
    work = defaultdict(lambda: defaultdict(float))
    for e, stage, mb in calls:
        is_whole = e["cat"] in ("B", "R") and (stage, mb) not in split
        kind = e["cat"] if e["cat"] in ("F", "BW") else "B" if is_whole else "BI"
        work[kind, stage][mb] += call_cost(costs, e)
    mean = {key: sum(mbs.values()) / len(mbs) for key, mbs in work.items()}
    stages = range(1 + max(stage for _, stage in mean))
    lists = {kind: [mean.get((kind, s), 0) for s in stages] for kind in ("F", "BI", "BW")}
    lists["B"] = [mean.get(("B", s), lists["BI"][s] + lists["BW"][s]) for s in stages]
    return lists if split else {kind: lists[kind] for kind in ("F", "B")}


def epilogue(costs, trace, link):
    """Norm, sums and updates: the sums of a rank one after another, then its updates."""
    updates, sums = defaultdict(float), defaultdict(set)
    for (rank, _), e in trace.items():
        if e["cat"] == "U":
            updates[rank] += call_cost(costs, e)
        if e["cat"] == "reduce":
            sums[rank].add(e["args"]["id"])
    return max(updates.values()) + link * max(map(len, sums.values()), default=0)


def print_costs(kind, ranks, micro_batches, cost_path, trace_path, part="step"):
    with open(cost_path) as file:
        costs = json.load(file)
    trace = events(trace_path)
    link = costs.get("link", {}).get("latency", 0)
    lists = stage_costs(costs, trace)
    stages = len(lists["F"])
    # piper-schedule counts an update for each stage of a rank, and copies of stages.
    held = max(len({(e["args"]["stage"]) for (r, _), e in trace.items() if r == rank and "stage" in e["args"]})
               for rank in range(int(ranks)))
    text = ",".join(f"{key}=" + ":".join(f"{v:.12g}" for v in values) for key, values in lists.items())
    update = epilogue(costs, trace, link) / held if part == "step" else 0
    print(f"{kind} --ranks {ranks} --micro-batches {micro_batches} --stages {stages} "
          f"--costs {text},update={update:.12g},comm={link:.12g}")


def schedule_length(text):
    return float(re.search(r"^length ([\d.e+]+),", text, re.M)[1])


def device_times(metrics):
    """In microseconds, by step."""
    with open(metrics) as file:
        return [1e3 * json.loads(line)["device_ms"] for line in file]


def check_length(metrics, schedule, simulation, percent="0"):
    with open(schedule) as file:
        text = file.read()
    expected = schedule_length(text)
    planned = re.findall(r"^ +\d+ +[\d.e+-]+ +[\d.e+-]+ +[\d.e+-]+ +(\d+) +\d+$", text, re.M)
    with open(simulation) as file:
        simulated = re.findall(r"^rank \d+: .*in flight (\d+),", file.read(), re.M)
    if not planned or planned != simulated:
        sys.exit(f"clocks: {simulated} micro-batches in flight but the schedule has {planned}")
    steps = device_times(metrics)
    for step in steps:
        # Both are printed with digits.
        if abs(step - expected) > (float(percent) / 100 + 1e-5) * expected:
            sys.exit(f"clocks: {step} us on the clock of devices but the schedule takes {expected}")
    if not steps or expected <= 0:
        sys.exit("clocks: nothing to compare")
    print(f"{100 * (steps[-1] / expected - 1):+.2f} %")


def read_plan(path):
    """The ops of a step of training on each coordinate, in their order."""
    programs, reads = [], False
    for line in open(path):
        entry = re.search(r"piper\.entry @(\w+)", line)
        if entry:
            reads = entry[1] == "train"
            programs += [[]] if reads else []
        head = line.split(" : ")[0] if reads else ""
        match = re.match(r" *(?:(%\d+)(?::\d+)? = )?piper\.(task @([\w.]+)|send|receive|reduce)", head)
        number = re.search(r" id = (\d+)", head)
        if not match or not number:
            continue
        waits = re.search(r" waits = \[([\d, ]+)\]", head)
        programs[-1].append({
            "id": int(number[1]), "result": match[1], "kind": match[2].split()[0], "name": match[3],
            "cat": "U" if " pass = U " in head else "", "in body": " stage = " in head,
            "operands": re.findall(r"%\d+", head[match.end():]),
            "waits": [int(wait) for wait in waits[1].split(",")] if waits else []})
    return programs


def run_plan(programs, costs, for_memory):
    """Ends of the step and of its body by the rules of plans, (a) streams, (b) waits, (c) no
    transfer ahead of the last task's start; and how many waits are for memory alone."""
    members = defaultdict(list)
    for rank, program in enumerate(programs):
        makers = {}
        for op in program:
            op["needs"] = [makers[value] for value in op["operands"] if value in makers]
            makers[op["result"]] = op["id"]
            members[op["id"]].append((rank, op))
    free, begun, ends = defaultdict(float), defaultdict(float), {}
    body, memory_waits = 0, 0
    for number in sorted(members):
        start = 0
        for rank, op in members[number]:
            waits = [wait for wait in op["waits"] if for_memory or wait in op["needs"]]
            memory_waits += sum(wait not in op["needs"] for wait in op["waits"])
            start = max([start, free[rank, op["kind"]], 0 if op["kind"] == "task" else begun[rank]] +
                        [ends[rank, wait] for wait in op["needs"] + waits])
        for rank, op in members[number]:
            is_task = op["kind"] == "task"
            end = start + (call_cost(costs, op) if is_task else costs.get("link", {}).get("latency", 0))
            free[rank, op["kind"]] = ends[rank, number] = end
            if is_task:
                begun[rank] = start
            if op["in body"]:
                body = max(body, end)
    return max(ends.values()), body, memory_waits


def check_waits(plan, cost_path, metrics, schedule):
    programs = read_plan(plan)
    with open(cost_path) as file:
        costs = json.load(file)
    step, body, memory_waits = run_plan(programs, costs, True)
    for measured in device_times(metrics):
        if abs(measured - step) > 1e-5 * step:
            sys.exit(f"clocks: {measured} us on the clock of devices but by the rules the plan takes {step}")
    _, free_body, _ = run_plan(programs, costs, False)
    with open(schedule) as file:
        expected = schedule_length(file.read())
    if not memory_waits or abs(free_body - expected) > 1e-5 * expected:
        sys.exit(f"clocks: without {memory_waits} waits for memory the body takes {free_body} us "
                 f"but the schedule {expected}")
    print(f"{100 * (body / free_body - 1):+.2f} % by {memory_waits} waits for memory")


if __name__ == "__main__":
    {"replay": replay, "costs": print_costs, "length": check_length, "waits": check_waits}[sys.argv[1]](*sys.argv[2:])
