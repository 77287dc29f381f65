// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Check.h"

#include "plugins/api/Search.h"
#include "tools/ExitCodes.h"
#include "tools/conformance/Environment.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"

namespace tilewright::conformance {

namespace {

/// Loads the plugin and lists the checks; runs in the child.
std::vector<Job> prepare(const Target &target) {
  auto *environment = new Environment(target); // the child ends without destructors
  std::vector<Job> jobs;
  auto add = [&](std::string subject, std::string check, std::function<Finding()> run, std::string needs = "") {
    jobs.push_back(
        {std::move(subject), std::move(check), [run = std::move(run)] { return watchThreads(run); }, std::move(needs)});
  };
  const Environment &e = *environment;
  for (Finding &finding : environment->load()) {
    std::string subject = finding.subject, check = finding.check;
    jobs.push_back({subject, check, [finding] { return finding; }});
  }
  if (!e.isUsable)
    return jobs;
  for (const std::string &op : environment->ops) {
    add(op, "manual", [&e, &op] { return checkManual(e.target.manual, op); });
    add(op, "samples", [&e, &op] { return checkSamples(e, op); });
    add(op, "round trip", [&e, &op] { return checkRoundTrip(e, op); });
    add(op, "bad samples", [&e, &op] { return checkBadSamples(e, op); });
    add(op, "reference", [&e, &op] { return checkReference(e, op); });
    add(op, "shapes", [&e, &op] { return checkShapes(e, op, Sizes::Several); }, "reference");
    add(op, "empty", [&e, &op] { return checkShapes(e, op, Sizes::Empty); }, "reference");
    add(op, "size 1", [&e, &op] { return checkShapes(e, op, Sizes::One); }, "reference");
    add(op, "kernel", [&e, &op] { return checkKernel(e, op); }, "shapes");
    add(op, "masks", [&e, &op] { return checkMasks(e, op); }, "kernel");
    add(op, "NaN", [&e, &op] { return checkNaN(e, op); }, "kernel");
    add(op, "threads", [&e, &op] { return checkThreads(e, op); }, "kernel");
    add(op, "gradient", [&e, &op] { return checkGradient(e, op); }, "reference");
  }
  for (const std::string &type : target.manual.types) {
    add(type, "storage", [&e, &type] { return checkStorage(e, type); });
    add(type, "kernel", [&e, &type] { return checkKernel(e, type); }, "storage");
    add(type, "fast kernel", [&e, &type] { return checkFastKernel(e, type); }, "storage");
    add(type, "NaN", [&e, &type] { return checkNaN(e, type); }, "kernel");
    add(type, "threads", [&e, &type] { return checkThreads(e, type); }, "kernel");
  }
  for (const StagePass &pass : environment->host.stages.all()) {
    if (pass.plugin != target.note.name)
      continue;
    std::string subject = "pass " + pass.name;
    const auto *stage = llvm::find(stageNames(), pass.stage), *tile = llvm::find(stageNames(), "tile");
    if (stage >= tile) {
      add(subject, "results", [&e] { return checkCompiled(e); });
      continue;
    }
    add(subject, "ends", [&e, &pass] { return checkPassEnds(e, pass); });
    add(subject, "changes", [&e, &pass] { return checkPassChanges(e, pass); }, "ends");
    add(subject, "idempotent", [&e, &pass] { return checkPassIdempotent(e, pass); }, "ends");
    add(subject, "results", [&e, &pass] { return checkPassResults(e, pass); }, "ends");
  }
  return jobs;
}

int complain(llvm::Error error, ExitCode code) {
  llvm::WithColor::error(llvm::errs()) << llvm::toString(std::move(error)) << "\n";
  return code;
}

} // namespace

int checkPlugin(const CheckOptions &options) {
  Target target;
  target.plugins = options.plugins;
  auto search =
      PluginSearch::fromEnvironment(llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&checkPlugin)));
  if (!search)
    return complain(search.takeError(), Usage);
  llvm::Expected<std::string> path = resolvePlugin(options.plugin, search->folders);
  if (!path)
    return complain(path.takeError(), BadInput);
  target.path = *path;

  std::vector<Finding> findings;
  auto add = [&](const char *check, Finding finding) {
    finding.subject = "plugin";
    finding.check = check;
    findings.push_back(std::move(finding));
  };
  llvm::Expected<PluginNote> note = readPluginNote(*path);
  if (!note && !llvm::sys::fs::is_regular_file(*path))
    return complain(note.takeError(), BadInput); // no plugin at all
  if (!note) {
    add("note", failed(llvm::toString(note.takeError())));
  } else {
    target.note = *note;
    add("note", passed(note->name + " " + note->version));
    llvm::Expected<Library> library = readLibrary(*path);
    if (!library)
      return complain(library.takeError(), BadInput);
    target.library = std::move(*library);
    target.manual = readManual(target.library.manuals);
    target.samples = splitSamples(target.library.samples);
    add("imports", checkImports(target.library));
    std::vector<Finding> rest = runIsolated([&] { return prepare(target); }, options.budget);
    findings.insert(findings.end(), rest.begin(), rest.end());
  }

  if (options.json)
    printJson(llvm::outs(), target.note.name, target.note.version, target.path, findings);
  else
    printTable(llvm::outs(), findings);
  llvm::outs().flush();
  bool failed = llvm::any_of(findings, [](const Finding &finding) { return finding.outcome == Outcome::Failed; });
  return failed ? CheckFailed : Success;
}

} // namespace tilewright::conformance
