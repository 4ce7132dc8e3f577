// Einsum: products of tensors whose dims have letters, summed over the letters that the result lacks.
//
// Operands are multiplied one after the other. A product that sums is a matmul of [shared..., own, summed] with
// [shared..., summed, own], any other an element-wise multiplication.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// A tensor and the letter of each dim. The dims of an ellipsis, aligned at the end, have the letters ..., -2, -1.
struct Term {
  Value value;
  SmallVector<int> letters;

  bool has(int letter) const { return llvm::is_contained(letters, letter); }
  int64_t place(int letter) const { return llvm::find(letters, letter) - letters.begin(); }
};

/// The letters of "ab...c", where the ellipsis stands for `hidden` dims.
std::optional<SmallVector<int>> lettersOf(NodeContext &node, StringRef text, int64_t hidden) {
  auto [before, after] = text.split("...");
  bool valid = llvm::all_of(before, llvm::isAlpha) && llvm::all_of(after, llvm::isAlpha);
  if (!valid) {
    node.fail("'" + text + "' is no list of letters");
    return std::nullopt;
  }
  SmallVector<int> letters(before.begin(), before.end());
  if (before.size() != text.size())
    for (int64_t i = -hidden; i < 0; ++i)
      letters.push_back(i);
  letters.append(after.begin(), after.end());
  return letters;
}

std::optional<Term> readTerm(NodeContext &node, StringRef text, Value x) {
  int64_t named = llvm::count_if(text, llvm::isAlpha), hidden = node.rank(x) - named;
  if (!x || hidden < 0 || (hidden > 0 && !text.contains("..."))) {
    node.fail("'" + text + "' does not name the dims of an operand of rank " + Twine(node.rank(x)));
    return std::nullopt;
  }
  std::optional<SmallVector<int>> letters = lettersOf(node, text, hidden);
  return letters ? std::optional<Term>({x, *letters}) : std::nullopt;
}

/// Without "->", the result has the ellipsis and then, in order, the letters that occur once.
SmallVector<int> impliedResult(ArrayRef<Term> terms, int64_t hidden) {
  SmallVector<int> all, result = llvm::to_vector(llvm::seq<int>(-hidden, 0));
  for (const Term &term : terms)
    all.append(term.letters);
  for (int letter = 'A'; letter <= 'z'; ++letter)
    if (llvm::count(all, letter) == 1)
      result.push_back(letter);
  return result;
}

Term permuted(NodeContext &node, const Term &term, ArrayRef<int> letters) {
  if (letters == ArrayRef(term.letters))
    return term;
  SmallVector<int64_t> perm = llvm::map_to_vector(letters, [&](int letter) { return term.place(letter); });
  return {node.create<TransposeOp>({term.value}, {node.named("perm", perm)}), SmallVector<int>(letters)};
}

/// The elements whose places are equal in the dims i and j: with both at the end and joined, every (size + 1)th.
Term diagonal(NodeContext &node, const Term &term, int64_t i, int64_t j) {
  std::optional<Dims> dims = node.knownDims(term.value, "a diagonal");
  if (!dims)
    return term;
  DimExpr size = (*dims)[i];
  node.require(size, (*dims)[j], "a letter twice in an operand, with sizes of " + size.str() + " and " + (*dims)[j].str());
  Term result;
  SmallVector<int64_t> perm;
  Dims joined;
  for (int64_t k = 0; k < static_cast<int64_t>(term.letters.size()); ++k)
    if (k != i && k != j) {
      perm.push_back(k);
      joined.push_back((*dims)[k]);
      result.letters.push_back(term.letters[k]);
    }
  perm.append({i, j});
  joined.push_back(size * size);
  result.letters.push_back(term.letters[i]);
  Value matrix = node.create<TransposeOp>({term.value}, {node.named("perm", perm)});
  matrix = node.create<ViewOp>({matrix}, {node.named("dims", joined)});
  int64_t last = joined.size() - 1;
  if (std::optional<int64_t> known = size.asConstant()) {
    result.value = part(node, matrix, last, node.number(0), size, *known + 1);
  } else {
    Value step = node.create<FromDimsOp>({}, {node.named("dims", ArrayRef{size + 1})});
    result.value = node.create<GatherOp>({matrix, node.create<MulOp>({iota(node, size), step})}, {node.named("axis", last)});
  }
  return result;
}

Term withoutRepeats(NodeContext &node, Term term) {
  for (size_t i = 0; i < term.letters.size() && !node.failed(); ++i)
    for (size_t j = i + 1; j < term.letters.size(); ++j)
      if (term.letters[i] == term.letters[j])
        return withoutRepeats(node, diagonal(node, term, i, j));
  return term;
}

/// Sums over the letters that nobody needs.
Term summed(NodeContext &node, const Term &term, ArrayRef<int> needed) {
  Term result;
  SmallVector<int64_t> axes;
  for (auto [i, letter] : llvm::enumerate(term.letters))
    if (llvm::is_contained(needed, letter))
      result.letters.push_back(letter);
    else
      axes.push_back(i);
  result.value = axes.empty() ? term.value : node.create<ReduceSumOp>({term.value}, {node.named("axes", axes)});
  return result;
}

/// With a dim of size 1 for each letter that it lacks.
Value spread(NodeContext &node, const Term &term, ArrayRef<int> letters) {
  SmallVector<int> own;
  SmallVector<int64_t> missing;
  for (auto [i, letter] : llvm::enumerate(letters))
    if (term.has(letter))
      own.push_back(letter);
    else
      missing.push_back(i);
  return node.create<UnsqueezeOp>({permuted(node, term, own).value}, {node.named("axes", missing)});
}

/// As [shared..., first letters as one dim, second letters as one dim].
Value asMatrices(NodeContext &node, const Term &term, ArrayRef<int> shared, ArrayRef<int> first, ArrayRef<int> second) {
  SmallVector<int> order(shared);
  order.append(first.begin(), first.end());
  order.append(second.begin(), second.end());
  Term sorted = permuted(node, term, order);
  std::optional<Dims> dims = node.knownDims(sorted.value, "Einsum");
  if (!dims)
    return {};
  ArrayRef<DimExpr> all(*dims);
  Dims joined(all.take_front(shared.size()));
  joined.push_back(productOf(node.context(), all.slice(shared.size(), first.size())));
  joined.push_back(productOf(node.context(), all.take_back(second.size())));
  return node.create<ViewOp>({sorted.value}, {node.named("dims", joined)});
}

Term product(NodeContext &node, const Term &a, const Term &b, ArrayRef<int> needed) {
  SmallVector<int> shared, sums, left, right;
  for (int letter : a.letters)
    (!b.has(letter) ? left : llvm::is_contained(needed, letter) ? shared : sums).push_back(letter);
  for (int letter : b.letters)
    if (!a.has(letter))
      right.push_back(letter);
  Term result{Value(), shared};
  result.letters.append(left);
  result.letters.append(right);
  if (sums.empty()) {
    result.value = node.create<MulOp>({spread(node, a, result.letters), spread(node, b, result.letters)});
    return result;
  }
  Value matrices = node.create<MatMulOp>({asMatrices(node, a, shared, left, sums), asMatrices(node, b, shared, sums, right)});
  if (!matrices)
    return result;
  Dims dims = node.dims(matrices);
  dims.resize(shared.size());
  for (int letter : left)
    dims.push_back(node.dims(a.value)[a.place(letter)]);
  for (int letter : right)
    dims.push_back(node.dims(b.value)[b.place(letter)]);
  result.value = node.create<ViewOp>({matrices}, {node.named("dims", dims)});
  return result;
}

/// The letters of the result and of the operands from `first` on.
SmallVector<int> neededFrom(ArrayRef<Term> terms, size_t first, ArrayRef<int> result) {
  SmallVector<int> needed(result);
  for (const Term &term : terms.drop_front(first))
    needed.append(term.letters);
  return needed;
}

void einsum(NodeContext &node) {
  std::string equation = node.stringAttribute("equation", "");
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  if (texts.size() != node.numInputs())
    return node.fail("'" + equation + "' names " + Twine(texts.size()) + " operands of " + Twine(node.numInputs()));
  SmallVector<Term> terms;
  int64_t hidden = 0;
  for (auto [i, text] : llvm::enumerate(texts)) {
    std::optional<Term> term = readTerm(node, text, node.input(i));
    if (!term)
      return;
    hidden = std::max<int64_t>(hidden, llvm::count_if(term->letters, [](int letter) { return letter < 0; }));
    terms.push_back(*term);
  }
  bool isExplicit = StringRef(equation).contains("->");
  std::optional<SmallVector<int>> wanted = isExplicit ? lettersOf(node, right, hidden) : impliedResult(terms, hidden);
  if (!wanted)
    return;
  if (hidden > 0 && !llvm::is_contained(*wanted, -1))
    return node.fail("'" + equation + "' has an ellipsis in an operand, but none in the result");

  for (auto [i, term] : llvm::enumerate(terms)) {
    SmallVector<int> others = neededFrom(terms, i + 1, *wanted);
    for (const Term &before : ArrayRef(terms).take_front(i))
      others.append(before.letters);
    term = summed(node, withoutRepeats(node, term), others);
  }
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    result = summed(node, product(node, result, terms[i], neededFrom(terms, i + 1, *wanted)), neededFrom(terms, i + 1, *wanted));
  for (int letter : *wanted)
    if (!result.has(letter) || llvm::count(*wanted, letter) > 1)
      return node.fail("'" + equation + "': each letter of the result must be one of an operand, and occur once");
  node.result(permuted(node, result, *wanted).value);
}

constexpr Converter table[] = {
    {"Einsum", 12, newest, einsum},
};

} // namespace

ArrayRef<Converter> einsumConverters() { return table; }

} // namespace llmc
