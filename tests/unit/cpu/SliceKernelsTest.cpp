// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that are slices with some of their dimensions of size 1 dropped: which ones must not matter to the elements.
#include "tests/unit/cpu/KernelRunner.h"

#include "mlir/Parser/Parser.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Dims = std::vector<int64_t>;

/// Copies, negated, the slice `sizes` of a tensor `shape` at `offsets` (that of dimension `along` is the chunk), of
/// which the dimensions in `dropped` disappear, to the same slice of another.
struct SliceCase {
  Dims shape, sizes, offsets;
  size_t along;
  unsigned dropped;

  std::string list(const Dims &dims) const {
    std::string text;
    for (int64_t d : dims)
      text += (text.empty() ? "" : ", ") + std::to_string(d);
    return text;
  }
  static std::string type(const Dims &dims) {
    std::string text = "tensor<";
    for (int64_t d : dims)
      text += std::to_string(d) + "x";
    return text + "f32>";
  }
  std::string kernel(const std::string &name) const {
    Dims tile;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (!(dropped >> d & 1))
        tile.push_back(sizes[d]);
    std::string dims, kinds;
    for (size_t d = 0; d < tile.size(); ++d) {
      dims += (d ? ", d" : "d") + std::to_string(d);
      kinds += d ? ", \"parallel\"" : "\"parallel\"";
    }
    std::string places;
    for (size_t d = 0; d < offsets.size(); ++d)
      places += (d ? ", " : "") + (d == along ? "%i" : std::to_string(offsets[d]));
    std::string at = "[" + places + "] [" + list(sizes) + "] [" + list(Dims(sizes.size(), 1)) + "]";
    std::string whole = type(shape), part = type(tile), memory = whole;
    memory.replace(0, 6, "memref");
    std::string map = "affine_map<(" + dims + ") -> (" + dims + ")>";
    return "func.func @" + name + "(%a: " + memory + ", %b: " + memory + ", %low: index, %high: index) {\n" +
           "  %x = bufferization.to_tensor %a restrict : " + memory + " to " + whole + "\n" +
           "  %y = bufferization.to_tensor %b restrict writable : " + memory + " to " + whole + "\n" +
           "  %c1 = arith.constant 1 : index\n" + "  %z = scf.for %i = %low to %high step %c1 iter_args(%o = %y) -> (" +
           whole + ") {\n" + "    %s = tensor.extract_slice %x" + at + " : " + whole + " to " + part + "\n" +
           "    %d = tensor.extract_slice %o" + at + " : " + whole + " to " + part + "\n" +
           "    %g = linalg.generic {indexing_maps = [" + map + ", " + map + "], iterator_types = [" + kinds +
           "]} ins(%s : " + part + ") outs(%d : " + part +
           ") {\n    ^bb0(%in: f32, %out: f32):\n      %n = arith.negf %in : f32\n" +
           "      linalg.yield %n : f32\n    } -> " + part + "\n" + "    %p = tensor.insert_slice %g into %o" + at +
           " : " + part + " into " + whole + "\n" + "    scf.yield %p : " + whole + "\n  }\n" +
           "  bufferization.materialize_in_destination %z in restrict writable %b : (" + whole + ", " + memory +
           ") -> ()\n" + "  return\n}\n";
  }
  /// What the destination, full of `b`, becomes.
  std::vector<float> expected(const std::vector<float> &a, std::vector<float> b) const {
    Dims at(shape.size(), 0);
    for (size_t element = 0; element < a.size(); ++element) {
      bool inside = true;
      for (size_t d = 0; d < shape.size(); ++d)
        inside = inside && (d == along || (at[d] >= offsets[d] && at[d] < offsets[d] + sizes[d]));
      if (inside)
        b[element] = -a[element];
      for (size_t d = shape.size(); d-- > 0;) {
        if (++at[d] < shape[d])
          break;
        at[d] = 0;
      }
    }
    return b;
  }
};

std::vector<SliceCase> sliceCases() {
  std::vector<SliceCase> cases;
  std::mt19937 random(3);
  const int64_t extents[] = {1, 2, 3, 17, 40};
  while (cases.size() < 60) {
    SliceCase c;
    const size_t rank = 3 + random() % 2;
    c.along = random() % rank;
    for (size_t d = 0; d < rank; ++d) {
      int64_t extent = extents[random() % 5], size = d == c.along || random() % 2 ? 1 : extent;
      c.shape.push_back(extent);
      c.sizes.push_back(size);
      c.offsets.push_back(random() % (extent - size + 1));
    }
    c.dropped = 0;
    size_t left = c.sizes.size();
    for (size_t d = 0; d < c.sizes.size() && left > 1; ++d)
      if (c.sizes[d] == 1 && random() % 2) {
        c.dropped |= 1u << d;
        --left;
      }
    cases.push_back(c);
  }
  return cases;
}

class SliceKernels : public OnEachLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, SliceKernels, testing::ValuesIn(hostCpuLevels()), levelName);

TEST_P(SliceKernels, DroppedDimensionsDoNotMatter) {
  std::vector<SliceCase> cases = sliceCases();
  std::string text;
  for (auto [i, c] : llvm::enumerate(cases))
    text += c.kernel("slice" + std::to_string(i));
  KernelLibrary kernels(mlir::parseSourceString<mlir::ModuleOp>(text, &context()), "slices", *GetParam());
  for (auto [i, c] : llvm::enumerate(cases)) {
    size_t elements = 1;
    for (int64_t extent : c.shape)
      elements *= extent;
    std::vector<float> a = randomFloats(elements, i), b = randomFloats(elements, i + 1000);
    std::vector<float> want = c.expected(a, b);
    ASSERT_TRUE(kernels.run(("slice" + std::to_string(i)).c_str(), {a.data(), b.data()}, 0, c.shape[c.along]));
    EXPECT_EQ(b, want) << c.kernel("slice");
  }
}

} // namespace
