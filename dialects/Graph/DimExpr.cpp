// Normal form and arithmetic of symbolic dims.
#include "dialects/Graph/DimExpr.h"
#include "dialects/Graph/Graph.h"
#include "dialects/Graph/SymbolName.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;

namespace llmc::graph {
namespace {

using Kind = DimExpr::Kind;

ExprAttr make(MLIRContext *context, Kind kind, int64_t value, StringRef symbol, ArrayRef<Attribute> operands) {
  return ExprAttr::get(context, static_cast<int32_t>(kind), value, StringAttr::get(context, symbol), operands);
}

/// A total order by structure, the same in every run: symbols by name first. Negative, 0 or positive. Equal expressions are one
/// attribute, so only the first operands that differ are looked into.
int compare(ExprAttr lhs, ExprAttr rhs) {
  if (lhs == rhs)
    return 0;
  if (lhs.getKind() != rhs.getKind())
    return lhs.getKind() < rhs.getKind() ? -1 : 1;
  if (lhs.getValue() != rhs.getValue())
    return lhs.getValue() < rhs.getValue() ? -1 : 1;
  if (int order = lhs.getSymbol().getValue().compare(rhs.getSymbol().getValue()))
    return order;
  for (auto [a, b] : llvm::zip(lhs.getOperands(), rhs.getOperands()))
    if (int order = compare(cast<ExprAttr>(a), cast<ExprAttr>(b)))
      return order;
  return lhs.getOperands().size() < rhs.getOperands().size() ? -1 : 1;
}

bool inOrder(Attribute lhs, Attribute rhs) { return compare(cast<ExprAttr>(lhs), cast<ExprAttr>(rhs)) < 0; }

/// A product of atoms: sorted, repeated for powers.
struct Monomial {
  SmallVector<Attribute, 2> atoms;
  bool operator<(const Monomial &other) const {
    if (atoms.size() != other.atoms.size())
      return atoms.size() > other.atoms.size(); // higher degree first
    for (auto [lhs, rhs] : llvm::zip_equal(atoms, other.atoms))
      if (lhs != rhs)
        return inOrder(lhs, rhs);
    return false;
  }
  Monomial times(const Monomial &other) const {
    Monomial product = *this;
    product.atoms.append(other.atoms.begin(), other.atoms.end());
    llvm::sort(product.atoms, inOrder);
    return product;
  }
  /// This monomial without the atoms of `divisor`, if it has them all.
  std::optional<Monomial> dividedBy(const Monomial &divisor) const {
    Monomial quotient = *this;
    for (Attribute atom : divisor.atoms) {
      auto *place = llvm::find(quotient.atoms, atom);
      if (place == quotient.atoms.end())
        return std::nullopt;
      quotient.atoms.erase(place);
    }
    return quotient;
  }
};

/// Sum of coefficient * monomial; the empty monomial is the constant term. No coefficient is 0.
using Polynomial = std::map<Monomial, int64_t>;

/// Sizes beyond int64 are caught where they are evaluated; here coefficients wrap, as the normal form must be total.
int64_t wrapAdd(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t wrapMul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

void addTerm(Polynomial &sum, const Monomial &monomial, int64_t coefficient) {
  int64_t total = wrapAdd(sum[monomial], coefficient);
  if (total == 0)
    sum.erase(monomial);
  else
    sum[monomial] = total;
}

/// Reads a product node (constant first, if any) or an atom.
std::pair<Monomial, int64_t> termOf(ExprAttr attr) {
  Monomial monomial;
  int64_t coefficient = 1;
  if (static_cast<Kind>(attr.getKind()) != Kind::Mul)
    return {Monomial{{attr}}, 1};
  for (Attribute factor : attr.getOperands()) {
    auto expr = cast<ExprAttr>(factor);
    if (static_cast<Kind>(expr.getKind()) == Kind::Constant)
      coefficient = expr.getValue();
    else
      monomial.atoms.push_back(expr);
  }
  return {monomial, coefficient};
}

Polynomial polynomialOf(DimExpr expr) {
  Polynomial sum;
  auto addNode = [&](ExprAttr attr) {
    if (static_cast<Kind>(attr.getKind()) == Kind::Constant)
      return addTerm(sum, {}, attr.getValue());
    auto [monomial, coefficient] = termOf(attr);
    addTerm(sum, monomial, coefficient);
  };
  if (expr.kind() == Kind::Add)
    for (Attribute term : expr.attribute().getOperands())
      addNode(cast<ExprAttr>(term));
  else
    addNode(expr.attribute());
  return sum;
}

Attribute termAttr(MLIRContext *context, const Monomial &monomial, int64_t coefficient) {
  if (monomial.atoms.empty())
    return make(context, Kind::Constant, coefficient, "", {});
  if (coefficient == 1 && monomial.atoms.size() == 1)
    return monomial.atoms.front();
  SmallVector<Attribute> factors;
  if (coefficient != 1)
    factors.push_back(make(context, Kind::Constant, coefficient, "", {}));
  factors.append(monomial.atoms.begin(), monomial.atoms.end());
  return make(context, Kind::Mul, 0, "", factors);
}

DimExpr fromPolynomial(MLIRContext *context, const Polynomial &sum) {
  SmallVector<Attribute> terms;
  for (const auto &[monomial, coefficient] : sum)
    terms.push_back(termAttr(context, monomial, coefficient));
  if (terms.empty())
    return DimExpr::constant(context, 0);
  if (terms.size() == 1)
    return DimExpr(terms.front());
  return DimExpr(make(context, Kind::Add, 0, "", terms));
}

/// polynomial / (coefficient * monomial), if every term is a multiple of the divisor.
std::optional<Polynomial> exactQuotient(const Polynomial &dividend, const Polynomial &divisor) {
  if (divisor.size() != 1 || divisor.begin()->second <= 0)
    return std::nullopt;
  const auto &[monomial, coefficient] = *divisor.begin();
  Polynomial quotient;
  for (const auto &[term, factor] : dividend) {
    std::optional<Monomial> rest = term.dividedBy(monomial);
    if (!rest || factor % coefficient != 0)
      return std::nullopt;
    quotient[*rest] = factor / coefficient;
  }
  return quotient;
}

DimExpr binaryAtom(Kind kind, DimExpr lhs, DimExpr rhs) {
  return DimExpr(make(lhs.context(), kind, 0, "", {lhs.attribute(), rhs.attribute()}));
}

/// Minimum or maximum: flattened, without repeats, at most one constant, sorted.
DimExpr extremum(Kind kind, DimExpr lhs, DimExpr rhs) {
  SmallVector<Attribute> operands;
  std::optional<int64_t> constant;
  auto addOperand = [&](DimExpr expr) {
    if (auto value = expr.asConstant())
      constant = !constant ? *value : kind == Kind::Min ? std::min(*constant, *value) : std::max(*constant, *value);
    else if (!llvm::is_contained(operands, expr.attribute()))
      operands.push_back(expr.attribute());
  };
  for (DimExpr side : {lhs, rhs}) {
    if (side.kind() != kind) {
      addOperand(side);
      continue;
    }
    for (DimExpr operand : side.operands())
      addOperand(operand);
  }
  llvm::sort(operands, inOrder);
  if (constant)
    operands.push_back(DimExpr::constant(lhs.context(), *constant).attribute());
  if (operands.size() == 1)
    return DimExpr(operands.front());
  return DimExpr(make(lhs.context(), kind, 0, "", operands));
}

} // namespace

DimExpr DimExpr::constant(MLIRContext *context, int64_t value) {
  return DimExpr(make(context, Kind::Constant, value, "", {}));
}

DimExpr DimExpr::symbol(MLIRContext *context, StringRef name) {
  return DimExpr(make(context, Kind::Symbol, 0, name, {}));
}

ExprAttr DimExpr::attribute() const { return cast<ExprAttr>(impl); }
DimExpr::Kind DimExpr::kind() const { return static_cast<Kind>(attribute().getKind()); }
StringRef DimExpr::symbolName() const { return attribute().getSymbol().getValue(); }

SmallVector<DimExpr, 2> DimExpr::operands() const {
  return llvm::map_to_vector<2>(attribute().getOperands(), [](Attribute operand) { return DimExpr(operand); });
}

std::optional<int64_t> DimExpr::asConstant() const {
  if (!impl || kind() != Kind::Constant)
    return std::nullopt;
  return attribute().getValue();
}

DimExpr DimExpr::operator+(DimExpr other) const {
  if (!impl || !other)
    return {};
  Polynomial sum = polynomialOf(*this);
  for (const auto &[monomial, coefficient] : polynomialOf(other))
    addTerm(sum, monomial, coefficient);
  return fromPolynomial(context(), sum);
}

DimExpr DimExpr::operator-(DimExpr other) const { return *this + other * -1; }

DimExpr DimExpr::operator*(DimExpr other) const {
  if (!impl || !other)
    return {};
  Polynomial product, lhs = polynomialOf(*this), rhs = polynomialOf(other);
  for (const auto &[a, x] : lhs)
    for (const auto &[b, y] : rhs)
      addTerm(product, a.times(b), wrapMul(x, y));
  return fromPolynomial(context(), product);
}

DimExpr DimExpr::operator+(int64_t value) const { return impl ? *this + constant(context(), value) : *this; }
DimExpr DimExpr::operator-(int64_t value) const { return impl ? *this - constant(context(), value) : *this; }
DimExpr DimExpr::operator*(int64_t value) const { return impl ? *this * constant(context(), value) : *this; }
DimExpr DimExpr::floorDiv(int64_t value) const { return impl ? floorDiv(constant(context(), value)) : *this; }
DimExpr DimExpr::ceilDiv(int64_t value) const { return impl ? ceilDiv(constant(context(), value)) : *this; }

DimExpr DimExpr::floorDiv(DimExpr divisor) const {
  if (!impl || !divisor)
    return {};
  auto lhs = asConstant(), rhs = divisor.asConstant();
  if (lhs && rhs && *rhs > 0)
    return constant(context(), llvm::divideFloorSigned(*lhs, *rhs));
  if (auto quotient = exactQuotient(polynomialOf(*this), polynomialOf(divisor)))
    return fromPolynomial(context(), *quotient);
  return binaryAtom(Kind::FloorDiv, *this, divisor);
}

DimExpr DimExpr::ceilDiv(DimExpr divisor) const {
  if (!impl || !divisor)
    return {};
  auto lhs = asConstant(), rhs = divisor.asConstant();
  if (lhs && rhs && *rhs > 0)
    return constant(context(), llvm::divideCeilSigned(*lhs, *rhs));
  if (auto quotient = exactQuotient(polynomialOf(*this), polynomialOf(divisor)))
    return fromPolynomial(context(), *quotient);
  return binaryAtom(Kind::CeilDiv, *this, divisor);
}

DimExpr DimExpr::mod(DimExpr divisor) const {
  if (!impl || !divisor)
    return {};
  auto lhs = asConstant(), rhs = divisor.asConstant();
  if (lhs && rhs && *rhs > 0)
    return constant(context(), llvm::mod(*lhs, *rhs));
  if (exactQuotient(polynomialOf(*this), polynomialOf(divisor)))
    return constant(context(), 0);
  return binaryAtom(Kind::Mod, *this, divisor);
}

DimExpr DimExpr::min(DimExpr other) const { return impl && other ? extremum(Kind::Min, *this, other) : DimExpr(); }
DimExpr DimExpr::max(DimExpr other) const { return impl && other ? extremum(Kind::Max, *this, other) : DimExpr(); }

static std::optional<int64_t> apply(Kind kind, int64_t lhs, int64_t rhs) {
  int64_t value;
  switch (kind) {
  case Kind::Add:
    return llvm::AddOverflow(lhs, rhs, value) ? std::nullopt : std::optional(value);
  case Kind::Mul:
    return llvm::MulOverflow(lhs, rhs, value) ? std::nullopt : std::optional(value);
  case Kind::Min:
    return std::min(lhs, rhs);
  case Kind::Max:
    return std::max(lhs, rhs);
  case Kind::FloorDiv:
    return rhs > 0 ? std::optional(llvm::divideFloorSigned(lhs, rhs)) : std::nullopt;
  case Kind::CeilDiv:
    return rhs > 0 ? std::optional(llvm::divideCeilSigned(lhs, rhs)) : std::nullopt;
  case Kind::Mod:
    return rhs > 0 ? std::optional(llvm::mod(lhs, rhs)) : std::nullopt;
  case Kind::Constant:
  case Kind::Symbol:
    break;
  }
  llvm_unreachable("leaves have no operands");
}

std::optional<int64_t> DimExpr::evaluate(llvm::function_ref<std::optional<int64_t>(StringRef)> symbol) const {
  if (!impl)
    return std::nullopt;
  if (kind() == Kind::Constant)
    return attribute().getValue();
  if (kind() == Kind::Symbol)
    return symbol(symbolName());
  std::optional<int64_t> result;
  for (DimExpr operand : operands()) {
    std::optional<int64_t> value = operand.evaluate(symbol);
    if (!value)
      return std::nullopt;
    result = result ? apply(kind(), *result, *value) : value;
    if (!result)
      return std::nullopt;
  }
  return result;
}

DimExpr DimExpr::substitute(llvm::function_ref<DimExpr(StringRef)> replace) const {
  if (!impl || kind() == Kind::Constant)
    return *this;
  if (kind() == Kind::Symbol) {
    DimExpr other = replace(symbolName());
    return other ? other : *this;
  }
  DimExpr result;
  for (DimExpr operand : operands()) {
    DimExpr value = operand.substitute(replace);
    if (!result) {
      result = value;
      continue;
    }
    switch (kind()) {
    case Kind::Add: result = result + value; break;
    case Kind::Mul: result = result * value; break;
    case Kind::FloorDiv: result = result.floorDiv(value); break;
    case Kind::CeilDiv: result = result.ceilDiv(value); break;
    case Kind::Mod: result = result.mod(value); break;
    case Kind::Min: result = result.min(value); break;
    case Kind::Max: result = result.max(value); break;
    case Kind::Constant:
    case Kind::Symbol: llvm_unreachable("leaves have no operands");
    }
  }
  return result;
}

void DimExpr::forEachSymbol(llvm::function_ref<void(StringRef)> visit) const {
  if (!impl)
    return;
  if (kind() == Kind::Symbol)
    return visit(symbolName());
  for (DimExpr operand : operands())
    operand.forEachSymbol(visit);
}

static void printSymbol(StringRef name, raw_ostream &os) {
  if (isPlainSymbol(name)) {
    os << name;
    return;
  }
  os << '\'';
  for (char c : name)
    os << (c == '\'' ? "''" : StringRef(&c, 1));
  os << '\'';
}

static void print(DimExpr expr, raw_ostream &os, bool nested) {
  auto list = [&](StringRef before, StringRef between, bool parentheses) {
    os << before << (parentheses ? "(" : "");
    llvm::interleave(expr.operands(), os, [&](DimExpr operand) { print(operand, os, true); }, between);
    os << (parentheses ? ")" : "");
  };
  switch (expr.kind()) {
  case Kind::Constant: os << *expr.asConstant(); return;
  case Kind::Symbol: return printSymbol(expr.symbolName(), os);
  case Kind::Add: return list("", " + ", nested);
  case Kind::Mul: return list("", " * ", nested);
  case Kind::FloorDiv: return list("", " floordiv ", nested);
  case Kind::CeilDiv: return list("", " ceildiv ", nested);
  case Kind::Mod: return list("", " mod ", nested);
  case Kind::Min: return list("min", ", ", true);
  case Kind::Max: return list("max", ", ", true);
  }
}

std::string DimExpr::str() const {
  if (!impl)
    return "?";
  std::string text;
  llvm::raw_string_ostream os(text);
  print(*this, os, false);
  return text;
}

DimRange DimRanges::of(StringRef symbol) const {
  auto found = ranges.find(symbol);
  return found == ranges.end() ? DimRange() : found->second;
}

namespace {
constexpr int64_t none = INT64_MAX; // "no upper bound"; INT64_MIN is "no lower bound"

int64_t boundAdd(int64_t a, int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN)
    return INT64_MIN;
  if (a == none || b == none)
    return none;
  int64_t sum;
  if (llvm::AddOverflow(a, b, sum))
    return a > 0 ? none : INT64_MIN;
  return sum;
}

int64_t boundMul(int64_t a, int64_t b) {
  int64_t product;
  if (a == 0 || b == 0)
    return 0;
  if (a == none || b == none || a == INT64_MIN || b == INT64_MIN || llvm::MulOverflow(a, b, product))
    return (a < 0) == (b < 0) ? none : INT64_MIN;
  return product;
}

DimRange combine(Kind kind, DimRange a, DimRange b) {
  switch (kind) {
  case Kind::Add:
    return {boundAdd(a.lo, b.lo), boundAdd(a.hi, b.hi)};
  case Kind::Mul: {
    int64_t corners[] = {boundMul(a.lo, b.lo), boundMul(a.lo, b.hi), boundMul(a.hi, b.lo), boundMul(a.hi, b.hi)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  case Kind::Min:
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  case Kind::Max:
    return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  case Kind::FloorDiv:
  case Kind::CeilDiv: {
    if (a.lo == INT64_MIN || b.lo <= 0)
      return {INT64_MIN, none};
    auto divide = [&](int64_t x, int64_t y) {
      return kind == Kind::FloorDiv ? llvm::divideFloorSigned(x, y) : llvm::divideCeilSigned(x, y);
    };
    return {divide(a.lo, a.lo >= 0 ? b.hi : b.lo), a.hi == none ? none : divide(a.hi, a.hi >= 0 ? b.lo : b.hi)};
  }
  case Kind::Mod:
    return {0, b.hi == none ? none : b.hi - 1};
  case Kind::Constant:
  case Kind::Symbol:
    break;
  }
  llvm_unreachable("leaves have no operands");
}
} // namespace

DimRange DimRanges::of(DimExpr expr) const {
  if (!expr)
    return {INT64_MIN, none};
  if (auto value = expr.asConstant())
    return {*value, *value};
  if (expr.kind() == Kind::Symbol)
    return of(expr.symbolName());
  std::optional<DimRange> result;
  for (DimExpr operand : expr.operands())
    result = result ? combine(expr.kind(), *result, of(operand)) : of(operand);
  return *result;
}

bool DimRanges::provesAtLeast(DimExpr lhs, DimExpr rhs) const {
  if (!lhs || !rhs)
    return false;
  return of(lhs - rhs).lo >= 0 || of(lhs).lo >= of(rhs).hi;
}

bool DimRanges::provesEqual(DimExpr lhs, DimExpr rhs) const {
  return lhs == rhs || (provesAtLeast(lhs, rhs) && provesAtLeast(rhs, lhs));
}

DimExpr DimRanges::simplify(DimExpr expr) const {
  if (!expr || (expr.kind() != Kind::Min && expr.kind() != Kind::Max))
    return expr;
  bool isMin = expr.kind() == Kind::Min;
  SmallVector<DimExpr> kept;
  for (DimExpr candidate : expr.operands()) {
    auto beats = [&](DimExpr winner, DimExpr loser) {
      return isMin ? provesAtLeast(loser, winner) : provesAtLeast(winner, loser);
    };
    if (llvm::any_of(kept, [&](DimExpr other) { return beats(other, candidate); }))
      continue;
    llvm::erase_if(kept, [&](DimExpr other) { return beats(candidate, other); });
    kept.push_back(candidate);
  }
  DimExpr result = kept.front();
  for (DimExpr other : llvm::drop_begin(kept))
    result = isMin ? result.min(other) : result.max(other);
  return result;
}

DimExpr productOf(MLIRContext *context, ArrayRef<DimExpr> dims) {
  DimExpr product = DimExpr::constant(context, 1);
  for (DimExpr dim : dims)
    product = product * dim;
  return product;
}

ArrayAttr dimsAttr(MLIRContext *context, ArrayRef<DimExpr> dims) {
  return ArrayAttr::get(context, llvm::map_to_vector(dims, [](DimExpr dim) -> Attribute { return dim.attribute(); }));
}

Dims dimsOf(ArrayAttr attribute) {
  return llvm::map_to_vector<4>(attribute, [](Attribute dim) { return DimExpr(dim); });
}

SmallVector<int64_t> staticSizes(ArrayRef<DimExpr> dims) {
  return llvm::map_to_vector(dims, [](DimExpr dim) { return dim.asConstant().value_or(ShapedType::kDynamic); });
}

} // namespace llmc::graph
