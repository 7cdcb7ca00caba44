# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the output of --memory (standard input), of each rank where there are several:
# the arena is the largest peak; the categories of an entry point add up to its largest
# sum of live bytes, as the ratio says; the peak is at most 3% above that. Moments and
# counters lie in the arena whether or not an entry point takes them. What a run gave to
# kernels ends at the peak, which is a multiple of 64, and they wrote no further.

import re
import sys


def number(text):
    return int(text.replace(",", ""))


def check(text, given, where):
    arena = number(re.search(r"^arena: .+ \(([\d,]+) bytes\)", text, re.M)[1])
    peaks, state = [], 0
    for entry in text.split("entry point ")[1:]:
        name = entry.split(":")[0]
        peak = number(re.search(r"peak .+? \(([\d,]+) bytes\)", entry)[1])
        parts = {n: number(b) for n, b in re.findall(r"^  ([a-z ]+?) +([\d,]+) bytes$", entry, re.M)}
        state = parts.setdefault("optimizer state", state)
        live = sum(parts.values())
        ratio = float(re.search(r"live bytes = ([\d.]+)", entry)[1])
        if not live <= peak <= 1.03 * live or abs(ratio - peak / live) > 1e-4:
            sys.exit(f"memory_plan: @{name}{where} has peak {peak} for {live} live bytes, ratio {ratio}")
        end, last = given.pop(name, (peak, peak))
        if last > end or peak != -(-end // 64) * 64:
            sys.exit(f"memory_plan: @{name}{where} has peak {peak}, gave {end} bytes and wrote up to {last}")
        peaks.append(peak)
    if given:
        sys.exit(f"memory_plan: {list(given)}{where} ran but are not described")
    if not peaks or arena != max(peaks):
        sys.exit(f"memory_plan: an arena of {arena} bytes{where} for the peaks {peaks}")
    print(f"{len(peaks)} entry points{where}, arena {arena}")


def main():
    text = sys.stdin.read()
    line = r"^(?:rank (\d+): )?entry point (\w+) gave ([\d,]+) bytes .+ wrote up to byte ([\d,]+)\n"
    given = {}
    for rank, name, end, last in re.findall(line, text, re.M):
        given.setdefault(rank, {})[name] = number(end), number(last)
    text = re.sub(line, "", text, flags=re.M)
    parts = re.split(r"^rank (\d+):\n", text, flags=re.M)
    if len(parts) == 1:
        return check(text, given.pop("", {}), "")
    for rank, report in zip(parts[1::2], parts[2::2]):
        check(report, given.pop(rank, {}), f" of rank {rank}")
    if given:
        sys.exit(f"memory_plan: ranks {list(given)} ran but are not described")


if __name__ == "__main__":
    main()
