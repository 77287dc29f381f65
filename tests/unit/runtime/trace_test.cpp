// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces: whole, nested, of every thread that worked, and of nothing else.
#include "runtime/exec/Trace.h"

#include "runtime/exec/Executor.h"
#include "runtime/exec/Phases.h"
#include "tests/unit/runtime/fake/FakeModel.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>

using namespace tilewright;
using namespace tilewright::testing;
using nlohmann::json;

namespace {

json readTrace(const std::string &path) {
  std::ifstream file(path);
  return json::parse(file);
}

/// The complete events; each thread's are nested, or follow one another.
std::vector<json> events(const json &trace) {
  std::map<int, std::vector<json>> threads;
  std::vector<json> all;
  for (const json &event : trace) {
    if (event["ph"] == "M")
      continue;
    EXPECT_EQ(event["ph"], "X") << event;
    EXPECT_GE(event["dur"].get<double>(), 0) << event;
    threads[event["tid"].get<int>()].push_back(event);
    all.push_back(event);
  }
  constexpr double rounding = 0.0011; // of a microsecond, printed with three digits
  for (auto &[thread, own] : threads) {
    std::sort(own.begin(), own.end(), [](const json &a, const json &b) {
      const double left = a["ts"].get<double>(), right = b["ts"].get<double>();
      return left != right ? left < right : a["dur"].get<double>() > b["dur"].get<double>();
    });
    std::vector<double> ends;
    for (const json &event : own) {
      const double begin = event["ts"].get<double>(), end = begin + event["dur"].get<double>();
      while (!ends.empty() && ends.back() <= begin + rounding)
        ends.pop_back();
      EXPECT_TRUE(ends.empty() || end <= ends.back() + rounding) << event << " crosses another event";
      ends.push_back(end);
    }
  }
  return all;
}

int64_t sum(const std::vector<json> &all, const std::string &name, const std::string &unit) {
  int64_t result = 0;
  for (const json &event : all)
    if (event["name"] == name)
      result += event["args"][unit].get<int64_t>();
  return result;
}

} // namespace

TEST(Trace, OfAModelHasItsStepsAndPhases) {
  for (int threads : {1, 2}) {
    TemporaryFolder folder;
    const std::string path = folder.path("trace.json");
    {
      FakeModel model([&](tw_model_options &options) {
        options.threads = threads;
        options.trace = path.c_str();
      });
      FakeSession session(model);
      EXPECT_EQ(session.step(someTokens(70)), TW_OK);
      EXPECT_EQ(session.step({7}), TW_OK);
      EXPECT_EQ(session.logits, fakeLogits(joined(someTokens(70), {7})));
    }
    const json trace = readTrace(path);
    EXPECT_EQ(trace[0]["name"], "process_name");
    const std::vector<json> all = events(trace);
    std::map<std::string, int> counts;
    for (const json &event : all)
      ++counts[event["name"].get<std::string>()];
    EXPECT_EQ(counts["load"], 1);
    EXPECT_EQ(counts["step"], 2);
    EXPECT_EQ(sum(all, "step", "sequences"), 2);
    EXPECT_EQ(sum(all, "step_many", "rows"), 70);
    EXPECT_EQ(sum(all, "step_one", "rows"), 1);
    EXPECT_GT(sum(all, "kernel", "chunks"), 0); // the fake model's kernels are static functions, without names
  }
}

TEST(Trace, CountsEveryChunkOfAPhaseOnceAndSeparatesPhases) {
  TemporaryFolder folder;
  const Log log(nullptr, nullptr);
  constexpr int phaseCount = 300;
  const auto doze = [](void *const *, int64_t begin, int64_t end) {
    for (volatile int64_t i = begin * 1000; i < end * 1000; i = i + 1) {
    }
  };
  const tw_abi_work works[2] = {{doze, nullptr, 0}, {doze, nullptr, 20}};
  for (int threads : {1, 2, 4}) {
    const std::string path = folder.path("trace.json");
    {
      Trace trace(path, "\"quoted\" \xff", log);
      auto executor = Executor::create(threads, nullptr);
      executor->run(
          {},
          [&](Phases &phases) {
            for (int i = 0; i < phaseCount; ++i)
              ASSERT_EQ(phases.run(works, 2), 0);
          },
          &trace);
    }
    const std::vector<json> all = events(readTrace(path));
    EXPECT_EQ(sum(all, "kernel", "chunks"), 20 * phaseCount);
    EXPECT_GE(all.size(), static_cast<size_t>(phaseCount));
    for (const json &event : all)
      EXPECT_LE(event["args"]["chunks"].get<int64_t>(), 20) << "one event for two phases: " << event;
  }
}

TEST(Trace, WritesMoreThanItKeeps) {
  TemporaryFolder folder;
  const std::string path = folder.path("trace.json");
  constexpr int count = 200'000;
  const Log log(nullptr, nullptr);
  {
    Trace trace(path, "many", log);
    for (int i = 0; i < count; ++i)
      TraceSpan span(&trace, "span", "number", 1);
  }
  const json trace = readTrace(path);
  EXPECT_EQ(trace.size(), static_cast<size_t>(count + 1));
}

TEST(Trace, ThatCannotBeWrittenIsAnError) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const std::string path = folder.path("none/trace.json");
  tw_model_options options{};
  options.size = sizeof options;
  options.trace = path.c_str();
  tw_model *model = nullptr;
  expectError(tw_model_load(folder.path().c_str(), &options, &model), TW_IO,
              "none/trace.json: the trace cannot be written: No such file or directory");
  EXPECT_EQ(model, nullptr);
}

TEST(Trace, OnAFullDiskIsToldAtTheEnd) {
  std::vector<std::string> messages;
  const auto keep = [](void *user, tw_log_level level, const char *message) {
    EXPECT_EQ(level, TW_LOG_ERROR);
    static_cast<std::vector<std::string> *>(user)->push_back(message);
  };
  {
    const Log log(keep, &messages);
    Trace trace("/dev/full", "full", log);
    TraceSpan span(&trace, "span");
  }
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0], "/dev/full: the trace cannot be written: No space left on device");
}
