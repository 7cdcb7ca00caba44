# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a command with --steps 2 and with --steps 50 and compares the largest resident
# memory of the processes: resident_memory.py ALLOWED-KIB COMMAND... Each is run three
# times and the smallest taken, for where the system puts things differs by some pages.

import os
import subprocess
import sys


def residentKiB(command, steps):
    sizes = []
    for _ in range(3):
        process = subprocess.Popen(
            [*command, "--steps", str(steps)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"resident_memory: {command[0]} ended with status {status}")
        sizes.append(usage.ru_maxrss)
    return min(sizes)


def main():
    allowed, command = int(sys.argv[1]), sys.argv[2:]
    few, many = residentKiB(command, 2), residentKiB(command, 50)
    print(f"{few} KiB after 2 steps, {many} KiB after 50")
    sys.exit(1 if many - few > allowed else 0)


if __name__ == "__main__":
    main()
