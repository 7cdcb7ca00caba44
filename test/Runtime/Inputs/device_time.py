# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# device_time.py OUT METRICS: the device time of a run with --clock devices, in its output
# and in each line of its metrics, is the step time of the simulation on standard input.

import json
import re
import sys


def main():
    value, unit = re.search(r"step of \w+: ([\d.]+) (us|ms|s),", sys.stdin.read()).groups()
    expected = float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
    with open(sys.argv[1]) as file:
        printed = re.search(r"device time ([\d.e-]+) ms", file.read())[1]
    with open(sys.argv[2]) as file:
        steps = [json.loads(line)["device_ms"] for line in file]
    # The simulation is printed with four digits.
    for time in [float(printed)] + steps:
        if abs(time - expected) > 1e-3 * expected:
            sys.exit(f"device_time: {time} ms on the clock but {expected} ms in the simulation")
    if not steps or expected <= 0:
        sys.exit("device_time: nothing to compare")


if __name__ == "__main__":
    main()
