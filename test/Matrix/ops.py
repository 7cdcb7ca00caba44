# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ops of random models, written once more in numpy: what each computes, in
# f64, and the gradients of its operands. Taken from the formulas of
# docs/reference/dialect.md and differentiated by hand.

import math

import numpy as np


def fit(gradient, like):
    """Sums a gradient over the dimensions in which `like` was repeated."""
    while gradient.ndim > like.ndim:
        gradient = gradient.sum(0)
    for dim, size in enumerate(like.shape):
        if size == 1 and gradient.shape[dim] != 1:
            gradient = gradient.sum(dim, keepdims=True)
    return gradient


def swap(x):
    return np.swapaxes(x, -1, -2)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ERF = np.vectorize(math.erf, otypes=[float])


def matmul(attrs, a, b):
    return np.matmul(swap(a) if attrs.get("transpose_a") else a, swap(b) if attrs.get("transpose_b") else b)


def matmul_vjp(attrs, g, y, a, b):
    ta, tb = attrs.get("transpose_a"), attrs.get("transpose_b")
    da = np.matmul(g, swap(swap(b) if tb else b))
    db = np.matmul(swap(swap(a) if ta else a), g)
    return fit(swap(da) if ta else da, a), fit(swap(db) if tb else db, b)


def gelu(attrs, x):
    if attrs.get("approximate"):
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + ERF(x / math.sqrt(2)))


def gelu_vjp(attrs, g, y, x):
    if attrs.get("approximate"):
        k = math.sqrt(2 / math.pi)
        t = np.tanh(k * (x + 0.044715 * x**3))
        return (g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x)),)
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return (g * (0.5 * (1 + ERF(x / math.sqrt(2))) + x * density),)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_vjp(g, y):
    return y * (g - (g * y).sum(-1, keepdims=True))


def normalised(attrs, x):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + attrs["eps"])
    return centred * rstd, rstd


def layer_norm_vjp(attrs, g, y, x, gamma, beta):
    n, rstd = normalised(attrs, x)
    h = g * gamma
    dx = rstd * (h - h.mean(-1, keepdims=True) - n * (h * n).mean(-1, keepdims=True))
    return dx, fit(g * n, gamma), fit(g, beta)


def scores(attrs, q, k):
    """Probabilities [batch, heads, queries, keys]."""
    k = np.repeat(k, q.shape[2] // k.shape[2], axis=2)
    s = attrs["scale"] * np.einsum("bqhd,bkhd->bhqk", q, k)
    if attrs.get("causal"):
        queries, keys = s.shape[2:]
        s = np.where(np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries, s, -np.inf)
    return softmax(s)


def attention(attrs, q, k, v):
    return np.einsum("bhqk,bkhd->bqhd", scores(attrs, q, k), np.repeat(v, q.shape[2] // v.shape[2], axis=2))


def attention_vjp(attrs, g, y, q, k, v):
    groups = q.shape[2] // k.shape[2]
    p = scores(attrs, q, k)
    wide = lambda x: np.repeat(x, groups, axis=2)
    narrow = lambda x: x.reshape(x.shape[:2] + (x.shape[2] // groups, groups, x.shape[3])).sum(3)
    ds = attrs["scale"] * softmax_vjp(np.einsum("bqhd,bkhd->bhqk", g, wide(v)), p)
    return (np.einsum("bhqk,bkhd->bqhd", ds, wide(k)), narrow(np.einsum("bhqk,bqhd->bkhd", ds, q)),
            narrow(np.einsum("bhqk,bqhd->bkhd", p, g)))


def widened(attrs, g, x):
    """A reduced tensor with dimensions of 1 where it was reduced."""
    return g.reshape([1 if dim in attrs["dims"] else size for dim, size in enumerate(x.shape)])


def reduce_max_vjp(attrs, g, y, x):
    largest = x == widened(attrs, y, x)
    return (widened(attrs, g, x) * largest / largest.sum(tuple(attrs["dims"]), keepdims=True),)


def cross_entropy(attrs, z, labels):
    rows, flat = z.reshape(-1, z.shape[-1]), labels.reshape(-1)
    lse = np.log(np.exp(rows - rows.max(-1, keepdims=True)).sum(-1)) + rows.max(-1)
    return np.where(flat >= 0, lse - rows[np.arange(len(flat)), np.maximum(flat, 0)], 0).sum()


def cross_entropy_vjp(attrs, g, y, z, labels):
    p, flat = softmax(z.reshape(-1, z.shape[-1])), labels.reshape(-1)
    p[np.arange(len(flat)), np.maximum(flat, 0)] -= 1
    return g * (p * (flat >= 0)[:, None]).reshape(z.shape), None


def embedding_vjp(attrs, g, y, table, ids):
    d = np.zeros_like(table)
    np.add.at(d, ids.reshape(-1), g.reshape(-1, table.shape[1]))
    return d, None


def window(attrs, shape):
    return tuple(slice(at, at + size) for at, size in zip(attrs["offsets"], shape))


def pad(attrs, x):
    y = np.zeros(attrs["sizes"], x.dtype)
    y[window(attrs, x.shape)] = x
    return y


def slice_vjp(attrs, g, y, x):
    d = np.zeros_like(x)
    d[window(attrs, y.shape)] = g
    return (d,)


def concat_vjp(attrs, g, y, *parts):
    ends = np.cumsum([part.shape[attrs["dim"]] for part in parts])[:-1]
    return tuple(np.split(g, ends, attrs["dim"]))


NUMPY_TYPES = {"f32": np.float64, "i32": np.int32, "i64": np.int64, "i1": np.bool_}

# name -> (value of (attributes, operands), gradients of (attributes, gradient of y, y, operands)).
# `attrs["sizes"]` is the shape of the result, `attrs["element"]` its type.
OPS = {
    "add": (lambda t, a, b: a + b, lambda t, g, y, a, b: (fit(g, a), fit(g, b))),
    "sub": (lambda t, a, b: a - b, lambda t, g, y, a, b: (fit(g, a), fit(-g, b))),
    "mul": (lambda t, a, b: a * b, lambda t, g, y, a, b: (fit(g * b, a), fit(g * a, b))),
    "div": (lambda t, a, b: a / b, lambda t, g, y, a, b: (fit(g / b, a), fit(-g * a / (b * b), b))),
    "neg": (lambda t, x: -x, lambda t, g, y, x: (-g,)),
    "square": (lambda t, x: x * x, lambda t, g, y, x: (2 * g * x,)),
    "scale": (lambda t, x: x * t["factor"], lambda t, g, y, x: (g * t["factor"],)),
    "exp": (lambda t, x: np.exp(x), lambda t, g, y, x: (g * y,)),
    "log": (lambda t, x: np.log(x), lambda t, g, y, x: (g / x,)),
    "rsqrt": (lambda t, x: 1 / np.sqrt(x), lambda t, g, y, x: (-0.5 * g * y / x,)),
    "tanh": (lambda t, x: np.tanh(x), lambda t, g, y, x: (g * (1 - y * y),)),
    "sigmoid": (lambda t, x: sigmoid(x), lambda t, g, y, x: (g * y * (1 - y),)),
    "silu": (lambda t, x: x * sigmoid(x),
             lambda t, g, y, x: (g * sigmoid(x) * (1 + x * (1 - sigmoid(x))),)),
    "relu": (lambda t, x: np.maximum(x, 0), lambda t, g, y, x: (g * (x > 0),)),
    "gelu": (gelu, gelu_vjp),
    "softmax": (lambda t, x: softmax(x), lambda t, g, y, x: (softmax_vjp(g, y),)),
    "layer_norm": (lambda t, x, gamma, beta: normalised(t, x)[0] * gamma + beta, layer_norm_vjp),
    "attention": (attention, attention_vjp),
    "matmul": (matmul, matmul_vjp),
    "reduce_sum": (lambda t, x: x.sum(tuple(t["dims"]), keepdims=bool(t.get("keep_dims"))),
                   lambda t, g, y, x: (np.broadcast_to(widened(t, g, x), x.shape),)),
    "reduce_max": (lambda t, x: x.max(tuple(t["dims"]), keepdims=bool(t.get("keep_dims"))), reduce_max_vjp),
    "reshape": (lambda t, x: x.reshape(t["sizes"]), lambda t, g, y, x: (g.reshape(x.shape),)),
    "transpose": (lambda t, x: x.transpose(t["permutation"]),
                  lambda t, g, y, x: (g.transpose(np.argsort(t["permutation"])),)),
    "broadcast": (lambda t, x: np.broadcast_to(x, t["sizes"]).copy(), lambda t, g, y, x: (fit(g, x),)),
    "slice": (lambda t, x: x[window(t, t["sizes"])], slice_vjp),
    "pad": (pad, lambda t, g, y, x: (g[window(t, x.shape)],)),
    "concat": (lambda t, *parts: np.concatenate(parts, t["dim"]), concat_vjp),
    "select": (lambda t, m, a, b: np.where(m, a, b),
               lambda t, g, y, m, a, b: (None, fit(np.where(m, g, 0), a), fit(np.where(m, 0, g), b))),
    "cast": (lambda t, x: np.trunc(x).astype(NUMPY_TYPES[t["element"]]) if t["element"] in ("i32", "i64")
             else x.astype(NUMPY_TYPES[t["element"]]), lambda t, g, y, x: (None,)),
    "stop_gradient": (lambda t, x: x, lambda t, g, y, x: (None,)),
    "embedding": (lambda t, table, ids: table[ids], embedding_vjp),
    "cross_entropy": (cross_entropy, cross_entropy_vjp),
    "count_valid": (lambda t, labels: np.int64((labels >= 0).sum()), lambda t, g, y, labels: (None,)),
    "divide": (lambda t, s, n: s / n, lambda t, g, y, s, n: (g / n, None)),
}
