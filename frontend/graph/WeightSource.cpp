// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/WeightSource.h"

#include "frontend/graph/Access.h"
#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

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

Error WeightSource::addExtent(StringRef file, uint64_t offset, uint64_t length, const Twine &place) {
  ArrayRef<uint8_t> all = files.find(file)->second.bytes();
  if (offset > all.size() || length > all.size() - offset)
    return badInput(place + ": found offset " + Twine(offset) + " and length " + Twine(length) +
                    ", wanted an extent within the " + Twine(all.size()) + " bytes of " + quoted(file));
  weights.back().parts.push_back(all.slice(offset, length));
  return Error::success();
}

Expected<WeightSource> WeightSource::open(const graph::Graph &graph, StringRef graphPath, StringRef weightsDir) {
  WeightSource source;
  source.weights.reserve(sizeOf(graph.weights()));
  for (const graph::Weight *weight : elements(graph.weights())) {
    Stored &stored = source.weights.emplace_back();
    std::string place = (graphPath + ": weight " + quoted(text(weight->name()))).str();
    if (weight->transposed()) {
      const auto &shape = *weight->type()->shape();
      stored.rows = static_cast<uint64_t>(shape.Get(shape.size() - 2)->size());
      stored.columns = static_cast<uint64_t>(shape.Get(shape.size() - 1)->size());
      stored.elementBytes = builtinElementBytes(text(weight->type()->element())).value_or(1);
    }
    if (const auto *data = weight->inline_data()) {
      stored.parts.emplace_back(data->data(), data->size());
      continue;
    }
    auto add = [&](StringRef file, uint64_t offset, uint64_t length) -> Error {
      if (Error error = source.addFile(file, graphPath, weightsDir))
        return error;
      return source.addExtent(file, offset, length, place);
    };
    if (!sizeOf(weight->parts()))
      if (Error error = add(text(weight->file()), weight->offset(), weight->length()))
        return error;
    for (const graph::WeightPart *part : elements(weight->parts()))
      if (Error error = add(text(part->file()), part->offset(), part->length()))
        return error;
  }
  return source;
}

/// Matrices [rows, columns] one after another, from what holds them as [columns, rows].
static void transpose(const uint8_t *from, uint8_t *to, uint64_t bytes, uint64_t rows, uint64_t columns,
                      uint64_t elementBytes) {
  // In squares of rows and columns: both sides stay within the cache.
  constexpr uint64_t block = 32;
  const uint64_t matrixBytes = rows * columns * elementBytes;
  for (uint64_t at = 0; at < bytes; at += matrixBytes)
    for (uint64_t row0 = 0; row0 < rows; row0 += block)
      for (uint64_t column0 = 0; column0 < columns; column0 += block)
        for (uint64_t row = row0; row < std::min(rows, row0 + block); ++row)
          for (uint64_t column = column0; column < std::min(columns, column0 + block); ++column)
            std::memcpy(to + at + (row * columns + column) * elementBytes,
                        from + at + (column * rows + row) * elementBytes, elementBytes);
}

WeightBytes WeightSource::bytes(size_t index) const {
  const Stored &stored = weights[index];
  if (stored.parts.size() == 1 && stored.elementBytes == 0)
    return stored.parts.front();
  uint64_t length = 0;
  for (ArrayRef<uint8_t> part : stored.parts)
    length += part.size();
  std::vector<uint8_t> whole(length);
  uint8_t *to = whole.data();
  for (ArrayRef<uint8_t> part : stored.parts) {
    if (stored.elementBytes == 0)
      llvm::copy(part, to);
    else
      transpose(part.data(), to, part.size(), stored.rows, stored.columns, stored.elementBytes);
    to += part.size();
  }
  return whole;
}

Error WeightSource::checkHash(const graph::Graph &graph, size_t index) const {
  const graph::Weight *weight = graph.weights()->Get(index);
  const Stored &stored = weights[index];
  std::vector<uint8_t> hashes(8 * stored.parts.size());
  for (auto [i, part] : enumerate(stored.parts))
    support::endian::write64le(&hashes[8 * i], xxh3_64bits(part));
  uint64_t found = sizeOf(weight->parts()) ? xxh3_64bits(hashes) : support::endian::read64le(hashes.data());
  if (found == weight->hash())
    return Error::success();
  return badInput("weight " + quoted(text(weight->name())) + ": its bytes have the hash " + utohexstr(found, true, 16) +
                  ", wanted " + utohexstr(weight->hash(), true, 16) +
                  "; the weights file has changed since the import");
}

} // namespace tilewright
