// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright compile`: a graph becomes an artifact folder.
#include "tools/driver/Commands.h"
#include "tools/driver/Compiler.h"
#include "tools/driver/Inputs.h"
#include "tools/driver/Manifest.h"
#include "tools/driver/ModelCache.h"
#include "tools/driver/OutputFolder.h"
#include "tools/driver/Session.h"
#include "tools/files/InputFiles.h"

#include "backends/cpu/Link.h"
#include "frontend/graph/AtomicFile.h"
#include "frontend/graph/BeneathFile.h"
#include "frontend/translate/Translate.h"
#include "ir/interfaces/Interfaces.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "passes/api/CompileTrace.h"
#include "passes/api/Receipts.h"
#include "runtime/api/abi.h"
#include "runtime/module/CodeFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace tilewright::driver {
namespace {

int checkDumpStage(const std::string &stage) {
  if (stage.empty() || llvm::is_contained(stageNames(), stage))
    return Success;
  return report(llvm::createStringError("unknown stage '" + stage + "' for --dump-ir-after; wanted one of " +
                                        llvm::join(stageNames(), ", ")),
                Usage);
}

std::string kilobytes(uint64_t bytes) { return llvm::formatv("{0:f1} kB", static_cast<double>(bytes) / 1000).str(); }

void printMemory(MutableArrayRef<ClassProgram> classes, StringRef entry) {
  for (ClassProgram &program : classes) {
    if (program.kvType != classes.front().kvType) // the same memory
      continue;
    const FunctionPlan &plan = program.plan.find(program.module->lookupSymbol(entry))->second;
    auto line = [](const RegionBytes &bytes) {
      return kilobytes(bytes[ArenaRegion::Rows]) + " a row + " + kilobytes(bytes[ArenaRegion::LogitRows]) +
             " a logit row + " + kilobytes(bytes[ArenaRegion::Constant]);
    };
    llvm::errs() << "  " << program.shapeClass->name << ": arena " << line(plan.size) << " (lower bound "
                 << line(plan.lowerBound) << "; without reuse " << line(plan.withoutReuse) << ")\n";
  }
}

int writeReceipts(const ReceiptCollector &collector, const CompileOptions &options) {
  if (options.receipts.empty())
    return Success;
  return report(writeFileAtomically(options.receipts,
                                    [&](llvm::raw_pwrite_stream &out) {
                                      out << llvm::formatv("{0:2}\n", collector.toJson());
                                      return llvm::Error::success();
                                    }),
                WorkFailed);
}

int checkKinds(Session &session, const CompileOptions &options) {
  for (const std::string &kind : options.requireFused)
    if (int code = report(checkReceiptKind(kind, session.host().stages), Usage))
      return code;
  return Success;
}

/// What was not fused is told also when the kernels could not be formed: that is often why.
int checkFused(Session &session, const ReceiptCollector &collector, const CompileOptions &options) {
  const auto shown = [&](StringRef place) { return placeInFile(place, session.graph().path()); };
  int code = Success;
  for (const std::string &kind : options.requireFused)
    if (int found = report(collector.requireFused(kind, shown), CheckFailed))
      code = found;
  return code;
}

/// What is compiled, before it has its name: it gets that when nothing can go wrong any more.
struct Compiled {
  std::string path;
  std::optional<ModelCache::Lock> lock; ///< in the cache
  std::optional<OutputFolder> folder;   ///< none: `path` was there
  uint64_t cacheLimit = 0;
};

int compileInto(Session &session, const CompileOptions &options, OutputFolder &folder) {
  Progress progress(options.quiet);
  progress.step("reading " + options.input);
  ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  if (int code = checkKinds(session, options))
    return code;
  ReceiptCollector receipts;
  if (int code = report(receipts.install(session.context(), &session.host().stages), WorkFailed))
    return code;
  llvm::Expected<std::vector<const CpuLevel *>> levels = levelsOf(options.targets);
  if (!levels)
    return report(levels.takeError(), Usage);

  const auto stageNumber = [](StringRef stage) { return llvm::find(stageNames(), stage) - stageNames().begin(); };
  progress.step("optimising the graph", stageNumber("tile"));
  PipelineOptions pipeline;
  pipeline.numerics = options.numerics;
  if (failed(runGraphStages(module, session.host().stages, pipeline, [&](StringRef stage, ModuleOp after) {
        progress.advance();
        if (options.dumpAfter != stage)
          return;
        Progress::interrupt();
        after.print(llvm::outs());
      })))
    return WorkFailed;
  llvm::Expected<artifact::ManifestT> described = describeModel(session, options.numerics);
  if (!described)
    return report(described.takeError(), Incompatible);
  artifact::ManifestT &manifest = *described;
  warnOfMissingHalves(session, manifest);
  const std::vector<std::string> entries = entriesOf(session.graph().graph());
  if (failed(checkTables(module, entries, manifest)) || failed(checkSourcesAreRead(module, entries.front())))
    return WorkFailed;

  const std::vector<std::string> kvTypes = kvTypesOf(module, entries, options.numerics);
  progress.step("forming kernels", kvTypes.size() * shapeClasses().size());
  std::vector<ClassProgram> classes;
  for (const std::string &kvType : kvTypes) {
    ReceiptScope kvScope(receipts, "kv_type", kvType);
    pipeline.kvType = kvType;
    for (const ShapeClass &shapeClass : shapeClasses()) {
      ReceiptScope scope(receipts, "shape_class", shapeClass.name);
      FailureOr<ClassProgram> program = formProgram(module, shapeClass, session.host().stages, pipeline);
      if (failed(program)) {
        writeReceipts(receipts, options);
        checkFused(session, receipts, options);
        return WorkFailed;
      }
      progress.advance();
      if (options.dumpAfter == "tile") {
        Progress::interrupt();
        (*program).module->print(llvm::outs());
      }
      classes.push_back(std::move(*program));
    }
  }
  if (int code = checkFused(session, receipts, options)) {
    writeReceipts(receipts, options);
    return code;
  }

  KernelCompiler ordinary = ordinaryCompiler(session.host().stages, pipeline, progress, options.dumpAfter);
  auto compile = [&](ModuleOp kernels, const CpuLevel &level, StringRef suffix, const ShapeClass &shapeClass) {
    ReceiptScope scope(receipts, "level", level.name);
    return ordinary(kernels, level, suffix, shapeClass);
  };
  auto keepReceipts = [&] {
    manifest.receipts = llvm::formatv("{0}", receipts.toJson()).str();
    return writeReceipts(receipts, options);
  };
  if (int code = writeArtifact(session, classes, *levels, compile, manifest, folder, progress, keepReceipts))
    return code;
  progress.done();
  if (!options.quiet)
    printMemory(classes, entries.front());
  return Success;
}

int compileTo(Session &session, const CompileOptions &options, Compiled &compiled) {
  llvm::Expected<OutputFolder> folder = OutputFolder::create(compiled.path);
  if (!folder)
    return report(folder.takeError(), WorkFailed);
  compiled.folder.emplace(std::move(*folder));
  return compileInto(session, options, *compiled.folder);
}

llvm::Expected<uint64_t> hashOfFile(const std::string &path) {
  llvm::Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return llvm::xxh3_64bits(file->bytes());
}

StringRef modelName(StringRef path) {
  path = path.rtrim('/');
  return llvm::sys::fs::is_directory(path) ? llvm::sys::path::filename(path) : llvm::sys::path::stem(path);
}

/// Name in the cache: everything that decides what the artifact holds. The model, this program, the shared dialects and
/// the plugins count by content, so that a rebuilt plugin compiles anew.
llvm::Expected<std::string> cacheKey(Session &session, const CompileOptions &options) {
  std::error_code error;
  std::vector<std::string> files = modelFiles(options.input, error);
  if (error)
    return llvm::createStringError(options.input + ": " + error.message());
  files.push_back(executablePath());
  files.push_back(codeFile(reinterpret_cast<const void *>(&isStorageType)).string()); // the shared dialects
  for (const LoadedPlugin &plugin : session.host().plugins.loaded())
    files.push_back(plugin.path);
  std::string words = options.numerics + " " + llvm::join(options.targets, ",");
  for (const std::string &path : files) {
    llvm::Expected<uint64_t> hash = hashOfFile(path);
    if (!hash)
      return hash.takeError();
    words += llvm::formatv(" {0:x}", *hash).str();
  }
  for (const CpuLevel *level : hostCpuLevels())
    words += " " + level->name.str();
  return llvm::formatv("{0}-{1:x-}", modelName(options.input), llvm::xxh3_64bits(words)).str();
}

int compileForCache(Session &session, const CompileOptions &options, Compiled &compiled) {
  llvm::Expected<std::string> key = cacheKey(session, options);
  if (!key)
    return report(key.takeError(), BadInput);
  llvm::Expected<uint64_t> limit = ModelCache::sizeLimit();
  if (!limit)
    return report(limit.takeError(), Usage);
  const ModelCache cache(options.cache);
  compiled.path = cache.path(*key);
  compiled.cacheLimit = *limit;
  // What is asked of a compilation is answered by one.
  const bool asked = !options.receipts.empty() || !options.requireFused.empty() || !options.trace.empty();
  if (!asked && cache.use(*key))
    return Success;
  // Who waited for the lock finds what the other has compiled.
  llvm::Expected<ModelCache::Lock> lock = cache.lock(*key);
  if (!lock)
    return report(lock.takeError(), WorkFailed);
  if (!asked && cache.use(*key))
    return Success;
  compiled.lock.emplace(std::move(*lock));
  return compileTo(session, options, compiled);
}

int compileSession(Session &session, const CompileOptions &options, Compiled &compiled) {
  compiled.path = options.output;
  return options.cache.empty() ? compileTo(session, options, compiled) : compileForCache(session, options, compiled);
}

/// What else is asked for is written; then the folder gets its name.
int finish(const CompileOptions &options, Compiled &compiled) {
  if (!options.printFolder.empty()) {
    const std::string line = compiled.path + "\n";
    if (int code = report(writeFileAtomically(options.printFolder, llvm::arrayRefFromStringRef(line)), WorkFailed))
      return code;
  }
  if (!compiled.folder)
    return Success;
  if (int code = report(compiled.folder->commit(), WorkFailed))
    return code;
  if (options.cache.empty())
    return Success;
  const StringRef key = llvm::sys::path::filename(compiled.path);
  return report(ModelCache(options.cache).shrink(compiled.cacheLimit, key).takeError(), WorkFailed);
}

int compileTraced(Session &session, const CompileOptions &options, Compiled &compiled) {
  // Before there is anything to trace, so that a file that cannot be written costs no compilation.
  int code = Success;
  llvm::Error error = writeFileAtomically(options.trace, [&](llvm::raw_pwrite_stream &out) {
    startCompileTrace();
    tracePasses(session.context());
    {
      CompileSpan span("compile", options.input);
      code = compileSession(session, options, compiled);
    }
    writeCompileTrace(out);
    return llvm::Error::success();
  });
  const int written = report(std::move(error), WorkFailed);
  return code != Success ? code : written;
}

} // namespace

/// A fault inside a plugin or LLVM is then an error of this process, which goes on to say so, and nothing is left
/// behind.
static int compileInChild(CompileOptions options) {
  options.isolate = false;
  // A plugin may end the process with any exit code: that of a compilation that came to its end is in the pipe.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return report(llvm::errorCodeToError(llvm::errnoAsErrorCode()), WorkFailed);
  const pid_t child = fork(); // before any thread is there
  if (child < 0)
    return report(llvm::errorCodeToError(llvm::errnoAsErrorCode()), WorkFailed);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM); // when the other is interrupted, this one removes what it has begun
    const int code = endOutput(compileModel(options));
    _exit(write(ends[1], &code, sizeof code) == sizeof code ? code : WorkFailed);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return report(llvm::errorCodeToError(llvm::errnoAsErrorCode()), WorkFailed);
  int code = WorkFailed;
  const bool ended = read(ends[0], &code, sizeof code) == sizeof code;
  close(ends[0]);
  close(ends[1]);
  if (WIFEXITED(status) && ended)
    return code;
  OutputFolder::removeLeftOf(child, options.output);
  if (WIFEXITED(status))
    return report(llvm::createStringError("a plugin or a library ended the compilation with exit code " +
                                          llvm::Twine(WEXITSTATUS(status)) +
                                          " before it was done; nothing was written"),
                  WorkFailed);
  return report(llvm::createStringError("the compilation was ended by signal " + llvm::Twine(WTERMSIG(status)) + " (" +
                                        strsignal(WTERMSIG(status)) + "); nothing was written"),
                WorkFailed);
}

int compileModel(const CompileOptions &options) {
  if (options.isolate)
    return compileInChild(options);
  if (int code = checkDumpStage(options.dumpAfter))
    return code;
  const Outputs outputs{{options.receipts, options.trace, options.printFolder}, options.output};
  if (int code = report(checkOutputs(outputs, options.input, options.weightsDir), BadInput))
    return code;
  Session session(options.plugins, options.threads);
  if (session.status() != Success)
    return session.status();
  Compiled compiled;
  if (int code = options.trace.empty() ? compileSession(session, options, compiled)
                                       : compileTraced(session, options, compiled))
    return code;
  return finish(options, compiled);
}

} // namespace tilewright::driver
