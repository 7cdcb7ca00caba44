#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random models, each under random strategies, against numpy: for every seed a
# model and its record (random_model.py), strategies (random_strategy.py), and one run of
# piper-check-cells.
#
#   random_cells.py --build build --seeds 0..59        the line of each fault, then what came of all
#   random_cells.py --build build --seeds 17 --keep D  one seed, its files in D

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import random_model
import random_strategy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
import safetensors_file  # noqa: E402

STRATEGIES = 6
# Of one seed; what takes longer hangs.
SECONDS = 120

FILE_TYPES = {"f8": "F64", "f4": "F32", "i4": "I32", "i8": "I64", "b1": "BOOL"}


def write_tensors(path, arrays):
    tensors = {}
    for name, array in arrays.items():
        array = np.asarray(array, order="C")
        dtype = FILE_TYPES[array.dtype.str[1:]]
        values = safetensors_file.array.array(safetensors_file._TYPES[dtype][1], array.tobytes())
        tensors[name] = safetensors_file.Tensor(dtype, array.shape, values)
    safetensors_file.write(path, tensors)


class Seed:
    def __init__(self, seed, folder, tool):
        self.seed, self.folder, self.tool = seed, folder, tool
        self.model = random_model.RandomModel(seed)
        # The model as it is comes first.
        self.strategies = [random_strategy.Strategy(self.model, seed, at) for at in [None, *range(STRATEGIES)]]

    def write(self):
        self.path = self.folder / f"{self.seed}.mlir"
        self.path.write_text(self.model.text())
        inputs = {f"{entry}.{name}": np.float32(value) if value.dtype.kind == "f" else value
                  for entry, values in self.model.inputs.items() for name, value in values.items()}
        write_tensors(self.folder / f"{self.seed}.inputs", inputs)
        write_tensors(self.folder / f"{self.seed}.reference", self.model.reference)
        self.lines = [strategy.cell(self.folder, f"{self.seed}.{at}") for at, strategy in enumerate(self.strategies)]

    def outputs(self):
        """What the tool says of each line; after a crash it goes on with the next."""
        lines, said = list(self.lines), []
        while lines:
            cells = self.folder / f"{self.seed}.cells"
            cells.write_text("\n".join(lines) + "\n")
            stem = self.folder / str(self.seed)
            command = [self.tool, self.path, f"--cells={cells}", f"--inputs={stem}.inputs",
                       f"--reference={stem}.reference", "--delays=0.05"]
            try:
                run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
                out, end = run.stdout, f"ends with {run.returncode}: {run.stderr.strip()[:200]}"
            except subprocess.TimeoutExpired as timeout:
                out, end = (timeout.stdout or b"").decode(), f"has not ended after {SECONDS} seconds"
            got = [line for line in out.splitlines() if re.match("(MATCH|refused|WRONG) ", line)][:len(lines)]
            said += got
            lines = lines[len(got):]
            if lines:
                said.append(f"WRONG {lines[0].split(' ', 1)[1]}: {end}")
                lines = lines[1:]
        return said

    def run(self):
        """(verdict, rule, text) of each cell."""
        self.write()
        verdicts = []
        for strategy, line, said in zip(self.strategies, self.lines, self.outputs()):
            keys = line.split(" ", 1)[1]
            verdict, problem = said.split(" ", 1)[0], said[said.index(" ") + 1 + len(keys) + 2:]
            rule = ""
            if verdict == "refused":
                rule, why = random_strategy.judge(strategy, problem)
                if why:
                    verdict, problem = "WRONG", f"{why}: {problem}"
            elif verdict == "MATCH":
                broken = random_strategy.must_refuse(strategy)
                if broken:
                    verdict, problem = "WRONG", f"runs, but breaks the rule '{broken[0]}'"
            verdicts.append((verdict, rule, f"{keys}: {problem}"))
        return verdicts


def seeds_of(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("0..59"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the files of the seeds")
    options = parser.parse_args()
    tool = options.build.resolve() / "bin" / "piper-check-cells"
    count, rules, wrong = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for seed, verdicts in zip(options.seeds, pool.map(lambda at: Seed(at, folder, tool).run(), options.seeds)):
            for verdict, rule, text in verdicts:
                count[verdict] += 1
                if verdict == "refused":
                    rules[rule] += 1
                if verdict == "WRONG":
                    print(f"WRONG seed {seed}: {text}", flush=True)
            if any(verdict == "WRONG" for verdict, _, _ in verdicts):
                print(f"  again: {sys.executable} {pathlib.Path(__file__).resolve()} --build {options.build.resolve()} "
                      f"--seeds {seed} --keep seed{seed}", flush=True)
    for rule, times in sorted(rules.items()):
        print(f"refused {times}: {rule}")
    print(f"{count['MATCH']} match, {count['refused']} refused, {count['WRONG']} wrong")
    sys.exit(1 if count["WRONG"] or not count["MATCH"] else 0)


if __name__ == "__main__":
    main()
