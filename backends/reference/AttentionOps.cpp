// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tw.append and tw.attention.
#include "backends/reference/Ops.h"
#include "backends/reference/ScalarRegion.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::reference {

namespace {

/// `what` is 0 or more, does not fall, and ends within `rows`.
template <typename Real>
LogicalResult checkRowStart(Operation *op, StringRef what, const Array<Real> &rowStart, int64_t rows) {
  int64_t last = 0;
  for (int64_t start : rowStart.integers) {
    if (start < last || start > rows)
      return op->emitOpError(what) << " has " << start << " after " << last
                                   << " at run time, wanted rising numbers up to " << rows;
    last = start;
  }
  if (rowStart.integers.empty())
    return op->emitOpError(what) << " is empty at run time, wanted one number more than there are sequences";
  return success();
}

/// One query row against the keys of its head.
template <typename Real> struct Row {
  const Real *query;                               ///< [D]
  llvm::function_ref<const Real *(int64_t)> key;   ///< key j, [D]
  llvm::function_ref<const Real *(int64_t)> value; ///< value j, [Dv]
  llvm::function_ref<bool(int64_t)> isVisible;     ///< key j
  llvm::function_ref<Real(int64_t, Real)> score;   ///< what stands for score j after the soft-cap
  int64_t keys, depth, valueDepth;
  const Real *sink; ///< the head's, or null
};

/// Where a row's results go; null for those that nobody wants.
template <typename Real> struct RowResults {
  Real *out;                               ///< [Dv]
  Real *lse = nullptr, *weights = nullptr; ///< one, [keys] of zeros
};

/// softmax(score(softcap(scale * q k))) v; zero where nothing is visible.
template <typename Real> void attend(tw::AttentionOp op, const Row<Real> &row, const RowResults<Real> &to) {
  constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();
  Real scale = op.getScale().convertToDouble();
  Real softcap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0;
  std::vector<std::pair<int64_t, Real>> scores; // of visible keys
  Real ownLargest = kMinusInfinity;
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
    score = row.score(j, score);
    if (score == kMinusInfinity)
      continue;
    ownLargest = std::fmax(ownLargest, score);
    scores.push_back({j, score});
  }
  std::fill_n(to.out, row.valueDepth, Real(0));
  bool isNan = llvm::any_of(scores, [](auto &entry) { return std::isnan(entry.second); });
  if (to.lse) {
    Real sum = 0;
    for (auto [j, score] : scores)
      sum += std::exp(score - ownLargest);
    *to.lse = scores.empty() ? kMinusInfinity : ownLargest + std::log(sum);
  }
  Real largest = row.sink ? std::fmax(*row.sink, ownLargest) : ownLargest;
  bool nanSink = row.sink && std::isnan(*row.sink);
  if (largest == kMinusInfinity && !isNan && !nanSink)
    return;
  Real sum = row.sink ? std::exp(*row.sink - largest) : Real(0);
  for (auto &[j, score] : scores) {
    score = std::exp(score - largest);
    sum += score;
    const Real *value = row.value(j);
    for (int64_t d = 0; d < row.valueDepth; ++d)
      to.out[d] += score * value[d];
  }
  for (int64_t d = 0; d < row.valueDepth; ++d)
    to.out[d] /= sum;
  if (to.weights)
    for (auto [j, weight] : scores)
      to.weights[j] = weight / sum;
}

/// Whether causality, window, radius and chunk let key j through to a row at `position`.
bool passes(tw::AttentionOp op, int64_t j, int64_t position) {
  if (op.getCausal() != "none" && j > position)
    return false;
  // As unsigned, so that no window or radius is too large.
  if (op.getWindow() && j <= position && static_cast<uint64_t>(position - j) >= static_cast<uint64_t>(*op.getWindow()))
    return false;
  if (op.getRadius() && static_cast<uint64_t>(std::abs(position - j)) > static_cast<uint64_t>(*op.getRadius()))
    return false;
  return !op.getChunk() ||
         llvm::divideFloorSigned(j, *op.getChunk()) == llvm::divideFloorSigned(position, *op.getChunk());
}

/// Index into a mask or bias: the last dimensions of [B, H, T, S], or [B, T, S], of which some may be 1.
template <typename Real> int64_t scoreIndex(const Array<Real> &scores, int64_t b, int64_t h, int64_t t, int64_t s) {
  const int64_t four[4] = {b, h, t, s}, three[3] = {b, t, s};
  const int64_t *at = scores.rank() == 3 ? three : four + (4 - scores.rank());
  int64_t index = 0;
  for (int64_t d = 0; d < scores.rank(); ++d)
    index = index * scores.shape[d] + (scores.shape[d] == 1 ? 0 : at[d]);
  return index;
}

template <typename Real>
LogicalResult checkScoreShape(tw::AttentionOp op, StringRef what, const ArrayPtr<Real> &scores, Shape full) {
  if (!scores)
    return success();
  if (scores->rank() == 3)
    full.erase(full.begin() + 1);
  for (int64_t d = 0; d < scores->rank(); ++d) {
    int64_t wanted = full[full.size() - scores->rank() + d], found = scores->shape[d];
    if (found != wanted && !(d + 1 < scores->rank() && found == 1))
      return op.emitOpError(what) << " has shape " << text(scores->shape) << " at run time, wanted one that repeats to "
                                  << text(full);
  }
  return success();
}

/// Rows of queries, keys or values [B, T, H, D] in any order of dimensions; `part` is the third dimension of five.
template <typename Real> struct Rows {
  const Array<Real> &array;
  bool headsFirst;
  int64_t part = 0;

  int64_t dim(int64_t which) const { // batch, heads, rows, depth
    bool packed = array.rank() == 5;
    int64_t place[4] = {0, headsFirst ? 1 : packed ? 3 : 2, headsFirst ? 2 : 1, array.rank() - 1};
    return array.shape[place[which]];
  }
  const Real *at(int64_t b, int64_t h, int64_t t) const {
    int64_t row = headsFirst          ? (b * dim(1) + h) * dim(2) + t
                  : array.rank() == 5 ? ((b * dim(2) + t) * 3 + part) * dim(1) + h
                                      : (b * dim(2) + t) * dim(1) + h;
    return array.reals.data() + row * dim(3);
  }
};

/// Keys and rows that belong together: where they begin, and how many there are.
struct Segment {
  int64_t row, rows, key, keys;
  int64_t number; ///< for prefix_len
};

template <typename Real> class Dense {
public:
  Dense(tw::AttentionOp op, const AttentionOperands<Real> &in)
      : op(op), in(in), headsFirst(op.getLayout() == "bhtd"), packed(op.getLayout() == "bt3hd"),
        q{*in.query, headsFirst, 0}, k{packed ? *in.query : *in.key, headsFirst, 1},
        v{packed ? *in.query : *in.value, headsFirst, 2} {
    if (!op.getScore().empty())
      region.emplace(*op.getScore().begin());
  }

  FailureOr<AttentionResults<Real>> run();

private:
  LogicalResult check();
  /// The segment of row t; one with no keys for rows of none.
  Segment segmentOf(int64_t b, int64_t t) const;
  void row(int64_t b, int64_t h, int64_t t, AttentionResults<Real> &results) const;

  mutable tw::AttentionOp op; // a handle
  const AttentionOperands<Real> &in;
  bool headsFirst, packed;
  Rows<Real> q, k, v;
  std::optional<ScalarRegion<Real>> region;
  int64_t B = 0, H = 0, T = 0, D = 0, Hkv = 0, S = 0, Dv = 0;
};

template <typename Real> LogicalResult Dense<Real>::check() {
  if (k.dim(0) != B || k.dim(3) != D || v.dim(0) != B || v.dim(1) != Hkv || v.dim(2) != S)
    return op.emitOpError("key and value have shapes ")
           << text(k.array.shape) << " and " << text(v.array.shape)
           << " at run time, wanted one batch and length and query depth " << D;
  Shape full = {B, H, T, S};
  if (failed(checkScoreShape(op, "mask", in.mask, full)) || failed(checkScoreShape(op, "bias", in.bias, full)))
    return failure();
  int64_t sequences = B;
  for (auto [what, starts, end] :
       {std::tuple("cu_seqlens_q", in.cuSeqlensQ.get(), T), {"cu_seqlens_kv", in.cuSeqlensKv.get(), S}}) {
    if (!starts)
      continue;
    if (failed(checkRowStart(op, what, *starts, end)))
      return failure();
    if (B != 1 || in.cuSeqlensQ->size() != in.cuSeqlensKv->size())
      return op.emitOpError("has batch ")
             << B << " and " << in.cuSeqlensQ->size() << " and " << in.cuSeqlensKv->size()
             << " beginnings of segments at run time, wanted batch 1 and as many of rows as of keys";
    sequences = starts->size() - 1;
  }
  for (auto [what, numbers] :
       {std::pair("kv_start", in.kvStart.get()), {"kv_end", in.kvEnd.get()}, {"prefix_len", in.prefixLen.get()}})
    if (numbers && numbers->size() != sequences)
      return op.emitOpError(what) << " has " << numbers->size() << " elements at run time, wanted " << sequences;
  return success();
}

template <typename Real> Segment Dense<Real>::segmentOf(int64_t b, int64_t t) const {
  if (!in.cuSeqlensQ)
    return {0, T, 0, S, b};
  const auto &rows = in.cuSeqlensQ->integers, &keys = in.cuSeqlensKv->integers;
  int64_t s = llvm::upper_bound(rows, t) - rows.begin() - 1;
  if (s < 0 || s + 1 >= static_cast<int64_t>(rows.size()))
    return {t, 0, 0, 0, -1};
  return {rows[s], rows[s + 1] - rows[s], keys[s], keys[s + 1] - keys[s], s};
}

template <typename Real> void Dense<Real>::row(int64_t b, int64_t h, int64_t t, AttentionResults<Real> &results) const {
  const Segment segment = segmentOf(b, t);
  int64_t position = t - segment.row;
  if (op.getCausal() == "end")
    position += segment.keys - segment.rows;
  else if (op.getOffset())
    position += *op.getOffset();
  const int64_t kv = h / (H / Hkv),
                prefix = in.prefixLen && segment.number >= 0 ? in.prefixLen->integers[segment.number] : 0;
  const int64_t first = in.kvStart ? in.kvStart->integers[b] : 0, end = in.kvEnd ? in.kvEnd->integers[b] : S;
  auto key = [&](int64_t j) { return k.at(b, kv, segment.key + j); };
  auto value = [&](int64_t j) { return v.at(b, kv, segment.key + j); };
  auto isVisible = [&](int64_t j) {
    if (in.mask) {
      int64_t at = scoreIndex(*in.mask, b, h, t, segment.key + j);
      if (in.mask->isFloat ? in.mask->reals[at] == 0 : in.mask->integers[at] == 0)
        return false;
    }
    return (j < prefix || passes(op, j, position)) && j >= first && j < end;
  };
  auto score = [&](int64_t j, Real s) {
    if (region)
      s = region->run({{s, 0}, {0, b}, {0, h}, {0, position}, {0, j}});
    return in.bias ? s + in.bias->reals[scoreIndex(*in.bias, b, h, t, segment.key + j)] : s;
  };
  Row<Real> row{
      q.at(b, h, t), key, value, isVisible, score, segment.keys, D, Dv, in.sinks ? &in.sinks->reals[h] : nullptr};
  const int64_t at = (b * H + h) * T + t;
  RowResults<Real> to{results.out.reals.data() + (headsFirst ? at : (b * T + t) * H + h) * Dv};
  if (results.lse)
    to.lse = &results.lse->reals[at];
  if (results.weights)
    to.weights = results.weights->reals.data() + at * S + segment.key;
  attend(op, row, to);
}

template <typename Real> FailureOr<AttentionResults<Real>> Dense<Real>::run() {
  B = q.dim(0), H = q.dim(1), T = q.dim(2), D = q.dim(3), Hkv = k.dim(1), S = k.dim(2), Dv = v.dim(3);
  if (failed(check()))
    return failure();
  AttentionResults<Real> results;
  results.out = Array<Real>::floats(headsFirst ? Shape{B, H, T, Dv} : Shape{B, T, H, Dv});
  if (op.getLse())
    results.lse = Array<Real>::floats({B, H, T});
  if (op.getWeights())
    results.weights = Array<Real>::floats({B, H, T, S});
  parallelFor(B * H, [&](int64_t bh) {
    for (int64_t t = 0; t < T; ++t)
      row(bh / H, bh % H, t, results);
  });
  return results;
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
  if (failed(checkRowStart(op, "row_start", *in.rowStart, N)))
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
    auto score = [&](int64_t j, Real s) {
      if (!in.bias)
        return s;
      const int64_t width = in.bias->shape[1], reach = width / 2;
      return s + in.bias->reals[h * width + reach + std::clamp(j - in.positions->integers[n], -reach, reach)];
    };
    Row<Real> row{q.reals.data() + nh * D,
                  key,
                  value,
                  isVisible,
                  score,
                  in.kvLen->integers[b],
                  D,
                  Dv,
                  in.sinks ? &in.sinks->reals[h] : nullptr};
    attend(op, row, RowResults<Real>{y.reals.data() + nh * Dv});
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
    if (failed(checkRowStart(op, "row_start", rowStart, value->shape[0])))
      return failure();
  size_t sequences = rowStart.size() - 1;
  if (next->sequences.size() < sequences)
    next->sequences.resize(sequences);
  for (size_t b = 0; b < sequences; ++b) {
    typename StateRows<Real>::Sequence &sequence = next->sequences[b];
    if (op.getState().getType().isTransient())
      sequence = {};
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
FailureOr<AttentionResults<Real>> evaluateAttention(tw::AttentionOp op, const AttentionOperands<Real> &in) {
  int64_t heads = op.getSizes().heads;
  if (in.sinks && in.sinks->size() != heads)
    return op.emitOpError("sinks have ") << in.sinks->size() << " elements at run time, wanted " << heads;
  if (!op.isRagged())
    return Dense<Real>(op, in).run();
  FailureOr<Array<Real>> out = ragged(op, in);
  if (failed(out))
    return failure();
  AttentionResults<Real> results;
  results.out = std::move(*out);
  return results;
}

#define INSTANTIATE(Real)                                                                                              \
  template FailureOr<StatePtr<Real>> evaluateAppend(tw::AppendOp, const StatePtr<Real> &, const Array<Real> &,         \
                                                    ArrayRef<ArrayPtr<Real>>);                                         \
  template FailureOr<AttentionResults<Real>> evaluateAttention(tw::AttentionOp, const AttentionOperands<Real> &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace tilewright::reference
