// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded model and its sessions, as C++ sees them. The C interface is a thin layer over this.
#pragma once

#include "runtime/cache/ArenaPool.h"
#include "runtime/cache/PagePool.h"
#include "runtime/cache/TokenPages.h"
#include "runtime/exec/Executor.h"
#include "runtime/exec/Log.h"
#include "runtime/exec/Trace.h"
#include "runtime/module/Artifact.h"
#include "runtime/module/RuntimeHalf.h"
#include "runtime/tokenize/Tokenizer.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct ModelOptions {
  int threads = 0;          ///< 0: all of this process's CPUs
  int64_t context = 0;      ///< tokens of a session; 0: the model's own
  int64_t maxRows = 0;      ///< rows of one compiled step; 0: kDefaultMaxRows
  uint64_t memoryLimit = 0; ///< bytes of caches and arenas; 0: none
  ArtifactOptions artifact = {};
  const tw_executor *executor = nullptr; ///< copied
  tw_log_callback log = nullptr;
  void *logUser = nullptr;
  std::string trace = {}; ///< file for a trace of what threads do; empty: none
};

/// Rows of a long prompt that one compiled step takes: enough to amortise the weights, and arenas stay small.
constexpr int64_t kDefaultMaxRows = 512;

class Session;

/// The states that keep a session's tokens for one window.
struct StateWindow {
  int64_t tokens; ///< that a row reads at most, its own among them; 0: any
  std::unique_ptr<PagePool> pages;
};

/// One sequence's part of Model::step().
struct StepRequest {
  Session *session;
  std::span<const int32_t> tokens; ///< at least one
  std::span<const int64_t> wanted; ///< rows whose logits are wanted: ascending, counted from the first of `tokens`
  float *logits;                   ///< [wanted][vocabulary], filled
  std::span<const int32_t> positions = {}; ///< one per token, below the model's own context; empty: they count on
  /// For each of the model's outputs [wanted][its numbers], filled, or null; empty: none is wanted.
  std::span<float *const> outputs = {};
  /// For each of the model's inputs of rows a number per token, or null; empty: all are zeros.
  std::span<const int32_t *const> inputs = {};
};

/// An input of rows besides tokens and positions.
struct ModelInput {
  std::string name;
  int64_t limit; ///< numbers are below it
};

/// A result of a model's step besides the logits.
struct ModelOutput {
  std::string name;
  int64_t rowSize; ///< numbers for each wanted row
};

/// Immutable but for its caches; shared by any number of threads.
class Model : public std::enable_shared_from_this<Model> {
public:
  /// Throws Error as Artifact::load, INVALID for options out of range, and as RuntimeHalf::load for the plugins that
  /// the artifact needs.
  static std::shared_ptr<Model> load(const std::string &folder, const ModelOptions &options);

  /// Writes the trace, which names kernels of the artifact.
  ~Model() { events.reset(); }

  std::shared_ptr<Session> createSession();

  /// Appends each request's tokens to its session and computes the wanted logits. Throws Error: INVALID, CONTEXT_FULL
  /// and EXHAUSTED before anything is computed, but for pages of windows, which a long prompt takes and gives back as
  /// it is read; CANCELLED and INTERNAL. After any error every session is as before, the logits are unspecified.
  void step(std::span<const StepRequest> requests);
  /// Reads each session's source: its steps see it, and it holds no tokens. Requests have no wanted rows. Throws Error
  /// as step(), and UNSUPPORTED where the model is no encoder-decoder; after any error every session is as before.
  void encode(std::span<const StepRequest> requests);

  tw_model_kind kind() const { return modelKind; }
  bool hasLogits() const { return !artifact->manifest()->no_logits(); }

  int64_t vocabSize() const { return static_cast<int64_t>(artifact->manifest()->vocab_size()); }
  int64_t context() const { return contextLength; }
  /// A session that grows past so many tokens, or shrinks back, is read again from its first one; 0: none ever is.
  int64_t rereadLength() const { return artifact->manifest()->reread_length(); }
  std::span<const ModelInput> inputs() const { return inputList; }
  std::span<const ModelOutput> outputs() const { return outputList; }
  /// Number of the output of this name; nothing when there is none.
  std::optional<size_t> findOutput(std::string_view name) const;
  int threads() const { return executor->concurrency(); }
  const Artifact &loaded() const { return *artifact; }
  /// The first has no window; the others stand as stateWindows() numbers them.
  std::span<const StateWindow> windows() const { return windowList; }
  /// Of all pages in use: of sessions' tokens, of their sources, and of whole sequences while their step runs.
  uint64_t cacheBytes() const;
  const ArenaPool &arenaPool() const { return *arenas; }
  const MemoryBudget &memory() const { return budget; }
  /// Null when the artifact has none. Made when it is first asked for, since steps on token ids do not need it: throws
  /// as Tokenizer's constructor (UNSUPPORTED for a kind that is not known).
  const Tokenizer *tokenizer() const;
  /// JSON, see describeModel().
  const std::string &description() const { return json; }
  const Log &log() const { return messages; }
  /// Null when nothing is traced.
  Trace *trace() const { return events.get(); }
  /// The runtime half of a plugin: one that the artifact needs, or any that is installed, loaded when it is first asked
  /// for. Throws as RuntimeHalf::load.
  const RuntimeHalf &runtimeHalf(const std::string &plugin);

private:
  friend class Session;
  friend class StepRun;
  Model(const std::string &folder, const ModelOptions &options);
  void loadRuntimeHalves();
  std::unique_ptr<Artifact> loadArtifact(const std::string &folder, const ArtifactOptions &options);

  Log messages;
  std::unique_ptr<Trace> events;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Artifact> artifact;
  int64_t contextLength;
  int64_t maxRows;
  MemoryBudget budget;
  tw_model_kind modelKind;
  std::vector<StateWindow> windowList;
  std::unique_ptr<PagePool> sourcePages, transientPages;
  std::vector<void *> stateBuffers; ///< of all pools, in the manifest's order
  std::unique_ptr<ArenaPool> arenas;
  mutable std::once_flag textMade;
  mutable std::optional<Tokenizer> text;
  std::vector<ModelInput> inputList;
  std::vector<ModelOutput> outputList;
  std::string json;
  std::mutex halvesMutex;
  std::vector<std::unique_ptr<RuntimeHalf>> halves;
};

/// Belongs to one thread at a time; cancel() and length() may be called from any. Keeps its model alive.
class Session {
public:
  explicit Session(std::shared_ptr<Model> model);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  int64_t length() const { return tokens.load(std::memory_order_acquire); }
  /// Keeps the first `length` tokens. Throws Error(INVALID) when there are fewer, when pages that those would read were
  /// given up, or while a step runs.
  void truncate(int64_t length);
  /// Tokens that truncate() can take back behind each later step, whatever the model's windows.
  int64_t rollback() const { return keptBack; }
  /// More than the context is all of it. Throws Error(INVALID) below 0, and while a step runs.
  void setRollback(int64_t count);
  /// Becomes what `other`, of the same model, is; the two share pages until one of them goes on. Throws Error(INVALID),
  /// also while one of them is in use.
  void assign(Session &other);
  int64_t sourceLength() const { return sourceTokens.load(std::memory_order_acquire); }
  /// The running, else the next step throws Error(CANCELLED).
  void cancel() { cancelled.store(true, std::memory_order_release); }
  const std::shared_ptr<Model> &owner() const { return model; }

private:
  friend class StepRun;
  class Use;
  std::vector<TokenPages> noPages() const;
  void dropBehind(int64_t length) noexcept;
  /// Of models that read sessions again: what the kept tokens were read from. Appends a request's rows.
  void remember(const StepRequest &request, int64_t start);
  /// The shortest text above none that truncate() can keep.
  int64_t shortest() const;
  /// In windows: room for tokens [length, end).
  void growWindows(int64_t length, int64_t end);
  /// In windows: gives up pages in front of what a row at `place` reads, but for those of tokens before `begin`.
  void giveUp(int64_t begin, int64_t place) noexcept;

  const std::shared_ptr<Model> model;
  std::vector<TokenPages> pages; ///< of each window of the model
  TokenPages source;
  /// Of models that read sessions again: each kept token, its position and its further inputs, [2 + inputs][tokens].
  std::vector<std::vector<int32_t>> history;
  bool isLong = false; ///< was read past the model's reread_length
  int64_t keptBack = 1;
  std::atomic<int64_t> tokens{0}, sourceTokens{0};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> busy{false};
};

} // namespace tilewright
