// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright inspect` of a graph file.
#include "frontend/graph/Inspect.h"
#include "tools/driver/Commands.h"
#include "tools/driver/Session.h"

#include "llvm/Support/raw_ostream.h"

namespace tilewright::driver {

static int inspectModule(const InspectOptions &options) {
  Session session(options.plugins);
  mlir::ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  module.print(llvm::outs());
  return Success;
}

int inspectGraph(const InspectOptions &options) {
  using Form = InspectOptions::Form;
  if (options.form == Form::Mlir)
    return inspectModule(options);
  llvm::Expected<GraphFile> file = openGraph(options.input, options.weightsDir, /*openWeights=*/false);
  if (!file)
    return report(file.takeError(), BadInput);
  switch (options.form) {
  case Form::Table:
    inspectTable(*file, llvm::outs());
    break;
  case Form::Json:
    inspectJson(*file, llvm::outs());
    break;
  case Form::Dot:
    inspectDot(*file, llvm::outs());
    break;
  default:
    inspectSummary(*file, llvm::outs());
  }
  return Success;
}

} // namespace tilewright::driver
