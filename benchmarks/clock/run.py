# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The clock benchmark: a GPT in a pipeline of one process, its step on one device per
# rank as --clock devices measures it, against the length of the schedule alone
# (piper-schedule) whose actions take what they took, on average, in the same steps.

import argparse
import datetime
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Step:
    """The events of one step of a trace by the device clock, in microseconds."""

    def __init__(self, events):
        self.events = events
        self.body = [e for e in events if "stage" in e["args"]]
        self.begin = min(e["ts"] for e in events)
        self.end = max(e["ts"] + e["dur"] for e in events)

    def outside(self):
        """Before the body of the step, and after it: norm, sums, updates."""
        first = min(e["ts"] for e in self.body)
        last = max(e["ts"] + e["dur"] for e in self.body)
        return (first - self.begin) + (self.end - last)


def read_steps(path):
    steps = defaultdict(list)
    for event in json.loads(path.read_text()):
        if event["ph"] == "X":
            steps[event["args"]["step"]].append(event)
    return [Step(steps[number]) for number in sorted(steps)]


def mean_times(steps):
    """By pass and stage, of a micro-batch: a recomputation counts with its backward."""
    def place(e):
        return e["args"]["stage"], e["args"].get("mb", 0)

    split = {place(e) for e in steps[0].body if e["cat"] == "BI"}
    work = defaultdict(float)
    for number, step in enumerate(steps):
        for e in step.body:
            kind = e["cat"]
            if kind in ("B", "R"):
                kind = "BI" if place(e) in split else "B"
            work[(kind, *place(e), number)] += e["dur"]
    times = defaultdict(list)
    for (kind, stage, *_), time in work.items():
        times[kind, stage].append(time)
    return {key: statistics.mean(values) for key, values in times.items()}


def costs_of(steps):
    """The flags of piper-schedule that say what everything takes."""
    mean = mean_times(steps)
    stages = range(1 + max(stage for _, stage in mean))
    lists = {kind: [mean.get((kind, s), 0) for s in stages] for kind in ("F", "BI", "BW")}
    lists["B"] = [mean.get(("B", s), lists["BI"][s] + lists["BW"][s]) for s in stages]
    if not any(lists["BI"]):
        del lists["BI"], lists["BW"]
    # piper-schedule counts an update for each stage of a rank.
    held = {(e["pid"], e["args"]["stage"]) for e in steps[0].body}
    ranks = {e["pid"] for e in steps[0].body}
    update = statistics.mean(step.outside() for step in steps) * len(ranks) / len(held)
    sends = [e["dur"] for step in steps for e in step.events if e["name"].startswith("send")]
    text = ",".join(f"{kind}=" + ":".join(f"{v:.9g}" for v in values) for kind, values in lists.items())
    return ["--stages", str(len(stages)), "--costs",
            f"{text},update={update:.9g},comm={statistics.mean(sends or [0]):.9g}"]


def schedule_length(args, kind, costs):
    """Length in microseconds and idle share of the schedule by itself."""
    run = subprocess.run(
        [args.build / "bin" / "piper-schedule", kind, "--ranks", str(args.ranks), "--micro-batches",
         str(args.micro_batches), "--transfers", "rendezvous", "--overlap", "none", *costs],
        check=True, capture_output=True, text=True)
    length, idle = re.search(r"^length ([\d.e+]+), idle share ([\d.]+)", run.stdout, re.M).groups()
    return float(length), float(idle)


def measure(args, kind, folder):
    """Mean device time of a step and the length of the schedule with the same mean costs, in
    ms; the schedule's idle share; and what each step differs by from the schedule with its own."""
    model, plan, trace = folder / "gpt.mlir", folder / f"{kind}.mlir", folder / f"{kind}.json"
    binaries = args.build / "bin"
    subprocess.run(
        [binaries / "piper-opt", model, "-o", plan, "--piper-compile="
         f"clip=1 threads=1 pipeline-parallel={args.ranks} micro-batches={args.micro_batches} schedule={kind}"],
        check=True, stderr=subprocess.DEVNULL)
    command = [binaries / "piper-run", plan, "--data", folder / "text", "--steps", str(args.steps + 1),
               "--clock", "devices", "--trace", trace]
    if args.link:
        command += ["--costs", folder / "link.json"]
    subprocess.run(command, check=True, capture_output=True)
    # The first step warms up.
    steps = read_steps(trace)[1:]
    device = [step.end - step.begin for step in steps]
    own = [schedule_length(args, kind, costs_of([step]))[0] for step in steps]
    length, idle = schedule_length(args, kind, costs_of(steps))
    return (statistics.mean(device) / 1e3, length / 1e3, idle,
            [100 * (d / s - 1) for d, s in zip(device, own)])


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description="compares the device clock of a pipeline with its schedule")
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--kinds", nargs="+", default=["gpipe", "1f1b", "zbv", "dualpipev"])
    parser.add_argument("--link", type=float, default=0, metavar="US", help="latency of a message")
    for name, value in (("ranks", 4), ("micro-batches", 8), ("steps", 5), ("layers", 6), ("width", 256),
                        ("heads", 4), ("vocabulary", 256), ("batch", 16), ("length", 128)):
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    print(f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
          f"{args.layers} layers x {args.width} wide x {args.length} long, batch {args.batch} in "
          f"{args.micro_batches} micro-batches, vocabulary {args.vocabulary}, {args.ranks} ranks, "
          f"{args.steps} steps\n")
    print("| kind | device ms | schedule ms | device / schedule | idle share of the schedule | "
          "each step by itself |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text").write_bytes(random.Random(0).randbytes(1 << 20))
        (folder / "link.json").write_text(json.dumps({"link": {"latency": args.link}}))
        subprocess.run(
            [args.build / "bin" / "piper-model", "gpt2", "--layers", str(args.layers), "--hidden",
             str(args.width), "--heads", str(args.heads), "--vocab", str(args.vocabulary), "--batch",
             str(args.batch), "--seq", str(args.length), "-o", folder / "gpt.mlir"], check=True)
        for kind in args.kinds:
            device, length, idle, own = measure(args, kind, folder)
            print(f"| {kind} | {device:.2f} | {length:.2f} | {device / length:.4f} | {100 * idle:.1f}% "
                  f"| {min(own):+.2f}% to {max(own):+.2f}% |", flush=True)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    sys.exit(main())
