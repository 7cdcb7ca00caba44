# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes random inputs, the same each time: random_inputs.py OUT NAME:TYPE:A,B,..
# TYPE is F32 (normal), BOOL, or I32<N or I64<N (0 to N - 1); the shape has the steps in front.

import array
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file
from safetensors_file import Tensor


def main():
    draw = random.Random(5)
    tensors = {}
    for spec in sys.argv[2:]:
        name, kind, shape = spec.split(":")
        shape = [int(n) for n in shape.split(",")]
        dtype, _, limit = kind.partition("<")
        count = math.prod(shape)
        if dtype == "F32":
            values = array.array("f", (draw.gauss(0, 1) for _ in range(count)))
        else:
            code = {"I32": "i", "I64": "q", "BOOL": "B"}[dtype]
            values = array.array(code, (draw.randrange(int(limit or 2)) for _ in range(count)))
        tensors[name] = Tensor(dtype, shape, values)
    safetensors_file.write(sys.argv[1], tensors)


if __name__ == "__main__":
    main()
