// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GGUF reader: any bytes give an error or a file whose metadata and tensors can be read.
#include "frontend/import/EmbeddedFiles.h"
#include "frontend/import/gguf/GgufFile.h"
#include "tests/fuzz/Seeds.h"
#include "tests/unit/support/TestFolder.h"
#include "tests/unit/support/TinyLlama.h"

using namespace llvm;
using namespace tilewright;

static gguf::TypeTable types;

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  for (const EmbeddedFile &file : embeddedFamilies())
    if (file.name == "gguf-types.json")
      types = cantFail(gguf::TypeTable::parse(file.content, file.name));
  test::TinyLlama model;
  test::writeSeed("whole.gguf", model.finish());
  model.tensors.resize(2);
  test::writeSeed("short.gguf", model.finish());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::unique_ptr<MemoryBuffer> exact = test::bufferOf(ArrayRef(data, size));
  ArrayRef<uint8_t> view(reinterpret_cast<const uint8_t *>(exact->getBufferStart()), size);
  Expected<gguf::GgufFile> file = gguf::GgufFile::parse(view, "fuzz.gguf", types);
  if (!file) {
    consumeError(file.takeError());
    return 0;
  }
  volatile uint64_t sum = 0;
  for (const gguf::TensorInfo &tensor : file->tensors())
    sum = sum + file->tensorBytes(tensor).front() + file->tensorBytes(tensor).back();
  for (StringRef key : file->keys()) {
    consumeError(file->getInteger(key).takeError());
    consumeError(file->getFloat(key).takeError());
    consumeError(file->getBool(key).takeError());
    consumeError(file->getString(key).takeError());
    consumeError(file->getStrings(key).takeError());
    consumeError(file->getIntegers(key).takeError());
    consumeError(file->getFloats(key).takeError());
  }
  return 0;
}
