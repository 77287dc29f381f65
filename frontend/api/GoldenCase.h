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
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

/// Values that a case stores, row-major: floats of any type as `reals`, integers and booleans as `integers`.
struct GoldenTensor {
  std::vector<int64_t> shape;
  bool isFloat = true;
  std::vector<double> reals;
  std::vector<int64_t> integers;

  static GoldenTensor floats(std::vector<int64_t> shape, std::vector<double> values) {
    return {std::move(shape), true, std::move(values), {}};
  }
  static GoldenTensor ints(std::vector<int64_t> shape, std::vector<int64_t> values) {
    return {std::move(shape), false, {}, std::move(values)};
  }
};

/// What a case says to its builder, and what the builder understands of it. A builder first says that, attributes and
/// then inputs; when the case has something else it is unsupported and nothing is built.
class GoldenFacts {
public:
  using Types = std::vector<std::pair<std::string, mlir::RankedTensorType>>;
  using Values = llvm::StringMap<GoldenTensor>;
  struct Input {
    llvm::StringRef name;
    std::optional<int64_t> rank = std::nullopt; ///< any
    bool isStored = false; ///< no argument of the graph: its builder reads the stored values (`stored`)
  };
  /// What a case stores.
  struct Contents {
    std::string name;
    llvm::json::Object attributes;
    Types inputs, outputs; ///< types by name (without "in." and "out.")
    Values values;         ///< of the inputs
    Types explanations;    ///< types by name (without "aux.") of what the case stores beside them
  };

  llvm::StringRef name() const { return contents.name; }

  /// Attributes. One that the builder has not asked for makes the case unsupported, and so does one of the wrong kind,
  /// absent without a fallback, or not among the choices; JSON's null is as good as absent. `yarn.factor` is a member
  /// of the object `yarn`; the members of an object are attributes of their own.
  bool has(llvm::StringRef key);
  double number(llvm::StringRef key, std::optional<double> fallback = std::nullopt);
  int64_t integer(llvm::StringRef key, std::optional<int64_t> fallback = std::nullopt);
  /// A whole number from `least` to `most`; what sizes are computed with has 31 bits.
  int64_t count(llvm::StringRef key, int64_t least = 1, std::optional<int64_t> fallback = std::nullopt,
                int64_t most = std::numeric_limits<int32_t>::max());
  bool flag(llvm::StringRef key, std::optional<bool> fallback = std::nullopt);
  std::vector<double> numbers(llvm::StringRef key);
  std::string oneOf(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> choices,
                    std::optional<llvm::StringRef> fallback = std::nullopt);
  /// Attributes that say how the case was made and do not change its outputs.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);

  /// The values of an input; null for one that is absent.
  const GoldenTensor *stored(llvm::StringRef input) const;

  /// The sizes of an input; none for one that is absent.
  llvm::ArrayRef<int64_t> sizes(llvm::StringRef input) const;
  /// Whether the input has values of this kind (booleans are integers) and these sizes, kDynamic: any; else the case is
  /// unsupported. Whoever reads stored values asks first: no verifier sees them.
  bool holdsFloats(llvm::StringRef input, llvm::ArrayRef<int64_t> wanted) { return holds(input, true, wanted); }
  bool holdsIntegers(llvm::StringRef input, llvm::ArrayRef<int64_t> wanted) { return holds(input, false, wanted); }

  /// 1 / sqrt(width), by which attention scales its scores unless it is told; unsupported for heads of no width.
  double defaultScale(int64_t width);

  /// The type of what a case stores to explain itself ("aux." and this name); null if there is nothing of this name.
  mlir::RankedTensorType explanationType(llvm::StringRef name) const;

  /// The case cannot be built, and why. The first reason counts.
  void unsupported(const llvm::Twine &why);
  const std::optional<std::string> &whyUnsupported() const { return reason; }
  /// The case is understood, and what the builder computed from its stored values is wrong.
  void wrong(const llvm::Twine &why);
  const std::optional<std::string> &whyWrong() const { return fault; }

protected:
  explicit GoldenFacts(Contents contents) : contents(std::move(contents)) {}
  /// True when the case has these inputs and no others, and no attribute is left over.
  bool understood(llvm::ArrayRef<Input> required, llvm::ArrayRef<Input> optional);

  Contents contents;

private:
  const llvm::json::Value *attribute(llvm::StringRef key);
  bool holds(llvm::StringRef input, bool isFloat, llvm::ArrayRef<int64_t> wanted);
  /// Unsupported when the builder has not asked for a member of `object`, the attribute `name`.
  void checkAsked(const llvm::json::Object &object, llvm::StringRef name);
  /// What `read` finds in the attribute, or the fallback; else unsupported, for it is not `wanted`.
  template <typename T>
  T attributeAs(llvm::StringRef key, std::optional<T> fallback, llvm::StringRef wanted,
                llvm::function_ref<std::optional<T>(const llvm::json::Value &)> read);

  llvm::StringSet<> asked;
  std::optional<std::string> reason, fault;
};

/// One case while its builder makes a graph of it:
///
///   void buildNorm(GoldenCase &c) {
///     double epsilon = c.number("eps");
///     if (!c.inputs({{"x", 3}}, {{"weight", 1}}))
///       return;
///     c.output("y", MyNormOp::create(c.b, c.value("x"), c.value("weight"), epsilon));
///   }
///
/// Floats and i8 arrive in their own type, other integers as i32, booleans as i1.
class GoldenCase : public GoldenFacts {
public:
  GoldenCase(mlir::ImplicitLocOpBuilder &builder, Contents contents) : GoldenFacts(std::move(contents)), b(builder) {}

  mlir::ImplicitLocOpBuilder &b;

  /// Says which inputs the builder knows: true when the case has these and no others, and no attribute is left over.
  /// They are then arguments of @main, but for those that are `isStored`.
  bool inputs(llvm::ArrayRef<Input> required, llvm::ArrayRef<Input> optional = {});
  /// An input; null for an optional one that is absent.
  mlir::Value value(llvm::StringRef input) const { return values.lookup(input); }

  /// A weight of a storage type, from the bytes of its rows as a model's file has them.
  mlir::Value weight(llvm::StringRef name, mlir::RankedTensorType type, std::vector<uint8_t> bytes);
  /// The bytes of that; null if there is no such weight.
  const std::vector<uint8_t> *weightBytes(llvm::StringRef name) const;

  /// The type that the case stores for an output; null if it has none of this name.
  mlir::RankedTensorType outputType(llvm::StringRef output) const;
  /// Given more than once (for forms that compute the same), each value is compared.
  void output(llvm::StringRef name, mlir::Value value);

  /// Ends @main. Null when the case is unsupported, which it also is when an output was not given.
  mlir::func::FuncOp finish();
  /// Names of @main's arguments and results, in order.
  llvm::ArrayRef<std::string> arguments() const { return argumentNames; }
  llvm::ArrayRef<std::string> results() const { return resultNames; }

private:
  mlir::func::FuncOp main;
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<llvm::SmallVector<mlir::Value, 1>> given;
  llvm::StringMap<std::vector<uint8_t>> weights;
  std::vector<std::string> argumentNames, resultNames;
};

/// One case of what runs beside compiled code and is no graph (sampling, say), while a function computes its outputs
/// from the stored inputs. It runs on every backend.
class GoldenHostCase : public GoldenFacts {
public:
  explicit GoldenHostCase(Contents contents) : GoldenFacts(std::move(contents)) {}

  /// As GoldenCase::inputs; the values are `stored`.
  bool inputs(llvm::ArrayRef<Input> required, llvm::ArrayRef<Input> optional = {}) {
    return understood(required, optional);
  }
  /// Its shape may differ from the stored one: then the case fails.
  void output(llvm::StringRef name, GoldenTensor value) { given[name] = std::move(value); }
  /// Null when the function did not compute it.
  const GoldenTensor *result(llvm::StringRef output) const;

private:
  Values given;
};

using GoldenBuilder = std::function<void(GoldenCase &)>;
using GoldenFunction = std::function<void(GoldenHostCase &)>;

/// Builders by technique, the `technique` of a case's metadata.
class GoldenRegistry {
public:
  void add(llvm::StringRef technique, GoldenBuilder builder);
  void addHost(llvm::StringRef technique, GoldenFunction function);
  /// Null when nothing builds the technique as a graph, or computes it.
  const GoldenBuilder *find(llvm::StringRef technique) const;
  const GoldenFunction *findHost(llvm::StringRef technique) const;
  /// Techniques that were added twice; the first builder counts.
  llvm::ArrayRef<std::string> duplicates() const { return twice; }

private:
  template <typename Entry> void addTo(llvm::StringMap<Entry> &map, llvm::StringRef technique, Entry entry);

  llvm::StringMap<GoldenBuilder> builders;
  llvm::StringMap<GoldenFunction> functions;
  std::vector<std::string> twice;
};

} // namespace tilewright
