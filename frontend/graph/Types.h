// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Value types of the graph as C++ values, their element types and their spelling: "f32[N, 64]", "state{f32[?, 3, 64]}",
// "state(source){f32[?, 3, 64]}".
#ifndef TILEWRIGHT_FRONTEND_GRAPH_TYPES_H
#define TILEWRIGHT_FRONTEND_GRAPH_TYPES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright {

namespace graph {
struct TensorType;
struct Value;
struct Dim;
} // namespace graph

/// One dimension: a number, a named symbol, or unknown.
struct Dimension {
  int64_t size = -1;
  std::string symbol;

  Dimension() = default;
  Dimension(int64_t size) : size(size) {}
  Dimension(llvm::StringRef symbol) : symbol(symbol.str()) {}
  Dimension(const char *symbol) : symbol(symbol) {}
  static Dimension unknown() { return {}; }

  bool operator==(const Dimension &) const = default;
};

struct Tensor {
  std::string element; ///< MLIR spelling: "f32", "!dialect.type"
  llvm::SmallVector<Dimension, 4> shape;

  bool operator==(const Tensor &) const = default;
};

/// Type of a value: a tensor, or a state of at least one buffer.
struct ValueType {
  bool isState = false;
  llvm::SmallVector<Tensor, 2> tensors; ///< the tensor, or the state's buffers
  std::string group;                    ///< of a state: "", "source" or "transient"

  ValueType() = default;
  ValueType(Tensor tensor) { tensors.push_back(std::move(tensor)); }
  static ValueType state(llvm::ArrayRef<Tensor> buffers);

  bool operator==(const ValueType &) const = default;
};

/// Bytes of one element of a builtin type that the graph knows ("f32": 4); nothing for any other spelling.
std::optional<uint64_t> builtinElementBytes(llvm::StringRef element);

/// The dialect that an element type belongs to: "!quant.q4" gives "quant"; empty for builtin types.
llvm::StringRef elementDialect(llvm::StringRef element);

/// The dialect of an op name: "tw.linear" gives "tw"; empty for "call" and "weight".
llvm::StringRef opDialect(llvm::StringRef op);

/// True for letters, digits, `_`, `$`, `-` and, if allowed, `.`; not empty, not starting with a digit, at most 1024
/// bytes.
bool isIdentifier(llvm::StringRef text, bool dots);

/// True for well-formed UTF-8 without control characters.
bool isPrintableText(llvm::StringRef text);

/// True for well-formed UTF-8 without control characters of 1 to 1024 bytes.
bool isPrintableName(llvm::StringRef text);

/// Product of static sizes and `bytes`; nothing when it does not fit into 64 bits or when a size is negative.
std::optional<uint64_t> checkedByteSize(llvm::ArrayRef<int64_t> sizes, uint64_t bytes);

std::string spell(const graph::TensorType &type);
std::string spellType(const graph::Value &value);
std::string spell(const Tensor &type);
std::string spell(const ValueType &type);

/// Reads the spelling back: `spell(*parseType(s))` is `s` but for spaces. A dimension's text is handed to `dimension`.
llvm::Expected<ValueType> parseType(llvm::StringRef text,
                                    llvm::function_ref<llvm::Expected<Dimension>(llvm::StringRef)> dimension);

/// A quoted form of untrusted text for messages: control characters and broken UTF-8 escaped, long text cut.
std::string quoted(llvm::StringRef text);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_TYPES_H
