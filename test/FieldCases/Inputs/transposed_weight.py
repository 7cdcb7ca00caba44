# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks gradient and step of field-C08.mlir: transposed_weight.py INPUTS GRADIENTS SAVED.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    x, gradient, saved = (
        safetensors_file.read(path)[name].values for path, name in zip(sys.argv[1:4], ("x", "w", "w"))
    )
    for out in range(4):
        for into in range(6):
            at, wanted = out * 6 + into, (out + 1) * sum(x[b * 6 + into] for b in range(3))
            if abs(gradient[at] - wanted) > 1e-5:
                sys.exit(f"the gradient of w[{out}, {into}] is {gradient[at]}, expected {wanted}")
            if abs(saved[at] - (10 * out + into - wanted)) > 1e-5:
                sys.exit(f"w[{out}, {into}] is {saved[at]}, expected {10 * out + into - wanted}")
    print("24 elements as expected")


if __name__ == "__main__":
    main()
