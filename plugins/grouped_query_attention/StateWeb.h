// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that one state is called on its way through a module.
#pragma once

#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace tilewright::grouped_query_attention {

/// The calls of a module, by callee.
using Calls = llvm::StringMap<llvm::SmallVector<mlir::func::CallOp>>;
Calls callsOf(mlir::ModuleOp module);

/// Values that are one state, or that share their type with it by way of a function that is called with several.
struct StateWeb {
  llvm::SetVector<mlir::Value> values;
  llvm::SetVector<tw::AppendOp> appends;
  llvm::SetVector<mlir::func::FuncOp> functions; ///< that take or return one of them
  std::string fault;                             ///< something whose type cannot change
};

StateWeb webOf(mlir::Value state, mlir::ModuleOp module, const Calls &calls);

/// Gives every value of the web the type `type`, and the functions theirs.
void retype(const StateWeb &web, tw::StateType type);

} // namespace tilewright::grouped_query_attention
