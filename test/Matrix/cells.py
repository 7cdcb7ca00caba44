#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The cells of the matrix of pipeline settings: all of them, or a choice in
# which every pair of settings stands at least once. One line for each cell:
# "run" or "refuse", and the keys of --piper-compile.
#
#   cells.py --model chain8            the pairwise choice, its cells of one model
#   cells.py --model chain8 --all      the whole product

import argparse
import itertools
import random

KINDS = ["gpipe", "1f1b", "eager_1f1b", "interleaved_1f1b", "looped_bfs", "zb_h1", "zb_h2",
         "interleaved_zb", "zbv", "v_half", "v_min", "dualpipe", "dualpipev"]

# Settings in the order of the key names. A kind with a fixed number of chunks
# refuses another; both are cells.
SETTINGS = {
    "model": ["chain8", "skip", "gpt2", "gpt2_tied"],
    "schedule": KINDS,
    "pipeline-parallel": [1, 2, 4, 8],
    "chunks": [1, 2],
    "micro-batches": [1, 2, 3, 4, 6, 8, 12],
    "recompute": ["false", "true", "layer=2"],
    "prefetch": [0, 1, 3],
    "buffering": [0, 2],
}

# Not in the whole product: they change no number and are in the pairwise choice.
PAIRWISE_ONLY = {"prefetch": 1, "buffering": 0}


# Segments of each model: more stages cannot be.
SEGMENTS = {"chain8": 8, "skip": 8, "gpt2": 8, "gpt2_tied": 8}
# Stages on a coordinate, where a kind has only one number.
CHUNKS = {"gpipe": 1, "1f1b": 1, "eager_1f1b": 1, "zb_h1": 1, "zb_h2": 1, "zbv": 2, "v_half": 2, "v_min": 2,
          "dualpipe": 2, "dualpipev": 2}


def stages(kind, ranks, chunks):
    """DualPipe holds every stage twice."""
    return ranks * (1 if kind == "dualpipe" else chunks)


def keeps_rules(kind, ranks, chunks, micro):
    """The rules of the papers, said once more."""
    if chunks != CHUNKS.get(kind, chunks):
        return False
    if kind in ("interleaved_1f1b", "interleaved_zb"):
        return micro % max(1, micro // ranks) == 0
    if kind == "dualpipe":
        return ranks % 2 == 0 and micro % 2 == 0 and micro >= 2 * ranks
    return kind != "dualpipev" or micro >= 2 * ranks


def is_legal(cell):
    sizes = cell["schedule"], cell["pipeline-parallel"], cell["chunks"]
    return stages(*sizes) <= SEGMENTS[cell["model"]] and keeps_rules(*sizes, cell["micro-batches"])


def pairs_of(cell, names):
    return {(a, cell[a], b, cell[b]) for a, b in itertools.combinations(names, 2)}


def pairwise(seed=7, tries=80):
    """Greedy: of some random cells that hold a missing pair, a legal one with the most missing pairs; an
    illegal one only for pairs of which no legal cell was found."""
    random_numbers = random.Random(seed)
    names = list(SETTINGS)
    missing = {(a, x, b, y) for a, b in itertools.combinations(names, 2)
               for x in SETTINGS[a] for y in SETTINGS[b]}
    cells = []
    while missing:
        ordered = sorted(missing, key=str)
        best, gain = None, (-1, -1)
        a, x, b, y = random_numbers.choice(ordered)
        for _ in range(tries):
            cell = {name: random_numbers.choice(values) for name, values in SETTINGS.items()}
            cell[a], cell[b] = x, y
            if random_numbers.random() < 0.7 and "chunks" not in (a, b):
                cell["chunks"] = CHUNKS.get(cell["schedule"], cell["chunks"])
            own = (is_legal(cell), len(pairs_of(cell, names) & missing))
            if own > gain:
                best, gain = cell, own
        cells.append(best)
        missing -= pairs_of(best, names)
    return cells


def product(model):
    names = [name for name in SETTINGS if name not in PAIRWISE_ONLY and name != "model"]
    for values in itertools.product(*(SETTINGS[name] for name in names)):
        cell = dict(zip(names, values), model=model, **PAIRWISE_ONLY)
        # Eight coordinates where it is cheap.
        if cell["pipeline-parallel"] == 8 and (model not in ("chain8", "skip")):
            continue
        yield cell


def keys(cell):
    return " ".join(f"{name}={value}" for name, value in cell.items()
                    if name != "model" and (name, value) != ("recompute", "false"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, choices=SETTINGS["model"])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--count", action="store_true", help="print how many cells the choice has in all")
    options = parser.parse_args()
    if options.count:
        print(len(pairwise()))
        return
    cells = product(options.model) if options.all else [
        cell for cell in pairwise() if cell["model"] == options.model]
    for cell in cells:
        print("run" if is_legal(cell) else "refuse", keys(cell))


if __name__ == "__main__":
    main()
