// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The samples that a plugin carries: functions in MLIR text, split by `// -----`.
#pragma once

#include "backends/reference/Interpreter.h"
#include "tools/conformance/Findings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright::conformance {

/// One part of the samples' text.
struct SampleText {
  std::string text;
  unsigned line = 1;                 ///< of its first line in the whole text
  bool isBad = false;                ///< expects an error
  std::vector<std::string> required; ///< plugins without which it is left out (`// REQUIRES: plugin-NAME`)
  /// Whether the text has this op or type as a word.
  bool mentions(llvm::StringRef name) const;
};

std::vector<SampleText> splitSamples(llvm::StringRef text);

/// What the context was told while this lives, and nobody else.
class CapturedDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  explicit CapturedDiagnostics(mlir::MLIRContext *context);
  /// The first error, or `otherwise`.
  std::string error(llvm::StringRef otherwise) const { return first.empty() ? otherwise.str() : first; }
  void clear() { first.clear(); }

private:
  std::string first;
};

/// Sizes of the symbols.
using Point = std::map<std::string, int64_t>;
std::string text(const Point &point);

/// A dimension: a number (no symbol), or a symbol plus a number. Unknown: neither is known.
struct DimSize {
  std::string symbol;
  int64_t number = 0;
  bool isKnown = true;
  int64_t at(const Point &point) const { return symbol.empty() ? number : point.at(symbol) + number; }
};

/// How inputs are filled.
struct Fill {
  unsigned seed = 1;
  enum class Mask { Random, AllTrue, AllFalse, FirstOnly } mask = Mask::Random;
  int nanArgument = -1;      ///< one element of this float argument is NaN
  std::vector<int64_t> past; ///< rows that each sequence's states hold already; lengths and positions go on from there
  bool isGeneric = false;    ///< no two floats of an argument are equal and none lies near a kink (gradients)
};

/// A function of a good sample.
class Program {
public:
  /// The public functions of a good sample's text. Empty, with `error` filled, when it does not parse or verify.
  static std::vector<Program> parse(mlir::MLIRContext &context, const SampleText &sample, std::string &error);

  mlir::ModuleOp module() const { return *owner; }
  mlir::func::FuncOp function() const { return entry; }
  std::string name() const { return entry.getSymName().str(); }
  llvm::ArrayRef<std::string> symbols() const { return names; }
  bool hasMask() const;
  bool hasState() const;

  /// Points at which to try the program: each symbol takes 0, 1, 3, 7, 16 and 33.
  std::vector<Point> lattice() const;

  /// Inputs at a point; fails (with a reason) where there are none, such as an index into nothing.
  llvm::Expected<std::vector<reference::RunValue>> inputs(const Point &point, const Fill &fill) const;

  /// The argument that says which rows are of which sequence: filled with "offsets N".
  std::optional<unsigned> rowStarts() const;
  /// The point of a step with so many rows of so many sequences; other symbols are 3. There are row starts.
  Point pointOfStep(int64_t rows, int64_t sequences) const;

  /// The dimensions of an argument's tensor.
  llvm::ArrayRef<DimSize> argumentDims(unsigned index) const { return arguments[index].dims; }
  /// An op of that name, or a type ("!dialect.type") of any value or global.
  bool contains(llvm::StringRef name) const;

private:
  struct Argument {
    llvm::SmallVector<DimSize> dims;
    std::string input; ///< check.input
  };
  llvm::Error readArguments();
  reference::Tensor fillIntegers(unsigned index, const reference::Shape &shape, const Point &point, const Fill &fill,
                                 llvm::ArrayRef<reference::RunValue> earlier, std::string &problem) const;

  SampleText source;
  mlir::OwningOpRef<mlir::ModuleOp> owner;
  mutable mlir::func::FuncOp entry; ///< a handle; its methods are not const
  std::vector<std::string> names;
  std::vector<Argument> arguments;
};

/// Weights of samples: blocks whose bytes decode to moderate numbers.
class SampleWeights : public reference::WeightProvider {
public:
  llvm::Expected<llvm::ArrayRef<uint8_t>> bytes(mlir::ml_program::GlobalOp global) override;

private:
  std::map<std::string, std::vector<uint8_t>> made; ///< by name
};

} // namespace tilewright::conformance
