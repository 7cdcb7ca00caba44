# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a printed plan and checks its memory again, from the text alone: offsets
# are aligned, values that live at the same time do not share bytes but where a
# result takes the place of an operand that nothing reads later, and the figures
# (peak, live, categories, arena) are those of the values. A value that a send or
# reduce reads lives until the next task, one that a receive or reduce makes from
# the task before it.
#
#   check-plan.py [--ratio R] < plan.mlir     exit 1 with a line per error

import argparse
import re
import sys

ALIGNMENT = 64
WIDTHS = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "bf16": 2, "i1": 1}
VIEWS = {"piper.reshape", "piper.slice", "piper.broadcast"}
errors = []


def num_bytes(type_text):
    *dims, element = re.fullmatch(r"tensor<(.*)>", type_text).group(1).split("x")
    size = WIDTHS[element]
    for dim in dims:
        size *= int(dim)
    return size


def round_up(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def numbers(text):
    return [int(word) for word in re.findall(r"-?\d+", text)]


def types_of(text):
    return re.findall(r"tensor<[^>]*>", text)


class Op:
    """One line of a block: results, operands, and the types of both."""

    def __init__(self, line):
        left, right = line.split(" = ", 1) if re.match(r"%[^=]* = ", line) else ("", line)
        self.results = []
        for name in left.split(","):
            name, _, count = name.strip().partition(":")
            if count:
                self.results += [f"{name}#{i}" for i in range(int(count))]
            elif name:
                self.results.append(name)
        self.name = right.split()[0]
        body, _, signature = right.rpartition(" : ")
        self.operands = re.findall(r"%[\w.$-]+(?:#\d+)?", re.sub(r'"[^"]*"', "", body))
        callee = re.search(r"@([\w.$-]+|\"[^\"]*\")\(", right)
        self.callee = callee.group(1).strip('"') if callee and self.name == "piper.task" else None
        result_types = signature.split("->")[-1]
        self.result_types = types_of(result_types)
        offsets = re.search(r"offsets = \[([^\]]*)\]", right)
        self.offsets = numbers(offsets.group(1)) if offsets else []
        workspace = re.search(r"workspace = (\d+)", right)
        self.workspace = int(workspace.group(1)) if workspace else None


class Block:
    """An entry point or a body: its arguments, attributes and ops."""

    def __init__(self, header, lines):
        self.name = re.search(r"@([\w.$-]+|\"[^\"]*\")\(", header).group(1).strip('"')
        # Arguments and results stand before the attributes of the op.
        head, _, self.attributes = header.partition(" attributes {")
        argument_text, results, result_text = head.partition(") -> ")
        if not results:
            argument_text = argument_text.rstrip().removesuffix(")")
        self.arguments = re.findall(r"(%[\w.$-]+): (tensor<[^>]*>)(?: \{(.*?)\}(?=, %|$))?", argument_text)
        self.result_attributes = re.findall(r"tensor<[^>]*> \{piper\.(\w+) = \"([^\"]*)\"\}", result_text)
        self.ops = [Op(line) for line in lines[:-1]]
        self.returned = re.findall(r"%[\w.$-]+(?:#\d+)?", lines[-1].rpartition(" : ")[0])
        # A view of a micro-batch lies in its input; nothing runs.
        inputs = {op.results[0]: op.operands[0] for op in self.ops if op.name == "piper.micro_batch"}
        self.ops = [op for op in self.ops if op.name != "piper.micro_batch"]
        for op in self.ops:
            op.operands = [inputs.get(name, name) for name in op.operands]
        self.returned = [inputs.get(name, name) for name in self.returned]

    def attribute(self, name):
        found = re.search(r"[ {,]%s = (?:array<i64: )?([^>}]*?)(?: : i64)?(?=>|, \w+ = |\}|$)" % name, self.attributes)
        return numbers(found.group(1)) if found else None


def read(text):
    """Programs as (name, arena, entries), and bodies by name."""
    programs, bodies = [], {}
    header, lines = None, []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("piper.program"):
            programs.append((line.split()[1], int(re.search(r"arena = (\d+)", line).group(1)), []))
        elif line.startswith(("piper.entry", "func.func")):
            header, lines = line, []
        elif header and line == "}":
            block = Block(header, lines)
            if header.startswith("func.func"):
                bodies[block.name] = block
            else:
                programs[-1][2].append(block)
            header = None
        elif header:
            lines.append(line)
    return programs, bodies


def spread_over_tasks(entry, spots, begin, end):
    """Ops between programs run while the tasks around them do."""
    tasks = [step for step, op in enumerate(entry.ops) if op.callee]
    for step, op in enumerate(entry.ops):
        if op.callee:
            continue
        before = max((task for task in tasks if task < step), default=0)
        after = min((task for task in tasks if task > step), default=len(entry.ops))
        over = {spots[name] for name in op.results} & {spots[name] for name in op.operands}
        for name in op.results:
            if spots[name] not in over:
                begin[name] = before
        for name in op.operands:
            if spots[name] not in over:
                end[name] = max(end[name], after)


def last_uses(block):
    last = {}
    for step, op in enumerate(block.ops):
        for operand in op.operands:
            last[operand] = step
    for value in block.returned:
        last[value] = len(block.ops)
    return last


def check_disjoint(where, step, op, live, last):
    """`live`: name -> (base, begin, bytes) of the values alive at `step`."""
    ordered = sorted(live.items(), key=lambda item: item[1])
    for index, (name, (base, begin, size)) in enumerate(ordered):
        for other, (other_base, other_begin, other_size) in ordered[index + 1 :]:
            if other_base != base or other_begin >= begin + size:
                break
            made, source = (name, other) if name in op.results else (other, name)
            in_place = (
                made in op.results and source in op.operands
                and last.get(source, -1) <= step
                and (begin, size) == (other_begin, other_size)
                and op.operands.count(source) == 1
            )
            if not in_place:
                errors.append(f"{where}, op {step} ({op.callee or op.name}): {name} and {other} overlap")


def check_body(body):
    """Values in the workspace, by the base, place and offset of each."""
    memory = re.search(r"#piper.memory<bytes = (\d+)(?:, values = \[([^\]]*)\])?(?:, kernels = \[([^\]]*)\])?>", body.attributes)
    size, places = int(memory.group(1)), numbers(memory.group(2) or "")
    kernels = numbers(memory.group(3) or "")
    last, where = last_uses(body), f"body '{body.name}'"
    place, kinds = {}, {}
    for op in body.ops:
        for name, type_text in zip(op.results, op.result_types):
            base, of, offset, places = places[0], places[1], places[2], places[3:]
            place[name] = ((base, of if base < 2 else 0), offset, num_bytes(type_text))
            kinds[name] = op
            if base == 2 and offset + num_bytes(type_text) > size:
                errors.append(f"{where}: {name} does not fit into the workspace")
            if base == 1 and name not in body.returned and offset != 0:
                errors.append(f"{where}: {name} lies inside a result")
    for index, name in enumerate(body.returned):
        if place[name][0] != (1, index) or place[name][1] != 0:
            errors.append(f"{where}: {name} is not in result {index}")
    # A view lives in its source, and keeps it alive.
    source = {}
    for op in body.ops:
        if op.name in VIEWS and op.operands[0] in place:
            view, of = op.results[0], op.operands[0]
            if place[view][0] == place[of][0] and place[of][1] <= place[view][1] < place[of][1] + place[of][2]:
                source[view] = of
    alive = dict(last)
    for view in reversed(list(source)):
        of = source[view]
        alive[of] = max(alive.get(of, -1), alive.get(view, -1))
    begin = {name: step for step, op in enumerate(body.ops) for name in op.results}
    for step, op in enumerate(body.ops):
        live = {
            name: spot for name, spot in place.items()
            if begin[name] <= step <= max(alive.get(name, -1), begin[name]) and spot[0][0] != 0
            and not (name in source and place[source[name]][0] == spot[0])
        }
        check_disjoint(where, step, op, live, alive)
        if kernels[step] < 0:
            continue
        if kernels[step] % ALIGNMENT or kernels[step] >= size:
            errors.append(f"{where}, op {step}: scratch at {kernels[step]} of {size}")
        for name, (base, offset, length) in live.items():
            if base[0] == 2 and offset <= kernels[step] < offset + length:
                errors.append(f"{where}, op {step}: scratch lies in {name}")
    return size


def check_entry(entry, bodies, workspace, states):
    where, last = f"entry '{entry.name}'", last_uses(entry)
    spots, begin, permanent = {}, {}, {}
    for (name, type_text, attributes), offset in zip(entry.arguments, entry.attribute("offsets")):
        spots[name], begin[name] = (0, offset, num_bytes(type_text)), -1
        state = re.search(r"#piper\.(?:param|state)<\"([^\"]*)\"", attributes)
        if state:
            permanent[name] = state.group(1)
            if states.setdefault(state.group(1), spots[name]) != spots[name]:
                errors.append(f"{where}: '{state.group(1)}' lies elsewhere than in other entries")
    for step, op in enumerate(entry.ops):
        if len(op.offsets) != len(op.results):
            errors.append(f"{where}, op {step}: {len(op.offsets)} offsets for {len(op.results)} results")
        for name, type_text, offset in zip(op.results, op.result_types, op.offsets):
            spots[name], begin[name] = (0, offset, num_bytes(type_text)), step
    for name, (_, offset, _) in spots.items():
        if offset % ALIGNMENT:
            errors.append(f"{where}: {name} at {offset} is not aligned")
    # New state takes the place of the old one.
    kinds = dict(zip(entry.returned, entry.result_attributes))
    by_name = {state: name for name, state in permanent.items()}
    for value, (kind, name) in kinds.items():
        if kind == "next" and spots[value] != spots[by_name[name]]:
            errors.append(f"{where}: the next '{name}' is not made in its place")
    steps = len(entry.ops)
    end = {name: max(last.get(name, 0), begin[name]) for name in spots}
    spread_over_tasks(entry, spots, begin, end)
    for name in permanent:
        taken = [v for v, (kind, of) in kinds.items() if kind == "next" and of == permanent[name] and v != name]
        end[name] = begin[taken[0]] if taken else steps
    # State of other entry points lies in this arena too.
    foreign = {f"'{name}'": spot for name, spot in states.items() if name not in by_name}
    most, peak = 0, 0
    for step in range(-1, steps + 1):
        live = {name: spot for name, spot in spots.items() if begin[name] <= step <= end[name]}
        live.update(foreign)
        op = entry.ops[step] if 0 <= step < steps else Op("return")
        if op.workspace is not None:
            live["workspace"] = (0, op.workspace, workspace[op.callee])
        elif op.callee and workspace[op.callee]:
            errors.append(f"{where}, op {step}: '{op.callee}' has no workspace")
        # The state of `next` values is still counted once.
        check_disjoint(where, step, op, live, {**last, **{n: end[n] for n in permanent}})
        distinct = {(spot[1], spot[2]) for spot in live.values()}
        distinct |= {(spots[name][1], spots[name][2]) for name in permanent}
        most = max(most, sum(round_up(size) for _, size in distinct))
        peak = max([peak] + [offset + round_up(size) for offset, size in distinct])
    figures = {key: entry.attribute(key)[0] for key in ("peak", "live")}
    categories = re.search(r"categories = \{([^}]*)\}", entry.attributes).group(1)
    total = sum(int(size) for size in re.findall(r"= (\d+)", categories))
    for key, expected in (("peak", peak), ("live", most)):
        if figures[key] != expected:
            errors.append(f"{where}: {key} is {figures[key]} but the values need {expected}")
    if total != most:
        errors.append(f"{where}: the categories add up to {total}, live is {most}")
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ratio", type=float, default=1.03)
    arguments = parser.parse_args()
    programs, bodies = read(sys.stdin.read())
    workspace = {name: check_body(body) for name, body in bodies.items()}
    for program, arena, entries in programs:
        states, peaks = {}, []
        # `train` has all state: the others are checked against it.
        for entry in sorted(entries, key=lambda entry: entry.name != "train"):
            figures = check_entry(entry, bodies, workspace, states)
            peaks.append(figures["peak"])
            ratio = figures["peak"] / figures["live"]
            name = entry.name if len(programs) == 1 else f"{program} {entry.name}"
            if ratio > arguments.ratio:
                errors.append(f"entry '{name}': arena / live is {ratio:.3f}")
            print(f"{name}: {len(entry.ops)} {'tasks' if len(programs) == 1 else 'ops'}, peak / live = {ratio:.4f}")
        if arena != max(peaks):
            errors.append(f"arena is {arena} but the largest peak {max(peaks)}")
    for error in errors[:20]:
        print("error:", error)
    if not programs or not bodies:
        sys.exit("error: no entry points")
    sys.exit(1 if errors else 0)


main()
