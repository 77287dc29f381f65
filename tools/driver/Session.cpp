// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Session.h"

#include "frontend/import/ImportModel.h"
#include "frontend/translate/Translate.h"
#include "passes/api/CompileTrace.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilewright::driver {

std::string executablePath() {
  return llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&executablePath));
}

std::string graphPathBeside(const std::string &model) {
  return llvm::sys::fs::is_directory(model) ? model + "/model.twg" : model + ".twg";
}

llvm::Expected<GraphFile> openGraph(const std::string &path, const std::string &weightsDir, bool openWeights) {
  LoadOptions load;
  load.openWeights = openWeights;
  load.weightsDir = weightsDir;
  if (!isModel(path))
    return GraphFile::load(path, load);
  std::string graphPath = graphPathBeside(path);
  llvm::Expected<ImportResult> result = importModel(path, graphPath);
  if (!result)
    return result.takeError();
  StringRef bytes(reinterpret_cast<const char *>(result->bytes.data()), result->bytes.size());
  return GraphFile::loadBytes(llvm::MemoryBuffer::getMemBufferCopy(bytes, graphPath), graphPath, load);
}

Session::Session(const std::vector<std::string> &explicitPlugins, int threads) {
  code = report(plugins.load(executablePath(), explicitPlugins), Incompatible);
  if (code != Success)
    return;
  mlirContext = std::make_unique<MLIRContext>(plugins.dialects, MLIRContext::Threading::DISABLED);
  if (threads != 1) {
    threadPool = std::make_unique<llvm::DefaultThreadPool>(llvm::hardware_concurrency(static_cast<unsigned>(threads)));
    mlirContext->setThreadPool(*threadPool);
  }
  printer.emplace(mlirContext.get());
  mlirContext->loadAllAvailableDialects();
}

Session::~Session() {
  module = nullptr;
  printer.reset();
}

ModuleOp Session::open(const std::string &path, const std::string &weightsDir) {
  if (code != Success)
    return nullptr;
  CompileSpan span("read", path);
  llvm::Expected<GraphFile> file = openGraph(path, weightsDir);
  if (!file) {
    code = report(file.takeError(), BadInput);
    return nullptr;
  }
  graphFile.emplace(std::move(*file));
  printer->setGraphFile(graphFile->path());
  TranslateOptions options;
  if (llvm::Expected<PluginSearch> search = PluginSearch::fromEnvironment(executablePath()))
    options.searchedPlugins = search->folders;
  else
    llvm::consumeError(search.takeError());
  llvm::Expected<OwningOpRef<ModuleOp>> translated = translateToModule(*graphFile, *mlirContext, options);
  if (!translated) {
    code = report(translated.takeError(), BadInput);
    return nullptr;
  }
  module = std::move(*translated);
  return *module;
}

} // namespace tilewright::driver
