# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: simulated_time.py OUTPUT METRICS: the step length that piper-run --simulate
# printed (four digits) is the device time of the last step in the metrics.

import json
import re
import sys

MICROSECONDS = {"us": 1, "ms": 1e3, "s": 1e6}


def main():
    number, unit = re.match(r"step of train: ([\d.e+]+) (\w+),", open(sys.argv[1]).read()).groups()
    simulated = float(number) * MICROSECONDS[unit]
    ran = json.loads(open(sys.argv[2]).read().splitlines()[-1])["device_ms"] * 1e3
    if abs(simulated - ran) > 6e-4 * ran:
        sys.exit(f"simulated_time: simulated {simulated} but the step took {ran}")
    print("the simulated step takes what the last step took")


if __name__ == "__main__":
    main()
