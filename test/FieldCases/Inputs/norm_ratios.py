# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: norm_ratios.py GRADIENTS REFERENCE: the norm of each gradient as a share of
# that of the reference, by name.

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    actual, reference = (
        {name: math.sqrt(sum(v * v for v in tensor.values)) for name, tensor in safetensors_file.read(path).items()}
        for path in sys.argv[1:3]
    )
    if actual.keys() != reference.keys():
        sys.exit(f"norm_ratios: {sorted(actual)} against {sorted(reference)}")
    for name in sorted(reference):
        print(f"{name} {actual[name] / reference[name]:.5f}")


if __name__ == "__main__":
    main()
