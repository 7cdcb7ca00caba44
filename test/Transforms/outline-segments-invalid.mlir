// Two random ops of one segment with one index would share their numbers.
//
// RUN: piper-opt %s --piper-outline-segments --verify-diagnostics

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %key = piper.random_key : () -> tensor<2xi64>
  // expected-note @below {{this op has it too}}
  %a = piper.dropout %w, %key {p = 5.000000e-01 : f64, index = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  // expected-error @below {{expects an index of its own among the random ops of its segment but got 1 again}}
  %b = piper.dropout %a, %key {p = 5.000000e-01 : f64, index = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  %l = piper.reduce_sum %b {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
