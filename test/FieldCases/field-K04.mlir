// K04: integers, booleans and values returned unchanged. Trial: inputs f32[2, 4], i32[2] and i1[2, 6], all three also results.
// Right: they come back bit by bit, get no gradient, and those of the parameters are in closed form: row r of the table
// gets the number of its uses, the gain of x the sum of x, of the mask the number of ones.

// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:3,2,4 row:I32\<5:3,2 mask:BOOL:3,2,6
// RUN: piper-run %s --piper-compile="optimizer=sgd lr=0.1 clip=1 threads=1" --inputs %t.inputs --dump-outputs %t.outputs --dump-gradients %t.grads
// RUN: %python %S/Inputs/passed_through.py %t.inputs %t.outputs %t.grads
// RUN: %python %S/Inputs/tensor_names.py %t.grads | FileCheck %s
// CHECK:      gain.mask F32 [1]
// CHECK-NEXT: gain.x F32 [1]
// CHECK-NEXT: table F32 [5, 1]
// CHECK-NOT:  {{.}}

module {
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %row: tensor<2xi32> {piper.input = #piper.input<"row", dims = [batch]>},
                   %mask: tensor<2x6xi1> {piper.input = #piper.input<"mask", dims = [batch, place]>},
                   %table: tensor<5x1xf32> {piper.param = #piper.param<"table", dims = [row, one], init = normal<1.0>>},
                   %a: tensor<1xf32> {piper.param = #piper.param<"gain.x", dims = [one], init = ones>},
                   %b: tensor<1xf32> {piper.param = #piper.param<"gain.mask", dims = [one], init = ones>})
      -> (tensor<f32> {piper.output = "loss"}, tensor<2x6xi1> {piper.output = "mask"},
          tensor<2xi32> {piper.output = "row"}, tensor<2x4xf32> {piper.output = "x"}) {
    %e = piper.embedding %table, %row : (tensor<5x1xf32>, tensor<2xi32>) -> tensor<2x1xf32>
    %es = piper.reduce_sum %e {dims = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<f32>
    %y = piper.mul %x, %a : (tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xf32>
    %ys = piper.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
    %m = piper.cast %mask : (tensor<2x6xi1>) -> tensor<2x6xf32>
    %z = piper.mul %m, %b : (tensor<2x6xf32>, tensor<1xf32>) -> tensor<2x6xf32>
    %zs = piper.reduce_sum %z {dims = array<i64: 0, 1>} : (tensor<2x6xf32>) -> tensor<f32>
    %s = piper.add %es, %ys : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %loss = piper.add %s, %zs : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss, %mask, %row, %x : tensor<f32>, tensor<2x6xi1>, tensor<2xi32>, tensor<2x4xf32>
  }
}
