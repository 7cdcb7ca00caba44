# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that each function of a model has exactly the parameters of a weights file:
# names and shapes. Usage: check-parameters.py MODEL.mlir WEIGHTS.safetensors

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "oracle"))
import safetensors_file

text = open(sys.argv[1]).read()
want = {name: "x".join(map(str, t.shape)) for name, t in safetensors_file.read(sys.argv[2]).items()}
for function in text.split("func.func")[1:]:
    name = re.match(r" @(\w+)", function).group(1)
    pairs = re.findall(r"tensor<([\dx]+)xf\d+> {piper.param = #piper.param<\"([^\"]+)\"", function)
    got = {parameter: shape for shape, parameter in pairs}
    assert len(got) == len(pairs), f"@{name} declares a parameter twice"
    assert got == want, f"@{name} differs: {sorted(set(got.items()) ^ set(want.items()))}"
    print(f"@{name}: {len(got)} parameters match")
