// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Link.h"

#include "passes/api/CompileTrace.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace tilewright {

/// Writes each object to a temporary file that is removed with what is returned, or when a signal ends the process.
static Error writeObjects(ArrayRef<ObjectBytes> objects, std::vector<std::string> &paths,
                          std::vector<std::unique_ptr<ToolOutputFile>> &files) {
  for (const ObjectBytes &object : objects) {
    int fd = -1;
    SmallString<128> path;
    if (std::error_code error = sys::fs::createTemporaryFile("tilewright", "o", fd, path))
      return createStringError(error, "cannot create a temporary object file: " + error.message());
    raw_fd_ostream &stream = files.emplace_back(std::make_unique<ToolOutputFile>(path, fd))->os();
    paths.push_back(path.str().str());
    stream.write(object.data(), object.size());
    stream.close();
    if (stream.has_error()) {
      std::error_code error = stream.error();
      stream.clear_error();
      return createStringError(error, "cannot write '" + path + "': " + error.message());
    }
  }
  return Error::success();
}

Error linkSharedObject(ArrayRef<ObjectBytes> objects, StringRef path) {
  CompileSpan span("link");
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<ToolOutputFile>> files;
  if (Error error = writeObjects(objects, paths, files))
    return error;

  std::string output = path.str();
  std::vector<const char *> args{
      "ld.lld",          "-shared",          "-z",          "defs",       "-z", "noexecstack", "-z", "now",
      "--build-id=none", "--hash-style=gnu", "--threads=1", "-Bsymbolic", "-o", output.c_str()};
  for (const std::string &each : paths)
    args.push_back(each.c_str());

  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return createStringError("cannot link '" + path + "': an earlier link in this process crashed");
  std::string out, err;
  raw_string_ostream outStream(out), errStream(err);
  lld::Result result = lld::lldMain(args, outStream, errStream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0)
    return createStringError("cannot link '" + path + "': " + StringRef(errStream.str()).trim());
  return Error::success();
}

} // namespace tilewright
