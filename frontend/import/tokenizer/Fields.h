// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading JSON that must be understood completely: every member has to be asked for, and whatever is wrong is
// collected, so that one error names all of it.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_FIELDS_H
#define TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_FIELDS_H

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright::tokenizer {

/// What is wrong with one file.
class Problems {
public:
  explicit Problems(llvm::StringRef file) : file(file.str()) {}

  /// The file contradicts itself or its format.
  void bad(llvm::StringRef place, const llvm::Twine &message);
  /// It says something that nothing here can do.
  void unsupported(llvm::StringRef place, const llvm::Twine &message);

  bool empty() const { return list.empty(); }
  /// One error of all of it, as `badInput` if anything is bad.
  llvm::Error take();

private:
  std::string file;
  std::vector<std::string> list;
  bool anyBad = false;
};

/// The members of one object. Wrong types are problems, and give the default; so are members that nobody has asked for
/// when the reader goes away.
class Fields {
public:
  Fields(const llvm::json::Object &object, std::string place, Problems &problems)
      : object(object), where(std::move(place)), problems(problems) {}
  Fields(const Fields &) = delete;
  ~Fields();

  const std::string &place() const { return where; }
  std::string place(llvm::StringRef key) const { return where.empty() ? key.str() : where + "." + key.str(); }

  /// Null for a member that is absent or null.
  const llvm::json::Value *any(llvm::StringRef key);
  const llvm::json::Object *optionalObject(llvm::StringRef key);
  const llvm::json::Array *optionalArray(llvm::StringRef key);
  const llvm::json::Array *array(llvm::StringRef key); ///< a problem if there is none
  std::optional<std::string> optionalString(llvm::StringRef key);
  std::string string(llvm::StringRef key); ///< a problem if there is none
  std::optional<bool> optionalBool(llvm::StringRef key);
  bool boolean(llvm::StringRef key, bool byDefault) { return optionalBool(key).value_or(byDefault); }
  std::optional<int64_t> optionalInteger(llvm::StringRef key);
  /// A member that has no influence on ids and text.
  void ignore(llvm::StringRef key) { asked.insert(key); }
  /// Members that are someone else's.
  void ignoreRest() { all = true; }

private:
  void wrongType(llvm::StringRef key, const llvm::json::Value &found, llvm::StringRef wanted);

  const llvm::json::Object &object;
  std::string where;
  Problems &problems;
  llvm::StringSet<> asked;
  bool all = false;
};

} // namespace tilewright::tokenizer

#endif // TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_FIELDS_H
