// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands; each adds itself to the command line and sets the exit code when it runs.
#pragma once

#include "tools/StatusExitCode.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::cli {

/// A failed command: what main prints behind "tilewright: error: ", and the exit code.
struct Failure : std::runtime_error {
  Failure(ExitCode code, const std::string &message) : std::runtime_error(message), code(code) {}
  ExitCode code;
};

/// Throws Failure with tw_last_error() unless `status` is TW_OK; `where` precedes the message.
void check(tw_status status, const std::string &where);

/// A text that a user names: a file or a pipe. Throws Failure.
std::ifstream openText(const std::string &path);

void addGenerate(CLI::App &app);
void addRun(CLI::App &app);
void addBench(CLI::App &app);
void addTokenize(CLI::App &app);
void addInspect(CLI::App &app);

/// Commands that tilewright-compiler does, with what they do; their arguments go to it as they are.
extern const char *const compilerCommands[][2];
bool isCompilerCommand(const std::string &name);
/// Replaces this process by tilewright-compiler; returns only on failure.
[[noreturn]] void execCompiler(const std::vector<std::string> &arguments);
/// Runs tilewright-compiler as a child and waits; throws Failure with its exit code.
void runCompiler(const std::vector<std::string> &arguments);

/// The artifact folder for `path`: itself when it is a compiled model; a .gguf or .twg file is imported and compiled
/// into the cache first. `numerics` as for compile, or empty; it and plugins are refused for a compiled model.
std::string artifactFor(const std::string &path, const std::string &numerics, const std::vector<std::string> &plugins,
                        bool quiet);

/// True for a .twg or .gguf file (by its first bytes).
bool isModelFile(const std::string &path);
/// Whether `path` is a folder with a model to import: one with a config.json, and no compiled model.
bool isModelFolder(const std::string &path);

} // namespace tilewright::cli
