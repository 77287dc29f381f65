// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_JSON_STRICTJSON_H
#define TILEWRIGHT_FRONTEND_IMPORT_JSON_STRICTJSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace tilewright {

/// Reads JSON from a stranger: an object at the top, no key twice in one object, nothing nested deeper than `maxDepth`,
/// integers exact within 64 bits (signed or unsigned), well-formed UTF-8. `file` names the text in messages. Takes
/// memory in proportion to the text and no stack for its depth.
llvm::Expected<llvm::json::Object> parseStrictJson(llvm::StringRef text, llvm::StringRef file, unsigned maxDepth);

/// A value for messages, cut if it is long.
std::string shorten(const llvm::json::Value &value);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_JSON_STRICTJSON_H
