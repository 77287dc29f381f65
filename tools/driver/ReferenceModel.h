// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter as a LogitsModel: one sequence, step by step.
#pragma once

#include "tools/driver/LogitsModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace tilewright::driver {

/// Bytes of the graph's weights for the interpreter.
class GraphWeights : public reference::WeightProvider {
public:
  explicit GraphWeights(const GraphFile &graph) : graph(graph) {}
  llvm::Expected<llvm::ArrayRef<uint8_t>> bytes(mlir::ml_program::GlobalOp global) override;

private:
  const GraphFile &graph;
  std::map<int64_t, WeightBytes> held; ///< by index: the interpreter keeps what it was given
};

class ReferenceModel : public LogitsModel {
public:
  /// The interpreter on `module`, a form of the session's graph.
  static llvm::Expected<std::unique_ptr<ReferenceModel>> create(Session &session, mlir::ModuleOp module,
                                                                reference::Precision precision);

  llvm::Error reset() override;
  llvm::Error encode(llvm::ArrayRef<int32_t> tokens, const RowInputs &inputs = {}) override;
  llvm::Expected<std::vector<double>> step(llvm::ArrayRef<int32_t> tokens, bool lastOnly = false,
                                           const RowInputs &inputs = {}, OutputRows *outputs = nullptr) override;
  /// As step(), with results for the last `wanted` rows, but what the states hold stays, whatever the graph's
  /// reread_length.
  llvm::Expected<std::vector<double>> extend(llvm::ArrayRef<int32_t> tokens, int64_t wanted,
                                             const RowInputs &inputs = {}, OutputRows *outputs = nullptr);
  int64_t vocab() const override { return width; }
  bool hasLogits() const override { return logits; }
  std::string numerics() const override { return precision == reference::Precision::F64 ? "f64" : "f32"; }

  reference::Interpreter &running() { return *interpreter; }

private:
  struct Entry {
    std::string name;
    mlir::func::FuncOp function; ///< null where the graph has no such entry
  };

  ReferenceModel(const GraphFile &graph, reference::Precision precision);
  /// Runs an entry over `tokens` that follow `length` others; results are wanted for the last `wanted` rows.
  llvm::Expected<std::vector<reference::RunValue>> run(Entry &entry, llvm::ArrayRef<int32_t> tokens, int64_t wanted,
                                                       const RowInputs &inputs);
  /// Whether each step is a sequence of its own.
  bool isWhole();

  GraphWeights weights;
  Entry stepEntry, encodeEntry;
  int64_t width; ///< of a row of the result
  bool logits = true;
  reference::Precision precision;
  std::unique_ptr<reference::Interpreter> interpreter;
  size_t resultNumber = 0;                   ///< of the logits, or of the first output where there are none
  llvm::SmallVector<unsigned> outputNumbers; ///< results
  llvm::StringMap<reference::StateHandle> states, sources; ///< by name; what steps fill, what encode() does
  int64_t length = 0, sourceLength = 0;
  int64_t rereadLength; ///< of the graph
  /// Where that is not 0: the tokens that the states hold, and their further inputs.
  std::vector<int32_t> history;
  RowInputs historyInputs;
};

} // namespace tilewright::driver
