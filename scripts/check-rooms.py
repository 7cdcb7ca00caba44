#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the includes of all sources and says which arrows between rooms the
table below does not have.

A room is a folder of lib/Transforms or lib/Runtime. A public header counts as
the room of its .cpp. What a room may read is closed under implication.
"""

import os
import re
import sys

# Each room with the rooms that it may read, from the ground up: a room stands
# behind all that it reads, so that no arrow goes upwards.
ROOMS = {
    "lib/Transforms": {
        "Tasks": [],
        "Model": ["Tasks"],
        "Training": ["Tasks"],
        "Directives": ["Tasks"],
        "Stages": ["Directives"],
        "Split": ["Stages"],
        "Place": ["Split", "Stages"],
        "Order": ["Stages"],
        "Plan": ["Tasks", "Directives"],
    },
    "lib/Runtime": {
        "Program": [],
        "Files": ["Program"],
        "Check": ["Program"],
        "Clock": ["Check", "Files"],
        "CPU": ["Program"],
        "CPU/Kernels": ["CPU"],
        "Execute": ["Check", "Clock"],
        "Data": ["Execute", "Files", "Check"],
        "Report": ["Execute", "Clock"],
        "Train": ["Data", "Report"],
        "Run": ["Train"],
    },
}

# Public headers without a .cpp of their name.
HEADERS = {
    "Kernel": "Program",
    "Random": "Program",
    "Device": "Program",
    "Data": "Data",
    "Files": "Files",
}


def close(table):
    """Every room with all that it may read, directly or through others."""
    closed = {}
    for room, reads in table.items():
        unknown = [name for name in reads if name not in closed]
        if unknown:
            sys.exit(f"room {room} stands before {', '.join(unknown)}")
        closed[room] = {room}.union(*(closed[name] for name in reads))
    return closed


def sources(root, folder):
    for path, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith((".cpp", ".h", ".inc")):
                yield os.path.relpath(os.path.join(path, name), root)


def main():
    root = sys.argv[1]
    wrong = 0
    arrows = set()
    for library, table in ROOMS.items():
        closed = close(table)
        headers = {}
        files = list(sources(root, library))
        for path in files:
            folder = os.path.relpath(os.path.dirname(path), library)
            stem = os.path.splitext(os.path.basename(path))[0]
            if folder != "." and path.endswith(".cpp"):
                headers[stem] = folder
        headers.update(HEADERS)

        def room_of(path, included):
            near = os.path.normpath(os.path.join(os.path.dirname(path), included))
            below = os.path.join(library, included)
            for name in (near, below):
                if os.path.isfile(os.path.join(root, name)) and name.startswith(library + "/"):
                    return folder_of(os.path.relpath(os.path.dirname(name), library))
            prefix = "Piper/" + os.path.basename(library) + "/"
            if included.startswith(prefix):
                rest = included[len(prefix):]
                if "/" in rest:
                    return folder_of(os.path.dirname(rest))
                return headers.get(os.path.splitext(rest)[0])
            return None

        def folder_of(folder):
            while folder and folder not in table:
                folder = os.path.dirname(folder)
            return folder

        for path in files:
            room = folder_of(os.path.relpath(os.path.dirname(path), library))
            if not room:
                continue
            with open(os.path.join(root, path)) as file:
                text = file.read()
            for included in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
                other = room_of(path, included)
                if not other or other == room:
                    continue
                arrows.add((library, room, other))
                if other not in closed[room]:
                    wrong += 1
                    print(f"{path}: room {room} may not read {other} ('{included}')")
    if wrong:
        sys.exit(1)
    print(f"{len(arrows)} arrows between rooms, none upwards")


main()
