// Many parameters that the loss does not reach: eight are named, the others counted.
//
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-8: remark: parameter 'u{{[0-7]}}' is not reached by the loss: it has no gradient and is left alone
// CHECK-NOT: parameter 'u8'
// CHECK: remark: nor does the loss reach 2 more parameters
// CHECK-NOT: remark

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %u0: tensor<2xf32> {piper.param = #piper.param<"u0">}, %u1: tensor<2xf32> {piper.param = #piper.param<"u1">}, %u2: tensor<2xf32> {piper.param = #piper.param<"u2">}, %u3: tensor<2xf32> {piper.param = #piper.param<"u3">}, %u4: tensor<2xf32> {piper.param = #piper.param<"u4">}, %u5: tensor<2xf32> {piper.param = #piper.param<"u5">}, %u6: tensor<2xf32> {piper.param = #piper.param<"u6">}, %u7: tensor<2xf32> {piper.param = #piper.param<"u7">}, %u8: tensor<2xf32> {piper.param = #piper.param<"u8">}, %u9: tensor<2xf32> {piper.param = #piper.param<"u9">}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.reduce_sum %w {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
