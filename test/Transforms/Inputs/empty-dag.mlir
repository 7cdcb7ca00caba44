// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training DAG without entry points, for the options of passes.

module attributes {piper.level = #piper.level<dag>} {
}
