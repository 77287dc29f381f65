// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/ModelSource.h"

using namespace llvm;

namespace tilewright {

ModelSource::~ModelSource() = default;

StringRef spell(ParameterKind kind) {
  static constexpr StringLiteral names[] = {"an integer", "a float", "a bool", "a string", "a list"};
  return names[static_cast<size_t>(kind)];
}

} // namespace tilewright
