# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Copies a safetensors file without its metadata:
#   drop_metadata.py FROM TO

import json
import struct
import sys

blob = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", blob[:8])
header = json.loads(blob[8 : 8 + length])
del header["__metadata__"]
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + blob[8 + length :])
