// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements behind the 2^31st of a tensor are read and written where they are: tables, caches, packed weights, queries,
// keys and values in one tensor, results. The tensors are mappings of zeros of which little is touched; where a kernel
// would touch all of one, its last chunks alone are run.
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"
#include "tools/functions/KernelLibrary.h"

#include <numeric>
#include <sys/mman.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr int64_t kLimit = int64_t(1) << 31;

/// Zeros that take memory where they are touched.
class Mapping {
public:
  explicit Mapping(size_t bytes) : bytes(bytes) {
    void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
      llvm::report_fatal_error("no address space for a test's tensor");
    data = static_cast<uint8_t *>(made);
  }
  ~Mapping() { munmap(data, bytes); }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  template <typename T = uint8_t> T *as() { return reinterpret_cast<T *>(data); }
  const size_t bytes;

private:
  uint8_t *data;
};
using Memory = std::shared_ptr<Mapping>;

template <typename T> Memory memoryOf(const std::vector<T> &numbers) {
  auto made = std::make_shared<Mapping>(std::max<size_t>(1, numbers.size() * sizeof(T)));
  std::copy(numbers.begin(), numbers.end(), made->template as<T>());
  return made;
}

/// Kernels of one function of a module, on memory that the test gives.
class SparseProgram {
public:
  SparseProgram(llvm::StringRef text, llvm::StringRef first, llvm::StringRef shapeClass, llvm::StringRef kvType = "f32")
      : module(mlir::parseSourceString<mlir::ModuleOp>(text, &context())) {
    PipelineOptions options;
    options.numerics = "precise";
    options.shapeClass = shapeClass.str();
    options.kvType = kvType.str();
    mlir::PassManager passes(&context());
    llvm::cantFail(buildStages(passes, host().stages, options, first, "tile"));
    if (!module || failed(passes.run(*module)))
      return;
    if (auto compiled = KernelLibrary::compile(*module, *hostCpuLevels().back()); succeeded(compiled))
      library = std::move(*compiled);
  }
  bool ready() const { return library != nullptr; }

  /// The layout of a weight that is packed.
  LayoutDescriptor layoutOf(llvm::StringRef name) {
    auto element = module->lookupSymbol<mlir::ml_program::GlobalOp>(name)->getAttrOfType<mlir::TypeAttr>("tw.element");
    return mlir::cast<StorageType>(element.getValue()).getLayout();
  }

  std::map<std::string, Memory> weights; ///< as kernels read them
  std::vector<Memory> pools;             ///< of the one state
  int64_t lastChunks = 0;                ///< where not 0: so many of each kernel are run, the last ones

  /// The first result of function `name`.
  Memory run(llvm::StringRef name, llvm::ArrayRef<Memory> arguments, const Step &step) {
    auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
    llvm::DenseMap<mlir::Value, Memory> values;
    for (auto [value, argument] : llvm::zip_equal(function.getArguments(), arguments))
      values[value] = argument;
    for (mlir::Operation &op : function.front()) {
      if (auto load = mlir::dyn_cast<mlir::ml_program::GlobalLoadConstOp>(op)) {
        values[load] = weights.at(load.getGlobal().getLeafReference().str());
      } else if (auto dispatch = mlir::dyn_cast<tw::DispatchOp>(op)) {
        runKernel(dispatch, values, step);
      } else if (mlir::isa<tw::ReshapeOp>(op)) {
        values[op.getResult(0)] = values.lookup(op.getOperand(0));
      } else if (mlir::isa<mlir::func::ReturnOp>(op)) {
        return values.lookup(op.getOperand(0));
      } else {
        ADD_FAILURE() << "a program holds " << op.getName().getStringRef().str();
      }
    }
    return nullptr;
  }

private:
  static int64_t count(llvm::StringRef name, const Step &step) {
    const tw::RowCount rows = tw::RowCount::parse(name);
    const std::map<llvm::StringRef, int64_t> counts = {{"N", step.paddedRows},
                                                       {"R", step.paddedLogitRows},
                                                       {"rows", step.rows},
                                                       {"T", int64_t(step.tiles.size()) / 8},
                                                       {"P", int64_t(step.pages.size())}};
    auto found = counts.find(rows.base);
    return found == counts.end() ? 0 : found->second * rows.factor;
  }

  void runKernel(tw::DispatchOp op, llvm::DenseMap<mlir::Value, Memory> &values, const Step &step) {
    auto kernel = module->lookupSymbol<mlir::func::FuncOp>(op.getKernel());
    std::vector<void *> slots;
    for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i) { // the last two are the chunks
      if (auto symbol = kernel.getArgAttrOfType<mlir::StringAttr>(i, "tw.symbol")) {
        slots.push_back(reinterpret_cast<void *>(count(symbol.getValue(), step)));
        continue;
      }
      auto source = kernel.getArgAttrOfType<mlir::ArrayAttr>(i, "tw.source");
      llvm::StringRef kind = mlir::cast<mlir::StringAttr>(source[0]).getValue();
      auto number = [&](unsigned at) { return mlir::cast<mlir::IntegerAttr>(source[at]).getInt(); };
      if (kind == "operand") {
        slots.push_back(values.lookup(op->getOperand(number(1)))->as());
      } else if (kind == "result") {
        auto type = mlir::cast<mlir::MemRefType>(kernel.getArgumentTypes()[i]);
        auto dims = kernel.getArgAttrOfType<mlir::ArrayAttr>(i, "tw.dims");
        int64_t bytes = type.getElementTypeBitWidth() / 8;
        for (int64_t d = 0; d < type.getRank(); ++d)
          bytes *=
              type.isDynamicDim(d) ? count(mlir::cast<mlir::StringAttr>(dims[d]).getValue(), step) : type.getDimSize(d);
        values[op->getResult(number(1))] = std::make_shared<Mapping>(bytes);
        slots.push_back(values[op->getResult(number(1))]->as());
      } else if (kind == "state") {
        slots.push_back(pools[number(2)]->as());
      } else {
        llvm::StringRef table = mlir::cast<mlir::StringAttr>(source[1]).getValue();
        const auto &data = table == "tiles" ? step.tiles : table == "pages" ? step.pages : step.rowSlots;
        slots.push_back(const_cast<int32_t *>(data.data()));
      }
    }
    llvm::SmallVector<mlir::Attribute> counts, folded;
    for (llvm::StringRef name : {"N", "rows", "T", "R"})
      counts.push_back(mlir::Builder(&context()).getIndexAttr(count(name, step)));
    EXPECT_TRUE(succeeded(op.getChunks().constantFold(counts, folded)));
    const int64_t chunks = mlir::cast<mlir::IntegerAttr>(folded[0]).getInt();
    tw_abi_kernel entry = library->find(op.getKernel());
    ASSERT_TRUE(entry) << op.getKernel().str();
    entry(slots.data(), lastChunks ? std::max<int64_t>(0, chunks - lastChunks) : 0, chunks);
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<KernelLibrary> library;
};

Step rowsOnly(const ShapeClass &shapeClass, int64_t rows) {
  Step step;
  step.rows = step.logitRows = rows;
  step.paddedRows = step.paddedLogitRows = llvm::alignTo(rows, shapeClass.rowMultiple);
  return step;
}

/// A packed weight of zeros but for its last 16 rows, which are `bytes`.
Memory packedBehindZeros(const LayoutDescriptor &layout, int64_t rows, int64_t columns, llvm::ArrayRef<uint8_t> bytes) {
  Packer whole(layout, rows, columns), group(layout, 16, columns);
  auto packed = std::make_shared<Mapping>(whole.packedBytes());
  uint8_t *last = packed->as() + whole.packedBytes() - group.packedBytes();
  group.pack({bytes.data(), bytes.size()}, 0, group.groups(), {last, group.packedBytes()});
  return packed;
}

} // namespace

TEST(LargeOffsets, RowsOfATable) {
  constexpr int64_t rows = (1 << 20) + 16, columns = 2048;
  static_assert((rows - 16) * columns >= kLimit);
  const std::string text = R"(
ml_program.global private @t(#ml_program.extern : tensor<1048592x2048xf32>) : tensor<1048592x2048xf32>
func.func @f(%ids: tensor<?xi32>) -> tensor<?x2048xf32> {
  %t = ml_program.global_load_const @t : tensor<1048592x2048xf32>
  %y = tw.gather %t, %ids : tensor<1048592x2048xf32>, tensor<?xi32> -> tensor<?x2048xf32>
  return %y : tensor<?x2048xf32>
})";
  std::vector<float> last(16 * columns);
  std::iota(last.begin(), last.end(), 1.0f);
  for (const ShapeClass &shapeClass : shapeClasses()) {
    SparseProgram runner(text, "tile", shapeClass.name);
    ASSERT_TRUE(runner.ready());
    const Step step = rowsOnly(shapeClass, shapeClass.name == "decode" ? 1 : 3);
    runner.weights["t"] = packedBehindZeros(runner.layoutOf("t"), rows, columns,
                                            {reinterpret_cast<const uint8_t *>(last.data()), last.size() * 4});
    std::vector<int32_t> ids = {rows - 1, 0, rows - 2};
    ids.resize(step.paddedRows);
    auto got = runner.run("f", {memoryOf(ids)}, step);
    ASSERT_TRUE(got);
    for (int64_t row = 0; row < step.rows; ++row)
      for (int64_t i : {int64_t(0), columns - 1})
        EXPECT_EQ(got->as<float>()[row * columns + i], row == 1 ? 0 : last[(ids[row] - rows + 16) * columns + i])
            << "row " << row << ", class " << shapeClass.name.str();
  }
}

TEST(LargeOffsets, PagesOfACache) {
  constexpr int64_t heads = 4, dim = 128, page = (1 << 16) + 3;
  static_assert(page * heads * dim * kPageTokens > kLimit);
  for (const char *file : {"attention.mlir", "attention-fused.mlir"})
    for (const char *kvType : {"f32", "bf16"})
      for (const ShapeClass &shapeClass : shapeClasses()) {
        std::string text = inputText(file);
        if (!hasDialects(text))
          continue;
        for (auto [word, by] : std::vector<std::pair<const char *, const char *>>{
                 {"SINKS", ""}, {"MORE", ""}, {"CAUSAL", "end"}, {"H", "4"}, {"K", "4"}, {"DV", "128"}, {"D", "128"}})
          text = replaced(text, word, by);
        SparseProgram runner(text, "tile", shapeClass.name, kvType);
        ASSERT_TRUE(runner.ready());
        const size_t pageBytes = heads * dim * kPageTokens * (std::string(kvType) == "bf16" ? 2 : 4);
        for (int pool = 0; pool < 2; ++pool)
          runner.pools.push_back(std::make_shared<Mapping>((page + 1) * pageBytes));
        // Queries of 0 see the mean of the values so far.
        const int32_t rows = shapeClass.name == "decode" ? 1 : 3;
        Step step = rowsOnly(shapeClass, rows);
        for (int32_t row = 0; row < rows; ++row) {
          step.positions.push_back(row);
          step.rowSlots.insert(step.rowSlots.end(), {page, row});
        }
        step.positions.resize(step.paddedRows);
        step.rowSlots.resize(2 * step.paddedRows, -1);
        step.rowStart = {0, rows};
        step.kvLen = {rows};
        step.pages = {page};
        for (int32_t first = 0; first < rows; first += static_cast<int32_t>(shapeClass.queryTile))
          for (int32_t field :
               {first, std::min(static_cast<int32_t>(shapeClass.queryTile), rows - first), first, rows, 0, 1, 0, 0})
            step.tiles.push_back(field);
        const int64_t elements = step.paddedRows * heads * dim;
        std::vector<float> q(elements), k(elements, 0.5f), v(elements);
        for (int64_t i = 0; i < elements; ++i)
          v[i] = static_cast<float>(1 + i / (heads * dim));
        auto got = runner.run("step",
                              {memoryOf(q), memoryOf(k), memoryOf(v), memoryOf(step.rowStart), memoryOf(step.kvLen),
                               memoryOf(step.positions), memoryOf(std::vector<float>(heads)), nullptr},
                              step);
        ASSERT_TRUE(got);
        for (int64_t row = 0; row < rows; ++row)
          EXPECT_NEAR(got->as<float>()[row * heads * dim], 1 + 0.5 * static_cast<double>(row), 1e-2) << file << kvType;
        for (const auto &pool : runner.pools) {
          auto touched = [&](int64_t which) {
            const uint8_t *begin = pool->as() + which * static_cast<int64_t>(pageBytes);
            return std::any_of(begin, begin + pageBytes, [](uint8_t byte) { return byte != 0; });
          };
          EXPECT_TRUE(touched(page)) << file << kvType;
          EXPECT_FALSE(touched(page & 0xffff)) << "where offsets of 32 bits would have gone";
        }
      }
}

TEST(LargeOffsets, GroupsOfAPackedWeight) {
  constexpr int64_t rows = (1 << 17) + 16, columns = 16384;
  static_assert((rows - 16) * columns >= kLimit);
  for (llvm::StringRef name : {"f32", "bf16"}) {
    if (!hasPackedLayout(name))
      continue;
    const std::string weight = "tensor<131088x16384x" + name.str() + ">";
    const std::string text = "ml_program.global private @w(#ml_program.extern : " + weight + ") : " + weight +
                             "\nfunc.func @f(%x: tensor<?x16384xf32>) -> tensor<?x131088xf32> {\n" +
                             "  %w = ml_program.global_load_const @w : " + weight +
                             "\n  %y = tw.linear %x, %w : tensor<?x16384xf32>, " + weight +
                             " -> tensor<?x131088xf32>\n  return %y : tensor<?x131088xf32>\n}\n";
    for (const ShapeClass &shapeClass : shapeClasses()) {
      SparseProgram runner(text, "tile", shapeClass.name);
      ASSERT_TRUE(runner.ready());
      runner.lastChunks = 1;
      const std::vector<uint8_t> one =
          name == "f32" ? std::vector<uint8_t>{0, 0, 0x80, 0x3f} : std::vector<uint8_t>{0x80, 0x3f};
      std::vector<uint8_t> ones;
      for (int64_t i = 0; i < 16 * columns; ++i)
        ones.insert(ones.end(), one.begin(), one.end());
      runner.weights["w"] = packedBehindZeros(runner.layoutOf("w"), rows, columns, ones);
      const Step step = rowsOnly(shapeClass, shapeClass.name == "decode" ? 1 : 3);
      std::vector<float> x(step.paddedRows * columns);
      for (int64_t row = 0; row < step.rows; ++row)
        std::fill_n(x.begin() + row * columns, columns, static_cast<float>(row + 1));
      auto got = runner.run("f", {memoryOf(x)}, step);
      ASSERT_TRUE(got);
      for (int64_t row = 0; row < step.rows; ++row)
        for (int64_t column : {rows - 1, rows - 16})
          EXPECT_EQ(got->as<float>()[row * rows + column], static_cast<float>((row + 1) * columns))
              << name.str() << ", class " << shapeClass.name.str();
    }
  }
}

TEST(LargeOffsets, QueriesKeysAndValuesInOneTensor) {
  constexpr int64_t length = 174763, heads = 32, dim = 128;
  static_assert(((length - 1) * 3 + 2) * heads * dim >= kLimit);
  const std::string text = R"(func.func @f(%x: tensor<1x174763x3x32x128xf32>) -> tensor<1x174763x32x128xf32> {
  %y = tw.attention query(%x : tensor<1x174763x3x32x128xf32>) {scale = 0.1 : f64, layout = "bt3hd", causal = "end", window = 2 : i64} -> tensor<1x174763x32x128xf32>
  return %y : tensor<1x174763x32x128xf32>
})";
  for (const char *first : {"tile", "simplify"}) {
    SparseProgram runner(text, first, "prefill");
    ASSERT_TRUE(runner.ready());
    runner.lastChunks = 1;
    auto x = std::make_shared<Mapping>(length * 3 * heads * dim * sizeof(float));
    // Queries are 0, so that the last row is the mean of the last two values.
    for (int64_t row : {length - 2, length - 1})
      for (int64_t i = 0; i < heads * dim; ++i)
        x->as<float>()[(row * 3 + 2) * heads * dim + i] = static_cast<float>(i + row - length);
    auto got = runner.run("f", {x}, rowsOnly(*findShapeClass("prefill"), 1));
    ASSERT_TRUE(got);
    const float *last = got->as<float>() + (length - 1) * heads * dim;
    for (int64_t i : {(heads - 1) * dim, heads * dim - 1}) // the last chunk has the last head
      EXPECT_NEAR(last[i], static_cast<double>(i) - 1.5, 1e-3) << first << ", element " << i;
  }
}

TEST(LargeOffsets, ElementsOfResults) {
  constexpr int64_t rows = (1 << 20) + 16, columns = 2048;
  const std::string text = R"(func.func @f(%x: tensor<1048592x2048xf32>) -> tensor<1048592x2048xf32> {
  %y = tw.add %x, %x : tensor<1048592x2048xf32>
  return %y : tensor<1048592x2048xf32>
})";
  SparseProgram runner(text, "tile", "prefill");
  ASSERT_TRUE(runner.ready());
  runner.lastChunks = 1;
  auto x = std::make_shared<Mapping>(rows * columns * sizeof(float));
  x->as<float>()[rows * columns - 1] = 21;
  auto got = runner.run("f", {x}, rowsOnly(*findShapeClass("prefill"), 1));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->as<float>()[rows * columns - 1], 42);
}
