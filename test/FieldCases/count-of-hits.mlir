// N16: an exact count over micro-batches. Trial: the labels of a result are made from a parameter, and the number of valid
// ones is a result. Right: an i64 sum, the same number for every M and every kind.

// RUN: %python %S/Inputs/every_schedule.py 4 1 2 | grep 'chunks=1 ' > %t.cells
// RUN: echo "run micro-batches=2" >> %t.cells
// RUN: echo "run pipeline-parallel=2 micro-batches=4 schedule=dualpipe" >> %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells --below=3 | FileCheck %s
// CHECK: 18 match, 0 refused, 0 wrong

// Row i of the table is i - 1, which is below 0 for 0 only.
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs ids:I32\<3:1,4,3
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1 micro-batches=4" --inputs %t.inputs --dump-outputs %t.outputs
// RUN: %python -c "import sys; sys.path.insert(0, '%source/test/oracle'); from safetensors_file import read; \
// RUN:     ids = read('%t.inputs')['ids'].values; hits = list(read('%t.outputs')['hits'].values); \
// RUN:     sys.exit(hits != [sum(i > 0 for i in ids)])"

#a = #piper.tags<layer = 0>
#b = #piper.tags<layer = 1>
func.func @train(
    %ids: tensor<4x3xi32> {piper.input = #piper.input<"ids", dims = [batch, seq]>},
    %table: tensor<3x1xf32> {piper.param = #piper.param<"table", frozen, init = dense<[[-1.0], [0.0], [1.0]]> : tensor<3x1xf32>>},
    %w: tensor<1xf32> {piper.param = #piper.param<"w", init = ones>})
    -> (tensor<f32> {piper.output = "loss"}, tensor<i64> {piper.output = "hits"}) {
  %e = piper.embedding %table, %ids {piper.tags = #a} : (tensor<3x1xf32>, tensor<4x3xi32>) -> tensor<4x3x1xf32>
  %labels = piper.cast %e {piper.tags = #a} : (tensor<4x3x1xf32>) -> tensor<4x3x1xi32>
  %hits = piper.count_valid %labels {piper.tags = #b} : (tensor<4x3x1xi32>) -> tensor<i64>
  %y = piper.mul %e, %w {piper.tags = #b} : (tensor<4x3x1xf32>, tensor<1xf32>) -> tensor<4x3x1xf32>
  %q = piper.square %y {piper.tags = #b} : tensor<4x3x1xf32>
  %loss = piper.reduce_sum %q {dims = array<i64: 0, 1, 2>, piper.tags = #b} : (tensor<4x3x1xf32>) -> tensor<f32>
  return %loss, %hits : tensor<f32>, tensor<i64>
}
