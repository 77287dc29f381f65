// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_IMPORTGGUF_H
#define TILEWRIGHT_FRONTEND_IMPORT_IMPORTGGUF_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct ImportResult {
  std::vector<uint8_t> bytes; ///< a graph file
  std::string family;
  /// Remarks for the user: metadata that had no influence, and where later steps have to look for the weights.
  std::vector<std::string> notes;
};

/// Makes a graph of the GGUF file at `path`, to be written to `outputPath`. Weights stay where they are, referred to by
/// path, offset, length and hash (XXH3-64, computed here, so all of the file is read once). Writes nothing.
///
/// A graph names its weights file by a relative path, and whoever reads it looks for that path beneath the graph's own
/// folder and beneath --weights-dir, following no links: a graph from a stranger cannot make anybody read another file.
/// So
/// - if the model file (its real path, links resolved) lies beneath the folder of `outputPath`, its path from there is
///   recorded, and later steps need no option;
/// - otherwise its plain name is recorded, and a note tells the user to give the model's folder as --weights-dir to
/// later
///   steps, or to write the graph beside the model.
llvm::Expected<ImportResult> importGguf(llvm::StringRef path, llvm::StringRef outputPath);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_IMPORTGGUF_H
