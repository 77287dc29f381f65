// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects, links and what their failures say.
#include "tests/unit/cpu/KernelRunner.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context());
}

std::string linkError(const std::vector<ObjectBytes> &objects, llvm::StringRef path) {
  llvm::Error error = linkSharedObject(objects, path);
  return error ? llvm::toString(std::move(error)) : "";
}

/// A temporary path, removed at the end.
struct TemporaryPath {
  llvm::SmallString<128> path;
  TemporaryPath() { llvm::sys::fs::createTemporaryFile("tilewright-link", "so", path); }
  ~TemporaryPath() { llvm::sys::fs::remove(path); }
};

std::string bytesOf(llvm::StringRef path) { return (*llvm::MemoryBuffer::getFile(path))->getBuffer().str(); }

} // namespace

TEST(CpuLevels, AreFoundByName) {
  for (const CpuLevel &level : CpuLevel::all())
    EXPECT_EQ(llvm::cantFail(CpuLevel::find(level.name)), &level);
  EXPECT_EQ(llvm::toString(CpuLevel::find("amx").takeError()),
            "level 'amx' is not supported yet: it follows later; use 'avx512bf16'");
  EXPECT_EQ(llvm::toString(CpuLevel::find("sse2").takeError()),
            "unknown CPU level 'sse2', wanted one of: avx2, avx512, avx512bf16");
}

TEST(Linking, MissingSymbolIsAnError) {
  auto module = parse(R"(
    llvm.func @missing()
    llvm.func @calls() { llvm.call @missing() : () -> () llvm.return })");
  std::vector<ObjectBytes> objects{*emitObject(*module, CpuLevel::all().front())};
  TemporaryPath out;
  std::string error = linkError(objects, out.path);
  EXPECT_NE(error.find("cannot link '" + out.path.str().str() + "'"), std::string::npos) << error;
  EXPECT_NE(error.find("undefined symbol: missing"), std::string::npos) << error;
  // The linker is usable afterwards.
  EXPECT_EQ(linkError({llvm::cantFail(emitMemoryFunctions())}, out.path), "");
}

TEST(Linking, SymbolTwiceIsAnError) {
  auto module = parse("llvm.func @twice() { llvm.return }");
  ObjectBytes object = *emitObject(*module, CpuLevel::all().front());
  TemporaryPath out;
  EXPECT_NE(linkError({object, object}, out.path).find("duplicate symbol: twice"), std::string::npos);
}

TEST(Linking, PathThatCannotBeWrittenIsAnError) {
  EXPECT_NE(linkError({llvm::cantFail(emitMemoryFunctions())}, "/nonexistent/folder/x.so"), "");
}

TEST(Linking, SameInputGivesSameBytes) {
  auto module = parse("llvm.func @same(%a: i64) -> i64 { %r = llvm.add %a, %a : i64 llvm.return %r : i64 }");
  std::string first;
  for (int round = 0; round < 2; ++round) {
    std::vector<ObjectBytes> objects{*emitObject(*module, CpuLevel::all().front()),
                                     llvm::cantFail(emitMemoryFunctions())};
    TemporaryPath out;
    ASSERT_EQ(linkError(objects, out.path), "");
    std::string bytes = bytesOf(out.path);
    if (round == 0)
      first = bytes;
    else
      EXPECT_EQ(bytes, first);
  }
}

TEST(Linking, SectionsAreKept) {
  std::string text("what a manifest holds\0and after", 31);
  std::vector<ObjectBytes> objects{
      llvm::cantFail(emitSection(TW_ABI_MANIFEST_SECTION, llvm::ArrayRef(text.data(), text.size())))};
  TemporaryPath out;
  ASSERT_EQ(linkError(objects, out.path), "");
  std::string bytes = bytesOf(out.path);
  EXPECT_NE(bytes.find(text), std::string::npos);
  EXPECT_NE(bytes.find(TW_ABI_MANIFEST_SECTION), std::string::npos);
}

TEST(MemoryFunctions, DoWhatTheLibrarysDo) {
  // Copies of run-time lengths become calls.
  auto module = parse(R"(
    llvm.func @move(%to: !llvm.ptr, %from: !llvm.ptr, %n: i64) {
      "llvm.intr.memmove"(%to, %from, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      llvm.return
    }
    llvm.func @copy(%to: !llvm.ptr, %from: !llvm.ptr, %n: i64) {
      "llvm.intr.memcpy"(%to, %from, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      llvm.return
    }
    llvm.func @set(%to: !llvm.ptr, %value: i8, %n: i64) {
      "llvm.intr.memset"(%to, %value, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
      llvm.return
    })");
  std::vector<ObjectBytes> objects{*emitObject(*module, CpuLevel::all().front()),
                                   llvm::cantFail(emitMemoryFunctions())};
  TemporaryPath out;
  ASSERT_EQ(linkError(objects, out.path), "");
  void *handle = dlopen(out.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  auto move = reinterpret_cast<void (*)(void *, const void *, int64_t)>(dlsym(handle, "move"));
  auto copy = reinterpret_cast<void (*)(void *, const void *, int64_t)>(dlsym(handle, "copy"));
  auto set = reinterpret_cast<void (*)(void *, int8_t, int64_t)>(dlsym(handle, "set"));
  for (int64_t n : {0, 1, 7, 8, 9, 31, 64, 100})
    for (int64_t shift : {-17, -8, -1, 0, 1, 8, 17}) {
      std::string got(256, ' '), want(256, ' ');
      for (int i = 0; i < 256; ++i)
        got[i] = want[i] = static_cast<char>(i * 7);
      move(&got[100 + shift], &got[100], n);
      memmove(&want[100 + shift], &want[100], n);
      EXPECT_EQ(got, want) << n << " bytes by " << shift;
      copy(&got[0], &got[150], n);
      memcpy(&want[0], &want[150], n);
      set(&got[200 - shift], -3, n / 4);
      memset(&want[200 - shift], -3, n / 4);
      EXPECT_EQ(got, want) << n << " bytes";
    }
  dlclose(handle);
}

TEST(Kernels, SuffixNamesTheLevel) {
  auto module = parse(R"(
    func.func @k(%x: memref<4xf32>, %begin: index, %end: index) { return })");
  std::vector<ObjectBytes> objects = *compileKernels(*module, CpuLevel::all().front(), ".avx2");
  TemporaryPath out;
  ASSERT_EQ(linkError(objects, out.path), "");
  void *handle = dlopen(out.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  EXPECT_TRUE(dlsym(handle, "k.avx2"));
  EXPECT_FALSE(dlsym(handle, "k"));
  dlclose(handle);
}

TEST(Kernels, FailureIsADiagnostic) {
  auto module = parse(R"(
    func.func @k(%x: memref<4xf32>, %begin: index) { return })");
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) { message += diagnostic.str(); });
  EXPECT_TRUE(failed(compileKernels(*module, CpuLevel::all().front())));
  EXPECT_NE(message.find("kernel's last two arguments are not the index range of chunks"), std::string::npos)
      << message;
}
