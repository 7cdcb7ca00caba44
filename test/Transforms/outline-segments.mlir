// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of equal tags become tasks: a prologue of what depends on inputs only, a
// body, an epilogue of what follows the last sum over the batch.
//
// RUN: piper-opt %s --split-input-file --piper-outline-segments 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks

// Two blocks are one function; the untagged cross entropy belongs to the run
// before it; the count is the prologue, the mean the epilogue; the tags move
// from the ops to the tasks.

// CHECK: module attributes {piper.level = #piper.level<dag>}
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32> {piper.input
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2xi32> {piper.input
// CHECK-SAME: %[[W1:[a-z0-9]+]]: tensor<4x4xf32> {piper.param
// CHECK-SAME: %[[W2:[a-z0-9]+]]: tensor<4x4xf32> {piper.param
// CHECK-SAME: -> (tensor<f32> {piper.output = "loss"}, tensor<i64> {piper.output = "count"})
// CHECK: %[[N:.+]] = piper.task @count(%[[T]]) pass = once : (tensor<2xi32>) -> tensor<i64>
// CHECK-NEXT: %[[H1:.+]] = piper.task @layer1(%[[X]], %[[W1]]) pass = F tags = <layer = 1> segment = 0 :
// CHECK-NEXT: %[[H2:.+]] = piper.task @layer1(%[[H1]], %[[W2]]) pass = F tags = <layer = 2> segment = 1 :
// CHECK-NEXT: %[[S:.+]] = piper.task @head(%[[H2]], %[[T]]) pass = F tags = <name = "head"> segment = 2 :
// CHECK-NEXT: %[[L:.+]] = piper.task @mean(%[[S]], %[[N]]) pass = once :
// CHECK-NEXT: return %[[L]], %[[N]]
// CHECK: func.func private @count
// CHECK-NEXT: piper.count_valid
// CHECK-NEXT: return
// CHECK: func.func private @layer1
// CHECK-NEXT: piper.matmul {{[^{]*}} : (tensor<2x4xf32>, tensor<4x4xf32>)
// CHECK-NEXT: piper.tanh
// CHECK-NEXT: return
// CHECK: func.func private @head
// CHECK-NEXT: piper.scale
// CHECK-NEXT: piper.cross_entropy
// CHECK-NEXT: return
// CHECK: func.func private @mean
// CHECK-NEXT: piper.divide
// CHECK-NOT: func.func private
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %t: tensor<2xi32> {piper.input = #piper.input<"labels", dims = [batch]>},
                 %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1">},
                 %w2: tensor<4x4xf32> {piper.param = #piper.param<"w2">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.matmul %x, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = piper.tanh %a : tensor<2x4xf32>
  %c = piper.matmul %b, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %d = piper.tanh %c {piper.tags = #piper.tags<layer = 2>} : tensor<2x4xf32>
  %e = piper.scale %d {factor = 2.0 : f64, piper.tags = #piper.tags<name = "head">} : tensor<2x4xf32>
  %s = piper.cross_entropy %e, %t : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  %n = piper.count_valid %t : (tensor<2xi32>) -> tensor<i64>
  %l = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A program without tags is one segment; a first op without tags belongs to the
// first run with tags.

// CHECK-LABEL: func.func @train(
// CHECK: piper.task @segment({{.*}}) pass = F segment = 0 :
// CHECK-NEXT: return
// CHECK-LABEL: func.func @predict(
// CHECK: piper.task @layer3({{.*}}) pass = F tags = <layer = 3> segment = 0 :
// CHECK-NEXT: return
// CHECK: func.func private @layer3
// CHECK: piper.matmul
// CHECK-NEXT: piper.tanh
// CHECK-NEXT: return
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4x4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = piper.tanh %a : tensor<2x4xf32>
  %l = piper.reduce_sum %b {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @predict(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                   %w: tensor<4x4xf32> {piper.param = #piper.param<"w">}) -> (tensor<2x4xf32> {piper.output = "y"}) {
  %a = piper.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = piper.tanh %a {piper.tags = #piper.tags<layer = 3>} : tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}

// -----

// A constant is cloned into each task that uses it; a constant that is returned
// gets a task; a parameter that is returned is copied before its update.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32> {piper.input
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {piper.param
// CHECK-NEXT: %[[A:.+]] = piper.task @layer1(%[[X]], %[[W]])
// CHECK-NEXT: %[[L:.+]] = piper.task @layer2(%[[A]])
// CHECK-NEXT: %[[C:.+]] = piper.task @constant() pass = once : () -> tensor<4xf32>
// CHECK-NEXT: %[[P:.+]] = piper.task @copy(%[[W]]) pass = once :
// CHECK-NEXT: return %[[L]], %[[C]], %[[P]], %[[X]]
// CHECK: func.func private @layer1
// CHECK-NEXT: piper.constant
// CHECK: func.func private @layer2
// CHECK-NEXT: piper.constant
// CHECK: func.func private @constant
// CHECK-NEXT: piper.constant
// CHECK: func.func private @copy
// CHECK-NEXT: piper.scale {{.*}} {factor = 1.0
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "constant"},
        tensor<4xf32> {piper.output = "w"}, tensor<2x4xf32> {piper.output = "x"}) {
  %c = piper.constant dense<3.0> : tensor<4xf32>
  %a = piper.mul %x, %w {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %b = piper.add %a, %c {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d = piper.mul %b, %c {piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %l = piper.reduce_sum %d {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l, %c, %w, %x : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>
}

// -----

// A value that crosses a segment is a result of the first and an operand of the
// last; the segment between does not see it.

// CHECK-LABEL: func.func @train(
// CHECK-NEXT: %[[A:.+]] = piper.task @layer0(%{{.+}}, %{{.+}})
// CHECK-NEXT: %[[B:.+]] = piper.task @layer1(%[[A]])
// CHECK-NEXT: piper.task @layer2(%[[B]], %[[A]])
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4x4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.matmul %x, %w {piper.tags = #piper.tags<layer = 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = piper.tanh %a {piper.tags = #piper.tags<layer = 1>} : tensor<2x4xf32>
  %c = piper.add %b, %a {piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %l = piper.reduce_sum %c {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Tasks with random numbers have a salt, each its own; the others have none.
// What is random is never computed a second time in the prologue.

// CHECK-LABEL: func.func @train(
// CHECK-NEXT: %[[K:.+]] = piper.task @random_key() pass = once :
// CHECK-NEXT: %[[A:.+]] = piper.task @layer1(%{{.+}}, %[[K]]) pass = F salt = [[SALT:[0-9]+]] tags = <layer = 1> segment = 0 :
// CHECK-NEXT: %[[B:.+]] = piper.task @layer2(%[[A]], %{{.+}}) pass = F tags
// CHECK-NOT: salt = [[SALT]] tags
// CHECK: piper.task @layer1(%[[B]], %[[K]]) pass = F salt = {{[0-9]+}} tags = <layer = 3> segment = 2 :
// CHECK-NEXT: piper.task @segment
// CHECK-NEXT: return
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %k = piper.random_key : () -> tensor<2xi64>
  %a = piper.dropout %x, %k {p = 0.5 : f64, piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %b = piper.mul %a, %w {piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %c = piper.dropout %b, %k {p = 0.5 : f64, piper.tags = #piper.tags<layer = 3>} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %l = piper.reduce_sum %c {dims = array<i64: 0, 1>, piper.tags = #piper.tags<kind = 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// What prologue and body both need is computed in both: here the cast labels,
// of which the prologue needs the sum.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2xi32>
// CHECK-NEXT: %[[R:.+]] = piper.task @prologue(%[[T]]) pass = once : (tensor<2xi32>) -> tensor<f32>
// CHECK-NEXT: %[[S:.+]] = piper.task @segment(%[[T]], %{{.+}}) pass = F segment = 0 :
// CHECK-NEXT: %[[L:.+]] = piper.task @epilogue(%[[S]], %[[R]]) pass = once :
// CHECK: func.func private @prologue
// CHECK-NEXT: piper.cast
// CHECK-NEXT: piper.reduce_sum
// CHECK-NEXT: return
// CHECK: func.func private @segment
// CHECK-NEXT: piper.cast
// CHECK-NEXT: piper.mul
// CHECK-NEXT: piper.reduce_sum
func.func @train(%t: tensor<2xi32> {piper.input = #piper.input<"t", dims = [batch]>},
                 %w: tensor<f32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %f = piper.cast %t : (tensor<2xi32>) -> tensor<2xf32>
  %r = piper.reduce_sum %f {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %a = piper.mul %f, %w : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %s = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %l = piper.mul %s, %r : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// The mean of a batch that is subtracted from it stays in the body with all it
// needs: nothing of the body waits for the epilogue.

// CHECK-LABEL: func.func @train(
// CHECK-NEXT: piper.task @segment
// CHECK-NEXT: return
// CHECK: func.func private @segment
// CHECK: piper.matmul
// CHECK-NEXT: piper.reduce_sum
// CHECK-NEXT: piper.scale
// CHECK-NEXT: piper.sub
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4x4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %y = piper.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s = piper.reduce_sum %y {dims = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
  %m = piper.scale %s {factor = 0.5 : f64} : tensor<4xf32>
  %d = piper.sub %y, %m : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %q = piper.square %d : tensor<2x4xf32>
  %l = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// The batch may stand in any dimension and pass through a reshape that joins it
// with another: a sum over the sequence is none over the batch, so the square
// after it is in the body.

// CHECK-LABEL: func.func @train(
// CHECK-NEXT: %[[S:.+]] = piper.task @segment
// CHECK-NEXT: piper.task @epilogue(%[[S]])
// CHECK: func.func private @segment
// CHECK: piper.square
// CHECK-NEXT: piper.reduce_sum
// CHECK-NEXT: return
// CHECK: func.func private @epilogue
// CHECK-NEXT: piper.scale
func.func @train(%x: tensor<3x2xf32> {piper.input = #piper.input<"x", dims = [seq, batch]>},
                 %w: tensor<6xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.reshape %x : (tensor<3x2xf32>) -> tensor<6xf32>
  %b = piper.mul %a, %w : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %c = piper.reshape %b : (tensor<6xf32>) -> tensor<3x2xf32>
  %d = piper.reduce_sum %c {dims = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<2xf32>
  %e = piper.square %d : tensor<2xf32>
  %s = piper.reduce_sum %e {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %l = piper.scale %s {factor = 0.5 : f64} : tensor<f32>
  return %l : tensor<f32>
}

// -----

// A batch of 1 that a reshape drops is still a batch; a slice of the batch is
// no sum over it. Both stay in the body to the end.

// CHECK-LABEL: func.func @train(
// CHECK-NEXT: piper.task @segment
// CHECK-NEXT: return
func.func @train(%x: tensor<1x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %y: tensor<2x4xf32> {piper.input = #piper.input<"y", dims = [batch, embed]>},
                 %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.reshape %x : (tensor<1x4xf32>) -> tensor<4xf32>
  %b = piper.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = piper.slice %y {offsets = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %d = piper.mul %c, %b : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %e = piper.tanh %d : tensor<1x4xf32>
  %l = piper.reduce_sum %e {dims = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// What depends on parameters alone stands apart if something else reads it (%n), and stays if nothing does (%s).
// CHECK-LABEL: func.func @train
// CHECK: %[[N:.+]] = piper.task @layer0.once(%{{.+}}) pass = F tags = <layer = 0> segment = 0
// CHECK-NEXT: %[[SUM:.+]] = piper.task @layer0(%{{.+}}, %{{.+}}) pass = F tags = <layer = 0> segment = 1
// CHECK-NEXT: piper.task @epilogue(%[[SUM]], %[[N]]) pass = once
// CHECK-LABEL: func.func private @layer0.once
// CHECK: piper.square
// CHECK-NEXT: piper.reduce_sum
// CHECK-LABEL: func.func private @layer0(
// CHECK: piper.scale
// CHECK: piper.matmul
func.func @train(%x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}, %w: tensor<3x2xf32> {piper.param = #piper.param<"w", init = ones>}) -> (tensor<f32> {piper.output = "loss"}) {
  %s = piper.scale %w {factor = 2.0 : f64, piper.tags = #piper.tags<layer = 0>} : tensor<3x2xf32>
  %y = piper.matmul %x, %s {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %sum = piper.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  %q = piper.square %w : tensor<3x2xf32>
  %n = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32>
  %loss = piper.add %sum, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// What no result needs is gone before segments are formed: layer 1 with all of its ops, and the gelu of layer 2, which would
// make z a result of layer 0. An op of the body that only the prologue reads stands there alone.
// REMARK: :[[#@LINE+12]]:{{[0-9]+}}: remark: no result of 'train' needs what begins here, tags <layer = 1>: it is left out
// REMARK-NOT: remark
// CHECK-LABEL: func.func @train
// CHECK: %[[N:.+]] = piper.task @count(%{{.+}}) pass = once
// CHECK-NEXT: %[[Y:.+]] = piper.task @layer0(%{{.+}}, %{{.+}}) pass = F tags = <layer = 0> segment = 0 : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[L:.+]] = piper.task @layer2(%[[Y]]) pass = F tags = <layer = 2> segment = 1
// CHECK-NEXT: piper.task @mean(%[[L]], %[[N]]) pass = once
// CHECK-LABEL: func.func private @layer2(
// CHECK-NOT: piper.gelu
func.func @train(%x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}, %w: tensor<3xf32> {piper.param = #piper.param<"w", init = ones>}) -> (tensor<f32> {piper.output = "loss"}) {
  %z = piper.tanh %x {piper.tags = #piper.tags<layer = 0>} : tensor<4x3xf32>
  %y = piper.mul %z, %w {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %u = piper.square %y {piper.tags = #piper.tags<layer = 1>} : tensor<4x3xf32>
  %v = piper.exp %u {piper.tags = #piper.tags<layer = 1>} : tensor<4x3xf32>
  %g = piper.gelu %z {piper.tags = #piper.tags<layer = 2>} : tensor<4x3xf32>
  %i = piper.cast %x {piper.tags = #piper.tags<layer = 2>} : (tensor<4x3xf32>) -> tensor<4x3xi32>
  %n = piper.count_valid %i : (tensor<4x3xi32>) -> tensor<i64>
  %s = piper.reduce_sum %y {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 2>} : (tensor<4x3xf32>) -> tensor<f32>
  %loss = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The prologue (%m, %s) makes an op of the body for itself (%d), which the body reads too: it gets %m from there.
// CHECK-LABEL: func.func @train
// CHECK: %[[P:.+]]:2 = piper.task @prologue(%{{.+}}) pass = once : (tensor<4x3xf32>) -> (tensor<1x1xf32>, tensor<f32>)
// CHECK-NEXT: %[[L:.+]] = piper.task @layer0(%{{.+}}, %[[P]]#0, %{{.+}}) pass = F
// CHECK-NEXT: piper.task @epilogue(%[[L]], %[[P]]#1) pass = once
func.func @train(%x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}, %w: tensor<3xf32> {piper.param = #piper.param<"w", init = ones>}) -> (tensor<f32> {piper.output = "loss"}) {
  %m = piper.reduce_sum %x {dims = array<i64: 0, 1>, keep_dims, piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>) -> tensor<1x1xf32>
  %d = piper.sub %x, %m {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<1x1xf32>) -> tensor<4x3xf32>
  %s = piper.reduce_sum %d {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>) -> tensor<f32>
  %y = piper.mul %d, %w {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %l = piper.reduce_sum %y {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>) -> tensor<f32>
  %loss = piper.mul %l, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
