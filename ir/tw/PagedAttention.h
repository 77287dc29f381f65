// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every kernel of attention over a paged state shares: tiles of query rows, pages of keys and values, masks.
#pragma once

#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

namespace tilewright::tw {

/// Ragged attention over a state, as in tw.attention.
struct PagedAttentionSpec {
  mlir::Operation *op; ///< for diagnostics
  mlir::Value query;   ///< [N, H, D]
  mlir::Value state; ///< keys [tokens, Hkv, D] and values [tokens, Hkv, Dv], or keys whose first Dv columns are values
  mlir::Value sinks; ///< [H] or null
  double scale;
  bool causal;
  std::optional<int64_t> window;
  double softcap = 0.0; ///< 0: none
  int64_t mostRows;     ///< rows M of an item's buffers while D and Dv are up to 128; fewer of wider heads
  std::optional<int64_t> chunk = std::nullopt;
  std::optional<int64_t> radius = std::nullopt;
  mlir::Value bias = {}; ///< [H, 2 R + 1] by distance, or null

  /// Of an op with the operands and attributes of tw.attention over a state.
  template <typename Op> static PagedAttentionSpec of(Op op, int64_t mostRows) {
    return {op.getOperation(),
            op.getQuery(),
            op.getState(),
            op.getSinks(),
            op.getScale().convertToDouble(),
            op.getCausal() == "end",
            op.getWindow(),
            op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0,
            mostRows,
            op.getChunk(),
            op.getRadius(),
            op.getBias()};
  }
};

/// One work item: a tile of query rows (an entry of the step's tile table) and G query heads of one key/value head: all
/// H / Hkv of them, or an equal part where they are too many for the item's buffers; chunk number = tile * (H / G) +
/// number of the part. Heads stand row by row: row r of the item is head r % G of query row r / G. Where those are too
/// many, the item is done in pieces of some query rows. Scores are in units of log2, so that a weight is exp2(score -
/// maximum).
class PagedAttention {
public:
  /// Checks that the variant has a kernel form; a diagnostic on the op otherwise.
  static mlir::FailureOr<PagedAttention> create(const PagedAttentionSpec &spec, KernelBuilder &kernel);

  /// Builds the loop over chunks. `item(pages...)` receives this object with a chunk's values set and returns the
  /// unnormalised output [M, Dv] and the sums of weights [M].
  mlir::LogicalResult build(llvm::function_ref<std::pair<mlir::Value, mlir::Value>(PagedAttention &)> item);

  int64_t rows() const { return piece * group; } ///< M
  int64_t valueDim() const { return dimV; }
  bool hasSinks() const { return static_cast<bool>(spec.sinks); }
  /// Score that a masked key has; below every real one.
  static constexpr double kMasked = -1.0e30;

  /// Scores of the item's rows with the keys of page number `page` of the sequence: [M, 64].
  mlir::Value scores(mlir::Value page, bool masked);
  /// exp2(score - maximum), of scalars; 0 for a masked key.
  mlir::Value weight(TileBuilder &s, mlir::Value score, mlir::Value maximum, bool masked);
  /// That for each score; adds each row's sum to `sums`. `scores` is overwritten.
  std::pair<mlir::Value, mlir::Value> weights(mlir::Value scores, mlir::Value maximum, mlir::Value sums, bool masked);
  /// The largest score of each row: [M].
  mlir::Value rowMaximum(mlir::Value scores);
  /// acc[M, Dv] + weights[M, 64] times the values of page number `page`, none behind the last key when `masked`;
  /// weights are rounded to bf16 where values are.
  mlir::Value accumulate(mlir::Value acc, mlir::Value weights, mlir::Value page, bool masked);
  /// Row maximum and sum of weights before any key: of the sinks, if any.
  std::pair<mlir::Value, mlir::Value> initial();
  /// A buffer of the type that scores have.
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, double value) { return t.filled(shape, value); }
  mlir::Type element() const { return t.b.getF32Type(); }
  /// Runs `body(page, carried, masked)` over all pages with a visible key, `masked` where some key of the page may be
  /// hidden from some row.
  llvm::SmallVector<mlir::Value>
  forPages(mlir::ValueRange inits,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange, bool masked)> body);

  TileBuilder t;

private:
  PagedAttention(const PagedAttentionSpec &spec, KernelBuilder &kernel)
      : t(kernel.builder(), kernel.loc()), spec(spec), kernel(kernel) {}

  void loadItem(mlir::Value chunk);
  void loadBias();
  /// scores + the bias of each row's distances to the keys of page number `page`.
  mlir::Value biased(mlir::Value scores, mlir::Value page);
  /// First key that the row at `place` sees, and the one behind the last; null where nothing but the length bounds it.
  mlir::Value firstVisible(mlir::Value place);
  mlir::Value endVisible(mlir::Value place);
  /// First key of the chunk of keys that `place` is in.
  mlir::Value chunkBegin(TileBuilder &b, mlir::Value place);
  void loadQuery();
  mlir::Value storeItem(mlir::Value acc, mlir::Value sums, mlir::Value destination);
  mlir::Value pageNumber(mlir::Value page);
  /// Values of a page: [64, Dv], or [32, Dv, 2] in pairs; zeros behind the last key when `masked`.
  mlir::Value values(mlir::Value page, bool masked);
  /// Columns [first, first + width) of the values of a page, where values are the first columns of the keys: [64,
  /// width], or [32, width, 2] in pairs.
  mlir::Value valuesInKeys(mlir::Value page, mlir::Value first, int64_t width, bool masked);
  /// A bf16 of a pair, or 0.0 where `filled` does not hold. Chosen as bits: not every level selects bf16.
  static mlir::Value bitsWhere(TileBuilder &b, mlir::Value filled, mlir::Value number);
  /// [rows, 2 * pairs] of f32 as [rows, pairs, 2] of bf16.
  mlir::Value pairsOf(mlir::Value rows);
  /// acc[M, n] + left[M, k] right[k, n], or left[M, k, 2] right[k, n, 2].
  mlir::Value product(mlir::Value left, mlir::Value right, mlir::Value acc);

  PagedAttentionSpec spec;
  KernelBuilder &kernel;
  int64_t heads = 0, headsKv = 0, group = 0, dim = 0, dimV = 0, queryTile = 0;
  int64_t piece = 0;                                                           ///< query rows at a time
  int64_t parts = 0;                                                           ///< of a key/value head's query heads
  bool paired = false;                                                         ///< keys and values are pairs of bf16
  bool valuesAreKeys = false;                                                  ///< the state has one buffer
  mlir::Value query, keys, valuesPool, sinks, tiles, pages;                    ///< kernel arguments
  mlir::Value head, firstHead, firstRow, tileRows, position, kvLen, firstPage; ///< of the item
  mlir::Value biasTable, nearBias; ///< the operand; [G, 2 R + 1] of the item's heads with a page of each end around it
  mlir::Value q;                   ///< [M, D], or [M, ceil(D / 2), 2] in pairs; scaled
};

} // namespace tilewright::tw
