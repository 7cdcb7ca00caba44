# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lists the values of the tensors of a safetensors file, by name, with a reader
# that shares nothing with Piper's.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file

for name, tensor in sorted(safetensors_file.read(sys.argv[1]).items()):
    print(name, list(tensor.values))
