// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same attention as another op: of ops with the operands, attributes and region of AttentionForm.td.
#pragma once

#include "ir/tw/Tw.h"

namespace tilewright::tw {

/// `op` as a tw.attention with results of `types`, that stands in no block yet; without the attribute `without`, which
/// is the op's alone.
AttentionOp coreAttention(mlir::Operation *op, mlir::TypeRange types, llvm::StringRef without = {});

/// `from` as an op `name` with results of `types`, at the builder's place: with the attributes `more` besides, and with
/// the score region, which `from` has no longer.
mlir::Operation *attentionAs(mlir::OpBuilder &builder, llvm::StringRef name, mlir::Operation *from,
                             mlir::TypeRange types, llvm::ArrayRef<mlir::NamedAttribute> more = {});

template <typename Op>
Op attentionAs(mlir::OpBuilder &builder, mlir::Operation *from, mlir::TypeRange types,
               llvm::ArrayRef<mlir::NamedAttribute> more = {}) {
  return llvm::cast<Op>(attentionAs(builder, Op::getOperationName(), from, types, more));
}

} // namespace tilewright::tw
