// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an importer sees of a model: metadata by key and tensors by name, whatever files they lie in.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_MODELSOURCE_H
#define TILEWRIGHT_FRONTEND_IMPORT_MODELSOURCE_H

#include "frontend/import/Expression.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace tilewright {

/// The kinds of files that a family description has names for.
enum class SourceKind { Gguf, Config };

enum class ParameterKind { Int, Float, Bool, String, List };

/// "an integer"
llvm::StringRef spell(ParameterKind kind);

struct SourceTensor {
  llvm::StringRef name;
  llvm::SmallVector<int64_t, 4> shape; ///< row-major
  std::string element;                 ///< spelling in the graph; empty: not supported
  std::string storage;                 ///< the file's word for it: "Q4_1", "BF16"
  std::string file;                    ///< path beneath the source's folder
  uint64_t offset = 0;                 ///< from the start of the file
  uint64_t bytes = 0;
};

class ModelSource {
public:
  virtual ~ModelSource();

  virtual SourceKind kind() const = 0;
  /// The path that the user gave.
  virtual llvm::StringRef path() const = 0;
  /// The folder that tensors' files lie beneath, reached from it without links; empty: the current one.
  virtual llvm::StringRef folder() const = 0;

  virtual llvm::ArrayRef<SourceTensor> tensors() const = 0;
  /// Null when there is none of this name.
  virtual const SourceTensor *findTensor(llvm::StringRef name) const = 0;
  virtual llvm::ArrayRef<uint8_t> bytes(const SourceTensor &tensor) const = 0;

  /// All keys of the metadata; of nested tables the entries, with dots between the names.
  virtual std::vector<std::string> keys() const = 0;
  virtual bool has(llvm::StringRef key) const = 0;
  /// Whether the key is there and says that there is no value.
  virtual bool isNull(llvm::StringRef key) const = 0;
  /// The value of a key. A missing key, another type or a number out of range is an error that names file, key, found
  /// and wanted. Bools are 1 and 0.
  virtual llvm::Expected<Value> get(llvm::StringRef key, ParameterKind kind) const = 0;
  /// How many entries the list of this key has.
  virtual llvm::Expected<int64_t> count(llvm::StringRef key) const = 0;
  /// The file that the metadata is in.
  virtual std::string metadataFile() const = 0;
  /// Names file and key in messages.
  virtual std::string place(llvm::StringRef key) const = 0;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_MODELSOURCE_H
