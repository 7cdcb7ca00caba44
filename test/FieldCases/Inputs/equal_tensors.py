# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: equal_tensors.py A B [C D ..]: the two files of each pair have tensors of the
# same names, types, shapes and bits, in whatever order they are stored.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def compare(*paths):
    a, b = (
        {n: (t.dtype, t.shape, t.values.tobytes()) for n, t in safetensors_file.read(path).items()} for path in paths
    )
    if a.keys() != b.keys() or not a:
        sys.exit(f"equal_tensors: {sorted(a)} against {sorted(b)}")
    other = sorted(name for name in a if a[name] != b[name])
    if other:
        sys.exit(f"equal_tensors: other bits in {', '.join(other)}")
    print(f"{len(a)} equal tensors")


if __name__ == "__main__":
    for first in range(1, len(sys.argv), 2):
        compare(*sys.argv[first : first + 2])
