# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A reader and a writer of safetensors files with the standard library only, so
# that tests on a machine without numpy can look into them. Format: 8 bytes
# little-endian header length, JSON header, data.
# Source: https://github.com/huggingface/safetensors#format

import array
import json
import math
import struct

# dtype -> (bytes of an element, array typecode). A BF16 is read as its 16 bits; F16 is not needed here.
_TYPES = {
    "F64": (8, "d"), "F32": (4, "f"), "BF16": (2, "H"), "I64": (8, "q"), "I32": (4, "i"),
    "U8": (1, "B"), "BOOL": (1, "B"),
}


class Tensor:
    """dtype as the file names it, shape as a tuple, values as a flat row-major array."""

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, tuple(shape), values


def read(path):
    """{name: Tensor} of a file; ValueError if it is not a well-formed one."""
    with open(path, "rb") as file:
        blob = file.read()
    if len(blob) < 8:
        raise ValueError(f"{path}: shorter than the 8 bytes of its header length")
    (length,) = struct.unpack("<Q", blob[:8])
    if 8 + length > len(blob):
        raise ValueError(f"{path}: a header of {length} bytes does not fit in the file")
    header = json.loads(blob[8 : 8 + length])
    header.pop("__metadata__", None)
    data, tensors = blob[8 + length :], {}
    for name, entry in header.items():
        if entry["dtype"] not in _TYPES:
            raise ValueError(f"{path}: '{name}' has type {entry['dtype']}, which this reader does not know")
        size, code = _TYPES[entry["dtype"]]
        begin, end = entry["data_offsets"]
        if end > len(data) or end - begin != size * math.prod(entry["shape"]):
            raise ValueError(f"{path}: '{name}' has offsets {begin}..{end}, which do not fit its shape or the file")
        tensors[name] = Tensor(entry["dtype"], entry["shape"], array.array(code, data[begin:end]))
    return tensors


def write(path, tensors):
    """Writes {name: Tensor}, in the order given."""
    header, at = {}, 0
    for name, tensor in tensors.items():
        bytes_ = len(tensor.values) * tensor.values.itemsize
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [at, at + bytes_]}
        at += bytes_
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.values.tobytes())
