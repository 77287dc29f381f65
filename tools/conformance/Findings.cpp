// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Findings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace json = llvm::json;

namespace tilewright::conformance {

static const char *word(Outcome outcome) {
  switch (outcome) {
  case Outcome::Passed:
    return "passed";
  case Outcome::Failed:
    return "failed";
  case Outcome::Absent:
    return "absent";
  case Outcome::Untried:
    return "untried";
  }
  return "";
}

/// In the table failures stand out, and what was not checked does not.
static const char *mark(Outcome outcome) {
  switch (outcome) {
  case Outcome::Passed:
    return word(outcome);
  case Outcome::Failed:
    return "FAILED";
  case Outcome::Absent:
  case Outcome::Untried:
    return "-";
  }
  return "";
}

void printTable(llvm::raw_ostream &out, llvm::ArrayRef<Finding> findings) {
  size_t subjectWidth = 0, checkWidth = 0;
  for (const Finding &finding : findings) {
    subjectWidth = std::max(subjectWidth, finding.subject.size());
    checkWidth = std::max(checkWidth, finding.check.size());
  }
  constexpr unsigned kOutcomeWidth = 6, kGap = 2;
  llvm::StringRef before;
  for (const Finding &finding : findings) {
    // A subject stands once, in the first of its rows.
    llvm::StringRef subject = finding.subject == before ? llvm::StringRef() : llvm::StringRef(finding.subject);
    before = finding.subject;
    out << llvm::left_justify(subject, subjectWidth + kGap) << llvm::left_justify(finding.check, checkWidth + kGap)
        << llvm::left_justify(mark(finding.outcome), finding.detail.empty() ? 0 : kOutcomeWidth + kGap);
    llvm::StringRef line, rest = finding.detail;
    for (bool first = true; !rest.empty(); first = false) {
      std::tie(line, rest) = rest.split('\n');
      if (!first)
        out.indent(subjectWidth + checkWidth + kOutcomeWidth + 3 * kGap);
      out << line << (rest.empty() ? "" : "\n");
    }
    out << "\n";
  }
  size_t failures = llvm::count_if(findings, [](const Finding &f) { return f.outcome == Outcome::Failed; });
  size_t checks = llvm::count_if(findings, [](const Finding &f) { return f.outcome == Outcome::Passed; }) + failures;
  out << "\n" << checks << " checks, " << failures << (failures == 1 ? " failure\n" : " failures\n");
}

void printJson(llvm::raw_ostream &out, llvm::StringRef plugin, llvm::StringRef version, llvm::StringRef file,
               llvm::ArrayRef<Finding> findings) {
  json::Array rows;
  bool failed = false;
  for (const Finding &finding : findings) {
    failed |= finding.outcome == Outcome::Failed;
    rows.push_back(json::Object{{"subject", finding.subject},
                                {"check", finding.check},
                                {"outcome", word(finding.outcome)},
                                {"detail", json::fixUTF8(finding.detail)}});
  }
  out << llvm::formatv(
      "{0:2}\n",
      json::Value(json::Object{
          {"plugin", plugin}, {"version", version}, {"file", file}, {"passed", !failed}, {"checks", std::move(rows)}}));
}

} // namespace tilewright::conformance
