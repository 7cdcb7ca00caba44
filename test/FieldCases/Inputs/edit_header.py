# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Copies a safetensors file with bytes put before its header (with \x escapes) and
# text put behind the header's first brace:
#   edit_header.py FROM TO BEFORE [INSIDE]

import struct
import sys

blob = open(sys.argv[1], "rb").read()
before = sys.argv[3].encode().decode("unicode_escape").encode("latin-1")
inside = sys.argv[4].encode() if len(sys.argv) > 4 else b""
(length,) = struct.unpack("<Q", blob[:8])
header = before + b"{" + inside + blob[9 : 8 + length]
open(sys.argv[2], "wb").write(struct.pack("<Q", len(header)) + header + blob[8 + length :])
