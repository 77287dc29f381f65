// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An op's reference lowering: it is there, and runs.
#include "ir/interfaces/Interfaces.h"
#include "tools/conformance/Environment.h"
#include "tools/conformance/Numbers.h"

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;

Finding checkReference(const Environment &environment, StringRef op) {
  RegisteredOperationName name = *RegisteredOperationName::lookup(op, environment.context.get());
  if (!name.hasInterface<ReferenceLowering>())
    return failed("does not implement ReferenceLowering, which says what an op means and every op must have");
  unsigned count = 0;
  for (const Program *program : environment.programsOf(op)) {
    std::string where = "'" + program->name() + "'";
    std::string refusal;
    bool ran = false;
    for (const Point &point : program->lattice()) {
      auto inputs = program->inputs(point, Fill());
      auto results = inputs ? interpret(program->module(), program->name(), *inputs)
                            : llvm::Expected<std::vector<RunValue>>(inputs.takeError());
      if (!results) {
        refusal = text(point) + ": " + llvm::toString(results.takeError());
        continue;
      }
      ran = true;
      break;
    }
    if (!ran)
      return failed(where + " runs with none of the shapes tried; the last, " + refusal);
    ++count;
  }
  return count ? passed(std::to_string(count) + (count == 1 ? " function runs" : " functions run"))
               : absent("no sample");
}

} // namespace tilewright::conformance
