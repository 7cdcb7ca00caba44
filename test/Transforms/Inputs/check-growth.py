# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the instructions of piper-opt grow with the layers of a model, from a GPT-2
# to its plan. Instructions are counted by valgrind, so that the result does not
# depend on the machine's load. The count of a model of one layer (start of the
# tool, first use of everything) is subtracted.
#
#   check-growth.py [--layers 12,24,48,96] [--exponent 1.1]
#                   PIPER_MODEL PIPER_OPT      exit 1 if an exponent is above

import argparse
import math
import re
import subprocess
import sys


def count_instructions(piper_model, piper_opt, layers, untagged):
    model = subprocess.run(
        [piper_model, "gpt2", "--layers", str(layers), "--hidden", "16", "--heads", "2",
         "--vocab", "32", "--batch", "2", "--seq", "8"],
        check=True, capture_output=True, text=True).stdout
    if untagged:
        model = re.sub(r", piper\.tags = #piper\.tags<[^>]*>", "", model)
        model = re.sub(r"piper\.tags = #piper\.tags<[^>]*>(, )?", "", model)
    result = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", piper_opt,
         "--piper-compile=threads=1", "--mlir-disable-threading", "-o", "/dev/null"],
        input=model, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not found:
        sys.exit(f"error: piper-opt failed under valgrind\n{result.stderr}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", default="12,24,48,96")
    parser.add_argument("--exponent", type=float, default=1.1)
    parser.add_argument("--untagged", action="store_true", help="one segment instead of one per layer")
    parser.add_argument("piper_model")
    parser.add_argument("piper_opt")
    arguments = parser.parse_args()
    layers = [int(word) for word in arguments.layers.split(",")]

    def count(number):
        return count_instructions(arguments.piper_model, arguments.piper_opt, number, arguments.untagged)

    base = count(1)
    print(f"1 layer: {base / 1e6:.1f} million instructions")
    previous, good = None, True
    for number in layers:
        more = count(number) - base
        line = f"{number} layers: {more / 1e6:.1f} million more"
        if previous:
            exponent = math.log(more / previous[1]) / math.log(number / previous[0])
            good = good and exponent <= arguments.exponent
            line += f", exponent {exponent:.3f}"
        print(line, flush=True)
        previous = (number, more)
    if not good:
        sys.exit(f"error: an exponent is above {arguments.exponent}")


main()
