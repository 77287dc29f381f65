// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check-golden DIR: every case of a folder of golden data on a backend, compared with what is stored.
#include "tools/ExitCodes.h"
#include "tools/golden/CoreCases.h"
#include "tools/golden/ModelCase.h"
#include "tools/golden/RunCase.h"
#include "tools/host/Host.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// The cases below `folder`, sorted: files, and folders of models; at least one. A file is a case itself.
llvm::Expected<std::vector<std::string>> casesBelow(llvm::StringRef folder) {
  std::vector<std::string> cases;
  if (isModelCase(folder) || llvm::sys::fs::is_regular_file(folder))
    return std::vector<std::string>{folder.str()};
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    if (isModelCase(it->path())) {
      cases.push_back(it->path());
      it.no_push();
    } else if (llvm::sys::path::extension(it->path()) == ".safetensors") {
      cases.push_back(it->path());
    }
  }
  if (error)
    return llvm::createStringError(folder + ": " + error.message());
  if (cases.empty())
    return llvm::createStringError(folder + ": found no file *.safetensors below it");
  llvm::sort(cases);
  return cases;
}

/// Cases as they are run: counted by outcome, a line for each, which is written before the next case is begun. Without
/// pointers: it lies in memory that processes share.
class Report {
public:
  size_t begun = 0; ///< cases
  bool isEnded = false;

  void add(const std::string &name, const CaseResult &result) {
    constexpr llvm::StringLiteral words[] = {"passed", "failed", "unsupported"};
    llvm::outs() << llvm::formatv("{0,-12} {1}: {2}\n", words[static_cast<int>(result.outcome)], name, result.text);
    llvm::outs().flush();
    ++counts[static_cast<int>(result.outcome)];
  }
  void addUnreadable(const std::string &message) {
    llvm::outs() << "failed       " << message << "\n";
    llvm::outs().flush();
    ++counts[static_cast<int>(Outcome::Failed)];
  }
  unsigned of(Outcome outcome) const { return counts[static_cast<int>(outcome)]; }

private:
  unsigned counts[3] = {};
};

/// Runs the cases that the report has not begun.
ExitCode runCases(llvm::ArrayRef<std::string> cases, const GoldenRegistry &builders, const Host &host, Report &report) {
  mlir::MLIRContext context(host.dialects);
  context.loadAllAvailableDialects();
  ReceiptCollector receipts;
  if (llvm::Error error = receipts.install(context, &host.stages)) {
    llvm::WithColor::error(llvm::errs(), "check-golden") << llvm::toString(std::move(error)) << "\n";
    return WorkFailed;
  }
  GoldenRun run{backend == "cpu", numerics, &receipts};
  // The linker in this process takes back what the command line has set.
  const std::string wanted = filter;
  while (report.begun < cases.size()) {
    const std::string &path = cases[report.begun++];
    if (isModelCase(path)) {
      std::string name = ("model/" + llvm::sys::path::filename(llvm::StringRef(path).rtrim('/'))).str();
      if (llvm::StringRef(name).contains(wanted))
        report.add(name, runModelCase(path, run, host.explicitPlugins));
      continue;
    }
    llvm::Expected<StoredCase> stored = StoredCase::read(path, &context);
    if (!stored) {
      report.addUnreadable(llvm::toString(stored.takeError()));
      continue;
    }
    std::string name = stored->technique + "/" + stored->contents.name;
    if (llvm::StringRef(name).contains(wanted))
      report.add(name, runCase(*stored, builders, host.stages, &context, run));
  }
  return Success;
}

/// Runs all cases in a process that starts again behind a case that has ended it. A builder sees what nobody has
/// verified: a fault of its own must not take the other cases along.
ExitCode runGuarded(llvm::ArrayRef<std::string> cases, const GoldenRegistry &builders, const Host &host,
                    Report &report) {
  while (!report.isEnded) {
    const size_t before = report.begun;
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const ExitCode code = runCases(cases, builders, host, report);
      report.isEnded = code == Success;
      _exit(code);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
      llvm::WithColor::error(llvm::errs(), "check-golden") << "no process for the cases: " << strerror(errno) << "\n";
      return Resources;
    }
    if (report.isEnded)
      break;
    if (report.begun == before) // it has said why it cannot begin
      return WorkFailed;
    const std::string &path = cases[report.begun - 1];
    report.addUnreadable(WIFSIGNALED(status) ? path + ": the case ended its process: " + strsignal(WTERMSIG(status))
                                             : path + ": the case ended its process with exit code " +
                                                   std::to_string(WEXITSTATUS(status)));
  }
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  Host host;
  if (ExitCode code = host.load(argc, argv, "check-golden"))
    return code;
  if (!llvm::cl::ParseCommandLineOptions(
          argc, argv, "Compares stored cases of techniques with what a backend computes\n", &llvm::errs()))
    return Usage;
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

  llvm::Expected<std::vector<std::string>> cases = casesBelow(folder);
  if (!cases)
    return badInput(cases.takeError());
  void *memory =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
  if (memory == MAP_FAILED)
    return badInput(llvm::createStringError("no memory to share: " + llvm::Twine(strerror(errno))));
  Report &report = *new (memory) Report;
  if (ExitCode code = runGuarded(*cases, builders, host, report); code != Success)
    return code;
  const unsigned passed = report.of(Outcome::Passed), failed = report.of(Outcome::Failed),
                 unsupported = report.of(Outcome::Unsupported);
  if (passed + failed + unsupported == 0)
    return badInput(llvm::createStringError(folder + ": has no case whose technique/case contains '" + filter + "'"));
  llvm::outs() << llvm::formatv("{0} passed, {1} failed, {2} unsupported\n", passed, failed, unsupported);
  return failed ? CheckFailed : unsupported ? Unsupported : Success;
}
