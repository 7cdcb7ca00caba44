# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A random model of a seed: 2 to 10 segments, each of some moves (random_moves.py), a
# loss, results of all kinds, and perhaps entry points for evaluation and prediction.

import random

import numpy as np

import graph
import random_moves
from graph import Entry, Node

# Most rounding that a model may have: of the allowance of MATCH, when every op is off by an ulp of f32.
ROOM = 0.2
ULP = 2.0**-23
# Of errors, each of which must leave it.
DRAWS = 3


class Maker(random_moves.Moves):
    """Builds nodes and evaluates each at once, so that values stay of the size of 1."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.RandomState(seed)
        self.rows = self.random.choice([4, 4, 6, 8, 8, 12])
        self.width = self.random.choice([2, 3, 4, 5, 8])
        self.vocab = self.random.choice([2, 5, 7])
        self.nodes, self.pool, self.values, self.inputs, self.params = [], [], {}, {}, {}
        self.tags, self.sums_inputs = None, False

    # Leaves ----------------------------------------------------------------------------------------------------------

    def add(self, node, value):
        node.tags = self.tags if node.operands else None
        self.nodes.append(node)
        self.values[node] = value
        return node

    def input(self, shape, element, make):
        name = f"{element[0]}{len(self.inputs)}"
        node = Node("input", (), shape, element, name=name)
        self.inputs[name] = make
        return self.add(node, make(self.numbers, node.sizes(self.rows)))

    def param(self, *shape, scale=None, value=None, frozen=None):
        name = f"p{len(self.params)}"
        if value is None:
            scale = scale or 1 / max(1, shape[0] if len(shape) > 1 else 2) ** 0.5
            value = self.numbers.standard_normal(shape) * scale
        self.params[name] = np.float32(value).astype(float)
        frozen = self.random.random() < 0.12 if frozen is None else frozen
        return self.add(Node("param", (), shape, "f32", name=name, frozen=frozen), self.params[name])

    def constant(self, value, element, of_rows=False):
        node = Node("constant", (), (), element, value=value, of_rows=of_rows)
        return self.add(node, graph.constant_value(node, self.rows))

    # Ops -------------------------------------------------------------------------------------------------------------

    def op(self, name, *operands, shape=None, element=None, **attrs):
        if shape is None:
            shape = self.broadcast_shape([operand.shape for operand in operands])
        node = Node(name, operands, shape, element or operands[-1].element, **attrs)
        known = dict(attrs, sizes=node.sizes(self.rows), element=node.element)
        value = graph.ops.OPS[name][0](known, *(self.values[operand] for operand in operands))
        assert list(np.shape(value)) == node.sizes(self.rows), (name, np.shape(value), node.sizes(self.rows))
        return self.add(node, value)

    @staticmethod
    def broadcast_shape(shapes):
        rank = max(map(len, shapes))
        padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        return tuple(max(dims, key=lambda dim: (dim < 0, dim)) for dims in zip(*padded))

    def keep(self, node):
        """Scales what has grown or shrunk, and puts it where later moves find it."""
        size = np.sqrt(np.mean(np.square(self.values[node])))
        if node.element == "f32" and not 0.2 < size < 2.5 and size > 1e-6:
            node = self.op("scale", node, factor=float(f"{0.8 / size:.2g}"))
        self.pool.append(node)
        return node

    # The model -------------------------------------------------------------------------------------------------------

    def segment(self, number):
        named = ', name = "block"' if self.random.random() < 0.3 else ""
        self.tags = f"layer = {number}{named}"
        kind = self.random.choices(["rows", "once", "both", "dead"], [74, 10, 12, 4])[0]
        if kind in ("once", "both"):
            self.some_moves(self.ONCE, 1, 2)
        if kind != "once":
            known = len(self.pool)
            self.some_moves(self.ROWS, 1, 4)
            if kind == "dead":
                del self.pool[known:]

    def some_moves(self, moves, least, most):
        for _ in range(self.random.randint(least, most)):
            names, weights = zip(*moves.items())
            getattr(self, self.random.choices(names, weights)[0])()
            # An op without tags belongs to the run before it.
            if self.random.random() < 0.08:
                tags, self.tags = self.tags, None
                self.unary()
                self.tags = tags

    def make(self):
        self.start()
        count = self.random.randint(2, 10)
        for number in range(count - 1):
            self.segment(number)
        self.tags = f"layer = {count - 1}"
        self.special = self.random.choices(["", "mixes", "nonlinear"], [90, 6, 4])[0]
        if self.special == "mixes":
            self.mix()
        extra = [self.hits()] if self.random.random() < 0.15 else []
        if self.random.random() < 0.3:
            extra.append(self.summary())
        loss = self.loss()
        results = self.results(loss, extra)
        if self.random.random() < 0.15:
            self.param(2, 2)  # that nothing reads
        return self.entries(results)

    def results(self, loss, extra):
        results = {"loss": loss}
        for node in extra + self.random.sample(self.nodes, min(len(self.nodes), self.random.randint(0, 5))):
            if node.op != "constant" and node is not loss:
                results[f"r{len(results)}"] = node
        order = list(results.items())
        self.random.shuffle(order)
        return dict(order)

    def entries(self, results):
        entries = [Entry("train", self.rows, self.nodes, results)]
        for name in ("eval", "predict"):
            if self.random.random() < 0.7:
                continue
            kept = {key: node for key, node in results.items()
                    if (key == "loss" if name == "eval" else node.has_rows()) or self.random.random() < 0.5}
            if name == "predict":
                kept.pop("loss", None)
            if not kept:
                continue
            rows = self.random.choice([1, 2, 2, 3, 4, self.rows, 2 * self.rows])
            entries.append(Entry(name, rows, graph.needed(self.nodes, kept.values()), kept))
        if len(entries) < 2 or entries[1].name != "eval":
            # The compiler makes it of `train`.
            entries.insert(1, Entry("eval", self.rows, self.nodes, results))
            entries[1].is_made = True
        return entries


def usable(reference, noisy):
    """Whether rounding leaves room: it takes at most a share of ROOM of the allowance of MATCH."""
    for name, ref in reference.items():
        ref, got = np.asarray(ref, float), np.asarray(noisy[name], float)
        largest = np.abs(ref).max(initial=0)
        if not np.isfinite(ref).all() or largest > 1e4:
            return False
        allowed = np.full(ref.shape, 1e-7 if largest <= 1e-7 else 1e-5 * largest)
        if largest > 1e-7:
            # Between zero and small enough to be rounding, nothing can be told apart.
            if largest < 1e-4:
                return False
            near = np.abs(ref) > 1e-3 * largest
            allowed[near] = np.minimum(allowed[near], 1e-3 * np.abs(ref[near]))
        if not (np.abs(got - ref) <= ROOM * allowed).all():
            return False
    return True


class RandomModel:
    def __init__(self, seed):
        # The first of the seed's models that has room; which one is the same everywhere.
        for attempt in range(50):
            maker = Maker(1000 * seed + attempt)
            self.entries = maker.make()
            self.params, self.rows = maker.params, maker.rows
            self.special, self.sums_inputs = maker.special, maker.sums_inputs
            self.inputs = {entry.name: {node.attrs["name"]: np.stack([
                maker.inputs[node.attrs["name"]](maker.numbers, node.sizes(entry.rows))
                for _ in range(graph.STEPS)]) for node in entry.leaves("input")} for entry in self.entries}
            noise = np.random.RandomState(seed)
            # Equal numbers in all rows are rounded alike: most of an op's error has one sign.
            shake = lambda size, shape: ULP * size * (noise.choice([-0.7, 0.7]) + noise.uniform(-0.3, 0.3, shape))
            with np.errstate(all="ignore"):
                self.reference = graph.train(self.entries, self.inputs, self.params)
                noisy = [graph.train(self.entries, self.inputs, self.params, shake) for _ in range(DRAWS)]
            self.trains = any(name.startswith("gradient") and np.any(value) for name, value in self.reference.items())
            if all(usable(self.reference, one) for one in noisy) and (self.trains or seed % 20 == 7):
                break
        else:
            raise SystemExit(f"seed {seed}: no model with room for rounding in 50")
        layer = lambda node: int(node.tags.split(",")[0].split(" = ")[1])
        step = self.entries[0]
        self.layers = 1 + max(layer(node) for node in step.nodes if node.tags)
        self.find_segments(step, layer)
        self.in_module = maker.random.random() < 0.5

    def find_segments(self, step, layer):
        """The layers that are a segment for certain (`live`), and those that run once for each micro-batch."""
        trained, summed = set(), set()
        for node in step.nodes:
            if node.op == "param" or any(operand in trained for operand in node.operands):
                trained.add(node)
            takes_rows = any(operand.has_rows() for operand in node.operands)
            if not node.has_rows() and (takes_rows or any(operand in summed for operand in node.operands)):
                summed.add(node)
        self.live, self.batched = set(), set()
        for node in graph.needed(step.nodes, step.results.values()):
            takes_rows = any(operand.has_rows() for operand in node.operands)
            if node.tags and node in trained and (takes_rows or node not in summed):
                self.live.add(layer(node))
                if takes_rows:
                    self.batched.add(layer(node))
        self.has_batch = bool(self.batched)

    def text(self):
        written = [entry for entry in self.entries if not getattr(entry, "is_made", False)]
        return graph.text(written, self.params, self.in_module)
