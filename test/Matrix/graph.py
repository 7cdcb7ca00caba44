# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A random model as a list of nodes: its text as MLIR, its values and
# gradients by numpy, three steps of SGD. A dimension is a number; -k is k times the rows
# of the batch, so that one graph serves entry points with other batches.

import numpy as np

import ops

STEPS = 3
LR = float(np.float32(0.1))


class Node:
    """A leaf ("input", "param", "constant") or an op on nodes made before."""

    def __init__(self, op, operands, shape, element, **attrs):
        self.op, self.operands, self.shape, self.element, self.attrs = op, operands, tuple(shape), element, attrs
        self.tags = None

    def sizes(self, rows):
        return [-dim * rows if dim < 0 else dim for dim in self.shape]

    def type(self, rows):
        return "tensor<" + "".join(f"{size}x" for size in self.sizes(rows)) + self.element + ">"

    def has_rows(self):
        return any(dim < 0 for dim in self.shape)


class Entry:
    """An entry point: results by name, what they need and what nobody needs, a number of rows."""

    def __init__(self, name, rows, nodes, results):
        self.name, self.rows, self.nodes, self.results = name, rows, nodes, results

    def leaves(self, kind):
        return [node for node in self.nodes if node.op == kind]


def needed(nodes, results):
    """Those of `nodes` that the results depend on, in order."""
    wanted = set(map(id, results))
    for node in reversed(nodes):
        if id(node) in wanted:
            wanted.update(id(operand) for operand in node.operands)
    return [node for node in nodes if id(node) in wanted]


# Values --------------------------------------------------------------------------------------------------------------


def constant_value(node, rows):
    value = node.attrs["value"]
    return np.asarray(-value * rows if node.attrs.get("of_rows") else value, ops.NUMPY_TYPES[node.element])


def magnitude(node, value, attrs, operands):
    """The size of what is added up on the way to a value: rounding is relative to that."""
    if node.op in ("reduce_sum", "matmul"):
        return ops.OPS[node.op][0](attrs, *map(np.abs, operands))
    return np.abs(value).max(initial=0)


def evaluate(entry, leaves, noise=None):
    """The value of every node; `leaves` has those of inputs and parameters by name. `noise` makes a rounding error of
    a size."""
    values = {}
    for node in entry.nodes:
        if node.op in ("input", "param"):
            values[node] = leaves[node.attrs["name"]]
        elif node.op == "constant":
            values[node] = constant_value(node, entry.rows)
        else:
            attrs = dict(node.attrs, sizes=node.sizes(entry.rows), element=node.element)
            operands = [values[operand] for operand in node.operands]
            value = ops.OPS[node.op][0](attrs, *operands)
            # A maximum is one of its operands: it does not round.
            if noise and node.element == "f32" and node.op != "reduce_max":
                value = value + noise(magnitude(node, value, attrs, operands), np.shape(value))
            values[node] = value
    return values


# Ops whose gradients are sums of products of their operands' sizes.
SUMS = {"add", "sub", "mul", "matmul", "embedding", "reduce_sum", "broadcast"}


def gradients(entry, values, noise=None):
    """d loss / d node, of those that the loss depends on through floating-point values."""
    grads = {entry.results["loss"]: np.ones(())}
    for node in reversed(entry.nodes):
        if node not in grads or not node.operands:
            continue
        attrs = dict(node.attrs, sizes=node.sizes(entry.rows), element=node.element)
        vjp, operands = ops.OPS[node.op][1], [values[operand] for operand in node.operands]
        parts = vjp(attrs, grads[node], values[node], *operands)
        if noise:
            sizes = vjp(attrs, np.abs(grads[node]), values[node], *(
                np.abs(operand) if operand.dtype.kind == "f" else operand for operand in operands)) \
                if node.op in SUMS else parts
            parts = [part if part is None else part + noise(np.abs(size) if node.op in SUMS else np.abs(size).max(
                initial=0), np.shape(part)) for part, size in zip(parts, sizes)]
        for operand, part in zip(node.operands, parts):
            if part is not None and operand.element == "f32":
                grads[operand] = grads[operand] + part if operand in grads else part
    return grads


def train(entries, inputs, params, noise=None):
    """The record of three steps and of the other entry points after them, under the names of piper-check-cells."""
    record, params = {}, dict(params)
    step = entries[0]
    for at in range(STEPS):
        leaves = dict(params, **{name: value[at] for name, value in inputs[step.name].items()})
        values = evaluate(step, leaves, noise)
        grads = gradients(step, values, noise)
        for name, node in step.results.items():
            record[f"{name} of step {at}"] = values[node]
        squares = 0.0
        for node in step.leaves("param"):
            name = node.attrs["name"]
            if node.attrs["frozen"]:
                continue
            gradient = grads.get(node, np.zeros(node.shape))
            squares += (gradient * gradient).sum()
            record[f"gradient '{name}' of step {at}"] = gradient
            params[name] = params[name] - LR * gradient
        record[f"grad_norm of step {at}"] = np.sqrt(squares)
    for node in step.leaves("param"):
        record[f"parameter '{node.attrs['name']}'"] = params[node.attrs["name"]]
    for entry in entries[1:]:
        leaves = dict(params, **{name: value[0] for name, value in inputs[entry.name].items()})
        values = evaluate(entry, leaves, noise)
        for name, node in entry.results.items():
            record[f"{name} of {entry.name}"] = values[node]
    return record


# Text ----------------------------------------------------------------------------------------------------------------


def number(value):
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(int(value))


def dense(array):
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(dense(part) for part in array) + "]"


def attribute(name, value):
    if value is True:
        return name
    if isinstance(value, (list, tuple)):
        return f"{name} = array<i64: {', '.join(map(str, value))}>" if value else f"{name} = array<i64>"
    return f"{name} = {value!r} : f64" if isinstance(value, float) else f"{name} = {value} : i64"


UNARY = {"neg", "square", "scale", "exp", "log", "rsqrt", "tanh", "sigmoid", "silu", "relu", "gelu", "softmax",
         "stop_gradient"}


def op_text(node, names, rows):
    attrs = [attribute(name, value) for name, value in node.attrs.items() if value is not False]
    if node.tags:
        attrs.append(f"piper.tags = #piper.tags<{node.tags}>")
    dictionary = f" {{{', '.join(attrs)}}}" if attrs else ""
    operands = ", ".join(names[operand] for operand in node.operands)
    if node.op in UNARY:
        types = node.type(rows)
    else:
        types = f"({', '.join(operand.type(rows) for operand in node.operands)}) -> {node.type(rows)}"
    return f"  {names[node]} = piper.{node.op} {operands}{dictionary} : {types}"


def argument_text(node, name, rows, params):
    if node.op == "input":
        dims = ", ".join("batch" if dim == -1 else f"d{at}" for at, dim in enumerate(node.shape))
        dims = f", dims = [{dims}]" if node.shape else ""
        return f'{name}: {node.type(rows)} {{piper.input = #piper.input<"{node.attrs["name"]}"{dims}>}}'
    init = f"init = dense<{dense(params[node.attrs['name']])}> : {node.type(rows)}"
    frozen = ", frozen" if node.attrs["frozen"] else ""
    return f'{name}: {node.type(rows)} {{piper.param = #piper.param<"{node.attrs["name"]}", {init}{frozen}>}}'


def entry_text(entry, params):
    leaves = [node for node in entry.nodes if node.op in ("input", "param")]
    names = {node: "%" + (node.attrs["name"] if node in leaves else str(at)) for at, node in enumerate(entry.nodes)}
    arguments = ",\n    ".join(argument_text(node, names[node], entry.rows, params) for node in leaves)
    results = ", ".join(f'{node.type(entry.rows)} {{piper.output = "{name}"}}' for name, node in entry.results.items())
    lines = [f"func.func @{entry.name}(\n    {arguments})\n    -> ({results}) {{"]
    for node in entry.nodes:
        if node.op == "constant":
            value = dense(constant_value(node, entry.rows))
            lines.append(f"  {names[node]} = piper.constant dense<{value}> : {node.type(entry.rows)}")
        elif node not in leaves:
            lines.append(op_text(node, names, entry.rows))
    returned = ", ".join(names[node] for node in entry.results.values())
    types = ", ".join(node.type(entry.rows) for node in entry.results.values())
    return "\n".join(lines + [f"  return {returned} : {types}", "}"])


def text(entries, params, in_module):
    functions = "\n".join(entry_text(entry, params) for entry in entries) + "\n"
    return f"module {{\n{functions}}}\n" if in_module else functions
