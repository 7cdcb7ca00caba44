// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-verify-plan refuses: what is missing, then what the runtime's checks
// of a plan find, each at its op. (The checks themselves have unit tests.)
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-verify-plan

// expected-error @below {{'piper-verify-plan' expects level 'plan' but got 'programs'}}
module attributes {piper.level = #piper.level<programs>} {
}

// -----

// expected-error @below {{expects a program but the plan has none}}
module attributes {piper.level = #piper.level<plan>} {
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @a at [pp = 0] target = <cpu, threads = 1> arena = 0 {
  }
  // expected-error @below {{expects the 2 programs of the plan at pp = 0 to 1, one each, but is at pp = 2}}
  piper.program @b at [pp = 2] target = <cpu, threads = 1> arena = 0 {
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  // expected-error @below {{expects the 2 programs of the plan at pp = 0 to 1, one each, but is at pp = 1}}
  piper.program @a at [pp = 1] target = <cpu, threads = 1> arena = 0 {
  }
  piper.program @b at [pp = 1] target = <cpu, threads = 1> arena = 0 {
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  // expected-note @below {{one is here}}
  piper.program @a at [pp = 0] target = <cpu, threads = 1> arena = 0 {
  }
  // expected-error @below {{expects the buffering of the other programs, 0, but got 2}}
  piper.program @b at [pp = 1] target = <cpu, threads = 1> buffering = 2 arena = 0 {
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  // expected-error @below {{expects the size of the arena that piper-plan-memory sets}}
  piper.program @main target = <cpu, threads = 1> {
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 0 {
    // expected-error @below {{expects only entry points in a program}}
    func.func private @f()
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    // expected-error @below {{expects one offset for each of its 1 arguments but got 0}}
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) {
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    // expected-error @below {{expects argument #0 to be a static tensor of f32, f64, bf16, i1, i32 or i64 but got 'tensor<16xf16>'}}
    piper.entry @eval(%x: tensor<16xf16> {piper.input = #piper.input<"x">}) attributes {offsets = array<i64: 0>} {
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    // expected-error @below {{expects argument #0 to be an input, a parameter or state}}
    piper.entry @eval(%x: tensor<16xf32>) attributes {offsets = array<i64: 0>} {
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{expects one offset for each of its 1 results but got 0}}
      %a = piper.task @square(%x) pass = F : (tensor<16xf32>) -> tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{expects result #0 to be a static tensor of f32, f64, bf16, i1, i32 or i64 but got '!piper.dist<tensor<16xf32>, on [pp = 0]>'}}
      %a = piper.task @square(%x) pass = F offsets = [64] : (tensor<16xf32>) -> !piper.dist<tensor<16xf32>, on [pp = 0]>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{expects no 'into' in a plan: piper-partition makes it operands of a body}}
      %a = piper.task @square(%x) into(%x) pass = F offsets = [64] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      // expected-error @below {{expects an id of its own but another op of the entry point has 0}}
      %b = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{waits for id 1, which no op before it in the entry point has}}
      %a = piper.task @square(%x) pass = F id = 0 waits = [1] offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      %b = piper.receive from 1 id = 1 offsets = [64] : tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{waits for id 0, which no op before it in the entry point has}}
      %a = piper.task @square(%x) pass = F id = 0 waits = [0] offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{expects one offset for each of its 1 results but got 0}}
      %a = piper.receive from 1 id = 0 : tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{expects at most one result but got 2}}
      %a:2 = piper.reduce %x terms = [0] members = [0] id = 0 offsets = [64, 64] : (tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      // expected-error @below {{cannot stand in an entry point of a plan: expects tasks, micro-batch views, sends, receives and reduces}}
      %a = piper.square %x : tensor<16xf32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 2 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      // expected-error @below {{expects a step input as its operand}}
      %b = piper.micro_batch %a[3] : tensor<16xf32> -> tensor<f32>
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    // expected-error @below {{expects the next value of 'w' to lie where the state lies}}
    piper.entry @train(%w: tensor<16xf32> {piper.param = #piper.param<"w">}) -> (tensor<16xf32> {piper.next = "w"}) attributes {offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%w) pass = U offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %a : tensor<16xf32>
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<plan>} {
  piper.program @main target = <cpu, threads = 1> arena = 128 {
    piper.entry @train(%w: tensor<16xf32> {piper.param = #piper.param<"w">}) attributes {offsets = array<i64: 0>, peak = 128 : i64} {
      piper.return
    }
    // expected-error @below {{expects 'w' to be tensor<16xf32> at offset 0 as in the other entry points but got tensor<16xf32> at offset 64}}
    piper.entry @eval(%w: tensor<16xf32> {piper.param = #piper.param<"w">}) attributes {offsets = array<i64: 64>, peak = 128 : i64} {
      piper.return
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

// A program alone: its message stands at the program.
module attributes {piper.level = #piper.level<plan>} {
  // expected-error @below {{peak of entry point 'eval': }}
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> arena = 64 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 3 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.send %a to 1 id = 1 waits = [0] : tensor<16xf32>
      piper.return
    }
  }
  piper.program @p1 at [pp = 1] target = <cpu, threads = 1> arena = 64 {
    piper.entry @eval() -> (tensor<16xf32> {piper.output = "y"}) attributes {ops = 3 : i64, offsets = array<i64>, peak = 64 : i64} {
      %a = piper.receive from 0 id = 1 offsets = [0] : tensor<16xf32>
      %b = piper.task @square(%a) pass = F id = 2 waits = [1] offsets = [0] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %b : tensor<16xf32>
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

// All together, at the op that is wrong.
module attributes {piper.level = #piper.level<plan>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 3 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      // expected-error @below {{reads bytes 64 to 128 of the arena, which instruction 0 on stream 'compute' writes, and does not wait for it}}
      piper.send %a to 1 id = 1 : tensor<16xf32>
      piper.return
    }
  }
  piper.program @p1 at [pp = 1] target = <cpu, threads = 1> arena = 64 {
    piper.entry @eval() -> (tensor<16xf32> {piper.output = "y"}) attributes {ops = 3 : i64, offsets = array<i64>, peak = 64 : i64} {
      %a = piper.receive from 0 id = 1 offsets = [0] : tensor<16xf32>
      %b = piper.task @square(%a) pass = F id = 2 waits = [1] offsets = [0] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %b : tensor<16xf32>
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

// At an entry point.
module attributes {piper.level = #piper.level<plan>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 3 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.send %a to 1 id = 1 waits = [0] : tensor<16xf32>
      piper.return
    }
  }
  piper.program @p1 at [pp = 1] target = <cpu, threads = 1> arena = 64 {
    // expected-error @below {{expects the number of ops as on coordinate 0, 3, but got 4}}
    piper.entry @eval() -> (tensor<16xf32> {piper.output = "y"}) attributes {ops = 4 : i64, offsets = array<i64>, peak = 64 : i64} {
      %a = piper.receive from 0 id = 1 offsets = [0] : tensor<16xf32>
      %b = piper.task @square(%a) pass = F id = 2 waits = [1] offsets = [0] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %b : tensor<16xf32>
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

// At a program.
module attributes {piper.level = #piper.level<plan>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 3 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.send %a to 1 id = 1 waits = [0] : tensor<16xf32>
      piper.return
    }
  }
  // expected-error @below {{expects entry point 0 as on coordinate 0, 'eval', but got 'predict'}}
  piper.program @p1 at [pp = 1] target = <cpu, threads = 1> arena = 64 {
    piper.entry @predict() -> (tensor<16xf32> {piper.output = "y"}) attributes {ops = 3 : i64, offsets = array<i64>, peak = 64 : i64} {
      %a = piper.receive from 0 id = 1 offsets = [0] : tensor<16xf32>
      %b = piper.task @square(%a) pass = F id = 2 waits = [1] offsets = [0] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %b : tensor<16xf32>
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}
