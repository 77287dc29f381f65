// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Quantization.h"

#include "plugins/quantization/Format.h"
#include "plugins/quantization/TileLoads.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "plugins/quantization/QuantizationDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "plugins/quantization/QuantizationTypes.cpp.inc"

namespace tilewright::quantization {

using namespace mlir;

void QuantizationDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "plugins/quantization/QuantizationTypes.cpp.inc"
      >();
}

// The methods of a storage type are those of its format.
#define STORAGE_TYPE(Type, kind)                                                                                       \
  int64_t Type::getBlockElements() const { return format(kind).blockElements; }                                        \
  int64_t Type::getBlockBytes() const { return format(kind).blockBytes; }                                              \
  void Type::decodeBlock(const uint8_t *bytes, float *out) const {                                                     \
    quantization::decodeBlock(format(kind), bytes, out);                                                               \
  }                                                                                                                    \
  LayoutDescriptor Type::getLayout() const { return packedLayout(format(kind)); }                                      \
  Value Type::emitLoadF32(OpBuilder &builder, Location loc, Value packed, Value group, Value block) const {            \
    return quantization::emitLoadF32(format(kind), builder, loc, packed, group, block);                                \
  }                                                                                                                    \
  FailureOr<IntegerTile> Type::emitLoadInteger(OpBuilder &builder, Location loc, Value packed, Value group,            \
                                               Value block) const {                                                    \
    return quantization::emitLoadInteger(format(kind), builder, loc, packed, group, block);                            \
  }

STORAGE_TYPE(Q4_0Type, FormatKind::Q4_0)
STORAGE_TYPE(Q4_1Type, FormatKind::Q4_1)
STORAGE_TYPE(Q8_0Type, FormatKind::Q8_0)
STORAGE_TYPE(Int8Type, FormatKind::Int8)
#undef STORAGE_TYPE

namespace {
template <typename Half, FormatKind kind>
struct HalfStorage : StorageType::ExternalModel<HalfStorage<Half, kind>, Half> {
  int64_t getBlockElements(Type) const { return format(kind).blockElements; }
  int64_t getBlockBytes(Type) const { return format(kind).blockBytes; }
  void decodeBlock(Type, const uint8_t *bytes, float *out) const {
    quantization::decodeBlock(format(kind), bytes, out);
  }
  LayoutDescriptor getLayout(Type) const { return packedLayout(format(kind)); }
  Value emitLoadF32(Type, OpBuilder &builder, Location loc, Value packed, Value group, Value block) const {
    return quantization::emitLoadF32(format(kind), builder, loc, packed, group, block);
  }
  FailureOr<IntegerTile> emitLoadInteger(Type, OpBuilder &, Location, Value, Value, Value) const { return failure(); }
};
} // namespace

void attachHalfStorage(MLIRContext &context) {
  Float16Type::attachInterface<HalfStorage<Float16Type, FormatKind::F16>>(context);
  BFloat16Type::attachInterface<HalfStorage<BFloat16Type, FormatKind::BF16>>(context);
}

} // namespace tilewright::quantization
