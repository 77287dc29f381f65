// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the interpreter.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace tilewright::reference {

using Shape = llvm::SmallVector<int64_t, 4>;

/// Product of the dimensions; the interpreter's shapes come from tensors that exist, so it does not overflow.
inline int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

/// A row-major tensor. Float elements of any width are `Real`s, integers and booleans are int64_t; one of the two lists
/// has elementCount(shape) entries.
template <typename Real> struct Array {
  Shape shape;
  bool isFloat = true;
  std::vector<Real> reals;
  std::vector<int64_t> integers;

  static Array floats(llvm::ArrayRef<int64_t> shape) {
    Array a;
    a.shape.assign(shape.begin(), shape.end());
    a.reals.resize(elementCount(shape));
    return a;
  }
  static Array ints(llvm::ArrayRef<int64_t> shape) {
    Array a;
    a.shape.assign(shape.begin(), shape.end());
    a.isFloat = false;
    a.integers.resize(elementCount(shape));
    return a;
  }
  int64_t size() const { return isFloat ? reals.size() : integers.size(); }
  int64_t rank() const { return shape.size(); }

  template <typename Other> static Array from(const Array<Other> &other) {
    Array a;
    a.shape = other.shape;
    a.isFloat = other.isFloat;
    a.reals.assign(other.reals.begin(), other.reals.end());
    a.integers = other.integers;
    return a;
  }
};

/// What goes into and comes out of the interpreter, whatever it computes in.
using Tensor = Array<double>;

/// Rows that a state holds: for each sequence, for each buffer, `rows` rows of the buffer's trailing shape. Immutable;
/// an append makes a new one.
template <typename Real> struct StateRows {
  struct Buffer {
    Shape trailing;
    std::vector<Real> values; ///< [rows, trailing...]
  };
  struct Sequence {
    int64_t rows = 0;
    std::vector<Buffer> buffers;
  };
  std::vector<Sequence> sequences;
};

/// A state as its owner outside of the interpreter holds it; null is the empty state. Only the interpreter that made it
/// can read it.
struct StateHandle {
  std::shared_ptr<const void> rows;
};

/// An argument or result of a function.
using RunValue = std::variant<Tensor, StateHandle>;

/// Calls `body(i)` for 0 <= i < n, from a few threads where `n` is more than one. Bodies do not overlap in what they
/// write.
void parallelFor(int64_t n, llvm::function_ref<void(int64_t)> body);

} // namespace tilewright::reference
