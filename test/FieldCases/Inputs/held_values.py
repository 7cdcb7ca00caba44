# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: held_values.py PLAN: of the messages of `train` from the first coordinate of a
# plan to the last, how many values each of the two holds at one time: the first from
# the task that makes it, the last from the receive, both to the last use.

import re
import sys


def train_of(program):
    text = program.split("piper.entry @train", 1)[1].split("\n    }", 1)[0]
    return text.split("\n")[1:]


def peak(lines, values):
    def uses(value):
        return [i for i, line in enumerate(lines) if re.search(re.escape(value) + r"\b", line)]

    spans = [(uses(v)[0], uses(v)[-1]) for v in values]
    return max(sum(a <= i <= b for a, b in spans) for i in range(len(lines)))


def main():
    programs = open(sys.argv[1]).read().split("\n  piper.program ")[1:]
    first, last = train_of(programs[0]), train_of(programs[-1])
    sent = re.findall(rf"piper\.send (%\d+)(?:#\d+)? to {len(programs) - 1} ", "\n".join(first))
    received = re.findall(r"(%\d+) = piper\.receive from 0 ", "\n".join(last))
    print(f"{len(sent)} sent, at most {peak(first, sent)} held; {len(received)} received, at most {peak(last, received)} held")


if __name__ == "__main__":
    main()
