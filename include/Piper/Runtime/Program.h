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
};

/// A named input or output of an entry point.
struct Binding {
  std::string name;
  /// Index into EntryPoint::values.
  int32_t value = 0;
  /// Names of the dimensions of an input, where it has them.
  std::vector<std::string> dims;
};

/// One task of an entry point.
struct Instruction {
  int32_t function = 0;
  /// Indices into EntryPoint::values.
  std::vector<int32_t> operands;
  std::vector<int32_t> results;
  /// Where the workspace of the call starts in the arena.
  int64_t workspaceOffset = 0;
  /// Key of the call's random numbers.
  int64_t salt = 0;
  /// Micro-batch, -1 if the task belongs to none.
  int32_t microBatch = -1;
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
  static constexpr int64_t kVersion = 1;
  std::string name;
  Target target;
  int64_t arenaBytes = 0;
  std::vector<StateTensor> state;
  std::vector<Function> functions;
  std::vector<EntryPoint> entries;

  const EntryPoint *findEntry(const std::string &name) const;
  const StateTensor *findState(const std::string &name) const;
};

} // namespace piper::rt

#endif // PIPER_RUNTIME_PROGRAM_H
