# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: both_sides.py OUTPUTS: checks the outputs of field-H06.test: what a stage sent
# and what the next one received have the same bits, in f32 and in bf16.

import array
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def bits(values):
    return list(array.array("I", values.tobytes()))


def main():
    outputs = safetensors_file.read(sys.argv[1])
    sent, small = bits(outputs["sent.f32"].values), list(outputs["sent.bf16"].values)
    received = [b ^ 0x80000000 for b in bits(outputs["received.f32.negated"].values)]
    if outputs["sent.bf16"].dtype != "BF16" or len(small) != 32:
        sys.exit("both_sides: expected 32 numbers in bf16")
    if received != sent:
        sys.exit("both_sides: the f32 value has other bits on the other side")
    if bits(outputs["received.bf16"].values) != [b << 16 for b in small]:
        sys.exit("both_sides: the bf16 value has other bits on the other side")
    # To the nearest, ties to even.
    if small != [(b + 0x7FFF + (b >> 16 & 1)) >> 16 for b in sent]:
        sys.exit("both_sides: the bf16 value is not the f32 one, rounded")
    if all(b & 0xFFFF == 0 for b in sent):
        sys.exit("both_sides: the f32 value was rounded to bf16")
    print(f"{len(sent)} numbers in f32 and bf16 arrived")


if __name__ == "__main__":
    main()
