# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# element.py FILE NAME X EPS [I]: fails unless element I (0) of a tensor is X
# within EPS.
# element.py --ones FILE NAME STEPS: writes ones of f64[STEPS, 1, 1].

import array
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "oracle"))
import safetensors_file


def main():
    if sys.argv[1] == "--ones":
        file, name, steps = sys.argv[2], sys.argv[3], int(sys.argv[4])
        values = array.array("d", [1.0] * steps)
        safetensors_file.write(file, {name: safetensors_file.Tensor("F64", (steps, 1, 1), values)})
        return
    at = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    value = safetensors_file.read(sys.argv[1])[sys.argv[2]].values[at]
    print(f"{sys.argv[2]} is {value!r}")
    sys.exit(0 if abs(value - float(sys.argv[3])) <= float(sys.argv[4]) else 1)


if __name__ == "__main__":
    main()
