// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `inspect --receipts`: each candidate of a compilation, what became of it, by which pass, and what to change.
#include "tools/tilewright/InspectReceipts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <vector>

namespace tilewright::cli {
namespace {

using Json = nlohmann::json;

std::string field(const Json &object, const char *key) { return object.value(key, ""); }
std::string detail(const Json &receipt, const char *key) {
  auto details = receipt.find("details");
  return details == receipt.end() || !details->is_object() ? "" : details->value(key, "");
}

/// The program that a receipt is about: its shape class, and the element type of its caches where that is named.
std::string programOf(const Json &receipt) {
  const std::string shapeClass = detail(receipt, "shape_class"), kvType = detail(receipt, "kv_type");
  return shapeClass.empty() || kvType.empty() ? shapeClass : shapeClass + " " + kvType;
}

/// What one pass said about one candidate, in the programs for which it said the same.
struct Line {
  std::string outcome, who, reason, advice, stage;
  std::vector<std::string> programs;
  bool operator==(const Line &) const = default;
};

/// Candidates of one function and kind about which the same was said.
struct Candidates {
  std::string kind;
  std::vector<std::string> places;
  std::vector<Line> lines;
};

void addLine(std::vector<Line> &lines, const Json &receipt) {
  std::string plugin = field(receipt, "plugin");
  Line line{field(receipt, "outcome"), (plugin.empty() ? "core" : plugin) + ": " + field(receipt, "pass"),
            field(receipt, "reason"),  field(receipt, "advice"),
            field(receipt, "stage"),   {}};
  const std::string program = programOf(receipt);
  for (Line &known : lines) {
    Line same = known;
    same.programs.clear();
    if (same == line) {
      if (std::find(known.programs.begin(), known.programs.end(), program) == known.programs.end())
        known.programs.push_back(program);
      return;
    }
  }
  line.programs.push_back(program);
  lines.push_back(std::move(line));
}

/// The latest stage decides: done where one of its passes did it, in each program.
bool isFused(const std::vector<Line> &lines) {
  std::set<std::string> met, made;
  for (const Line &line : lines)
    if (line.stage == lines.back().stage)
      for (const std::string &name : line.programs) {
        met.insert(name);
        if (line.outcome == "done")
          made.insert(name);
      }
  return met == made;
}

/// "graph:layer:1, 2, 3": what the places share is written once.
std::string joined(const std::vector<std::string> &places) {
  std::string text, prefix;
  for (const std::string &place : places) {
    const size_t colon = place.rfind(':');
    const std::string before = colon == std::string::npos ? "" : place.substr(0, colon + 1);
    text += text.empty() ? place : ", " + (before == prefix ? place.substr(before.size()) : place);
    prefix = before;
  }
  return text;
}

void printFunction(const std::string &function, const std::vector<const Json *> &receipts, size_t programCount) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<Line>>> places; // in order of appearance
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const Json *receipt : receipts) {
    const std::pair<std::string, std::string> place(field(*receipt, "kind"), field(*receipt, "location"));
    auto [it, isNew] = known.try_emplace(place, places.size());
    if (isNew)
      places.push_back({place, {}});
    addLine(places[it->second].second, *receipt);
  }
  std::vector<Candidates> groups;
  for (auto &[place, lines] : places) {
    Candidates *same = nullptr;
    for (Candidates &group : groups)
      if (group.kind == place.first && group.lines == lines)
        same = &group;
    if (same)
      same->places.push_back(place.second);
    else
      groups.push_back({place.first, {place.second}, lines});
  }
  std::printf("%s\n", function.empty() ? "(no function)" : function.c_str());
  for (const Candidates &group : groups) {
    std::printf("  %-16s %-9s  at %s\n", group.kind.c_str(), isFused(group.lines) ? "fused" : "not fused",
                joined(group.places).c_str());
    for (const Line &line : group.lines) {
      std::string programs;
      if (line.programs.size() < programCount)
        for (const std::string &name : line.programs)
          programs += (programs.empty() ? "" : ", ") + name;
      std::printf("    %-6s %s: %s%s\n", line.outcome.c_str(), line.who.c_str(), line.reason.c_str(),
                  programs.empty() ? "" : (" (" + programs + ")").c_str());
      if (!line.advice.empty())
        std::printf("           to change: %s\n", line.advice.c_str());
    }
  }
}

void printConditions(const std::vector<const Json *> &conditions) {
  std::map<std::string, std::map<std::string, unsigned long long>> levels; // level -> condition -> kernels
  for (const Json *condition : conditions) {
    const std::string level = detail(*condition, "level"), kernels = detail(*condition, "kernels");
    levels[level.empty() ? "all levels" : level][field(*condition, "reason")] +=
        std::strtoull(kernels.c_str(), nullptr, 10);
  }
  for (const auto &[level, counts] : levels) {
    std::printf("post-conditions that hold, %s\n", level.c_str());
    for (const auto &[condition, kernels] : counts)
      std::printf("  %5llu kernels  %s\n", kernels, condition.c_str());
  }
}

} // namespace

void printReceipts(const std::string &stored, bool json) {
  const Json receipts = Json::parse(stored, nullptr, /*allow_exceptions=*/false);
  if (!receipts.is_array()) {
    std::cout << (json ? "[]\n" : "this compiled model carries no receipts\n");
    return;
  }
  if (json) {
    std::cout << receipts.dump(2) << '\n';
    return;
  }
  std::vector<std::pair<std::string, std::vector<const Json *>>> functions;
  std::vector<const Json *> conditions;
  std::set<std::string> programs;
  for (const Json &receipt : receipts) {
    if (field(receipt, "outcome") == "held") {
      conditions.push_back(&receipt);
      continue;
    }
    if (std::string name = programOf(receipt); !name.empty())
      programs.insert(name);
    const std::string function = field(receipt, "function");
    if (functions.empty() || functions.back().first != function)
      functions.push_back({function, {}});
    functions.back().second.push_back(&receipt);
  }
  for (const auto &[function, list] : functions)
    printFunction(function, list, programs.size());
  printConditions(conditions);
}

} // namespace tilewright::cli
