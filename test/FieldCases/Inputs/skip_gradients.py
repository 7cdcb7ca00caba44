# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: skip_gradients.py INPUTS OUT: the gradients of CHAIN with the result h0 of its
# first layer added to that of the last, for the first step of the inputs, in f64:
#   h0 = tanh(x W0), h1 = tanh(h0 W1), h2 = tanh(h1 W2), y = h2 W3 + h0
# Prints the share of each path in the gradient of h0.

import array
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file

N = 4


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a)]


def combined(f, *matrices):
    return [[f(*values) for values in zip(*rows)] for rows in zip(*matrices)]


def length(a):
    return math.sqrt(sum(v * v for row in a for v in row))


def first_step(tensor):
    rows = tensor.shape[1]
    return [list(tensor.values[r * N : (r + 1) * N]) for r in range(rows)]


def main():
    inputs = safetensors_file.read(sys.argv[1])
    x, t = first_step(inputs["x"]), first_step(inputs["t"])
    w = [[[0.1 * ((i + 2 * j + 3 * k) % 7) - 0.3 for j in range(N)] for i in range(N)] for k in range(4)]
    h = [x]
    for k in range(3):
        h.append(combined(math.tanh, product(h[k], w[k])))
    y = combined(lambda a, b: a + b, product(h[3], w[3]), h[1])
    dy = combined(lambda a, b: 2 * (a - b) / len(x), y, t)
    dw, d = [None] * 4, dy
    for k in range(3, 0, -1):
        dw[k] = product(transposed(h[k]), d)
        d = product(d, transposed(w[k]))
        if k == 1:
            print(f"of the gradient of h0 {length(d):.3f} come through the layers, {length(dy):.3f} past them")
            d = combined(lambda a, b: a + b, d, dy)
        d = combined(lambda a, b: a * (1 - b * b), d, h[k])
    dw[0] = product(transposed(x), d)
    flat = lambda a: array.array("d", [v for row in a for v in row])
    safetensors_file.write(
        sys.argv[2], {f"w{k}": safetensors_file.Tensor("F64", (N, N), flat(dw[k])) for k in range(4)}
    )


if __name__ == "__main__":
    main()
