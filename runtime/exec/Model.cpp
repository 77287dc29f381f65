// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Model.h"

#include "runtime/api/Error.h"
#include "runtime/exec/Describe.h"
#include "runtime/exec/StepRun.h"
#include "runtime/tokenize/TokenizerTable.h"

namespace tilewright {
namespace {

std::string groupOf(const artifact::State &state) { return state.group() ? state.group()->str() : ""; }

std::vector<StateGeometry> stateGeometry(const Artifact &artifact, const std::string &group) {
  const Manifest &manifest = artifact.manifest();
  const KvElement element = artifact.kvElement() == "bf16" ? KvElement::Bf16 : KvElement::F32;
  std::vector<StateGeometry> result;
  if (!manifest->states())
    return result;
  for (const auto *state : *manifest->states())
    for (const auto *buffer : *state->buffers())
      if (groupOf(*state) == group)
        result.push_back({buffer->heads(), buffer->dim(), buffer->transposed(), element});
  return result;
}

tw_model_kind kindOf(const Artifact &artifact) {
  if (!artifact.variants(StepEntry::Encode).empty())
    return TW_MODEL_ENCODER_DECODER;
  return stateGeometry(artifact, "transient").empty() ? TW_MODEL_DECODER : TW_MODEL_ENCODER;
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
      maxRows(options.maxRows ? options.maxRows : kDefaultMaxRows), budget(options.memoryLimit),
      modelKind(kindOf(*artifact)) {
  if (maxRows < 1)
    throw Error(TW_INVALID, "max_rows " + std::to_string(options.maxRows) + ", wanted 0 (the default) or more");
  const auto contextPages = static_cast<uint64_t>((contextLength + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS);
  // A limit below one full session is legal: short texts still fit.
  const auto pool = [&](const char *group) {
    return std::make_unique<PagePool>(stateGeometry(*artifact, group), options.memoryLimit ? 1 : contextPages, budget);
  };
  pages = pool("");
  sourcePages = pool("source");
  transientPages = pool("transient");
  size_t taken[3] = {};
  for (uint32_t i = 0; artifact->manifest()->states() && i < artifact->manifest()->states()->size(); ++i) {
    const artifact::State &state = *artifact->manifest()->states()->Get(i);
    const std::string group = groupOf(state);
    const size_t which = group.empty() ? 0 : group == "source" ? 1 : 2;
    const PagePool *of[] = {pages.get(), sourcePages.get(), transientPages.get()};
    for (uint32_t buffer = 0; buffer < state.buffers()->size(); ++buffer)
      stateBuffers.push_back(of[which]->buffers()[taken[which]++]);
  }
  for (uint32_t i = 0; artifact->manifest()->inputs() && i < artifact->manifest()->inputs()->size(); ++i) {
    const artifact::Input &input = *artifact->manifest()->inputs()->Get(i);
    inputList.push_back({input.name()->str(), static_cast<int64_t>(input.limit())});
  }
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
  StepRun(*this, requests, StepEntry::Step).run();
}

void Model::encode(std::span<const StepRequest> requests) {
  if (modelKind != TW_MODEL_ENCODER_DECODER)
    throw Error(TW_UNSUPPORTED, "the model reads no sources: it is no encoder-decoder");
  if (requests.empty())
    return;
  StepRun(*this, requests, StepEntry::Encode).run();
}

Session::~Session() {
  model->pages->release(pageTable);
  model->sourcePages->release(sourceTable);
}

void Session::truncate(int64_t length) {
  if (busy.exchange(true, std::memory_order_acquire))
    throw Error(TW_INVALID, "truncate: the session is in use by another thread");
  const int64_t held = tokens.load(std::memory_order_relaxed);
  if (length < 0 || length > held) {
    busy.store(false, std::memory_order_release);
    throw Error(TW_INVALID,
                "truncate to " + std::to_string(length) + " tokens, the session holds " + std::to_string(held));
  }
  if (length > 0 && length < held && model->kind() == TW_MODEL_ENCODER) {
    busy.store(false, std::memory_order_release);
    throw Error(TW_INVALID, "truncate to " + std::to_string(length) +
                                " tokens: the model reads whole sequences, of which no part can be kept; wanted 0");
  }
  tokens.store(length, std::memory_order_release);
  dropBehind(length);
  busy.store(false, std::memory_order_release);
}

void Session::assign(Session &other) {
  if (other.model != model)
    throw Error(TW_INVALID, "assign: the sessions belong to different models");
  if (&other == this)
    return;
  if (busy.exchange(true, std::memory_order_acquire))
    throw Error(TW_INVALID, "assign: the session is in use by another thread");
  if (other.busy.exchange(true, std::memory_order_acquire)) {
    busy.store(false, std::memory_order_release);
    throw Error(TW_INVALID, "assign: the session it is to be like is in use by another thread");
  }
  const auto leave = [&] {
    busy.store(false, std::memory_order_release);
    other.busy.store(false, std::memory_order_release);
  };
  try {
    std::vector<int32_t> own = other.pageTable, source = other.sourceTable;
    model->pages->share(own);
    model->sourcePages->share(source);
    pageTable.swap(own);
    sourceTable.swap(source);
    model->pages->release(own);
    model->sourcePages->release(source);
    tokens.store(other.length(), std::memory_order_release);
    sourceTokens.store(other.sourceLength(), std::memory_order_release);
    staleTail = other.staleTail;
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

void Session::makeRoom(int64_t length, uint64_t pages) {
  if (const auto partial = static_cast<uint64_t>(length % TW_PAGE_TOKENS)) { // whole pages are not written
    int32_t &last = pageTable[static_cast<size_t>(length / TW_PAGE_TOKENS)];
    if (model->pages->isShared(last)) {
      std::vector<int32_t> copy;
      model->pages->allocate(1, copy);
      model->pages->copyHead(last, copy[0], partial);
      std::swap(last, copy[0]);
      model->pages->release(copy);
    } else if (staleTail) {
      model->pages->clearTail(last, partial);
    }
  }
  staleTail = false;
  model->pages->allocate(pages - pageTable.size(), pageTable);
}

void Session::dropBehind(int64_t length) noexcept {
  const size_t kept = static_cast<size_t>((length + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS);
  if (kept < pageTable.size()) {
    model->pages->release(std::span(pageTable).subspan(kept));
    pageTable.resize(kept);
  }
  if (length % TW_PAGE_TOKENS == 0 || pageTable.empty()) // of a whole sequence nothing is kept
    return;
  if (model->pages->isShared(pageTable[kept - 1]))
    staleTail = true;
  else
    model->pages->clearTail(pageTable[kept - 1], static_cast<uint64_t>(length % TW_PAGE_TOKENS));
}

} // namespace tilewright
