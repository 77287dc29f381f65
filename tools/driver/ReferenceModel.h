// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter as a LogitsModel: one sequence, step by step.
#pragma once

#include "tools/driver/LogitsModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::driver {

/// Bytes of the graph's weights for the interpreter.
class GraphWeights : public reference::WeightProvider {
public:
  explicit GraphWeights(const GraphFile &graph) : graph(graph) {}
  llvm::Expected<llvm::ArrayRef<uint8_t>> bytes(mlir::ml_program::GlobalOp global) override;

private:
  const GraphFile &graph;
};

class ReferenceModel : public LogitsModel {
public:
  /// The interpreter on `module`, a form of the session's graph.
  static llvm::Expected<std::unique_ptr<ReferenceModel>> create(Session &session, mlir::ModuleOp module,
                                                                reference::Precision precision);

  llvm::Error reset() override;
  llvm::Expected<std::vector<double>> step(llvm::ArrayRef<int32_t> tokens, bool lastOnly = false) override;
  int64_t vocab() const override { return vocabulary; }
  std::string numerics() const override { return precision == reference::Precision::F64 ? "f64" : "f32"; }

  reference::Interpreter &running() { return *interpreter; }

private:
  ReferenceModel(const GraphFile &graph, reference::Precision precision);

  GraphWeights weights;
  std::string entry;
  int64_t vocabulary;
  reference::Precision precision;
  std::unique_ptr<reference::Interpreter> interpreter;
  mlir::func::FuncOp function;
  unsigned logitsResult = 0;
  std::vector<reference::StateHandle> states;
  int64_t length = 0;
};

} // namespace tilewright::driver
