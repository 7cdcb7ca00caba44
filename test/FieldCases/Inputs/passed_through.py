# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks outputs and gradients of field-K04.mlir against the last step of its inputs:
#   passed_through.py INPUTS OUTPUTS GRADIENTS

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    inputs, outputs, gradients = (safetensors_file.read(path) for path in sys.argv[1:4])
    last = {}
    for name in ("x", "row", "mask"):
        tensor = inputs[name]
        last[name] = tensor.values[-(len(tensor.values) // tensor.shape[0]) :]
        back = outputs[name]
        if (back.dtype, back.shape) != (tensor.dtype, tensor.shape[1:]) or back.values != last[name]:
            sys.exit(f"'{name}' came back as {back.dtype} {back.shape} {list(back.values)}")
    uses = [float(list(last["row"]).count(row)) for row in range(5)]
    if list(gradients["table"].values) != uses:
        sys.exit(f"the gradient of the table is {list(gradients['table'].values)}, expected {uses}")
    for name, wanted in (("gain.x", sum(last["x"])), ("gain.mask", sum(last["mask"]))):
        if abs(gradients[name].values[0] - wanted) > 1e-5:
            sys.exit(f"the gradient of '{name}' is {gradients[name].values[0]}, expected {wanted}")
    print("3 inputs came back, 3 gradients as expected")


if __name__ == "__main__":
    main()
