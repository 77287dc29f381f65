// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_GGUF_TYPETABLE_H
#define TILEWRIGHT_FRONTEND_IMPORT_GGUF_TYPETABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::gguf {

/// How one of GGUF's tensor types is stored.
struct BlockType {
  uint32_t id = 0;
  std::string name;      ///< "Q4_1"
  uint64_t elements = 0; ///< of a block, along a row; 0: not known
  uint64_t bytes = 0;    ///< of a block
  std::string element;   ///< spelling in the graph; empty: not supported
};

/// GGUF's tensor types as data, see frontend/families/gguf-types.json.
class TypeTable {
public:
  /// Reads the table's JSON text; `name` names it in messages.
  static llvm::Expected<TypeTable> parse(llvm::StringRef json, llvm::StringRef name);

  const BlockType *find(uint32_t id) const;

private:
  std::vector<BlockType> types; ///< sorted by id
};

} // namespace tilewright::gguf

#endif // TILEWRIGHT_FRONTEND_IMPORT_GGUF_TYPETABLE_H
