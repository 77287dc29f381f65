// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_IMPORTMODEL_H
#define TILEWRIGHT_FRONTEND_IMPORT_IMPORTMODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct ImportResult {
  std::vector<uint8_t> bytes; ///< a graph file
  std::string family;
  /// Remarks for the user: where later steps have to look for the weights, what of the model is left out.
  std::vector<std::string> notes;
};

/// Whether `path` is a model that can be imported: a GGUF file, or a folder with a config.json.
bool isModel(llvm::StringRef path);

/// Makes a graph of the model at `path`, a GGUF file or a folder of config.json and safetensors files, to be written to
/// `outputPath`. Weights stay where they are, referred to by path, offset, length and hash (XXH3-64, computed here, so
/// all of the files is read once). Writes nothing.
///
/// A graph names its weights files by relative paths, and whoever reads it looks for them beneath the graph's own
/// folder and beneath --weights-dir, following no links: a graph from a stranger cannot make anybody read another file.
/// So
/// - if the model (its real path, links resolved) lies beneath the folder of `outputPath`, its files' paths from there
///   are recorded, and later steps need no option;
/// - otherwise the files' plain names are recorded, and a note tells the user to give the model's folder as
///   --weights-dir to later steps, or to write the graph beside the model.
///
/// `outputs`: what the step is to return besides what it returns anyway, of what the family has by its description.
llvm::Expected<ImportResult> importModel(llvm::StringRef path, llvm::StringRef outputPath,
                                         llvm::ArrayRef<std::string> outputs = {});

/// One line for each family that is known: its name, and the kinds of models that are of it.
llvm::Expected<std::vector<std::string>> listFamilies();

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_IMPORTMODEL_H
