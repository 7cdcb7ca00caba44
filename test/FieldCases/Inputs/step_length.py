# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The length of the step from the initial values of model CHAIN, which are
# ((i + 2j + 3k) mod 7 - 3) / 10, to the parameters of a file:
#   step_length.py FILE LENGTH
# Exits with 1 if it is not LENGTH within one part in ten thousand.

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    tensors, wanted = safetensors_file.read(sys.argv[1]), float(sys.argv[2])
    squares = 0.0
    for name, tensor in tensors.items():
        k = int(name.removeprefix("w"))
        for at, value in enumerate(tensor.values):
            i, j = divmod(at, 4)
            squares += (value - ((i + 2 * j + 3 * k) % 7 - 3) / 10) ** 2
    length = math.sqrt(squares)
    print(f"the step has length {length:.7g}")
    sys.exit(0 if abs(length - wanted) <= 1e-4 * wanted else 1)


if __name__ == "__main__":
    main()
