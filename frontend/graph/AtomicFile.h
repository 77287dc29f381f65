// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_ATOMICFILE_H
#define TILEWRIGHT_FRONTEND_GRAPH_ATOMICFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace tilewright {

/// Writes a whole file or nothing: `write` fills a temporary file in the same folder, which then takes the name `path`.
/// On any failure, one reported by `write` or one of the disk, the temporary file is gone and an older file at `path`
/// is as it was. Refuses a `path` that is there but no regular file;
/// follows links.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);

/// The same for bytes that lie ready.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_ATOMICFILE_H
