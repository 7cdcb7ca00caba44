# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes chain/, chain8/, lm/, lm_tied/, lm8/: the test models of `piper-model chain`
# and `piper-model lm` in f64 numpy, with gradients written out by hand and checked
# against central differences here.

import array
import json
import math
import os
import sys

import numpy as np
from safetensors.numpy import save_file

import compare

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, LR = 3, 0.1
erf = np.vectorize(math.erf, otypes=[np.float64])


class Chain:
    """y = tanh(..tanh(x w0)..) w_last; loss = sum((y - t)^2) / rows."""

    def __init__(self, layers, rows=8):
        i, j = np.mgrid[0:rows, 0:4]
        self.x = 0.25 * ((3 * i + j) % 5) - 0.5
        self.t = ((i + j) % 3) - 1.0
        i, j = np.mgrid[0:4, 0:4]
        self.params = {f"w{k}": (((i + 2 * j + 3 * k) % 7) - 3) / 10 for k in range(layers)}

    def inputs(self):
        return {n: np.stack([v] * STEPS).astype(np.float32) for n, v in (("x", self.x), ("t", self.t))}

    def lossAndGradients(self, step, params):
        dtype = params["w0"].dtype
        acts = [self.x.astype(dtype)]
        for k, w in enumerate(params.values()):
            z = acts[-1] @ w
            acts.append(np.tanh(z) if k + 1 < len(params) else z)
        rows, error = len(self.x), acts[-1] - self.t.astype(dtype)
        grads, d = {}, 2 * error / rows
        for k in reversed(range(len(params))):
            if k + 1 < len(params):
                d = d * (1 - acts[k + 1] ** 2)
            grads[f"w{k}"] = acts[k].T @ d
            d = d @ params[f"w{k}"].T
        return (error**2).sum() / rows, {n: grads[n] for n in params}


class LM:
    """h += gelu(h up) down, four or eight times; logits = h head^T; mean cross entropy of labels >= 0."""

    VOCAB, WIDTH, INNER, BATCH, SEQ = 11, 8, 16, 8, 6

    def __init__(self, blocks, tied, seed):
        self.blocks, self.tied = blocks, tied
        draw = np.random.Generator(np.random.PCG64(seed)).standard_normal
        shapes = {"embed.weight": (self.VOCAB, self.WIDTH)}
        for k in range(blocks):
            shapes[f"blocks.{k}.up.weight"] = (self.WIDTH, self.INNER)
            shapes[f"blocks.{k}.down.weight"] = (self.INNER, self.WIDTH)
        if not tied:
            shapes["head.weight"] = (self.VOCAB, self.WIDTH)
        self.params = {n: (0.3 * draw(s)).astype(np.float32).astype(np.float64) for n, s in shapes.items()}
        s, b, i = np.mgrid[0:STEPS, 0 : self.BATCH, 0 : self.SEQ + 1]
        text = (s + 3 * b + 2 * i + (b + s) * i * i) % self.VOCAB
        self.tokens, self.labels = text[..., :-1].astype(np.int32), text[..., 1:].astype(np.int32)
        self.labels[(s + b + i)[..., 1:] % 4 == 0] = -1

    def inputs(self):
        return {"tokens": self.tokens, "labels": self.labels}

    def tokenCount(self, step):
        return int((self.labels[step] >= 0).sum())

    def lossAndGradients(self, step, params):
        table = params["embed.weight"]
        head = params["embed.weight" if self.tied else "head.weight"]
        ids, labels = self.tokens[step].ravel(), self.labels[step].ravel()
        h, saved = table[ids], []
        for k in range(self.blocks):
            u = h @ params[f"blocks.{k}.up.weight"]
            cdf = (0.5 * (1 + erf(u / math.sqrt(2)))).astype(h.dtype)
            saved.append((h, u, cdf))
            h = h + (u * cdf) @ params[f"blocks.{k}.down.weight"]
        logits = h @ head.T
        logits = logits - logits.max(axis=1, keepdims=True)
        logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        valid = labels >= 0
        count = valid.sum()
        loss = -logp[valid, labels[valid]].sum() / count
        d = np.exp(logp)
        d[np.flatnonzero(valid), labels[valid]] -= 1
        d[~valid] = 0
        d /= d.dtype.type(count)
        grads = {n: np.zeros_like(p) for n, p in params.items()}
        dHead, dh = d.T @ h, d @ head
        for k in reversed(range(self.blocks)):
            x, u, cdf = saved[k]
            grads[f"blocks.{k}.down.weight"] = (u * cdf).T @ dh
            pdf = np.exp(-0.5 * u * u) / u.dtype.type(math.sqrt(2 * math.pi))
            du = (dh @ params[f"blocks.{k}.down.weight"].T) * (cdf + u * pdf)
            grads[f"blocks.{k}.up.weight"] = x.T @ du
            dh = dh + du @ params[f"blocks.{k}.up.weight"].T
        np.add.at(grads["embed.weight"], ids, dh)
        grads["embed.weight" if self.tied else "head.weight"] += dHead
        return loss, grads


def checkDifferences(model):
    """A few elements of each gradient against (f(w+e) - f(w-e)) / 2e."""
    _, grads = model.lossAndGradients(0, model.params)
    for name, w in model.params.items():
        for at in (0, w.size // 2, w.size - 1):
            sides = []
            for e in (1e-6, -1e-6):
                moved = {n: p.copy() for n, p in model.params.items()}
                moved[name].flat[at] += e
                sides.append(model.lossAndGradients(0, moved)[0])
            got, want = grads[name].flat[at], (sides[0] - sides[1]) / 2e-6
            assert abs(got - want) < 1e-8 + 1e-6 * abs(want), (name, at, got, want)


def run(model, dtype):
    params = {n: p.astype(dtype) for n, p in model.params.items()}
    loss, grads = model.lossAndGradients(0, params)
    out, lines = {"outputs": {"loss": np.asarray(loss)}, "gradients": grads}, []
    for step in range(STEPS):
        loss, g = model.lossAndGradients(step, params)
        norm = math.sqrt(sum((v.astype(np.float64) ** 2).sum() for v in g.values()))
        lines.append({"step": step, "loss": float(loss), "grad_norm": norm})
        if isinstance(model, LM):
            lines[-1]["tokens"] = model.tokenCount(step)
        params = {n: p - dtype(LR) * g[n] for n, p in params.items()}
    out["sgd"] = params
    return out, lines


def write(folder, model):
    checkDifferences(model)
    path = os.path.join(HERE, folder)
    os.makedirs(path, exist_ok=True)
    save_file(model.inputs(), os.path.join(path, "inputs.safetensors"))
    if isinstance(model, LM):
        weights = {n: p.astype(np.float32) for n, p in model.params.items()}
        save_file(weights, os.path.join(path, "weights.safetensors"))
    double, lines = run(model, np.float64)
    single, _ = run(model, np.float32)
    with open(os.path.join(path, "expected-sgd.jsonl"), "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    rows = []
    for part, tensors in double.items():
        save_file(tensors, os.path.join(path, f"expected-{part}.safetensors"))
        for name, ref in tensors.items():
            a, r = (array.array("d", np.ravel(t[part][name]).astype(np.float64).tolist()) for t in (single, double))
            rows.append((compare.matchUse(a, r, False)[0], part, name))
    use, part, name = max(rows)
    print(f"{folder}: loss {lines[0]['loss']:.9g}; f32 uses {use:.3f} of the allowance ({part} {name})")
    if use > 1 / 3:
        sys.exit("f32 leaves too little room")


def main():
    os.umask(0o022)
    write("chain", Chain(4))
    write("chain8", Chain(8))
    write("lm", LM(4, False, 1))
    write("lm_tied", LM(4, True, 2))
    write("lm8", LM(8, False, 3))


if __name__ == "__main__":
    main()
