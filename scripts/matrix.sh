#!/usr/bin/env bash
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the whole matrix of pipeline settings (some minutes) and writes its table
# to docs/matrix.md. Needs a build: the folder is the first argument, default
# build.
#
#   matrix.sh [BUILD] --random N    random models 0..N-1 against numpy instead (the
#                                   tests have 60): a line for each fault, and counts
set -euo pipefail
cd "$(dirname "$0")/.."
build=build
case "${1:-}" in ""|--random) ;; *) build=$1; shift ;; esac
if [ "${1:-}" = --random ]; then
  # A Python with numpy, which Debian's python3-numpy brings to its own.
  for python in python3 /usr/bin/python3; do
    "$python" -c "import numpy" 2>/dev/null &&
      exec "$python" test/Matrix/random_cells.py --build "$build" --seeds "0..$((${2:?expects a number of models} - 1))"
  done
  echo "matrix.sh: --random needs numpy: install python3-numpy" >&2
  exit 1
fi
exec python3 test/Matrix/table.py --build "$build" --output docs/matrix.md
