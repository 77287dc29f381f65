// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of the frontend. Their texts name file, place, what was found and what was wanted; their error codes say which
// kind they are, so that a tool can choose its exit status by `llvm::errorToErrorCode`:
//   std::errc::invalid_argument  the input is malformed or contradicts itself
//   std::errc::not_supported     the input is well formed, but nothing here can handle it
//   anything else                the operating system's answer
#ifndef TILEWRIGHT_FRONTEND_GRAPH_ERRORS_H
#define TILEWRIGHT_FRONTEND_GRAPH_ERRORS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <system_error>

namespace tilewright {

inline llvm::Error badInput(const llvm::Twine &message) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), message);
}

inline llvm::Error unsupported(const llvm::Twine &message) {
  return llvm::createStringError(std::make_error_code(std::errc::not_supported), message);
}

inline llvm::Error ioError(const llvm::Twine &what, std::error_code code) {
  return llvm::createStringError(code, what + ": " + code.message());
}

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_ERRORS_H
