// An entry point that returns its input has no task. Right: it runs beside a pipeline of two, as it runs on one device.

// RUN: echo "run pipeline-parallel=2 micro-batches=2" > %t.cells
// RUN: echo "run pipeline-parallel=2 micro-batches=4 schedule=dualpipe" >> %t.cells
// RUN: timeout 60 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 2 match, 0 refused, 0 wrong

func.func @train(
    %f0: tensor<8x4xf32> {piper.input = #piper.input<"f0", dims = [batch, d1]>},
    %p2: tensor<4xf32> {piper.param = #piper.param<"p2", init = ones>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %3 = piper.mul %f0, %p2 {piper.tags = #piper.tags<layer = 2>} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %4 = piper.reduce_sum %3 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>) -> tensor<f32>
  return %4 : tensor<f32>
}
func.func @predict(
    %f0: tensor<1x4xf32> {piper.input = #piper.input<"f0", dims = [batch, d1]>})
    -> (tensor<1x4xf32> {piper.output = "r1"}) {
  return %f0 : tensor<1x4xf32>
}
