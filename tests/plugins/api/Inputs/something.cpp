// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the plugins made from entry.cpp register: one pass that does nothing, and the dialect `shared_word` where it is
// asked for.
#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "passes/api/Stages.h"
#include "plugins/api/Plugin.h"

#include <string>

namespace {
struct Nothing : mlir::PassWrapper<Nothing, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Nothing)
  explicit Nothing(std::string flag) : flag(std::move(flag)) {}
  llvm::StringRef getArgument() const final { return flag; }
  void runOnOperation() final {}
  std::string flag;
};

struct SharedWordDialect : mlir::Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SharedWordDialect)
  explicit SharedWordDialect(mlir::MLIRContext *context)
      : mlir::Dialect("shared_word", context, mlir::TypeID::get<SharedWordDialect>()) {}
  static llvm::StringRef getDialectNamespace() { return "shared_word"; }
};
} // namespace

void registerPass(tw_stage_registry *registry, const char *name, const char *flag) {
  auto make = [flag](const tilewright::PipelineOptions &) { return std::make_unique<Nothing>(flag); };
  registry->add({"simplify", name, {}, {}, {}, make});
}

void registerSharedWord(tw_dialect_registry *registry) { registry->insert<SharedWordDialect>(); }
