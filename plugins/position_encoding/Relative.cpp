// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of the distance between the positions of query and key.
#include "plugins/position_encoding/PositionEncoding.h"

#include "ir/tw/Build.h"
#include "ir/tw/Shapes.h"
#include "plugins/position_encoding/Places.h"

#include <cmath>

namespace tilewright::position_encoding {

using namespace mlir;

namespace {

constexpr int64_t kMostDistances = 65536;

/// The places of a pair of query and key: [T, S] or [B, T, S].
SmallVector<int64_t> pairShape(Value queries, Value keys) {
  SmallVector<int64_t> shape(tw::tensorType(queries).getShape());
  shape.push_back(tw::tensorType(keys).getShape().back());
  return shape;
}

LogicalResult verifyPair(Operation *op, Value queries, Value keys) {
  RankedTensorType q = tw::tensorType(queries), k = tw::tensorType(keys);
  int64_t rank = q.getRank();
  if (rank != k.getRank() || rank < 1 || rank > 2 || (rank == 2 && !tw::dimsAgree(q.getDimSize(0), k.getDimSize(0))))
    return op->emitOpError("wants positions [T] and [S], or [B, T] and [B, S], found ") << q << " and " << k;
  return success();
}

/// key[s] - query[t], exact, in f64: [T, S] or [B, T, S]. As products (1, t) . (s, -1), which need no tensor of that
/// shape.
Value distances(ImplicitLocOpBuilder &b, Value queries, Value keys) {
  auto columns = [&](Value positions, bool isQuery) {
    Value p = tw::castTo(b, positions, b.getF64Type());
    int64_t rank = tw::tensorType(p).getRank();
    Value one = tw::atPlaces(b, p, isQuery ? 1.0 : -1.0, 1);    // [..., 1]
    Value column = tw::broadcast(b, p, one, leadingDims(rank)); // [..., 1]
    return isQuery ? tw::concat(b, rank, {one, column}) : tw::concat(b, rank, {column, one});
  };
  Value q = columns(queries, true), k = columns(keys, false);
  auto type = RankedTensorType::get(pairShape(queries, keys), b.getF64Type());
  return tw::BatchMatmulOp::create(b, type, q, k, /*transpose_b=*/true);
}

/// clamp(key - query, -clip, clip) + clip as indices.
Value clippedOffsets(ImplicitLocOpBuilder &b, Value queries, Value keys, int64_t clip) {
  Value d = distances(b, queries, keys);
  d = tw::MaximumOp::create(b, d, tw::splat(b, -double(clip), d));
  d = tw::MinimumOp::create(b, d, tw::splat(b, double(clip), d));
  return tw::castTo(b, tw::AddOp::create(b, d, tw::splat(b, double(clip), d)), b.getI32Type());
}

/// The bucket of a key that stands `offset` behind its query.
int32_t t5Bucket(int64_t offset, bool bidirectional, int64_t buckets, int64_t maxDistance) {
  int64_t first = 0, distance = std::max<int64_t>(-offset, 0);
  if (bidirectional) {
    buckets /= 2;
    first = offset > 0 ? buckets : 0;
    distance = std::abs(offset);
  }
  int64_t exact = buckets / 2;
  if (distance < exact)
    return first + distance;
  // In f32, as the models were trained: f64 may choose the other side of a border.
  float share = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                static_cast<float>(std::log(double(maxDistance) / double(exact)));
  int64_t far = exact + static_cast<int64_t>(share * static_cast<float>(buckets - exact));
  return first + std::min(far, buckets - 1);
}

/// A slope of each head.
SmallVector<double> alibiSlopes(int64_t heads) {
  int64_t power = llvm::bit_floor(static_cast<uint64_t>(heads));
  SmallVector<double> slopes;
  for (int64_t h = 0; h < heads; ++h)
    slopes.push_back(std::exp2(h < power ? -8.0 * double(h + 1) / double(power)
                                         : -4.0 * double(2 * (h - power) + 1) / double(power)));
  return slopes;
}

} // namespace

LogicalResult OffsetsOp::verify() {
  if (failed(verifyPair(*this, getQueryPositions(), getKeyPositions())) || // (C1)
      failed(verifyShape(*this, getType(), pairShape(getQueryPositions(), getKeyPositions()))))
    return failure();
  if (getClip() < 0 || getClip() > int64_t(1) << 30) // (C2)
    return emitOpError("wants a clip of 0 to 2^30, found ") << getClip();
  return success();
}

FailureOr<SmallVector<Value>> OffsetsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  return SmallVector<Value>{clippedOffsets(b, getQueryPositions(), getKeyPositions(), getClip())};
}

NumericsBound OffsetsOp::getNumericsBound(StringRef) { return {}; }

LogicalResult T5BucketsOp::verify() {
  if (failed(verifyPair(*this, getQueryPositions(), getKeyPositions())) || // (C1)
      failed(verifyShape(*this, getType(), pairShape(getQueryPositions(), getKeyPositions()))))
    return failure();
  int64_t buckets = getNumBuckets(), least = getBidirectional() ? 4 : 2;
  if (buckets < least || buckets > kMostDistances || (getBidirectional() && buckets % 2 != 0)) // (C2)
    return emitOpError("wants ") << (getBidirectional() ? "an even number of " : "") << "num_buckets from " << least
                                 << " to " << kMostDistances << ", found " << buckets;
  int64_t exact = buckets / least;
  if (getMaxDistance() <= exact || getMaxDistance() > kMostDistances) // (C3)
    return emitOpError("wants a max_distance above ")
           << exact << " and at most " << kMostDistances << ", found " << getMaxDistance();
  return success();
}

FailureOr<SmallVector<Value>> T5BucketsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  // From max_distance on nothing changes: a table of all buckets up to there.
  int64_t far = getMaxDistance();
  SmallVector<float> buckets;
  for (int64_t offset = -far; offset <= far; ++offset)
    buckets.push_back(t5Bucket(offset, getBidirectional(), getNumBuckets(), far));
  auto type = RankedTensorType::get({int64_t(buckets.size())}, b.getF32Type());
  Value table = tw::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<float>(buckets)));
  Value offsets = clippedOffsets(b, getQueryPositions(), getKeyPositions(), far);
  Value found = tw::GatherOp::create(b, type.clone(tw::tensorType(offsets).getShape()), table, offsets);
  return SmallVector<Value>{tw::castTo(b, found, b.getI32Type())};
}

NumericsBound T5BucketsOp::getNumericsBound(StringRef) { return {}; }

SmallVector<int64_t> biasShape(ArrayRef<int64_t> pairs, int64_t heads) {
  SmallVector<int64_t> shape(pairs);
  if (shape.size() == 2)
    shape.insert(shape.begin(), 1);
  shape.insert(shape.begin() + 1, heads);
  return shape;
}

/// [T, S, heads, 1] or [B, T, S, heads] as [1, heads, T, S] or [B, heads, T, S].
static Value headsFirst(ImplicitLocOpBuilder &b, Value perPlace, bool isBatched) {
  return tw::transpose(b, perPlace, isBatched ? ArrayRef<int64_t>{0, 3, 1, 2} : ArrayRef<int64_t>{3, 2, 0, 1});
}

LogicalResult AlibiOp::verify() {
  if (getHeads() < 1 || getHeads() > kMostDistances) // (C2)
    return emitOpError("wants heads from 1 to ") << kMostDistances << ", found " << getHeads();
  if (failed(verifyPair(*this, getQueryPositions(), getKeyPositions()))) // (C1)
    return failure();
  return verifyShape(*this, getType(),
                     biasShape(pairShape(getQueryPositions(), getKeyPositions()), getHeads())); // (C1)
}

FailureOr<SmallVector<Value>> AlibiOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value d = distances(b, getQueryPositions(), getKeyPositions());
  bool isBatched = tw::tensorType(d).getRank() == 3;
  if (getSymmetric())
    d = tw::NegOp::create(b, tw::AbsOp::create(b, d));
  SmallVector<int64_t> row = {getHeads()};
  if (!isBatched)
    row.push_back(1);
  Value slopes = headsFirst(b, tw::atPlaces(b, d, alibiSlopes(getHeads()), row), isBatched);
  Value repeated = tw::broadcast(b, d, slopes, isBatched ? ArrayRef<int64_t>{0, 2, 3} : ArrayRef<int64_t>{2, 3});
  return SmallVector<Value>{tw::castTo(b, tw::MulOp::create(b, slopes, repeated), getType().getElementType())};
}

NumericsBound AlibiOp::getNumericsBound(StringRef) {
  return {0.0, getType().getElementTypeBitWidth() < 32 ? 1e-2 : 1e-6};
}

LogicalResult RelationBiasOp::verify() {
  RankedTensorType relation = getRelation().getType(), table = getTable().getType();
  if (relation.getRank() < 2 || relation.getRank() > 3 || table.getRank() != 2 || table.isDynamicDim(1)) // (C1)
    return emitOpError("wants a relation [T, S] or [B, T, S] and a table [R, H] of static H, found ")
           << relation << " and " << table;
  if (failed(verifyShape(*this, getType(), biasShape(relation.getShape(), table.getDimSize(1))))) // (C2)
    return failure();
  if (getType().getElementType() != table.getElementType()) // (C2)
    return emitOpError("has the result ")
           << getType() << ", wanted the element type of the table, " << table.getElementType();
  return success();
}

FailureOr<SmallVector<Value>> RelationBiasOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType relation = getRelation().getType(), type = getTable().getType();
  bool isBatched = relation.getRank() == 3;
  Value table = getTable();
  SmallVector<int64_t> shape(relation.getShape());
  shape.push_back(type.getDimSize(1));
  if (!isBatched) {
    table = tw::reshape(b, table, {type.getDimSize(0), type.getDimSize(1), 1});
    shape.push_back(1);
  }
  Value perPlace = tw::GatherOp::create(b, type.clone(shape), table, getRelation());
  return SmallVector<Value>{headsFirst(b, perPlace, isBatched)};
}

NumericsBound RelationBiasOp::getNumericsBound(StringRef) {
  return {}; // numbers are copied
}

} // namespace tilewright::position_encoding
