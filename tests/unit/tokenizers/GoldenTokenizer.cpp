// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/tokenizers/GoldenTokenizer.h"

#include "frontend/import/Family.h"
#include "frontend/import/tokenizer/GgufTokenizer.h"
#include "frontend/import/tokenizer/TokenizerFolder.h"
#include "tests/unit/support/GgufWriter.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llvm;

namespace tilewright::test {

template <typename T> static Bytes arrayOf(GgufKind kind, const std::vector<T> &values) {
  Bytes bytes;
  bytes.put<uint32_t>(ARRAY).put<uint32_t>(kind).template put<uint64_t>(values.size());
  for (T value : values)
    bytes.put(value);
  return bytes;
}

static std::vector<uint8_t> ggufFile(const nlohmann::json &metadata) {
  GgufWriter writer;
  for (const auto &[key, value] : metadata.items())
    if (key == "tokenizer.ggml.precompiled_charsmap") {
      std::vector<char> bytes;
      cantFail(decodeBase64(value.get<std::string>(), bytes));
      writer.raw(key, arrayOf(U8, std::vector<uint8_t>(bytes.begin(), bytes.end())));
    } else if (value.is_string()) {
      writer.string(key, value.get<std::string>());
    } else if (value.is_boolean()) {
      writer.scalar(key, BOOL, static_cast<uint8_t>(value.get<bool>()));
    } else if (value.is_number()) {
      writer.u32(key, value.get<uint32_t>());
    } else if (value[0].is_string()) {
      writer.strings(key, value.get<std::vector<std::string>>());
    } else if (value[0].is_number_integer()) {
      writer.raw(key, arrayOf(I32, value.get<std::vector<int32_t>>()));
    } else {
      writer.raw(key, arrayOf(F32, value.get<std::vector<float>>()));
    }
  return writer.finish();
}

std::string goldenFolder() {
  const char *other = std::getenv("TILEWRIGHT_GOLDEN_TOKENIZERS"); // made by make.py --out
  return other ? other : std::string(TILEWRIGHT_TEST_DATA) + "/golden/tokenizers";
}

std::unique_ptr<Tokenizer> goldenTokenizer(const std::string &name) {
  const std::string folder = goldenFolder() + "/" + name;
  graph::TokenizerT read;
  if (sys::fs::exists(folder + "/gguf.json")) {
    std::ifstream metadata(folder + "/gguf.json");
    const std::vector<uint8_t> bytes = ggufFile(nlohmann::json::parse(metadata));
    const FamilyLibrary families = cantFail(FamilyLibrary::load());
    gguf::GgufFile file = cantFail(gguf::GgufFile::parse(bytes, "t.gguf", families.ggufTypes()));
    Expected<graph::TokenizerT> tokenizer = readTokenizer(file);
    if (!tokenizer) {
      ADD_FAILURE() << toString(tokenizer.takeError());
      return nullptr;
    }
    read = std::move(*tokenizer);
  } else {
    Expected<std::unique_ptr<graph::TokenizerT>> tokenizer = readTokenizerFolder(folder);
    if (!tokenizer || !*tokenizer) {
      ADD_FAILURE() << name << ": " << (tokenizer ? "no tokenizer" : toString(tokenizer.takeError()));
      return nullptr;
    }
    read = std::move(**tokenizer);
  }
  return std::make_unique<Tokenizer>(dataOf(read));
}

} // namespace tilewright::test
