# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For each kind of schedule, the activations in flight on each rank of a plan against the formula of
# docs/schedules.md: in_flight_of_kinds.py PIPER-RUN MODEL.

import re
import subprocess
import sys

P, M = 4, 8
FORMULAS = {
    "gpipe": lambda r: M,
    "1f1b": lambda r: min(P - r, M),
    "eager_1f1b": lambda r: min(2 * (P - 1 - r) + 1, M),
    "interleaved_1f1b": lambda r: P + 2 * (P - 1 - r) + 1,
    "looped_bfs": lambda r: 2 * M,
    "zb_h1": lambda r: min(P, M),
    "zb_h2": lambda r: min(2 * P - 1, M),
    "interleaved_zb": lambda r: 2 * P,
    "zbv": lambda r: 2 * P,
    "v_half": lambda r: 2 * ((P + 2) // 2),
    "v_min": lambda r: 2 * ((P + 4) // 3),
    "dualpipe": lambda r: P + 1,
    "dualpipev": lambda r: 2 * P + 1,
}

program, model = sys.argv[1:]
for kind, formula in FORMULAS.items():
    chunks = " chunks=2" if kind in ("interleaved_1f1b", "looped_bfs", "interleaved_zb") else ""
    keys = f"pipeline-parallel={P} schedule={kind} micro-batches={M} threads=1{chunks}"
    text = subprocess.run([program, model, f"--piper-compile={keys}", "--simulate"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    got = [int(count) for count in re.findall(r"rank \d+: .*in flight (\d+)", text)]
    expected = [formula(r) for r in range(P)]
    print(kind, got)
    if got != expected:
        sys.exit(f"{kind}: expects {expected} in flight but got {got}")
