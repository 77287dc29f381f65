// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Model.h"

#include "runtime/api/Error.h"
#include "runtime/exec/Describe.h"
#include "runtime/exec/StepRun.h"
#include "runtime/tokenize/TokenizerTable.h"

namespace tilewright {
namespace {

std::vector<StateGeometry> stateGeometry(const Artifact &artifact) {
  const Manifest &manifest = artifact.manifest();
  const KvElement element = artifact.kvElement() == "bf16" ? KvElement::Bf16 : KvElement::F32;
  std::vector<StateGeometry> result;
  if (!manifest->states())
    return result;
  for (const auto *state : *manifest->states())
    for (const auto *buffer : *state->buffers())
      result.push_back({buffer->heads(), buffer->dim(), buffer->transposed(), element});
  return result;
}

int64_t chosenContext(const Manifest &manifest, int64_t wanted) {
  const int64_t own = manifest->context_length();
  if (wanted < 0 || wanted > own)
    throw Error(TW_INVALID,
                "context " + std::to_string(wanted) + ", wanted 0 (the model's own) or 1 to " + std::to_string(own));
  return wanted ? wanted : own;
}

} // namespace

std::shared_ptr<Model> Model::load(const std::string &folder, const ModelOptions &options) {
  return std::shared_ptr<Model>(new Model(folder, options));
}

Model::Model(const std::string &folder, const ModelOptions &options)
    : messages(options.log, options.logUser),
      events(options.trace.empty() ? nullptr
                                   : std::make_unique<Trace>(options.trace, "tilewright " + folder, messages)),
      executor(Executor::create(options.threads, options.executor)), artifact(loadArtifact(folder, options.artifact)),
      contextLength(chosenContext(artifact->manifest(), options.context)),
      maxRows(options.maxRows ? options.maxRows : kDefaultMaxRows), budget(options.memoryLimit) {
  if (maxRows < 1)
    throw Error(TW_INVALID, "max_rows " + std::to_string(options.maxRows) + ", wanted 0 (the default) or more");
  const auto contextPages = static_cast<uint64_t>((contextLength + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS);
  // A limit below one full session is legal: short texts still fit.
  pages = std::make_unique<PagePool>(stateGeometry(*artifact), options.memoryLimit ? 1 : contextPages, budget);
  arenas = std::make_unique<ArenaPool>(budget);
  for (const auto *output : manifestOutputs(*artifact->manifest()))
    outputList.push_back({output->name()->str(), outputRowSize(*output)});
  json = describeModel(*this);
  loadRuntimeHalves();
  messages.write(TW_LOG_INFO, "loaded " + folder + ": level " + artifact->level().name()->str() + ", numerics " +
                                  artifact->manifest()->numerics()->str() + ", K/V caches of " + artifact->kvElement() +
                                  ", " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads") +
                                  ", context " + std::to_string(contextLength) + ", " +
                                  std::to_string(artifact->weightBytes()) + " bytes of weights");
}

std::unique_ptr<Artifact> Model::loadArtifact(const std::string &folder, const ArtifactOptions &options) {
  const TraceSpan span(trace(), "load");
  return Artifact::load(folder, options);
}

void Model::loadRuntimeHalves() {
  const auto *plugins = artifact->manifest()->plugins();
  for (uint32_t i = 0; plugins && i < plugins->size(); ++i)
    if (plugins->Get(i)->runtime_half())
      runtimeHalf(plugins->Get(i)->name()->str());
}

const RuntimeHalf &Model::runtimeHalf(const std::string &plugin) {
  std::lock_guard lock(halvesMutex);
  for (const auto &half : halves)
    if (half->name() == plugin)
      return *half;
  std::string version; // of the plugin that the model was compiled with, if it was
  const auto *plugins = artifact->manifest()->plugins();
  for (uint32_t i = 0; plugins && i < plugins->size(); ++i)
    if (plugins->Get(i)->name()->str() == plugin)
      version = plugins->Get(i)->version()->str();
  halves.push_back(RuntimeHalf::load(plugin, version, json));
  messages.write(TW_LOG_INFO, "loaded " + halves.back()->path() + ": runtime half of plugin " + plugin + " " +
                                  halves.back()->version());
  return *halves.back();
}

std::optional<size_t> Model::findOutput(std::string_view name) const {
  for (size_t i = 0; i < outputList.size(); ++i)
    if (outputList[i].name == name)
      return i;
  return std::nullopt;
}

const Tokenizer *Model::tokenizer() const {
  const auto *data = artifact->manifest()->tokenizer();
  if (!data)
    return nullptr;
  std::call_once(textMade, [&] { text.emplace(tokenizerData(*data)); });
  return &*text;
}

std::shared_ptr<Session> Model::createSession() { return std::make_shared<Session>(shared_from_this()); }

void Model::step(std::span<const StepRequest> requests) {
  if (requests.empty())
    return;
  StepRun(*this, requests).run();
}

Session::~Session() { model->pages->release(pageTable); }

void Session::truncate(int64_t length) {
  if (busy.exchange(true, std::memory_order_acquire))
    throw Error(TW_INVALID, "truncate: the session is in use by another thread");
  const int64_t held = tokens.load(std::memory_order_relaxed);
  if (length < 0 || length > held) {
    busy.store(false, std::memory_order_release);
    throw Error(TW_INVALID,
                "truncate to " + std::to_string(length) + " tokens, the session holds " + std::to_string(held));
  }
  tokens.store(length, std::memory_order_release);
  dropBehind(length);
  busy.store(false, std::memory_order_release);
}

void Session::dropBehind(int64_t length) noexcept {
  const size_t kept = static_cast<size_t>((length + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS);
  if (kept < pageTable.size()) {
    model->pages->release(std::span(pageTable).subspan(kept));
    pageTable.resize(kept);
  }
  if (length % TW_PAGE_TOKENS)
    model->pages->clearTail(pageTable[kept - 1], static_cast<uint64_t>(length % TW_PAGE_TOKENS));
}

} // namespace tilewright
