// Text -> DimExpr, and the assembly format of #graph.expr.
#include "dialects/Graph/Graph.h"
#include "dialects/Graph/SymbolName.h"

using namespace mlir;

namespace llmc::graph {
namespace {

/// expr := term (('+'|'-') term)* ; term := factor (('*'|'floordiv'|'ceildiv'|'mod') factor)*
/// factor := integer | symbol | '(' expr ')' | ('min'|'max') '(' expr (',' expr)* ')'
/// A symbol is a letter, '_' or a byte above 127 and what follows of those, digits, '.', ':' and '/'; anything else is written
/// in single quotes, with a quote in it doubled.
class Parser {
public:
  Parser(MLIRContext *context, StringRef text, std::string &error) : context(context), text(text), error(error) {}

  DimExpr parse() {
    DimExpr result = sum();
    skipSpace();
    if (result && !text.empty())
      return fail("unexpected '" + text.take_front(8).str() + "'");
    return result;
  }

private:
  DimExpr fail(const std::string &message) {
    if (error.empty())
      error = message;
    return {};
  }

  void skipSpace() { text = text.ltrim(); }

  bool accept(StringRef token) {
    skipSpace();
    if (!text.starts_with(token))
      return false;
    bool isWord = isSymbolStart(token.front());
    if (isWord && text.size() > token.size() && isSymbolPart(text[token.size()]))
      return false;
    text = text.drop_front(token.size());
    return true;
  }

  DimExpr sum() {
    DimExpr result = product();
    while (result) {
      if (accept("+"))
        result = combine(result, product(), [](DimExpr a, DimExpr b) { return a + b; });
      else if (accept("-"))
        result = combine(result, product(), [](DimExpr a, DimExpr b) { return a - b; });
      else
        break;
    }
    return result;
  }

  DimExpr product() {
    DimExpr result = factor();
    while (result) {
      if (accept("*"))
        result = combine(result, factor(), [](DimExpr a, DimExpr b) { return a * b; });
      else if (accept("floordiv"))
        result = combine(result, factor(), [](DimExpr a, DimExpr b) { return a.floorDiv(b); });
      else if (accept("ceildiv"))
        result = combine(result, factor(), [](DimExpr a, DimExpr b) { return a.ceilDiv(b); });
      else if (accept("mod"))
        result = combine(result, factor(), [](DimExpr a, DimExpr b) { return a.mod(b); });
      else
        break;
    }
    return result;
  }

  template <typename Op> static DimExpr combine(DimExpr lhs, DimExpr rhs, Op op) { return rhs ? op(lhs, rhs) : rhs; }

  DimExpr factor() {
    skipSpace();
    if (++depth > 64)
      return fail("expression is nested more than 64 deep");
    DimExpr result = unnestedFactor();
    --depth;
    return result;
  }

  DimExpr unnestedFactor() {
    int64_t value;
    if (text.empty())
      return fail("expected an expression");
    if (accept("("))
      return closed(sum());
    if (accept("min"))
      return extremum(true);
    if (accept("max"))
      return extremum(false);
    if (text.front() == '\'')
      return quotedSymbol();
    if (isSymbolStart(text.front())) {
      StringRef name = text.take_while(isSymbolPart);
      text = text.drop_front(name.size());
      return DimExpr::symbol(context, name);
    }
    if (!text.consumeInteger(10, value))
      return DimExpr::constant(context, value);
    return fail("expected a number, a symbol or '(' before '" + text.take_front(8).str() + "'");
  }

  DimExpr quotedSymbol() {
    SmallVector<StringRef> pieces;
    do {
      size_t end = text.find('\'', 1);
      if (end == StringRef::npos)
        return fail("expected a quote at the end of a name");
      pieces.push_back(text.slice(1, end));
      text = text.drop_front(end + 1);
    } while (text.starts_with("'"));
    std::string name = llvm::join(pieces, "'");
    return name.empty() ? fail("expected a name in single quotes") : DimExpr::symbol(context, name);
  }

  DimExpr closed(DimExpr inner) {
    if (inner && !accept(")"))
      return fail("expected ')'");
    return inner;
  }

  DimExpr extremum(bool isMin) {
    if (!accept("("))
      return fail("expected '('");
    DimExpr result = sum();
    while (result && accept(","))
      result = combine(result, sum(), [&](DimExpr a, DimExpr b) { return isMin ? a.min(b) : a.max(b); });
    return closed(result);
  }

  MLIRContext *context;
  StringRef text;
  std::string &error;
  int depth = 0;
};

} // namespace

DimExpr parseDimExpr(MLIRContext *context, StringRef text, std::string &error) {
  return Parser(context, text, error).parse();
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  std::string text, error;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  DimExpr expr = parseDimExpr(parser.getContext(), text, error);
  if (expr)
    return expr.attribute();
  parser.emitError(place) << "invalid dim expression: " << error;
  return {};
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(DimExpr(*this).str());
  printer << ">";
}

} // namespace llmc::graph
