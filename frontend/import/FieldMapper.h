// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_FIELDMAPPER_H
#define TILEWRIGHT_FRONTEND_IMPORT_FIELDMAPPER_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

namespace tilewright {

/// llvm::json::ObjectMapper that notices fields which nobody asked for, such as misspelt ones.
class FieldMapper {
public:
  FieldMapper(const llvm::json::Value &value, llvm::json::Path path)
      : mapper(value, path), object(value.getAsObject()), path(path) {}

  /// Whether there is an object; without one, that is reported.
  explicit operator bool() const { return mapper; }

  template <typename T> bool map(llvm::StringLiteral key, T &out) {
    known.push_back(key);
    return mapper.map(key, out);
  }
  template <typename T> bool mapOptional(llvm::StringLiteral key, T &out) {
    known.push_back(key);
    return mapper.mapOptional(key, out);
  }
  /// The field, or null.
  const llvm::json::Value *get(llvm::StringLiteral key) {
    known.push_back(key);
    return object->get(key);
  }
  /// The fields of the object in this field, or nullptr if it is not there or something else.
  const llvm::json::Object *getObject(llvm::StringLiteral key) {
    const llvm::json::Value *value = get(key);
    return value ? value->getAsObject() : nullptr;
  }

  /// Behind the last field: false, and reported, if there is another.
  bool finish() {
    for (const auto &[key, value] : *object)
      if (!llvm::is_contained(known, llvm::StringRef(key))) {
        path.field(llvm::StringRef(key)).report("unknown field");
        return false;
      }
    return true;
  }

private:
  llvm::json::ObjectMapper mapper;
  const llvm::json::Object *object;
  llvm::json::Path path;
  llvm::SmallVector<llvm::StringRef> known;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_FIELDMAPPER_H
