# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: stated_peaks.py OUTPUT [OTHER]: from what piper-run --memory printed, checks
# that each rank gave its kernels exactly the bytes that its plan states as the peak of
# `train`; with OTHER, prints the peaks of both, rank by rank, as "A < B" or "A >= B".

import re
import sys


def number(text):
    return int(text.replace(",", ""))


def peaks(text):
    return [number(p) for p in re.findall(r"^entry point train: peak .+? \(([\d,]+) bytes\)", text, re.M)]


def main():
    text = open(sys.argv[1]).read()
    stated = peaks(text)
    given = re.findall(r"^rank (\d+): entry point train gave ([\d,]+) bytes .+ up to byte ([\d,]+)$", text, re.M)
    if [int(rank) for rank, _, _ in given] != list(range(len(stated))):
        sys.exit(f"stated_peaks: {len(stated)} plans but {len(given)} ranks ran")
    for peak, (rank, end, last) in zip(stated, given):
        if not number(last) <= number(end) == peak:
            sys.exit(f"stated_peaks: rank {rank} states {peak}, gave {end} and wrote up to {last}")
    if len(sys.argv) == 2:
        print(f"{len(stated)} ranks used what their plans state")
        return
    for rank, (mine, other) in enumerate(zip(stated, peaks(open(sys.argv[2]).read()))):
        print(f"rank {rank}: {mine} {'<' if mine < other else '>='} {other}")


if __name__ == "__main__":
    main()
