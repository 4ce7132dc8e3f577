// Fourier transforms, as products with matrices of cosines and sines, and what goes with them.
#include "compiler/Import/AxisList.h"
#include "compiler/Import/Converters.h"
#include "compiler/Import/FourierAtRunTime.h"
#include "dialects/Graph/DimLogic.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// A Fourier transform of `length` points, of which `rows` are given (others are 0) in `parts` numbers each: real,
/// imaginary.
struct Transform {
  int64_t length, rows, parts;
  bool inverse = false, onesided = false;

  /// A one-sided inverse gives all of a real signal, a one-sided transform half of its spectrum.
  int64_t columns() const { return onesided && !inverse ? length / 2 + 1 : length; }
  int64_t resultParts() const { return onesided && inverse ? 1 : 2; }

  /// What the part of the input at `row` adds to the part of the result at `column`.
  double factor(int64_t row, int64_t part, int64_t column, int64_t resultPart) const {
    double angle = 2 * llvm::numbers::pi * static_cast<double>(row * column % length) / static_cast<double>(length);
    double cosine = std::cos(angle), sine = inverse ? std::sin(angle) : -std::sin(angle);
    double value = part == resultPart ? cosine : part == 0 ? sine : -sine;
    if (!inverse)
      return value;
    // Of a real signal's spectrum only half is given: each of its points but the first and the middle stands for two.
    bool twice = onesided && row != 0 && 2 * row != length;
    return (twice ? 2 : 1) * value / static_cast<double>(length);
  }
};

constexpr int64_t maxElements = 1 << 24;

Value matrix(NodeContext &node, ArrayRef<int64_t> shape, ArrayRef<double> values, Type element) {
  auto type = RankedTensorType::get(shape, Float64Type::get(node.context()));
  return castTo(node, node.constant(DenseElementsAttr::get(type, values)), element);
}

/// The number of the input; nothing if absent, or a problem.
std::optional<int64_t> constantNumber(NodeContext &node, size_t i) {
  std::optional<SmallVector<int64_t>> values = node.constantInput(i);
  if (values && values->size() != 1)
    node.fail("input " + Twine(i) + " is no scalar");
  return values && values->size() == 1 ? std::optional<int64_t>((*values)[0]) : std::nullopt;
}

/// Whether the parts are a real or a complex number, and the constants of a size that can be built.
bool isValid(NodeContext &node, const Transform &transform) {
  if (transform.parts != 1 && transform.parts != 2)
    node.fail("expects a last dim of 1 or 2, for real or complex numbers");
  else if (transform.onesided && !transform.inverse && transform.parts != 1)
    node.fail("a one-sided transform of complex numbers is not defined");
  else if (transform.length <= 0)
    node.fail("a transform of " + Twine(transform.length) + " points is not defined");
  else if (transform.rows * transform.columns() > maxElements / 4)
    node.fail("a transform of " + Twine(transform.length) + " points is not supported");
  return !node.failed();
}

std::optional<Transform> readTransform(NodeContext &node, Value x, int64_t axis, bool inverse, bool onesided) {
  std::optional<int64_t> given = constantNumber(node, 1);
  Transform transform{};
  transform.inverse = inverse;
  transform.onesided = onesided;
  int64_t size = *node.dims(x)[axis].asConstant();
  bool isReal = inverse && onesided;
  transform.length = given.value_or(isReal ? 2 * (size - 1) : size);
  transform.rows = std::min(size, isReal ? transform.length / 2 + 1 : transform.length);
  transform.parts = *node.dims(x).back().asConstant();
  return !node.failed() && isValid(node, transform) ? std::optional(transform) : std::nullopt;
}

/// A transform of which sizes, the length or the axis are known to the run alone. `isAxis` has 1 for the axis, 0 for all other dims.
void dftAtRunTime(NodeContext &node, Value x, ArrayRef<DimExpr> isAxis, bool inverse, bool onesided) {
  Dims dims = node.dims(x);
  DimExpr one = node.number(1), passed = node.number(0);
  Dims around(3, one);
  for (auto [dim, along] : llvm::zip(ArrayRef(dims).drop_back(), isAxis)) {
    around[0] = around[0] * select(along + passed, one, dim);
    around[1] = around[1] * select(along, dim, one);
    around[2] = around[2] * select(passed, dim, one);
    passed = passed + along;
  }
  node.require(isAxis.back(), node.number(0), "the last dim is none of the signal");
  around.push_back(dims.back());
  std::optional<Dims> given = node.hasInput(1) ? node.numbersOf(node.list(1, 1), {1, INT64_MAX}) : std::nullopt;
  DimExpr length = given ? given->front() : inverse && onesided ? around[1] * 2 - 2 : around[1];
  Value y = transformAtRunTime(node, node.create<ViewOp>({x}, {node.named("dims", around)}), length, inverse, onesided);
  for (auto [dim, along] : llvm::zip_equal(dims, isAxis))
    dim = select(along, columnsOf(length, inverse, onesided), dim);
  dims.back() = node.number(inverse && onesided ? 1 : 2);
  node.result(node.create<ViewOp>({y}, {node.named("dims", dims)}));
}

/// Per dim whether it is the axis of a DFT, an attribute at first and an input since opset 20; 1 or 0.
Dims axisOfTransform(NodeContext &node, int64_t rank) {
  if (node.version >= 20 && node.hasInput(2) && !node.isConstantInput(2))
    return AxisList(node, node.list(2, 1), rank).chosen();
  int64_t axis = node.axis(node.version < 20 ? node.intAttribute("axis", 1) : constantNumber(node, 2).value_or(-2), rank);
  Dims isAxis(rank, node.number(0));
  if (!node.failed())
    isAxis[axis] = node.number(1);
  return isAxis;
}

void dft(NodeContext &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x);
  bool inverse = node.intAttribute("inverse", 0) != 0, onesided = node.intAttribute("onesided", 0) != 0;
  std::optional<Dims> known = node.knownDims(x, "the transform");
  Dims isAxis = axisOfTransform(node, rank);
  if (!known || node.failed())
    return;
  int64_t axis = llvm::find_if(isAxis, [](DimExpr one) { return one.isConstant(1); }) - isAxis.begin();
  if (axis == rank - 1)
    return node.fail("the last dim is none of the signal");
  bool isConstant = axis < rank && (*known)[axis].asConstant() && known->back().asConstant();
  if (!isConstant || (node.hasInput(1) && !node.isConstantInput(1)))
    return dftAtRunTime(node, x, isAxis, inverse, onesided);
  std::optional<Transform> transform = readTransform(node, x, axis, inverse, onesided);
  if (!transform)
    return;
  std::vector<double> factors;
  for (int64_t row = 0; row < transform->rows; ++row)
    for (int64_t part = 0; part < transform->parts; ++part)
      for (int64_t column = 0; column < transform->columns(); ++column)
        for (int64_t resultPart = 0; resultPart < transform->resultParts(); ++resultPart)
          factors.push_back(transform->factor(row, part, column, resultPart));
  int64_t depth = transform->rows * transform->parts, width = transform->columns() * transform->resultParts();
  Value weight = matrix(node, {depth, width}, factors, node.elementType(x));

  x = part(node, x, axis, node.number(0), node.number(transform->rows));
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  perm.erase(perm.begin() + axis);
  perm.insert(perm.end() - 1, axis);
  x = node.create<TransposeOp>({x}, {node.named("perm", perm)});
  Dims dims = node.dims(x);
  dims.resize(rank - 2);
  dims.push_back(node.number(depth));
  Value y = node.create<MatMulOp>({node.create<ViewOp>({x}, {node.named("dims", dims)}), weight});
  dims.back() = node.number(transform->columns());
  dims.push_back(node.number(transform->resultParts()));
  y = node.create<ViewOp>({y}, {node.named("dims", dims)});
  SmallVector<int64_t> back(rank);
  for (auto [to, from] : llvm::enumerate(perm))
    back[from] = to;
  node.result(node.create<TransposeOp>({y}, {node.named("perm", back)}));
}

/// The transforms of frames that are gathered, of which sizes are known to the run alone.
void stftAtRunTime(NodeContext &node, Value x, Value window, bool onesided) {
  Dims dims = node.dims(x);
  std::optional<Dims> step = node.numbersOf(node.list(1, 1), {1, INT64_MAX}), given;
  if (node.hasInput(3))
    given = node.numbersOf(node.list(3, 1), {1, INT64_MAX});
  if (!step || node.failed())
    return;
  DimExpr length = given ? given->front() : window ? node.dims(window)[0] : dims[1];
  DimExpr frames = ((dims[1] - length).floorDiv(step->front()) + 1).max(node.number(0));
  auto unsqueezed = [&](Value value, ArrayRef<int64_t> axes) { return node.create<UnsqueezeOp>({value}, {node.named("axes", axes)}); };
  Value apart = node.create<FromDimsOp>({}, {node.named("dims", ArrayRef{step->front()})});
  Value starts = unsqueezed(node.create<MulOp>({iota(node, frames), apart}), {1});
  Value y = node.create<GatherOp>({x, node.create<AddOp>({starts, iota(node, length)})}, {node.named("axis", int64_t(1))});
  if (window) {
    node.require(node.dims(window)[0], length, "the window has " + node.dims(window)[0].str() + " elements, expected " + length.str());
    Value column = node.create<ViewOp>({window}, {node.named("dims", ArrayRef{length, node.number(1)})});
    y = node.create<MulOp>({y, column});
  }
  y = node.create<ViewOp>({y}, {node.named("dims", ArrayRef{dims[0] * frames, length, node.number(1), dims[2]})});
  y = transformAtRunTime(node, y, length, /*inverse=*/false, onesided);
  Dims result = {dims[0], frames, columnsOf(length, /*inverse=*/false, onesided), node.number(2)};
  node.result(node.create<ViewOp>({y}, {node.named("dims", result)}));
}

/// The transforms of frames, as a convolution: a channel of the result for each number of the spectrum, a place for
/// each frame.
void stft(NodeContext &node) {
  Value x = node.input(0), window = node.optionalInput(2);
  bool onesided = node.intAttribute("onesided", 1) != 0;
  std::optional<Dims> dims = node.knownDims(x, "the transform");
  if (!dims || (window && !node.knownDims(window, "the window")))
    return;
  if (dims->size() != 3 || (window && node.rank(window) != 1))
    return node.fail("expects a signal of rank 3 and a window of rank 1");
  auto isOpen = [&](size_t i) { return node.hasInput(i) && !node.isConstantInput(i); };
  DimExpr frame = window ? node.dims(window)[0] : node.hasInput(3) ? node.number(1) : (*dims)[1];
  if (isOpen(1) || isOpen(3) || !frame.asConstant() || !dims->back().asConstant())
    return stftAtRunTime(node, x, window, onesided);
  std::optional<int64_t> step = constantNumber(node, 1), length = constantNumber(node, 3), parts = dims->back().asConstant();
  if (!length)
    length = frame.asConstant();
  if (!step || *step <= 0)
    return node.fail("expects a positive frame_step");
  if (window && !frame.isConstant(*length))
    return node.fail("the window has " + frame.str() + " elements, expected " + Twine(*length));
  Transform transform{*length, *length, *parts, /*inverse=*/false, onesided};
  if (!isValid(node, transform))
    return;
  std::vector<double> factors;
  for (int64_t column = 0; column < transform.columns(); ++column)
    for (int64_t resultPart = 0; resultPart < 2; ++resultPart)
      for (int64_t part = 0; part < *parts; ++part)
        for (int64_t row = 0; row < *length; ++row)
          factors.push_back(transform.factor(row, part, column, resultPart));
  Value weight = matrix(node, {2 * transform.columns(), *parts, *length}, factors, node.elementType(x));
  if (window)
    weight = node.create<MulOp>({weight, window});
  Value signal = node.create<TransposeOp>({x}, {node.named("perm", ArrayRef<int64_t>{0, 2, 1})});
  Value y = node.create<ConvOp>({signal, weight},
                                {node.named("strides", ArrayRef<int64_t>{*step}), node.named("pads", ArrayRef<int64_t>{0, 0}),
                                 node.named("dilations", ArrayRef<int64_t>{1}), node.named("group", int64_t(1))});
  if (!y)
    return;
  Dims apart = {(*dims)[0], node.number(transform.columns()), node.number(2), node.dims(y)[2]};
  y = node.create<ViewOp>({y}, {node.named("dims", apart)});
  node.result(node.create<TransposeOp>({y}, {node.named("perm", ArrayRef<int64_t>{0, 3, 1, 2})}));
}

/// Numerators of a sum of cosines: (a0 - a1 * cos(t) + a2 * cos(2 * t)) / denominator.
template <int A0, int A1, int A2, int Denominator> void cosineWindow(NodeContext &node) {
  Value size = node.input(0);
  bool periodic = node.intAttribute("periodic", 1) != 0;
  Type f32 = Float32Type::get(node.context()), type = elementTypeOf(node.context(), node.intAttribute("output_datatype", 1));
  std::optional<Dims> count = node.numbers(0);
  if (!count || count->size() != 1)
    return node.fail("the size is not one number");
  if (!type)
    return node.fail("the type of output_datatype is not supported");
  auto number = [&](double value) { return node.scalar(f32, value); };
  Value length = castTo(node, size, f32);
  if (!periodic)
    length = node.create<SubOp>({length, number(1)});
  Value increment = node.create<DivOp>({number(2 * llvm::numbers::pi), length});
  Value angle = node.create<MulOp>({castTo(node, iota(node, (*count)[0]), f32), increment});
  Value once = node.create<MulOp>({number(double(A1) / Denominator), node.create<CosOp>({angle})});
  Value twice = node.create<CosOp>({node.create<MulOp>({angle, number(2)})});
  Value y = node.create<SubOp>({number(double(A0) / Denominator), once});
  if (A2)
    y = node.create<AddOp>({y, node.create<MulOp>({number(double(A2) / Denominator), twice})});
  node.result(castTo(node, y, type));
}

/// Frequencies at the borders of the bands: evenly apart on the mel scale, as bins of the spectrum.
std::vector<int64_t> melBorders(int64_t bands, int64_t length, int64_t rate, double low, double high) {
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double first = mel(low), step = (mel(high) - first) / static_cast<double>(bands + 2);
  std::vector<int64_t> borders;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + first) / 2595) - 1);
    borders.push_back(static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  return borders;
}

std::optional<double> constantFloat(NodeContext &node, size_t i) {
  Value input = node.input(i);
  DenseElementsAttr attribute;
  if (input && matchPattern(input, m_Constant(&attribute)) && attribute.getNumElements() == 1)
    if (isa<FloatType>(attribute.getElementType())) {
      APFloat value = attribute.getSplatValue<APFloat>();
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return value.convertToDouble();
    }
  node.fail("input " + Twine(i) + " is not known at compile time, which is not supported");
  return std::nullopt;
}

/// Weights of spectrum bins in each band: a triangle from its left border over the centre to the right one.
void melWeightMatrix(NodeContext &node) {
  std::optional<int64_t> bands = constantNumber(node, 0), length = constantNumber(node, 1), rate = constantNumber(node, 2);
  std::optional<double> low = constantFloat(node, 3), high = constantFloat(node, 4);
  Type type = elementTypeOf(node.context(), node.intAttribute("output_datatype", 1));
  if (!bands || !length || !rate || !low || !high || !type)
    return node.fail("inputs that are missing, or an output_datatype that is none, are not supported");
  int64_t bins = *length / 2 + 1;
  if (*bands < 0 || *rate <= 0 || bins <= 0 || *bands > maxElements / bins)
    return node.fail("bands, length and rate make no matrix");
  std::vector<int64_t> borders = melBorders(*bands, *length, *rate, *low, *high);
  if (llvm::any_of(borders, [&](int64_t border) { return border < 0 || border >= bins; }))
    return node.fail("a band lies outside of the spectrum");
  std::vector<double> weights(bins * *bands, 0);
  for (int64_t band = 0; band < *bands; ++band) {
    int64_t left = borders[band], centre = borders[band + 1], right = borders[band + 2];
    if (left == centre)
      weights[centre * *bands + band] = 1;
    for (int64_t bin = left; left != centre && bin <= centre; ++bin)
      weights[bin * *bands + band] = static_cast<double>(bin - left) / static_cast<double>(centre - left);
    for (int64_t bin = centre; bin < right; ++bin)
      weights[bin * *bands + band] = static_cast<double>(right - bin) / static_cast<double>(right - centre);
  }
  node.result(matrix(node, {bins, *bands}, weights, type));
}

constexpr Converter table[] = {
    {"DFT", 17, newest, dft},
    {"STFT", 17, newest, stft},
    {"HannWindow", 17, newest, cosineWindow<1, 1, 0, 2>},
    {"HammingWindow", 17, newest, cosineWindow<25, 21, 0, 46>},
    {"BlackmanWindow", 17, newest, cosineWindow<42, 50, 8, 100>},
    {"MelWeightMatrix", 17, newest, melWeightMatrix},
};

} // namespace

ArrayRef<Converter> signalConverters() { return table; }

} // namespace llmc
