// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// decode KIND RAW VALUES: decodes the blocks in file RAW and compares every bit with the f32 values in file VALUES.
#include "plugins/quantization/Format.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace tilewright::quantization;

static std::vector<char> read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  for (FormatKind kind :
       {FormatKind::Q4_0, FormatKind::Q4_1, FormatKind::Q8_0, FormatKind::F16, FormatKind::BF16, FormatKind::Int8}) {
    const Format &f = format(kind);
    if (std::string(argv[1]) != f.name)
      continue;
    std::vector<char> raw = read(argv[2]), wanted = read(argv[3]);
    size_t blocks = raw.size() / f.blockBytes, wrong = 0;
    if (blocks == 0 || raw.size() % f.blockBytes || wanted.size() != blocks * f.blockElements * sizeof(float)) {
      std::printf("%s: %zu bytes of blocks and %zu bytes of values do not fit\n", f.name, raw.size(), wanted.size());
      return 1;
    }
    std::vector<float> out(f.blockElements);
    for (size_t b = 0; b < blocks; ++b) {
      decodeBlock(f, reinterpret_cast<const uint8_t *>(raw.data()) + b * f.blockBytes, out.data());
      for (size_t e = 0; e < out.size(); ++e)
        wrong += std::memcmp(&out[e], wanted.data() + (b * out.size() + e) * sizeof(float), sizeof(float)) != 0;
    }
    std::printf("%s: %zu blocks, %zu values differ\n", f.name, blocks, wrong);
    return wrong != 0;
  }
  return 2;
}
