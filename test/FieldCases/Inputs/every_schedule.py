# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: every_schedule.py M RANKS..: the cells of piper-check-cells of every kind of
# schedule with M micro-batches, on so many coordinates, with each number of chunks
# that it has; "refuse" where the kind cannot run M.

import sys

# Kind: numbers of chunks, and whether it can run M micro-batches on P coordinates.
KINDS = {
    "gpipe": ([1], None),
    "1f1b": ([1], None),
    "eager_1f1b": ([1], None),
    "interleaved_1f1b": ([1, 2], lambda p, m: m % max(1, m // p) == 0),
    "looped_bfs": ([1, 2], None),
    "zb_h1": ([1], None),
    "zb_h2": ([1], None),
    "interleaved_zb": ([1, 2], lambda p, m: m % max(1, m // p) == 0),
    "zbv": ([2], None),
    "v_half": ([2], None),
    "v_min": ([2], None),
    "dualpipe": ([2], lambda p, m: m % 2 == 0 and m >= 2 * p),
    "dualpipev": ([2], lambda p, m: m >= 2 * p),
}

micro = int(sys.argv[1])
for ranks in map(int, sys.argv[2:]):
    for kind, (chunks, rule) in KINDS.items():
        for count in chunks:
            word = "run" if rule is None or rule(ranks, micro) else "refuse"
            print(f"{word} schedule={kind} pipeline-parallel={ranks} chunks={count} micro-batches={micro} buffering=0")
