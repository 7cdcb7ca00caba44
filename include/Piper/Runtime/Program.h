// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Program: what the compiler hands to the runtime. Plain data: every
// buffer has its offset in one arena, every instruction its operands. The
// runtime does not know which parallel strategy made it.

#ifndef PIPER_RUNTIME_PROGRAM_H
#define PIPER_RUNTIME_PROGRAM_H

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace piper::rt {

enum class ElementType : uint8_t { F32, F64, BF16, I1, I32, I64 };

/// Bytes of one element. An I1 takes one byte, 0 or 1.
int64_t elementBytes(ElementType type);
/// The MLIR spelling: f32, f64, bf16, i1, i32, i64.
const char *elementName(ElementType type);

/// A dense row-major tensor.
struct TensorType {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;

  /// Both saturate at the largest int64_t; a negative dimension counts as 0.
  int64_t numElements() const;
  int64_t numBytes() const;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool operator==(const TensorType &other) const {
    return element == other.element && shape == other.shape;
  }
  bool operator!=(const TensorType &other) const { return !(*this == other); }
  /// "tensor<4x8xf32>".
  std::string str() const;
};

/// The offset of every buffer in the arena is a multiple of this, in bytes.
constexpr int64_t kAlignment = 64;

/// The attributes of a kernel: name and value, in the order of the op. A unit
/// or boolean attribute is the integer 0 or 1; dense constants are raw bytes.
class Attributes {
public:
  using Value = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                             std::vector<uint8_t>>;
  void set(std::string name, Value value) {
    entries.emplace_back(std::move(name), std::move(value));
  }
  const Value *find(const std::string &name) const;
  /// The value of an attribute, or `otherwise` where it is absent or of
  /// another kind.
  int64_t getInt(const std::string &name, int64_t otherwise = 0) const;
  double getFloat(const std::string &name, double otherwise = 0) const;
  std::string getString(const std::string &name,
                        const std::string &otherwise = "") const;
  std::vector<int64_t> getInts(const std::string &name) const;

  std::vector<std::pair<std::string, Value>> entries;
};

/// One call of a kernel inside a function: what is known at compile time.
struct KernelSpec {
  /// The name of the op without the dialect: "matmul".
  std::string name;
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
  Attributes attributes;
};

/// What a plan was made for.
struct Target {
  std::string device = "cpu";
  /// Threads of one rank: OpenMP threads inside kernels.
  int threads = 1;
};

/// Where a value of a function lies when it is called.
struct FunctionValue {
  enum class Base : uint8_t { Operand, Result, Workspace };
  TensorType type;
  Base base = Base::Workspace;
  /// Which operand or result of the function (Base::Operand, Base::Result).
  int32_t index = 0;
  /// Bytes from the start of that operand, result or workspace.
  int64_t offset = 0;
};

/// The body of tasks: a straight line of kernels, shared by all calls.
struct Function {
  struct Step {
    KernelSpec spec;
    /// Indices into `values`.
    std::vector<int32_t> operands;
    std::vector<int32_t> results;
    /// Bytes from the start of the task's workspace to the kernel's own.
    int64_t workspaceOffset = 0;
    int64_t workspaceBytes = 0;
  };
  std::string name;
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
  std::vector<FunctionValue> values;
  std::vector<Step> steps;
  /// Bytes of workspace that a call needs.
  int64_t workspaceBytes = 0;
  /// What one call costs by the op's own account: floating point operations,
  /// and bytes read and written.
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// A tensor that outlives a step: a parameter, optimizer state or a counter.
struct StateTensor {
  enum class Kind : uint8_t { Parameter, Moment, Counter };
  enum class Init : uint8_t { Zeros, Ones, Normal, Data };
  /// The name in the source program ("wte"), "wte.m", "wte.v", or "iteration",
  /// "update", "seed".
  std::string name;
  TensorType type;
  int64_t offset = 0;
  Kind kind = Kind::Parameter;
  bool trainable = false;
  Init init = Init::Zeros;
  /// Standard deviation of Init::Normal.
  double scale = 0;
  /// The elements of Init::Data.
  std::vector<uint8_t> data;
};

/// One buffer of an entry point.
struct EntryValue {
  TensorType type;
  int64_t offset = 0;
  /// The input (index into EntryPoint::values) that this value is a part of, -1
  /// where it is a buffer of its own. A part need not be aligned.
  int32_t viewOf = -1;
};

/// A named input or output of an entry point.
struct Binding {
  std::string name;
  /// Index into EntryPoint::values.
  int32_t value = 0;
  /// Names of the dimensions of an input, where it has them.
  std::vector<std::string> dims;
  /// The dimension of an input that was cut into micro-batches, which are the
  /// first dimension of the value's type: [4, 2, 8] with `split` 0 is a batch
  /// of [8, 8]. -1: not cut.
  int32_t split = -1;
};

/// The in-order queues of a rank. Tasks run on Compute, sends on Out, receives
/// on In, reductions on Reduce.
enum class Stream : uint8_t { Compute, Out, In, Reduce };
constexpr int kNumStreams = 4;
/// "compute", "pp.out", "pp.in", "reduce".
const char *streamName(Stream stream);

/// One op of an entry point. When it may start:
/// (a) the ops before it on its stream have ended;
/// (b) the ops of `waits` have ended;
/// (c) if it is no task: the last task before it in the list has started.
struct Instruction {
  enum class Kind : uint8_t { Task, Send, Receive, AllReduce };
  Kind kind = Kind::Task;
  Stream stream() const { return static_cast<Stream>(kind); }
  /// Its place in the common order of all programs of the plan: the two ends of
  /// a transfer and the members of a reduction have one id, and so have the
  /// copies of a task on several coordinates. -1 in a plan of one program that
  /// was never placed.
  int64_t id = -1;
  /// Indices of earlier instructions of this entry point, on other streams.
  std::vector<int32_t> waits;

  /// Send and Receive: the coordinate of the other end. The value sent is
  /// operands[0], the value received results[0].
  int32_t peer = -1;
  /// AllReduce: the coordinate of each term, in the order of addition. This
  /// coordinate's terms are the operands, in that order.
  std::vector<int32_t> terms;
  /// AllReduce: the coordinates that take part, ascending. One that stores the
  /// sum has a result.
  std::vector<int32_t> members;

  /// Task: the coordinates that run it, ascending; empty: this one only.
  std::vector<int32_t> on;
  int32_t function = 0;
  /// Indices into EntryPoint::values.
  std::vector<int32_t> operands;
  std::vector<int32_t> results;
  /// Where the workspace of the call starts in the arena.
  int64_t workspaceOffset = 0;
  /// Key of the call's random numbers.
  int64_t salt = 0;
  /// Micro-batch, stage, number of the segment of the model: -1 if the task
  /// belongs to none. `copy` tells two copies of a stage apart.
  int32_t microBatch = -1;
  int32_t stage = -1;
  int32_t segment = -1;
  int32_t copy = 0;
  /// "F", "B", "BI", "BW", "R", "U" or "once".
  std::string pass;
  /// The tags in reading form: "layer = 3".
  std::string tags;
};

/// What `train`, `eval` or `predict` runs.
struct EntryPoint {
  std::string name;
  std::vector<EntryValue> values;
  std::vector<Binding> inputs;
  std::vector<Binding> outputs;
  /// Gradients that the plan keeps to the end of the step, under the names of
  /// their parameters.
  std::vector<Binding> gradients;
  /// Values that are state: (index into values, index into Program::state).
  std::vector<std::pair<int32_t, int32_t>> state;
  std::vector<Instruction> instructions;
  /// Number of ids: the ops of the step in all programs. 0 where instructions
  /// have none.
  int64_t numOps = 0;
  /// Bytes of arena from its start to the end of the last byte it uses.
  int64_t peakBytes = 0;
  /// The largest sum of bytes live at one time: a lower bound of the peak.
  int64_t liveBytes = 0;
  /// Index of the instruction at the peak.
  int32_t peakInstruction = 0;
  /// Bytes by category at that instruction ("parameters", "gradients", ...).
  std::vector<std::pair<std::string, int64_t>> categories;
};

struct Program {
  /// Raised whenever the meaning of a plan changes.
  static constexpr int64_t kVersion = 2;
  std::string name;
  /// The coordinate on the pipeline axis, 0 where there is none.
  int32_t coordinate = 0;
  Target target;
  int64_t arenaBytes = 0;
  std::vector<StateTensor> state;
  std::vector<Function> functions;
  std::vector<EntryPoint> entries;

  const EntryPoint *findEntry(const std::string &name) const;
  const StateTensor *findState(const std::string &name) const;
};

/// What all ranks run: rank r runs programs[r], whose coordinate is r.
struct Plan {
  /// What messages call it: the file. Empty: the name of the first program.
  std::string name;
  std::vector<Program> programs;
  /// Messages that a channel (from one rank to another) may hold: a send ends
  /// when there is room. 0: a send ends when the value is received.
  int64_t buffering = 0;
};

} // namespace piper::rt

#endif // PIPER_RUNTIME_PROGRAM_H
