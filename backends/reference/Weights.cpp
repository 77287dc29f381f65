// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Weights.h"

#include "ir/interfaces/DecodeBlocks.h"
#include "llvm/Support/Error.h"

using namespace mlir;

namespace tilewright::reference {

namespace {

llvm::Error fail(ml_program::GlobalOp global, const llvm::Twine &problem) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 "weight '" + global.getSymName() + "': " + problem);
}

/// The stored row of each row, from the permutation that the global carries.
llvm::Expected<std::vector<int64_t>> storedRows(ml_program::GlobalOp global, int64_t rows) {
  auto dims = global->getAttrOfType<DenseI64ArrayAttr>("tw.row_dims");
  auto perm = global->getAttrOfType<DenseI64ArrayAttr>("tw.row_perm");
  if (!dims && !perm)
    return std::vector<int64_t>();
  if (!dims || !perm || dims.size() != perm.size())
    return fail(global, "wanted tw.row_dims and tw.row_perm of one length");
  ArrayRef<int64_t> extents = dims.asArrayRef(), axes = perm.asArrayRef();
  int64_t product = 1;
  for (int64_t extent : extents)
    if (extent < 1 || llvm::MulOverflow(product, extent, product))
      return fail(global, "tw.row_dims has " + llvm::Twine(extent) + ", wanted positive sizes");
  SmallVector<bool> seen(axes.size(), false);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(axes.size()) || seen[axis])
      return fail(global, "tw.row_perm is no permutation");
    seen[axis] = true;
  }
  if (product != rows)
    return fail(global, "tw.row_dims has " + llvm::Twine(product) + " rows, wanted " + llvm::Twine(rows));
  SmallVector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    strides[i - 1] = strides[i] * extents[i];
  std::vector<int64_t> stored(rows);
  SmallVector<int64_t> at(axes.size(), 0); // index of the row in the transposed dims
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < axes.size(); ++i)
      stored[row] += at[i] * strides[axes[i]];
    for (size_t i = axes.size(); i-- > 0;) {
      if (++at[i] < extents[axes[i]])
        break;
      at[i] = 0;
    }
  }
  return stored;
}

} // namespace

llvm::Expected<llvm::ArrayRef<uint8_t>> NoWeights::bytes(ml_program::GlobalOp global) {
  return fail(global, "there are no weights");
}

llvm::Expected<Weight> Weight::make(ml_program::GlobalOp global, llvm::ArrayRef<uint8_t> bytes) {
  Weight weight;
  auto type = dyn_cast<RankedTensorType>(global.getType());
  // Packed by the tile stage: the bytes are the graph's still.
  auto element = global->getAttrOfType<TypeAttr>("tw.element");
  auto shape = global->getAttrOfType<DenseI64ArrayAttr>("tw.shape");
  if (element && shape)
    type = RankedTensorType::get(shape.asArrayRef(), element.getValue());
  if (!type || !type.hasStaticShape())
    return fail(global, "wanted a static tensor type");
  weight.dims.assign(type.getShape().begin(), type.getShape().end());
  for (size_t d = 1; d < weight.dims.size(); ++d)
    if (llvm::MulOverflow(weight.columns, weight.dims[d], weight.columns))
      return fail(global, "it has more elements than 63 bits can count");
  weight.storage = dyn_cast<tilewright::StorageType>(type.getElementType());
  if (!weight.storage) {
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    return fail(global, "element type " + element + " is no storage type (its plugin is not loaded?)");
  }
  weight.isScalar = isa<FloatType>(type.getElementType());
  weight.blockElements = weight.storage.getBlockElements();
  weight.blockBytes = weight.storage.getBlockBytes();
  if (!weight.isScalar && weight.columns % weight.blockElements != 0)
    return fail(global, "rows of " + llvm::Twine(weight.columns) + " elements, wanted whole blocks of " +
                            llvm::Twine(weight.blockElements));
  int64_t elements, wanted;
  if (llvm::MulOverflow(weight.rows(), weight.columns, elements) ||
      llvm::MulOverflow(elements, weight.blockBytes, wanted))
    return fail(global, "its size in bytes overflows");
  wanted /= weight.blockElements;
  if (static_cast<int64_t>(bytes.size()) != wanted)
    return fail(global, "has " + llvm::Twine(bytes.size()) + " bytes, wanted " + llvm::Twine(wanted));
  weight.data = bytes;
  llvm::Expected<std::vector<int64_t>> stored = storedRows(global, weight.rows());
  if (!stored)
    return stored.takeError();
  weight.storedRow = std::move(*stored);
  return weight;
}

void Weight::decodeElements(int64_t first, int64_t count, float *out) const {
  const int64_t place = isScalar ? first * (blockBytes / blockElements) : first / blockElements * blockBytes;
  decodeBlocks(storage, data.drop_front(place), MutableArrayRef(out, count));
}

void Weight::decodeRow(int64_t row, float *out) const {
  decodeElements((storedRow.empty() ? row : storedRow[row]) * columns, columns, out);
}

void Weight::decodeWithinRow(int64_t first, int64_t count, float *out) const {
  int64_t row = first / columns;
  decodeElements((storedRow.empty() ? row : storedRow[row]) * columns + first % columns, count, out);
}

void Weight::decode(float *out) const {
  // Of rank 1 with its rows as they are, all elements are one run.
  if (storedRow.empty() && isScalar)
    return decodeElements(0, rows() * columns, out);
  for (int64_t row = 0; row < rows(); ++row)
    decodeRow(row, out + row * columns);
}

} // namespace tilewright::reference
