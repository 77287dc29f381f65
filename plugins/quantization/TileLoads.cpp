// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/TileLoads.h"

#include "mlir/IR/Diagnostics.h"

namespace tilewright::quantization {

using namespace mlir;

Value emitLoadF32(const Format &format, OpBuilder &builder, Location loc, Value packed, Value group, Value block) {
  emitError(loc) << "weights of " << format.name << " have no kernel form";
  return {};
}

FailureOr<IntegerTile> emitLoadInteger(const Format &format, OpBuilder &builder, Location loc, Value packed, Value group,
                                       Value block) {
  return failure();
}

} // namespace tilewright::quantization
