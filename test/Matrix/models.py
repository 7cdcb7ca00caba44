# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The models of the matrix: how each is made, and the bound of its integer
# inputs. The tests pairwise-*.test make the same.

MODELS = {
    "chain8": (["chain8", "--rows", "24"], 1),
    "skip": (None, 1),  # Inputs/skip.mlir
    "gpt2": (["gpt2", "--untied", "--layers", "6", "--hidden", "16", "--heads", "2", "--vocab", "32",
              "--batch", "24", "--seq", "8", "--dropout", "0.1"], 32),
    "gpt2_tied": (["gpt2", "--layers", "6", "--hidden", "16", "--heads", "2", "--vocab", "32",
                   "--batch", "24", "--seq", "8"], 32),
}
