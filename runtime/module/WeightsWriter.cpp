// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/WeightsWriter.h"

#include "runtime/api/Error.h"
#include "runtime/api/weights_file.h"
#include "runtime/module/FileBytes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <xxhash.h>

namespace tilewright {
namespace {

constexpr uint64_t kPieceBytes = 4u << 20;

[[noreturn]] void failWrite(const std::string &path, const char *what, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  throw Error(full ? TW_EXHAUSTED : TW_IO, path + ": cannot " + what + ": " + std::strerror(code));
}

void writeAll(int file, const std::string &path, const uint8_t *bytes, uint64_t count, uint64_t at) {
  while (count) {
    const ssize_t done = ::pwrite(file, bytes, std::min<uint64_t>(count, 1u << 30), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      failWrite(path, "write", done < 0 ? errno : ENOSPC);
    bytes += done;
    at += static_cast<uint64_t>(done);
    count -= static_cast<uint64_t>(done);
  }
}

} // namespace

uint64_t hashOfHashes(const std::vector<uint64_t> &hashes) { return XXH3_64bits(hashes.data(), hashes.size() * 8); }

WeightsWriter::WeightsWriter(std::string target) : path(std::move(target)) {
  static std::atomic<uint32_t> serial{0};
  temporary = path + ".writing-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
  file = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0)
    failWrite(temporary, "create", errno);
  position = sizeof(tw_weights_header);
}

WeightsWriter::~WeightsWriter() {
  if (file >= 0) {
    ::close(file);
    ::unlink(temporary.c_str());
  }
}

void WeightsWriter::write(const uint8_t *bytes, uint64_t count) {
  writeAll(file, temporary, bytes, count, position);
  position += count;
}

PlacedWeight WeightsWriter::add(const Packer &packer, std::span<const uint8_t> source) {
  // The gap before an aligned offset stays a hole of zero bytes.
  position = (position + TW_WEIGHTS_ALIGNMENT - 1) / TW_WEIGHTS_ALIGNMENT * TW_WEIGHTS_ALIGNMENT;
  PlacedWeight placed{position, packer.packedBytes(), 0};
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state || XXH3_64bits_reset(state.get()) != XXH_OK)
    throw std::bad_alloc();
  const int64_t groups =
      std::clamp<int64_t>(static_cast<int64_t>(kPieceBytes / packer.groupBytes()), 1, packer.groups());
  std::vector<uint8_t> piece;
  for (int64_t first = 0; first < packer.groups(); first += groups) {
    const int64_t count = std::min(groups, packer.groups() - first);
    piece.resize(packer.groupBytes() * static_cast<uint64_t>(count));
    packer.pack(source, first, count, piece);
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
    write(piece.data(), piece.size());
  }
  placed.hash = XXH3_64bits_digest(state.get());
  hashes.push_back(placed.hash);
  return placed;
}

FinishedWeights WeightsWriter::finish() {
  const FinishedWeights finished{position, hashOfHashes(hashes)};
  tw_weights_header header{};
  std::memcpy(header.magic, TW_WEIGHTS_MAGIC, sizeof header.magic);
  header.length = finished.length;
  header.hash = finished.hash;
  writeAll(file, temporary, reinterpret_cast<const uint8_t *>(&header), sizeof header, 0);
  // Delayed allocation reports a full disk only here.
  if (::fdatasync(file) != 0)
    failWrite(temporary, "write", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    failWrite(path, "rename to it", errno);
  ::close(file);
  file = -1;
  return finished;
}

void sealCodeFile(const std::string &path) {
  const FileBytes code = FileBytes::map(path);
  tw_code_seal seal{};
  std::memcpy(seal.magic, TW_CODE_SEAL_MAGIC, sizeof seal.magic);
  seal.hash = XXH3_64bits(code.bytes().data(), code.bytes().size());
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    failWrite(path, "open", errno);
  try {
    writeAll(file, path, reinterpret_cast<const uint8_t *>(&seal), sizeof seal, code.bytes().size());
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
}

} // namespace tilewright
