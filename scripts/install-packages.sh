#!/usr/bin/env bash
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what Piper builds with, from Debian 12, and the packages given. Does
# nothing where all of it is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache lld-22
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools libzstd-dev zlib1g-dev
  libdnnl-dev nlohmann-json3-dev libgtest-dev python3 "$@"
)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
    missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

echo "installing: ${missing[*]}"
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
as_root apt-get update -qq
as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
