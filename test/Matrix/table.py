# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every cell of the matrix, one process for each model, and writes the
# table: for each schedule, number of coordinates and of chunks what came of all
# micro-batches, recomputations and models.

import argparse
import collections
import concurrent.futures
import datetime
import pathlib
import re
import subprocess
import sys
import tempfile

from models import MODELS

HERE = pathlib.Path(__file__).resolve().parent


def run_model(build, folder, name):
    flags, below = MODELS[name]
    model = folder / (name + ".mlir")
    if flags is None:
        model = HERE / "Inputs" / (name + ".mlir")
    else:
        subprocess.run([build / "bin" / "piper-model", *flags, "-o", model], check=True)
    cells = folder / (name + ".cells")
    with open(cells, "w") as out:
        subprocess.run([sys.executable, HERE / "cells.py", "--model", name, "--all"], check=True, stdout=out)
    run = subprocess.run([build / "bin" / "piper-check-cells", model, f"--cells={cells}", f"--below={below}"],
                         capture_output=True, text=True)
    lines = run.stdout.splitlines()
    if not lines or not re.fullmatch(r"\d+ match, \d+ refused, \d+ wrong", lines[-1]):
        raise SystemExit(f"{name}: {run.stderr}")
    return lines[:-1]


def settings(line):
    return dict(re.findall(r"([a-z-]+)=(\S+?)(?::? |:?$)", line))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default="build")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    build = options.build.resolve()
    rows = collections.defaultdict(collections.Counter)
    rules, wrong, total = {}, [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda name: run_model(build, pathlib.Path(folder), name), MODELS):
            for line in lines:
                cell = settings(line)
                verdict = line.split(" ")[0]
                key = (cell["schedule"], cell["chunks"], cell["pipeline-parallel"])
                rows[key][verdict] += 1
                total[verdict] += 1
                if verdict == "WRONG":
                    wrong.append(line)
                if verdict == "refused":
                    rule = re.search(r"needs ([^;]*?) but got|are (more than the [^:]*? segments)", line)
                    rules.setdefault(key, set()).add(
                        (rule.group(1) or rule.group(2)) if rule else line.split(": ", 1)[1])

    ranks = sorted({key[2] for key in rows}, key=int)
    text = [
        "# What runs: schedules, sizes, models",
        "",
        f"Made by `scripts/matrix.sh` on {datetime.date.today()}: {total['MATCH']} combinations MATCH one device on loss, raw gradients and",
        f"parameters over three steps, {total['refused']} are refused before they run, {total['WRONG']} are wrong. Where stages have one copy the bits are",
        "those of one device with as many micro-batches.",
        "",
        "Micro-batches 1, 2, 3, 4, 6, 8, 12 of a batch of 24; recomputation of no, all and one segment; the models " + ", ".join(MODELS) + "",
        "(`test/Matrix`; eight coordinates with the first two). `cells.py` there lists the combinations and the tool `piper-check-cells` runs them. A number is combinations that MATCH; after a slash those that are refused, by the rule below.",
        "",
        "| schedule | chunks | " + " | ".join(f"P = {p}" for p in ranks) + " |",
        "|---|---|" + "---|" * len(ranks),
    ]
    for schedule, chunks in dict.fromkeys(key[:2] for key in rows):
        columns = []
        for p in ranks:
            counts = rows[(schedule, chunks, p)]
            columns.append(f"{counts['MATCH']}" + (f" / {counts['refused']}" if counts["refused"] else "")
                           + (f" **{counts['WRONG']} wrong**" if counts["WRONG"] else ""))
        text.append(f"| {schedule} | {chunks} | " + " | ".join(columns) + " |")
    text += ["", "Rules of what is refused:", ""]
    by_rule = collections.defaultdict(set)
    for (schedule, chunks, p), texts in rules.items():
        for rule in texts:
            by_rule[rule].add(schedule)
    for rule in sorted(by_rule):
        text.append(f"- {', '.join(sorted(by_rule[rule]))}: {rule}")
    # What stands behind the table was not counted here.
    old = options.output.read_text() if options.output.exists() else ""
    behind = old[old.find("\n## "):] if "\n## " in old else ""
    options.output.write_text("\n".join(text) + "\n" + behind)
    for line in wrong:
        print(line)
    print(f"{total['MATCH']} match, {total['refused']} refused, {total['WRONG']} wrong")
    raise SystemExit(1 if wrong else 0)


main()
