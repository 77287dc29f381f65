// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_PARAMETERREADER_H
#define TILEWRIGHT_FRONTEND_IMPORT_PARAMETERREADER_H

#include "frontend/import/Family.h"

namespace tilewright {

/// The metadata key that a parameter is read from: the first that is there, else its first; or the tensor; its name
/// without any.
std::string keyOf(const Parameter &parameter, const ModelSource &source);

/// What messages call a parameter: its key; without any the default in terms of keys ("hidden_size /
/// num_attention_heads"), or the keys that decide on it.
std::string describe(const Family &family, const Parameter &parameter, const ModelSource &source);

/// Reads parameters of a family from a model's metadata into a scope, and checks them.
class ParameterReader {
public:
  ParameterReader(const ModelSource &source, Scope &scope) : source(source), scope(scope) {}

  llvm::Error read(const Parameter &parameter);

  /// Once all are read: an error for one that has a value where its description says that nothing reads it.
  llvm::Error checkRead(const Family &family, const Parameter &parameter) const;

private:
  llvm::Error fail(const Parameter &parameter, const llvm::Twine &found, const llvm::Twine &wanted) const;
  llvm::Expected<Value> find(const Parameter &parameter) const;
  llvm::Expected<Value> numbersOf(const SourceTensor &tensor) const;
  llvm::Expected<Value> defaultValue(const Parameter &parameter, const std::optional<llvm::json::Value> &json) const;
  llvm::Error check(const Parameter &parameter, const Value &value) const;

  const ModelSource &source;
  Scope &scope;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_PARAMETERREADER_H
