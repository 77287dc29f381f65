// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a graph function through the tile stage and the CPU backend and runs its program, dispatch by dispatch.
#pragma once

#include "backends/cpu/Compile.h"
#include "backends/cpu/Link.h"
#include "ir/interfaces/KernelBuilder.h"
#include "ir/tw/RowCount.h"
#include "ir/tw/Tw.h"
#include "passes/Pipelines.h"
#include "runtime/api/abi.h"
#include "runtime/module/Packer.h"
#include "tests/unit/kernels/Device.h"
#include "tools/host/Host.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <unistd.h>

namespace tilewright::test {

/// Core and all plugins of this build.
inline Host &host() {
  static Host *shared = [] {
    auto *host = new Host;
    std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&host));
    llvm::cantFail(host->load(self, {}));
    return host;
  }();
  return *shared;
}

inline mlir::MLIRContext &context() {
  static mlir::MLIRContext *shared = [] {
    auto *context = new mlir::MLIRContext(host().dialects);
    context->loadAllAvailableDialects();
    return context;
  }();
  return *shared;
}

/// Whether weights of this element type can be packed: of those of fewer than 32 bits that is a plugin's to say.
inline bool hasPackedLayout(llvm::StringRef element) { return isStorageType(mlir::parseType(element, &context())); }

/// Memory of one tensor with guard bytes behind it.
class Buffer {
public:
  explicit Buffer(size_t bytes) : bytes(bytes), data(bytes + kGuard, 0xCD) {}
  uint8_t *at() { return data.data(); }
  template <typename T> T *as() { return reinterpret_cast<T *>(data.data()); }
  bool intact() const {
    return std::all_of(data.begin() + bytes, data.end(), [](uint8_t byte) { return byte == 0xCD; });
  }
  size_t bytes;

private:
  static constexpr size_t kGuard = 256;
  std::vector<uint8_t> data;
};

/// What the runtime fills for a step (runtime/api/abi.h), and the pools of one state.
struct Step {
  int64_t rows = 0, paddedRows = 0, logitRows = 0, paddedLogitRows = 0;
  std::vector<int32_t> tokens, positions, rowStart, kvLen, logitIds, tiles, pages, rowSlots;
};

class ProgramRunner {
public:
  ProgramRunner(llvm::StringRef text, llvm::StringRef firstStage, llvm::StringRef shapeClass, llvm::StringRef numerics,
                const CpuLevel &level, llvm::StringRef kvType = "f32") {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
    if (!module) {
      ADD_FAILURE() << "cannot parse the program";
      return;
    }
    PipelineOptions options;
    options.numerics = numerics.str();
    options.shapeClass = shapeClass.str();
    options.kvType = kvType.str();
    mlir::PassManager passes(&context());
    llvm::cantFail(buildStages(passes, host().stages, options, firstStage, "tile"));
    if (failed(passes.run(*module))) {
      ADD_FAILURE() << "the tile stage failed";
      return;
    }
    mlir::OwningOpRef<mlir::ModuleOp> kernels = mlir::ModuleOp::create(module->getLoc());
    for (auto function : module->getOps<mlir::func::FuncOp>())
      if (function->hasAttr("tw.kernel"))
        kernels->push_back(function.clone());
    if (onPtx()) {
      isReady = device.compile(*kernels, numerics);
      return;
    }
    auto objects = compileKernels(*kernels, level);
    if (failed(objects)) {
      ADD_FAILURE() << "cannot compile the kernels for " << level.name.str();
      return;
    }
    objects->push_back(llvm::cantFail(emitMemoryFunctions()));
    llvm::sys::fs::createTemporaryFile("tilewright-kernels", "so", library);
    if (llvm::Error error = linkSharedObject(*objects, library)) {
      ADD_FAILURE() << llvm::toString(std::move(error));
      return;
    }
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    isReady = handle;
    if (!handle)
      ADD_FAILURE() << dlerror();
  }
  ~ProgramRunner() {
    if (handle)
      dlclose(handle);
    llvm::sys::fs::remove(library);
  }
  ProgramRunner(const ProgramRunner &) = delete;
  ProgramRunner &operator=(const ProgramRunner &) = delete;

  bool ready() const { return isReady; }

  /// The bytes of a weight as in its file.
  void setWeight(llvm::StringRef name, llvm::ArrayRef<uint8_t> bytes) {
    auto global = module->lookupSymbol<mlir::ml_program::GlobalOp>(name);
    ASSERT_TRUE(global) << name.str();
    auto element = global->getAttrOfType<mlir::TypeAttr>("tw.element");
    if (!element) {
      weights[name.str()] = buffer(bytes.size());
      std::copy(bytes.begin(), bytes.end(), weights[name.str()]->at());
      return;
    }
    auto shape = global->getAttrOfType<mlir::DenseI64ArrayAttr>("tw.shape").asArrayRef();
    Packer packer(mlir::cast<StorageType>(element.getValue()).getLayout(), shape[0], shape[1]);
    weights[name.str()] = buffer(packer.packedBytes());
    packer.pack({bytes.data(), bytes.size()}, 0, packer.groups(), {weights[name.str()]->at(), packer.packedBytes()});
  }

  /// The state's pools, one per buffer.
  std::vector<std::shared_ptr<Buffer>> pools;

  /// Runs function `name`; arguments as the entry has them. Returns its first result.
  std::shared_ptr<Buffer> run(llvm::StringRef name, llvm::ArrayRef<std::shared_ptr<Buffer>> arguments,
                              const Step &step) {
    current = &step;
    auto results = call(module->lookupSymbol<mlir::func::FuncOp>(name), arguments);
    for (auto &live : all)
      EXPECT_TRUE(live->intact()) << "a kernel wrote behind a buffer";
    all.clear();
    return results.empty() ? nullptr : results[0];
  }

  /// An argument that holds these numbers.
  template <typename T> std::shared_ptr<Buffer> table(const std::vector<T> &data) {
    std::shared_ptr<Buffer> made = buffer(data.size() * sizeof(T));
    std::copy(data.begin(), data.end(), made->template as<T>());
    return made;
  }

  std::shared_ptr<Buffer> buffer(size_t bytes) { return all.emplace_back(std::make_shared<Buffer>(bytes)); }

private:
  int64_t count(llvm::StringRef name) {
    if (tw::RowCount rows = tw::RowCount::parse(name); rows.factor != 1)
      return count(rows.base) * rows.factor;
    if (name == "N")
      return current->paddedRows;
    if (name == "R")
      return current->paddedLogitRows;
    if (name == "rows")
      return current->rows;
    if (name == "T")
      return current->tiles.size() / 8;
    if (name == "P")
      return current->pages.size();
    return 0;
  }

  std::vector<std::shared_ptr<Buffer>> call(mlir::func::FuncOp function,
                                            llvm::ArrayRef<std::shared_ptr<Buffer>> arguments) {
    llvm::DenseMap<mlir::Value, std::shared_ptr<Buffer>> values;
    for (auto [value, argument] : llvm::zip_equal(function.getArguments(), arguments))
      values[value] = argument;
    auto lookup = [&](mlir::ValueRange range) {
      std::vector<std::shared_ptr<Buffer>> found;
      for (mlir::Value value : range)
        found.push_back(values.lookup(value));
      return found;
    };
    for (mlir::Operation &op : function.front()) {
      std::vector<std::shared_ptr<Buffer>> results;
      if (auto load = mlir::dyn_cast<mlir::ml_program::GlobalLoadConstOp>(op)) {
        results = {weights.at(load.getGlobal().getLeafReference().str())};
      } else if (auto called = mlir::dyn_cast<mlir::func::CallOp>(op)) {
        results = call(module->lookupSymbol<mlir::func::FuncOp>(called.getCallee()), lookup(called.getOperands()));
      } else if (mlir::isa<tw::ReshapeOp>(op)) {
        results = lookup(op.getOperands());
      } else if (auto dispatched = mlir::dyn_cast<tw::DispatchOp>(op)) {
        results = dispatch(dispatched, lookup(op.getOperands()));
      } else if (mlir::isa<mlir::func::ReturnOp>(op)) {
        return lookup(op.getOperands());
      } else {
        ADD_FAILURE() << "a program holds " << op.getName().getStringRef().str();
        return {};
      }
      for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
        values[value] = result;
    }
    return {};
  }

  std::vector<std::shared_ptr<Buffer>> dispatch(tw::DispatchOp op, llvm::ArrayRef<std::shared_ptr<Buffer>> operands) {
    auto kernel = module->lookupSymbol<mlir::func::FuncOp>(op.getKernel());
    std::vector<std::shared_ptr<Buffer>> results(op->getNumResults());
    std::vector<void *> slots;
    std::vector<std::pair<void *, size_t>> memory;
    auto pass = [&](void *data, size_t bytes) {
      slots.push_back(data);
      memory.push_back({data, bytes});
    };
    for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i) {
      if (auto symbol = kernel.getArgAttrOfType<mlir::StringAttr>(i, "tw.symbol")) {
        slots.push_back(reinterpret_cast<void *>(count(symbol.getValue())));
        continue;
      }
      auto source = kernel.getArgAttrOfType<mlir::ArrayAttr>(i, "tw.source");
      llvm::StringRef kind = mlir::cast<mlir::StringAttr>(source[0]).getValue();
      auto number = [&](unsigned at) { return mlir::cast<mlir::IntegerAttr>(source[at]).getInt(); };
      if (kind == "operand") {
        pass(operands[number(1)]->at(), operands[number(1)]->bytes);
      } else if (kind == "result") {
        auto type = mlir::cast<mlir::MemRefType>(kernel.getArgumentTypes()[i]);
        int64_t bytes = type.getElementTypeBitWidth() / 8;
        auto dims = kernel.getArgAttrOfType<mlir::ArrayAttr>(i, "tw.dims");
        for (int64_t d = 0; d < type.getRank(); ++d)
          bytes *= type.isDynamicDim(d) ? count(mlir::cast<mlir::StringAttr>(dims[d]).getValue()) : type.getDimSize(d);
        results[number(1)] = buffer(bytes);
        pass(results[number(1)]->at(), bytes);
      } else if (kind == "state") {
        pass(pools[number(2)]->at(), pools[number(2)]->bytes);
      } else {
        llvm::StringRef table = mlir::cast<mlir::StringAttr>(source[1]).getValue();
        const auto &data = table == "tiles" ? current->tiles : table == "pages" ? current->pages : current->rowSlots;
        pass(const_cast<int32_t *>(data.data()), data.size() * sizeof(int32_t));
      }
    }
    llvm::SmallVector<mlir::Attribute> counts;
    mlir::Builder b(&context());
    int64_t tiles = current->tiles.size() / 8;
    for (int64_t value : {current->paddedRows, current->rows, tiles, current->paddedLogitRows})
      counts.push_back(b.getIndexAttr(value));
    llvm::SmallVector<mlir::Attribute> folded;
    EXPECT_TRUE(succeeded(op.getChunks().constantFold(counts, folded)));
    int64_t chunks = mlir::cast<mlir::IntegerAttr>(folded[0]).getInt();
    if (onPtx()) {
      device.run(op.getKernel().str(), slots, memory, 0, chunks);
      return results;
    }
    auto entry = reinterpret_cast<tw_abi_kernel>(dlsym(handle, op.getKernel().str().c_str()));
    if (!entry) {
      ADD_FAILURE() << "no entry " << op.getKernel().str();
      return results;
    }
    // In any order and grouping: the last third first, then the rest one by one from behind.
    int64_t split = chunks - chunks / 3;
    entry(slots.data(), split, chunks);
    for (int64_t chunk = split; chunk-- > 0;)
      entry(slots.data(), chunk, chunk + 1);
    return results;
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallString<128> library;
  void *handle = nullptr;
  PtxDevice device;
  bool isReady = false;
  std::map<std::string, std::shared_ptr<Buffer>> weights;
  std::vector<std::shared_ptr<Buffer>> all;
  const Step *current = nullptr;
};

} // namespace tilewright::test
