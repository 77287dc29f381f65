// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Model.h"

#include "runtime/api/Error.h"
#include "runtime/api/tilewright.h"
#include "tools/files/StandardOutput.h"
#include "tools/options/Options.h"
#include "tools/safetensors/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>

using namespace tilewright;
using namespace tilewright::cli;

namespace tilewright::cli {

void check(tw_status status, const std::string &where) {
  if (status != TW_OK)
    throw Failure(exitCodeOf(status), where.empty() ? tw_last_error() : where + ": " + tw_last_error());
}

std::ifstream openText(const std::string &path) {
  std::error_code missing;
  if (std::filesystem::is_directory(path, missing))
    throw Failure(BadInput, path + ": is a folder, wanted a text");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Failure(BadInput, path + ": " + std::strerror(errno));
  return file;
}

} // namespace tilewright::cli

int main(int argc, char **argv) {
  // Compile-side commands keep their own help and options; a graph is inspected there too.
  auto namesGraph = [](std::string_view word) { return word.ends_with(".twg") || word.ends_with(".gguf"); };
  bool graph =
      argc > 2 && std::string(argv[1]) == "inspect" && std::any_of(argv + 2, argv + argc, [&](const char *word) {
        return word[0] != '-' && (isModelFile(word) || isModelFolder(word) || namesGraph(word));
      });
  if (argc > 1 && (graph || isCompilerCommand(argv[1]))) {
    try {
      execCompiler({argv + 1, argv + argc});
    } catch (const Failure &failure) {
      std::fprintf(stderr, "tilewright: error: %s\n", failure.what());
      return failure.code;
    }
  }

  CLI::App app{"Compiles transformer models ahead of time and runs them.", "tilewright"};
  app.set_version_flag("--version", std::string("tilewright ") + tw_version());
  app.require_subcommand(1);
  for (const auto *command = compilerCommands; (*command)[0]; ++command)
    app.add_subcommand((*command)[0], (*command)[1]);
  addGenerate(app);
  addRun(app);
  addBench(app);
  addTokenize(app);
  addInspect(app);
  app.footer("tilewright COMMAND --help explains a command.");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (const int code = endParse(app, error); code != Success)
      return code;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "tilewright: error: %s\n", failure.what());
    return failure.code;
  } catch (const Error &error) {
    std::fprintf(stderr, "tilewright: error: %s\n", error.what());
    return exitCodeOf(error.code());
  } catch (const SafetensorsError &error) {
    std::fprintf(stderr, "tilewright: error: %s\n", error.what());
    return BadInput;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "tilewright: error: out of memory\n");
    return Resources;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "tilewright: error: %s\n", error.what());
    return WorkFailed;
  }
  if (const std::optional<std::string> problem = flushStandardOutput()) {
    std::fprintf(stderr, "tilewright: error: %s\n", problem->c_str());
    return WorkFailed;
  }
  return hasLoggedError() ? WorkFailed : Success;
}
