#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares two safetensors files (or two metrics files, *.jsonl) by the rules of
# docs/numerics.md: MATCH, or the rule for parameters under AdamW. Prints the worst
# tensor and exits with 1 if one is outside its allowance.

import argparse
import fnmatch
import json
import math
import sys

import safetensors_file

WIDE = 1e-5  # of the largest |ref| of the tensor, for every element
NARROW = 1e-3  # relative, for each element with |ref| above this share of the largest
ZERO = 1e-7  # absolute, for tensors whose true value is zero


class Mismatch(Exception):
    pass


def matchUse(actual, reference, isZero):
    """Largest used share of the allowance of MATCH, and where: (share, index)."""
    largest = max((abs(r) for r in reference), default=0.0)
    if isZero or largest <= 1e-12:
        return worst(actual, reference, lambda r: ZERO)
    wide, floor = WIDE * largest, NARROW * largest

    def allowed(r):
        return min(wide, NARROW * abs(r)) if abs(r) > floor else wide

    return worst(actual, reference, allowed)


def worst(actual, reference, allowed):
    use, at = 0.0, 0
    for i, (a, r) in enumerate(zip(actual, reference)):
        if a == r:
            continue
        share = abs(a - r) / allowed(r)
        if not share <= use:  # a NaN is the worst there is
            use, at = (share if share == share else math.inf), i
    return use, at


def compareTensors(args):
    actual, reference = (safetensors_file.read(f) for f in (args.actual, args.reference))
    if args.names:
        actual = {n: t for n, t in actual.items() if fnmatch.fnmatch(n, args.names)}
        reference = {n: t for n, t in reference.items() if fnmatch.fnmatch(n, args.names)}
    missing = sorted(reference.keys() - actual.keys())
    extra = sorted(actual.keys() - reference.keys())
    if missing:
        raise Mismatch(f"{args.actual} lacks {', '.join(missing)}")
    if extra and not args.allow_extra:
        raise Mismatch(f"{args.reference} lacks {', '.join(extra)}")
    if not reference:
        raise Mismatch(f"{args.reference} has no tensor to compare")
    rows = []
    for name, ref in reference.items():
        act = actual[name]
        if act.shape != ref.shape:
            raise Mismatch(f"'{name}' has shape {list(act.shape)}, expected {list(ref.shape)}")
        if args.adamw_lr:
            use, at = worst(act.values, ref.values, lambda r: 0.05 * args.adamw_lr)
        else:
            isZero = any(fnmatch.fnmatch(name, z) for z in args.zero)
            use, at = matchUse(act.values, ref.values, isZero)
        detail = f"{act.values[at]:.9g} against {ref.values[at]:.9g}" if len(ref.values) else "empty"
        rows.append((use / args.room, name, at, detail))
    return rows


def compareMetrics(args):
    """Loss and norm within 1e-5, tokens exactly, line by line."""
    actual, reference = ([json.loads(l) for l in open(f)] for f in (args.actual, args.reference))
    if len(actual) != len(reference):
        raise Mismatch(f"{args.actual} has {len(actual)} steps, expected {len(reference)}")
    rows = []
    for act, ref in zip(actual, reference):
        for key, want in ref.items():
            if key not in act:
                raise Mismatch(f"step {ref['step']} lacks '{key}'")
            exact = isinstance(want, (bool, int))
            if exact:
                use = 0.0 if act[key] == want else math.inf
            else:
                use, _ = worst([act[key]], [want], lambda r: WIDE * max(abs(r), 1e-30))
            rows.append((use / args.room, f"{key} of step {ref['step']}", 0, f"{act[key]} against {want}"))
    return rows


def main():
    parser = argparse.ArgumentParser(description="compare two files by the MATCH rule")
    parser.add_argument("actual")
    parser.add_argument("reference")
    parser.add_argument("--adamw-lr", type=float, metavar="LR", help="parameters under AdamW: |x - ref| <= 0.05 LR")
    parser.add_argument("--zero", action="append", default=[], metavar="GLOB", help="tensors whose true value is zero")
    parser.add_argument("--names", metavar="GLOB", help="compare only these tensors")
    parser.add_argument("--allow-extra", action="store_true", help="more tensors than in the reference are no error")
    parser.add_argument("--room", type=float, default=1.0, metavar="R", help="allow R of the allowance (default 1)")
    args = parser.parse_args()
    try:
        rows = (compareMetrics if args.reference.endswith(".jsonl") else compareTensors)(args)
    except (Mismatch, ValueError, OSError) as error:
        sys.exit(f"compare: {error}")
    rows.sort(key=lambda row: -row[0])
    failed = [row for row in rows if row[0] > 1]
    for use, name, at, detail in failed[:10] or rows[:1]:
        verdict = "outside" if use > 1 else "worst"
        print(f"{verdict}: {name}, element {at}: {detail}, {use:.3g} of the allowance")
    print(f"{len(rows) - len(failed)} of {len(rows)} match")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
