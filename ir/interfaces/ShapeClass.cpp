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

const ShapeClass &shapeClassOf(int64_t rows) {
  // All but the last take as many rows as one of their tiles has.
  for (const ShapeClass &shapeClass : shapeClasses().drop_back())
    if (rows <= shapeClass.rowMultiple)
      return shapeClass;
  return shapeClasses().back();
}

} // namespace tilewright
