# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a command with --steps 2 and with --steps 50 and compares the largest resident
# memory of the processes: resident_memory.py ALLOWED-KIB COMMAND... Where the system puts
# things, and which pages of libraries it maps, differs from run to run, so the medians of up to
# twelve runs of each count: memory that grows with steps grows in all of them.

import os
import statistics
import subprocess
import sys


ROUNDS = 12


def resident_kib(command, steps):
    process = subprocess.Popen(
        [*command, "--steps", str(steps)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"resident_memory: {command[0]} ended with status {status}")
    return usage.ru_maxrss


def main():
    allowed, command = int(sys.argv[1]), sys.argv[2:]
    few, many = [], []
    for number in range(1, ROUNDS + 1):
        few.append(resident_kib(command, 2))
        many.append(resident_kib(command, 50))
        growth = statistics.median(many) - statistics.median(few)
        # Three rounds at least: one odd run with 2 steps must not excuse growth.
        if number >= 3 and growth <= allowed:
            break
    print(f"{statistics.median(few)} KiB after 2 steps, {statistics.median(many)} KiB after 50")
    sys.exit(1 if growth > allowed else 0)


if __name__ == "__main__":
    main()
