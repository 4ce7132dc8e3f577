// Parsing of --batch-sizes, --buckets and --pad.
#include "compiler/Batch/BatchOptions.h"
#include "llvm/ADT/SmallVector.h"

namespace llmc {

using llvm::StringRef;

/// Positive numbers that rise; empty if `text` is something else.
static std::vector<int64_t> parseRising(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::vector<int64_t> numbers;
  for (StringRef part : parts) {
    int64_t number;
    if (part.getAsInteger(10, number) || number <= (numbers.empty() ? 0 : numbers.back()))
      return {};
    numbers.push_back(number);
  }
  return numbers;
}

std::string parseBatchSizes(StringRef text, BatchOptions &options) {
  options.sizes = parseRising(text);
  return options.sizes.empty() ? "--batch-sizes '" + text.str() + "' is not a list of rising numbers such as 1,2,4,8" : "";
}

std::string parseBucketOption(StringRef text, BatchOptions &options) {
  auto [dim, list] = text.rsplit('=');
  std::vector<int64_t> edges = parseRising(list);
  if (dim.empty() || edges.empty())
    return "--buckets '" + text.str() + "' is not NAME=EDGE,EDGE,... with rising edges, such as S=16,32,64";
  if (!options.buckets.emplace(dim.str(), std::move(edges)).second)
    return "--buckets names dim '" + dim.str() + "' twice";
  return "";
}

std::string parsePadOption(StringRef text, BatchOptions &options) {
  auto [input, value] = text.rsplit('=');
  if (input.empty() || value.empty())
    return "--pad '" + text.str() + "' is not INPUT=VALUE";
  if (!options.pads.emplace(input.str(), value.str()).second)
    return "--pad names input '" + input.str() + "' twice";
  return "";
}

static constexpr std::pair<const char *, plan::GeneratedKind> generatedKinds[] = {
    {"count", plan::GeneratedKind::COUNT},
    {"accumulated", plan::GeneratedKind::ACCUMULATED},
    {"accumulated-zero", plan::GeneratedKind::ACCUMULATED_ZERO},
    {"index", plan::GeneratedKind::INDEX},
    {"longest", plan::GeneratedKind::LONGEST},
};

const char *nameOf(plan::GeneratedKind wanted) {
  for (auto [name, kind] : generatedKinds)
    if (kind == wanted)
      return name;
  return "";
}

std::string parseGenerateOption(StringRef text, BatchOptions &options) {
  auto [input, name] = text.rsplit('=');
  for (auto [known, kind] : generatedKinds)
    if (!input.empty() && name == known)
      return options.generates.emplace(input.str(), kind).second ? "" : "--generate names input '" + input.str() + "' twice";
  return "--generate '" + text.str() + "' is not INPUT=KIND, where KIND is count, accumulated, accumulated-zero, index or longest";
}

std::string checkBatchOptions(const BatchOptions &options) {
  if (options.dim.empty() && options.any())
    return "--batch-sizes, --buckets, --pad, --mask and --generate need --batch-dim";
  if (!options.generates.empty() && !options.buckets.empty())
    return "--generate packs requests one after the other, so --buckets, which pads them, does not go with it";
  if (options.buckets.empty() && (!options.pads.empty() || !options.masks.empty()))
    return "--pad and --mask need --buckets";
  for (const std::string &mask : options.masks)
    if (options.pads.count(mask))
      return "input '" + mask + "' has a --pad and is a --mask, which is padded with 0";
  return "";
}

} // namespace llmc
