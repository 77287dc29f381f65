// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/api/KernelSignature.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright {

FailureOr<KernelSignature> KernelSignature::of(func::FuncOp kernel) {
  KernelSignature signature(kernel);
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
      return kernel.emitError("kernel argument ")
             << i << " is " << input << ", wanted a memref with identity layout, an index or a scalar";
    if (!memref && !input.isIndex() && input.getIntOrFloatBitWidth() > 64)
      return kernel.emitError("kernel argument ") << i << " is " << input << ", which does not fit a 64-bit slot";
    if (auto symbol = kernel.getArgAttrOfType<StringAttr>(i, "tw.symbol")) {
      if (!input.isIndex())
        return kernel.emitError("kernel argument ")
               << i << " carries symbol '" << symbol.getValue() << "' but is " << input << ", wanted index";
      if (!signature.symbols.try_emplace(symbol.getValue(), i).second)
        return kernel.emitError("symbol '") << symbol.getValue() << "' is carried by two arguments";
    }
  }
  return signature;
}

static bool readsOuterSize(Value argument) {
  return llvm::any_of(argument.getUsers(), [](Operation *user) {
    auto dim = dyn_cast<memref::DimOp>(user);
    return dim && dim.getConstantIndex().value_or(0) == 0;
  });
}

/// Sizes of a memref argument as i64 values.
FailureOr<SmallVector<Value>> KernelSignature::sizesOf(OpBuilder &builder, unsigned index,
                                                       llvm::function_ref<Value(unsigned)> symbolValue) const {
  Location loc = kernel.getLoc();
  Type i64 = builder.getI64Type();
  auto type = cast<MemRefType>(kernel.getFunctionType().getInput(index));
  auto dims = kernel.getArgAttrOfType<ArrayAttr>(index, "tw.dims");
  if (dims && static_cast<int64_t>(dims.size()) != type.getRank())
    return kernel.emitError("kernel argument ")
           << index << " has rank " << type.getRank() << " but " << dims.size() << " entries in tw.dims";
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      sizes.push_back(LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(type.getDimSize(dim))));
      continue;
    }
    auto symbol = dims ? dyn_cast<StringAttr>(dims[dim]) : StringAttr();
    auto found = symbol ? symbols.find(symbol.getValue()) : symbols.end();
    if (found != symbols.end()) {
      sizes.push_back(symbolValue(found->second));
      continue;
    }
    // No address depends on the outermost size; a kernel that asks for it needs the symbol's value.
    if (dim == 0 && !readsOuterSize(kernel.getArgument(index))) {
      sizes.push_back(LLVM::PoisonOp::create(builder, loc, i64));
      continue;
    }
    if (!symbol)
      return kernel.emitError("kernel argument ")
             << index << ": dimension " << dim << " of " << type << " is dynamic, but tw.dims names no symbol for it";
    return kernel.emitError("kernel argument ")
           << index << ": no index argument carries symbol '" << symbol.getValue() << "' (tw.symbol)";
  }
  return sizes;
}

FailureOr<Value> KernelSignature::buffer(OpBuilder &builder, unsigned index, Value data,
                                         llvm::function_ref<Value(unsigned)> symbol) const {
  FailureOr<SmallVector<Value>> sizes = sizesOf(builder, index, symbol);
  if (failed(sizes))
    return failure();
  Location loc = kernel.getLoc();
  auto type = cast<MemRefType>(kernel.getFunctionType().getInput(index));
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value));
  };
  LLVMTypeConverter converter(builder.getContext());
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  descriptor.setOffset(builder, loc, constant(0));
  Value stride = constant(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    descriptor.setSize(builder, loc, dim, (*sizes)[dim]);
    descriptor.setStride(builder, loc, dim, stride);
    stride = LLVM::MulOp::create(builder, loc, stride, (*sizes)[dim]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
}

void KernelSignature::removeAttributes() {
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (DictionaryAttr attrs = kernel.getArgAttrDict(i))
      for (NamedAttribute attr : attrs)
        if (attr.getName().strref().starts_with("tw."))
          kernel.removeArgAttr(i, attr.getName());
}

} // namespace tilewright
