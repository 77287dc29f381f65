// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A family description bound to one model: its parameters and options have values, its weights have tensors.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_BINDING_H
#define TILEWRIGHT_FRONTEND_IMPORT_BINDING_H

#include "frontend/graph/Types.h"
#include "frontend/import/Family.h"
#include "frontend/import/ModelSource.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewright {

struct BoundWeight {
  const SourceTensor *tensor = nullptr;    ///< null: absent; the first of several parts
  std::vector<const SourceTensor *> parts; ///< all, where there are several
  bool transposed = false;
  std::string name; ///< in the graph: the tensor's, or with "[3:5]" behind it for a part
  llvm::SmallVector<int64_t, 4> shape;
  uint64_t offset = 0, bytes = 0;       ///< in the tensor's bytes
  std::vector<int64_t> permutationDims; ///< empty: rows as stored
  std::vector<uint32_t> permutation;

  Tensor graphType() const;
};

class Binding {
public:
  /// Reads all parameters and options, checks limits and requirements, and finds each weight's tensor. All problems
  /// with tensors (missing, surplus, wrong shape, unsupported type) come in one error; so do fields of a config and
  /// keys of a GGUF file that the family does not know. Outlived by `family` and `source`. `outputs`
  /// are asked for besides what the model returns anyway.
  static llvm::Expected<Binding> bind(const Family &family, const ModelSource &source,
                                      llvm::ArrayRef<std::string> outputs);

  /// What expressions may name; that of layer -1 is the model's.
  const Scope &scope(int64_t layer) const { return layer < 0 ? *global : layerScopes[layer]; }
  int64_t layerCount() const { return static_cast<int64_t>(layerScopes.size()); }
  /// The options of a layer: layers in which they differ have different functions.
  llvm::StringRef optionsOf(int64_t layer) const { return layerOptions[layer]; }
  /// Null when the family has no such weight. `layer` counts for weights of layers only.
  const BoundWeight *weight(llvm::StringRef name, int64_t layer) const;
  /// What the description has to tell of tensors that are left out.
  llvm::ArrayRef<std::string> notes() const { return remarks; }

private:
  class Binder;

  std::unique_ptr<Scope> global;
  std::vector<Scope> layerScopes;
  std::vector<std::string> layerOptions;
  llvm::StringMap<BoundWeight> weights;
  std::vector<llvm::StringMap<BoundWeight>> layerWeights; ///< by layer
  std::vector<std::string> remarks;
};

/// `text` with each "{layer}" replaced by the number.
std::string withLayer(llvm::StringRef text, int64_t layer);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_BINDING_H
