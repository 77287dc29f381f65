// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_FORMS_H
#define TILEWRIGHT_FRONTEND_IMPORT_FORMS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace tilewright {

/// The description `text` laid over its forms, each over those before it, with macros' ops in their places: entries of
/// lists replace the ones of an equal name where these stand, others follow; objects are laid over one another; of
/// plain values the last counts. `file` names the description in messages.
llvm::Expected<llvm::json::Value> mergeForms(llvm::StringRef text, llvm::StringRef file,
                                             const llvm::StringMap<std::string> &forms);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_FORMS_H
