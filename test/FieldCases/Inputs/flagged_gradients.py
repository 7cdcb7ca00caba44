# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: flagged_gradients.py multiply|detach INPUTS OUT: inputs of the models of
# field-K05.test, with the flags 0, 1, 1, 0 of four rows, and the gradients of their
# first step in f64:
#   h0 = tanh(x W0), g = h0 times its flag (multiply) or h0 (detach), h1 = tanh(g W1),
#   h2 = tanh(h1 W2), y = h2 W3, loss = mean over rows of the sum of (y - t)^2
# In both no gradient goes through g where the flag is 0.

import array
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file

N, STEPS, FLAGS = 4, 3, [0.0, 1.0, 1.0, 0.0]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a)]


def combined(f, *matrices):
    return [[f(*values) for values in zip(*rows)] for rows in zip(*matrices)]


def file_of(kind, code, tensors):
    return {
        name: safetensors_file.Tensor(kind, shape, array.array(code, values)) for name, (shape, values) in tensors.items()
    }


def main():
    mode, inputs, out = sys.argv[1:]
    x = [[0.25 * ((3 * i + j) % 5) - 0.5 for j in range(N)] for i in range(N)]
    t = [[((i + j) % 3) - 1.0 for j in range(N)] for i in range(N)]
    flag = [[f] * N for f in FLAGS]
    flat = lambda a: [v for row in a for v in row]
    safetensors_file.write(inputs, file_of("F32", "f", {
        "x": ((STEPS, N, N), flat(x) * STEPS), "t": ((STEPS, N, N), flat(t) * STEPS), "flag": ((STEPS, N, 1), FLAGS * STEPS)}))

    w = [[[0.1 * ((i + 2 * j + 3 * k) % 7) - 0.3 for j in range(N)] for i in range(N)] for k in range(4)]
    h0 = combined(math.tanh, product(x, w[0]))
    g = combined(lambda a, f: a * f, h0, flag) if mode == "multiply" else h0
    h1 = combined(math.tanh, product(g, w[1]))
    h2 = combined(math.tanh, product(h1, w[2]))
    before_tanh = lambda d, h: combined(lambda a, b: a * (1 - b * b), d, h)
    dw = {}
    d = combined(lambda a, b: 2 * (a - b) / N, product(h2, w[3]), t)
    for k, into in ((3, h2), (2, h1), (1, g)):
        dw[k] = product(transposed(into), d)
        d = product(d, transposed(w[k]))
        d = before_tanh(d, into) if k > 1 else d
    d = before_tanh(combined(lambda a, f: a * f, d, flag), h0)
    dw[0] = product(transposed(x), d)
    safetensors_file.write(out, file_of("F64", "d", {f"w{k}": ((N, N), flat(dw[k])) for k in range(4)}))


if __name__ == "__main__":
    main()
