# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the forward tasks of `train` in each program of a plan.

import re
import sys

text = open(sys.argv[1]).read()
for program in text.split("\n  piper.program ")[1:]:
    coordinate = re.search(r"at ?\[pp = (\d+)\]", program).group(1)
    train = program.split("piper.entry @train", 1)[1].split("\n    }", 1)[0]
    print(f"pp {coordinate}:", *re.findall(r"piper\.task @([a-z]+)[^\n]*? pass = F ", train))
