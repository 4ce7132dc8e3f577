// See Remarks.h.
#include "compiler/Report/Remarks.h"
#include "dialects/Graph/SourceNames.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace llmc {
namespace {

class Streamer final : public remark::detail::MLIRRemarkStreamerBase {
public:
  Streamer(std::optional<llvm::Regex> printed, std::vector<RemarkReport> *collected)
      : printed(std::move(printed)), collected(collected) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    if (printed && printed->match(remark.getCategoryName()))
      emitRemark(remark.getLocation(), remark.getMsg());
    if (collected)
      collected->push_back({remark.getRemarkType() == llvm::remarks::Type::Missed, remark.getCategoryName().str(),
                            remark.getRemarkName().str(), graph::sourceNames(remark.getLocation()), textOf(remark)});
  }

private:
  /// The reason, then what else it says.
  static std::string textOf(const remark::detail::Remark &remark) {
    std::string text, more;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      if (arg.key == "Reason" || arg.key == "Remark")
        text += (text.empty() ? "" : "; ") + arg.val;
      else
        more += (more.empty() ? "" : ", ") + StringRef(arg.key).lower() + " " + arg.val;
    }
    return more.empty() ? text : text.empty() ? more : text + " (" + more + ")";
  }

  std::optional<llvm::Regex> printed;
  std::vector<RemarkReport> *collected;
};

} // namespace

LogicalResult enableRemarks(MLIRContext &context, const std::string &filter, std::vector<RemarkReport> *collected) {
  std::optional<llvm::Regex> printed;
  std::string problem;
  if (!filter.empty() && !printed.emplace(filter).isValid(problem))
    return emitError(UnknownLoc::get(&context)) << "'" << filter << "' is no regular expression: " << problem;
  if (!printed && !collected)
    return success();
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = categories.failed = ".*";
  return remark::enableOptimizationRemarks(context, std::make_unique<Streamer>(std::move(printed), collected),
                                           std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

} // namespace llmc
