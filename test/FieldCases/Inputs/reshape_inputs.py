# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Copies a file of inputs of equal shapes with the same numbers in another shape, from a step on:
#   reshape_inputs.py FROM TO STEPS,ROWS,.. [FIRST]

import json
import struct
import sys

source, target, shape = sys.argv[1:4]
shape = [int(size) for size in shape.split(",")]
first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
blob = open(source, "rb").read()
(length,) = struct.unpack("<Q", blob[:8])
header, data = json.loads(blob[8 : 8 + length]), blob[8 + length :]
header.pop("__metadata__", None)
out = b""
for entry in header.values():
    begin, end = entry["data_offsets"]
    part = data[begin + (end - begin) // shape[0] * first : end]
    entry["shape"] = [shape[0] - first] + shape[1:]
    entry["data_offsets"] = [len(out), len(out) + len(part)]
    out += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(target, "wb").write(struct.pack("<Q", len(text)) + text + out)
