// C08: transposed parameters. Trial: the weight of a product is the transpose of a stored f32[4, 6], on one device and in either of
// two stages. Right: gradient and file have the stored shape, row by row. Loss = sum over rows b and columns o of (o + 1) y[b, o], so
// the gradient of w[o, i] is (o + 1) times the sum over b of x[b, i]; SGD at rate 1 subtracts it.

// DEFINE: %{stages} =
// DEFINE: %{run} = timeout 60 piper-run %s --piper-compile="optimizer=sgd lr=1 threads=1 %{stages}" --inputs %t.inputs --save %t.saved --dump-gradients %t.grads
// DEFINE: %{check} = %{run} && %python %S/Inputs/tensor_names.py %t.saved | FileCheck %s && %python %S/Inputs/transposed_weight.py %t.inputs %t.grads %t.saved
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:1,3,6
// RUN: %{check}
// REDEFINE: %{stages} = pipeline-parallel=2 cuts=1 micro-batches=3
// RUN: %{check}
// REDEFINE: %{stages} = pipeline-parallel=2 cuts=2 micro-batches=3
// RUN: %{check}
// CHECK: w F32 [4, 6]

module {
  func.func @train(%x: tensor<3x6xf32> {piper.input = #piper.input<"x", dims = [batch, in]>},
                   %w: tensor<4x6xf32> {piper.param = #piper.param<"w", dims = [out, in], init = dense<[
                     [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 11.0, 12.0, 13.0, 14.0, 15.0],
                     [20.0, 21.0, 22.0, 23.0, 24.0, 25.0], [30.0, 31.0, 32.0, 33.0, 34.0, 35.0]]> : tensor<4x6xf32>>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %one = piper.constant dense<[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<6x6xf32>
    %h = piper.matmul %x, %one {piper.tags = #piper.tags<layer = 0>} : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
    %wt = piper.transpose %w {permutation = array<i64: 1, 0>, piper.tags = #piper.tags<layer = 1>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %y = piper.matmul %h, %wt {piper.tags = #piper.tags<layer = 1>} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
    %c = piper.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %z = piper.mul %y, %c {piper.tags = #piper.tags<layer = 2>} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    %loss = piper.reduce_sum %z {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 2>} : (tensor<3x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
