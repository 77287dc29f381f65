// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the kernels of these tests run: on the CPU, or, with TILEWRIGHT_TEST_DEVICE=ptx, as PTX in the emulator.
#pragma once

#include "backends/cuda/Compile.h"
#include "tests/ptx/Machine.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace tilewright::test {

/// Whether kernels run as PTX. Their f32 products are three of tf32, whose rounding differs from f32's.
inline bool onPtx() {
  const char *device = std::getenv("TILEWRIGHT_TEST_DEVICE");
  return device && std::string_view(device) == "ptx";
}

/// The kernels of a program as PTX, each with a machine of its own.
class PtxDevice {
public:
  /// Compiles every kernel of `kernels`; false with a test failure when one has no form.
  bool compile(mlir::ModuleOp kernels, llvm::StringRef numerics) {
    for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
      auto compiled = compileToPtx(kernel, "sm_80", numerics == "fast" ? CudaNumerics::Fast : CudaNumerics::Precise);
      if (failed(compiled)) {
        ADD_FAILURE() << "no PTX for " << kernel.getName().str();
        return false;
      }
      auto machine = ptx::Machine::create(compiled->ptx);
      if (!machine.second.empty()) {
        ADD_FAILURE() << kernel.getName().str() << ": " << machine.second << "\n" << compiled->ptx;
        return false;
      }
      machines[kernel.getName().str()] = {std::move(*compiled), std::move(machine.first)};
    }
    return true;
  }

  /// Runs chunks [begin, end) of kernel `name`, whose arguments point to `memory` (addresses and bytes).
  void run(const std::string &name, llvm::ArrayRef<void *> slots, llvm::ArrayRef<std::pair<void *, size_t>> memory,
           int64_t begin, int64_t end) {
    auto &[kernel, machine] = machines.at(name);
    machine->forbidAll();
    for (auto [data, bytes] : memory)
      machine->allow(data, bytes);
    ptx::Machine::Launch launch{
        name, {}, end - begin, static_cast<int>(kernel.threads), static_cast<uint64_t>(kernel.sharedBytes)};
    for (void *slot : slots)
      launch.arguments.push_back(reinterpret_cast<uint64_t>(slot));
    launch.arguments.push_back(begin);
    if (auto error = machine->run(launch))
      ADD_FAILURE() << *error;
  }

private:
  std::map<std::string, std::pair<PtxKernel, std::unique_ptr<ptx::Machine>>> machines;
};

} // namespace tilewright::test
