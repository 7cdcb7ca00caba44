#!/usr/bin/env bash
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds everything and runs all tests. The last
# line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

# numpy is the oracle of the random models.
scripts/install-packages.sh python3-numpy
cmake --preset release >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
mv build-configure.log build/
cmake --build build
exec python3 scripts/run-tests.py build "$@"
