// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Fallbacks.h"

namespace tilewright::conformance {

void Fallbacks::note(const Environment &environment, const std::string &form) {
  std::map<std::string, std::string> found;
  for (const Receipt &receipt : environment.receipts.take()) {
    auto isOp = [](const auto &detail) { return detail.first == "op"; };
    if (auto op = llvm::find_if(receipt.details, isOp); receipt.kind == "reference_form" && op != receipt.details.end())
      found.try_emplace(op->second, receipt.reason);
  }
  reasons.try_emplace(form, std::move(found));
}

std::string Fallbacks::reason(const std::string &form, llvm::StringRef op) const {
  auto ofForm = reasons.find(form);
  if (ofForm == reasons.end())
    return "";
  auto found = ofForm->second.find(op.str());
  return found == ofForm->second.end() ? "" : found->second;
}

} // namespace tilewright::conformance
