# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks a trace (Chrome's JSON) and lists the names of its complete events with their
# numbers: trace.py FILE. Events of one thread must not overlap, for tasks run in order.

import collections
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    complete = [e for e in events if e["ph"] == "X"]
    ends = {}
    for event in sorted(complete, key=lambda e: e["ts"]):
        row = event["pid"], event["tid"]
        if event["dur"] < 0 or event["ts"] < ends.get(row, 0) - 0.01:
            sys.exit(f"trace: {event} begins before the one before it ends at {ends[row]}")
        ends[row] = event["ts"] + event["dur"]
    for name, count in sorted(collections.Counter(e["name"] for e in complete).items()):
        print(f"{count} x {name}")


if __name__ == "__main__":
    main()
