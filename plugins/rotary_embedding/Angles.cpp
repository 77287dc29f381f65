// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rotary_embedding.tables and rotary_embedding.apply, and the angles that all forms share.
#include "plugins/rotary_embedding/Angles.h"

#include "ir/tw/Build.h"
#include "ir/tw/Shapes.h"
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include <cmath>
#include <numeric>

namespace tilewright::rotary_embedding {

using namespace mlir;

SmallVector<double> angleRates(double base, int64_t rotaryDim) {
  SmallVector<double> rates;
  for (int64_t i = 0; i < rotaryDim / 2; ++i)
    rates.push_back(std::pow(base, -2.0 * double(i) / double(rotaryDim)));
  return rates;
}

/// Which of a row's positions pair `pair` follows; sections and layout as of rotary_embedding.rotate, valid.
static int64_t sectionOf(int64_t pair, ArrayRef<int64_t> sections, StringRef layout) {
  int64_t count = sections.size();
  if (layout == "interleaved")
    return pair < count * sections[pair % count] ? pair % count : 0;
  int64_t section = 0;
  for (int64_t end = sections[0]; pair >= end; end += sections[section])
    ++section;
  return section;
}

SmallVector<SmallVector<double>> ratesBySection(ArrayRef<double> rates, std::optional<ArrayRef<int64_t>> sections,
                                                StringRef layout) {
  SmallVector<SmallVector<double>> table(sections ? sections->size() : 1, SmallVector<double>(rates.size()));
  for (auto [pair, rate] : llvm::enumerate(rates))
    table[sections ? sectionOf(pair, *sections, layout) : 0][pair] = rate;
  return table;
}

LogicalResult verifyAngles(Operation *op, double base, double attentionFactor, int64_t rotaryDim,
                           ArrayRef<int64_t> rows, Value factors, std::optional<ArrayRef<int64_t>> sections,
                           StringRef sectionLayout) {
  if (!std::isfinite(base) || base <= 0)
    return op->emitOpError("wants a finite base above 0, found ") << base;
  if (!std::isfinite(attentionFactor) || attentionFactor <= 0)
    return op->emitOpError("wants a finite attention_factor above 0, found ") << attentionFactor;
  int64_t pairs = rotaryDim / 2;
  if (factors) {
    auto type = cast<RankedTensorType>(factors.getType());
    SmallVector<int64_t> forEachRow(rows);
    forEachRow.push_back(pairs);
    if (type.getRank() == 0 || type.getShape().back() != pairs ||
        (type.getRank() != 1 && !tw::shapesAgree(type.getShape(), forEachRow)))
      return op->emitOpError("wants factors of shape [") << pairs << "] or [rows..., " << pairs << "], found " << type;
  }
  if (!sections)
    return success();
  int64_t sum = 0;
  for (int64_t section : *sections) {
    if (section < 0 || section > pairs)
      return op->emitOpError("has a section of ") << section << " pairs, wanted 0 to " << pairs;
    sum += section;
  }
  if (sections->empty() || sum != pairs)
    return op->emitOpError("has sections with the sum ") << sum << ", wanted rotary_dim / 2 = " << pairs;
  int64_t count = sections->size();
  if (sectionLayout == "interleaved")
    for (int64_t k = 1; k < count; ++k)
      if (int64_t last = count * ((*sections)[k] - 1) + k; (*sections)[k] > 0 && last >= pairs)
        return op->emitOpError("has an interleaved section ")
               << k << " whose last pair is " << last << ", of " << pairs;
  return success();
}

/// Column columns[j] of the last dimension as column j.
static Value pickColumns(ImplicitLocOpBuilder &b, Value input, ArrayRef<int32_t> columns) {
  RankedTensorType type = tw::tensorType(input);
  auto idType = RankedTensorType::get({int64_t(columns.size())}, b.getI32Type());
  Value ids = tw::ConstantOp::create(b, idType, DenseElementsAttr::get(idType, columns));
  // As rows of the transpose: no reshape, so any dimension may be dynamic.
  SmallVector<int64_t> toFront = {type.getRank() - 1}, toBack;
  for (int64_t i = 0; i + 1 < type.getRank(); ++i) {
    toFront.push_back(i);
    toBack.push_back(i + 1);
  }
  toBack.push_back(0);
  Value rows = tw::transpose(b, input, toFront);
  SmallVector<int64_t> shape(tw::tensorType(rows).getShape());
  shape[0] = columns.size();
  return tw::transpose(b, tw::GatherOp::create(b, type.clone(shape), rows, ids), toBack);
}

LogicalResult TablesOp::verify() {
  RankedTensorType positions = getPositions().getType(), table = getCosine().getType();
  ArrayRef<int64_t> rows = positions.getShape();
  bool hasEntries = true;
  if (auto sections = getSections()) {
    hasEntries = !rows.empty() && rows.front() == int64_t(sections->size());
    rows = rows.drop_front(rows.empty() ? 0 : 1);
  }
  SmallVector<int64_t> wanted(rows);
  wanted.push_back(getDim());
  if (getDim() < 2 || getDim() % 2 != 0) // (C1)
    return emitOpError("wants an even dim of at least 2, found ") << getDim();
  if (!hasEntries || table.getRank() != int64_t(wanted.size()) || !tw::shapesAgree(table.getShape(), wanted) ||
      table.getShape().back() != getDim()) // (C1)
    return emitOpError("has tables ") << table << " for positions " << positions << " and dim " << getDim()
                                      << (getSections() ? ", with one entry of the first dimension for each section"
                                                        : "");
  return verifyAngles(*this, getBase().convertToDouble(), getAttentionFactor().convertToDouble(), getDim(), rows,
                      getFactors(), getSections(), getSectionLayout()); // (C2) (C3) (C4)
}

FailureOr<SmallVector<Value>> TablesOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Type f64 = b.getF64Type();
  Value positions = tw::castTo(b, getPositions(), f64); // [...], with sections [C, ...]
  SmallVector<int32_t> pairOf;                          // of each of dim elements
  for (int64_t j = 0; j < getDim(); ++j)
    pairOf.push_back(getLayout() == "interleaved" ? j / 2 : j % (getDim() / 2));
  Value factors;
  if (getFactors())
    factors = tw::castTo(b, pickColumns(b, getFactors(), pairOf), f64); // [dim] or [..., dim]
  Value angle;                                                          // [..., dim]
  auto ratesOf = ratesBySection(angleRates(getBase().convertToDouble(), getDim()), getSections(), getSectionLayout());
  for (size_t k = 0; k < ratesOf.size(); ++k) {
    Value own = positions; // [...]
    if (getSections())
      own = tw::reduce(b, "sum", tw::slice(b, positions, 0, k, 1), {0});
    SmallVector<double> ownRates = llvm::map_to_vector(pairOf, [&](int32_t pair) { return ratesOf[k][pair]; });
    Value rows = tw::atPlaces(b, own, ownRates, getDim());
    Value turned = tw::MulOp::create(
        b, tw::broadcast(b, own, rows, llvm::to_vector(llvm::seq<int64_t>(0, tw::tensorType(own).getRank()))), rows);
    angle = angle ? tw::AddOp::create(b, angle, turned).getResult() : turned;
  }
  if (factors && tw::tensorType(factors).getRank() == 1)
    factors = tw::broadcast(b, factors, angle, {tw::tensorType(angle).getRank() - 1});
  if (factors)
    angle = tw::DivOp::create(b, angle, factors);
  double scale = getAttentionFactor().convertToDouble();
  SmallVector<Value> tables = {tw::CosOp::create(b, angle), tw::SinOp::create(b, angle)};
  for (Value &table : tables) {
    if (scale != 1.0)
      table = tw::MulOp::create(b, table, tw::splat(b, scale, table));
    table = tw::castTo(b, table, getCosine().getType().getElementType());
  }
  return tables;
}

NumericsBound TablesOp::getNumericsBound(StringRef mode) {
  bool narrow = getCosine().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 2e-6 : 1e-5};
}

LogicalResult ApplyOp::verify() {
  RankedTensorType input = getInput().getType(), table = getCosine().getType();
  int64_t rank = input.getRank(), rows = table.getRank() - 1;
  if (!(rank == 3 && rows == 1) && !(rank == 4 && (rows == 1 || rows == 2))) // (C1)
    return emitOpError("wants an input [N, H, D] with tables [N, r], or [B, H, T, D] with [B, T, r] or [T, r]; found ")
           << input << " and " << table;
  if (input.isDynamicDim(rank - 1)) // (C1)
    return emitOpError("wants a static last dimension, found ") << input;
  for (auto [k, dim] : llvm::enumerate(rowDims(rank, rows))) // (C1)
    if (!tw::dimsAgree(table.getDimSize(k), input.getDimSize(dim)))
      return emitOpError("has tables of ") << table.getDimSize(k) << " rows along dimension " << dim
                                           << " of the input, wanted " << input.getDimSize(dim);
  int64_t width = table.getShape().back();
  if (ShapedType::isDynamic(width) || width % 2 != 0 || width > input.getShape().back()) // (C2)
    return emitOpError("wants an even, static last dimension of the tables, at most ")
           << input.getShape().back() << ", found " << table;
  return success();
}

FailureOr<SmallVector<Value>> ApplyOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType type = getType(), table = getCosine().getType();
  int64_t last = type.getRank() - 1, width = type.getShape().back(), rotary = table.getShape().back(),
          half = rotary / 2;
  if (rotary == 0)
    return SmallVector<Value>{getInput()};
  Type element = type.getElementType(), inner = tw::wideFloat(element);
  Value x = tw::castTo(b, getInput(), inner), front = tw::slice(b, x, last, 0, rotary);

  // Each element's partner in its pair: [..., r].
  Value partner;
  if (getLayout() == "half") {
    partner = tw::concat(b, last, {tw::slice(b, x, last, half, half), tw::slice(b, x, last, 0, half)});
  } else {
    SmallVector<int32_t> other;
    for (int32_t i = 0; i < half; ++i)
      other.append({2 * i + 1, 2 * i});
    partner = pickColumns(b, front, other);
  }
  // The first of a pair loses what the second gains.
  SmallVector<double> signs;
  for (int64_t j = 0; j < rotary; ++j)
    signs.push_back((getLayout() == "half" ? j < half : j % 2 == 0) ? -1.0 : 1.0);
  auto signType = RankedTensorType::get({rotary}, b.getF64Type());
  Value sign = tw::ConstantOp::create(b, signType, DenseElementsAttr::get(signType, ArrayRef<double>(signs)));

  SmallVector<int64_t> dims = rowDims(type.getRank(), table.getRank() - 1);
  dims.push_back(last);
  auto repeated = [&](Value value) { return tw::broadcast(b, tw::castTo(b, value, inner), front, dims); };
  Value signedSine = tw::MulOp::create(
      b, tw::castTo(b, getSine(), inner),
      tw::broadcast(b, tw::castTo(b, sign, inner), tw::castTo(b, getSine(), inner), {table.getRank() - 1}));
  Value turned = tw::AddOp::create(b, tw::MulOp::create(b, front, repeated(getCosine())),
                                   tw::MulOp::create(b, partner, repeated(signedSine)));
  if (rotary < width)
    turned = tw::concat(b, last, {turned, tw::slice(b, x, last, rotary, -1)});
  return SmallVector<Value>{tw::castTo(b, turned, element)};
}

NumericsBound ApplyOp::getNumericsBound(StringRef) {
  return {0.0, getType().getElementTypeBitWidth() < 32 ? 1e-2 : 1e-6};
}

} // namespace tilewright::rotary_embedding
