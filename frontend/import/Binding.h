// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A family description bound to one model file: its parameters have values, its weights have tensors.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_BINDING_H
#define TILEWRIGHT_FRONTEND_IMPORT_BINDING_H

#include "frontend/import/Expression.h"
#include "frontend/import/Family.h"
#include "frontend/import/gguf/GgufFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct BoundWeight {
  const gguf::TensorInfo *tensor = nullptr; ///< null: optional and absent
  std::vector<int64_t> permutationDims;     ///< empty: rows as stored
  std::vector<uint32_t> permutation;
};

class Binding {
public:
  /// Reads all parameters, checks limits and requirements, and finds each weight's tensor. All problems with tensors
  /// (missing, surplus, wrong shape, unsupported type) come in one error.
  static llvm::Expected<Binding> bind(const Family &family, const gguf::GgufFile &file);

  const llvm::StringMap<Number> &numbers() const { return numberValues; }
  int64_t layerCount() const { return static_cast<int64_t>(layerWeights.size()); }
  /// Null when the family has no such weight. `layer` counts for weights of layers only.
  const BoundWeight *weight(llvm::StringRef name, int64_t layer) const;
  /// True for a weight that each layer has its own of.
  bool isLayerWeight(llvm::StringRef name) const;
  /// Metadata keys of the family's prefix that the description does not know, so that they had no influence.
  const std::vector<std::string> &ignoredKeys() const { return ignored; }

private:
  class Binder;

  llvm::StringMap<Number> numberValues;
  llvm::StringMap<BoundWeight> weights;
  std::vector<llvm::StringMap<BoundWeight>> layerWeights; ///< by layer
  std::vector<std::string> ignored;
};

/// `text` with each "{layer}" replaced by the number.
std::string withLayer(llvm::StringRef text, int64_t layer);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_BINDING_H
