// See SourceNames.h.
#include "dialects/Graph/SourceNames.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmc::graph {

static void collect(Location loc, llvm::StringSet<> &seen, std::vector<std::string> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    if (seen.insert(name.getName()).second)
      names.push_back(name.getName().str());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      collect(inner, seen, names);
  }
}

std::vector<std::string> sourceNames(Location loc) {
  llvm::StringSet<> seen;
  std::vector<std::string> names;
  collect(loc, seen, names);
  return names;
}

std::string joinedSourceNames(Location loc) { return llvm::join(sourceNames(loc), ","); }

} // namespace llmc::graph
