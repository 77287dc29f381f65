// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any files in a model's folder: they become a graph or are refused. An input is the files one behind another, each
// behind a line "=NAME ZEROS" and followed by so many zero bytes: the header of a safetensors file alone is enough.
#include "frontend/graph/GraphFile.h"
#include "frontend/import/ImportModel.h"
#include "tests/fuzz/Seeds.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace tilewright;

static const std::string golden = std::string(TILEWRIGHT_TEST_DATA) + "/golden/";

/// As many as the weights of the models that seeds are made of.
static constexpr uint64_t mostZeros = 1 << 20;

/// Mutations of names would seldom find another that is read.
static constexpr StringLiteral names[] = {
    "config.json",           "model.safetensors",       "model.safetensors.index.json",
    "model-1.safetensors",   "model-2.safetensors",     "tokenizer.json",
    "tokenizer_config.json", "special_tokens_map.json", "generation_config.json",
    "chat_template.jinja"};

static std::string section(StringRef name, StringRef content, uint64_t zeros = 0) {
  return ("\n=" + name + " " + Twine(zeros) + "\n" + content).str();
}

static std::string textOf(const std::string &path) {
  std::vector<uint8_t> bytes = test::readBytes(path);
  return toStringRef(bytes).str();
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  auto seed = [](const Twine &name, const std::string &text) {
    test::writeSeed(name.str(), arrayRefFromStringRef(text));
  };
  std::error_code error;
  for (sys::fs::directory_iterator it(golden + "models", error), end; it != end && !error; it.increment(error)) {
    const std::string weights = textOf(it->path() + "/model.safetensors");
    const uint64_t start = 8 + support::endian::read64le(weights.data());
    const std::string config = section("config.json", textOf(it->path() + "/config.json"));
    const StringRef header = StringRef(weights).take_front(start), model = sys::path::filename(it->path());
    const uint64_t zeros = weights.size() - start;
    seed(model, config + section("model.safetensors", header, zeros));
    if (model == "gpt2")
      seed("tokenizer", config + section("model.safetensors", header, zeros) +
                            section("tokenizer.json", textOf(golden + "tokenizers/word_level/tokenizer.json")) +
                            section("generation_config.json", "{\"eos_token_id\": [0, 1]}"));
    if (model == "llama") {
      json::Object map;
      const json::Value tensors = cantFail(json::parse(header.drop_front(8)));
      for (const auto &[tensor, entry] : *tensors.getAsObject())
        if (tensor != "__metadata__")
          map[tensor] = "model-1.safetensors";
      std::string index;
      raw_string_ostream(index) << json::Value(json::Object{{"weight_map", std::move(map)}});
      seed("shards",
           config + section("model-1.safetensors", header, zeros) + section("model.safetensors.index.json", index));
    }
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::TestFolder folder;
  SmallVector<StringRef> sections;
  toStringRef(ArrayRef(data, size)).split(sections, "\n=");
  for (StringRef text : drop_begin(sections)) {
    auto [head, content] = text.split('\n');
    auto [name, zeros] = head.split(' ');
    uint64_t count = 0;
    if (!is_contained(names, name) || zeros.getAsInteger(10, count))
      continue;
    std::vector<uint8_t> bytes(content.bytes_begin(), content.bytes_end());
    bytes.resize(bytes.size() + std::min(count, mostZeros));
    folder.write(name, bytes);
  }
  Expected<ImportResult> imported = importModel(folder.path(), folder.path("m.twg"));
  if (!imported) {
    consumeError(imported.takeError());
    return 0;
  }
  // What is made has to be a graph.
  StringRef bytes = toStringRef(ArrayRef<uint8_t>(imported->bytes));
  cantFail(GraphFile::loadBytes(MemoryBuffer::getMemBufferCopy(bytes), folder.path("m.twg")));
  return 0;
}
