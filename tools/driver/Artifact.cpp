// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From planned programs to the files of an artifact.
#include "tools/driver/Compiler.h"
#include "tools/driver/Manifest.h"
#include "tools/driver/text/HalfSources.h"

#include "backends/cpu/Link.h"
#include "plugins/api/Search.h"
#include "runtime/api/abi.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace tilewright::driver {

/// Names of the plugins whose ops or types the model uses, with the versions that are loaded, and what their runtime
/// halves, which lie beside them, are built from.
static llvm::Error describePlugins(Session &session, artifact::ManifestT &manifest) {
  const auto *required = session.graph().graph().required_plugins();
  for (const LoadedPlugin &plugin : session.host().plugins.loaded()) {
    bool used = required && llvm::any_of(*required, [&](const flatbuffers::String *name) {
                  return name->string_view() == plugin.note.name;
                });
    if (!used)
      continue;
    auto entry = std::make_unique<artifact::PluginT>();
    entry->name = plugin.note.name;
    entry->version = plugin.note.version;
    entry->runtime_half = plugin.note.hasRuntimeHalf();
    if (std::string error;
        entry->runtime_half && !readHalfSources(entry->name, llvm::sys::path::parent_path(plugin.path).str(),
                                                entry->runtime_half_sources, error))
      return llvm::createStringError(error);
    manifest.plugins.push_back(std::move(entry));
  }
  return llvm::Error::success();
}

llvm::Expected<artifact::ManifestT> describeModel(Session &session, StringRef numerics) {
  artifact::ManifestT manifest;
  manifest.producer = "tilewright";
  manifest.numerics = numerics.str();
  manifest.kv_element = "f32";
  manifest.page_tokens = TW_PAGE_TOKENS;
  describeGraph(session.graph().graph(), manifest);
  if (llvm::Error error = describePlugins(session, manifest))
    return std::move(error);
  manifest.graph_hash = llvm::xxh3_64bits(session.graph().bytes());
  return manifest;
}

void warnOfMissingHalves(Session &session, const artifact::ManifestT &manifest) {
  for (const LoadedPlugin &plugin : session.host().plugins.loaded()) {
    const bool needed = llvm::any_of(manifest.plugins, [&](const std::unique_ptr<artifact::PluginT> &entry) {
      return entry->runtime_half && entry->name == plugin.note.name;
    });
    const std::string half = runtimeHalfBeside(plugin.path, plugin.note.name);
    if (needed && !llvm::sys::fs::exists(half))
      warn("plugin '" + plugin.note.name + "': its note says 'runtime:" + plugin.note.name + "', and there is no " +
           half + "; the compiled model cannot be loaded without it");
  }
}

int writeArtifact(Session &session, MutableArrayRef<ClassProgram> classes, ArrayRef<const CpuLevel *> levels,
                  const KernelCompiler &compile, artifact::ManifestT &manifest, const OutputFolder &folder,
                  Progress &progress, llvm::function_ref<int()> compiled) {
  const std::vector<std::string> entryPoints = entriesOf(session.graph().graph());
  ModuleOp packed = *classes.front().module;
  if (failed(describeResults(packed, entryPoints.front(), manifest)))
    return WorkFailed;
  FailureOr<ProgramTables> tables = describeStates(packed, entryPoints, manifest);
  if (failed(tables))
    return WorkFailed;
  NanCounter nans(session.context());
  if (int code =
          report(packWeights(packed, session.graph(), folder.file("model.tww"), manifest, *tables, nans, progress),
                 WorkFailed))
    return code;
  progress.done();
  nans.warn(session.graph().path());

  std::vector<ObjectBytes> objects;
  std::vector<std::string> entries;
  for (const CpuLevel *level : levels) {
    if (failed(compileLevel(classes, entryPoints, *level, *tables, compile, objects, entries, manifest, progress)))
      return WorkFailed;
  }

  if (compiled)
    if (int code = compiled())
      return code;

  progress.step("linking");
  OwningOpRef<ModuleOp> table = ModuleOp::create(UnknownLoc::get(&session.context()));
  emitEntryTable(entries, *table);
  FailureOr<ObjectBytes> tableObject = emitObject(*table, *levels.front());
  if (failed(tableObject))
    return WorkFailed;
  objects.push_back(std::move(*tableObject));
  llvm::Expected<ObjectBytes> memory = emitMemoryFunctions();
  if (!memory)
    return report(memory.takeError(), WorkFailed);
  objects.push_back(std::move(*memory));
  const std::string bytes = serialize(manifest);
  llvm::Expected<ObjectBytes> section = emitSection(TW_ABI_MANIFEST_SECTION, bytes);
  if (!section)
    return report(section.takeError(), WorkFailed);
  objects.push_back(std::move(*section));
  if (int code = report(linkSharedObject(objects, folder.file("model.so")), WorkFailed))
    return code;
  if (Outcome sealed = sealCode(folder.file("model.so")); !sealed.ok())
    return report(llvm::createStringError(sealed.message), WorkFailed);
  return Success;
}

} // namespace tilewright::driver
