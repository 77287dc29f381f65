// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace tilewright::cli {

/// Prints the receipts that a manifest carries (JSON, docs/receipts.md): for people, or as they are with `json`.
void printReceipts(const std::string &stored, bool json);

} // namespace tilewright::cli
