// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/Handles.h"
#include "runtime/tokenize/Tokenizer.h"
#include "tools/tilewright/Model.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

namespace tilewright::cli {
namespace {

struct TokenizeOptions {
  ModelOptions model;
  std::string file;
  bool json = false;
  bool plain = false;
};

std::string readAll(const std::string &path) {
  if (path == "-")
    return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file = openText(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void runTokenize(const TokenizeOptions &options) {
  ModelPointer model = loadModel(options.model);
  std::vector<int32_t> ids = tokenize(model.get(), readAll(options.file), !options.plain);
  if (options.json) {
    std::cout << nlohmann::json{{"ids", ids}}.dump() << '\n';
    return;
  }
  for (int32_t id : ids)
    std::printf("%7d  %s\n", id,
                nlohmann::json(std::string(model->model->tokenizer()->tokenBytes(id)))
                    .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                    .c_str());
}

} // namespace

void addTokenize(CLI::App &app) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App *command = app.add_subcommand("tokenize", "Show the token ids of a text");
  addModelOptions(*command, options->model);
  command->add_option("--file", options->file, "Text file; '-' reads standard input")->required();
  command->add_flag("--json", options->json, "Print {\"ids\": [...]}");
  command->add_flag("--plain", options->plain, "Take special tokens in the text as ordinary text");
  command->footer("Example:\n  tilewright tokenize smollm2/ --file prompt.txt --json");
  command->callback([options] { runTokenize(*options); });
}

} // namespace tilewright::cli
