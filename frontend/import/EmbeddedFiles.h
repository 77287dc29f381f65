// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_EMBEDDEDFILES_H
#define TILEWRIGHT_FRONTEND_IMPORT_EMBEDDEDFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tilewright {

struct EmbeddedFile {
  llvm::StringRef name; ///< "llama.json"
  llvm::StringRef content;
};

/// The files of frontend/families, as they were when this library was built.
llvm::ArrayRef<EmbeddedFile> embeddedFamilies();

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_EMBEDDEDFILES_H
