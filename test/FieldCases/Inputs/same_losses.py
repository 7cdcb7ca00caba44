# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two files of metrics have equal losses, line by line, whatever the numbers of steps:
#   same_losses.py A B

import json
import sys

a, b = ([json.loads(line)["loss"] for line in open(path)] for path in sys.argv[1:])
if a != b or not a:
    sys.exit(f"losses differ: {a} and {b}")
print(len(a), "equal losses")
