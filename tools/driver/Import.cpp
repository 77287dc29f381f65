// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright import`: a model file becomes a graph file.
#include "frontend/graph/AtomicFile.h"
#include "frontend/import/ImportModel.h"
#include "tools/driver/Commands.h"
#include "tools/driver/Diagnostics.h"

#include "llvm/Support/raw_ostream.h"

namespace tilewright::driver {

int importModel(const ImportOptions &options) {
  llvm::Expected<ImportResult> result = tilewright::importModel(options.input, options.output);
  if (!result)
    return report(result.takeError(), BadInput);
  for (const std::string &note : result->notes)
    llvm::errs() << "tilewright: note: " << note << "\n";
  if (int code = report(writeFileAtomically(options.output, result->bytes), WorkFailed))
    return code;
  llvm::errs() << options.output << ": a graph of family '" << result->family << "', " << result->bytes.size()
               << " bytes; weights stay in " << options.input << "\n";
  return Success;
}

int listFamilies() {
  llvm::Expected<std::vector<std::string>> families = tilewright::listFamilies();
  if (!families)
    return report(families.takeError(), BadInput);
  for (const std::string &family : *families)
    llvm::outs() << family << "\n";
  return Success;
}

} // namespace tilewright::driver
