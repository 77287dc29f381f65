// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FlatBuffers' verifier follows each reference, so a file whose vectors share their bytes makes it work for the square
// of the file's size. This one stops when it has looked at more tables, or at more strings in vectors, than the file
// has bytes; a file that shares no vectors never comes near that.
//
// Generated code says `flatbuffers::Verifier` inside the schema's namespace. TILEWRIGHT_BOUNDED_VERIFIER puts a
// namespace `flatbuffers` with this class for the verifier in there, so that it is what the generated code finds.
#pragma once

#include "flatbuffers/flatbuffers.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tilewright {

class BoundedVerifier {
public:
  /// `bytes` must be aligned for the largest scalar and `size` below 2 GiB. `maxDepth`: tables within each other.
  BoundedVerifier(const uint8_t *bytes, size_t size, uint32_t maxDepth)
      : verifier(bytes, size, limits(size, maxDepth)), bytes(bytes), size(size), stringsLeft(size) {}

  /// Table::VerifyField and its like take the verifier that they know; they look at one scalar or offset.
  operator flatbuffers::Verifier &() { return verifier; }

  bool EndTable() { return verifier.EndTable(); }
  bool VerifyString(const flatbuffers::String *string) const { return verifier.VerifyString(string); }
  /// FlatBuffers' own check aligns the length alone; numbers are read in place, so they must be aligned too.
  template <typename T> bool VerifyVector(const flatbuffers::Vector<T> *vector) const {
    if (!verifier.VerifyVector(vector))
      return false;
    if constexpr (std::is_arithmetic_v<T>)
      return !vector || vector->size() == 0 || (vector->Data() - bytes) % alignof(T) == 0;
    return true;
  }
  bool VerifyVectorOfStrings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *strings) {
    if (strings && strings->size() > stringsLeft)
      return false;
    stringsLeft -= strings ? strings->size() : 0;
    return verifier.VerifyVectorOfStrings(strings);
  }
  template <typename T> bool VerifyTable(const T *table) { return !table || table->Verify(*this); }
  template <typename T> bool VerifyVectorOfTables(const flatbuffers::Vector<flatbuffers::Offset<T>> *tables) {
    for (flatbuffers::uoffset_t i = 0; tables && i < tables->size(); ++i)
      if (!tables->Get(i)->Verify(*this))
        return false;
    return true;
  }
  template <typename T> bool VerifyBuffer(const char *identifier) {
    constexpr size_t head = 2 * sizeof(flatbuffers::uoffset_t); // the root's offset, then the identifier
    if (size < head || !flatbuffers::BufferHasIdentifier(bytes, identifier))
      return false;
    flatbuffers::uoffset_t root = verifier.VerifyOffset(size_t(0));
    return root != 0 && reinterpret_cast<const T *>(bytes + root)->Verify(*this);
  }
  template <typename T> bool VerifySizePrefixedBuffer(const char *) { return false; } // no file of ours is one

private:
  static flatbuffers::Verifier::Options limits(size_t size, uint32_t maxDepth) {
    flatbuffers::Verifier::Options options;
    options.max_depth = maxDepth;
    options.max_tables = static_cast<flatbuffers::uoffset_t>(size);
    return options;
  }

  flatbuffers::Verifier verifier; // counts the tables
  const uint8_t *bytes;
  size_t size, stringsLeft;
};

} // namespace tilewright

#define TILEWRIGHT_BOUNDED_VERIFIER                                                                                    \
  namespace flatbuffers {                                                                                              \
  using namespace ::flatbuffers;                                                                                       \
  using Verifier = ::tilewright::BoundedVerifier;                                                                      \
  }

namespace tilewright::graph {
TILEWRIGHT_BOUNDED_VERIFIER
}
namespace tilewright::artifact {
TILEWRIGHT_BOUNDED_VERIFIER
}
