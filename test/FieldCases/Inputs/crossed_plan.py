# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: crossed_plan.py WHAT PLAN: the plan of two coordinates with one thing edited
# in `train`:
#   blocked  each coordinate receives only after its own send has ended, though the
#            other's send of the two ends only when it receives
#   swapped  coordinate 1 receives its first two messages in the other order

import re
import sys


def lines_of(lines, program):
    """Indices of the lines of `train` of a program."""
    start = next(i for i, line in enumerate(lines) if f"piper.program @p{program} " in line)
    start = next(i for i in range(start, len(lines)) if "piper.entry @train" in lines[i])
    return range(start, next(i for i in range(start, len(lines)) if "piper.return" in lines[i]))


def find(lines, where, op, number):
    return [i for i in where if re.search(rf"piper\.{op} ", lines[i])][number]


def id_of(line):
    return int(re.search(r" id = (\d+)", line).group(1))


def add_wait(line, wait):
    if "waits = [" in line:
        return line.replace("waits = [", f"waits = [{wait}, ")
    return re.sub(r"( id = \d+)", rf"\1 waits = [{wait}]", line)


def blocked(lines):
    first, second = lines_of(lines, 0), lines_of(lines, 1)
    ahead, back = find(lines, first, "send", 1), find(lines, first, "receive", 0)
    receive, send = find(lines, second, "receive", 1), find(lines, second, "send", 0)
    if (id_of(lines[ahead]), id_of(lines[back])) != (id_of(lines[receive]), id_of(lines[send])):
        sys.exit("crossed_plan: these are not the two messages meant")
    lines[back] = add_wait(lines[back], id_of(lines[ahead]))
    lines[receive] = add_wait(lines[receive], id_of(lines[send]))
    if receive < send:
        lines.insert(send, lines.pop(receive))


def swapped(lines):
    where = lines_of(lines, 1)
    receives = [find(lines, where, "receive", n) for n in (0, 1)]
    a, b = (id_of(lines[at]) for at in receives)
    for at in where:
        lines[at] = lines[at].replace(f" waits = [{a}]", " waits = [other]").replace(f" waits = [{b}]", f" waits = [{a}]")
        lines[at] = lines[at].replace(" waits = [other]", f" waits = [{b}]")
    for at, new in zip(receives, (b, a)):
        lines[at] = lines[at].replace(f" id = {id_of(lines[at])} ", f" id = {new} ")


def main():
    lines = open(sys.argv[2]).read().split("\n")
    {"blocked": blocked, "swapped": swapped}[sys.argv[1]](lines)
    print("\n".join(lines), end="")


if __name__ == "__main__":
    main()
