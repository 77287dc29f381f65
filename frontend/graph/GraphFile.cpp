// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/GraphFile.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/graph/Verifier.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace tilewright {

/// Nesting of tables: about thirty regions within each other.
static constexpr uint32_t maxTableDepth = 64;
/// The size of the header that the schema version is read from is unknown; the identifier's place is not.
static constexpr uint64_t minFileBytes = 8;

Expected<GraphFile> GraphFile::load(StringRef path, const LoadOptions &options) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return ioError(path, code);
  if (status.type() != sys::fs::file_type::regular_file)
    return badInput(path + ": is not a regular file");
  if (status.getSize() > maxFileBytes)
    return badInput(path + ": found a file of " + Twine(status.getSize()) + " bytes, wanted at most " +
                    Twine(maxFileBytes));
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return ioError(path, bytes.getError());
  return loadBytes(std::move(*bytes), path, options);
}

Expected<GraphFile> GraphFile::loadBytes(std::unique_ptr<MemoryBuffer> bytes, StringRef path,
                                         const LoadOptions &options) {
  uint64_t size = bytes->getBufferSize();
  if (size < minFileBytes)
    return badInput(path + ": found a file of " + Twine(size) + " bytes, wanted a graph file (at least " +
                    Twine(minFileBytes) + ")");
  if (size > maxFileBytes)
    return badInput(path + ": found a file of " + Twine(size) + " bytes, wanted at most " + Twine(maxFileBytes));
  // The generated accessors read through typed pointers.
  if (!isAddrAligned(Align(16), bytes->getBufferStart())) {
    auto copy = WritableMemoryBuffer::getNewUninitMemBuffer(size, path, Align(64));
    if (!copy)
      return ioError(path, std::make_error_code(std::errc::not_enough_memory));
    memcpy(copy->getBufferStart(), bytes->getBufferStart(), size);
    bytes = std::move(copy);
  }
  const auto *data = reinterpret_cast<const uint8_t *>(bytes->getBufferStart());
  StringRef identifier = bytes->getBuffer().substr(4, 4);
  if (identifier != graph::GraphIdentifier())
    return badInput(path + ": found the file identifier " + quoted(identifier) + ", wanted " +
                    quoted(graph::GraphIdentifier()) + ": not a Tilewright graph file");

  // A newer schema may break the rules of this one, so its version is read first, as far as that needs checking.
  flatbuffers::Verifier head(data, size, flatbuffers::Verifier::Options());
  uint32_t start = head.VerifyOffset(size_t(0));
  const auto *root = reinterpret_cast<const flatbuffers::Table *>(data + start);
  if (start != 0 && head.VerifyTableStart(data + start) &&
      root->VerifyField<uint32_t>(head, graph::Graph::VT_SCHEMA_VERSION, 4)) {
    uint32_t version = root->GetField<uint32_t>(graph::Graph::VT_SCHEMA_VERSION, 1);
    if (version == 0 || version > schemaVersion)
      return unsupported(path + ": found schema version " + Twine(version) + ", wanted 1 to " + Twine(schemaVersion) +
                         ": written by a newer Tilewright, or damaged");
  }
  BoundedVerifier verifier(data, size, maxTableDepth);
  if (!graph::VerifyGraphBuffer(verifier))
    return badInput(path + ": damaged: the FlatBuffers verifier refuses its " + Twine(size) +
                    " bytes (an offset, a size or a required field is wrong, tables nest deeper than " +
                    Twine(maxTableDepth) + ", or vectors share so many bytes that it holds more entries than bytes)");

  GraphFile file;
  file.buffer = std::move(bytes);
  file.name = path.str();
  file.root = graph::GetGraph(data);
  if (Error error = verifyStructure(*file.root, path, size))
    return error;
  if (options.openWeights) {
    Expected<WeightSource> source = WeightSource::open(*file.root, path, options.weightsDir);
    if (!source)
      return source.takeError();
    file.source = std::move(*source);
    file.weightsOpen = true;
  }
  return file;
}

} // namespace tilewright
