// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every kernel of attention over tensors shares: blocks of query rows, tiles of keys and values, what is visible.
#pragma once

#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

namespace tilewright::tw {

/// The dense or packed form, as in tw.attention.
struct DenseAttentionSpec {
  mlir::Operation *op = nullptr; ///< for diagnostics and the results: result, lse, weights
  mlir::Value query, key, value, mask, bias, sinks, kvStart, kvEnd, prefixLen, cuSeqlensQ, cuSeqlensKv; ///< or null
  llvm::StringRef layout, causal;
  double scale = 1.0, softcap = 0.0; ///< a softcap of 0: none
  std::optional<int64_t> window, offset, radius, chunk;
  mlir::Region *score = nullptr;    ///< or null
  mlir::Value result, lse, weights; ///< the op's; lse and weights or null
  int64_t parts = 1;                ///< keys in so many parts, each of which has results of its own, [parts, ...]
  int64_t mostRows = 1;             ///< rows M of a block

  /// Of an op with the operands and attributes of tw.attention.
  template <typename Op> static DenseAttentionSpec of(Op op, int64_t mostRows) {
    DenseAttentionSpec spec;
    spec.op = op.getOperation();
    spec.query = op.getQuery();
    spec.key = op.getKey();
    spec.value = op.getValue();
    spec.mask = op.getMask();
    spec.bias = op.getBias();
    spec.sinks = op.getSinks();
    spec.kvStart = op.getKvStart();
    spec.kvEnd = op.getKvEnd();
    spec.prefixLen = op.getPrefixLen();
    spec.cuSeqlensQ = op.getCuSeqlensQ();
    spec.cuSeqlensKv = op.getCuSeqlensKv();
    spec.layout = op.getLayout();
    spec.causal = op.getCausal();
    spec.scale = op.getScale().convertToDouble();
    spec.softcap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0;
    spec.window = op.getWindow();
    spec.offset = op.getOffset();
    spec.radius = op.getRadius();
    spec.chunk = op.getChunk();
    spec.score = op.getScore().empty() ? nullptr : &*op.getScore().begin();
    spec.result = op.getResult();
    spec.lse = op.getLse();
    spec.weights = op.getWeights();
    spec.mostRows = mostRows;
    return spec;
  }
};

/// One chunk is a block of query rows of the G = H / Hkv heads that share a key/value head, in one part of the keys.
/// Row r of the block is query row r % piece of head r / piece. Where rows do not divide into blocks, the last block
/// begins earlier and stores only what is its own; so do tiles of keys, whose repeated keys are hidden. All rules of
/// visibility but mask, bias and score are one interval of keys for each row, and the keys of the prefix.
class DenseAttention {
public:
  /// Checks that the variant has a kernel form; a diagnostic on the op otherwise.
  static mlir::FailureOr<DenseAttention> create(const DenseAttentionSpec &spec, KernelBuilder &kernel);

  /// What a sweep leaves of a block: largest score and sum of weights of each row [M], unnormalised output [M, Dv].
  struct Block {
    mlir::Value maximum, sums, acc;
  };
  /// Builds the loop over chunks. `item` receives this object with a chunk's values set.
  mlir::LogicalResult build(llvm::function_ref<Block(DenseAttention &)> item);

  int64_t rows() const { return piece * group; } ///< M
  int64_t valueDim() const { return dimV; }

  /// Scores of the block's rows with the keys of tile number `tile`: [M, W]; -inf where a key is hidden.
  mlir::Value scores(mlir::Value tile, bool masked);
  /// The largest score of each row: [M].
  mlir::Value rowMaximum(mlir::Value scores);
  /// exp(score - maximum), of scalars; 0 for a score of -inf.
  mlir::Value weight(TileBuilder &s, mlir::Value score, mlir::Value maximum, bool masked);
  /// That for each score; adds each row's sum to `sums`. `scores` is overwritten.
  std::pair<mlir::Value, mlir::Value> weights(mlir::Value scores, mlir::Value maximum, mlir::Value sums, bool masked);
  /// acc[M, Dv] + weights[M, W] values of the tile, where a weight of 0 makes any value 0.
  mlir::Value accumulate(mlir::Value acc, mlir::Value weights, mlir::Value tile, bool masked);
  /// Largest score and sum of weights before any key.
  std::pair<mlir::Value, mlir::Value> initial();
  /// Buffers of f32, or f64 where the query is.
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, double value);
  mlir::Type element() const { return wide; }
  /// Runs `body(tile, carried, masked)` over all tiles with a visible key.
  llvm::SmallVector<mlir::Value>
  forPages(mlir::ValueRange inits,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange, bool masked)> body);

  TileBuilder t;

private:
  DenseAttention(const DenseAttentionSpec &spec, KernelBuilder &kernel)
      : t(kernel.builder(), kernel.loc()), spec(spec), kernel(kernel) {}

  void chooseTiles();
  void loadChunk(mlir::Value number);
  void loadQuery();
  /// What each row may see: `lows`, `highs`, `prefixEnds`, and their bounds over all rows.
  void loadIntervals();
  /// Beginning of keys, number of keys, position and prefix of each row: [piece] i32.
  llvm::SmallVector<mlir::Value> loadSegments();
  /// The smallest or largest of [piece] i32, as an index.
  mlir::Value extreme(mlir::Value numbers, bool largest);
  /// `count` rows of keys (part 1) or values (part 2) from `first`: [count, dim], or [count] of one element each.
  mlir::Value keyRows(mlir::Value whole, int64_t part, mlir::Value first, int64_t count, int64_t dim,
                      bool isColumn = false);
  mlir::Value products(mlir::Value tile);
  /// Soft-cap, region, bias and mask, if any.
  mlir::Value adjusted(mlir::Value scores, mlir::Value tile);
  mlir::Value runScoreRegion(TileBuilder &s, mlir::Value score, mlir::Value position, mlir::Value key);
  /// -inf where the intervals or repeated keys say so; only where the tile has such keys.
  mlir::Value hideByIntervals(mlir::Value scores, mlir::Value tile);
  /// The part of a mask or bias for the tile, and its map in (g, t, s).
  std::pair<mlir::Value, mlir::AffineMap> scorePart(mlir::Value whole, mlir::Value tile);
  mlir::Value hasNonFinite(mlir::Value values);
  /// Stores a block; returns the destinations.
  llvm::SmallVector<mlir::Value> store(const Block &block, mlir::ValueRange destinations);
  mlir::Value storeWeights(mlir::Value maximum, mlir::Value factor, mlir::Value sums, mlir::Value destination);
  /// The factor and denominator of each row [M], the sinks counted.
  std::pair<mlir::Value, mlir::Value> normaliser(const Block &block);
  /// For each of the block's own rows r: `body(r, carried)`.
  llvm::SmallVector<mlir::Value> forOwnRows(mlir::ValueRange inits, TileBuilder::LoopBody body);
  /// First key of a tile.
  mlir::Value firstKey(mlir::Value tile);
  bool isTransposed() const { return rows() >= kTransposeRows && wide.isF32(); }
  bool hasIntervals() const;

  mlir::Value number(TileBuilder &s, double value);
  mlir::Value widened(TileBuilder &s, mlir::Value v);
  mlir::Value narrowed(TileBuilder &s, mlir::Value v, mlir::Type type);
  mlir::OpFoldResult at(int64_t i) { return t.b.getIndexAttr(i); }
  mlir::AffineMap elements() { return t.map(2, {t.d(0), t.d(1)}); }
  mlir::AffineMap perRow() { return t.map(2, {t.d(0)}); }

  /// From so many rows on keys are turned so that a product is made of whole registers.
  static constexpr int64_t kTransposeRows = 8;

  DenseAttentionSpec spec;
  KernelBuilder &kernel;
  mlir::FloatType wide;
  int64_t batches = 0, heads = 0, headsKv = 0, group = 0, queries = 0, allKeys = 0, dim = 0, dimV = 0;
  int64_t piece = 0, blocks = 0;          ///< query rows at a time, and how often
  int64_t width = 0, keys = 0, tiles = 0; ///< W, the keys among them, and how many tiles
  bool hideRepeats = true;
  mlir::Value query, key, value, mask, bias, sinks, kvStart, kvEnd, prefixLen, cuSeqlensQ, cuSeqlensKv; ///< arguments
  mlir::Value part, batch, headKv, head, firstRow, skipped; ///< of the chunk; `skipped` rows belong to the block before
  mlir::Value q;                                            ///< [M, D], scaled
  mlir::Value starts, positions, lows, highs, prefixStarts, prefixEnds; ///< [piece] i32, null where nothing wants them
  mlir::Value low, high, allLow, allHigh, prefixLow, prefixHigh;        ///< bounds of those
};

} // namespace tilewright::tw
