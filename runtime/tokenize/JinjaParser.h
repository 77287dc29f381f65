// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/tokenize/JinjaSyntax.h"

#include <string_view>

namespace tilewright::jinja {

/// Parses a template. Statements and expressions nest at most `maxDepth` deep, counting the operands of a chain like
/// `a + b + c`. Throws CORRUPT for what is not Jinja, UNSUPPORTED naming a construct that this subset lacks, EXHAUSTED
/// for too deep nesting, each with the line.
Body parse(std::string_view source, uint32_t maxDepth);

} // namespace tilewright::jinja
