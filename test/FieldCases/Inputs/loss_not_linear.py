# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: loss_not_linear.py root|factor INPUTS GRADIENTS: the gradients of
# loss-not-linear.mlir at w = 1 and k = 0.5. With m = sum_ij (x_ij w_j)^2 / 4:
#   root    loss = m^(1/2), dw_j = sum_i x_ij^2 / (4 m^(1/2)), no gradient of k
#   factor  loss = k m,     dw_j = k sum_i x_ij^2 / 2,         dk = m

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file

kind = sys.argv[1]
x = safetensors_file.read(sys.argv[2])["x"].values
got = safetensors_file.read(sys.argv[3])
squares = [sum(v * v for v in x[column::3]) for column in range(3)]
mean = sum(squares) / 4
right = {"w": [s / (4 * mean**0.5) if kind == "root" else 0.25 * s for s in squares]}
if kind == "factor":
    right["k"] = [mean]
if sorted(got) != sorted(right):
    sys.exit(f"expects gradients of {sorted(right)} but got {sorted(got)}")
for name, values in right.items():
    if any(abs(a - b) > 1e-5 * mean for a, b in zip(got[name].values, values)):
        sys.exit(f"{name}: expects {values} but got {list(got[name].values)}")
