// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Environment.h"

#include "plugins/api/Search.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <dlfcn.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace tilewright::conformance {

namespace {

/// What a library could put into global registries of LLVM and MLIR by merely being loaded.
struct Registrations {
  llvm::StringSet<> options;
  llvm::StringSet<> passLines; ///< as MLIR lists them

  static Registrations now() {
    Registrations all;
    for (const auto &entry : llvm::cl::getRegisteredOptions())
      all.options.insert(entry.first);
    // The pass registry can only be printed, and that to the standard output.
    llvm::outs().flush();
    int output = dup(STDOUT_FILENO), memory = memfd_create("passes", MFD_CLOEXEC);
    dup2(memory, STDOUT_FILENO);
    printRegisteredPasses();
    llvm::outs().flush();
    dup2(output, STDOUT_FILENO);
    close(output);
    off_t size = lseek(memory, 0, SEEK_END);
    std::string text(size, '\0');
    if (pread(memory, text.data(), size, 0) == size) {
      SmallVector<StringRef> lines;
      StringRef(text).split(lines, '\n', -1, false);
      for (StringRef line : lines)
        all.passLines.insert(line.trim());
    }
    close(memory);
    return all;
  }

  /// What `later` has beyond this, in words.
  std::vector<std::string> added(const Registrations &later) const {
    std::vector<std::string> found;
    for (const auto &entry : later.options)
      if (!options.contains(entry.getKey()))
        found.push_back("command-line option '" + entry.getKey().str() + "'");
    for (const auto &entry : later.passLines)
      if (!passLines.contains(entry.getKey()) && entry.getKey().starts_with("--"))
        found.push_back("pass '" + entry.getKey().drop_front(2).split(' ').first.rtrim('-').str() + "'");
    llvm::sort(found);
    return found;
  }
};

} // namespace

unsigned threadCount() {
  unsigned count = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator task("/proc/self/task", error), end; task != end && !error;
       task.increment(error))
    ++count;
  return count;
}

Finding watchThreads(const std::function<Finding()> &run) {
  Finding finding = run();
  if (finding.outcome == Outcome::Failed)
    return finding;
  // A thread that was joined may be listed for a moment yet.
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && threadCount() > 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (unsigned count = threadCount(); count > 1)
    return failed("leaves " + std::to_string(count - 1) + " thread(s) running: a plugin has no threads of its own");
  return finding;
}

Finding Environment::checkConstructors() {
  Registrations before = Registrations::now();
  announce("in its static constructors");
  // Alone, before anything of it is called. What keeps it from being loaded the loader says better, later.
  if (!dlopen(target.path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return passed();
  std::vector<std::string> added = before.added(Registrations::now());
  if (added.empty())
    return passed();
  return failed("register " + llvm::join(added, ", ") + "; register from the entry function, through its registries");
}

Finding Environment::loadPlugin() {
  announce("in its entry function");
  std::vector<std::string> all = target.plugins;
  all.push_back(target.path);
  if (llvm::Error error =
          host.load(llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&threadCount)), all))
    return failed(llvm::toString(std::move(error)));
  for (const LoadedPlugin &loaded : host.plugins.loaded())
    if (loaded.path == target.path)
      plugin = &loaded;
  context = std::make_unique<MLIRContext>(host.dialects, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false); // errors are quoted in one line
  if (llvm::Error error = receipts.install(*context, &host.stages))
    return failed(llvm::toString(std::move(error)));
  for (const std::string &dialect : plugin->dialects) {
    announce("while dialect '" + dialect + "' registers its ops; is one of them there twice?");
    context->getOrLoadDialect(dialect);
  }
  announce("while all dialects are loaded");
  context->loadAllAvailableDialects();
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (llvm::is_contained(plugin->dialects, name.getDialectNamespace()))
      ops.push_back(name.getStringRef().str());
  llvm::sort(ops);
  return passed();
}

Finding Environment::readSamples() {
  if (target.samples.empty() && plugin->dialects.empty() &&
      plugin->passes.empty()) // all that it has is its runtime half
    return passed();
  if (target.samples.empty())
    return failed("the plugin carries no samples: add_tilewright_plugin(... SAMPLES samples.mlir)");
  auto isLoaded = [&](const std::string &name) {
    return llvm::any_of(host.plugins.loaded(), [&](const LoadedPlugin &loaded) { return loaded.note.name == name; });
  };
  unsigned leftOut = 0;
  std::vector<std::string> wrong;
  for (const SampleText &sample : target.samples) {
    if (!llvm::all_of(sample.required, isLoaded)) {
      ++leftOut;
      continue;
    }
    samples.push_back(&sample);
    if (sample.isBad)
      continue;
    std::string place = "the sample of line " + std::to_string(sample.line), error;
    announce("while " + place + " is parsed and verified");
    for (Program &program : Program::parse(*context, sample, error))
      programs.push_back(std::move(program));
    if (!error.empty())
      wrong.push_back(place + ": " + error);
  }
  if (!wrong.empty())
    return failed(llvm::join(wrong, "\n"));
  return passed(std::to_string(programs.size()) + " good functions" +
                (leftOut ? ", " + std::to_string(leftOut) + " samples left out for want of a plugin" : ""));
}

Finding Environment::checkProvisions() const {
  std::vector<std::string> wrong;
  for (const std::string &pass : plugin->passes)
    if (!llvm::is_contained(target.note.provides, "pass:" + pass))
      wrong.push_back("pass '" + pass + "' is not in the note; add 'pass:" + pass + "' to TILEWRIGHT_PLUGIN_NOTE");
  const std::string half = runtimeHalfBeside(target.path, target.note.name), word = "runtime:" + target.note.name;
  const bool isThere = llvm::sys::fs::exists(half);
  if (target.note.hasRuntimeHalf() && !isThere)
    wrong.push_back("the note says '" + word + "', and there is no " + half +
                    "; build it with add_tilewright_runtime_half(" + target.note.name + " ...)");
  if (!target.note.hasRuntimeHalf() && isThere)
    wrong.push_back(half + " is not in the note; add '" + word + "' to TILEWRIGHT_PLUGIN_NOTE");
  return wrong.empty() ? passed() : failed(llvm::join(wrong, "\n"));
}

Finding Environment::checkPassOrder() const {
  if (plugin->passes.empty())
    return absent("no pass");
  for (StringRef stage : stageNames())
    if (auto passes = orderStage(host.stages, stage); !passes)
      return failed(llvm::toString(passes.takeError()));
  return passed("beside those of " + std::to_string(host.plugins.loaded().size() - 1) + " other plugins");
}

std::vector<Finding> Environment::load() {
  std::vector<Finding> findings;
  auto add = [&](const char *check, const std::function<Finding()> &run) {
    Finding finding = watchThreads(run);
    finding.subject = "plugin";
    finding.check = check;
    findings.push_back(std::move(finding));
    return findings.back().outcome != Outcome::Failed;
  };
  isUsable =
      add("static constructors", [&] { return checkConstructors(); }) && add("load", [&] { return loadPlugin(); });
  if (isUsable) {
    add("samples", [&] { return readSamples(); });
    add("provisions", [&] { return checkProvisions(); });
    add("pass order", [&] { return checkPassOrder(); });
  }
  return findings;
}

std::vector<const Program *> Environment::programsOf(StringRef op) const {
  std::vector<const Program *> found;
  for (const Program &program : programs)
    if (program.contains(op))
      found.push_back(&program);
  return found;
}

} // namespace tilewright::conformance
