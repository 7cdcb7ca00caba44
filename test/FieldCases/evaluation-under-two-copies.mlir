// N12: a forward-only entry point under two copies. Trial: the batch of `eval` has fewer micro-batches than that of `train`, so
// that most actions of the schedule are none of its own. Right: it splits its micro-batches over the copies, an odd one goes
// to the first; every kind has the loss of one device.

// RUN: %python %S/Inputs/every_schedule.py 4 2 | grep 'chunks=1 \|dualpipe ' > %t.cells
// RUN: echo "run pipeline-parallel=4 micro-batches=8 schedule=dualpipe" >> %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells --below=256 | FileCheck %s
// CHECK: 10 match, 0 refused, 0 wrong

// Batches of evaluation of 4 and 6 beside 8 micro-batches, and of 3 beside 6.
// RUN: echo "run pipeline-parallel=2 micro-batches=8 schedule=dualpipe" > %t.cells
// RUN: sed 's/<2x6x/<4x6x/g' %s > %t.4.mlir
// RUN: timeout 120 piper-check-cells %t.4.mlir --cells=%t.cells --below=256 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/<2x6x/<6x6x/g' %s > %t.6.mlir
// RUN: timeout 120 piper-check-cells %t.6.mlir --cells=%t.cells --below=256 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/<2x6x/<3x6x/g; s/<8x6x/<12x6x/g' %s > %t.3.mlir
// RUN: echo "run pipeline-parallel=2 micro-batches=6 schedule=dualpipe" > %t.cells
// RUN: timeout 120 piper-check-cells %t.3.mlir --cells=%t.cells --below=256 | FileCheck %s --check-prefix=ONE
// ONE: 1 match, 0 refused, 0 wrong

module {
func.func @train(
    %tokens: tensor<8x6xi32> {piper.input = #piper.input<"tokens", dims = [batch, seq]>},
    %labels: tensor<8x6xi32> {piper.input = #piper.input<"labels", dims = [batch, seq]>},
    %e: tensor<256x8xf32> {piper.param = #piper.param<"e", dims = [v, d], init = normal<0.5>>},
    %w: tensor<8x8xf32> {piper.param = #piper.param<"w", dims = [d, d2], init = normal<0.5>>},
    %w2: tensor<8x8xf32> {piper.param = #piper.param<"w2", dims = [d, d2], init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %x = piper.embedding %e, %tokens {piper.tags = #piper.tags<layer = 0>} : (tensor<256x8xf32>, tensor<8x6xi32>) -> tensor<8x6x8xf32>
  %a = piper.matmul %x, %w {piper.tags = #piper.tags<layer = 1>} : (tensor<8x6x8xf32>, tensor<8x8xf32>) -> tensor<8x6x8xf32>
  %h = piper.tanh %a {piper.tags = #piper.tags<layer = 1>} : tensor<8x6x8xf32>
  %a2 = piper.matmul %h, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<8x6x8xf32>, tensor<8x8xf32>) -> tensor<8x6x8xf32>
  %z = piper.matmul %a2, %e {transpose_b, piper.tags = #piper.tags<layer = 3>} : (tensor<8x6x8xf32>, tensor<256x8xf32>) -> tensor<8x6x256xf32>
  %s = piper.cross_entropy %z, %labels {piper.tags = #piper.tags<layer = 3>} : (tensor<8x6x256xf32>, tensor<8x6xi32>) -> tensor<f32>
  %n = piper.count_valid %labels : (tensor<8x6xi32>) -> tensor<i64>
  %loss = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @eval(
    %tokens: tensor<2x6xi32> {piper.input = #piper.input<"tokens", dims = [batch, seq]>},
    %labels: tensor<2x6xi32> {piper.input = #piper.input<"labels", dims = [batch, seq]>},
    %e: tensor<256x8xf32> {piper.param = #piper.param<"e", dims = [v, d], init = normal<0.5>>},
    %w: tensor<8x8xf32> {piper.param = #piper.param<"w", dims = [d, d2], init = normal<0.5>>},
    %w2: tensor<8x8xf32> {piper.param = #piper.param<"w2", dims = [d, d2], init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %x = piper.embedding %e, %tokens {piper.tags = #piper.tags<layer = 0>} : (tensor<256x8xf32>, tensor<2x6xi32>) -> tensor<2x6x8xf32>
  %a = piper.matmul %x, %w {piper.tags = #piper.tags<layer = 1>} : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %h = piper.tanh %a {piper.tags = #piper.tags<layer = 1>} : tensor<2x6x8xf32>
  %a2 = piper.matmul %h, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %z = piper.matmul %a2, %e {transpose_b, piper.tags = #piper.tags<layer = 3>} : (tensor<2x6x8xf32>, tensor<256x8xf32>) -> tensor<2x6x256xf32>
  %s = piper.cross_entropy %z, %labels {piper.tags = #piper.tags<layer = 3>} : (tensor<2x6x256xf32>, tensor<2x6xi32>) -> tensor<f32>
  %n = piper.count_valid %labels : (tensor<2x6xi32>) -> tensor<i64>
  %loss = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}
}
