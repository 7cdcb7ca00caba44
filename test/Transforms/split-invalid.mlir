// Each message of the split into micro-batches.
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-split=micro-batches=3
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-split=micro-batches=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: option 'micro-batches' expects a number of 0 or more but got -1

// expected-error @below {{'piper-split' expects level 'dag' but got 'model'}}
module {
}

// -----

//===----------------------------------------------------------------------===//
// The dimension
//===----------------------------------------------------------------------===//

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{cannot split dimension 'batch' of input 'x' into 3 equal micro-batches: it has 8 positions; the nearest legal number of micro-batches is 2 or 4}}
  func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}) -> tensor<8x4xf32> {
    return %x : tensor<8x4xf32>
  }
}

// -----

// Of all inputs together: 6 and 4 can be halved.
module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{cannot split dimension 'batch' of input 'y' into 3 equal micro-batches: it has 4 positions; the nearest legal number of micro-batches is 2}}
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>},
                   %y: tensor<4xf32> {piper.input = #piper.input<"y", dims = [batch]>}) -> tensor<6xf32> {
    return %x : tensor<6xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects an input with a dimension 'batch' to be split into 3 micro-batches}}
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [row]>}) -> tensor<6xf32> {
    return %x : tensor<6xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a step that is not split but input 'x' is}}
  func.func @train(%x: tensor<2x3xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> tensor<2x3xf32> {
    return %x : tensor<2x3xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<6xf32> {
    // expected-error @below {{'piper.task' op stands in a step that is split already: expects one that is not}}
    %0 = piper.task @body(%x) pass = F mb = 0 : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @body(%x: tensor<6xf32>) -> tensor<6xf32> {
    %0 = piper.tanh %x : tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}, %y: tensor<3x2xf32> {piper.input = #piper.input<"y">}) -> tensor<2xf32> {
    // expected-error @below {{'piper.micro_batch' op stands in a step that is split already: expects one that is not}}
    %0 = piper.micro_batch %y[0] : tensor<3x2xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Ops that mix samples
//===----------------------------------------------------------------------===//

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4x6xf32> {piper.input = #piper.input<"x", dims = [feature, batch]>}) -> tensor<4x6xf32> {
    %0 = piper.task @body(%x) pass = F : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @body(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    // expected-error @below {{'piper.softmax' op mixes the samples of 'batch', which are in dimension 1 of operand #0: softmax normalises over this dimension}}
    %0 = piper.softmax %x : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}) -> tensor<4xf32> {
    %0 = piper.task @body(%x) pass = F : (tensor<6x4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @body(%x: tensor<6x4xf32>) -> tensor<4xf32> {
    // expected-error @below {{'piper.reduce_max' op takes the maximum over the samples of 'batch': only sums add up over micro-batches}}
    %0 = piper.reduce_max %x {dims = array<i64: 0>} : (tensor<6x4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Every pair of samples.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}) -> tensor<6x6xf32> {
    %0 = piper.task @body(%x) pass = F : (tensor<6x4xf32>) -> tensor<6x6xf32>
    return %0 : tensor<6x6xf32>
  }
  func.func private @body(%x: tensor<6x4xf32>) -> tensor<6x6xf32> {
    // expected-error @below {{'piper.matmul' op mixes the samples of 'batch', which are in dimension 0 of operand #1: it pairs them with those of another operand or dimension}}
    %0 = piper.matmul %x, %x {transpose_b} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
    return %0 : tensor<6x6xf32>
  }
}

// -----

// Row [seq, batch] of one with row [batch, seq] of the other.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6x2xf32> {piper.input = #piper.input<"x", dims = [batch, seq]>},
                   %y: tensor<2x6xf32> {piper.input = #piper.input<"y", dims = [seq, batch]>}) -> tensor<12xf32> {
    %0 = piper.task @body(%x, %y) pass = F : (tensor<6x2xf32>, tensor<2x6xf32>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
  func.func private @body(%x: tensor<6x2xf32>, %y: tensor<2x6xf32>) -> tensor<12xf32> {
    %0 = piper.reshape %x : (tensor<6x2xf32>) -> tensor<12xf32>
    %1 = piper.reshape %y : (tensor<2x6xf32>) -> tensor<12xf32>
    // expected-error @below {{'piper.add' op mixes the samples of 'batch', which are in dimension 0 of operand #1: another operand has them in another order}}
    %2 = piper.add %0, %1 : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    return %2 : tensor<12xf32>
  }
}

// -----

// Thirds of six are no rows of two.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<2x3xf32> {
    %0 = piper.task @body(%x) pass = F : (tensor<6xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @body(%x: tensor<6xf32>) -> tensor<2x3xf32> {
    // expected-error @below {{'piper.reshape' op mixes the samples of 'batch', which are in dimension 0 of operand #0: it takes this dimension as 2 x 3 and 3 parts of runs of 6 cut through that}}
    %0 = piper.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<6xf32> {
    %0 = piper.task @body(%x) pass = F : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @body(%x: tensor<6xf32>) -> tensor<6xf32> {
    %0 = piper.constant dense<[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]> : tensor<6xf32>
    // expected-error @below {{'piper.add' op mixes the samples of 'batch', which are in dimension 0 of operand #1: the elements of this constant differ between them}}
    %1 = piper.add %x, %0 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>},
                   %w: tensor<6xf32> {piper.param = #piper.param<"w">}) -> tensor<6xf32> {
    %0 = piper.task @body(%x, %w) pass = F : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @body(%x: tensor<6xf32>, %w: tensor<6xf32>) -> tensor<6xf32> {
    // expected-error @below {{'piper.add' op mixes the samples of 'batch': dimension 0 of parameter 'w' has something of its own for each of them}}
    %0 = piper.add %x, %w : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// Asked for through an op that has the dimension from its operand, and through a task.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>},
                   %s: tensor<6xf32> {piper.state = #piper.state<"s">}) -> tensor<6xf32> {
    %0 = piper.task @square(%s) pass = F : (tensor<6xf32>) -> tensor<6xf32>
    %1 = piper.task @body(%x, %0) pass = F : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
  func.func private @square(%s: tensor<6xf32>) -> tensor<6xf32> {
    // expected-error @below {{'piper.square' op mixes the samples of 'batch': dimension 0 of argument #1 has something of its own for each of them}}
    %0 = piper.square %s : tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @body(%x: tensor<6xf32>, %w: tensor<6xf32>) -> tensor<6xf32> {
    %0 = piper.tanh %w : tensor<6xf32>
    %1 = piper.add %x, %0 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
}

// -----

// Targets that are split on another dimension than the inputs.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %t: tensor<6x4xf32> {piper.input = #piper.input<"t", dims = [row, batch]>}) -> tensor<6x4xf32> {
    return %x : tensor<6x4xf32>
  }
}
// expected-error @-5 {{cannot split dimension 'batch' of input 't' into 3 equal micro-batches: it has 4 positions}}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %t: tensor<6x4xf32> {piper.input = #piper.input<"t", dims = [row, feature]>}) -> tensor<6x4xf32> {
    %0 = piper.task @body(%x, %t) pass = F : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
  func.func private @body(%x: tensor<6x4xf32>, %t: tensor<6x4xf32>) -> tensor<6x4xf32> {
    // expected-error @below {{'piper.sub' op expects dimension 0 of input 't' to be named 'batch', as it goes along the samples of another operand}}
    %0 = piper.sub %x, %t : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}, %key: tensor<2xi64> {piper.input = #piper.input<"key">}) -> tensor<6x4xf32> {
    %0 = piper.task @body(%x, %key) pass = F : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
  func.func private @body(%x: tensor<6x4xf32>, %key: tensor<2xi64>) -> tensor<6x4xf32> {
    // expected-error @below {{'piper.dropout' op has a piece of a whole tensor already: expects no origin and no 'global_shape' before 'batch' is split}}
    %0 = piper.dropout %x, %key {p = 0.1 : f64, global_shape = array<i64: 12, 4>} : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<2x6xf32> {piper.input = #piper.input<"x", dims = [seq, batch]>}, %key: tensor<2xi64> {piper.input = #piper.input<"key">}) -> tensor<12xf32> {
    %0 = piper.task @body(%x, %key) pass = F : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
  func.func private @body(%x: tensor<2x6xf32>, %key: tensor<2xi64>) -> tensor<12xf32> {
    %0 = piper.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
    // expected-error @below {{'piper.dropout' op draws random numbers by position, and the samples of 'batch' do not lie side by side in its operand}}
    %1 = piper.dropout %0, %key {p = 0.1 : f64} : (tensor<12xf32>, tensor<2xi64>) -> tensor<12xf32>
    return %1 : tensor<12xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Sums over the batch
//===----------------------------------------------------------------------===//

// The mean of the batch is subtracted from each sample.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<6xf32> {
    %0 = piper.task @body(%x) pass = F : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @body(%x: tensor<6xf32>) -> tensor<6xf32> {
    %0 = piper.reduce_sum %x {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    // expected-error @below {{'piper.sub' op uses a sum over 'batch', operand #1, for each sample: it is complete only after all micro-batches}}
    %1 = piper.sub %x, %0 : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<f32> {
    %0 = piper.task @body(%x) pass = F : (tensor<6xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @body(%x: tensor<6xf32>) -> tensor<f32> {
    %0 = piper.reduce_sum %x {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    // expected-error @below {{'piper.square' op is not linear in a sum over 'batch', operand #0: it is complete only after all micro-batches}}
    %1 = piper.square %0 : tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----

// The sum in one task, the samples in the next.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<6xf32> {
    // expected-note @below {{the sum is made by the task that begins here}}
    %0 = piper.task @sum(%x) pass = F : (tensor<6xf32>) -> tensor<f32>
    // expected-error @below {{mixes the samples of 'batch': it uses a sum over all of them beside single ones, and micro-batches run one after another}}
    %1 = piper.task @sub(%x, %0) pass = F : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
  func.func private @sum(%x: tensor<6xf32>) -> tensor<f32> {
    %0 = piper.reduce_sum %x {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @sub(%x: tensor<6xf32>, %mean: tensor<f32>) -> tensor<6xf32> {
    %0 = piper.sub %x, %mean : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// What a task makes of the sum is complete as late as the sum.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> tensor<6xf32> {
    %0 = piper.task @sum(%x) pass = F : (tensor<6xf32>) -> tensor<f32>
    // expected-note @below {{the sum is made by the task that begins here}}
    %1 = piper.task @tanh(%0) pass = F : (tensor<f32>) -> tensor<f32>
    // expected-error @below {{mixes the samples of 'batch': it uses a sum over all of them beside single ones, and micro-batches run one after another}}
    %2 = piper.task @sub(%x, %1) pass = F : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    return %2 : tensor<6xf32>
  }
  func.func private @sum(%x: tensor<6xf32>) -> tensor<f32> {
    %0 = piper.reduce_sum %x {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @tanh(%x: tensor<f32>) -> tensor<f32> {
    %0 = piper.tanh %x : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @sub(%x: tensor<6xf32>, %mean: tensor<f32>) -> tensor<6xf32> {
    %0 = piper.sub %x, %mean : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// Parts of a value that a task makes once, beside its sum.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<6xf32> {piper.input = #piper.input<"x", dims = [batch]>}, %n: tensor<f32> {piper.input = #piper.input<"n">}) -> (tensor<6xf32>, tensor<f32>) {
    // expected-error @below {{runs once for all micro-batches but would differ between them}}
    %0:2 = piper.task @ones(%n) pass = once : (tensor<f32>) -> (tensor<6xf32>, tensor<f32>)
    %1 = piper.task @add(%x, %0#0) pass = F : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %1, %0#1 : tensor<6xf32>, tensor<f32>
  }
  func.func private @ones(%n: tensor<f32>) -> (tensor<6xf32>, tensor<f32>) {
    %0 = piper.broadcast %n : (tensor<f32>) -> tensor<6xf32>
    %1 = piper.reduce_sum %0 {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    return %0, %1 : tensor<6xf32>, tensor<f32>
  }
  func.func private @add(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
    %0 = piper.add %x, %y : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
