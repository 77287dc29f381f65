// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/options/Options.h"

#include "tools/ExitCodes.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <vector>

namespace tilewright {
namespace {

size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The name that is most alike; empty when a third of the word's letters and more would have to change.
std::string nearest(const std::string &word, const std::vector<std::string> &known) {
  std::string best;
  size_t limit = (word.size() + 1) / 3 + 1;
  for (const std::string &name : known)
    if (const size_t distance = editDistance(word, name); distance < limit) {
      limit = distance;
      best = name;
    }
  return best;
}

std::string quoted(const std::string &text) { return "'" + text + "'"; }

std::string unknownOption(const CLI::App &command, const std::string &path, const std::string &word) {
  std::vector<std::string> known;
  for (const CLI::Option *option : command.get_options())
    known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
  const std::string name = word.substr(0, word.find('='));
  const std::string near = nearest(name.substr(name.find_first_not_of('-')), known);
  return "unknown option " + quoted(name) +
         (near.empty() ? "; " + quoted(path + " --help") + " lists those that there are"
                       : ", nearest known: " + quoted("--" + near));
}

std::string unknownCommand(const CLI::App &app, const std::string &word) {
  std::vector<std::string> known;
  std::string all;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    known.push_back(command->get_name());
    all += (all.empty() ? "" : ", ") + command->get_name();
  }
  const std::string near = nearest(word, known);
  return "unknown command " + quoted(word) +
         (near.empty() ? ", wanted one of " + all : ", nearest known: " + quoted(near));
}

/// What is wrong with the first word that no command took; empty when there is none.
std::string unknownWord(const CLI::App &app) {
  std::string path;
  for (const CLI::App *command = &app; command;) {
    path += (path.empty() ? "" : " ") + command->get_name();
    for (const std::string &word : command->remaining()) {
      if (word.find_first_not_of('-') == std::string::npos) // "--": what follows are no options
        continue;
      if (word[0] == '-')
        return unknownOption(*command, path, word);
      if (command->get_require_subcommand_min() > 0 && command->get_subcommands().empty())
        return unknownCommand(*command, word);
      return path + ": unexpected " + quoted(word);
    }
    const std::vector<CLI::App *> parsed = command->get_subcommands();
    command = parsed.empty() ? nullptr : parsed.front();
  }
  return "";
}

} // namespace

CLI::Validator numberFrom(int64_t least) {
  const std::string wanted = "a whole number of " + std::to_string(least) + " or more";
  return CLI::Validator(
      [least, wanted](const std::string &text) {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool isGood = error == std::errc() && end == text.data() + text.size() && value >= least;
        return isGood ? "" : "found " + quoted(text) + ", wanted " + wanted;
      },
      "");
}

CLI::Validator notEmpty(const std::string &wanted) {
  return CLI::Validator(
      [wanted](const std::string &text) { return text.empty() ? "found an empty text, wanted " + wanted : ""; }, "");
}

int endParse(const CLI::App &app, const CLI::ParseError &error) {
  // A word that no command took explains why something else is missing.
  const bool isUnknown = dynamic_cast<const CLI::ExtrasError *>(&error) != nullptr;
  const bool isMissing = dynamic_cast<const CLI::RequiredError *>(&error) != nullptr;
  if (isUnknown || isMissing)
    if (const std::string problem = unknownWord(app); !problem.empty()) {
      std::fprintf(stderr, "%s: error: %s\n", app.get_name().c_str(), problem.c_str());
      return Usage;
    }
  return app.exit(error) == 0 ? Success : Usage;
}

} // namespace tilewright
