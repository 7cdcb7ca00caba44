# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The compile benchmark: from a GPT-2 of small tensors to the verified plan of a
# deep pipeline as bytecode. Prints the user time and memory of piper-opt.
#
#   run.py [--build build] [--cases 8x64,16x64,64x512] [--schedule zb_h1] [--passes]

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path


def measure(command):
    """User seconds, megabytes at the peak and stderr of a command."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(word) for word in command], stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        errors.seek(0)
        text = errors.read()
    if status:
        raise SystemExit(f"{command[0]} failed:\n{text}")
    return usage.ru_utime, usage.ru_maxrss / 1024, text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--cases", default="8x64,16x64,64x512", help="stages x micro-batches")
    parser.add_argument("--schedule", default="zb_h1")
    parser.add_argument("--passes", action="store_true", help="the wall time of each pass as well")
    arguments = parser.parse_args()
    tools = arguments.build / "bin"
    print("stages  micro-batches   tasks   user s      MB  plan MB")
    for case in arguments.cases.split(","):
        stages, micro_batches = map(int, case.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            model, plan = Path(folder) / "model.mlir", Path(folder) / "plan.mlirbc"
            # One segment for each stage: the embedding, the blocks, the head.
            subprocess.run([tools / "piper-model", "gpt2", "--untied", "--layers", str(stages - 2),
                            "--hidden", "8", "--heads", "1", "--vocab", "16", "--seq", "4",
                            "--batch", str(micro_batches), "-o", model], check=True)
            user, memory, text = measure(
                [tools / "piper-opt", model, "--verify-each=0", "--emit-bytecode", "-o", plan, "--mlir-timing",
                 f"--piper-compile=pipeline-parallel={stages} schedule={arguments.schedule} "
                 f"micro-batches={micro_batches}"])
            size = plan.stat().st_size / 2**20
        # Forward and the two halves of the backward.
        tasks = 3 * stages * micro_batches
        print(f"{stages:6}  {micro_batches:13}  {tasks:6}  {user:7.2f}  {memory:6.0f}  {size:7.1f}", flush=True)
        if arguments.passes:
            print(*re.findall(r"^ +[\d.]+ \( *[\d.]+%\) +(?:Piper\w+|Parser|Output)$", text, re.M), sep="\n")


main()
