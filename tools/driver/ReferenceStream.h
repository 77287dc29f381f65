// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values of a step as the reference computes them, handed out while it runs: it computes only as far as somebody
// waits for, so that no more than the values of the layer at hand are held.
#pragma once

#include "ir/interfaces/ValueTags.h"
#include "tools/driver/ReferenceModel.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace tilewright::driver {

/// Where a function runs: the tags of the calls from the entry on.
using CallPath = std::vector<int64_t>;

class ReferenceStream {
public:
  /// `model` runs a module with tags (ir/interfaces/ValueTags.h); `wanted` are the values that will be asked for.
  ReferenceStream(ReferenceModel &model, std::set<ValueTag> wanted);
  ~ReferenceStream();
  ReferenceStream(const ReferenceStream &) = delete;
  ReferenceStream &operator=(const ReferenceStream &) = delete;

  /// Starts a step over `tokens`, behind those of the steps before, or reads them as a source.
  void begin(llvm::ArrayRef<int32_t> tokens, bool encodes = false);
  /// The value of the running step, valid until it is dropped; null when the step makes no such value.
  const reference::RunValue *value(const CallPath &path, ValueTag tag);
  /// Forgets the values of one run of a function.
  void drop(const CallPath &path);
  /// Ends the step and returns its logits, [tokens, vocab]; none of a source.
  llvm::Expected<std::vector<double>> finish();

private:
  void store(const CallPath &path, ValueTag tag, const reference::RunValue &value);

  ReferenceModel &model;
  const std::set<ValueTag> wanted;
  std::thread producer;
  CallPath path; ///< of the producer

  std::mutex mutex;
  std::condition_variable changed;
  bool waiting = false;  ///< somebody needs a value that is not there
  bool finished = false; ///< the step is over
  bool closed = false;   ///< nobody will ask any more
  std::map<std::pair<CallPath, ValueTag>, reference::RunValue> values;
  std::optional<llvm::Expected<std::vector<double>>> logits;
};

} // namespace tilewright::driver
