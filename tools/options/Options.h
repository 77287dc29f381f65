// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What both programs do with their command lines: values that options take, and what is said of a wrong line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace tilewright {

/// The option takes whole numbers of `least` or more. (CLI11's own checks tell of the ends of a double's range.)
CLI::Validator numberFrom(int64_t least);
/// The option takes no empty text: it would read as if the option were not there. `wanted`: what it takes.
CLI::Validator notEmpty(const std::string &wanted);

/// Says what is wrong with the command line, and with which word; or prints the help that was asked for. Returns the
/// exit code.
int endParse(const CLI::App &app, const CLI::ParseError &error);

} // namespace tilewright
