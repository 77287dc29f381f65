// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-kernel-entry: the entry `void NAME(void *const *args, int64_t begin, int64_t end)` of each public kernel
// (tw_abi_kernel in runtime/api/abi.h), which calls the kernel's body NAME.body.
//
// args[i] is, for the i-th argument of the kernel without the two trailing ones, the data pointer of a memref, or the
// value of an index or scalar in a 64-bit slot. A memref's dynamic sizes are named by its attribute `tw.dims` (an array
// of symbols and numbers, one per dimension); the index argument with attribute `tw.symbol = "N"` carries the value of N.
// The outermost size needs no symbol unless the kernel asks for it.
#include "backends/cpu/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace {

class CpuKernelEntry : public PassWrapper<CpuKernelEntry, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuKernelEntry)
  StringRef getArgument() const override { return "cpu-kernel-entry"; }
  StringRef getDescription() const override { return "Add the entries that the runtime calls"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal())
        kernels.push_back(func);
    for (func::FuncOp kernel : kernels)
      if (failed(addEntry(kernel)))
        return signalPassFailure();
  }

private:
  /// Index arguments by the symbol they carry.
  using Symbols = llvm::StringMap<unsigned>;

  static LogicalResult checkSignature(func::FuncOp kernel, Symbols &symbols) {
    FunctionType type = kernel.getFunctionType();
    unsigned count = type.getNumInputs();
    if (type.getNumResults() != 0)
      return kernel.emitError("kernel has ") << type.getNumResults() << " results, wanted none";
    if (count < 2 || !type.getInput(count - 1).isIndex() || !type.getInput(count - 2).isIndex())
      return kernel.emitError("kernel's last two arguments are not the index range of chunks");
    for (unsigned i = 0; i + 2 < count; ++i) {
      Type input = type.getInput(i);
      auto memref = dyn_cast<MemRefType>(input);
      if (memref ? !memref.getLayout().isIdentity() || memref.getMemorySpace() : !input.isIntOrIndexOrFloat())
        return kernel.emitError("kernel argument ") << i << " is " << input
                                                    << ", wanted a memref with identity layout, an index or a scalar";
      if (!memref && !input.isIndex() && input.getIntOrFloatBitWidth() > 64)
        return kernel.emitError("kernel argument ") << i << " is " << input << ", which does not fit a 64-bit slot";
      if (auto symbol = kernel.getArgAttrOfType<StringAttr>(i, "tw.symbol")) {
        if (!input.isIndex())
          return kernel.emitError("kernel argument ") << i << " carries symbol '" << symbol.getValue() << "' but is "
                                                      << input << ", wanted index";
        if (!symbols.try_emplace(symbol.getValue(), i).second)
          return kernel.emitError("symbol '") << symbol.getValue() << "' is carried by two arguments";
      }
    }
    return success();
  }

  LogicalResult addEntry(func::FuncOp kernel) {
    Symbols symbols;
    if (failed(checkSignature(kernel, symbols)))
      return failure();
    MLIRContext *context = &getContext();
    Location loc = kernel.getLoc();
    std::string name = kernel.getName().str();
    OpBuilder builder(kernel);
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = builder.getI64Type();
    auto entry = func::FuncOp::create(builder, loc, name, builder.getFunctionType({pointer, i64, i64}, {}));
    kernel.setName(name + ".body");
    kernel.setPrivate();
    Block *block = entry.addEntryBlock();
    builder.setInsertionPointToStart(block);
    LLVMTypeConverter converter(context);

    SmallVector<Value> slots;
    unsigned count = kernel.getNumArguments();
    for (unsigned i = 0; i + 2 < count; ++i)
      slots.push_back(LLVM::GEPOp::create(builder, loc, pointer, i64, block->getArgument(0), ArrayRef<LLVM::GEPArg>(i)));
    SmallVector<Value> arguments;
    for (unsigned i = 0; i + 2 < count; ++i) {
      Type type = kernel.getArgument(i).getType();
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref) {
        arguments.push_back(loadScalar(builder, loc, type, slots[i]));
        continue;
      }
      FailureOr<SmallVector<Value>> sizes = sizesOf(builder, kernel, i, memref, symbols, slots);
      if (failed(sizes))
        return failure();
      arguments.push_back(describe(builder, loc, converter, memref, slots[i], *sizes));
    }
    for (unsigned i : {1, 2})
      arguments.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), block->getArgument(i)));
    func::CallOp::create(builder, loc, kernel, arguments);
    func::ReturnOp::create(builder, loc);
    // LLVM knows nothing of these.
    for (unsigned i = 0; i < count; ++i)
      if (DictionaryAttr attrs = kernel.getArgAttrDict(i))
        for (NamedAttribute attr : attrs)
          if (attr.getName().strref().starts_with("tw."))
            kernel.removeArgAttr(i, attr.getName());
    return success();
  }

  static Value loadScalar(OpBuilder &builder, Location loc, Type type, Value slot) {
    Type loaded = type.isIndex() ? builder.getI64Type() : type;
    Value value = LLVM::LoadOp::create(builder, loc, loaded, slot);
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, type, value);
    return value;
  }

  static bool readsOuterSize(Value argument) {
    return llvm::any_of(argument.getUsers(), [](Operation *user) {
      auto dim = dyn_cast<memref::DimOp>(user);
      return dim && dim.getConstantIndex().value_or(0) == 0;
    });
  }

  /// Sizes of a memref argument as i64 values.
  static FailureOr<SmallVector<Value>> sizesOf(OpBuilder &builder, func::FuncOp kernel, unsigned index, MemRefType type,
                                               const Symbols &symbols, ArrayRef<Value> slots) {
    Location loc = kernel.getLoc();
    Type i64 = builder.getI64Type();
    auto dims = kernel.getArgAttrOfType<ArrayAttr>(index, "tw.dims");
    if (dims && static_cast<int64_t>(dims.size()) != type.getRank())
      return kernel.emitError("kernel argument ") << index << " has rank " << type.getRank() << " but " << dims.size()
                                                  << " entries in tw.dims";
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim)) {
        sizes.push_back(LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(type.getDimSize(dim))));
        continue;
      }
      auto symbol = dims ? dyn_cast<StringAttr>(dims[dim]) : StringAttr();
      auto found = symbol ? symbols.find(symbol.getValue()) : symbols.end();
      if (found != symbols.end()) {
        sizes.push_back(LLVM::LoadOp::create(builder, loc, i64, slots[found->second]));
        continue;
      }
      // No address depends on the outermost size; a kernel that asks for it needs the symbol's value.
      if (dim == 0 && !readsOuterSize(kernel.getArgument(index))) {
        sizes.push_back(LLVM::PoisonOp::create(builder, loc, i64));
        continue;
      }
      if (!symbol)
        return kernel.emitError("kernel argument ") << index << ": dimension " << dim << " of " << type
                                                    << " is dynamic, but tw.dims names no symbol for it";
      return kernel.emitError("kernel argument ") << index << ": no index argument carries symbol '" << symbol.getValue()
                                                  << "' (tw.symbol)";
    }
    return sizes;
  }

  static Value describe(OpBuilder &builder, Location loc, const LLVMTypeConverter &converter, MemRefType type, Value slot,
                        ArrayRef<Value> sizes) {
    Value data = LLVM::LoadOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), slot);
    Type i64 = builder.getI64Type();
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value));
    };
    auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
    descriptor.setAllocatedPtr(builder, loc, data);
    descriptor.setAlignedPtr(builder, loc, data);
    descriptor.setOffset(builder, loc, constant(0));
    Value stride = constant(1);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      descriptor.setSize(builder, loc, dim, sizes[dim]);
      descriptor.setStride(builder, loc, dim, stride);
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[dim]);
    }
    return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuKernelEntryPass() { return std::make_unique<CpuKernelEntry>(); }
