#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the generated parts of the documentation: the reference pages, and in
# all other pages the fenced blocks that stand below a comment of one of these
# forms (see docs/README.md). With --check it changes nothing and fails where a
# page is not what it would write, or a link leads nowhere.

import argparse
import difflib
import pathlib
import re
import subprocess
import sys

import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 116

# The comment, and the fenced block below it.
GENERATED = re.compile(r"<!-- (output|file): (.*?) -->\n(```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)

# What `hide` leaves out of a line of IR: a pattern and what takes its place.
HIDDEN = {"types": (r"^( *%\S+ = .*?) : \(.*", r"\1"), "tags": (r" tags = <[^>]*>", "")}


class Problem(Exception):
    """What a person must mend."""


def wrap(line):
    """A long line of IR as several: it still parses, and fits a page."""
    indent = re.match(r" *", line).group()
    lines = []
    if len(line) > WIDTH and re.match(r" *(func\.func|piper\.entry)", line):
        # A signature: an argument a line, and the results.
        head, *arguments = re.split(r"(?<=[(,]) ?(?=%arg\d)", line)
        last, *results = re.split(r"(?<=\)) (?=-> )", arguments.pop())
        return [head] + [part for argument in [*arguments, last, *results]
                         for part in wrap(f"{indent}    {argument}")]
    operands, colon, types = line.partition(" : (")
    if len(line) > WIDTH and operands.strip() and colon and len(operands) <= WIDTH:
        return [operands] + wrap(f"{indent}    : ({types}")
    head, place, offsets = line.partition(" workspace = ")
    if len(line) > WIDTH and place and len(head) <= WIDTH:
        return [head] + wrap(f"{indent}    {place.strip()} {offsets}")
    while len(line) > WIDTH:
        at = max(line.rfind(text, len(indent) + 8, WIDTH) + skip
                 for text, skip in ((", ", 2), (" : ", 1), (" -> ", 1), (" attributes ", 1), ("{", 0)))
        if at <= len(indent) + 8:
            break
        lines.append(line[:at].rstrip())
        line = indent + "    " + line[at:]
    return lines + [line]


def keep_symbols(lines, names):
    """The functions, entry points and programs of these names, in order of the names."""
    kept = []
    for name in names:
        start = next((i for i, line in enumerate(lines)
                      if re.match(rf"\s*(func\.func|piper\.entry|piper\.program)\b[^@]*{re.escape(name)}\b", line)), None)
        if start is None:
            raise Problem(f"nothing is named {name}")
        indent = re.match(r" *", lines[start]).group()
        end = next(i for i in range(start, len(lines)) if lines[i] == indent + "}")
        kept += [line[len(indent):] for line in lines[start:end + 1]]
    return kept


def keep_lines(lines, first, last):
    """From the first line with a match of `first` to the next with one of `last`."""
    start = next((i for i, line in enumerate(lines) if re.search(first, line)), None)
    if start is None:
        raise Problem(f"no line matches '{first}'")
    end = next((i for i in range(start, len(lines)) if re.search(last, lines[i])), None)
    if end is None:
        raise Problem(f"no line after '{first}' matches '{last}'")
    indent = len(re.match(r" *", lines[start]).group())
    return [line[min(indent, len(line) - len(line.lstrip())):] for line in lines[start:end + 1]]


def select(lines, options):
    """Applies `keep: @a @b` or `lines: "FIRST" .. "LAST"` (regular expressions)."""
    if "keep" in options:
        return keep_symbols(lines, options["keep"].split())
    if "lines" in options:
        bounds = re.fullmatch(r'"(.*)" \.\. "(.*)"', options["lines"])
        if not bounds:
            raise Problem(f"expects \"FIRST\" .. \"LAST\" but got {options['lines']}")
        return keep_lines(lines, *bounds.groups())
    return lines


def command_output(command, tools):
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "PIPER": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"'{command}' ended with {done.returncode}: {done.stderr}")
    return done.stdout


def block_text(kind, what, tools):
    """What belongs into the block below a comment."""
    command, *rest = [line.strip() for line in what.splitlines()]
    options = dict(line.split(": ", 1) for line in rest)
    if kind == "output":
        text = command_output(command, tools)
    else:
        text = (ROOT / command).read_text(encoding="utf-8")
    lines = select(text.splitlines(), options)
    for part in options.get("hide", "").split():
        lines = [re.sub(*HIDDEN[part], line) for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    if kind == "output":
        lines = [part for line in lines for part in wrap(line)]
    return "\n".join(lines) + "\n"


def regenerate(text, tools):
    def replace(match):
        kind, what, fence, _, close = match.groups()
        return f"<!-- {kind}: {what} -->\n{fence}{block_text(kind, what, tools)}{close}"
    return GENERATED.sub(replace, text)


def pages(options):
    """Every page with generated parts: path and new text."""
    for name, make in (("dialect.md", reference.dialect), ("passes.md", reference.passes)):
        yield ROOT / "docs" / "reference" / name, make(ROOT, options)
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.parent.name == "reference" or not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        if GENERATED.search(text):
            try:
                yield path, regenerate(text, options.tools)
            except Problem as problem:
                raise Problem(f"{path.relative_to(ROOT)}: {problem}") from problem


def anchors(path):
    """The names by which GitHub knows the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links():
    """Links of the pages to files and headings that are not there."""
    for path in [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            if "://" in link or target.exists() and (not anchor or anchor in anchors(target)):
                continue
            yield f"{path.relative_to(ROOT)}: nothing is at '{link}'"


def main():
    parser = argparse.ArgumentParser(description="Writes the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a page is out of date")
    parser.add_argument("--opt", default=str(ROOT / "build" / "bin" / "piper-opt"),
                        help="piper-opt; the other tools are those beside it")
    parser.add_argument("--tblgen", default="/usr/lib/llvm-22/bin/mlir-tblgen")
    parser.add_argument("--mlir-include", default="/usr/lib/llvm-22/include")
    options = parser.parse_args()
    options.tools = pathlib.Path(options.opt).resolve().parent
    stale = 0
    try:
        for path, text in pages(options):
            old = path.read_text(encoding="utf-8") if path.exists() else ""
            if old == text:
                continue
            stale += 1
            name = str(path.relative_to(ROOT))
            if options.check:
                sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), name, "now", n=1))
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                print(f"wrote {name}")
    except Problem as problem:
        print(f"update-docs: error: {problem}", file=sys.stderr)
        return 1
    broken = list(broken_links()) if options.check else []
    for link in broken:
        print(link, file=sys.stderr)
    if broken:
        return 1
    if options.check and stale:
        print(f"{stale} pages are out of date: run scripts/doc/update-docs.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
