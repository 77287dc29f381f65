// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The public function that loads graph files: any bytes give an error or a graph that every view of it can read.
#include "frontend/graph/Inspect.h"
#include "tests/fuzz/Seeds.h"
#include "tests/unit/support/GraphFixture.h"

using namespace llvm;
using namespace tilewright;

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  test::writeSeed("sample.twg", test::sampleGraph());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<GraphFile> file =
      GraphFile::loadBytes(test::bufferOf(ArrayRef(data, size)), "fuzz.twg", {"", /*openWeights=*/false});
  if (!file) {
    consumeError(file.takeError());
    return 0;
  }
  raw_null_ostream os;
  inspectSummary(*file, os);
  inspectTable(*file, os);
  inspectJson(*file, os);
  inspectDot(*file, os);
  return 0;
}
