// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of weights of every storage type (tests/e2e/Inputs/storage-types.txt) and of many lengths: a linear map of
// one-hot inputs gives each decoded element, exactly, in the interpreter and compiled; rows that would end within a
// block whose elements share something are refused, so no block holds parts of two rows.
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"

#include "backends/reference/Interpreter.h"
#include "runtime/module/Packer.h"
#include "tools/functions/CompiledFunction.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr int64_t kRows = 5; // less than a group of 16

/// Bytes of `count` elements, a whole number of blocks or floats, that decode to moderate numbers.
std::vector<uint8_t> someBytes(Type type, int64_t count) {
  auto storage = cast<StorageType>(type);
  std::mt19937 random(11);
  std::vector<uint8_t> bytes;
  if (auto floating = dyn_cast<FloatType>(type)) {
    for (int64_t i = 0; i < count; ++i) {
      APFloat value(static_cast<double>(random() % 4001) / 1000.0 - 2.0);
      bool lost;
      value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      for (unsigned byte = 0; byte < floating.getWidth() / 8; ++byte)
        bytes.push_back(bits >> 8 * byte);
    }
    return bytes;
  }
  std::vector<float> decoded(storage.getBlockElements());
  while (static_cast<int64_t>(bytes.size()) < count / storage.getBlockElements() * storage.getBlockBytes()) {
    std::vector<uint8_t> block(storage.getBlockBytes());
    for (uint8_t &byte : block)
      byte = random();
    storage.decodeBlock(block.data(), decoded.data());
    if (llvm::all_of(decoded, [](float value) { return std::fabs(value) <= 1000; })) // false for NaN
      bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

/// What the bytes mean, each block alone.
std::vector<float> decoded(Type type, ArrayRef<uint8_t> bytes) {
  auto storage = cast<StorageType>(type);
  std::vector<uint8_t> padded(bytes.begin(), bytes.end());
  padded.resize(llvm::alignTo(padded.size(), storage.getBlockBytes()));
  std::vector<float> values(padded.size() / storage.getBlockBytes() * storage.getBlockElements());
  for (size_t block = 0; block * storage.getBlockBytes() < padded.size(); ++block)
    storage.decodeBlock(padded.data() + block * storage.getBlockBytes(),
                        values.data() + block * storage.getBlockElements());
  return values;
}

class OneWeight : public reference::WeightProvider {
public:
  explicit OneWeight(std::vector<uint8_t> stored) : stored(std::move(stored)) {}
  llvm::Expected<ArrayRef<uint8_t>> bytes(ml_program::GlobalOp) override { return ArrayRef<uint8_t>(stored); }

private:
  std::vector<uint8_t> stored;
};

std::string program(StringRef type, int64_t inputs, int64_t columns) {
  std::string weight = "tensor<" + std::to_string(kRows) + "x" + std::to_string(columns) + "x" + type.str() + ">";
  std::string x = "tensor<" + std::to_string(inputs) + "x" + std::to_string(columns) + "xf32>";
  std::string y = "tensor<" + std::to_string(inputs) + "x" + std::to_string(kRows) + "xf32>";
  return "ml_program.global private @w(#ml_program.extern : " + weight + ") : " + weight + "\nfunc.func @f(%x: " + x +
         ") -> " + y + " {\n  %w = ml_program.global_load_const @w : " + weight + "\n  %y = tw.linear %x, %w : " + x +
         ", " + weight + " -> " + y + "\n  return %y : " + y + "\n}\n";
}

void expectRows(StringRef name, Type type, int64_t columns) {
  SCOPED_TRACE(name.str() + ", rows of " + std::to_string(columns));
  auto storage = cast<StorageType>(type);
  const int64_t block = storage.getBlockElements();
  llvm::SetVector<int64_t> places;
  for (int64_t place : {int64_t{0}, int64_t{1}, int64_t{15}, int64_t{16}, int64_t{31}, int64_t{32}, columns / 2,
                        columns - 2, columns - 1})
    if (place >= 0 && place < columns)
      places.insert(place);

  std::string said;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  auto module = parseSourceString<ModuleOp>(program(name, places.size(), columns), &context());
  if (columns % block && !isa<FloatType>(type)) {
    EXPECT_FALSE(module);
    EXPECT_NE(said.find("weight has " + std::to_string(columns) + " columns, wanted a multiple of the block of"),
              std::string::npos)
        << said;
    return;
  }
  ASSERT_TRUE(module) << said;

  std::vector<uint8_t> bytes = someBytes(type, kRows * columns);
  const int64_t rowBytes = columns * storage.getBlockBytes() / block;
  ASSERT_EQ(static_cast<int64_t>(bytes.size()), kRows * rowBytes);
  EXPECT_EQ(Packer(storage.getLayout(), kRows, columns, std::nullopt).sourceBytes(), bytes.size());
  auto x = reference::Tensor::floats({static_cast<int64_t>(places.size()), columns});
  for (auto [i, place] : llvm::enumerate(places))
    x.reals[i * columns + place] = 1;

  OneWeight weight(bytes);
  auto interpreter = reference::Interpreter::create(*module, weight, reference::Precision::F64);
  ASSERT_TRUE(succeeded(interpreter)) << said;
  auto interpreted = (*interpreter)->run("f", {x});
  ASSERT_TRUE(succeeded(interpreted)) << said;
  auto compiled = CompiledFunction::create(*module, "f", host().stages, weight);
  ASSERT_TRUE(succeeded(compiled)) << said;
  auto ran = (*compiled)->run({x});
  ASSERT_TRUE(succeeded(ran)) << said;
  for (int64_t row = 0; row < kRows; ++row) {
    const std::vector<float> want = decoded(type, ArrayRef(bytes).slice(row * rowBytes, rowBytes));
    for (auto [i, place] : llvm::enumerate(places)) {
      EXPECT_EQ(std::get<reference::Tensor>((*interpreted)[0]).reals[i * kRows + row], want[place])
          << row << " " << place;
      EXPECT_EQ((*ran)[0].reals[i * kRows + row], want[place]) << row << " " << place;
    }
  }
}

} // namespace

TEST(Storage, RowsOfAnyLengthOrWholeBlocks) {
  context();
  SmallVector<StringRef> names;
  const std::string list = inputText("storage-types.txt");
  StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_GE(names.size(), 3u);
  for (StringRef name : names) {
    ScopedDiagnosticHandler quiet(&context(), [](Diagnostic &) { return success(); });
    Type type = parseType(name, &context());
    if (!type || !isa<StorageType>(type))
      continue; // its plugin is not built
    for (int64_t columns : {1, 31, 32, 33, 255, 256, 257, 4544, 14464})
      expectRows(name, type, columns);
  }
}

// A shared expert behind a sigmoid gate, beside a routed part of zeros, with weights of every storage type under both
// numerics (fast: products of bytes for types that have them). Where the gate's logit is 0 it is half of the ungated
// expert, exactly; elsewhere the gate is of the block's input, which the expert reads too.
TEST(Storage, EveryProductIsBehindItsGate) {
  context();
  SmallVector<StringRef> names;
  const std::string list = inputText("storage-types.txt");
  StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  constexpr int64_t columns = 256;
  for (StringRef name : names)
    for (const char *numerics : {"precise", "fast"})
      for (int64_t rows : {1, 33}) {
        ScopedDiagnosticHandler quiet(&context(), [](Diagnostic &) { return success(); });
        Type type = parseType(name, &context());
        if (!type || !isa<StorageType>(type))
          continue; // its plugin is not built
        SCOPED_TRACE(name.str() + ", " + numerics + ", " + std::to_string(rows) + " rows");
        const std::string weight = "tensor<" + std::to_string(kRows) + "x256x" + name.str() + ">",
                          n = std::to_string(rows), x = "tensor<" + n + "x256xf32>",
                          y = "tensor<" + n + "x" + std::to_string(kRows) + "xf32>";
        auto module = parseSourceString<ModuleOp>(
            "ml_program.global private @w(#ml_program.extern : " + weight + ") : " + weight +
                "\nfunc.func @f(%x: " + x + ", %g: tensor<1x256xf32>, %routed: " + y + ") -> (" + y + ", " + y +
                ") {\n  %w = ml_program.global_load_const @w : " + weight + "\n  %shared = tw.linear %x, %w : " + x +
                ", " + weight + " -> " + y + "\n  %logit = tw.linear %x, %g : " + x + ", tensor<1x256xf32> -> tensor<" +
                n + "x1xf32>\n  %open = tw.sigmoid %logit : tensor<" + n +
                "x1xf32>\n  %column = tw.reshape %open : tensor<" + n + "x1xf32> -> tensor<" + n +
                "xf32>\n  %factor = tw.broadcast %column like %shared dims [0] : tensor<" + n + "xf32>, " + y + " -> " +
                y + "\n  %part = tw.mul %shared, %factor : " + y + "\n  %sum = tw.add %routed, %part : " + y +
                "\n  return %shared, %sum : " + y + ", " + y + "\n}\n",
            &context());
        ASSERT_TRUE(module);
        OneWeight bytes(someBytes(type, kRows * columns));
        FunctionOptions options;
        options.numerics = numerics;
        options.firstStage = "simplify";
        auto compiled = CompiledFunction::create(*module, "f", host().stages, bytes, options);
        ASSERT_TRUE(succeeded(compiled));
        auto in = reference::Tensor::floats({rows, columns}), gate = reference::Tensor::floats({1, columns}),
             routed = reference::Tensor::floats({rows, kRows});
        std::mt19937 random(3);
        for (double &value : in.reals)
          value = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
        auto closed = (*compiled)->run({in, gate, routed});
        ASSERT_TRUE(succeeded(closed));
        for (size_t i = 0; i < routed.reals.size(); ++i) {
          ASSERT_NE((*closed)[0].reals[i], 0);
          EXPECT_EQ((*closed)[1].reals[i], 0.5 * (*closed)[0].reals[i]) << i;
        }
        for (double &value : gate.reals)
          value = static_cast<double>(random() % 2001) / 10000.0 - 0.1;
        auto opened = (*compiled)->run({in, gate, routed});
        ASSERT_TRUE(succeeded(opened));
        for (size_t i = 0; i < routed.reals.size(); ++i) {
          double logit = 0;
          for (int64_t k = 0; k < columns; ++k)
            logit += in.reals[static_cast<int64_t>(i) / kRows * columns + k] * gate.reals[k];
          const double shared = (*opened)[0].reals[i];
          EXPECT_NEAR((*opened)[1].reals[i], shared / (1 + std::exp(-logit)), 1e-5 * std::fabs(shared)) << i;
        }
      }
}

// No bit of a block is lost, whatever it is put together from.
TEST(Storage, PackedRowsComeBack) {
  context();
  SmallVector<StringRef> names;
  const std::string list = inputText("storage-types.txt");
  StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    ScopedDiagnosticHandler quiet(&context(), [](Diagnostic &) { return success(); });
    auto storage = dyn_cast_or_null<StorageType>(parseType(name, &context()));
    if (!storage)
      continue; // its plugin is not built
    SCOPED_TRACE(name.str());
    constexpr int64_t rows = 19, blocks = 3;
    const LayoutDescriptor layout = storage.getLayout();
    const Packer packer(layout, rows, blocks * layout.blockElements);
    std::mt19937 random(5);
    std::vector<uint8_t> stored(packer.sourceBytes()), packed(packer.packedBytes());
    for (uint8_t &byte : stored)
      byte = random();
    packer.pack(stored, 0, packer.groups(), packed);
    std::vector<uint8_t> row(packer.sourceRowBytes());
    for (int64_t r = 0; r < rows; ++r) {
      packer.unpackRow(packed, r, row);
      EXPECT_TRUE(llvm::equal(row, ArrayRef(stored).slice(r * row.size(), row.size()))) << r;
    }
  }
}
