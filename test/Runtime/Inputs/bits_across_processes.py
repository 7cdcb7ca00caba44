# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs products of matrices, many of them with dimensions of 1, all in one
# process, in the opposite order, and in processes where no two have the same
# sizes, and fails where a product or a gradient has other bits in another
# process. A model is one product after another: c<i> = a<i> b<i>, with the
# gradients of both.
#
#   bits_across_processes.py FOLDER COMMAND ...   COMMAND FILE runs a model

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file

# Sizes that differ in which of rows, columns and depth are 1, each as it is
# stored plainly and transposed; one batch of each kind.
SIZES = [(m, n, k) for m in (1, 24) for n in (1, 40) for k in (1, 72)]
SIZES += [(1, 1, 16), (1, 300, 16), (200, 1, 130), (2, 1, 16), (1, 2, 16)]
LEADS = [(), (3,), (1, 3, 1)]
PRODUCTS = [
    (lead, m, n, k, transpose_a, transpose_b)
    for (m, n, k) in SIZES
    for lead in LEADS
    for transpose_a in (False, True)
    for transpose_b in (False, True)
]


def tensor(shape):
    return "tensor<" + "".join(f"{dim}x" for dim in shape) + "f32>"


def model(numbers):
    """The model text of the products with these numbers, in this order."""
    arguments, results, ops, sums, outputs = [], [], [], [], []
    for i in numbers:
        lead, m, n, k, transpose_a, transpose_b = PRODUCTS[i]
        a, b, c = (
            tensor(lead + shape)
            for shape in ((k, m) if transpose_a else (m, k), (n, k) if transpose_b else (k, n), (m, n))
        )
        flags = ["transpose_a"] * transpose_a + ["transpose_b"] * transpose_b
        dims = ", ".join(str(dim) for dim in range(len(lead) + 2))
        for name, kind in (("a", a), ("b", b)):
            arguments.append(f'%{name}{i}: {kind} {{piper.param = #piper.param<"{name}{i}", init = normal<1.0>>}}')
        ops += [
            f"%c{i} = piper.matmul %a{i}, %b{i} {{{', '.join(flags)}}} : ({a}, {b}) -> {c}",
            # A gradient of c that is not the same everywhere.
            f"%q{i} = piper.square %c{i} : {c}",
            f"%s{i} = piper.reduce_sum %q{i} {{dims = array<i64: {dims}>}} : ({c}) -> tensor<f32>",
        ]
        results.append(f'{c} {{piper.output = "c{i}"}}')
        outputs.append((f"%c{i}", c))
        sums.append(f"%s{i}")
    total = "%z"
    for i, value in enumerate(sums):
        ops.append(f"%t{i} = piper.add {total}, {value} : (tensor<f32>, tensor<f32>) -> tensor<f32>")
        total = f"%t{i}"
    values = ", ".join([total] + [name for name, _ in outputs])
    types = ", ".join(["tensor<f32>"] + [kind for _, kind in outputs])
    lines = [
        'func.func @train(%x: tensor<1x1xf32> {piper.input = #piper.input<"x", dims = [batch, one]>}, ' + ", ".join(arguments) + ")",
        '    -> (tensor<f32> {piper.output = "loss"}, ' + ", ".join(results) + ") {",
        "  %z = piper.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<f32>",
        *("  " + op for op in ops),
        f"  return {values} : {types}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def run(folder, command, numbers):
    """Every product and gradient of one process, by name, as bytes."""
    path = os.path.join(folder, "products.mlir")
    with open(path, "w") as file:
        file.write(model(numbers))
    outputs, gradients = (os.path.join(folder, name) for name in ("outputs.safetensors", "gradients.safetensors"))
    subprocess.run(
        command + [path, "--dump-outputs", outputs, "--dump-gradients", gradients], check=True, stdout=subprocess.DEVNULL
    )
    found = {}
    for path in (outputs, gradients):
        for name, tensor in safetensors_file.read(path).items():
            found[name] = tensor.values.tobytes()
    return found


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    everything = list(range(len(PRODUCTS)))
    reference = run(folder, command, everything)
    alone = [
        [i for i in everything if (PRODUCTS[i][0], *PRODUCTS[i][4:]) == (lead, transpose_a, transpose_b)]
        for lead in LEADS
        for transpose_a in (False, True)
        for transpose_b in (False, True)
    ]
    differing, compared = set(), 0
    for numbers in [everything[::-1]] + alone:
        found = run(folder, command, numbers)
        for i in numbers:
            for name in (f"a{i}", f"b{i}", f"c{i}"):
                compared += 1
                if found[name] != reference[name]:
                    differing.add(f"{name} of {PRODUCTS[i]}")
    for line in sorted(differing):
        print("other bits:", line)
    print(f"{len(alone) + 2} processes, {compared} tensors compared, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
