// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph's float weights become weights of a storage type that rows can be encoded to.
#pragma once

#include "frontend/graph/GraphFile.h"
#include "ir/interfaces/Interfaces.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {
class Progress;
}

namespace tilewright::driver {

/// Behind a weight's name, that of the f32 numbers by which its rows are to be multiplied (RowEncoding::ScaledRows).
constexpr llvm::StringLiteral kRowScaleSuffix = ".scale";

struct QuantizeRules {
  StorageType type;        ///< what weights become
  bool keepTables = false; ///< tables that ids look rows up in keep their type, also where they are the head too
  std::string weightsName; ///< of the file for the weights, beside the graph
};

/// The storage type that `name` means: "!dialect.type", or "type" of any loaded dialect, in upper case too ("Q8_0"). An
/// error names what was found where there is none, more than one, or one that rows cannot be encoded to.
llvm::Expected<StorageType> storageTypeNamed(llvm::StringRef name, mlir::MLIRContext &context);

struct QuantizedGraph {
  std::vector<uint8_t> bytes;     ///< of the new graph
  std::vector<std::string> notes; ///< why weights of linear maps keep their types
  size_t weights = 0;             ///< that have the new type
};

/// Which weights: matrices of f32, f16 or bf16 that are read by nothing but linear maps (of groups as well) and
/// look-ups of rows, wherever they are passed to, and whose rows are whole blocks. All weights of the new graph,
/// changed or not, are written to `weightsPath`, one after another; not more than one is held in memory. A type with a
/// number for each row (RowEncoding::ScaledRows) gets a further weight, NAME.scale, and the products with it. Writing
/// them is a step of `progress`.
llvm::Expected<QuantizedGraph> quantizeGraph(const GraphFile &file, const QuantizeRules &rules,
                                             mlir::MLIRContext &context, llvm::StringRef weightsPath,
                                             Progress &progress);

} // namespace tilewright::driver
