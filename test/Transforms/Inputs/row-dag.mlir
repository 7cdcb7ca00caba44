// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training DAG of five forward segments and their backward, for the tests of
// directives.

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<4xf32> {piper.output = "y"}) {
    %0 = piper.task @first(%x) pass = F tags = <layer = 0, name = "first"> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.task @block(%0) pass = F tags = <layer = 1, name = "block"> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = piper.task @block(%1) pass = F tags = <layer = 2, name = "block"> segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = piper.task @block(%2) pass = F tags = <layer = 3, name = "block"> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = piper.task @last(%3) pass = F tags = <layer = 4, name = "last"> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = piper.task @last(%4) pass = B tags = <layer = 4, name = "last"> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    %6 = piper.task @block(%5) pass = B tags = <layer = 3, name = "block"> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %7 = piper.task @block(%6) pass = B tags = <layer = 2, name = "block"> segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %8 = piper.task @block(%7) pass = B tags = <layer = 1, name = "block"> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %9 = piper.task @first(%8) pass = B tags = <layer = 0, name = "first"> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %9 : tensor<4xf32>
  }
  func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.square %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @last(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.gelu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
