// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a kernel file for one level, links it, loads it, and calls its entry.
#pragma once

#include "backends/cpu/Compile.h"
#include "backends/cpu/Link.h"
#include "backends/cpu/Passes.h"
#include "runtime/api/abi.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tilewright::test {

/// A context with everything the CPU backend needs, shared by all tests of the program.
inline mlir::MLIRContext &context() {
  static mlir::MLIRContext *shared = [] {
    mlir::DialectRegistry registry;
    registerCpuDialects(registry);
    auto *context = new mlir::MLIRContext(registry);
    context->loadAllAvailableDialects();
    return context;
  }();
  return *shared;
}

/// A kernel library, compiled and loaded.
class KernelLibrary {
public:
  KernelLibrary(llvm::StringRef file, const CpuLevel &level)
      : KernelLibrary(
            mlir::parseSourceFile<mlir::ModuleOp>((TILEWRIGHT_TEST_DATA "/unit/cpu/kernels/" + file).str(), &context()),
            file, level) {}
  /// `what` names the module in failures.
  KernelLibrary(mlir::OwningOpRef<mlir::ModuleOp> module, llvm::StringRef what, const CpuLevel &level) {
    if (!module) {
      ADD_FAILURE() << "cannot parse " << what.str();
      return;
    }
    mlir::FailureOr<std::vector<ObjectBytes>> objects = compileKernels(*module, level);
    if (failed(objects)) {
      ADD_FAILURE() << "cannot compile " << what.str() << " for " << level.name.str();
      return;
    }
    objects->push_back(llvm::cantFail(emitMemoryFunctions()));
    llvm::SmallString<128> library;
    llvm::sys::fs::createTemporaryFile("tilewright-kernel", "so", library);
    if (llvm::Error error = linkSharedObject(*objects, library)) {
      ADD_FAILURE() << llvm::toString(std::move(error));
      return;
    }
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      ADD_FAILURE() << dlerror();
    llvm::sys::fs::remove(library);
  }
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  /// Runs chunks [begin, end) of kernel `name`; false when it could not be loaded.
  bool run(const char *name, std::vector<const void *> args, int64_t begin, int64_t end) {
    auto entry = handle ? reinterpret_cast<tw_abi_kernel>(dlsym(handle, name)) : nullptr;
    if (!entry)
      return false;
    std::vector<void *> slots;
    for (const void *arg : args)
      slots.push_back(const_cast<void *>(arg));
    entry(slots.data(), begin, end);
    return true;
  }

private:
  void *handle = nullptr;
};

/// The kernels of a file for a level; each is compiled once in the program's life.
class LoadedKernels {
public:
  LoadedKernels(llvm::StringRef file, const CpuLevel &level) {
    static std::map<std::pair<std::string, const CpuLevel *>, std::unique_ptr<KernelLibrary>> libraries;
    std::unique_ptr<KernelLibrary> &entry = libraries[{file.str(), &level}];
    if (!entry)
      entry = std::make_unique<KernelLibrary>(file, level);
    library = entry.get();
  }
  bool run(const char *name, std::vector<const void *> args, int64_t begin, int64_t end) {
    return library->run(name, std::move(args), begin, end);
  }

private:
  KernelLibrary *library;
};

/// An index argument's slot.
inline const void *slot(int64_t value) { return reinterpret_cast<const void *>(value); }

/// Numbers in [-scale, scale], the same on every machine.
inline std::vector<float> randomFloats(size_t count, unsigned seed, float scale = 1.0f) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = scale * (static_cast<float>(generator() >> 8) / 8388608.0f - 1.0f);
  return values;
}

/// Largest |got - want| relative to the largest |want|; NaN in `got` is an infinite error.
inline double relativeError(llvm::ArrayRef<float> got, llvm::ArrayRef<double> want) {
  double error = 0, scale = 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    scale = std::max(scale, std::abs(want[i]));
    double each = std::abs(got[i] - want[i]);
    error = std::isnan(each) ? HUGE_VAL : std::max(error, each);
  }
  return error / scale;
}

/// The levels this machine runs, for INSTANTIATE_TEST_SUITE_P; the others are checked by lit tests.
class OnEachLevel : public testing::TestWithParam<const CpuLevel *> {};

inline std::string levelName(const testing::TestParamInfo<const CpuLevel *> &info) { return info.param->name.str(); }

} // namespace tilewright::test
