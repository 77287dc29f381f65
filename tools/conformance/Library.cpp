// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Library.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tilewright::conformance {

namespace {

/// The texts of a section, each ended by a zero byte.
std::vector<std::string> texts(llvm::StringRef contents) {
  llvm::SmallVector<llvm::StringRef> parts;
  contents.split(parts, '\0', -1, /*KeepEmpty=*/false); // padding between two texts is zero too
  return {parts.begin(), parts.end()};
}

/// Beginnings of symbols that start threads or processes.
constexpr llvm::StringLiteral starters[] = {"pthread_create",
                                            "thrd_create",
                                            "clone",
                                            "fork",
                                            "vfork",
                                            "posix_spawn",
                                            "_ZNSt6thread15_M_start_thread",
                                            "_ZN4llvm17StdThreadPool",
                                            "_ZN4llvm13StdThreadPool",
                                            "_ZN4llvm23SingleThreadExecutor",
                                            "_ZN3tbb",
                                            "GOMP_parallel",
                                            "__kmpc_fork"};

} // namespace

llvm::Expected<Library> readLibrary(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  auto object = llvm::object::ObjectFile::createELFObjectFile(**buffer);
  if (!object)
    return object.takeError();
  auto *file = llvm::cast<llvm::object::ELFObjectFileBase>(object->get());
  Library library;
  for (const llvm::object::SectionRef &section : file->sections()) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    bool samples = *name == ".tilewright.samples", manual = *name == ".tilewright.manual";
    if (!samples && !manual)
      continue;
    auto contents = section.getContents();
    if (!contents)
      return contents.takeError();
    if (manual)
      library.manuals = texts(*contents);
    else
      library.samples = llvm::join(texts(*contents), "\n// -----\n");
  }
  for (const llvm::object::ELFSymbolRef &symbol : file->getDynamicSymbolIterators()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined))
      continue;
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    library.imports.push_back(name->str());
  }
  return library;
}

Finding checkImports(const Library &library) {
  std::vector<std::string> found;
  for (llvm::StringRef symbol : library.imports)
    if (llvm::any_of(starters, [&](llvm::StringRef starter) {
          // A C name is whole, a mangled one a beginning.
          return starter.starts_with("_ZN") ? symbol.starts_with(starter) : symbol == starter;
        }))
      found.push_back(llvm::demangle(symbol));
  if (found.empty())
    return passed();
  return failed("calls " + llvm::join(found, ", ") + ": a plugin starts no threads or processes of its own");
}

} // namespace tilewright::conformance
