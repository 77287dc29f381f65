// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks: the pieces that a model is written from (an attention layer, a feed-forward, a norm), each by the name of its
// technique. Plugins bring the builders with their options and defaults; whoever writes a model names the block, gives
// what differs from the defaults, and gets the ops and the parameters:
//
//   auto layer = buildBlockFunction(module, "layer", blocks, {{"x", type}}, [](BlockBuilder &b, ValueRange in) {
//     return b.block("swiglu", {{"dim_in", 64}}, in);
//   });
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

class BlockBuilder;

using BlockResults = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;
/// The inside of a block that takes a function (`x + f(norm(x))`).
using BlockBody = std::function<BlockResults(BlockBuilder &, mlir::ValueRange)>;

/// What an option is set to. monostate is none: to give it is as good as not to give the option, which then has its
/// default. An option without one stays none, and its block says what that means.
using BlockValue = std::variant<std::monostate, bool, int64_t, double, std::string>;

/// "true", "4", "4.0", "'rms'" or "none".
std::string textOf(const BlockValue &value);

/// One option of a block. A whole number is as good as a number, never the other way round.
struct BlockOption {
  enum class Kind { Flag, Integer, Number, Text };

  std::string name;
  Kind kind;
  bool required = false;
  BlockValue fallback = {};
  std::optional<double> least = std::nullopt; ///< the smallest number allowed
  std::vector<std::string> choices = {};      ///< the texts allowed; empty: any

  static BlockOption integer(llvm::StringRef name, std::optional<int64_t> fallback, double least = 1);
  static BlockOption number(llvm::StringRef name, std::optional<double> fallback,
                            std::optional<double> least = std::nullopt);
  static BlockOption flag(llvm::StringRef name, bool fallback);
  static BlockOption text(llvm::StringRef name, std::optional<std::string> fallback,
                          std::vector<std::string> choices = {});
  /// The option without a default, which has to be given.
  BlockOption &&mustBeGiven() &&;
};

/// The options of one use of a block: given ones over defaults, checked against the block's list. Those that may be
/// none are asked by `has` first.
class BlockOptions {
public:
  bool has(llvm::StringRef name) const { return !std::holds_alternative<std::monostate>(value(name)); }
  bool flag(llvm::StringRef name) const { return std::get<bool>(value(name)); }
  int64_t integer(llvm::StringRef name) const { return std::get<int64_t>(value(name)); }
  int64_t integer(llvm::StringRef name, int64_t ifNone) const { return has(name) ? integer(name) : ifNone; }
  double number(llvm::StringRef name) const { return std::get<double>(value(name)); }
  const std::string &text(llvm::StringRef name) const { return std::get<std::string>(value(name)); }
  /// The function that the block was given; empty if none.
  BlockBody body;

private:
  friend class BlockBuilder;
  const BlockValue &value(llvm::StringRef name) const;
  std::map<std::string, BlockValue, std::less<>> values;
};

/// The inputs that a block takes, in their order; these are ranked tensors.
struct BlockInputs {
  std::vector<std::string> required = {"x"}, optional = {};
  bool others = false; ///< and any values behind them, of which the block's summary says what they are
};

/// A block as its plugin registers it. `build` emits the ops of one use on as many inputs as `inputs` allows and
/// returns the results; it fails with a diagnostic (BlockBuilder::error).
struct BlockForm {
  std::string name;
  std::string summary;
  std::vector<BlockOption> options;
  std::function<BlockResults(BlockBuilder &, const BlockOptions &, mlir::ValueRange)> build;
  BlockInputs inputs = {};
};

/// "swiglu(dim_in, dim_hidden = none, bias = true)".
std::string signatureOf(const BlockForm &form);

/// Blocks by name.
class BlockRegistry {
public:
  void add(BlockForm form);
  /// Null if there is none.
  const BlockForm *find(llvm::StringRef name) const;
  /// Sorted by name.
  std::vector<const BlockForm *> all() const;
  /// Blocks that were added twice; the first form counts.
  llvm::ArrayRef<std::string> duplicates() const { return twice; }

private:
  std::map<std::string, BlockForm, std::less<>> forms;
  std::vector<std::string> twice;
};

/// How a parameter starts before training.
struct Initial {
  enum class Kind { Constant, Normal, Uniform } kind;
  double first, second; ///< the constant and 0; mean and standard deviation; bounds

  static Initial constant(double value) { return {Kind::Constant, value, 0.0}; }
  static Initial normal(double deviation) { return {Kind::Normal, 0.0, deviation}; }
  static Initial uniform(double bound) { return {Kind::Uniform, -bound, bound}; }
  /// Weight and bias of a linear map of `in` numbers: within 1/sqrt(in) of 0.
  static Initial ofLinear(int64_t in) { return uniform(1.0 / std::sqrt(static_cast<double>(in))); }
};

/// Emits ops at the end of a function and grows its arguments by the parameters that blocks ask for.
class BlockBuilder {
public:
  BlockBuilder(mlir::func::FuncOp function, const BlockRegistry &blocks, mlir::Type element);

  mlir::ImplicitLocOpBuilder b;

  /// The block `name` on `inputs`. Its parameters' names start with `scope` (default: the block's name) and a dot.
  /// Fails with a diagnostic: no such block (with the nearest name), too few or too many inputs, an option that it does
  /// not have, lacks, or has of another kind or range.
  BlockResults block(llvm::StringRef name, const std::map<std::string, BlockValue> &options, mlir::ValueRange inputs,
                     BlockBody body = {}, llvm::StringRef scope = {});

  /// A new argument of the function, of the builder's element type: `tw.name` is its name behind the scopes' names,
  /// `tw.parameter` how it starts.
  mlir::Value parameter(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Initial initial);

  /// `x W^T + b` over the last dimension of x, with parameters `name.weight [out, in]` and `name.bias [out]`, which
  /// start within 1/sqrt(in) of 0.
  mlir::Value linear(llvm::StringRef name, mlir::Value x, int64_t out, bool bias = true);

  /// An error of the innermost block.
  mlir::InFlightDiagnostic error();
  /// Checks that x has `rank` (any, if none) and `last` elements in its last dimension, else an error.
  llvm::LogicalResult expectInput(mlir::Value x, llvm::StringRef what, std::optional<int64_t> rank, int64_t last);

private:
  llvm::LogicalResult checkInputs(const BlockInputs &wanted, mlir::ValueRange inputs);

  mlir::func::FuncOp function;
  const BlockRegistry &blocks;
  mlir::Type element;
  std::vector<std::string> scopes, running; ///< names of parameters; names of blocks
};

/// The function `name` of `module`: arguments are `inputs` and then the parameters, results what `body` returns.
/// Parameters have the first input's element type. Fails with a diagnostic, and leaves nothing behind.
mlir::FailureOr<mlir::func::FuncOp>
buildBlockFunction(mlir::ModuleOp module, llvm::StringRef name, const BlockRegistry &blocks,
                   llvm::ArrayRef<std::pair<std::string, mlir::RankedTensorType>> inputs, const BlockBody &body);

} // namespace tilewright
