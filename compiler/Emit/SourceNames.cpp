// Walks fused locations.
#include "compiler/Emit/SourceNames.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmc {

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

} // namespace llmc
