// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_IMPORTGGUF_H
#define TILEWRIGHT_FRONTEND_IMPORT_IMPORTGGUF_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct ImportOptions {
  /// The graph file that the bytes will be written to. The graph names the model file by a path relative to this file's
  /// folder and beneath it, and later steps look there and follow no links.
  std::string outputPath;
  /// If given, the model file's path is recorded relative to this folder instead, and every later step needs
  /// --weights-dir with the same folder (or another that holds the same file).
  std::string weightsDir;
};

struct ImportResult {
  std::vector<uint8_t> bytes; ///< a graph file
  std::string family;
  /// Remarks for the user, each a full sentence: metadata that had no influence.
  std::vector<std::string> notes;
};

/// Makes a graph of the GGUF file at `path`; weights stay where they are, referred to by path, offset, length and hash
/// (XXH3-64, computed here, so all of the file is read once). Writes nothing.
///
/// The rule for the path, the same one that reading obeys: the model file's real path (links resolved) must lie beneath
/// the real folder of `outputPath`, or, if given, beneath `weightsDir`. Otherwise the import is refused with an error
/// that names the two ways out: put the output beside the model, or import with --weights-dir.
llvm::Expected<ImportResult> importGguf(llvm::StringRef path, const ImportOptions &options);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_IMPORTGGUF_H
