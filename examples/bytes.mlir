// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A language model of bytes written by hand: a table of bytes, attention with
// one head, a feed-forward layer, and the table again as head. See
// docs/writing-a-model.md.

#embed = #piper.tags<layer = 0, name = "embed">
#block = #piper.tags<layer = 1, name = "block">
#head = #piper.tags<layer = 2, name = "head">

func.func @train(
    %tokens: tensor<8x64xi32> {piper.input = #piper.input<"tokens", dims = [batch, seq]>},
    %labels: tensor<8x64xi32> {piper.input = #piper.input<"labels", dims = [batch, seq]>},
    %table: tensor<256x48xf32> {piper.param = #piper.param<"table", dims = [vocab, embed], init = normal<0.1>>},
    %wq: tensor<48x48xf32> {piper.param = #piper.param<"wq", dims = [embed, attn], init = normal<0.1>>},
    %wk: tensor<48x48xf32> {piper.param = #piper.param<"wk", dims = [embed, attn], init = normal<0.1>>},
    %wv: tensor<48x48xf32> {piper.param = #piper.param<"wv", dims = [embed, attn], init = normal<0.1>>},
    %up: tensor<48x96xf32> {piper.param = #piper.param<"up", dims = [embed, inner], init = normal<0.1>>},
    %bias: tensor<96xf32> {piper.param = #piper.param<"bias", dims = [inner], init = zeros>},
    %down: tensor<96x48xf32> {piper.param = #piper.param<"down", dims = [inner, embed], init = normal<0.05>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  // One vector for each byte.
  %x = piper.embedding %table, %tokens {piper.tags = #embed} : (tensor<256x48xf32>, tensor<8x64xi32>) -> tensor<8x64x48xf32>

  // Attention reads [batch, seq, heads, head size]; 0.144 is 1/sqrt(48).
  %q = piper.matmul %x, %wq {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x48xf32>) -> tensor<8x64x48xf32>
  %k = piper.matmul %x, %wk {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x48xf32>) -> tensor<8x64x48xf32>
  %v = piper.matmul %x, %wv {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x48xf32>) -> tensor<8x64x48xf32>
  %q1 = piper.reshape %q {piper.tags = #block} : (tensor<8x64x48xf32>) -> tensor<8x64x1x48xf32>
  %k1 = piper.reshape %k {piper.tags = #block} : (tensor<8x64x48xf32>) -> tensor<8x64x1x48xf32>
  %v1 = piper.reshape %v {piper.tags = #block} : (tensor<8x64x48xf32>) -> tensor<8x64x1x48xf32>
  %a1 = piper.attention %q1, %k1, %v1 {causal, scale = 0.144 : f64, piper.tags = #block}
      : (tensor<8x64x1x48xf32>, tensor<8x64x1x48xf32>, tensor<8x64x1x48xf32>) -> tensor<8x64x1x48xf32>
  %a = piper.reshape %a1 {piper.tags = #block} : (tensor<8x64x1x48xf32>) -> tensor<8x64x48xf32>
  %h = piper.add %x, %a {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<8x64x48xf32>) -> tensor<8x64x48xf32>

  // The bias is repeated over batch and positions.
  %u0 = piper.matmul %h, %up {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x96xf32>) -> tensor<8x64x96xf32>
  %u1 = piper.add %u0, %bias {piper.tags = #block} : (tensor<8x64x96xf32>, tensor<96xf32>) -> tensor<8x64x96xf32>
  %u = piper.silu %u1 {piper.tags = #block} : tensor<8x64x96xf32>
  %f = piper.matmul %u, %down {piper.tags = #block} : (tensor<8x64x96xf32>, tensor<96x48xf32>) -> tensor<8x64x48xf32>
  %y = piper.add %h, %f {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<8x64x48xf32>) -> tensor<8x64x48xf32>

  // The loss: a sum over the valid labels, divided by their number.
  %z = piper.matmul %y, %table {transpose_b, piper.tags = #head} : (tensor<8x64x48xf32>, tensor<256x48xf32>) -> tensor<8x64x256xf32>
  %sum = piper.cross_entropy %z, %labels {piper.tags = #head} : (tensor<8x64x256xf32>, tensor<8x64xi32>) -> tensor<f32>
  %count = piper.count_valid %labels : (tensor<8x64xi32>) -> tensor<i64>
  %loss = piper.divide %sum, %count : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// From tokens to logits, with the same parameters: what --generate runs.
func.func @predict(
    %tokens: tensor<8x64xi32> {piper.input = #piper.input<"tokens", dims = [batch, seq]>},
    %table: tensor<256x48xf32> {piper.param = #piper.param<"table", dims = [vocab, embed], init = normal<0.1>>},
    %wq: tensor<48x48xf32> {piper.param = #piper.param<"wq", dims = [embed, attn], init = normal<0.1>>},
    %wk: tensor<48x48xf32> {piper.param = #piper.param<"wk", dims = [embed, attn], init = normal<0.1>>},
    %wv: tensor<48x48xf32> {piper.param = #piper.param<"wv", dims = [embed, attn], init = normal<0.1>>},
    %up: tensor<48x96xf32> {piper.param = #piper.param<"up", dims = [embed, inner], init = normal<0.1>>},
    %bias: tensor<96xf32> {piper.param = #piper.param<"bias", dims = [inner], init = zeros>},
    %down: tensor<96x48xf32> {piper.param = #piper.param<"down", dims = [inner, embed], init = normal<0.05>>})
    -> (tensor<8x64x256xf32> {piper.output = "logits"}) {
  %x = piper.embedding %table, %tokens {piper.tags = #embed} : (tensor<256x48xf32>, tensor<8x64xi32>) -> tensor<8x64x48xf32>

  %q = piper.matmul %x, %wq {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x48xf32>) -> tensor<8x64x48xf32>
  %k = piper.matmul %x, %wk {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x48xf32>) -> tensor<8x64x48xf32>
  %v = piper.matmul %x, %wv {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x48xf32>) -> tensor<8x64x48xf32>
  %q1 = piper.reshape %q {piper.tags = #block} : (tensor<8x64x48xf32>) -> tensor<8x64x1x48xf32>
  %k1 = piper.reshape %k {piper.tags = #block} : (tensor<8x64x48xf32>) -> tensor<8x64x1x48xf32>
  %v1 = piper.reshape %v {piper.tags = #block} : (tensor<8x64x48xf32>) -> tensor<8x64x1x48xf32>
  %a1 = piper.attention %q1, %k1, %v1 {causal, scale = 0.144 : f64, piper.tags = #block}
      : (tensor<8x64x1x48xf32>, tensor<8x64x1x48xf32>, tensor<8x64x1x48xf32>) -> tensor<8x64x1x48xf32>
  %a = piper.reshape %a1 {piper.tags = #block} : (tensor<8x64x1x48xf32>) -> tensor<8x64x48xf32>
  %h = piper.add %x, %a {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<8x64x48xf32>) -> tensor<8x64x48xf32>

  %u0 = piper.matmul %h, %up {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<48x96xf32>) -> tensor<8x64x96xf32>
  %u1 = piper.add %u0, %bias {piper.tags = #block} : (tensor<8x64x96xf32>, tensor<96xf32>) -> tensor<8x64x96xf32>
  %u = piper.silu %u1 {piper.tags = #block} : tensor<8x64x96xf32>
  %f = piper.matmul %u, %down {piper.tags = #block} : (tensor<8x64x96xf32>, tensor<96x48xf32>) -> tensor<8x64x48xf32>
  %y = piper.add %h, %f {piper.tags = #block} : (tensor<8x64x48xf32>, tensor<8x64x48xf32>) -> tensor<8x64x48xf32>

  %z = piper.matmul %y, %table {transpose_b, piper.tags = #head} : (tensor<8x64x48xf32>, tensor<256x48xf32>) -> tensor<8x64x256xf32>
  return %z : tensor<8x64x256xf32>
}
