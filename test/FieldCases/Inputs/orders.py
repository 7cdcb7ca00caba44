#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes an `order` directive as a file of directives, from names of tasks such as
# B0@1 (pass, micro-batch, stage) or F0 (on all stages).

import json
import re
import sys


def group(name):
    task, mb, stage = re.fullmatch(r"([A-Z]+)(\d+)(?:@(\d+))?", name).groups()
    terms = {"PASS": task, "MB": int(mb)}
    if stage is not None:
        terms["STAGE"] = int(stage)
    return [terms]


json.dump([{"op": "order", "filters": [group(name) for name in sys.argv[1:]]}], sys.stdout)
