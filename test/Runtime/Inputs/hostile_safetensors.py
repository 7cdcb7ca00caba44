# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Spoils a safetensors file in many ways and gives each to a command as the word FILE:
#   hostile_safetensors.py GOOD FOLDER KEPT COMMAND...
# The command must accept the good file, and refuse all others with one error, exit
# status 1, and the file KEPT untouched. Prints each error.

import json
import os
import struct
import subprocess
import sys


def build(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def spoiledFiles(blob):
    (length,) = struct.unpack("<Q", blob[:8])
    header, data = json.loads(blob[8 : 8 + length]), blob[8 + length :]
    header.pop("__metadata__", None)
    first, second = list(header)[:2]

    def changed(name, **fields):
        return build({**header, name: {**header[name], **fields}}, data)

    begin, end = header[first]["data_offsets"]
    yield "empty", b""
    yield "five-bytes", blob[:5]
    yield "header-cut", blob[: 8 + length // 2]
    yield "data-cut", blob[:-1]
    yield "data-missing", blob[: 8 + length]
    yield "data-after", blob + b"x"
    yield "header-over-100-MB", struct.pack("<Q", 100_000_001) + blob[8:]
    yield "header-of-2^63", struct.pack("<Q", 1 << 63) + blob[8:]
    yield "header-empty", build(b"", data)
    yield "header-no-json", build(b"{]", data)
    yield "header-list", build(b"[]", data)
    yield "header-not-utf8", build(b'{"\xff\xfe": 3}', data)
    yield "header-deep", build(b'{"a":' + b"[" * 100_000, data)
    yield "header-twice", build(
        json.dumps(header).encode()[:-1] + b"," + json.dumps({first: header[first]}).encode()[1:], data
    )
    yield "entry-number", build({**header, first: 3}, data)
    yield "entry-without-offsets", build({**header, first: {"dtype": "F32", "shape": []}}, data)
    yield "type-unknown", changed(first, dtype="F33")
    yield "type-number", changed(first, dtype=32)
    yield "shape-negative", changed(first, shape=[-1])
    yield "shape-fraction", changed(first, shape=[1.5])
    yield "shape-overflow", changed(first, shape=[1 << 32, 1 << 32, 1 << 32])
    yield "shape-smaller", changed(first, shape=[1])
    yield "offsets-overlap", changed(second, data_offsets=[begin, end])
    yield "offsets-out-of-file", changed(first, data_offsets=[len(data), len(data) + end - begin])
    yield "offsets-backwards", changed(first, data_offsets=[end, begin])
    yield "offsets-negative", changed(first, data_offsets=[-8, end - begin - 8])
    yield "offsets-huge", changed(first, data_offsets=[1 << 62, (1 << 62) + end - begin])
    yield "offsets-one", changed(first, data_offsets=[begin])
    yield "offsets-text", changed(first, data_offsets=["0", "8"])
    yield "hole", build(
        {n: {**e, "data_offsets": [o + 8 for o in e["data_offsets"]]} for n, e in header.items()}, b"x" * 8 + data
    )


def main():
    good, folder, kept, *command = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "file.safetensors")

    def run(blob):
        with open(path, "wb") as file:
            file.write(blob)
        with open(kept, "w") as file:
            file.write("kept")
        done = subprocess.run([path if w == "FILE" else w for w in command], capture_output=True, timeout=60)
        with open(kept, "rb") as file:
            return done.returncode, done.stderr.decode(errors="replace"), file.read() == b"kept"

    with open(good, "rb") as file:
        blob = file.read()
    status, errors, untouched = run(blob)
    if status != 0 or untouched:
        sys.exit(f"hostile_safetensors: the good file fails: {errors}")
    wrong = 0
    for name, spoiled in spoiledFiles(blob):
        status, errors, untouched = run(spoiled)
        found = [line for line in errors.splitlines() if "error: " in line]
        if status == 1 and len(found) == 1 and untouched:
            print(f"{name}: {found[0].split('error: ', 1)[1].replace(path, 'FILE')}")
        else:
            wrong += 1
            print(f"{name}: WRONG, status {status}, {errors.strip()}")
    print(f"{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
