// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One Model::step() or Model::encode(): checks, reserves, runs, and on any failure puts every session back.
#pragma once

#include "runtime/exec/Model.h"
#include "runtime/exec/StepPlan.h"

namespace tilewright {

class StepRun {
public:
  /// Checks the requests and takes their sessions. Throws Error(INVALID) or Error(CONTEXT_FULL).
  StepRun(Model &model, std::span<const StepRequest> requests, StepEntry entry);
  /// Unless run() succeeded, drops what the step appended; gives the sessions back.
  ~StepRun();
  StepRun(const StepRun &) = delete;
  StepRun &operator=(const StepRun &) = delete;

  void run();

private:
  /// A compiled step with the requests' rows it computes.
  struct Batch {
    std::vector<RequestPart> parts;
    size_t variant;
    uint64_t arenaBytes;                            ///< what compiled code planned, rounded up to a cache line
    bool direct;                                    ///< results go straight to the caller
    uint64_t scratchBytes;                          ///< for those that do not
    std::vector<std::optional<uint64_t>> scratchAt; ///< byte of each result there; none: nobody wants the result
  };
  /// The logits, then the model's outputs.
  size_t resultCount() const { return 1 + model.outputs().size(); }
  size_t rowSize(size_t result) const;
  /// Where the request wants the result, for its first wanted row; null: it does not.
  static float *bufferOf(const StepRequest &request, size_t result);

  /// Whether requests are whole sequences, which are not cut and of whose rows nothing is kept but a source.
  bool isWhole() const { return entry == StepEntry::Encode || model.kind() == TW_MODEL_ENCODER; }
  void check(size_t index) const;
  void checkInputs(size_t index) const;
  /// Whether the session may take the request now. Throws Error(INVALID) or Error(CONTEXT_FULL).
  void checkSession(size_t index) const;
  /// Makes the request one for all of its session where what that holds would be made otherwise now.
  void readAgain(size_t index);
  /// How long the request makes its session.
  int32_t lengthOf(size_t index) const;
  std::span<const int64_t> wantedIn(const RequestPart &part, std::vector<int64_t> &relative) const;
  void plan();
  void reservePages();
  /// What a part's rows are to the tables of its step.
  SequenceRows sequenceOf(const RequestPart &part, std::span<const int64_t> wanted,
                          std::span<const int32_t> transientPages) const;
  /// Gives up pages that no row behind the part reads, once it is read.
  void giveUpBehind(const RequestPart &part) noexcept;
  /// The requests' tokens are read.
  void commit();
  void runBatch(const Batch &batch, Phases &phases, uint8_t *arena);
  void copyResults(const Batch &batch, const uint8_t *scratch) const;
  void throwIfCancelled();

  Model &model;
  std::vector<StepRequest> requests;
  const StepEntry entry;
  /// Of a request whose session is read again.
  struct Again {
    std::vector<TokenPages> pages; ///< that the session had, and has again if this step fails; none: it is not read
    std::vector<int64_t> wanted;
    std::vector<const int32_t *> inputs;
  };

  std::vector<int64_t> before; ///< each session's tokens in front of the request's; 0 where it is read again
  std::vector<std::atomic<bool> *> cancels;
  std::vector<Again> again;        ///< by request
  std::vector<TokenPages> sources; ///< of what is encoded, by request
  std::vector<Batch> batches;
  size_t taken = 0; ///< sessions marked as busy
  bool done = false;
};

} // namespace tilewright
