# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tensors that a run left alone: same_bits.py A B NAME... The named tensors, and no
# others of those that both files have, must have the same bits in A and B.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    a, b = (safetensors_file.read(path) for path in sys.argv[1:3])
    names = sorted(sys.argv[3:])
    same = sorted(n for n in a if n in b and a[n].values.tobytes() == b[n].values.tobytes())
    print(f"the same bits: {same}")
    sys.exit(0 if same == names else 1)


if __name__ == "__main__":
    main()
