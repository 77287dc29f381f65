// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TENSORFINDER_H
#define TILEWRIGHT_FRONTEND_IMPORT_TENSORFINDER_H

#include "frontend/import/Binding.h"

#include "llvm/ADT/StringSet.h"

namespace tilewright {

/// Finds the tensors of a family's weights, and gathers all that does not fit.
class TensorFinder {
public:
  TensorFinder(const Family &family, const ModelSource &source);

  /// Before the first weight is looked for: which tensors need no place. The error is for mistakes of the description.
  llvm::Error readIgnored(const Scope &scope);

  /// Whether a tensor has the name of a weight of the model or of a layer; that of `scope`, or the first. Nothing when
  /// the family has no such weight, or its tensor has no name.
  std::optional<bool> isPresent(llvm::StringRef weight, const Scope &scope) const;

  /// Fills `weight` if its tensor is there. The error is for mistakes of the description alone.
  llvm::Error find(const WeightRule &rule, const Scope &scope, BoundWeight &weight);

  /// `weight` stands for `rule`'s, which is absent; a tensor that has its name all the same must be a copy.
  llvm::Error standIn(const WeightRule &rule, const Scope &scope, const BoundWeight &weight);

  /// One error for all that does not fit, tensors without a place among it. Adds what there is to tell of those that
  /// need none.
  llvm::Error finish(std::vector<std::string> &notes);

private:
  llvm::Expected<llvm::SmallVector<int64_t, 4>> sizes(const WeightRule &rule, llvm::ArrayRef<std::string> dims,
                                                      const Scope &scope) const;
  /// The name of a tensor: `text` with its expressions replaced by their values.
  llvm::Expected<std::string> nameOf(const WeightRule &rule, llvm::StringRef text, const Scope &scope) const;
  /// Whether the tensor is there and fits; what does not is noted once for each name.
  bool check(const SourceTensor *tensor, const std::string &name, llvm::ArrayRef<std::string> dims,
             llvm::ArrayRef<int64_t> wanted);
  llvm::Error findParts(const WeightRule &rule, const TensorRule &place, const Scope &scope,
                        llvm::ArrayRef<std::string> dims, llvm::ArrayRef<int64_t> sizes, BoundWeight &weight);
  std::string spellShape(llvm::ArrayRef<std::string> dims, llvm::ArrayRef<int64_t> sizes) const;
  llvm::Error readIgnored(const IgnoredTensor &rule, const Scope &scope);
  /// The note on a tensor that needs no place, empty without one; null for the others.
  const std::string *findIgnored(llvm::StringRef tensor) const;

  const Family &family;
  const ModelSource &source;
  llvm::StringRef absentPrefix; ///< of names in the description that no tensor of the source has; empty: none
  llvm::StringSet<> used;
  llvm::StringMap<std::string> ignored; ///< names and notes
  std::vector<std::pair<std::string, std::string>> ignoredPrefixes;
  std::vector<std::string> problems;
  size_t unsupportedCount = 0;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_TENSORFINDER_H
