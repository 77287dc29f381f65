// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/FloatStorage.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tile/Tile.h"

#include <cstring>

using namespace mlir;

namespace tilewright {

namespace {

constexpr int64_t kBlock = 32, kRows = 16, kBytes = 4;

struct F32Storage : StorageType::ExternalModel<F32Storage, Float32Type> {
  int64_t getBlockElements(Type) const { return kBlock; }
  int64_t getBlockBytes(Type) const { return kBlock * kBytes; }

  void decodeBlock(Type, const uint8_t *bytes, float *out) const { std::memcpy(out, bytes, kBlock * kBytes); }

  LayoutDescriptor getLayout(Type) const {
    LayoutDescriptor layout;
    layout.name = "f32_16x32";
    layout.blockElements = kBlock;
    layout.blockBytes = kBlock * kBytes;
    layout.rowsPerGroup = kRows;
    LayoutField field;
    field.bits = 32;
    field.splits = {{static_cast<uint32_t>(kBlock), 32}};
    field.order = {0, LayoutField::kRow};
    layout.fields = {field};
    return layout;
  }

  Value emitLoadF32(Type, OpBuilder &b, Location loc, Value packed, Value group, Value block) const {
    auto type = RankedTensorType::get({kBlock, kRows}, b.getF32Type());
    return tile::LoadFieldOp::create(b, loc, type, packed, ValueRange{group, block}, 0);
  }

  FailureOr<IntegerTile> emitLoadInteger(Type, OpBuilder &, Location, Value, Value, Value) const { return failure(); }
};

} // namespace

// Attaching again is no error; the first model stays. The type itself may not exist yet.
void attachFloatStorage(MLIRContext &context) { Float32Type::attachInterface<F32Storage>(context); }

} // namespace tilewright
