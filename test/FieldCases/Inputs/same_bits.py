# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tensors that a run left alone: same_bits.py [--others] A B NAME... The named tensors
# must have the same bits in A and B, and no others that both files have, unless
# --others may.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    arguments = [text for text in sys.argv[1:] if text != "--others"]
    a, b = (safetensors_file.read(path) for path in arguments[:2])
    names = sorted(arguments[2:])
    same = sorted(n for n in a if n in b and a[n].values.tobytes() == b[n].values.tobytes())
    print(f"the same bits: {same}")
    sys.exit(0 if same == names or ("--others" in sys.argv and set(names) <= set(same)) else 1)


if __name__ == "__main__":
    main()
