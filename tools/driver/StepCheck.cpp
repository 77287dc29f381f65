// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/StepCheck.h"

#include "backends/reference/Compare.h"

#include <cmath>

using namespace mlir;

namespace tilewright::driver {

TracedClass traceClass(ModuleOp graph, const ClassProgram &program, StringRef entry, StringRef numerics) {
  TracedClass traced{program.shapeClass->name.str(), traceDispatches(*program.module, entry), {}};
  traced.groups = groupResults(graph, traced.trace, numerics);
  return traced;
}

const std::vector<std::string> &stepPrompts() {
  static const std::vector<std::string> prompts = {
      "The quick brown fox jumps over the lazy dog. Once upon a time, in a small village, 1, 2, 3, 5, 8,"};
  return prompts;
}

/// Rows of the steps in which a prompt of `count` tokens is run: each shape class that it is long enough for.
static SmallVector<size_t> stepsOf(size_t count) {
  constexpr size_t kPrefill = 9, kSmall = 3;
  if (count < 2)
    return {count};
  if (count < kPrefill + kSmall + 1)
    return {count - 1, 1};
  return {count - 1 - kSmall, kSmall, 1};
}

static std::set<ValueTag> boundaries(const std::vector<TracedClass> &classes, const std::vector<TracedClass> &sources) {
  std::set<ValueTag> tags;
  for (const auto *entry : {&classes, &sources})
    for (const TracedClass &each : *entry)
      for (const auto &[tag, group] : each.groups)
        tags.insert(tag);
  return tags;
}

StepCheck::StepCheck(CompiledStep &step, ReferenceModel &truth, const std::vector<TracedClass> &classes,
                     const std::vector<TracedClass> &sources)
    : step(step), truth(truth), classes(classes), sources(sources), stream(truth, boundaries(classes, sources)) {}

void StepCheck::note(ValueError &error, double wanted, double found, int64_t at) {
  if (std::isfinite(wanted)) // an infinity would allow every error of the others
    error.magnitude = std::fmax(error.magnitude, std::fabs(wanted));
  const double difference = reference::distance(found, wanted);
  if (difference > error.error) {
    error.error = difference;
    error.at = at;
    error.found = found;
    error.wanted = wanted;
  }
}

void StepCheck::checkTensor(ValueError &error, const reference::Tensor &truth, float *found) {
  for (int64_t i = 0, size = truth.size(); i < size; ++i) {
    note(error, truth.reals[i], found[i], i);
    found[i] = static_cast<float>(truth.reals[i]);
  }
}

void StepCheck::checkState(ValueError &error, const reference::StateRows<double> &truth, ArrayRef<void *> pools) {
  if (truth.sequences.size() != 1)
    return;
  const auto &rows = truth.sequences.front();
  for (auto [buffer, address] : llvm::zip(rows.buffers, pools)) {
    auto pool = llvm::find_if(step.pools(), [&](const StatePool &each) { return each.values.data() == address; });
    if (pool == step.pools().end()) // the kernel leaves this buffer as it is
      continue;
    for (int64_t row = step.length(); row < rows.rows; ++row)
      for (int64_t h = 0; h < pool->heads; ++h)
        for (int64_t d = 0; d < pool->dim; ++d) {
          int64_t at = (row * pool->heads + h) * pool->dim + d;
          float &found = pool->at(row, h, d);
          note(error, buffer.values[at], found, at);
          found = static_cast<float>(buffer.values[at]);
        }
  }
}

void StepCheck::record(Key key, ValueError error) {
  error.allowed = error.bound.absolute + error.bound.relative * error.magnitude;
  auto [place, isNew] = places.try_emplace(key, all.size());
  if (isNew)
    return all.push_back(std::move(error));
  ValueError &known = all[place->second];
  // What is nearest to its limit, or behind it.
  auto share = [](const ValueError &e) { return e.error / std::fmax(e.allowed, 1e-300); };
  if (share(error) > share(known))
    known = std::move(error);
}

void StepCheck::check(const TracedClass &own, const TracedDispatch &dispatch, void *const *arguments) {
  const FunctionRun &run = own.trace.runs[dispatch.run];
  Operation *op = dispatch.op;
  // Where the kernel has put each result.
  SmallVector<void *> addresses(dispatch.tags.size());
  SmallVector<void *> pools; // by buffer of the state
  func::FuncOp kernel = dispatch.kernel;
  const std::string name = kernel.getSymName().str();
  for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i) {
    auto source = kernel.getArgAttrOfType<ArrayAttr>(i, "tw.source");
    if (!source || source.size() < 2)
      continue;
    StringRef kind = cast<StringAttr>(source[0]).getValue();
    if (kind == "result")
      addresses[cast<IntegerAttr>(source[1]).getInt()] = arguments[i];
    if (kind == "state" && source.size() == 3) {
      size_t buffer = cast<IntegerAttr>(source[2]).getInt();
      pools.resize(std::max(pools.size(), buffer + 1));
      pools[buffer] = arguments[i];
    }
  }
  bool any = false;
  for (auto [result, tag] : llvm::zip_equal(op->getResults(), dispatch.tags)) {
    auto group = tag ? own.groups.find(*tag) : own.groups.end();
    if (group == own.groups.end())
      continue;
    const reference::RunValue *value = stream.value(run.path, *tag);
    if (!value) {
      problem = "the reference makes no value for a result of '" + name + "' in " + run.label;
      return;
    }
    ValueError error;
    error.layer = run.label;
    error.ops = group->second.ops;
    llvm::raw_string_ostream(error.type) << group->second.value.getType();
    error.shapeClass = own.name;
    error.kernel = name;
    error.bound = group->second.bound;
    if (auto *state = std::get_if<reference::StateHandle>(value)) {
      checkState(error, truth.running().rowsOf(*state), pools);
    } else {
      const auto &tensor = std::get<reference::Tensor>(*value);
      auto type = dyn_cast<RankedTensorType>(result.getType());
      void *address = addresses[result.getResultNumber()];
      if (!tensor.isFloat || !type || !type.getElementType().isF32() || !address)
        continue;
      checkTensor(error, tensor, static_cast<float *>(address));
    }
    any = true;
    record({run.path, *tag}, std::move(error));
  }
  checked += any;
  if (dispatch.lastOfRun)
    stream.drop(run.path);
}

llvm::Error StepCheck::run(ArrayRef<int32_t> tokens, bool encodes) {
  const TracedClass &own = (encodes ? sources : classes)[step.variantFor(static_cast<int64_t>(tokens.size()))];
  problem.clear();
  size_t next = 0;
  stream.begin(tokens, encodes);
  std::vector<float> logits;
  std::string message;
  bool done = step.run(
      encodes, tokens,
      [&](const tw_abi_work &work) -> int32_t {
        if (next == own.trace.dispatches.size()) {
          problem = "the compiled step runs more dispatches than the graph's program has";
          return 1;
        }
        const TracedDispatch &dispatch = own.trace.dispatches[next++];
        if (work.chunks > 0)
          work.kernel(work.args, 0, work.chunks);
        ++ran;
        check(own, dispatch, work.args);
        return problem.empty() ? 0 : 1;
      },
      logits, message);
  llvm::Expected<std::vector<double>> truth = stream.finish();
  if (!truth)
    return truth.takeError();
  if (!problem.empty())
    return llvm::createStringError(problem);
  if (!done)
    return llvm::createStringError(message);
  if (next != own.trace.dispatches.size())
    return llvm::createStringError("the compiled step ran " + llvm::Twine(next) +
                                   " dispatches, the graph's program has " + llvm::Twine(own.trace.dispatches.size()));
  return llvm::Error::success();
}

llvm::Error StepCheck::runPrompt(ArrayRef<int32_t> tokens) {
  step.reset();
  if (llvm::Error error = truth.reset())
    return error;
  SmallVector<size_t> steps = stepsOf(tokens.size());
  SmallVector<size_t> read; // the whole last, which the steps then see
  if (!sources.empty()) {
    read.assign(steps.rbegin(), steps.rend());
    read.push_back(tokens.size());
  }
  for (size_t rows : read)
    if (llvm::Error error = run(tokens.take_front(rows), /*encodes=*/true))
      return error;
  for (size_t rows : steps) {
    if (llvm::Error error = run(tokens.take_front(rows), /*encodes=*/false))
      return error;
    tokens = tokens.drop_front(rows);
  }
  return llvm::Error::success();
}

std::vector<ValueError> StepCheck::errors() const { return all; }

} // namespace tilewright::driver
