// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/Memory.h"

#include "llvm/ADT/APFloat.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace tilewright {

size_t elementBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

void store(const reference::Tensor &tensor, Type type, uint8_t *out) {
  const size_t size = elementBytes(type), count = static_cast<size_t>(tensor.size());
  auto put = [&](size_t i, uint64_t bits) { std::memcpy(out + i * size, &bits, size); };
  if (!tensor.isFloat) {
    for (size_t i = 0; i < count; ++i)
      put(i, type.isInteger(1) ? tensor.integers[i] != 0 : static_cast<uint64_t>(tensor.integers[i]));
    return;
  }
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  for (size_t i = 0; i < count; ++i) {
    llvm::APFloat value(tensor.reals[i]);
    bool lost;
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    put(i, value.bitcastToAPInt().getZExtValue());
  }
}

reference::Tensor load(const uint8_t *bytes, RankedTensorType type) {
  Type element = type.getElementType();
  const size_t size = elementBytes(element), count = static_cast<size_t>(type.getNumElements());
  auto get = [&](size_t i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes + i * size, size);
    return bits;
  };
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType) {
    auto tensor = reference::Tensor::ints(type.getShape());
    for (size_t i = 0; i < count; ++i)
      tensor.integers[i] =
          element.isInteger(1) ? get(i) & 1 : llvm::SignExtend64(get(i), element.getIntOrFloatBitWidth());
    return tensor;
  }
  auto tensor = reference::Tensor::floats(type.getShape());
  for (size_t i = 0; i < count; ++i) {
    llvm::APFloat value(floatType.getFloatSemantics(), llvm::APInt(floatType.getWidth(), get(i)));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    tensor.reals[i] = value.convertToDouble();
  }
  return tensor;
}

} // namespace tilewright
