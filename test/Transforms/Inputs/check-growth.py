# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the instructions of piper-opt grow from a GPT-2 to its plan: with the
# layers of the model on one device, or with the micro-batches of a pipeline.
# Instructions are counted by valgrind, so that the result does not depend on the
# machine's load. The count of the smallest size (start of the tool, first use of
# everything) is subtracted.
#
#   check-growth.py [--layers 1,12,24,48 [--untagged]] [--exponent 1.1]
#                   PIPER_MODEL PIPER_OPT      exit 1 if an exponent is above
#   check-growth.py --micro-batches 16,48,96,192 [--stages 8] ..

import argparse
import math
import re
import subprocess
import sys


def count_instructions(piper_opt, model, options):
    result = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", piper_opt,
         "--mlir-disable-threading", "-o", "/dev/null", *options],
        input=model, capture_output=True, text=True)
    found = re.search(r"I +refs: +([\d,]+)", result.stderr)
    if result.returncode or not found:
        sys.exit(f"error: piper-opt failed under valgrind\n{result.stderr}")
    return int(found.group(1).replace(",", ""))


def make_model(piper_model, layers, batch, *more):
    return subprocess.run(
        [piper_model, "gpt2", "--layers", str(layers), "--batch", str(batch), *more],
        check=True, capture_output=True, text=True).stdout


def make_layers(arguments, layers):
    model = make_model(arguments.piper_model, layers, 2,
                       "--hidden", "16", "--heads", "2", "--vocab", "32", "--seq", "8")
    if arguments.untagged:
        model = re.sub(r", piper\.tags = #piper\.tags<[^>]*>", "", model)
        model = re.sub(r"piper\.tags = #piper\.tags<[^>]*>(, )?", "", model)
    return model, ["--piper-compile=threads=1"]


def make_micro_batches(arguments, micro_batches):
    # One segment for each stage: the embedding, the blocks, the head.
    stages = arguments.stages
    model = make_model(arguments.piper_model, stages - 2, micro_batches, "--untied",
                       "--hidden", "8", "--heads", "1", "--vocab", "16", "--seq", "4")
    strategy = f"pipeline-parallel={stages} schedule=zb_h1 micro-batches={micro_batches}"
    return model, [f"--piper-compile=threads=1 {strategy}", "--verify-each=0", "--emit-bytecode"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", default="1,12,24,48")
    parser.add_argument("--micro-batches")
    parser.add_argument("--stages", type=int, default=8)
    parser.add_argument("--exponent", type=float, default=1.1)
    parser.add_argument("--untagged", action="store_true", help="one segment instead of one per layer")
    parser.add_argument("piper_model")
    parser.add_argument("piper_opt")
    arguments = parser.parse_args()
    make, unit = make_layers, "layers"
    if arguments.micro_batches:
        make, unit = make_micro_batches, "micro-batches"
    sizes = [int(word) for word in (arguments.micro_batches or arguments.layers).split(",")]

    def count(size):
        return count_instructions(arguments.piper_opt, *make(arguments, size))

    base = count(sizes[0])
    print(f"{sizes[0]} {unit}: {base / 1e6:.1f} million instructions")
    previous, good = None, True
    for size in sizes[1:]:
        more = count(size) - base
        added = size - sizes[0]
        line = f"{size} {unit}: {more / 1e6:.1f} million more"
        if previous:
            exponent = math.log(more / previous[1]) / math.log(added / previous[0])
            good = good and exponent <= arguments.exponent
            line += f", exponent {exponent:.3f}"
        print(line, flush=True)
        previous = (added, more)
    if not good:
        sys.exit(f"error: an exponent is above {arguments.exponent}")


main()
