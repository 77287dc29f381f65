// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures kernels of the CPU backend on one thread, each as a share of a ceiling measured in the same run.
#include "backends/cpu/Compile.h"
#include "backends/cpu/Link.h"
#include "backends/cpu/Passes.h"
#include "runtime/api/abi.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <dlfcn.h>
#include <sys/mman.h>

using namespace tilewright;
using Clock = std::chrono::steady_clock;

namespace {

/// Kernels of a file, compiled for a level and loaded for the rest of the run.
class Library {
public:
  Library(mlir::MLIRContext &context, llvm::StringRef file, const CpuLevel &level) {
    auto begin = Clock::now();
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
    if (!module)
      std::exit(3);
    mlir::FailureOr<std::vector<ObjectBytes>> objects = compileKernels(*module, level);
    if (failed(objects))
      std::exit(1);
    objects->push_back(llvm::cantFail(emitMemoryFunctions()));
    llvm::SmallString<128> path;
    llvm::sys::fs::createTemporaryFile("tilewright-bench", "so", path);
    llvm::cantFail(linkSharedObject(*objects, path));
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    llvm::sys::fs::remove(path);
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  tw_abi_kernel operator[](const char *name) const { return reinterpret_cast<tw_abi_kernel>(dlsym(handle, name)); }
  double seconds;

private:
  void *handle;
};

/// Shortest time of one call in seconds, over about a third of a second.
double best(tw_abi_kernel kernel, std::vector<const void *> args, int64_t chunks) {
  if (!kernel)
    std::exit(1);
  std::vector<void *> slots;
  for (const void *arg : args)
    slots.push_back(const_cast<void *>(arg));
  double shortest = 1e9, total = 0;
  for (int round = 0; round < 3 || total < 0.35; ++round) {
    auto begin = Clock::now();
    kernel(slots.data(), 0, chunks);
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    shortest = std::min(shortest, seconds);
    total += seconds;
  }
  return shortest;
}

const void *slot(int64_t value) { return reinterpret_cast<const void *>(value); }

/// `bytes` of memory in huge pages where the system gives them, filled with `value` bytes.
uint8_t *huge(size_t bytes, int value) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    std::exit(6);
  madvise(at, bytes, MADV_HUGEPAGE);
  memset(at, value, bytes);
  return static_cast<uint8_t *>(at);
}

void print(llvm::StringRef name, double rate, llvm::StringRef unit, double ceiling, llvm::StringRef of) {
  llvm::outs() << llvm::formatv("{0,-34} {1,8:F1} {2,-8} {3,6:F1} % of {4}\n", name, rate, unit, 100 * rate / ceiling,
                                of);
}

void benchLevel(mlir::MLIRContext &context, const CpuLevel &level, double readRate, double fmaRate, double dotRate) {
  llvm::outs() << "level " << level.name << "\n";
  {
    Library kernels(context, TILEWRIGHT_KERNELS "/matmul_q4_1.mlir", level);
    // 320 MB of weights: 1024 groups of 16 rows by 1024 blocks of 32.
    int64_t blocks = 1024, groups = 1024;
    size_t bytes = size_t(blocks) * groups * 320;
    uint8_t *weights = huge(bytes, 0x11);
    std::vector<int8_t> x(blocks * 32 * 16, 3);
    std::vector<float> scales(blocks * 16, 0.5f), y(groups * 16 * 16);
    auto args = [&](int64_t rows, int64_t k, int64_t n) {
      return std::vector<const void *>{x.data(),   scales.data(), scales.data(), weights,     y.data(),
                                       slot(rows), slot(k),       slot(n),       slot(n * 16)};
    };
    print("q4_1 matrix by one row, 320 MB",
          bytes / best(kernels["matmul_q4_1_m1"], args(1, blocks, groups), groups) * 1e-9, "GB/s", readRate,
          "streaming read");
    for (auto [name, rows] : {std::pair("matmul_q4_1_m8", 8), {"matmul_q4_1_m16", 16}}) {
      double seconds = best(kernels[name], args(rows, 18, 96), 96);
      print(("q4_1 matrix by " + llvm::Twine(rows) + " rows, K = 576").str(),
            2.0 * rows * 576 * 96 * 16 / seconds * 1e-9, "GOP/s", dotRate, "vpdpbusd");
    }
    munmap(weights, bytes);
    llvm::outs() << llvm::formatv("  compiled in {0:F2} s\n", kernels.seconds);
  }
  {
    Library kernels(context, TILEWRIGHT_KERNELS "/flash_attention.mlir", level);
    constexpr int64_t T = 1024, D = 64, pages = T / 64;
    std::vector<float> q(T * D, 0.01f), k(T * D, 0.02f), v(T * D, 0.03f), out(T * D);
    std::vector<int32_t> table, tiles;
    for (int32_t page = 0; page < pages; ++page)
      table.push_back(page);
    for (int32_t row = 0; row < T; row += 16)
      tiles.insert(tiles.end(), {row, 16, row, T, 0, pages, 0, 0});
    float scale[2] = {0.18f, 0};
    const void *bits;
    memcpy(&bits, scale, sizeof bits);
    double seconds = best(kernels["flash_16x64"],
                          {q.data(), k.data(), v.data(), tiles.data(), table.data(), out.data(), bits, slot(T), slot(1),
                           slot(1), slot(pages), slot(pages), slot(T / 16)},
                          T / 16);
    // Work on the keys that causality leaves.
    print("flash attention 16x64, causal 1024", 4.0 * D * T * (T + 1) / 2 / seconds * 1e-9, "GFLOP/s", fmaRate, "FMA");
    llvm::outs() << llvm::formatv("  compiled in {0:F2} s\n", kernels.seconds);
  }
  {
    Library kernels(context, TILEWRIGHT_KERNELS "/matmul_f32.mlir", level);
    std::vector<float> x(64 * 576, 0.1f), w(96 * 576, 0.1f), y(64 * 96);
    double seconds = best(kernels["matmul_f32"], {x.data(), w.data(), y.data(), slot(64)}, 48);
    print("f32 matrix 64x96x576", 2.0 * 64 * 96 * 576 / seconds * 1e-9, "GFLOP/s", fmaRate, "FMA");
  }
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::SmallVector<const CpuLevel *> levels = hostCpuLevels();
  if (levels.empty() || !levels.back()->dotProductI8) {
    llvm::errs() << "bench_kernels: error: the ceilings need a CPU with AVX-512 and VNNI\n";
    return 4;
  }
  Library ceilings(context, TILEWRIGHT_CEILINGS, *levels.back());
  alignas(64) static float numbers[64];
  double fma = 100 * 1000.0 * 12 * 16 * 2 / best(ceilings["fma"], {numbers}, 100) * 1e-9;
  double dot = 100 * 1000.0 * 12 * 64 * 2 / best(ceilings["vpdpbusd"], {numbers}, 100) * 1e-9;
  size_t bytes = size_t(320) << 20;
  uint8_t *memory = huge(bytes, 1);
  double read = bytes / best(ceilings["read"], {memory, numbers}, bytes >> 16) * 1e-9;
  munmap(memory, bytes);
  llvm::outs() << llvm::formatv(
      "ceilings, one thread: streaming read {0:F1} GB/s, FMA {1:F1} GFLOP/s, vpdpbusd {2:F1} GOP/s\n", read, fma, dot);
  for (const CpuLevel *level : levels)
    benchLevel(context, *level, read, fma, dot);
  return 0;
}
