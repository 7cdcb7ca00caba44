# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: update_before_reader.py INPUTS GRADIENTS OUTPUTS: the closed forms of
# update-before-reader.mlir for one step from w = ones.

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file

inputs, gradients, outputs = (safetensors_file.read(path) for path in sys.argv[1:4])
x = inputs["x"].values
sums = [sum(x[3 * row : 3 * row + 3]) for row in range(4)]
for name, got, right in [
    ("dw", gradients["w"].values, [0.5] * 9),
    ("h", outputs["h"].values, [sums[row] for row in range(4) for _ in range(3)]),
    ("g", outputs["g"].values, [math.tanh(value) for value in x]),
]:
    if len(got) != len(right) or any(abs(a - b) > 1e-5 for a, b in zip(got, right)):
        sys.exit(f"{name}: expects {right} but got {list(got)}")
