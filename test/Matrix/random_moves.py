# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The moves of random models: each adds a few ops that work on samples one by one,
# on parameters alone, or on sums over the batch.

import numpy as np


def floats(numbers, sizes):
    return np.float32(numbers.uniform(-1, 1, sizes)).astype(float)


def masks(numbers, sizes):
    return numbers.uniform(size=sizes) < 0.6


class Moves:
    # Moves with their weights.
    ROWS = {"linear": 24, "unary": 20, "join": 14, "skip": 8, "bias": 8, "statistics": 6, "norm": 5, "attend": 3,
            "embed": 6, "masked": 5, "flat": 4, "turned": 4, "of_ints": 5, "stopped": 2, "mean_of_weight": 4,
            "sliced": 4, "of_once": 6, "linear_in": 4, "largest": 2, "dead": 8, "centred": 2}
    ONCE = {"product": 4, "squashed": 4, "of_shared": 3, "summed": 3, "constants": 1}

    # Picking ---------------------------------------------------------------------------------------------------------

    def pick(self, fits, recent=0.6):
        """A value of the pool, often of the last few."""
        # Now and then what another move left inside.
        inner = [node for node in self.nodes if node.op not in ("param", "constant") and fits(node)]
        if inner and self.random.random() < 0.08:
            return self.random.choice(inner)
        found = [node for node in self.pool if fits(node)]
        if not found:
            return None
        return self.random.choice(found[-3:] if self.random.random() < recent else found)

    def pick_rows(self, recent=0.6):
        """[batch, width] or [batch, places, width]."""
        return self.pick(lambda n: n.element == "f32" and n.shape[:1] == (-1,) and len(n.shape) in (2, 3), recent)

    def weight(self, *shape, scale=None):
        """A parameter of this shape: a new one, one that is used already, or a value made of parameters."""
        known = [node for node in self.nodes if node.shape == shape and node.element == "f32" and
                 (node.op == "param" or node in self.pool)]
        if known and self.random.random() < 0.35:
            return self.random.choice(known)
        return self.param(*shape, scale=scale)

    def start(self):
        d = self.width
        for _ in range(self.random.randint(1, 3)):
            self.pool.append(self.input((-1, d), "f32", floats))
        if self.random.random() < 0.5:
            self.pool.append(self.input((-1, 3, d), "f32", floats))
        if self.random.random() < 0.25:
            self.pool.append(self.input((3, -1, d), "f32", floats))
        if self.random.random() < 0.3:
            self.pool.append(self.input((d,), "f32", floats))

    # Samples ---------------------------------------------------------------------------------------------------------

    def linear(self):
        x = self.pick_rows()
        d, e = x.shape[-1], self.random.choice([x.shape[-1], self.width, self.width, 3, 1])
        if self.random.random() < 0.25:
            y = self.op("matmul", x, self.weight(e, d, scale=d**-0.5), shape=x.shape[:-1] + (e,), transpose_b=True)
        else:
            y = self.op("matmul", x, self.weight(d, e), shape=x.shape[:-1] + (e,))
        if self.random.random() < 0.4:
            y = self.op("add", y, self.weight(e), shape=y.shape)
        if self.random.random() < 0.5:
            y = self.op(self.random.choice(["tanh", "relu", "gelu", "silu"]), y)
        self.keep(y)

    def unary(self):
        x = self.pick_rows()
        name = self.random.choice(["tanh", "sigmoid", "silu", "relu", "gelu", "neg", "square", "exp", "log", "rsqrt",
                                   "softmax"])
        if name in ("exp", "log", "rsqrt"):
            x = self.op("square" if name != "exp" else "tanh", x)
        if name in ("log", "rsqrt"):
            x = self.op("add", x, self.op("exp", self.op("tanh", self.weight(x.shape[-1]))), shape=x.shape)
        attrs = {"approximate": True} if name == "gelu" and self.random.random() < 0.5 else {}
        self.keep(self.op(name, x, **attrs))

    def join(self, recent=0.6):
        x = self.pick_rows()
        y = self.pick(lambda n: n.shape == x.shape and n.element == "f32", recent) or x
        name = self.random.choice(["add", "add", "sub", "mul", "div", "concat"])
        if name == "concat":
            y = self.op("concat", x, y, shape=x.shape[:-1] + (2 * x.shape[-1],), dim=len(x.shape) - 1)
            offsets = [0] * (len(x.shape) - 1) + [self.random.randint(0, x.shape[-1])]
            return self.keep(self.op("slice", y, shape=x.shape, offsets=offsets))
        if name == "div":
            y = self.op("exp", self.op("tanh", y))
        return self.keep(self.op(name, x, y))

    def skip(self):
        self.join(recent=0.0)

    def bias(self):
        x = self.pick_rows()
        known = self.pick(lambda n: n.shape == x.shape[-1:] and n.element == "f32")
        y = known if known and self.random.random() < 0.5 else self.weight(*x.shape[-1:], scale=0.5)
        operands = [x, y] if self.random.random() < 0.7 else [y, x]
        self.keep(self.op(self.random.choice(["add", "sub", "mul"]), *operands, shape=x.shape))

    def linear_in(self):
        """A gradient that has no sample in it: sum(x + p), sum(relu(x + p) + p)."""
        x = self.pick_rows()
        p = self.weight(*x.shape[-1:], scale=0.5)
        y = self.op("add", x, p, shape=x.shape)
        if self.random.random() < 0.5:
            y = self.op("add", self.op("relu", y), p, shape=x.shape)
        self.keep(y)

    def mean_of_weight(self):
        """A row sum of a weight as a bias."""
        x = self.pick_rows()
        d = x.shape[-1]
        w = self.weight(d, d)
        total = self.op("reduce_sum", w, shape=(d,), dims=[self.random.choice([0, 1])])
        self.keep(self.op("add", x, self.op("scale", total, factor=0.5), shape=x.shape))

    def statistics(self):
        x = self.pick_rows()
        last = len(x.shape) - 1
        total = self.op("reduce_sum", x, shape=x.shape[:-1] + (1,), dims=[last], keep_dims=True)
        mean = self.op("scale", total, factor=1.0 / x.shape[-1])
        self.keep(self.op(self.random.choice(["sub", "mul", "add"]), x, mean, shape=x.shape))

    def largest(self):
        x = self.pick_rows()
        last = len(x.shape) - 1
        top = self.op("reduce_max", x, shape=x.shape[:-1] + (1,), dims=[last], keep_dims=True)
        self.keep(self.op("sub", x, top, shape=x.shape))

    def centred(self):
        """Minus a sum of inputs alone, which is known before the step."""
        x = self.random.choice([node for node in self.pool if node.op == "input" and node.type(1) == f"tensor<1x{self.width}xf32>"])
        total = self.op("reduce_sum", x, shape=(1, self.width), dims=[0], keep_dims=True)
        self.keep(self.op("sub", x, self.op("scale", total, factor=0.1), shape=x.shape))
        self.sums_inputs = True

    def norm(self):
        x = self.pick(lambda n: n.element == "f32" and n.shape[:1] == (-1,) and len(n.shape) > 1 and n.shape[-1] > 2)
        if x:
            gamma, beta = (self.weight(*x.shape[-1:]) for _ in range(2))
            self.keep(self.op("layer_norm", x, gamma, beta, shape=x.shape, eps=0.1))

    def attend(self):
        x = self.pick(lambda n: n.element == "f32" and n.shape[:1] == (-1,) and len(n.shape) == 3)
        if not x:
            return
        heads, keys = self.random.choice([(1, 1), (2, 1), (2, 2)])
        parts = []
        for count in (heads, keys, keys):
            y = self.op("matmul", x, self.weight(x.shape[-1], 2 * count), shape=x.shape[:-1] + (2 * count,))
            parts.append(self.op("reshape", y, shape=x.shape[:-1] + (count, 2)))
        causal = self.random.random() < 0.5
        y = self.op("attention", *parts, shape=parts[0].shape, causal=causal, scale=0.7)
        self.keep(self.op("reshape", y, shape=x.shape[:-1] + (2 * heads,)))

    def ids(self, *shape):
        known = [node for node in self.pool if node.element == "i32" and node.shape == shape]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        least = self.random.choice([0, 0, -1])
        node = self.input(shape, "i32", lambda numbers, sizes: np.maximum(
            numbers.randint(least, self.vocab, sizes), 0).astype(np.int32))
        self.pool.append(node)
        return node

    def embed(self):
        shape = self.random.choice([(-1,), (-1, 3)])
        table = self.weight(self.vocab, self.width, scale=0.7)
        ids = self.ids(*shape)
        if self.random.random() < 0.3:
            ids = self.op("cast", ids, element="i64")
        self.keep(self.op("embedding", table, ids, shape=shape + (self.width,), element="f32"))

    def of_ints(self):
        """Numbers from integers or masks, cut and turned on the way."""
        ids = self.ids(-1, 3)
        if self.random.random() < 0.5:
            ids = self.op("slice", ids, shape=(-1, 2), offsets=[0, self.random.randint(0, 1)])
        if self.random.random() < 0.3:
            ids = self.op("cast", ids, element="i1")
            self.pool.append(ids)
        y = self.op("cast", ids, element="f32")
        self.keep(self.op("matmul", y, self.weight(ids.shape[-1], self.width), shape=(-1, self.width)))

    def masked(self):
        x = self.pick_rows()
        y = self.pick(lambda n: n.shape == x.shape and n.element == "f32", 0.2) or x
        shape = self.random.choice([x.shape, x.shape[:-1] + (1,)])
        mask = self.pick(lambda n: n.element == "i1" and n.shape == shape) if self.random.random() < 0.5 else None
        if mask is None:
            mask = self.input(shape, "i1", masks)
            self.pool.append(mask)
        self.keep(self.op("select", mask, x, y, shape=x.shape))

    def flat(self):
        """Samples and places as one dimension, and back in this segment or a later one."""
        x = self.pick(lambda n: n.element == "f32" and n.shape[:1] == (-1,) and len(n.shape) == 3)
        if not x:
            return
        places, d = x.shape[1:]
        y = self.op("reshape", x, shape=(-places, d))
        y = self.op("matmul", y, self.weight(d, self.width), shape=(-places, self.width))
        if self.random.random() < 0.4:
            self.segment_break()
        self.keep(self.op("tanh", self.op("reshape", y, shape=(-1, places, self.width))))

    def turned(self):
        """The batch as the last or second dimension, and back."""
        x = self.pick(lambda n: n.element == "f32" and len(n.shape) == 3 and n.shape[1] == -1)
        if x and self.random.random() < 0.6:
            return self.keep(self.op("transpose", x, shape=(-1, x.shape[0], x.shape[2]), permutation=[1, 0, 2]))
        x = self.pick(lambda n: n.element == "f32" and n.shape[:1] == (-1,) and len(n.shape) == 2)
        d = x.shape[1]
        y = self.op("transpose", x, shape=(d, -1), permutation=[1, 0])
        y = self.op("matmul", self.weight(self.width, d, scale=d**-0.5), y, shape=(self.width, -1))
        if self.random.random() < 0.4:
            self.segment_break()
        return self.keep(self.op("transpose", self.op("tanh", y), shape=(-1, self.width), permutation=[1, 0]))

    def segment_break(self):
        self.tags = self.tags.split(",")[0] + f', half = {self.random.randint(0, 99)}'

    def stopped(self):
        x = self.pick_rows()
        self.keep(self.op("mul", x, self.op("stop_gradient", self.op("sigmoid", x))))

    def sliced(self):
        x = self.pick_rows()
        if x.shape[-1] < 2:
            return
        size = self.random.randint(1, x.shape[-1] - 1)
        offsets = [0] * (len(x.shape) - 1)
        y = self.op("slice", x, shape=x.shape[:-1] + (size,), offsets=offsets + [x.shape[-1] - size])
        if self.random.random() < 0.5:
            y = self.op("pad", self.op("tanh", y), shape=x.shape, offsets=offsets + [self.random.randint(
                0, x.shape[-1] - size)])
            y = self.op("add", y, x)
        self.keep(y)

    def of_once(self):
        """A value of parameters alone with samples."""
        w = self.pick(lambda n: n.element == "f32" and not n.has_rows() and len(n.shape) <= 2 and n.op != "input")
        x = self.pick_rows()
        if not w:
            return
        if len(w.shape) == 2 and w.shape[0] == x.shape[-1]:
            self.keep(self.op("matmul", x, w, shape=x.shape[:-1] + w.shape[1:]))
        elif w.shape in ((), x.shape[-1:]):
            self.keep(self.op("mul", x, w, shape=x.shape))

    def dead(self):
        x = self.random.choice([node for node in self.nodes if node.element == "f32" and node.shape[:1] == (-1,)])
        y = self.op(self.random.choice(["gelu", "tanh", "square"]), x)
        if self.random.random() < 0.4:
            self.op("mul", y, self.weight(*x.shape[-1:]), shape=x.shape)

    # Parameters alone ------------------------------------------------------------------------------------------------

    def product(self):
        d = self.width
        self.keep(self.op("matmul", self.weight(d, d), self.weight(d, d), shape=(d, d)))

    def squashed(self):
        w = self.weight(self.width, self.width) if self.random.random() < 0.6 else self.weight(self.width)
        self.keep(self.op(self.random.choice(["tanh", "square", "sigmoid"]), w))

    def of_shared(self):
        d = self.width
        self.keep(self.op("mul", self.weight(d, d), self.weight(d), shape=(d, d)))

    def summed(self):
        w = self.op("square", self.weight(self.width, self.width))
        self.keep(self.op("reduce_sum", w, shape=(), dims=[0, 1]))

    def constants(self):
        c = self.constant(0.5, "f32")
        self.keep(self.op("mul", self.weight(self.width), c, shape=(self.width,)))

    # Results of the batch --------------------------------------------------------------------------------------------

    def hits(self):
        """A count that depends on a table of integers."""
        table = self.param(self.vocab, 1, value=self.numbers.randint(-1, 2, (self.vocab, 1)), frozen=True)
        ids = self.ids(-1, 3)
        rows = self.op("embedding", table, ids, shape=(-1, 3, 1), element="f32")
        return self.op("count_valid", self.op("cast", rows, element="i32"), shape=(), element="i64")

    def summary(self):
        """What only the end of the step knows: a function of a sum."""
        x = self.pick_rows()
        total = self.op("reduce_sum", x, shape=x.shape[-1:], dims=list(range(len(x.shape) - 1)))
        return self.op("tanh", self.op("scale", total, factor=0.1)) if self.random.random() < 0.6 else total

    # The loss --------------------------------------------------------------------------------------------------------

    def total(self, x):
        return self.op("reduce_sum", x, shape=(), dims=list(range(len(x.shape))))

    def term(self, kind):
        x = self.pick_rows(recent=0.9)
        if kind == "error":
            target = self.input(x.shape, "f32", floats)
            return self.total(self.op("square", self.op("sub", x, target)))
        if kind == "linear":
            return self.total(self.op("mul", x, self.weight(*x.shape[-1:]), shape=x.shape))
        if kind == "plain":
            return self.total(x)
        if kind == "constant":
            # The gradient of p has no sample in it, or is added to one that has.
            p = self.weight(*x.shape[-1:])
            total = self.total(self.op("add", x, p, shape=x.shape))
            if self.random.random() < 0.6:
                other = self.total(self.op("mul", x, p, shape=x.shape))
                total = self.op("add", total, other)
            return total
        if kind == "by_feature":
            dims = list(range(len(x.shape) - 1))
            y = self.op("reduce_sum", self.op("square", x), shape=x.shape[-1:], dims=dims)
            return self.total(self.op("scale", y, factor=0.5))
        if kind == "entropy":
            self.labels = self.input(x.shape[:-1], "i32", lambda numbers, sizes: numbers.randint(
                -1, x.shape[-1], sizes).astype(np.int32))
            return self.op("cross_entropy", x, self.labels, shape=(), element="f32")
        w = self.weight(self.width, self.width)  # decay of a weight
        return self.op("scale", self.total(self.op("square", w)), factor=0.5)

    def mix(self):
        """An op that mixes samples."""
        x = self.pick(lambda n: n.element == "f32" and n.shape[:1] == (-1,) and len(n.shape) == 2)
        # A sum of inputs alone would be known before the step.
        x = self.op("mul", x, self.param(x.shape[-1]), shape=x.shape)
        kind = self.random.choice(["softmax", "mean", "max"])
        if kind == "softmax":
            y = self.op("softmax", self.op("transpose", x, shape=x.shape[::-1], permutation=[1, 0]))
            return self.keep(self.op("transpose", y, shape=x.shape, permutation=[1, 0]))
        name = "reduce_sum" if kind == "mean" else "reduce_max"
        top = self.op(name, x, shape=(1,) + x.shape[1:], dims=[0], keep_dims=True)
        return self.keep(self.op("sub", x, self.op("scale", top, factor=0.25), shape=x.shape))

    def loss(self):
        self.labels = None
        kinds = self.random.choices(["error", "linear", "plain", "constant", "by_feature", "entropy", "decay"],
                                    [6, 2, 1, 2, 2, 2, 2], k=self.random.randint(1, 3))
        if kinds == ["decay"] * len(kinds) or self.special == "mixes":
            kinds.append("error")
        terms = [self.term(kind) for kind in kinds]
        if self.special == "mixes":
            last = next(node for node in reversed(self.pool) if node.element == "f32")
            terms.append(self.total(self.op("square", last)))
        total = terms[0]
        for term in terms[1:]:
            total = self.op("add", total, term)
        if self.labels is not None and self.random.random() < 0.7:
            count = self.op("count_valid", self.labels, shape=(), element="i64")
        else:
            count = self.constant(-1, "i64", of_rows=True)
        loss = self.op("divide", total, count, shape=(), element="f32")
        if self.special == "nonlinear":
            loss = self.op("scale", self.op("tanh", loss), factor=2.0)
        return loss
