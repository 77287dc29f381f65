// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Model.h"

#include "runtime/api/Error.h"
#include "runtime/exec/Describe.h"
#include "runtime/exec/StepRun.h"
#include "runtime/tokenize/TokenizerTable.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tilewright {
namespace {

std::string groupOf(const artifact::State &state) { return state.group() ? state.group()->str() : ""; }

std::vector<StateGeometry> stateGeometry(const Artifact &artifact, const std::string &group, int64_t window = 0) {
  const Manifest &manifest = artifact.manifest();
  const KvElement element = artifact.kvElement() == "bf16" ? KvElement::Bf16 : KvElement::F32;
  std::vector<StateGeometry> result;
  if (!manifest->states())
    return result;
  for (const auto *state : *manifest->states())
    for (const auto *buffer : *state->buffers())
      if (groupOf(*state) == group && state->window() == window)
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
  const auto pool = [&](const char *group, int64_t window = 0) {
    return std::make_unique<PagePool>(stateGeometry(*artifact, group, window), options.memoryLimit ? 1 : contextPages,
                                      budget);
  };
  std::vector<int64_t> windowTokens = stateWindows(*artifact->manifest());
  windowTokens.insert(windowTokens.begin(), 0);
  for (int64_t window : windowTokens)
    windowList.push_back({window, pool("", window)});
  sourcePages = pool("source");
  transientPages = pool("transient");
  std::map<const PagePool *, size_t> taken;
  for (uint32_t i = 0; artifact->manifest()->states() && i < artifact->manifest()->states()->size(); ++i) {
    const artifact::State &state = *artifact->manifest()->states()->Get(i);
    const std::string group = groupOf(state);
    const auto window = std::find(windowTokens.begin(), windowTokens.end(), state.window()) - windowTokens.begin();
    const PagePool &own = group == "source"      ? *sourcePages
                          : group == "transient" ? *transientPages
                                                 : *windowList[static_cast<size_t>(window)].pages;
    for (uint32_t buffer = 0; buffer < state.buffers()->size(); ++buffer)
      stateBuffers.push_back(own.buffers()[taken[&own]++]);
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
  uint64_t sources = 0;
  const auto *plugins = artifact->manifest()->plugins();
  for (uint32_t i = 0; plugins && i < plugins->size(); ++i)
    if (plugins->Get(i)->name()->str() == plugin) {
      version = plugins->Get(i)->version()->str();
      sources = plugins->Get(i)->runtime_half_sources();
    }
  halves.push_back(RuntimeHalf::load(plugin, version, sources, json));
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

uint64_t Model::cacheBytes() const {
  uint64_t bytes = 0;
  const auto add = [&](const PagePool &pool) { bytes += pool.pagesInUse() * pool.pageBytes(); };
  for (const StateWindow &window : windowList)
    add(*window.pages);
  add(*sourcePages);
  add(*transientPages);
  return bytes;
}

/// Marks a session as busy.
class Session::Use {
public:
  Use(Session &session, const char *what) : session(session) {
    if (session.busy.exchange(true, std::memory_order_acquire))
      throw Error(TW_INVALID, std::string(what) + " is in use by another thread");
  }
  ~Use() { session.busy.store(false, std::memory_order_release); }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

private:
  Session &session;
};

Session::Session(std::shared_ptr<Model> owner) : model(std::move(owner)), source(*model->sourcePages) {
  pages = noPages();
}

std::vector<TokenPages> Session::noPages() const {
  std::vector<TokenPages> none;
  for (const StateWindow &window : model->windows())
    none.emplace_back(*window.pages);
  return none;
}

void Session::truncate(int64_t length) {
  const Use use(*this, "truncate: the session");
  const int64_t held = tokens.load(std::memory_order_relaxed);
  const std::string to = "truncate to " + std::to_string(length) + " tokens";
  if (length < 0 || length > held)
    throw Error(TW_INVALID, to + ", the session holds " + std::to_string(held));
  if (length > 0 && length < held && model->kind() == TW_MODEL_ENCODER)
    throw Error(TW_INVALID, to + ": the model reads whole sequences, of which no part can be kept; wanted 0");
  if (const int64_t least = shortest(); length > 0 && length < least)
    throw Error(TW_INVALID, to +
                                ": the model's sliding windows have given up tokens that it would read; wanted 0, or " +
                                std::to_string(least) + " to " + std::to_string(held));
  tokens.store(length, std::memory_order_release);
  dropBehind(length);
}

int64_t Session::shortest() const {
  int64_t least = 0;
  for (size_t i = 1; i < pages.size(); ++i)
    if (const int64_t first = pages[i].firstToken())
      least = std::max(least, first + model->windows()[i].tokens - 1);
  return least;
}

void Session::setRollback(int64_t count) {
  if (count < 0)
    throw Error(TW_INVALID, "rollback of " + std::to_string(count) + " tokens, wanted 0 or more");
  const Use use(*this, "rollback: the session");
  keptBack = std::min(count, model->context()); // all there is: places that are counted from it do not overflow
}

void Session::assign(Session &other) {
  if (other.model != model)
    throw Error(TW_INVALID, "assign: the sessions belong to different models");
  if (&other == this)
    return;
  const Use use(*this, "assign: the session"), otherUse(other, "assign: the session it is to be like");
  std::vector<TokenPages> own = other.pages;
  TokenPages ownSource = other.source;
  std::vector<std::vector<int32_t>> read = other.history;
  pages.swap(own);
  history.swap(read);
  isLong = other.isLong;
  source = std::move(ownSource);
  tokens.store(other.length(), std::memory_order_release);
  sourceTokens.store(other.sourceLength(), std::memory_order_release);
}

void Session::remember(const StepRequest &request, int64_t start) {
  const size_t first = static_cast<size_t>(start), end = first + request.tokens.size();
  history.resize(2 + model->inputs().size());
  for (std::vector<int32_t> &column : history) {
    column.resize(first); // zeros for what is not given
    column.resize(end);
  }
  std::ranges::copy(request.tokens, history[0].begin() + start);
  if (request.positions.empty())
    std::iota(history[1].begin() + start, history[1].end(), static_cast<int32_t>(start));
  else
    std::ranges::copy(request.positions, history[1].begin() + start);
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.inputs[i])
      std::copy_n(request.inputs[i], request.tokens.size(), history[2 + i].begin() + start);
}

void Session::dropBehind(int64_t length) noexcept {
  for (std::vector<int32_t> &column : history)
    column.resize(std::min(column.size(), static_cast<size_t>(length)));
  for (TokenPages &each : pages)
    each.dropBehind(length);
}

void Session::growWindows(int64_t length, int64_t end) {
  for (size_t i = 1; i < pages.size(); ++i)
    pages[i].grow(length, end);
}

void Session::giveUp(int64_t begin, int64_t place) noexcept {
  for (size_t i = 1; i < pages.size(); ++i)
    pages[i].giveUp(begin, place - model->windows()[i].tokens + 1);
}

} // namespace tilewright
