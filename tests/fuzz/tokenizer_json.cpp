// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as a tokenizer.json: read or refused; what is read becomes a tokenizer or is refused, and encodes hard
// texts.
#include "frontend/import/tokenizer/TokenizerFolder.h"
#include "tests/fuzz/Seeds.h"
#include "tools/driver/text/GraphText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace tilewright;

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  for (StringRef name : {"gpt2", "llama2", "roberta", "bert", "unigram", "word_level"}) {
    std::string path = std::string(TILEWRIGHT_TEST_DATA) + "/golden/tokenizers/" + name.str() + "/tokenizer.json";
    if (ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path))
      test::writeSeed(name, arrayRefFromStringRef((*file)->getBuffer()));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<std::unique_ptr<graph::TokenizerT>> read =
      readTokenizerJson({reinterpret_cast<const char *>(data), size}, "fuzz.json");
  if (!read) {
    consumeError(read.takeError());
    return 0;
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(graph::Tokenizer::Pack(builder, read->get()));
  GraphText text;
  std::string error;
  std::vector<int32_t> ids;
  if (text.open(flatbuffers::GetRoot<graph::Tokenizer>(builder.GetBufferPointer()), error))
    for (StringRef hard : {"Hello  world\n\n12 <s>x", "e\xCC\x81\xFF\xE6\x97\xA5 \xF0\x9F\x99\x82\xE2\x80\x8D"})
      if (text.encode(hard.str(), ids, error))
        for (int32_t id : ids)
          (void)text.decode(id);
  return 0;
}
