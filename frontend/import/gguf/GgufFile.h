// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads GGUF files, versions 2 and 3, little-endian. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#ifndef TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFFILE_H
#define TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFFILE_H

#include "frontend/graph/BeneathFile.h"
#include "frontend/import/gguf/TypeTable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright::gguf {

/// Types of metadata values, with the file's numbers.
enum class ValueKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

llvm::StringRef spell(ValueKind kind);

/// Bytes of a value of fixed size; 0 for strings and arrays.
uint64_t fixedBytes(ValueKind kind);

/// One metadata value; its bytes lie in the file.
struct Value {
  ValueKind kind = ValueKind::U8;
  ValueKind elementKind = ValueKind::U8; ///< of an array
  uint64_t count = 1;                    ///< of an array
  llvm::ArrayRef<uint8_t> bytes;         ///< a scalar, a string's text, or an array's elements
};

struct TensorInfo {
  llvm::StringRef name;
  llvm::SmallVector<int64_t, 4> shape; ///< row-major, as the graph has it: GGUF's dimensions reversed
  const BlockType *type = nullptr;
  uint64_t offset = 0; ///< from the start of the file
  uint64_t bytes = 0;
};

/// A GGUF file whose sizes, offsets, names and types have been checked against its length. Memory used beyond the
/// mapping is at most sixteen times the file's size, whatever its counts say.
class GgufFile {
public:
  /// Maps and checks the file at `path`. `types` outlives the result.
  static llvm::Expected<GgufFile> open(llvm::StringRef path, const TypeTable &types);

  /// Checks a file that lies in memory; `bytes` and `types` outlive the result.
  static llvm::Expected<GgufFile> parse(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name, const TypeTable &types);

  llvm::StringRef name() const { return fileName; }
  uint32_t version() const { return fileVersion; }
  uint64_t alignment() const { return fileAlignment; }
  llvm::ArrayRef<TensorInfo> tensors() const { return tensorInfos; }
  const TensorInfo *findTensor(llvm::StringRef name) const;
  llvm::ArrayRef<uint8_t> tensorBytes(const TensorInfo &tensor) const { return all.slice(tensor.offset, tensor.bytes); }

  /// Metadata keys in file order.
  llvm::ArrayRef<llvm::StringRef> keys() const { return keyOrder; }
  bool has(llvm::StringRef key) const { return values.contains(key); }
  const Value *find(llvm::StringRef key) const;

  /// Typed access. A missing key, another type or a number out of range is an error naming file, key, found and wanted.
  /// Any integer type serves for an integer in range, either float type for a float.
  llvm::Expected<int64_t> getInteger(llvm::StringRef key) const;
  llvm::Expected<double> getFloat(llvm::StringRef key) const;
  llvm::Expected<bool> getBool(llvm::StringRef key) const;
  llvm::Expected<llvm::StringRef> getString(llvm::StringRef key) const;
  llvm::Expected<uint64_t> getCount(llvm::StringRef key) const; ///< entries of an array
  llvm::Expected<std::vector<llvm::StringRef>> getStrings(llvm::StringRef key) const;
  llvm::Expected<std::vector<int32_t>> getIntegers(llvm::StringRef key) const; ///< also of bools
  llvm::Expected<std::vector<float>> getFloats(llvm::StringRef key) const;

private:
  friend class Parser;
  llvm::Expected<const Value *> require(llvm::StringRef key, llvm::StringRef wanted,
                                        llvm::function_ref<bool(const Value &)> fits) const;

  std::string fileName;
  std::optional<MappedFile> mapping;
  llvm::ArrayRef<uint8_t> all;
  uint32_t fileVersion = 0;
  uint64_t fileAlignment = 32;
  std::vector<llvm::StringRef> keyOrder;
  llvm::StringMap<Value> values;
  std::vector<TensorInfo> tensorInfos;
  llvm::StringMap<uint32_t> tensorIndex;
};

} // namespace tilewright::gguf

#endif // TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFFILE_H
