// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph file to MLIR module and back. Names and symbolic shapes of the graph live in attributes of the `tw` dialect:
//   module             tw.entry, and where the graph has them tw.name, tw.family, tw.producer, tw.context_length,
//                      tw.reread_length, tw.vocab_size
//   function argument  tw.name (string), tw.symbols
//   function result    tw.name where the graph names it, tw.symbols
//   weight             ml_program.global private @name(#ml_program.extern) with tw.weight_index (entry of the graph's
//                      table), tw.row_dims and tw.row_perm where its rows are permuted, tw.weight_name where the symbol
//                      had to differ from the weight's name
// `tw.symbols` has one entry per dimension: a string names it, an integer is its size, -1 is unknown; of a state, one
// such array per buffer. Values inside a function keep name and symbols in their op's location (OpOrigin), which passes
// carry along and which does not hinder them.
#pragma once

#include "frontend/graph/GraphFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright {

/// Stands for the graph file in the places of its ops, "graph:function:op": what is made from a module, receipts among
/// it, does not depend on where the file lies and what it is called.
inline constexpr llvm::StringLiteral kGraphPlace = "graph";

/// `place` of an op, with `file` for the graph file; other places stay as they are.
std::string placeInFile(llvm::StringRef place, llvm::StringRef file);

struct TranslateOptions {
  /// Where plugins were looked for, for the error about a missing one.
  std::vector<std::string> searchedPlugins;
};

/// Translates op by op and verifies each op (what it means: shapes, attributes). Dialects of plugins must be registered
/// in `context`. An error names the file, the function, the op and what it lacks; no diagnostics reach the context's
/// handlers.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> translateToModule(const GraphFile &file, mlir::MLIRContext &context,
                                                                    const TranslateOptions &options = {});

/// The bytes of the graph file that `module` came from, or would. Weights' places, the tokenizer and inline bytes are
/// not in a module: they are taken from `origin`, whose weight table tw.weight_index refers to. Fails for ops, types
/// and attributes that a graph file has no form for. The result has passed the structural verifier.
llvm::Expected<std::vector<uint8_t>> translateToGraph(mlir::ModuleOp module, const GraphFile &origin);

/// What an op's location remembers of the graph.
struct OpOrigin {
  llvm::SmallVector<std::string> names;       ///< of the results, may be empty
  llvm::SmallVector<mlir::ArrayAttr> symbols; ///< of the results, as tw.symbols
  llvm::SmallVector<std::string> attributes;  ///< names of the op's attributes, in the graph's order
  std::string location;                       ///< the graph's own location text
};

/// The origin kept in `location`, or an empty one.
OpOrigin originOf(mlir::Location location);

/// Name of result `number` of `op` in the graph that it came from; empty when it is not known. Symbols likewise (null).
std::string graphNameOf(mlir::Value value);
mlir::ArrayAttr graphSymbolsOf(mlir::Value value);

} // namespace tilewright
