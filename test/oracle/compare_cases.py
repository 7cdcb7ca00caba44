# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The rules of compare.py on single numbers, each case worked out by hand.

import math

from compare import matchUse

# Largest |ref| 2: an element may be off by 2e-5 where |ref| <= 2e-3, else by 1e-3 |ref| too.
CASES = [
    ([2.0, 0.0], [2.0, 0.0], 0.0),
    ([2.00001, 0.0], [2.0, 0.0], 0.5),
    ([2.0, 4e-5], [2.0, 0.0], 2.0),
    ([2.0, 0.01001], [2.0, 0.01], 1.0),  # 1e-5 of an allowance of 1e-3 * 0.01
    ([2.0, 0.00201], [2.0, 0.00199], 1.0),  # below the floor: 2e-5 of 2e-5
    ([math.nan, 0.0], [2.0, 0.0], math.inf),
    ([math.inf, 0.0], [2.0, 0.0], math.inf),
    ([5e-8], [0.0], 0.5),  # a reference of zero: 1e-7 absolutely
]

for actual, reference, want in CASES:
    use, _ = matchUse(actual, reference, False)
    assert use == want or abs(use - want) < 1e-6, (actual, reference, use, want)
assert abs(matchUse([3e-7], [1e-7], True)[0] - 2.0) < 1e-6
