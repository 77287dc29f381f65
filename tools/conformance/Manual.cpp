// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Manual.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using llvm::StringRef;

namespace tilewright::conformance {

namespace {

/// "x" of "### `x` (...)".
StringRef quotedName(StringRef heading) { return heading.split('`').second.split('`').first; }

OpManual readOp(StringRef body) {
  OpManual op;
  // Title, summary in italics, syntax in a fence, then the description, which ends at the first generated line.
  body = body.ltrim();
  if (body.consume_front("_")) {
    op.summary = body.split("_\n").first.str();
    body = body.split("_\n").second.ltrim();
  }
  if (body.consume_front("Syntax:"))
    body = body.split("```\n").second.split("```\n").second;
  for (StringRef end : {"\nTraits: ", "\nInterfaces: ", "\nEffects: ", "\n#### "})
    body = body.substr(0, body.find(end));
  for (StringRef end : {"Traits: ", "Interfaces: ", "Effects: ", "#### "})
    if (body.starts_with(end))
      body = "";
  op.text = body.trim().str();
  op.hasExample = llvm::Regex("Examples?:[^`]*```mlir").match(body);
  op.saysNoConstraints = llvm::Regex("Constraints: none").match(body);
  llvm::Regex constraint("\\(C([0-9]+)\\)");
  llvm::SmallVector<StringRef> parts;
  for (StringRef rest = body.split("Constraints:").second; constraint.match(rest, &parts);
       rest = StringRef(parts[1].end(), rest.end() - parts[1].end())) {
    unsigned number = 0;
    if (!parts[1].getAsInteger(10, number))
      op.constraints.push_back(number);
  }
  return op;
}

} // namespace

Manual readManual(llvm::ArrayRef<std::string> pages) {
  Manual manual;
  for (StringRef page : pages) {
    enum { Elsewhere, Operations, Types } part = Elsewhere;
    while (!page.empty()) {
      StringRef line;
      std::tie(line, page) = page.split('\n');
      if (line.starts_with("## ")) {
        part = line.contains("Operations") ? Operations : line.contains("Types") ? Types : Elsewhere;
      } else if (line.starts_with("### ") && part == Operations) {
        size_t end = std::min(page.find("\n### "), page.find("\n## "));
        manual.ops[quotedName(line)] = readOp(page.substr(0, end));
      } else if (line.starts_with("Syntax: ") && part == Types) {
        manual.types.push_back(quotedName(line).split('<').first.str());
      }
    }
  }
  return manual;
}

Finding checkManual(const Manual &manual, StringRef name) {
  auto found = manual.ops.find(name);
  if (found == manual.ops.end())
    return failed("the plugin carries no manual of this op; define it in a .td file that tilewright_tablegen_dialect "
                  "handles before add_tilewright_plugin");
  const OpManual &op = found->second;
  std::vector<std::string> missing;
  if (op.summary.empty())
    missing.push_back("no summary");
  if (op.text.empty())
    missing.push_back("no description");
  if (!op.hasExample)
    missing.push_back("no \"Example:\" in ```mlir");
  if (op.constraints.empty() && !op.saysNoConstraints)
    missing.push_back("no numbered constraints (C1), and no \"Constraints: none\"");
  unsigned last = 0;
  for (unsigned number : op.constraints) {
    if (number <= last)
      missing.push_back("constraint (C" + std::to_string(number) + ") behind (C" + std::to_string(last) + ")");
    last = number;
  }
  if (!missing.empty())
    return failed(llvm::join(missing, "; "));
  return passed(std::to_string(op.constraints.size()) + (op.constraints.size() == 1 ? " constraint" : " constraints"));
}

} // namespace tilewright::conformance
