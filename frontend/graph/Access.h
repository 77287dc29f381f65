// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading tables whose vectors and strings may be absent.
#ifndef TILEWRIGHT_FRONTEND_GRAPH_ACCESS_H
#define TILEWRIGHT_FRONTEND_GRAPH_ACCESS_H

#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/iterator_range.h"

namespace tilewright {

/// A vector of numbers that may be absent, as a range.
template <typename T> llvm::iterator_range<const T *> elements(const flatbuffers::Vector<T> *vector) {
  if (!vector)
    return {nullptr, nullptr};
  const auto *data = reinterpret_cast<const T *>(vector->Data());
  return {data, data + vector->size()};
}

/// A vector of tables or strings that may be absent, as a range of pointers.
template <typename T> auto elements(const flatbuffers::Vector<flatbuffers::Offset<T>> *vector) {
  using Iterator = typename flatbuffers::Vector<flatbuffers::Offset<T>>::const_iterator;
  return vector ? llvm::make_range(vector->begin(), vector->end())
                : llvm::make_range(Iterator(nullptr, 0), Iterator(nullptr, 0));
}

template <typename T> uint32_t sizeOf(const flatbuffers::Vector<T> *vector) { return vector ? vector->size() : 0; }

inline llvm::StringRef text(const flatbuffers::String *string) {
  return string ? llvm::StringRef(string->data(), string->size()) : llvm::StringRef();
}

/// The attribute of that name, or null.
inline const graph::Attr *findAttribute(const graph::Op &op, llvm::StringRef name) {
  for (const graph::Attr *attr : elements(op.attrs()))
    if (text(attr->name()) == name)
      return attr;
  return nullptr;
}

/// The text of a string attribute; empty without one. ("callee" of a call, "name" of a weight)
inline llvm::StringRef stringAttribute(const graph::Op &op, llvm::StringRef name) {
  const graph::Attr *attr = findAttribute(op, name);
  const graph::StringAttr *value = attr ? attr->value_as_StringAttr() : nullptr;
  return value ? text(value->value()) : llvm::StringRef();
}

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_ACCESS_H
