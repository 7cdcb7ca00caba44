# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Edits a safetensors file for tests: edit.py IN OUT EDIT... Edits, in order:
#   NAME[I]=X       element I (flat) of a tensor becomes X: a number, inf or nan
#   NAME[A:B]=X     elements A to B - 1
#   drop NAME       the tensor goes
#   rename A B      the tensor A is called B
#   copy A B        B is a copy of A
#   steps A,B,...   keeps these steps (first dimension) of all tensors, in order
#   shape NAME A,B  another shape with as many elements

import array
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file
from safetensors_file import Tensor


def keepSteps(tensor, steps):
    size = len(tensor.values) // tensor.shape[0]
    values = array.array(tensor.values.typecode)
    for step in steps:
        values.extend(tensor.values[step * size : (step + 1) * size])
    return Tensor(tensor.dtype, (len(steps), *tensor.shape[1:]), values)


def assign(tensors, name, begin, end, text):
    values = tensors[name].values
    number = float(text) if values.typecode in "fd" else int(text)
    for i in range(int(begin), int(end or int(begin) + 1)):
        values[i] = number


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    tensors = safetensors_file.read(sys.argv[1])
    for edit in sys.argv[3:]:
        if match := re.fullmatch(r"(.+)\[(\d+)(?::(\d+))?\]=(.+)", edit):
            assign(tensors, *match.groups())
            continue
        word, *rest = edit.split()
        if word == "drop":
            del tensors[rest[0]]
        elif word == "rename":
            tensors = {rest[1] if n == rest[0] else n: t for n, t in tensors.items()}
        elif word == "copy":
            tensors[rest[1]] = tensors[rest[0]]
        elif word == "steps":
            tensors = {n: keepSteps(t, numbers(rest[0])) for n, t in tensors.items()}
        elif word == "shape":
            tensors[rest[0]].shape = tuple(numbers(rest[1]))
        else:
            sys.exit(f"edit: unknown edit '{edit}'")
    safetensors_file.write(sys.argv[2], tensors)


if __name__ == "__main__":
    main()
