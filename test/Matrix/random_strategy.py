# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random ways to distribute a random model, by keys or by directives, and the
# rules by which one may be refused. Every rule is a sentence of the
# documentation, and says for itself whether it is broken.

import json
import random
import re

import cells

DEVICES = {"loop": lambda p, stage: stage % p,
           "v": lambda p, stage: p - 1 - stage % p if stage // p % 2 else stage % p}


class Strategy:
    """The keys of --piper-compile as `words`, and perhaps a list of directives that stands in a file. Number `at` of a
    seed; without one, one device."""

    def __init__(self, model, seed, at=None):
        self.model, self.random = model, random.Random(f"{seed} {at}")
        self.kind, self.ranks, self.chunks, self.micro = None, 0, 1, 1
        self.cuts, self.unplaced_keys, self.again = [], [], []
        self.directives, self.costs, self.words, self.keeps_order = None, None, [], True
        if at is None:
            self.key("micro-batches", 1)
            return
        self.choose_micro()
        make = self.random.choices([self.alone, self.by_keys, self.by_directives], [12, 60, 28])[0]
        if make == self.by_directives and len(model.live) < model.layers:
            make = self.by_keys
        make()

    def choose_micro(self):
        legal = [m for m in range(1, self.model.rows + 1) if self.model.rows % m == 0]
        self.micro = self.random.choice(legal[1:] if self.random.random() < 0.85 else legal)
        if self.random.random() < 0.03:
            self.micro = self.random.randint(1, self.model.rows + 1)

    # Keys ------------------------------------------------------------------------------------------------------------

    def key(self, name, value):
        self.words.append(f"{name}={value}")

    def alone(self):
        """Micro-batches on one device."""
        self.key("micro-batches", self.micro)
        self.recompute()
        if self.random.random() < 0.05:
            self.unplaced_keys.append(self.random.choice(["prefetch", "buffering"]))
            self.key(self.unplaced_keys[0], 1)

    def recompute(self):
        kind = self.random.choices(["", "all", "layer"], [5, 3, 3])[0]
        if kind:
            layer = self.random.randrange(self.model.layers)
            self.key("recompute", "true" if kind == "all" else f"layer={layer}")

    def choose_kind(self):
        """Mostly one that keeps the rules."""
        for _ in range(20 if self.random.random() < 0.9 else 1):
            self.ranks = self.random.choice([1, 2, 2, 2, 3, 4])
            self.kind = self.random.choice(cells.KINDS)
            self.chunks = cells.CHUNKS.get(self.kind, self.random.choice([1, 2, 2, 3]))
            if self.random.random() < 0.02:
                self.chunks = self.random.randint(1, 3)
            if not self.broken_kind() and self.stages() <= self.model.layers:
                break

    def broken_kind(self):
        return self.kind is not None and not cells.keeps_rules(self.kind, self.ranks, self.chunks, self.micro)

    def stages(self):
        return cells.stages(self.kind, self.ranks, self.chunks)

    def by_keys(self):
        self.choose_kind()
        self.key("pipeline-parallel", self.ranks)
        if self.micro > 1 or self.random.random() < 0.5:
            self.key("micro-batches", self.micro)
        self.key("schedule", self.kind)
        self.key("chunks", self.chunks)
        count = self.stages() - 1
        if 0 < count < self.model.layers and self.random.random() < 0.35:
            self.cuts = sorted(self.random.sample(range(1, self.model.layers), count))
            self.key("cuts", ",".join(map(str, self.cuts)))
        self.recompute()
        if self.random.random() < 0.4:
            self.key("prefetch", self.random.choice([0, 1, 2, 4]))
        if self.random.random() < 0.4:
            self.key("buffering", self.random.choice([0, 1, 3]))
        if self.random.random() < 0.15:
            # Slow links make another order, and another balance of stages.
            self.costs = {"update": self.random.random(), "link": {
                "latency": self.random.choice([0, 1, 50]), "bytes_per_us": self.random.choice([1, 1e4])}}

    # Directives ------------------------------------------------------------------------------------------------------

    def place(self, devices, stage=None):
        for layer in range(self.model.layers):
            entry = {"op": "place", "filter": {"layer": layer}, "devices": devices(layer)}
            if stage:
                entry["stage"] = stage(layer)
            self.directives.append(entry)

    def by_directives(self):
        self.directives = []
        if self.micro > 1:
            self.directives.append({"op": "split", "num_microbatches": self.micro})
        form = self.random.choice(["free", "staged", "ordered"])
        if form == "staged":
            self.choose_kind()
            if self.stages() > self.model.layers:
                form = "free"
        if form == "staged":
            starts = [0] + sorted(self.random.sample(range(1, self.model.layers), self.stages() - 1))
            stage = lambda layer: sum(start <= layer for start in starts) - 1
            placement = "v" if self.kind in ("zbv", "v_half", "v_min", "dualpipev") else "loop"
            device = lambda layer: DEVICES[placement](self.ranks, stage(layer))
            both = lambda layer: [device(layer)] + (
                [self.ranks - 1 - device(layer)] if self.kind == "dualpipe" else [])
            self.place(both, stage)
            self.directives.append({"op": "schedule", "kind": self.kind})
        else:
            self.kind = None
            self.ranks = self.random.randint(1, min(4, self.model.layers))
            # Every device has a layer.
            device = list(range(self.ranks)) + [self.random.randrange(self.ranks)
                                                for _ in range(self.model.layers - self.ranks)]
            self.random.shuffle(device)
            self.place(lambda layer: [device[layer]])
        for _ in range(self.random.choice([0, 0, 1, 2])):
            self.again.append(self.random.randrange(self.model.layers))
            self.directives.append({"op": "recompute", "filter": {"layer": self.again[-1]}})
        if form == "ordered" and self.micro > 1:
            self.order()
        if self.random.random() < 0.5:
            self.directives.append({"op": "options", "prefetch": self.random.randint(0, 3),
                                    "buffering": self.random.randint(0, 2)})
        self.random.shuffle(self.directives)

    def order(self):
        """All forwards of a layer in some order of micro-batches."""
        layer = self.random.choice(sorted(self.model.batched) * 9 + [self.random.randrange(self.model.layers)])
        order = list(range(self.micro))
        if self.random.random() < 0.5:
            self.random.shuffle(order)
        self.keeps_order = order == sorted(order)
        self.directives.append({"op": "order", "filters": [
            [{"PASS": "F", "layer": layer, "MB": mb}] for mb in order]})

    # The cell --------------------------------------------------------------------------------------------------------

    def cell(self, folder, name):
        """The line of the cell; writes its files."""
        words = list(self.words)
        if self.costs:
            path = folder / f"{name}.costs.json"
            path.write_text(json.dumps(self.costs) + "\n")
            words.append(f"costs={path}")
        if self.directives is not None:
            path = folder / f"{name}.mb{self.micro}.json"
            path.write_text("[" + ",\n ".join(map(json.dumps, self.directives)) + "]\n")
            words.append(f"directives={path}")
        return ("try " if self.keeps_order else "order ") + " ".join(words)


# Rules ---------------------------------------------------------------------------------------------------------------


def splits(s):
    return s.micro > 1


# The text of a refusal, where the rule stands, and whether this strategy breaks it: None where only the compiler
# knows (what it says is then in the match).
RULES = [
    ("micro-batches divide the batch",  # writing-a-model.md: "M must divide the batch"
     r"cannot split dimension 'batch' of input '\w+' into \d+ equal micro-batches",
     lambda s, m: s.model.rows % s.micro != 0),
    ("sizes of the kind",  # schedules.md, table of kinds: "legal P, M", "V"
     r"kind '\w+' needs |expects two different devices",
     lambda s, m: s.broken_kind()),
    ("a segment for each stage",  # directives.md: "There must be a segment for each stage"
     r"(\d+) stages? on \d+ coordinates? need as many segments but 'train' has (\d+)",
     lambda s, m: int(m[1]) > int(m[2]) and s.stages() == int(m[1]) if m else None),
    ("cuts are segments",  # directives.md: "gives the first segment of stages 1, 2 and 3"
     r"key 'cuts' expects ascending segments of 1\.\.(\d+)",
     lambda s, m: max(s.cuts) > int(m[1]) if m else None),
    ("no key without effect",  # directives.md: "A key that would change nothing is an error"
     r"key '(\w+)' needs pipeline-parallel",
     lambda s, m: bool(s.unplaced_keys)),
    ("no filter that fits nothing",  # directives.md: "a filter that fits nothing, are errors"
     r"filter \{layer = (\d+)\} matches no ",
     lambda s, m: int(m[1]) not in s.model.live if m else None),
    ("nothing runs again twice",  # directives.md: "A filter of segments that all run again already is an error"
     r"all that filter \{layer = \d+\} matches runs again already",
     lambda s, m: len(set(s.again)) < len(s.again)),
    ("no micro-batches of what runs once",  # pipeline.md: "What depends on parameters alone runs once in a step"
     r"filter \{MB = \d+, PASS = \"F\", layer = (\d+)\} of group \d+ matches no task",
     lambda s, m: int(m[1]) not in s.model.batched if m else None),
    ("there is something to train",  # passes.md, --piper-verify-model: "trained parameters"
     r"expects a parameter to train but the loss depends on no trainable parameter",
     lambda s, m: not s.model.trains if m else None),
    ("nothing mixes samples",  # writing-a-model.md: "An op that mixes samples cannot run on a part of them"
     r"mixes the samples|takes the maximum over the samples|uses a sum over 'batch'|is not linear in a sum",
     lambda s, m: splits(s) and (s.model.special == "mixes" or (s.model.sums_inputs if m else None))),
    ("the loss is linear in its sums",  # writing-a-model.md: "Only sums over the batch, and what is linear in them"
     r"expects the loss to be linear in what is summed over 'batch'",
     lambda s, m: s.model.special == "nonlinear" and splits(s) if m else None),
]


def judge(strategy, text):
    """(rule, problem) of a refusal: the rule is broken, the place is one of the user's, or what is wrong."""
    place = re.match(r"([^:]+):(\d+):(\d+): ", text)
    for name, pattern, is_broken in RULES:
        match = re.search(pattern, text)
        if not match:
            continue
        if not is_broken(strategy, match):
            return name, "refused though the rule is kept"
        if not place or place[2] == "0":
            return name, "refused at no place"
        if strategy.directives and re.search(r"directive #\d+", text) and not place[1].endswith(".json"):
            return name, "refused at another place than that of the directive"
        return name, ""
    return "", "refused by no rule"


def must_refuse(strategy):
    """The names of rules that the strategy breaks for certain."""
    return [name for name, _, is_broken in RULES if is_broken(strategy, None)]
