// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/FloatStorage.h"

#include "ir/interfaces/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
    auto index = [&](int64_t v) -> OpFoldResult { return b.getIndexAttr(v); };
    SmallVector<OpFoldResult> offsets = {group, block, index(0)}, sizes = {index(1), index(1), index(kBlock * kRows * kBytes)},
                              strides(3, index(1));
    auto flat = RankedTensorType::get({kBlock * kRows * kBytes}, b.getI8Type());
    Value bytes = tensor::ExtractSliceOp::create(b, loc, flat, packed, offsets, sizes, strides);
    auto split = RankedTensorType::get({kBlock, kRows, kBytes}, b.getI8Type()); // [k, row, byte]
    bytes = tensor::ExpandShapeOp::create(b, loc, split, bytes, SmallVector<ReassociationIndices>{{0, 1, 2}});

    AffineExpr k = b.getAffineDimExpr(0), row = b.getAffineDimExpr(1);
    SmallVector<AffineMap> maps;
    for (int64_t byte = 0; byte < kBytes; ++byte)
      maps.push_back(AffineMap::get(2, 0, {k, row, b.getAffineConstantExpr(byte)}, b.getContext()));
    maps.push_back(b.getMultiDimIdentityMap(2));
    auto type = RankedTensorType::get({kBlock, kRows}, b.getF32Type());
    Value init = tensor::EmptyOp::create(b, loc, type, ValueRange());
    SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, loc, type, SmallVector<Value>(kBytes, bytes), init, maps, parallel,
        [](OpBuilder &b, Location loc, ValueRange args) {
          Value word;
          for (int64_t byte = 0; byte < kBytes; ++byte) {
            Value part = arith::ExtUIOp::create(b, loc, b.getI32Type(), args[byte]);
            if (byte == 0) {
              word = part;
              continue;
            }
            Value shift = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 8 * byte);
            word = arith::OrIOp::create(b, loc, word, arith::ShLIOp::create(b, loc, part, shift));
          }
          Value number = arith::BitcastOp::create(b, loc, b.getF32Type(), word);
          linalg::YieldOp::create(b, loc, number);
        });
    return generic.getResult(0);
  }

  FailureOr<IntegerTile> emitLoadInteger(Type, OpBuilder &, Location, Value, Value, Value) const { return failure(); }
};

} // namespace

void attachFloatStorage(MLIRContext &context) { Float32Type::attachInterface<F32Storage>(context); }

} // namespace tilewright
