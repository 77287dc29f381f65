// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a folder says of how its model's texts are generated: generation_config.json, or, where there is none, the
// fields of config.json that older versions of Transformers had for it.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_GENERATIONDEFAULTS_H
#define TILEWRIGHT_FRONTEND_IMPORT_GENERATIONDEFAULTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// Remarks for the user on settings other than those that `tilewright generate` has by default, with the options of it
/// that do the same, as it takes over none of them. Ids of tokens that end a text have to be below `vocabulary`.
llvm::Expected<std::vector<std::string>> readGenerationDefaults(llvm::StringRef folder, int64_t vocabulary);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_GENERATIONDEFAULTS_H
