// Parsing of --dim and --shape.
#include "compiler/Import/DimOptions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace llmc {

bool parseDimOption(StringRef text, ImportOptions &options, std::string &error) {
  // Names may hold '=', numbers can not.
  auto [name, value] = text.rsplit('=');
  auto [low, high] = value.split("..");
  graph::DimRange range;
  bool isRange = value.contains("..");
  bool wrong = name.empty() || low.getAsInteger(10, range.lo) || (isRange && high.getAsInteger(10, range.hi));
  if (!isRange)
    range.hi = range.lo;
  if (wrong || range.lo < 0 || range.hi < range.lo) {
    error = "'" + text.str() + "' is not NAME=VALUE or NAME=LO..HI with 0 <= LO <= HI";
    return false;
  }
  options.dims[name.str()] = range;
  return true;
}

static bool isDimName(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_') && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool parseShapeOption(StringRef text, ImportOptions &options, std::string &error) {
  auto [name, value] = text.rsplit('=');
  bool wrong = name.empty() || !text.contains('=');
  std::vector<int64_t> sizes;
  std::vector<std::string> names;
  SmallVector<StringRef> parts;
  if (!value.empty())
    value.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size = -1;
    bool isName = isDimName(part);
    wrong |= part != "?" && !isName && (part.getAsInteger(10, size) || size < 0);
    sizes.push_back(size);
    names.push_back(isName ? part.str() : "");
  }
  if (wrong) {
    error = "'" + text.str() + "' is not INPUT=SIZExSIZEx..., with ? or a name for a size that stays symbolic";
    return false;
  }
  options.shapes[name.str()] = std::move(sizes);
  options.dimNames[name.str()] = std::move(names);
  return true;
}

} // namespace llmc
