// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs to something that runs, by way of a temporary artifact.
#include "tools/driver/Compiler.h"
#include "tools/driver/step/CompiledStep.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilewright::driver {

llvm::Expected<std::unique_ptr<CompiledStep>> compileStep(Session &session, MutableArrayRef<ClassProgram> classes,
                                                          const CpuLevel *level, const KernelCompiler &compile,
                                                          StringRef numerics, int64_t tokens) {
  llvm::SmallString<128> path;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  llvm::sys::path::append(path, "tilewright-verify");
  llvm::Expected<OutputFolder> folder = OutputFolder::create(path.str().str());
  if (!folder)
    return folder.takeError();
  llvm::Expected<artifact::ManifestT> manifest = describeModel(session, numerics);
  if (!manifest)
    return manifest.takeError();
  Progress silent(/*quiet=*/true);
  if (writeArtifact(session, classes, level, compile, *manifest, *folder, silent) != Success)
    return llvm::createStringError("the model cannot be compiled (see above)");
  std::string message;
  std::unique_ptr<CompiledStep> step = CompiledStep::open(folder->file(""), tokens, message);
  if (!step)
    return llvm::createStringError(message);
  return step;
}

} // namespace tilewright::driver
