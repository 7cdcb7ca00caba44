# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: exchanged_types.py INPUTS OUTPUTS GRADIENTS: checks outputs and gradients of
# exchanged-types.mlir against the last step of its inputs. Its loss adds, over all rows,
#   (sum of x) gain.x + 4 (table[place] + (set flags) gain.mask) + (set flags) place gain.last

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def last_step(tensor):
    return list(tensor.values[-(len(tensor.values) // tensor.shape[0]) :])


def main():
    inputs, outputs, gradients = (safetensors_file.read(path) for path in sys.argv[1:4])
    x, place, flag = (last_step(inputs[name]) for name in ("x", "place", "flag"))
    for name, dtype, wanted in (("x", "F32", x), ("row", "I32", place), ("mask", "BOOL", flag)):
        if outputs[name].dtype != dtype or list(outputs[name].values) != wanted:
            sys.exit(f"'{name}' came back as {outputs[name].dtype} {list(outputs[name].values)}, expected {wanted}")
    flags = [sum(flag[6 * row : 6 * row + 6]) for row in range(4)]
    wanted = {
        "gain.x": [sum(x)],
        "table": [4 * place.count(row) for row in range(5)],
        "gain.mask": [4 * sum(flags)],
        "gain.last": [sum(f * p for f, p in zip(flags, place))],
    }
    if sorted(gradients) != sorted(wanted):
        sys.exit(f"gradients of {sorted(gradients)}, expected {sorted(wanted)}")
    for name, values in wanted.items():
        if any(abs(a - b) > 1e-5 for a, b in zip(gradients[name].values, values, strict=True)):
            sys.exit(f"the gradient of '{name}' is {list(gradients[name].values)}, expected {values}")
    print("3 outputs and 4 gradients as expected")


if __name__ == "__main__":
    main()
