// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/KernelBuilder.h"

namespace tilewright {

llvm::ArrayRef<ShapeClass> shapeClasses() {
  static const ShapeClass classes[] = {
      {"decode", 1, 1, 1},
      {"small", 8, 8, 8},
      {"prefill", 16, 8, 16},
  };
  return classes;
}

const ShapeClass *findShapeClass(llvm::StringRef name) {
  for (const ShapeClass &shapeClass : shapeClasses())
    if (shapeClass.name == name)
      return &shapeClass;
  return nullptr;
}

} // namespace tilewright
