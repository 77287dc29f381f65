// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Quantization.h"

#include "plugins/quantization/Encode.h"
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

static RowEncoding rowEncoding(const Format &format) {
  if (!canEncode(format))
    return RowEncoding::None;
  return format.hasScale ? RowEncoding::Blocks : RowEncoding::ScaledRows;
}

// The methods of a storage type are those of its format.
#define STORAGE_TYPE(Type, kind)                                                                                       \
  int64_t Type::getBlockElements() const { return format(kind).blockElements; }                                        \
  int64_t Type::getBlockBytes() const { return format(kind).blockBytes; }                                              \
  void Type::decodeBlock(const uint8_t *bytes, float *out) const {                                                     \
    quantization::decodeBlock(format(kind), bytes, out);                                                               \
  }                                                                                                                    \
  LayoutDescriptor Type::getLayout() const { return packedLayout(format(kind)); }                                      \
  Value Type::emitLoadF32(OpBuilder &builder, Location loc, Value packed, Value group, Value step) const {             \
    return quantization::emitLoadF32(format(kind), builder, loc, packed, group, step);                                 \
  }                                                                                                                    \
  FailureOr<IntegerTile> Type::emitLoadInteger(OpBuilder &builder, Location loc, Value packed, Value group,            \
                                               Value step) const {                                                     \
    return quantization::emitLoadInteger(format(kind), builder, loc, packed, group, step);                             \
  }                                                                                                                    \
  RowEncoding Type::getRowEncoding() const { return rowEncoding(format(kind)); }                                       \
  float Type::encodeRow(ArrayRef<float> row, uint8_t *bytes) const {                                                   \
    return quantization::encodeRow(format(kind), row, bytes);                                                          \
  }

STORAGE_TYPE(Q4_0Type, FormatKind::Q4_0)
STORAGE_TYPE(Q4_1Type, FormatKind::Q4_1)
STORAGE_TYPE(Q5_0Type, FormatKind::Q5_0)
STORAGE_TYPE(Q5_1Type, FormatKind::Q5_1)
STORAGE_TYPE(Q8_0Type, FormatKind::Q8_0)
STORAGE_TYPE(Q2_KType, FormatKind::Q2_K)
STORAGE_TYPE(Q3_KType, FormatKind::Q3_K)
STORAGE_TYPE(Q4_KType, FormatKind::Q4_K)
STORAGE_TYPE(Q5_KType, FormatKind::Q5_K)
STORAGE_TYPE(Q6_KType, FormatKind::Q6_K)
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
  Value emitLoadF32(Type, OpBuilder &builder, Location loc, Value packed, Value group, Value step) const {
    return quantization::emitLoadF32(format(kind), builder, loc, packed, group, step);
  }
  FailureOr<IntegerTile> emitLoadInteger(Type, OpBuilder &, Location, Value, Value, Value) const { return failure(); }
};
} // namespace

void attachHalfStorage(MLIRContext &context) {
  Float16Type::attachInterface<HalfStorage<Float16Type, FormatKind::F16>>(context);
  BFloat16Type::attachInterface<HalfStorage<BFloat16Type, FormatKind::BF16>>(context);
}

} // namespace tilewright::quantization
