// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/WeightSource.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace tilewright {

static bool isMissing(std::error_code code) { return code == std::errc::no_such_file_or_directory; }

Error WeightSource::addFile(StringRef file, StringRef graphPath, StringRef weightsDir) {
  if (files.contains(file))
    return Error::success();
  SmallVector<StringRef, 2> folders;
  if (!weightsDir.empty())
    folders.push_back(weightsDir);
  folders.push_back(sys::path::parent_path(graphPath));
  for (StringRef folder : folders) {
    Expected<MappedFile> mapped = MappedFile::openBeneath(folder, file);
    if (mapped) {
      files.try_emplace(file, std::move(*mapped));
      return Error::success();
    }
    std::error_code code;
    std::string message;
    handleAllErrors(mapped.takeError(), [&](const ErrorInfoBase &info) {
      code = info.convertToErrorCode();
      message = info.message();
    });
    if (!isMissing(code))
      return createStringError(code, graphPath + ": weights file: " + message);
  }
  std::string looked;
  for (StringRef folder : folders)
    looked += (looked.empty() ? "" : ", ") + quoted(folder.empty() ? "." : folder);
  return createStringError(std::make_error_code(std::errc::no_such_file_or_directory),
                           graphPath + ": weights file " + quoted(file) + " not found beneath " + looked +
                               "; put it there or give its folder with --weights-dir");
}

Expected<WeightSource> WeightSource::open(const graph::Graph &graph, StringRef graphPath, StringRef weightsDir) {
  WeightSource source;
  if (!graph.weights())
    return source;
  source.extents.reserve(graph.weights()->size());
  for (const graph::Weight *weight : *graph.weights()) {
    if (const auto *data = weight->inline_data()) {
      source.extents.emplace_back(data->data(), data->size());
      continue;
    }
    StringRef file = weight->file()->string_view();
    if (Error error = source.addFile(file, graphPath, weightsDir))
      return error;
    ArrayRef<uint8_t> all = source.files.find(file)->second.bytes();
    if (weight->offset() > all.size() || weight->length() > all.size() - weight->offset())
      return badInput(graphPath + ": weight " + quoted(weight->name()->string_view()) + ": found offset " +
                      Twine(weight->offset()) + " and length " + Twine(weight->length()) +
                      ", wanted an extent within the " + Twine(all.size()) + " bytes of " + quoted(file));
    source.extents.push_back(all.slice(weight->offset(), weight->length()));
  }
  return source;
}

Error WeightSource::checkHash(const graph::Graph &graph, size_t index) const {
  const graph::Weight *weight = graph.weights()->Get(index);
  uint64_t found = xxh3_64bits(extents[index]);
  if (found == weight->hash())
    return Error::success();
  return badInput("weight " + quoted(weight->name()->string_view()) + ": its bytes have the hash " +
                  utohexstr(found, true, 16) + ", wanted " + utohexstr(weight->hash(), true, 16) +
                  "; the weights file has changed since the import");
}

} // namespace tilewright
