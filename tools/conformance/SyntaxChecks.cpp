// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a sample says about an op's text forms and its verifier.
#include "tools/conformance/Environment.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tilewright::conformance {

/// The module with nothing hidden: generic form.
static std::string genericText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op->print(out, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return text;
}

/// Behind the names of an op there is no second one: "swiglu.glu" -> "glu".
static StringRef mnemonic(StringRef op) { return op.split('.').second; }

Finding checkSamples(const Environment &environment, StringRef op) {
  if (!environment.programsOf(op).empty())
    return passed();
  for (const SampleText &sample : environment.target.samples)
    if (!sample.isBad && sample.mentions(op) && !llvm::is_contained(environment.samples, &sample))
      return absent("its samples need plugins that are not there");
  return conformance::failed("stands in no good sample");
}

/// What differs first.
static std::string difference(StringRef found, StringRef wanted) {
  while (!found.empty() || !wanted.empty()) {
    StringRef a, b;
    std::tie(a, found) = found.split('\n');
    std::tie(b, wanted) = wanted.split('\n');
    if (a != b)
      return "found '" + a.trim().str() + "', wanted '" + b.trim().str() + "'";
  }
  return "";
}

Finding checkRoundTrip(const Environment &environment, StringRef op) {
  unsigned count = 0;
  for (const Program *program : environment.programsOf(op)) {
    ModuleOp module = program->module();
    std::string wanted = genericText(module), custom;
    llvm::raw_string_ostream(custom) << module;
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    if (failed(writeBytecodeToFile(module, stream)))
      return conformance::failed("'" + program->name() + "': the bytecode cannot be written");
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes, "bytecode");
    const std::pair<StringRef, StringRef> forms[] = {{"custom", custom}, {"generic", wanted}, {"bytecode", bytes}};
    for (auto [form, text] : forms) {
      CapturedDiagnostics diagnostics(environment.context.get());
      OwningOpRef<ModuleOp> again;
      if (form == "bytecode") {
        Block block;
        if (succeeded(readBytecodeFile(buffer->getMemBufferRef(), &block, ParserConfig(environment.context.get()))) &&
            !block.empty())
          if (auto read = dyn_cast<ModuleOp>(block.front())) {
            read->remove();
            again = read;
          }
      } else {
        again = parseSourceString<ModuleOp>(text, environment.context.get());
      }
      std::string what = "'" + program->name() + "': the " + form.str() + " form ";
      if (!again)
        return conformance::failed(what + "does not parse again: " + diagnostics.error("no module"));
      if (std::string found = genericText(*again); found != wanted)
        return conformance::failed(what + "reads as something else: " + difference(found, wanted));
    }
    ++count;
  }
  if (count == 0)
    return absent("no sample");
  return passed("custom, generic, bytecode of " + std::to_string(count) + (count == 1 ? " function" : " functions"));
}

/// Runs the parser over a bad sample; what is wrong with its errors, or nothing.
static std::string verifyErrors(MLIRContext *context, const SampleText &sample) {
  llvm::SourceMgr sources;
  // Lines count as in the whole file.
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(std::string(sample.line - 1, '\n') + sample.text, "samples.mlir"),
      llvm::SMLoc());
  std::string complaints;
  llvm::raw_string_ostream out(complaints);
  SourceMgrDiagnosticVerifierHandler handler(sources, context, out);
  OwningOpRef<ModuleOp> ignored = parseSourceFile<ModuleOp>(sources, context);
  if (succeeded(handler.verify()))
    return "";
  SmallVector<StringRef> lines, kept;
  StringRef(complaints).split(lines, '\n', -1, false);
  for (StringRef line : lines)
    if (line.starts_with("samples.mlir:"))
      kept.push_back(line);
  return llvm::join(kept, "\n");
}

Finding checkBadSamples(const Environment &environment, StringRef op) {
  auto manual = environment.target.manual.ops.find(op);
  std::vector<std::string> wrong;
  unsigned count = 0;
  for (const SampleText *sample : environment.samples) {
    if (!sample->isBad || !sample->mentions(op))
      continue;
    ++count;
    std::string complaint = verifyErrors(environment.context.get(), *sample);
    if (StringRef(complaint).contains("was not produced") && !StringRef(complaint).contains("unexpected error"))
      wrong.push_back("the verifier accepts a bad sample: " + complaint);
    else if (!complaint.empty())
      wrong.push_back(complaint);
  }
  if (manual != environment.target.manual.ops.end())
    for (unsigned number : manual->second.constraints) {
      std::string name = mnemonic(op).str() + "_c" + std::to_string(number);
      bool found = llvm::any_of(environment.target.samples, [&](const SampleText &sample) {
        size_t at = StringRef(sample.text).find("@" + name);
        return sample.isBad && at != StringRef::npos && !llvm::isDigit(sample.text[at + 1 + name.size()]);
      });
      if (!found)
        wrong.push_back("no bad sample is named @" + name + ": nothing shows that constraint (C" +
                        std::to_string(number) + ") is verified");
    }
  if (!wrong.empty())
    return conformance::failed(llvm::join(wrong, "\n"));
  if (count == 0)
    return absent("no constraints");
  return passed(std::to_string(count) + (count == 1 ? " sample refused" : " samples refused") + " as they should be");
}

} // namespace tilewright::conformance
