// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright reference`: greedy text from the interpreter.
#include "tools/driver/Commands.h"
#include "tools/driver/ReferenceModel.h"
#include "tools/driver/text/GraphText.h"

#include "llvm/Support/raw_ostream.h"

namespace tilewright::driver {

int generateByReference(const ReferenceOptions &options) {
  Session session(options.plugins);
  mlir::ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  GraphText text;
  std::string message;
  std::vector<int32_t> ids;
  if (!text.open(session.graph().graph().tokenizer(), message) || !text.encode(options.prompt, ids, message))
    return report(llvm::createStringError(options.input + ": " + message), BadInput);
  if (ids.empty())
    return report(llvm::createStringError("the prompt is empty and the model has no begin token"), BadInput);
  auto model =
      ReferenceModel::create(session, module, options.f64 ? reference::Precision::F64 : reference::Precision::F32);
  if (!model)
    return report(model.takeError(), WorkFailed);

  llvm::outs() << options.prompt;
  llvm::outs().flush();
  for (int made = 0; made < options.maxTokens; ++made) {
    llvm::Expected<std::vector<double>> logits = (*model)->step(ids, /*lastOnly=*/true);
    if (!logits)
      return report(logits.takeError(), WorkFailed);
    const int32_t next = static_cast<int32_t>(std::max_element(logits->begin(), logits->end()) - logits->begin());
    if (text.isEnd(next))
      break;
    llvm::outs() << text.decode(next);
    llvm::outs().flush();
    ids = {next};
  }
  llvm::outs() << "\n";
  return Success;
}

} // namespace tilewright::driver
