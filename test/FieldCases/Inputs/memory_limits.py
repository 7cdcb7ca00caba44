# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Limits one byte below and at the need of each rank: memory_limits.py PIPER-RUN MODEL KEYS. The needs are those that the
# plan states.

import re
import subprocess
import sys

program, model, keys = sys.argv[1:]


def run(limit, flag):
    return subprocess.run([program, model, f"--piper-compile={keys} {limit}", flag], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


needs = [int(need.replace(",", "")) for need in re.findall(r"rank \d+: .*\(([\d,]+) bytes\)", run("", "--simulate").stdout)]
if len(needs) != 4 or sorted(needs) == needs:
    sys.exit(f"expects four ranks, the first of which need more, but got {needs}")
if run("memory-limit=" + ",".join(map(str, needs)), "--info").returncode != 0:
    sys.exit("a limit at the need of each rank is refused")
for rank, need in enumerate(needs):
    limits = [need - 1 if rank == other else 10 ** 9 for other in range(4)]
    refused = run("memory-limit=" + ",".join(map(str, limits)), "--info")
    errors = re.findall(r"coordinate (\d+) \(stage (\d+)\) needs (\d+) bytes but the limit is (\d+)", refused.stderr)
    if refused.returncode == 0 or errors != [(str(rank), str(rank), str(need), str(need - 1))]:
        sys.exit(f"rank {rank}: got {errors}")
first = run(f"memory-limit={max(needs) - 1}", "--info").stderr
if f"coordinate {needs.index(max(needs))} " not in first or first.count("but the limit is") != needs.count(max(needs)):
    sys.exit("one limit for all: " + first)
print("limits hold")
