# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The kinds that are defined by their memory against the search with the same
# placement, where each coordinate may hold what it holds in the kind: a table of
# both lengths. At the first costs, (1, 1, 1), no kind may be longer.

import argparse
import itertools
import re
import subprocess
import sys

KINDS = {"zb_h1": "loop", "zb_h2": "loop", "zbv": "v", "v_half": "v", "v_min": "v"}


def run(tool, kind, ranks, micro_batches, costs, *more):
    """Length, and the most activations of each coordinate."""
    text = subprocess.run(
        [tool, kind, "--ranks", str(ranks), "--micro-batches", str(micro_batches), "--color", "never",
         "--costs", "F={},BI={},BW={}".format(*costs), *more],
        check=True, capture_output=True, text=True).stdout
    length = float(re.search(r"^length ([\d.e+]+)", text, re.M)[1])
    rows = re.findall(r"^ +\d+(?: +[\d.e+-]+){3} +(\d+) +\d+$", text, re.M)
    if len(rows) != ranks:
        raise SystemExit(f"expects one row for each of {ranks} coordinates but got {len(rows)}")
    return length, [int(peak) for peak in rows]


def compare(tool, kind, ranks, micro_batches, all_costs):
    """The limit, and for each costs the length of the kind and of the search."""
    chunks = 2 if KINDS[kind] == "v" else 1
    lengths, peaks = [], []
    for costs in all_costs:
        length, peaks = run(tool, kind, ranks, micro_batches, costs)
        found, _ = run(tool, "search", ranks, micro_batches, costs, "--placement", KINDS[kind], "--stages",
                       str(chunks * ranks), "--limit", ",".join(map(str, peaks)))
        lengths.append((length, found))
    return peaks, lengths


def describe(peaks):
    """One number, or all of them where coordinates differ."""
    runs = [(value, len(list(group))) for value, group in itertools.groupby(peaks)]
    return str(peaks[0]) if len(runs) == 1 else ", ".join(f"{n} x {v}" if n > 1 else str(v) for v, n in runs)


def main():
    parser = argparse.ArgumentParser(description="compares kinds with the search in the same memory")
    parser.add_argument("tool", help="piper-schedule")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4, 8, 16])
    parser.add_argument("--multiples", nargs="+", type=int, default=[1, 2, 4], help="M / P")
    parser.add_argument("--costs", nargs="+", default=["1,1,1", "1,1.2,0.8", "1,2,1"], metavar="F,BI,BW")
    args = parser.parse_args()
    all_costs = [costs.split(",") for costs in args.costs]
    print("| kind | P | M | limit of each coordinate | " +
          " | ".join(f"({', '.join(costs)}): kind | search" for costs in all_costs) + " |")
    print("|---" * (4 + 2 * len(all_costs)) + "|")
    longer = 0
    for kind in args.kinds:
        for ranks in args.ranks:
            for multiple in args.multiples:
                peaks, lengths = compare(args.tool, kind, ranks, ranks * multiple, all_costs)
                cells = [f"{length:g} | " + (f"**{found:g}**" if found < length - 1e-9 else f"{found:g}")
                         for length, found in lengths]
                print(f"| {kind} | {ranks} | {ranks * multiple} | {describe(peaks)} | {' | '.join(cells)} |",
                      flush=True)
                longer += all_costs[0] == ["1", "1", "1"] and lengths[0][1] < lengths[0][0] - 1e-9
    print(f"\nlonger than the search at equal costs: {longer} of "
          f"{len(args.kinds) * len(args.ranks) * len(args.multiples)}")
    return longer > 0


if __name__ == "__main__":
    sys.exit(main())
