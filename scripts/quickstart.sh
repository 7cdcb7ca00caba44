#!/usr/bin/env bash
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: [STEPS=N] scripts/quickstart.sh [FILE]
#
# Installs what is missing, builds the tools into build/bin, and trains a small
# GPT on the bytes of FILE, or of the licences that Debian carries. Prints each
# command before it runs it. The last line is "train loss X", in nats per byte.
set -euo pipefail

layers=4 hidden=128 heads=4 batch=8 seq=64 steps=${STEPS:-1600}

fail() {
  echo "quickstart: error: $1" >&2
  exit 1
}

# A command, as a person would type it.
run() {
  printf '+ %s\n' "$1"
  eval "$1"
}

# A tenth is held out, and must be a batch.
check_size() {
  local least=$((10 * (batch * seq + 1))) size
  size=$(stat -L -c %s -- "$1")
  [ "$size" -ge "$least" ] || fail "'$1' has $size bytes, expects at least $least"
}

[[ $steps =~ ^[1-9][0-9]{0,6}$ ]] || fail "STEPS is '$steps', expects a number of 1 or more"

text=demo/text prompt=" --prompt 'You may '"
if [ $# -gt 0 ]; then
  [ -f "$1" ] || fail "'$1' is not a file"
  check_size "$1"
  text=$(realpath -- "$1") prompt=""
fi
cd "$(dirname "$0")/.."

#--- Build

run scripts/install-packages.sh
mkdir -p build demo
run "cmake --preset release > build/configure.log" || { cat build/configure.log; exit 1; }
command="cmake --build build --target piper-model piper-opt piper-run"
if [ -t 1 ]; then
  run "$command" # ninja keeps to one line of the terminal
else
  run "$command" 2>&1 | tee build/build.log | sed -un '1~10p' || { tail -n 40 build/build.log; exit 1; }
fi

#--- Data: the last tenth is held out

[ $# -gt 0 ] || run "find /usr/share/common-licenses -type f | LC_ALL=C sort | xargs cat > $text"
check_size "$text"
held=$(($(stat -c %s -- "$text") / 10))
batches=$(((held - 1) / seq / batch))
quoted=$(printf '%q' "$text")
run "head -c -$held -- $quoted > demo/train.txt"
run "tail -c $held -- $quoted > demo/heldout.txt"

#--- Train, evaluate, generate

run "build/bin/piper-model gpt2 --layers $layers --hidden $hidden --heads $heads --vocab 256 --batch $batch --seq $seq -o demo/gpt.mlir"
compile="lr=3e-3 beta2=0.99 weight-decay=0.1 clip=1 lr-schedule=cosine warmup-steps=$((steps / 40)) total-steps=$steps"
run "build/bin/piper-run demo/gpt.mlir --piper-compile='$compile' --data demo/train.txt --steps $steps --save demo/gpt.safetensors | tee demo/result.txt"
run "build/bin/piper-run demo/gpt.mlir --load demo/gpt.safetensors --generate 400$prompt"
run "build/bin/piper-run demo/gpt.mlir --load demo/gpt.safetensors --data demo/heldout.txt --eval --steps $batches"
grep '^train loss' demo/result.txt
