// How the names of symbols look in the text of dim expressions: plain words as they are, all else in single quotes.
#ifndef LLMC_DIALECTS_GRAPH_SYMBOLNAME_H
#define LLMC_DIALECTS_GRAPH_SYMBOLNAME_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace llmc::graph {

inline bool isSymbolStart(char c) { return llvm::isAlpha(c) || c == '_' || (c & 0x80); }
inline bool isSymbolPart(char c) { return isSymbolStart(c) || llvm::isDigit(c) || c == '.' || c == ':' || c == '/'; }

inline bool isPlainSymbol(llvm::StringRef name) {
  bool isOperator = llvm::is_contained({"floordiv", "ceildiv", "mod", "min", "max"}, name);
  return !name.empty() && !isOperator && isSymbolStart(name.front()) && llvm::all_of(name, isSymbolPart);
}

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_SYMBOLNAME_H
