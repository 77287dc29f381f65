// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden cases: stored inputs, attributes and outputs of one technique, made by an independent implementation. Plugins,
// and core for what is core, bring builders that turn a case into a graph; tools/check-golden runs and compares it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

/// One case while its builder works. A builder first says what it understands, attributes and then inputs; when the
/// case has something else it is unsupported and nothing is built:
///
///   void buildNorm(GoldenCase &c) {
///     double epsilon = c.number("eps");
///     if (!c.inputs({{"x", 3}}, {{"weight", 1}}))
///       return;
///     c.output("y", MyNormOp::create(c.b, c.value("x"), c.value("weight"), epsilon));
///   }
///
/// Floats arrive in their own type, 64-bit integers as i32, booleans as i1.
class GoldenCase {
public:
  using Types = std::vector<std::pair<std::string, mlir::RankedTensorType>>;
  struct Input {
    llvm::StringRef name;
    std::optional<int64_t> rank = std::nullopt; ///< any
  };

  /// `attributes` are the case's; `inputs` and `outputs` the types of its tensors by name (without "in." and "out.").
  GoldenCase(mlir::ImplicitLocOpBuilder &builder, llvm::StringRef name, llvm::json::Object attributes, Types inputs,
             Types outputs);

  mlir::ImplicitLocOpBuilder &b;

  llvm::StringRef name() const { return caseName; }

  /// Attributes. One that the builder has not asked for makes the case unsupported, and so does one of the wrong kind,
  /// absent without a fallback, or not among the choices; JSON's null is as good as absent.
  bool has(llvm::StringRef key);
  double number(llvm::StringRef key, std::optional<double> fallback = std::nullopt);
  int64_t integer(llvm::StringRef key, std::optional<int64_t> fallback = std::nullopt);
  bool flag(llvm::StringRef key, std::optional<bool> fallback = std::nullopt);
  std::vector<double> numbers(llvm::StringRef key);
  std::string oneOf(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> choices,
                    std::optional<llvm::StringRef> fallback = std::nullopt);
  /// Attributes that say how the case was made and do not change its outputs.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);

  /// Says which inputs the builder knows: true when the case has these and no others, and no attribute is left over.
  /// They are then arguments of @main.
  bool inputs(llvm::ArrayRef<Input> required, llvm::ArrayRef<Input> optional = {});
  /// An input; null for an optional one that is absent.
  mlir::Value value(llvm::StringRef input) const { return values.lookup(input); }

  /// The type that the case stores for an output; null if it has none of this name.
  mlir::RankedTensorType outputType(llvm::StringRef output) const;
  void output(llvm::StringRef name, mlir::Value value);

  /// The case cannot be built, and why. The first reason counts.
  void unsupported(const llvm::Twine &why);
  const std::optional<std::string> &whyUnsupported() const { return reason; }

  /// Ends @main. Null when the case is unsupported, which it also is when an output was not given.
  mlir::func::FuncOp finish();
  /// Names of @main's arguments and results, in order.
  llvm::ArrayRef<std::string> arguments() const { return argumentNames; }
  llvm::ArrayRef<std::string> results() const { return resultNames; }

private:
  const llvm::json::Value *attribute(llvm::StringRef key);
  /// What `read` finds in the attribute, or the fallback; else unsupported, for it is not `wanted`.
  template <typename T>
  T attributeAs(llvm::StringRef key, std::optional<T> fallback, llvm::StringRef wanted,
                llvm::function_ref<std::optional<T>(const llvm::json::Value &)> read);

  std::string caseName;
  llvm::json::Object attributes;
  llvm::StringSet<> asked;
  Types inputTypes, outputTypes;
  mlir::func::FuncOp main;
  llvm::StringMap<mlir::Value> values, given;
  std::vector<std::string> argumentNames, resultNames;
  std::optional<std::string> reason;
};

using GoldenBuilder = std::function<void(GoldenCase &)>;

/// Builders by technique, the `technique` of a case's metadata.
class GoldenRegistry {
public:
  void add(llvm::StringRef technique, GoldenBuilder builder);
  /// Null when nothing builds the technique.
  const GoldenBuilder *find(llvm::StringRef technique) const;
  /// Techniques that were added twice; the first builder counts.
  llvm::ArrayRef<std::string> duplicates() const { return twice; }

private:
  llvm::StringMap<GoldenBuilder> builders;
  std::vector<std::string> twice;
};

} // namespace tilewright
