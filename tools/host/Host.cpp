// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/host/Host.h"

#include "passes/Pipelines.h"
#include "tools/host/Escaped.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"

namespace tilewright {

Host::Host() {
  reportEscapedExceptions();
  registerCoreDialects(dialects);
  registerCorePasses(stages);
}

llvm::Error Host::load(llvm::StringRef executable, llvm::ArrayRef<std::string> wanted,
                       llvm::ArrayRef<std::string> without) {
  explicitPlugins.assign(wanted.begin(), wanted.end());
  llvm::Expected<PluginSearch> search = PluginSearch::fromEnvironment(executable);
  if (!search)
    return search.takeError();
  search->explicitPlugins = explicitPlugins;
  search->without.insert(search->without.end(), without.begin(), without.end());
  llvm::Error error = plugins.load(*search);
  for (const std::string &message : plugins.skipped())
    llvm::WithColor::warning(llvm::errs()) << message << "\n";
  return error;
}

ExitCode Host::load(int &argc, char **argv, llvm::StringRef tool) {
  const auto fault = [&](llvm::Error error, ExitCode code) {
    llvm::WithColor::error(llvm::errs(), tool) << llvm::toString(std::move(error)) << "\n";
    return code;
  };
  std::vector<std::string> wanted, without;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    std::vector<std::string> *list = nullptr;
    if (argument.consume_front("--plugin"))
      list = &wanted;
    else if (argument.consume_front("--no-plugin"))
      list = &without;
    if (list && argument.consume_front("=")) {
      list->push_back(argument.str());
    } else if (list && argument.empty()) {
      if (++i == argc)
        return fault(llvm::createStringError(llvm::Twine(argv[i - 1]) + " wants a name" +
                                             (list == &without ? "" : " or a file") + " behind it"),
                     Usage);
      list->push_back(argv[i]);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  argv[argc] = nullptr;
  if (llvm::Error error = load(
          llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&registerCoreDialects)), wanted, without))
    return fault(std::move(error), Incompatible);
  return Success;
}

} // namespace tilewright
