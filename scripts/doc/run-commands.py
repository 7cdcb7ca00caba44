#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the commands of Markdown pages: each ```sh block, in order, in one empty
# folder per page, with the tools on the PATH and PIPER naming the source tree.
# A block opened by ```sh no-run is left out. A ```text block that follows a block
# directly and is opened by ```text output must be what it printed on stdout
# and stderr: there a line `...` stands for any lines, and `...` in a line for any text.

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^( *)```(sh|text output)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def blocks(text):
    """(line, commands, expected output or None) of each block to run."""
    found = []
    for match in BLOCK.finditer(text):
        indent, kind, body = match.groups()
        body = "".join(line[len(indent):] for line in body.splitlines(True))
        line = text.count("\n", 0, match.start()) + 1
        if kind == "sh":
            found.append([line, body, None])
        elif found:
            found[-1][2] = body
    return found


def matches(expected, actual):
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, actual if actual.endswith("\n") else actual + "\n") is not None


def run_page(path, tools):
    """Runs a page; returns the number of blocks and what went wrong."""
    environment = dict(os.environ, PIPER=str(ROOT), PATH=f"{tools}:{os.environ['PATH']}")
    found = blocks(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for line, commands, expected in found:
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", check=False)
            where = f"{path}:{line}: "
            if done.returncode:
                return len(found), f"{where}ended with {done.returncode}:\n{commands}{done.stdout}"
            if expected is not None and not matches(expected, done.stdout):
                return len(found), f"{where}printed\n{done.stdout}but the page says\n{expected}"
    return len(found), ""


def main():
    parser = argparse.ArgumentParser(description="Runs the commands of Markdown pages.")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--opt", default=str(ROOT / "build" / "bin" / "piper-opt"),
                        help="piper-opt; the other tools are those beside it")
    options = parser.parse_args()
    failures = 0
    for page in options.pages:
        count, problem = run_page(page.resolve(), pathlib.Path(options.opt).resolve().parent)
        failures += bool(problem)
        print(problem if problem else f"{page}: {count} blocks ran")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
