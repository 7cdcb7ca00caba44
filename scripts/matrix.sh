#!/usr/bin/env bash
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the whole matrix of pipeline settings (some minutes) and writes its table
# to docs/matrix.md. Needs a build: the folder is the first argument, default
# build.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 test/Matrix/table.py --build "${1:-build}" --output docs/matrix.md
