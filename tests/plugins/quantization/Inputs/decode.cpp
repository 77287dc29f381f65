// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// decode KIND RAW VALUES: decodes the blocks in file RAW and compares every bit with the f32 values in file VALUES.
// decode --encode KIND RAW VALUES: encodes these values and compares every bit with the blocks.
#include "plugins/quantization/Encode.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace tilewright::quantization;

static std::vector<uint8_t> read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int main(int argc, char **argv) {
  const bool encodes = argc > 1 && std::string(argv[1]) == "--encode";
  argv += encodes;
  if (argc - encodes != 4)
    return 2;
  for (const Format &f : allFormats()) {
    if (std::string(argv[1]) != f.name)
      continue;
    const std::vector<uint8_t> raw = read(argv[2]), wanted = read(argv[3]);
    const size_t blocks = raw.size() / f.blockBytes;
    if (blocks == 0 || raw.size() % f.blockBytes || wanted.size() != blocks * f.blockElements * sizeof(float)) {
      std::printf("%s: %zu bytes of blocks and %zu bytes of values do not fit\n", f.name, raw.size(), wanted.size());
      return 1;
    }
    std::vector<float> values(blocks * f.blockElements);
    size_t wrong = 0;
    if (encodes) {
      std::memcpy(values.data(), wanted.data(), wanted.size());
      std::vector<uint8_t> bytes(raw.size());
      encodeRow(f, values, bytes.data());
      for (size_t i = 0; i < raw.size(); ++i)
        wrong += bytes[i] != raw[i];
      std::printf("%s: %zu blocks encoded, %zu bytes differ\n", f.name, blocks, wrong);
    } else {
      for (size_t b = 0; b < blocks; ++b)
        decodeBlock(f, raw.data() + b * f.blockBytes, values.data() + b * f.blockElements);
      for (size_t e = 0; e < values.size(); ++e)
        wrong += std::memcmp(&values[e], wanted.data() + e * sizeof(float), sizeof(float)) != 0;
      std::printf("%s: %zu blocks, %zu values differ\n", f.name, blocks, wrong);
    }
    return wrong != 0;
  }
  return 2;
}
