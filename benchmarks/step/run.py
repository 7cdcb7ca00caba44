# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The step benchmark: Piper's training step, the step's matrix products alone,
# and PyTorch's step, in turns in one run; then where Piper's time goes.
# PyTorch is the interpreter that PIPER_PYTHON names, and is left out without it.

import argparse
import datetime
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("wall", "cpu")


class Worker:
    """A process that runs one step whenever it is asked to."""

    def __init__(self, name, command, threads, passive):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        if passive:
            environment.update(OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="0")
        self.name = name
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment, text=True)
        self.times = {kind: [] for kind in KINDS}
        self.note = self.read().removeprefix("ready ")

    def read(self):
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit(f"{self.name} ended early: {self.process.args}")
        return line

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def step(self, keep):
        self.ask("step")
        wall, cpu = map(float, self.read().split()[:2])
        if keep:
            self.times["wall"].append(wall)
            self.times["cpu"].append(cpu)

    def kernels(self, steps):
        """Rows of (calls, milliseconds, floating-point operations, kernel)."""
        self.ask(f"kernels {steps}")
        rows = []
        while (line := self.read()) != "end":
            calls, time, flops, name = line.split(" ", 3)
            rows.append((int(calls), float(time), float(flops), name))
        return rows

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(args, threads, folder):
    """The workers: Piper, the products, and PyTorch if there is one."""
    sizes = ("layers", "width", "heads", "vocabulary", "batch", "length")
    values = {name: getattr(args, name) for name in sizes}
    model, data = folder / "gpt.mlir", folder / "text"
    data.write_bytes(random.Random(0).randbytes(1 << 20))
    binaries = args.build / "bin"
    subprocess.run(
        [binaries / "piper-model", "gpt2", "--layers", str(args.layers), "--hidden", str(args.width),
         "--heads", str(args.heads), "--vocab", str(args.vocabulary), "--batch", str(args.batch),
         "--seq", str(args.length), "-o", model], check=True)
    options = f"optimizer=adamw lr=1e-3 weight-decay=0.1 clip=1 threads={threads}"
    workers = [
        Worker("Piper", [binaries / "piper-bench-step", model, options, data],
               threads, args.passive),
        Worker("products alone",
               [binaries / "piper-bench-products", *values.values(), threads],
               threads, args.passive)]
    if args.against:
        workers.insert(1, Worker("Piper, the other build",
                                 [args.against / "bin" / "piper-bench-step", model, options, data],
                                 threads, args.passive))
    peer = os.environ.get("PIPER_PYTHON")
    if peer:
        command = [peer, HERE / "torch_step.py", "--threads", threads, "--data", data]
        for name, value in values.items():
            command += [f"--{name}", value]
        workers.append(Worker("PyTorch", command, threads, args.passive))
        if args.compile:
            workers.append(Worker("PyTorch, compiled", [*command, "--compile"], threads, args.passive))
    return workers


def measure(workers, rounds):
    """One warm-up round, then rounds that start with each worker in turn."""
    for i in range(rounds + 1):
        first = i % len(workers)
        for worker in workers[first:] + workers[:first]:
            worker.step(keep=i > 0)


def ratio(worker, other, kind):
    """The median over the rounds of Piper's time by the other's."""
    return statistics.median(a / b for a, b in zip(worker.times[kind], other.times[kind]))


def report(workers, threads, tokens):
    piper = workers[0]
    print(f"\n{threads} thread{'s' if threads > 1 else ''} (times in ms)\n")
    print("| | wall: least | median | cpu: least | median | tokens/s | "
          "Piper by it: least cpu | median wall | median cpu |")
    print("|---|---|---|---|---|---|---|---|---|")
    for worker in workers:
        wall, cpu = worker.times["wall"], worker.times["cpu"]
        print(f"| {worker.name} | {min(wall):.0f} | {statistics.median(wall):.0f} | {min(cpu):.0f} "
              f"| {statistics.median(cpu):.0f} | {1e3 * tokens / min(wall):.0f} "
              f"| {min(piper.times['cpu']) / min(cpu):.3f} "
              f"| {ratio(piper, worker, 'wall'):.3f} | {ratio(piper, worker, 'cpu'):.3f} |")


def report_kernels(rows):
    total = sum(time for _, time, _, _ in rows)
    print(f"\nWhere the processor time goes: {total:.0f} ms in kernels\n")
    print("| kernel | calls | ms a step | share | GFLOP/s |")
    print("|---|---|---|---|---|")
    for calls, time, flops, name in rows:
        if time < 0.001 * total:
            continue
        rate = f"{flops / time * 1e-6:.0f}" if flops else ""
        print(f"| {name.replace('<', '').replace('>', '')} | {calls} | {time:.1f} "
              f"| {100 * time / total:.1f}% | {rate} |")
    print("", flush=True)


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description="times Piper's step against its products and PyTorch's step")
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--against", type=Path, metavar="BUILD",
                        help="another build of Piper, of an older commit for example, as a worker too")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kernels", type=int, default=3, metavar="STEPS",
                        help="steps with every kernel timed; 0: none")
    parser.add_argument("--compile", action="store_true", help="also PyTorch with torch.compile")
    parser.add_argument("--passive", action="store_true",
                        help="waiting threads sleep: processor time is then work alone, which tells "
                             "more than elapsed time on a machine with other work")
    for name, value in (("layers", 6), ("width", 512), ("heads", 8), ("vocabulary", 256),
                        ("batch", 4), ("length", 512)):
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    print(f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
          f"{args.layers} layers x {args.width} wide x {args.length} long, batch {args.batch}, "
          f"vocabulary {args.vocabulary}, {args.heads} heads, {args.rounds} rounds")
    for threads in args.threads:
        with tempfile.TemporaryDirectory() as folder:
            workers = start(args, threads, Path(folder))
            print("; ".join(f"{worker.name}: {worker.note}" for worker in workers))
            measure(workers, args.rounds)
            report(workers, threads, args.batch * args.length)
            if args.kernels:
                report_kernels(workers[0].kernels(args.kernels))
            for worker in workers:
                worker.close()
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    sys.exit(main())
