// The report as a page: report.html, which renders the JSON that is put into it.
#include "compiler/Report/Report.h"
#include "llvm/ADT/StringExtras.h"

// Defined by Template.S.in.
extern "C" const char llmc_report_template[], llmc_report_template_end[];

namespace llmc {

std::string reportHtml(const CompileOptions &options, const CompileResult &result) {
  llvm::StringRef page(llmc_report_template, llmc_report_template_end - llmc_report_template);
  auto [head, tail] = page.split("@REPORT@");
  std::string json = reportJson(options, result), escaped;
  for (char c : json)
    if (c == '<') // no name may end the script
      escaped += "\\u003c";
    else
      escaped += c;
  return (head + escaped + tail).str();
}

} // namespace llmc
