// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tw.append and tw.attention.
#include "backends/reference/Ops.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::reference {

namespace {

/// row_start is 0 or more, does not fall, and ends within `rows`.
template <typename Real> LogicalResult checkRowStart(Operation *op, const Array<Real> &rowStart, int64_t rows) {
  int64_t last = 0;
  for (int64_t start : rowStart.integers) {
    if (start < last || start > rows)
      return op->emitOpError("row_start has ")
             << start << " after " << last << " at run time, wanted rising numbers up to " << rows;
    last = start;
  }
  if (rowStart.integers.empty())
    return op->emitOpError("row_start is empty at run time, wanted one number more than there are sequences");
  return success();
}

/// One query row against the keys of its head.
template <typename Real> struct Row {
  const Real *query;                               ///< [D]
  llvm::function_ref<const Real *(int64_t)> key;   ///< key j, [D]
  llvm::function_ref<const Real *(int64_t)> value; ///< value j, [Dv]
  llvm::function_ref<bool(int64_t)> isVisible;     ///< key j
  llvm::function_ref<Real(int64_t)> bias;          ///< added to score j
  int64_t keys, depth, valueDepth;
  const Real *sink; ///< the head's, or null
};

/// softmax(softcap(scale * q k) + bias) v; zero where nothing is visible.
template <typename Real> void attend(tw::AttentionOp op, const Row<Real> &row, Real *out) {
  constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();
  Real scale = op.getScale().convertToDouble();
  Real softcap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0;
  std::vector<std::pair<int64_t, Real>> scores; // of visible keys
  Real largest = row.sink ? *row.sink : kMinusInfinity;
  for (int64_t j = 0; j < row.keys; ++j) {
    if (!row.isVisible(j))
      continue;
    const Real *key = row.key(j);
    Real score = 0;
    for (int64_t d = 0; d < row.depth; ++d)
      score += row.query[d] * key[d];
    score *= scale;
    if (softcap != 0)
      score = softcap * std::tanh(score / softcap);
    score += row.bias(j);
    largest = std::fmax(largest, score);
    scores.push_back({j, score});
  }
  std::fill_n(out, row.valueDepth, Real(0));
  bool isNan = llvm::any_of(scores, [](auto &entry) { return std::isnan(entry.second); });
  if (largest == kMinusInfinity && !isNan)
    return;
  Real sum = row.sink ? std::exp(*row.sink - largest) : Real(0);
  for (auto [j, score] : scores) {
    Real weight = std::exp(score - largest);
    sum += weight;
    const Real *value = row.value(j);
    for (int64_t d = 0; d < row.valueDepth; ++d)
      out[d] += weight * value[d];
  }
  for (int64_t d = 0; d < row.valueDepth; ++d)
    out[d] /= sum;
}

/// Whether `window` (at most the last w keys up to the query's own position) and causality let key j through.
bool passes(tw::AttentionOp op, int64_t j, int64_t position) {
  if (op.getCausal() != "none" && j > position)
    return false;
  return !op.getWindow() || j > position - *op.getWindow();
}

/// Index into a mask or bias of rank 2 to 4, whose leading dimensions may be 1.
template <typename Real> int64_t scoreIndex(const Array<Real> &scores, int64_t b, int64_t h, int64_t t, int64_t s) {
  int64_t at[4] = {b, h, t, s}, index = 0;
  for (int64_t d = 0; d < scores.rank(); ++d) {
    int64_t extent = scores.shape[d], i = at[4 - scores.rank() + d];
    index = index * extent + (extent == 1 ? 0 : i);
  }
  return index;
}

template <typename Real>
LogicalResult checkScoreShape(tw::AttentionOp op, StringRef what, const ArrayPtr<Real> &scores,
                              ArrayRef<int64_t> full) {
  if (!scores)
    return success();
  for (int64_t d = 0; d < scores->rank(); ++d) {
    int64_t wanted = full[4 - scores->rank() + d], found = scores->shape[d];
    bool leading = d < scores->rank() - 2;
    if (found != wanted && !(leading && found == 1))
      return op.emitOpError(what) << " has shape " << text(scores->shape) << " at run time, wanted one that repeats to "
                                  << text(full);
  }
  return success();
}

template <typename Real> FailureOr<Array<Real>> dense(tw::AttentionOp op, const AttentionOperands<Real> &in) {
  const Array<Real> &q = *in.query, &k = *in.key, &v = *in.value;
  int64_t B = q.shape[0], H = q.shape[1], T = q.shape[2], D = q.shape[3];
  int64_t Hkv = k.shape[1], S = k.shape[2], Dv = v.shape[3];
  if (k.shape != Shape({B, Hkv, S, D}) || v.shape != Shape({B, Hkv, S, Dv}))
    return op.emitOpError("key and value have shapes ")
           << text(k.shape) << " and " << text(v.shape) << " at run time, wanted one batch and length and query depth "
           << D;
  Shape full = {B, H, T, S};
  if (failed(checkScoreShape(op, "mask", in.mask, full)) || failed(checkScoreShape(op, "bias", in.bias, full)))
    return failure();
  Array<Real> y = Array<Real>::floats({B, H, T, Dv});
  parallelFor(B * H, [&](int64_t bh) {
    int64_t b = bh / H, h = bh % H, kv = b * Hkv + h / (H / Hkv);
    for (int64_t t = 0; t < T; ++t) {
      int64_t position = op.getCausal() == "start" ? t : t + S - T;
      auto key = [&](int64_t j) { return &k.reals[(kv * S + j) * D]; };
      auto value = [&](int64_t j) { return &v.reals[(kv * S + j) * Dv]; };
      auto isVisible = [&](int64_t j) {
        return passes(op, j, position) && (!in.mask || in.mask->integers[scoreIndex(*in.mask, b, h, t, j)]);
      };
      auto bias = [&](int64_t j) { return in.bias ? in.bias->reals[scoreIndex(*in.bias, b, h, t, j)] : Real(0); };
      Row<Real> row{
          &q.reals[(bh * T + t) * D], key, value, isVisible, bias, S, D, Dv, in.sinks ? &in.sinks->reals[h] : nullptr};
      attend(op, row, &y.reals[(bh * T + t) * Dv]);
    }
  });
  return y;
}

/// The rows' sequences by row; -1 for rows behind the last sequence.
template <typename Real> std::vector<int64_t> sequencesOf(const Array<Real> &rowStart, int64_t rows) {
  std::vector<int64_t> of(rows, -1);
  for (size_t b = 0; b + 1 < rowStart.integers.size(); ++b)
    for (int64_t n = rowStart.integers[b]; n < rowStart.integers[b + 1]; ++n)
      of[n] = b;
  return of;
}

template <typename Real> FailureOr<Array<Real>> ragged(tw::AttentionOp op, const AttentionOperands<Real> &in) {
  const Array<Real> &q = *in.query;
  int64_t N = q.shape[0], H = q.shape[1], D = q.shape[2], B = in.kvLen->size();
  auto buffers = op.getState().getType().getBuffers();
  int64_t Hkv = buffers.front().getDimSize(1), width = buffers.back().getDimSize(2);
  int64_t Dv = op.getType().isDynamicDim(2) ? width : op.getType().getDimSize(2);
  if (failed(checkRowStart(op, *in.rowStart, N)))
    return failure();
  if (in.rowStart->size() != B + 1 || in.positions->size() != N)
    return op.emitOpError("row_start, kv_len and positions have ")
           << in.rowStart->size() << ", " << B << " and " << in.positions->size()
           << " elements at run time, wanted B+1, B and " << N;
  for (int64_t b = 0; b < B; ++b) {
    bool held = in.state && b < static_cast<int64_t>(in.state->sequences.size());
    int64_t rows = held ? in.state->sequences[b].rows : 0, length = in.kvLen->integers[b];
    if (length < 0 || length > rows)
      return op.emitOpError("kv_len ") << b << " is " << length << " at run time, wanted at most the " << rows
                                       << " rows that the state holds";
  }
  std::vector<int64_t> sequences = sequencesOf(*in.rowStart, N);
  Array<Real> y = Array<Real>::floats({N, H, Dv});
  parallelFor(N * H, [&](int64_t nh) {
    int64_t n = nh / H, h = nh % H, kv = h / (H / Hkv), b = sequences[n];
    if (b < 0 || in.kvLen->integers[b] == 0)
      return;
    const auto &held = in.state->sequences[b].buffers;
    auto key = [&](int64_t j) { return &held[0].values[(j * Hkv + kv) * D]; };
    auto value = [&](int64_t j) { return &held.back().values[(j * Hkv + kv) * width]; };
    auto isVisible = [&](int64_t j) { return passes(op, j, in.positions->integers[n]); };
    auto bias = [](int64_t) { return Real(0); };
    Row<Real> row{&q.reals[nh * D],
                  key,
                  value,
                  isVisible,
                  bias,
                  in.kvLen->integers[b],
                  D,
                  Dv,
                  in.sinks ? &in.sinks->reals[h] : nullptr};
    attend(op, row, &y.reals[nh * Dv]);
  });
  return y;
}

} // namespace

template <typename Real>
FailureOr<StatePtr<Real>> evaluateAppend(tw::AppendOp op, const StatePtr<Real> &state, const Array<Real> &rowStart,
                                         ArrayRef<ArrayPtr<Real>> values) {
  auto next = std::make_shared<StateRows<Real>>();
  if (state)
    *next = *state;
  for (const ArrayPtr<Real> &value : values)
    if (failed(checkRowStart(op, rowStart, value->shape[0])))
      return failure();
  size_t sequences = rowStart.size() - 1;
  if (next->sequences.size() < sequences)
    next->sequences.resize(sequences);
  for (size_t b = 0; b < sequences; ++b) {
    typename StateRows<Real>::Sequence &sequence = next->sequences[b];
    sequence.buffers.resize(values.size());
    for (auto [buffer, value] : llvm::zip_equal(sequence.buffers, values)) {
      buffer.trailing.assign(value->shape.begin() + 1, value->shape.end());
      int64_t width = elementCount(buffer.trailing);
      buffer.values.insert(buffer.values.end(), value->reals.begin() + rowStart.integers[b] * width,
                           value->reals.begin() + rowStart.integers[b + 1] * width);
    }
    sequence.rows += rowStart.integers[b + 1] - rowStart.integers[b];
  }
  return StatePtr<Real>(next);
}

template <typename Real>
FailureOr<Array<Real>> evaluateAttention(tw::AttentionOp op, const AttentionOperands<Real> &in) {
  if (in.sinks && in.sinks->size() != in.query->shape[1])
    return op.emitOpError("sinks have ") << in.sinks->size() << " elements at run time, wanted " << in.query->shape[1];
  return in.key ? dense(op, in) : ragged(op, in);
}

#define INSTANTIATE(Real)                                                                                              \
  template FailureOr<StatePtr<Real>> evaluateAppend(tw::AppendOp, const StatePtr<Real> &, const Array<Real> &,         \
                                                    ArrayRef<ArrayPtr<Real>>);                                         \
  template FailureOr<Array<Real>> evaluateAttention(tw::AttentionOp, const AttentionOperands<Real> &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace tilewright::reference
