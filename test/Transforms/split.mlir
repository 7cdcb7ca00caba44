// Micro-batches: inputs get a dimension in front, bodies get smaller and are called once for each, sums become chains of
// accumulators, and what runs once sees whole values.

// RUN: piper-opt %s --split-input-file --piper-split=micro-batches=2 --piper-verify-dag | FileCheck %s -enable-var-scope
// RUN: piper-opt %s --split-input-file --piper-split=micro-batches=1 | sed 's/ mb = 0//' > %t.one
// RUN: piper-opt %s --split-input-file -o %t.none
// RUN: diff %t.one %t.none

// The order: what comes first, then all of micro-batch 0 and all of micro-batch 1, then what needs both. A view is made once.
// The prologue sees the labels of both. Results that add up are the last ones of their body.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK-SAME:  %[[X:[^:]+]]: tensor<2x2x3xf32> {piper.input = #piper.input<"x", dims = [batch, feature], split = 0>}
  // CHECK-SAME:  %[[L:[^:]+]]: tensor<2x2xi32> {piper.input = #piper.input<"labels", dims = [batch], split = 0>}
  // CHECK-SAME:  %[[N:[^:]+]]: tensor<3xf32> {piper.input = #piper.input<"scale", dims = [feature]>}
  // CHECK-SAME:  %[[W:[^:]+]]: tensor<3x5xf32>
  // CHECK-NEXT: %[[COUNT:.+]] = piper.task @count(%[[L]]) pass = once : (tensor<2x2xi32>) -> tensor<i64>
  // CHECK-NEXT: %[[SEED:.+]] = piper.task @seed(%[[COUNT]]) pass = once
  // CHECK-NEXT: %[[X0:.+]] = piper.micro_batch %[[X]][0] : tensor<2x2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %[[H0:.+]] = piper.task @embed(%[[X0]], %[[N]]) pass = F salt = 7 tags = <layer = 0> segment = 0 mb = 0 stage = 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[L0:.+]] = piper.micro_batch %[[L]][0] : tensor<2x2xi32> -> tensor<2xi32>
  // CHECK-NEXT: %[[Z0:.+]]:4 = piper.task @head(%[[H0]], %[[W]], %[[L0]]) pass = F segment = 1 mb = 0 stage = 1 copy = 1 : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<2xi32>) -> (tensor<2x5xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>)
  // CHECK-NEXT: %[[D0:.+]]:2 = piper.task @head.bw(%[[SEED]], %[[Z0]]#0, %[[L0]], %[[Z0]]#1, %[[Z0]]#2, %[[H0]], %[[W]]) pass = B segment = 1 mb = 0 : ({{.*}}) -> (tensor<2x3xf32>, tensor<3x5xf32>)
  // CHECK-NEXT: %[[X1:.+]] = piper.micro_batch %[[X]][1]
  // CHECK-NEXT: %[[H1:.+]] = piper.task @embed(%[[X1]], %[[N]]) pass = F salt = 7 tags = <layer = 0> segment = 0 mb = 1 stage = 0
  // CHECK-NEXT: %[[L1:.+]] = piper.micro_batch %[[L]][1]
  // CHECK-NEXT: %[[Z1:.+]]:4 = piper.task @head(%[[H1]], %[[W]], %[[L1]]) into(%[[Z0]]#3) pass = F segment = 1 mb = 1 stage = 1 copy = 1
  // CHECK-NEXT: %[[D1:.+]]:2 = piper.task @head.bw(%[[SEED]], %[[Z1]]#0, %[[L1]], %[[Z1]]#1, %[[Z1]]#2, %[[H1]], %[[W]]) into(%[[D0]]#1) pass = B segment = 1 mb = 1
  // CHECK-NEXT: %[[LOSS:.+]] = piper.task @mean(%[[Z1]]#3, %[[COUNT]]) pass = once
  // CHECK-NEXT: return %[[LOSS]], %[[D1]]#1 : tensor<f32>, tensor<3x5xf32>
  func.func @train(%x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %labels: tensor<4xi32> {piper.input = #piper.input<"labels", dims = [batch]>},
                   %scale: tensor<3xf32> {piper.input = #piper.input<"scale", dims = [feature]>},
                   %w: tensor<3x5xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32>, tensor<3x5xf32>) {
    %n = piper.task @count(%labels) pass = once : (tensor<4xi32>) -> tensor<i64>
    %h = piper.task @embed(%x, %scale) pass = F salt = 7 tags = <layer = 0> segment = 0 stage = 0 : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
    %s:4 = piper.task @head(%h, %w, %labels) pass = F segment = 1 stage = 1 copy = 1 : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>)
    %seed = piper.task @seed(%n) pass = once : (tensor<i64>) -> tensor<f32>
    %d:2 = piper.task @head.bw(%seed, %s#1, %labels, %s#2, %s#3, %h, %w) pass = B segment = 1 : (tensor<f32>, tensor<4x5xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<4x3xf32>)
    %l = piper.task @mean(%s#0, %n) pass = once : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %l, %d#0 : tensor<f32>, tensor<3x5xf32>
  }
  // CHECK: func.func private @seed(
  func.func private @seed(%n: tensor<i64>) -> tensor<f32> {
    %0 = piper.reciprocal %n : (tensor<i64>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @mean(%s: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
    %0 = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  // CHECK-LABEL: func.func private @count(%arg0: tensor<2x2xi32>)
  // CHECK-NEXT: %[[ALL:.+]] = piper.reshape %arg0 : (tensor<2x2xi32>) -> tensor<4xi32>
  // CHECK-NEXT: piper.count_valid %[[ALL]] : (tensor<4xi32>) -> tensor<i64>
  func.func private @count(%labels: tensor<4xi32>) -> tensor<i64> {
    %0 = piper.count_valid %labels : (tensor<4xi32>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  // CHECK-LABEL: func.func private @embed(
  func.func private @embed(%x: tensor<4x3xf32>, %scale: tensor<3xf32>) -> tensor<4x3xf32> {
    %0 = piper.mul %x, %scale : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  // CHECK-LABEL: func.func private @head(
  // CHECK-NEXT: %[[Z:.+]] = piper.matmul %arg0, %arg1 : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  // CHECK-NEXT: %[[SUM:.+]], %[[SAVED:.+]]:2 = piper.cross_entropy %[[Z]], %arg2 : (tensor<2x5xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: return %[[Z]], %[[SAVED]]#0, %[[SAVED]]#1, %[[SUM]]
  func.func private @head(%h: tensor<4x3xf32>, %w: tensor<3x5xf32>, %labels: tensor<4xi32>) -> (tensor<f32>, tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>) {
    %z = piper.matmul %h, %w : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %s, %top, %total = piper.cross_entropy %z, %labels : (tensor<4x5xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
    return %s, %z, %top, %total : tensor<f32>, tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @head.bw(
  func.func private @head.bw(%ds: tensor<f32>, %z: tensor<4x5xf32>, %labels: tensor<4xi32>, %top: tensor<4xf32>, %total: tensor<4xf32>, %h: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<4x3xf32>) {
    %dz = piper.cross_entropy_grad %ds, %z, %labels, %top, %total : (tensor<f32>, tensor<4x5xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x5xf32>
    %dw = piper.matmul %h, %dz {transpose_a} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %dh = piper.matmul %dz, %w {transpose_b} : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x3xf32>
    return %dw, %dh : tensor<3x5xf32>, tensor<4x3xf32>
  }
}

// -----

// What depends on parameters alone runs once: forward first, and backward when its gradient is complete. A body that is
// not cut stays as it is; one that is called with and without a batch becomes two.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK-SAME:  %[[X:[^:]+]]: tensor<2x1x2xf32>
  // CHECK-SAME:  %[[W:[^:]+]]: tensor<2x2xf32>
  // CHECK-NEXT: %[[V:.+]] = piper.task @f(%[[W]]) pass = F segment = 0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: piper.micro_batch
  // CHECK-NEXT: %[[A0:.+]] = piper.task @f_0({{.+}}) pass = F segment = 1 mb = 0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK-NEXT: %[[B0:.+]]:2 = piper.task @g(%[[A0]], %[[V]]) pass = B segment = 1 mb = 0
  // CHECK-NEXT: piper.micro_batch
  // CHECK-NEXT: %[[A1:.+]] = piper.task @f_0({{.+}}) pass = F segment = 1 mb = 1
  // CHECK-NEXT: %[[B1:.+]]:2 = piper.task @g(%[[A1]], %[[V]]) into(%[[B0]]#1) pass = B segment = 1 mb = 1
  // CHECK-NEXT: %[[D:.+]] = piper.task @f.bw(%[[B1]]#1, %[[V]]) pass = B segment = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: return %[[D]], %[[B0]]#0
  func.func @train(%x: tensor<2x2xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %w: tensor<2x2xf32> {piper.param = #piper.param<"w">}) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %v = piper.task @f(%w) pass = F segment = 0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a = piper.task @f(%x) pass = F segment = 1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %b:2 = piper.task @g(%a, %v) pass = B segment = 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
    %d = piper.task @f.bw(%b#0, %v) pass = B segment = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    return %d, %b#1 : tensor<2x2xf32>, tensor<2x2xf32>
  }
  // CHECK: func.func private @f(%arg0: tensor<2x2xf32>)
  func.func private @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0 = piper.tanh %x : tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
  // CHECK: func.func private @f.bw(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>)
  func.func private @f.bw(%d: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0 = piper.tanh_grad %d, %y : tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
  // CHECK: func.func private @f_0(%arg0: tensor<1x2xf32>)
  // What is whole in all micro-batches (the square of v) is taken of the first.
  // CHECK: func.func private @g(
  // CHECK: return %{{.+}}, %{{.+}} : tensor<2x2xf32>, tensor<2x2xf32>
  func.func private @g(%a: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = piper.matmul %a, %a {transpose_a} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = piper.square %v : tensor<2x2xf32>
    return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
  }
}

// -----

// Batched results are put together for the user, also where the batch is the minor part of a dimension; an input that is
// returned comes back as it was.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK-SAME:  %[[X:[^:]+]]: tensor<2x3x2x5xf32> {piper.input = #piper.input<"x", dims = [seq, batch, feature], split = 1>}
  // CHECK:      %[[A:.+]]:2 = piper.task @body({{.+}}) pass = F mb = 0 : (tensor<3x2x5xf32>) -> (tensor<3x2x5xf32>, tensor<6x5xf32>)
  // CHECK:      %[[B:.+]]:2 = piper.task @body({{.+}}) pass = F mb = 1
  // CHECK-NEXT: %[[Y:.+]] = piper.task @[[CONCAT:.+]](%[[A]]#0, %[[B]]#0) pass = once : (tensor<3x2x5xf32>, tensor<3x2x5xf32>) -> tensor<3x4x5xf32>
  // CHECK-NEXT: %[[N:.+]] = piper.task @sum(%[[X]], %[[Y]]) pass = once : (tensor<2x3x2x5xf32>, tensor<3x4x5xf32>) -> tensor<f32>
  // CHECK-NEXT: %[[Z:.+]] = piper.task @[[RUNS:.+]](%[[A]]#1, %[[B]]#1) pass = once : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<12x5xf32>
  // CHECK-NEXT: %[[I:.+]] = piper.task @join(%[[X]]) pass = once : (tensor<2x3x2x5xf32>) -> tensor<3x4x5xf32>
  // CHECK-NEXT: return %[[Y]], %[[Z]], %[[I]], %[[N]] : tensor<3x4x5xf32>, tensor<12x5xf32>, tensor<3x4x5xf32>, tensor<f32>
  func.func @train(%x: tensor<3x4x5xf32> {piper.input = #piper.input<"x", dims = [seq, batch, feature]>})
      -> (tensor<3x4x5xf32>, tensor<12x5xf32>, tensor<3x4x5xf32>, tensor<f32>) {
    %y:2 = piper.task @body(%x) pass = F : (tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<12x5xf32>)
    %n = piper.task @sum(%x, %y#0) pass = once : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<f32>
    return %y#0, %y#1, %x, %n : tensor<3x4x5xf32>, tensor<12x5xf32>, tensor<3x4x5xf32>, tensor<f32>
  }
  // CHECK-LABEL: func.func private @body(
  // CHECK-NEXT: piper.tanh %arg0 : tensor<3x2x5xf32>
  // CHECK-NEXT: piper.reshape {{.+}} : (tensor<3x2x5xf32>) -> tensor<6x5xf32>
  func.func private @body(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<12x5xf32>) {
    %0 = piper.tanh %x : tensor<3x4x5xf32>
    %1 = piper.reshape %0 : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
    return %0, %1 : tensor<3x4x5xf32>, tensor<12x5xf32>
  }
  // CHECK:      func.func private @concat(
  // CHECK-NEXT: piper.concat %arg0, %arg1 {dim = 1 : i64} : (tensor<3x2x5xf32>, tensor<3x2x5xf32>) -> tensor<3x4x5xf32>
  // CHECK:      func.func private @sum(%arg0: tensor<2x3x2x5xf32>, %arg1: tensor<3x4x5xf32>)
  // CHECK-NEXT: %[[T:.+]] = piper.transpose %arg0 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x3x2x5xf32>) -> tensor<3x2x2x5xf32>
  // CHECK-NEXT: piper.reshape %[[T]] : (tensor<3x2x2x5xf32>) -> tensor<3x4x5xf32>
  // CHECK:      func.func private @concat_{{[0-9]+}}(
  // CHECK-NEXT: %[[P:.+]] = piper.reshape %arg0 : (tensor<6x5xf32>) -> tensor<3x2x5xf32>
  // CHECK-NEXT: %[[Q:.+]] = piper.reshape %arg1 : (tensor<6x5xf32>) -> tensor<3x2x5xf32>
  // CHECK-NEXT: %[[R:.+]] = piper.concat %[[P]], %[[Q]] {dim = 1 : i64} : (tensor<3x2x5xf32>, tensor<3x2x5xf32>) -> tensor<3x4x5xf32>
  // CHECK-NEXT: piper.reshape %[[R]] : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
  // CHECK:      func.func private @join(
  func.func private @sum(%x: tensor<3x4x5xf32>, %y: tensor<3x4x5xf32>) -> tensor<f32> {
    %0 = piper.mul %x, %y : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
    %1 = piper.reduce_sum %0 {dims = array<i64: 0, 1, 2>} : (tensor<3x4x5xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----

// A linear loss: its gradient is the same for every sample, and made in the size of a micro-batch because the task before
// it needs that. A constant too.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK: %[[D0:.+]] = piper.task @loss.bw(%{{.+}}) pass = B mb = 0 : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK: %[[W0:.+]] = piper.task @body.bw(%[[D0]], %{{.+}}) pass = B mb = 0
  // CHECK: %[[D1:.+]] = piper.task @loss.bw(%{{.+}}) pass = B mb = 1
  // CHECK: %[[W1:.+]] = piper.task @body.bw(%[[D1]], %{{.+}}) into(%[[W0]]) pass = B mb = 1
  // CHECK: return %[[W1]]
  func.func @train(%x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}, %seed: tensor<f32> {piper.input = #piper.input<"seed">}) -> tensor<3xf32> {
    %d = piper.task @loss.bw(%seed) pass = B : (tensor<f32>) -> tensor<4x3xf32>
    %w = piper.task @body.bw(%d, %x) pass = B : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3xf32>
    return %w : tensor<3xf32>
  }
  // CHECK-LABEL: func.func private @loss.bw(
  // CHECK-NEXT: piper.broadcast %arg0 : (tensor<f32>) -> tensor<2x3xf32>
  func.func private @loss.bw(%seed: tensor<f32>) -> tensor<4x3xf32> {
    %0 = piper.broadcast %seed : (tensor<f32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  // CHECK-LABEL: func.func private @body.bw(
  // CHECK-NEXT: %[[C:.+]] = piper.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00], [1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<2x3xf32>
  // CHECK-NEXT: piper.add %arg1, %[[C]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.func private @body.bw(%d: tensor<4x3xf32>, %x: tensor<4x3xf32>) -> tensor<3xf32> {
    %c = piper.constant dense<[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]> : tensor<4x3xf32>
    %y = piper.add %x, %c : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %z = piper.mul %d, %y : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %w = piper.reduce_sum %z {dims = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32>
    return %w : tensor<3xf32>
  }
}

// -----

// Random numbers are those of the whole batch: the place of the rows comes from the micro-batch, once for each rank.
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4x3x2x5xf32> {piper.input = #piper.input<"x", dims = [batch, seq, heads, size]>}, %key: tensor<2xi64> {piper.input = #piper.input<"key">}) -> tensor<4x3x2x5xf32> {
    %0 = piper.task @body(%x, %key) pass = F salt = 3 : (tensor<4x3x2x5xf32>, tensor<2xi64>) -> tensor<4x3x2x5xf32>
    return %0 : tensor<4x3x2x5xf32>
  }
  // CHECK-LABEL: func.func private @body(
  // CHECK-NEXT: %[[O:.+]] = piper.origin {step = array<i64: 2, 0, 0, 0>} : () -> tensor<4xi64>
  // CHECK-NEXT: %[[A:.+]] = piper.dropout %arg0, %arg1, %[[O]] {global_shape = array<i64: 4, 3, 2, 5>, p = 1.000000e-01 : f64}
  // CHECK-NEXT: %[[B:.+]] = piper.attention %[[A]], %[[A]], %[[A]], %arg1, %[[O]] {causal, dropout = 1.000000e-01 : f64, global_shape = array<i64: 4, 2, 3, 3>, index = 1 : i64
  // CHECK-NEXT: piper.dropout %[[B]], %arg1, %[[O]] {global_shape = array<i64: 4, 3, 2, 5>, index = 2 : i64
  func.func private @body(%x: tensor<4x3x2x5xf32>, %key: tensor<2xi64>) -> tensor<4x3x2x5xf32> {
    %0 = piper.dropout %x, %key {p = 0.1 : f64} : (tensor<4x3x2x5xf32>, tensor<2xi64>) -> tensor<4x3x2x5xf32>
    %1 = piper.attention %0, %0, %0, %key {causal, scale = 1.0 : f64, dropout = 0.1 : f64, index = 1 : i64} : (tensor<4x3x2x5xf32>, tensor<4x3x2x5xf32>, tensor<4x3x2x5xf32>, tensor<2xi64>) -> tensor<4x3x2x5xf32>
    %2 = piper.dropout %1, %key {p = 0.1 : f64, index = 2 : i64} : (tensor<4x3x2x5xf32>, tensor<2xi64>) -> tensor<4x3x2x5xf32>
    return %2 : tensor<4x3x2x5xf32>
  }
}

// -----

// Evaluation and prediction take as many micro-batches as divide their own batch too.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @eval(
  // CHECK-SAME:  tensor<2x3x2xf32> {piper.input = #piper.input<"x", dims = [batch, feature], split = 0>}
  func.func @eval(%x: tensor<6x2xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}) -> tensor<6x2xf32> {
    %0 = piper.task @tanh(%x) pass = F : (tensor<6x2xf32>) -> tensor<6x2xf32>
    return %0 : tensor<6x2xf32>
  }
  // CHECK-LABEL: func.func @predict(
  // CHECK-SAME:  tensor<3x2xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}
  // CHECK-NEXT:  piper.task @square(%{{.+}}) pass = F : (tensor<3x2xf32>) -> tensor<3x2xf32>
  func.func @predict(%x: tensor<3x2xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>}) -> tensor<3x2xf32> {
    %0 = piper.task @square(%x) pass = F : (tensor<3x2xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
  func.func private @tanh(%x: tensor<6x2xf32>) -> tensor<6x2xf32> {
    %0 = piper.tanh %x : tensor<6x2xf32>
    return %0 : tensor<6x2xf32>
  }
  func.func private @square(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
    %0 = piper.square %x : tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----

// A value that is returned twice adds up once; what a task has of the batch may be whole.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK: %[[A:.+]]:2 = piper.task @body(%{{.+}}) pass = F mb = 0 : (tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
  // CHECK: %[[B:.+]]:2 = piper.task @body(%{{.+}}) into(%[[A]]#1) pass = F mb = 1
  // CHECK: return %[[B]]#1, %{{.+}}, %[[B]]#1
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<f32>, tensor<4xf32>, tensor<f32>) {
    %0:3 = piper.task @body(%x) pass = F : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>)
    return %0#0, %0#1, %0#2 : tensor<f32>, tensor<4xf32>, tensor<f32>
  }
  func.func private @body(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>) {
    %0 = piper.reduce_sum %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %1 = piper.square %x : tensor<4xf32>
    return %0, %1, %0 : tensor<f32>, tensor<4xf32>, tensor<f32>
  }
}

// -----

// What is added to a sum over the batch and is no part of it counts once: the first micro-batch has it, others have zeros.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK: %[[A:.+]] = piper.task @body(%{{.+}}, %{{.+}}) pass = F mb = 0
  // CHECK: piper.task @[[$LATER:body_[0-9]+]](%{{.+}}, %{{.+}}) into(%[[A]]) pass = F mb = 1
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}, %w: tensor<f32> {piper.param = #piper.param<"w">}) -> tensor<f32> {
    %0 = piper.task @body(%x, %w) pass = F : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  // CHECK-LABEL: func.func private @body(
  // CHECK-SAME:  %{{.+}}: tensor<2xf32>, %[[W:.+]]: tensor<f32>)
  // CHECK: piper.sub %{{.+}}, %[[W]]
  // CHECK: func.func private @[[$LATER]](
  // CHECK: %[[ZERO:.+]] = piper.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: piper.sub %{{.+}}, %[[ZERO]]
  func.func private @body(%x: tensor<4xf32>, %w: tensor<f32>) -> tensor<f32> {
    %0 = piper.reduce_sum %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %1 = piper.sub %0, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----

// Counts add up as they are.
module attributes {piper.level = #piper.level<dag>} {
  // CHECK-LABEL: func.func @train(
  // CHECK: %[[A:.+]] = piper.task @body(%{{.+}}) pass = F mb = 0 : (tensor<2xi32>) -> tensor<i64>
  // CHECK: %[[B:.+]] = piper.task @body(%{{.+}}) into(%[[A]]) pass = F mb = 1
  // CHECK: return %[[B]]
  func.func @train(%labels: tensor<4xi32> {piper.input = #piper.input<"labels", dims = [batch]>}) -> tensor<i64> {
    %0 = piper.task @body(%labels) pass = F : (tensor<4xi32>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @body(%labels: tensor<4xi32>) -> tensor<i64> {
    %0 = piper.count_valid %labels : (tensor<4xi32>) -> tensor<i64>
    return %0 : tensor<i64>
  }
}
