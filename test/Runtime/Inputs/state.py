# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares two files of --save or --save-state bit by bit, but for tensors named:
#   state.py A B [NAME=X ...]
# A[NAME] must be X where given, and is then not compared; every tensor must be in
# both files. Prints the tensors that differ and exits with 1 if there is one.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    a, b = (safetensors_file.read(path) for path in sys.argv[1:3])
    wanted = dict(text.split("=") for text in sys.argv[3:])
    if a.keys() != b.keys():
        sys.exit(f"state: only one file has {sorted(a.keys() ^ b.keys())}")
    wrong = []
    for name, tensor in a.items():
        if name in wanted:
            if list(tensor.values) != [float(wanted[name])]:
                wrong.append(f"{name} is {list(tensor.values)}, expected {wanted[name]}")
        elif (tensor.dtype, tensor.shape, tensor.values.tobytes()) != (
            b[name].dtype, b[name].shape, b[name].values.tobytes()
        ):
            wrong.append(f"{name} differs")
    for line in wrong:
        print(f"state: {line}")
    print(f"{len(a) - len(wrong)} of {len(a)} as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
