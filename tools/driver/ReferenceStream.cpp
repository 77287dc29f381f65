// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/ReferenceStream.h"

using namespace mlir;

namespace tilewright::driver {

ReferenceStream::ReferenceStream(ReferenceModel &model, std::set<ValueTag> wantedTags)
    : model(model), wanted(std::move(wantedTags)) {
  model.running().setTap(
      [this](Operation *op, ArrayRef<reference::RunValue> results) {
        for (auto [i, result] : llvm::enumerate(results))
          if (std::optional<ValueTag> tag = tagOf(op->getResult(i)))
            store(path, *tag, result);
      },
      [this](Operation *call, bool begins) {
        if (begins)
          path.push_back(tagOf(call->getLoc()).value_or(-1));
        else
          path.pop_back();
      });
}

ReferenceStream::~ReferenceStream() {
  if (producer.joinable())
    llvm::consumeError(finish().takeError());
  model.running().setTap({});
}

void ReferenceStream::begin(ArrayRef<int32_t> tokens, bool encodes) {
  finished = closed = false;
  producer = std::thread([this, encodes, ids = std::vector<int32_t>(tokens.begin(), tokens.end())] {
    llvm::Expected<std::vector<double>> result = std::vector<double>();
    if (!encodes)
      result = model.extend(ids, static_cast<int64_t>(ids.size()));
    else if (llvm::Error error = model.encode(ids))
      result = std::move(error);
    std::lock_guard lock(mutex);
    logits.emplace(std::move(result));
    finished = true;
    changed.notify_all();
  });
}

void ReferenceStream::store(const CallPath &where, ValueTag tag, const reference::RunValue &value) {
  if (!wanted.contains(tag))
    return;
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return waiting || closed; });
  if (closed)
    return;
  values.insert_or_assign({where, tag}, value);
  waiting = false;
  changed.notify_all();
}

const reference::RunValue *ReferenceStream::value(const CallPath &where, ValueTag tag) {
  std::unique_lock lock(mutex);
  while (true) {
    if (auto found = values.find({where, tag}); found != values.end())
      return &found->second;
    if (finished)
      return nullptr;
    waiting = true;
    changed.notify_all();
    changed.wait(lock, [&] { return !waiting || finished; });
  }
}

void ReferenceStream::drop(const CallPath &where) {
  std::lock_guard lock(mutex);
  std::erase_if(values, [&](const auto &entry) { return entry.first.first == where; });
}

llvm::Expected<std::vector<double>> ReferenceStream::finish() {
  {
    std::lock_guard lock(mutex);
    closed = true;
    changed.notify_all();
  }
  producer.join();
  values.clear();
  llvm::Expected<std::vector<double>> result = std::move(*logits);
  logits.reset();
  return result;
}

} // namespace tilewright::driver
