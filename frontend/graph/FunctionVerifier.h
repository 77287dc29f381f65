// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Internal to the structural verifier.
#ifndef TILEWRIGHT_FRONTEND_GRAPH_FUNCTIONVERIFIER_H
#define TILEWRIGHT_FRONTEND_GRAPH_FUNCTIONVERIFIER_H

#include "frontend/graph/Access.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright {

/// Why a tensor type is malformed, or empty.
std::string typeProblem(const graph::TensorType &type, bool allowUnknown);

/// What functions refer to, and the budget that all checks draw on.
struct GraphTables {
  const graph::Graph &graph;
  llvm::StringRef file;
  llvm::StringMap<uint32_t> functions; ///< name to index
  llvm::StringMap<uint32_t> weights;
  uint64_t budget; ///< entries that may still be visited

  /// True while vectors seen so far fit into the file together.
  bool charge(uint64_t entries) {
    bool fits = entries <= budget;
    budget = fits ? budget - entries : 0;
    return fits;
  }
};

/// Checks one function; appends the indices of the functions it calls to `callees`.
class FunctionVerifier {
public:
  FunctionVerifier(GraphTables &tables, const graph::Function &function, std::vector<uint32_t> &callees)
      : tables(tables), function(function), callees(callees) {}

  llvm::Error verify();

private:
  struct OpPlace {
    uint32_t index;
    const graph::Op *op;
  };

  llvm::Error fail(const llvm::Twine &field, const llvm::Twine &found, const llvm::Twine &wanted) const;
  llvm::Error verifyValues();
  llvm::Error define(uint32_t index, const llvm::Twine &field);
  llvm::Error use(uint32_t index, const llvm::Twine &field) const;
  llvm::Error verifyBody(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body);
  llvm::Error verifyOp(const graph::Op &op);
  llvm::Error verifyAttributes(const graph::Op &op);
  llvm::Error verifyRegion(const graph::Region &region, uint32_t index);
  llvm::Error verifyCall(const graph::Op &op);
  llvm::Error verifyWeight(const graph::Op &op);

  enum class State : uint8_t { Undefined, Visible, OutOfScope };

  GraphTables &tables;
  const graph::Function &function;
  std::vector<uint32_t> &callees;
  std::vector<State> states;          ///< by value
  std::vector<uint32_t> defined;      ///< in order of definition, for leaving scopes
  llvm::SmallVector<OpPlace, 4> path; ///< the op being checked, outermost first
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_FUNCTIONVERIFIER_H
