// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check-golden DIR: every case of a folder of golden data on a backend, compared with what is stored.
#include "tools/ExitCodes.h"
#include "tools/golden/CoreCases.h"
#include "tools/golden/RunCase.h"
#include "tools/host/Host.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace tilewright;

namespace {

llvm::cl::opt<std::string> folder(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("DIR"));
llvm::cl::opt<std::string> filter("filter", llvm::cl::desc("Only cases whose technique/case contains this"),
                                  llvm::cl::value_desc("SUBSTRING"));
llvm::cl::opt<std::string> backend("backend", llvm::cl::desc("reference (default) or cpu"),
                                   llvm::cl::init("reference"));
llvm::cl::opt<std::string> numerics("numerics", llvm::cl::desc("precise (default) or fast; of the cpu backend"),
                                    llvm::cl::init("precise"));

ExitCode usage(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "check-golden") << message << "\n";
  return Usage;
}

ExitCode badInput(llvm::Error error) {
  llvm::WithColor::error(llvm::errs(), "check-golden") << llvm::toString(std::move(error)) << "\n";
  return BadInput;
}

/// The case files below `folder`, sorted; at least one.
llvm::Expected<std::vector<std::string>> caseFiles(llvm::StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".safetensors")
      files.push_back(it->path());
  if (error)
    return llvm::createStringError(folder + ": " + error.message());
  if (files.empty())
    return llvm::createStringError(folder + ": found no file *.safetensors below it");
  llvm::sort(files);
  return files;
}

} // namespace

int main(int argc, char **argv) {
  Host host;
  if (llvm::Error error = host.load(argc, argv))
    return badInput(std::move(error));
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compares stored cases of techniques with what a backend computes\n");
  if (backend != "reference" && backend != "cpu")
    return usage("--backend is '" + backend + "', wanted reference or cpu");
  if (numerics != "precise" && numerics != "fast")
    return usage("--numerics is '" + numerics + "', wanted precise or fast");
  GoldenRegistry builders;
  addCoreCases(builders);
  for (const LoadedPlugin &plugin : host.plugins.loaded())
    if (plugin.registerGolden)
      plugin.registerGolden(&builders);
  if (!builders.duplicates().empty())
    return usage("technique '" + builders.duplicates().front() +
                 "' has two builders; leave one plugin out (--no-plugin NAME)");

  llvm::Expected<std::vector<std::string>> files = caseFiles(folder);
  if (!files)
    return badInput(files.takeError());
  mlir::MLIRContext context(host.dialects);
  context.loadAllAvailableDialects();
  ReceiptCollector receipts;
  if (llvm::Error error = receipts.install(context, &host.stages)) {
    llvm::WithColor::error(llvm::errs(), "check-golden") << llvm::toString(std::move(error)) << "\n";
    return WorkFailed;
  }
  GoldenRun run{backend == "cpu", numerics, &receipts};
  // The linker in this process takes back what the command line has set.
  const std::string wanted = filter, where = folder;
  unsigned counts[3] = {};
  for (const std::string &file : *files) {
    llvm::Expected<StoredCase> stored = StoredCase::read(file, &context);
    if (!stored) {
      llvm::outs() << "failed       " << llvm::toString(stored.takeError()) << "\n";
      ++counts[static_cast<int>(Outcome::Failed)];
      continue;
    }
    std::string name = stored->technique + "/" + stored->contents.name;
    if (!llvm::StringRef(name).contains(wanted))
      continue;
    CaseResult result = runCase(*stored, builders, host.stages, &context, run);
    constexpr llvm::StringLiteral words[] = {"passed", "failed", "unsupported"};
    llvm::outs() << llvm::formatv("{0,-12} {1}: {2}\n", words[static_cast<int>(result.outcome)], name, result.text);
    ++counts[static_cast<int>(result.outcome)];
  }
  if (counts[0] + counts[1] + counts[2] == 0)
    return badInput(llvm::createStringError(where + ": has no case whose technique/case contains '" + wanted + "'"));
  llvm::outs() << llvm::formatv("{0} passed, {1} failed, {2} unsupported\n", counts[0], counts[1], counts[2]);
  return counts[1] ? CheckFailed : counts[2] ? Unsupported : Success;
}
