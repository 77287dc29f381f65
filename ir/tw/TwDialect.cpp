// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

#include "ir/interfaces/FloatStorage.h"
#include "ir/tw/StateReach.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/tw/TwDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tw/TwTypes.cpp.inc"

namespace tilewright::tw {

void registerTwDialectOperations(TwDialect *dialect); // in TwOps0.cpp, made of TwOps.cpp.in

void TwDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tw/TwTypes.cpp.inc"
      >();
  registerTwDialectOperations(this);
  attachFloatStorage(*getContext());
  attachStateReaders(*getContext());
}

mlir::Operation *TwDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value, mlir::Type type,
                                                mlir::Location loc) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

} // namespace tilewright::tw
