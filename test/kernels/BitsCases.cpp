#include "test/kernels/BitsCases.h"

#include "kernels/reference/Convert.h"

#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

static std::map<std::string, std::vector<KernelCase>> makeCases() {
  constexpr Element truth = Element::Truth, index = Element::Index, anyFloat = Element::AnyFloat;
  std::map<std::string, std::vector<KernelCase>> cases;
  for (const char *name :
       {"abs",        "neg",      "not",  "relu",       "sign", "acos",         "acosh", "asin",       "asinh",
        "atan",       "atanh",    "ceil", "cos",        "cosh", "erf",          "exp",   "floor",      "log",
        "reciprocal", "round",    "sin",  "sinh",       "sqrt", "tan",          "tanh",  "hard_swish", "sigmoid",
        "softplus",   "softsign", "cast", "leaky_relu", "elu",  "hard_sigmoid", "gelu"})
    cases[name] = {{{{{7, 37}}}, {{7, 37}}, {0}, {0.3, 0.4}}, {{{{3}}}, {{2, 3}}, {1}, {1.7, -0.1}}};
  cases["bit_cast"] = {{{{{7, 37}}}, {{7, 37}}}};
  cases["is_nan"] = {{{{{259}}}, {{259}, truth}}};
  for (const char *name : {"add", "div", "max", "min", "mod", "mul", "pow", "sub"})
    cases[name] = {{{{{257}}, {{257}}}, {{257}}, {0}}, {{{{5, 1}}, {{7}}}, {{5, 7}}, {1}}, {{{{}}, {{3}}}, {{3}}, {1}}};
  for (const char *name : {"and", "equal", "greater", "greater_equal", "less", "less_equal", "or", "xor"})
    cases[name] = {{{{{257}}, {{257}}}, {{257}, truth}}, {{{{5, 1}}, {{7}}}, {{5, 7}, truth}}};
  cases["where"] = {{{{{5, 1}, truth}, {{7}}, {{5, 7}}}, {{5, 7}}}};
  cases["matmul"] = {
      {{{{3, 17}}, {{17, 5}}}, {{3, 5}}}, {{{{2, 1, 3, 4}}, {{5, 4, 2}}}, {{2, 5, 3, 2}}}, {{{{9}}, {{9}}}, {{}}}};
  cases["conv"] = {{{{{2, 4, 5, 5}}, {{6, 2, 3, 3}}, {{6}}}, {{2, 6, 3, 3}}, {2, 2, 2, 4, 1, 1, 1, 1, 2, 1, 1, 0, 2, 0}},
                   {{{{1, 7, 3}}, {{4, 3, 2}}}, {{1, 5, 4}}, {1, 1, 2, 0, 0, 1, 2, 2, 1, 1}}};
  cases["conv_transpose"] = {{{{{2, 4, 3, 3}}, {{4, 3, 3, 3}}, {{6}}}, {{2, 6, 6, 5}}, {2, 2, 2, 4, 1, 1, 0, 1, 2, 1, 1, 2, 0, 1, 0, 2}},
                             {{{{1, 3, 4}}, {{3, 2, 2}}}, {{1, 2, 5}}, {1, 1, 2, 0, 0, 1, 2, 1, 1, 1, 1}}};
  cases["max_pool"] = {{{{{1, 2, 5, 5}}}, {{1, 2, 3, 3}}, {2, 3, 3, 2, 2, 2, 4, 1, 1, 1, 1, 2, 1, 1, 0, 0, 1}}};
  cases["average_pool"] = cases["max_pool"];
  cases["average_pool"].push_back({{{{1, 6, 3}}}, {{1, 3, 3}}, {1, 2, 1, 2, 2, 0, 1, 1, 1, 1, 1, 0}});
  for (const char *name : {"reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum"})
    cases[name] = {
        {{{{5, 33}}}, {{5}}, {1, 1, 0}}, {{{{3, 4, 5}}}, {{1, 4, 1}}, {2, 0, -1, 1}}, {{{{3, 0}}}, {{3}}, {1, 1, 0}}};
  for (const char *name : {"arg_max", "arg_min"})
    cases[name] = {{{{{5, 33}}}, {{5}, index}, {1, 0, 0}}, {{{{4, 3}}}, {{1, 3}, index}, {0, 1, 1}}};
  for (const char *name : {"softmax", "log_softmax"})
    cases[name] = {{{{{5, 33}}}, {{5, 33}}, {1}}, {{{{5, 3}}}, {{5, 3}}, {0}}};
  cases["batch_norm"] = {
      {{{{2, 3, 5}}, {{3}, anyFloat}, {{3}, anyFloat}, {{3}, anyFloat}, {{3}, anyFloat}}, {{2, 3, 5}}, {0}, {1e-5}}};
  cases["layer_norm"] = {{{{{5, 33}}, {{33}, anyFloat}, {{33}, anyFloat}}, {{5, 33}}, {1}, {1e-5}}};
  cases["rms_norm"] = {{{{{5, 33}}, {{33}, anyFloat}}, {{5, 33}}, {-1}, {1e-5}}};
  cases["concat"] = {{{{{2, 3}}, {{2, 4}}}, {{2, 7}}, {1}}};
  cases["expand"] = {{{{{3, 1}}}, {{2, 3, 4}}}};
  for (int64_t mode : {0, 1, 2, 3})
    cases["pad"].push_back({{{{3, 4}}, {{}}}, {{6, 6}}, {4, 2, -1, 1, 3, mode}});
  cases["reshape"] = {{{{{3, 4}}}, {{2, 6}}}};
  cases["shape"] = {{{{{3, 4}}}, {{2}, index}, {0, 2}}};
  cases["tile"] = {{{{{3, 2}}}, {{6, 6}}, {2, 2, 3}}};
  cases["transpose"] = {{{{{2, 3, 4}}}, {{4, 2, 3}}, {3, 2, 0, 1}}};
  cases["trilu"] = {{{{{2, 4, 4}}}, {{2, 4, 4}}, {1, -1}}};
  cases["gather"] = {{{{{3, 4}}, {{5}, index}}, {{5, 4}}, {0}}};
  cases["gather_elements"] = {{{{{3, 4}}, {{2, 4}, index}}, {{2, 4}}, {0}}};
  cases["slice"] = {{{{{5, 7}}}, {{3, 2}}, {2, 4, 1, 2, -9, 5, 2, 0, 1, 2, -2, 3}}};
  cases["slice_dynamic"] = {{{{{5, 7}}, {{2}, index}, {{2}, index}}, {{5, 7}}}};
  cases["gather_nd"] = {{{{{3, 4}}, {{5, 2}, index}}, {{5}}, {0}}, {{{{4, 3, 2}}, {{4, 1}, index}}, {{4, 2}}, {1}}};
  for (int64_t reduction : {0, 1, 2, 3, 4}) {
    cases["scatter_elements"].push_back({{{{3, 4}}, {{2, 4}, index}, {{2, 4}}}, {{3, 4}}, {reduction, 0}});
    cases["scatter_nd"].push_back({{{{3, 4}}, {{5, 1}, index}, {{5, 4}}}, {{3, 4}}, {reduction}});
  }
  cases["cum_sum"] = {{{{{5, 33}}}, {{5, 33}}, {1, 0, 0}}, {{{{5, 3}}}, {{5, 3}}, {0, 1, 1}}};
  cases["cum_prod"] = cases["cum_sum"];
  cases["top_k"] = {{{{{5, 33}}}, {{5, 7}}, {1, 1}, {}, {{{5, 7}, index}}}, {{{{5, 3}}}, {{2, 3}}, {0, 0}, {}, {{{2, 3}, index}}}};
  cases["bitwise_not"] = {{{{{7, 37}}}, {{7, 37}}}};
  for (const char *name : {"bit_shift", "bitwise_and", "bitwise_or", "bitwise_xor"})
    cases[name] = {{{{{257}}, {{257}}}, {{257}}, {0}}, {{{{5, 1}}, {{7}}}, {{5, 7}}, {1}}};
  for (int64_t mode : {0, 1, 2})
    for (int64_t coordinates : {0, 1, 2, 3, 4, 5})
      cases["resize"].push_back({{{{2, 7, 5}}}, {{2, 4, 9}}, {2, 1, 2, mode, coordinates, coordinates % 5, coordinates % 2, mode != 0}, {-0.75, 2}});
  cases["resize"].push_back({{{{7, 5}}, {{}, anyFloat}}, {{7, 5}}, {0, 0, 0, 0, 0, 0}, {-0.75, 2}});
  cases["rnn"] = {{{{{3, 2, 5}}, {{1, 4, 5}}, {{1, 4, 4}}, {{1, 8}}}, {{3, 1, 2, 4}}, {1, 1, 1, 1}, {3, 0, 0}, {{{1, 2, 4}}}}};
  for (int64_t function : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    cases["rnn"].push_back({{{{2, 2, 3}}, {{1, 4, 3}}, {{1, 4, 4}}}, {{2, 1, 2, 4}}, {0, 0, 1, function}, {0, 0.3, 0.4}, {{{1, 2, 4}}}});
  for (int64_t linear : {0, 1})
    cases["gru"].push_back({{{{3, 2, 5}}, {{2, 12, 5}}, {{2, 12, 4}}, {{2, 24}}}, {{3, 2, 2, 4}}, {2, 0, 4, 2, 1, 2, 1, linear}, std::vector<double>(9), {{{2, 2, 4}}}});
  for (int64_t inputForget : {0, 1})
    cases["lstm"].push_back({{{{3, 2, 5}}, {{1, 16, 5}}, {{1, 16, 4}}, {{1, 32}}}, {{3, 1, 2, 4}}, {0, 0, 3, 2, 1, 1, inputForget}, std::vector<double>(7),
                             {{{1, 2, 4}}, {{1, 2, 4}}}});
  // Few gates: where two NaNs meet, the compiler chooses whose sign stays.
  cases["quantized_lstm"] = {{{{{1, 2, 1, 8}, anyFloat}, {{1, 8, 2}}, {{1, 8}, anyFloat}, {{1, 8}, index}, {{1, 16}, anyFloat}},
                              {{2, 1, 1, 2}, anyFloat}, {1, 0, 3, 2, 1, 1, 0}, std::vector<double>(7), {{{1, 1, 2}, anyFloat}, {{1, 1, 2}, anyFloat}}}};
  cases["linear_attention"] = {{{{{2, 3, 8}}, {{2, 3, 4}}, {{2, 3, 6}}, {{2, 2, 2, 3}}, {{2, 3, 2}}, {{2, 3, 1}}}, {{2, 3, 12}}, {4, 2}, {0}, {{{2, 2, 2, 3}}}}};
  for (int64_t mode : {0, 1, 2})
    for (int64_t padding : {0, 1, 2})
      cases["grid_sample"].push_back({{{{2, 2, 5, 4}}, {{2, 3, 7, 2}, anyFloat}}, {{2, 2, 3, 7}}, {mode, padding, (mode + padding) % 2}});
  for (int64_t maximum : {0, 1})
    cases["roi_align"].push_back({{{{3, 2, 5, 4}}, {{1, 4}}, {{1}, index}}, {{1, 2, 3, 2}}, {2, maximum, maximum}, {0.7}});
  // Few regions that are drawn name an image.
  cases["max_roi_pool"] = {{{{{100, 1, 3, 4}}, {{1, 5}}}, {{1, 1, 2, 2}}, {}, {0.1}}, {{{{2, 1, 3, 4}}, {{0, 5}}}, {{0, 1, 2, 2}}, {}, {0.1}}};
  cases["deform_conv"] = {{{{{2, 4, 5, 5}}, {{2, 2, 3, 3}}, {{2, 36, 3, 3}}, {{2}}, {{2, 18, 3, 3}}}, {{2, 2, 3, 3}}, {2, 2, 2, 4, 1, 1, 1, 1, 2, 1, 1, 2, 2}}};
  cases["max_unpool"] = {{{{{1, 1, 1}}, {{1, 1, 1}, index}}, {{1, 1, 4}}, {1, 3, 1, 2, 2, 0, 0}}};
  for (int64_t taps : {1, 2})
    cases["col2im"].push_back({{{{2, 3 * taps, 6 - taps}}, {{1}, index}}, {{2, 3, 5}}, {1, 1, 2, 0, 0, 1, 1}});
  cases["max_pool_with_indices"] = {
      {{{{1, 2, 5, 5}}}, {{1, 2, 3, 3}}, {2, 3, 3, 2, 2, 2, 4, 1, 1, 1, 1, 2, 1, 1, 0, 0, 1}, {}, {{{1, 2, 3, 3}, index}}}};
  cases["reverse_sequence"] = {{{{{2, 5, 3}}, {{2}, index}}, {{2, 5, 3}}, {0, 1}}};
  cases["det"] = {{{{{3, 4, 4}}}, {{3}}, {}, {}, {{{3, 4, 4}, Element::Double}}}};
  cases["prefix"] = {{{{{3, 4}}}, {{2, 5}}}};
  cases["non_zero"] = {{{{{3, 4}}}, {{24}, index}, {}, {}, {{{1}, index}}}};
  for (int64_t sorted : {0, 1})
    cases["unique"].push_back({{{{6, 2}}}, {{6}, index}, {0, sorted}, {}, {{{6}, index}, {{6}, index}, {{1}, index}}});
  cases["non_max_suppression"] = {{{{{1, 9, 4}}, {{1, 2, 9}}, {{1}, index}, {{}}, {{}}}, {{54}, index}, {0}, {}, {{{9}, index}, {{1}, index}}}};
  cases["range"] = {{{{{}}, {{}}, {{}}}, {{1000}}}};
  return cases;
}

const std::vector<KernelCase> &test::casesOf(const std::string &mnemonic) {
  static const std::map<std::string, std::vector<KernelCase>> cases = makeCases();
  static const std::vector<KernelCase> none;
  auto found = cases.find(mnemonic);
  return found == cases.end() ? none : found->second;
}

bool Outcome::operator==(const Outcome &other) const {
  return status == other.status && error.code == other.error.code && error.operand == other.error.operand &&
         error.row == other.error.row && error.value == other.error.value && dims == other.dims && bytes == other.bytes;
}

void Outcome::mergeNans(int32_t dtype) {
  dispatchFloat(dtype, [&]<typename T>() {
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      if (std::isnan(load(value))) {
        value = convert<T>(double(NAN));
        std::memcpy(bytes.data() + at, &value, sizeof(T));
      }
    }
    return 0;
  });
}

/// Mostly ordinary numbers, some specials and some random bits (but no bits for bool).
template <typename T> static T draw(std::mt19937 &random) {
  static const double specials[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, 1e30, -1e-30};
  uint32_t choice = random() % 16;
  if (choice == 0)
    return convert<T>(specials[random() % std::size(specials)]);
  if (choice == 1 && !isBool<T>) {
    T value;
    uint64_t bits = uint64_t(random()) << 32 | random();
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  return convert<T>((double(random()) / 0x1p32 - 0.5) * (choice % 2 ? 8 : 200));
}

namespace {

struct Operand {
  std::vector<char> bytes;
  Ints dims;
  int32_t dtype;

  llmc_tensor describe() { return {bytes.data(), dims.data(), nullptr, dtype, int32_t(dims.size())}; }
};

} // namespace

static Operand makeOperand(const OperandCase &description, int32_t dtype) {
  switch (description.element) {
  case Element::Swept:
    break;
  case Element::Truth:
    dtype = LLMC_BOOL;
    break;
  case Element::Index:
    dtype = LLMC_I64;
    break;
  case Element::Double:
    dtype = LLMC_F64;
    break;
  case Element::AnyFloat:
    dtype = isFloatType(dtype) ? dtype : LLMC_F32;
    break;
  }
  int64_t count = 1;
  for (int64_t dim : description.dims)
    count *= dim;
  return {std::vector<char>(count * sizeOf(dtype), char(0x5A)), description.dims, dtype};
}

static void fill(Operand &operand, Element element, std::mt19937 &random) {
  dispatchAny(operand.dtype, [&]<typename T>() {
    for (size_t at = 0; at < operand.bytes.size(); at += sizeof(T)) {
      T value = element == Element::Index ? convert<T>(int64_t(random() % 4) - 1) : draw<T>(random);
      std::memcpy(operand.bytes.data() + at, &value, sizeof(T));
    }
    return 0;
  });
}

Outcome test::runCase(llmc_reference_kernel kernel, const KernelCase &description, int32_t dtype, int32_t outputDtype,
                      uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Operand> operands;
  for (const OperandCase &input : description.inputs) {
    operands.push_back(makeOperand(input, dtype));
    fill(operands.back(), input.element, random);
  }
  std::vector<Operand> outputs = {makeOperand(description.output, outputDtype)};
  for (const OperandCase &further : description.furtherOutputs)
    outputs.push_back(makeOperand(further, outputDtype));
  std::vector<llmc_tensor> inputs, results;
  for (Operand &operand : operands)
    inputs.push_back(operand.describe());
  for (Operand &output : outputs)
    results.push_back(output.describe());
  Outcome outcome{};
  llmc_reference_args args{
      inputs.data(),          results.data(),          description.ints.data(),          description.floats.data(),
      int32_t(inputs.size()), int32_t(results.size()), int32_t(description.ints.size()), int32_t(description.floats.size()),
      &outcome.error};
  outcome.status = kernel(&args);
  outcome.dims = outputs[0].dims;
  for (const Operand &output : outputs)
    outcome.bytes.insert(outcome.bytes.end(), output.bytes.begin(), output.bytes.end());
  return outcome;
}
