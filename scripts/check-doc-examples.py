#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that the examples of the documentation parse. Reads Markdown files (or
# all below a folder), takes each ```mlir block, and each `#piper.x<..>` in
# running text, and gives it to piper-opt.
#
# Loose ops are put into a function whose arguments are the operands that the
# block does not define, with the types that the ops themselves state.

import argparse
import os
import re
import subprocess
import sys

OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def split_at_top(text, separator):
    """Splits `text` where `separator` stands outside brackets and strings."""
    pieces, depth, start, quoted = [], 0, 0, False
    for at, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        if quoted or text.startswith("->", at) or text.startswith("->", at - 1):
            continue
        if char in OPENING:
            depth += 1
        elif char in OPENING.values():
            depth -= 1
        elif char == separator and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return pieces + [text[start:]]


def operand_types(op):
    """The operands of one op without regions, as (name, type) pairs."""
    *head, type_text = split_at_top(op, ":")
    if not head:
        return []
    body = ":".join(head)
    if body.startswith("%"):
        body = body.partition("=")[2]
    names = re.findall(r"%[\w$.-]+", body)
    arguments, arrow, _ = type_text.strip().partition("->")
    if arrow:
        types = [t.strip() for t in split_at_top(arguments.strip()[1:-1], ",") if t.strip()]
    else:
        types = [type_text.strip()] * len(names)
    if len(names) != len(types):
        raise ValueError(f"{len(names)} operands but {len(types)} types in: {op.strip()}")
    return list(zip(names, types))


def split_ops(block):
    """The ops of a block of loose ops; an indented line continues the op above."""
    ops = []
    for line in block.splitlines():
        code = re.sub(r"//.*", "", line).rstrip()
        if not code:
            continue
        if ops and code.startswith(" "):
            ops[-1] += "\n" + code
        else:
            ops.append(code)
    return ops


def wrap(block):
    """A module that holds the block."""
    if re.match(r"\s*(module|func\.func|piper\.(program|mesh)|[#!]\w+ = )", re.sub(r"//.*", "", block)):
        return block
    arguments, defined = {}, set()
    for op in split_ops(block):
        for name, type_text in operand_types(op):
            if name not in defined:
                arguments.setdefault(name, type_text)
        results = re.match(r"((%[\w$.-]+(:\d+)?,?\s*)+)=", op)
        if results:
            defined.update(re.findall(r"%[\w$.-]+", results.group(1)))
    signature = ", ".join(f"{name}: {type_text}" for name, type_text in arguments.items())
    return f"func.func @example({signature}) {{\n{block}\nreturn\n}}\n"


def examples(path):
    """The examples of a file: line, text, and the module that holds it."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    at = 0
    while at < len(lines):
        opened = re.match(r"( *)```(\w*)", lines[at])
        if not opened:
            for text in re.findall(r"`(#piper\.[^`]*)`", lines[at]):
                if not text.endswith("<..>"):
                    yield at + 1, text, f"module attributes {{example.a = {text}}} {{}}\n"
            at += 1
            continue
        indent, start = len(opened.group(1)), at + 1
        at = start
        while at < len(lines) and not lines[at].strip().startswith("```"):
            at += 1
        block = "\n".join(line[indent:] for line in lines[start:at])
        if opened.group(2) == "mlir":
            yield start + 1, block, wrap(block)
        at += 1


def markdown_files(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".md"))


def check(opt, module):
    """The complaint of piper-opt, or nothing."""
    command = [opt, "--allow-unregistered-dialect", "--split-input-file", "--verify-roundtrip", "-o", os.devnull]
    done = subprocess.run(command, input=module, text=True, capture_output=True, check=False)
    if done.returncode == 0:
        return ""
    return done.stderr.strip() or f"{opt} ended with {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description="Checks that the examples of the documentation parse.")
    parser.add_argument("paths", nargs="+", help="Markdown files, or folders of them")
    parser.add_argument("--opt", default="piper-opt", help="the tool that parses")
    parser.add_argument("--every-op", action="store_true", help="each op that has a heading must stand in an example")
    options = parser.parse_args()

    found, headings = [], set()
    for path in markdown_files(options.paths):
        with open(path, encoding="utf-8") as file:
            headings.update(re.findall(r"^#+ `(piper\.\w+)`", file.read(), re.MULTILINE))
        found += [(path, *example) for example in examples(path)]

    failures = 0
    # One run for all; only if it fails, one for each to say which.
    if check(options.opt, "\n// -----\n".join(module for *_, module in found)):
        for path, line, text, module in found:
            complaint = check(options.opt, module)
            if complaint:
                failures += 1
                print(f"{path}:{line}: the example does not parse:\n{text}\n{complaint}")
    shown = "\n".join(text for _, _, text, _ in found)
    if options.every_op:
        for op in sorted(headings):
            if not re.search(rf"\b{re.escape(op)}\b", shown):
                failures += 1
                print(f"{op}: no example")
    print(f"{len(found)} examples of {len(headings)} ops, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
