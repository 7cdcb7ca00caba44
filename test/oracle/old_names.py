#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rewrites a GPT-2 weights file as the first releases stored it: names without
# `transformer.`, and beside them each layer's causal mask as `h.N.attn.bias` and
# `h.N.attn.masked_bias`. Usage: old_names.py NEW.safetensors OLD.safetensors

import array
import sys

import safetensors_file
from safetensors_file import Tensor


def main():
    new, old = sys.argv[1:3]
    tensors = {n.removeprefix("transformer."): t for n, t in safetensors_file.read(new).items()}
    size = tensors["wpe.weight"].shape[0]
    mask = array.array("f", (float(k <= q) for q in range(size) for k in range(size)))
    for name in [n for n in tensors if n.endswith(".attn.c_attn.weight")]:
        attn = name.removesuffix("c_attn.weight")
        tensors[attn + "bias"] = Tensor("F32", (1, 1, size, size), mask)
        tensors[attn + "masked_bias"] = Tensor("F32", (), array.array("f", [-1e4]))
    safetensors_file.write(old, tensors)


if __name__ == "__main__":
    main()
