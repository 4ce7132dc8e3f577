#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

namespace {

// As kernels/reference/Recurrent.h numbers them.
enum Function { relu, tanh_, sigmoid, affine, leakyRelu, thresholdedRelu, scaledTanh, hardSigmoid, elu, softsign, softplus };
enum Direction { forward, reverse, both };

const Tensor x = f32({2, 1, 1}, {1, 2}), w = f32({1, 1, 1}, {2}), r = f32({1, 1, 1}, {3});
const Ints identity = {forward, 0, 1, affine};
const Floats identityFloats = {0, 1, 0};

} // namespace

/// One step of one unit, from an input of 1 and a state of 4.
static void expectStep(const char *mnemonic, const Floats &weights, const Floats &recurrences, const Floats &bias, double expected,
                       const Ints &ints,
                       const Floats &floats) {
  int64_t gates = weights.size();
  std::vector<Tensor> inputs = {f32({1, 1, 1}, {1}), f32({1, gates, 1}, weights), f32({1, gates, 1}, recurrences),
                                bias.empty() ? absent : f32({1, 2 * gates}, bias), absent, f32({1, 1, 1}, {4})};
  expectKernels(mnemonic, inputs, {f32({1, 1, 1, 1}, {expected}), f32({1, 1, 1}, {expected})}, ints, floats);
}

TEST(ReferenceKernel, rnn) {
  expectKernels("rnn", {x, w, r}, {f32({2, 1, 1, 1}, {2, 10}), f32({1, 1, 1}, {10})}, identity, identityFloats);
  expectKernels("rnn", {x, w, r, f32({1, 2}, {0.5, 0.25})}, {f32({2, 1, 1, 1}, {2.75, 13}), f32({1, 1, 1}, {13})}, identity,
                identityFloats);
  expectKernels("rnn", {x, w, r}, {f32({2, 1, 1, 1}, {14, 4}), f32({1, 1, 1}, {14})}, {reverse, 0, 1, affine}, identityFloats);
  expectKernels("rnn", {x, w, r, absent, absent, f32({1, 1, 1}, {1})}, {f32({2, 1, 1, 1}, {5, 19}), f32({1, 1, 1}, {19})},
                identity, identityFloats);
  // What activations get is bounded; each direction has its own.
  expectKernels("rnn", {x, w, r}, {f32({2, 1, 1, 1}, {2, 3}), f32({1, 1, 1}, {3})}, {forward, 1, 1, affine}, {3, 1, 0});
  expectKernels("rnn", {x, f32({2, 1, 1}, {2, 1}), f32({2, 1, 1}, {3, 1})},
                {f32({2, 2, 1, 1}, {2, 1, 10, -4}), f32({2, 1, 1}, {10, 1})},
                {both, 0, 2, affine, affine}, {0, 1, -1, 0, -2});
  // The second of two sequences is shorter; a reverse walk begins at its end.
  Tensor pair = f32({2, 2, 1}, {1, 1, 2, 2}), lengths = i32({2}, {2, 1});
  expectKernels("rnn", {pair, w, r, absent, lengths}, {f32({2, 1, 2, 1}, {2, 2, 10, 0}), f32({1, 2, 1}, {10, 2})}, identity,
                identityFloats);
  expectKernels("rnn", {pair, w, r, absent, lengths}, {f32({2, 1, 2, 1}, {14, 2, 4, 0}), f32({1, 2, 1}, {14, 2})},
                {reverse, 0, 1, affine}, identityFloats);
  // No steps: the state stays, or is zero.
  expectKernels("rnn", {f32({0, 1, 1}, {}), w, r, absent, absent, f32({1, 1, 1}, {7})},
                {f32({0, 1, 1, 1}, {}), f32({1, 1, 1}, {7})}, identity, identityFloats);
  expectKernels("rnn", {f32({0, 1, 1}, {}), w, r}, {f32({0, 1, 1, 1}, {}), f32({1, 1, 1}, {0})}, identity, identityFloats);
  // Units and inputs in their order: h = W x.
  expectKernels("rnn", {f64({1, 1, 2}, {1, 10}), f64({1, 2, 2}, {1, 2, 3, 4}), f64({1, 2, 2}, {0, 0, 0, 0})},
                {f64({1, 1, 1, 2}, {21, 43}), f64({1, 1, 2}, {21, 43})}, identity, identityFloats);
  llmc_error error{};
  std::vector<Tensor> results = {f32({2, 1, 1, 1}, {0, 0}), f32({1, 1, 1}, {0})};
  EXPECT_EQ(call("rnn", {x, w, r, absent, i32({1}, {3})}, results, identity, identityFloats, &error),
            LLMC_KERNEL_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(error.operand, 4);
  EXPECT_EQ(error.value, 3);
}

TEST(ReferenceKernel, recurrent_activations) {
  struct Case {
    Function function;
    double alpha, beta, x, expected;
  };
  const Case cases[] = {{relu, 0, 0, -2, 0},          {relu, 0, 0, 3, 3},           {tanh_, 0, 0, 1, std::tanh(1)},
                        {sigmoid, 0, 0, 0, 0.5},      {affine, 2, 1, 3, 7},         {leakyRelu, 0.5, 0, -4, -2},
                        {leakyRelu, 0.5, 0, 4, 4},    {thresholdedRelu, 2, 0, 2, 2}, {thresholdedRelu, 2, 0, 1.5, 0},
                        {scaledTanh, 2, 0, 1, 0},     {scaledTanh, 2, 0.5, 2, 2 * std::tanh(1)}, {hardSigmoid, 0.25, 0.5, 1, 0.75},
                        {hardSigmoid, 0.25, 0.5, 9, 1}, {elu, 2, 0, -1, 2 * std::expm1(-1)}, {elu, 2, 0, 3, 3},
                        {softsign, 0, 0, -3, -0.75},  {softplus, 0, 0, 0, std::log(2)}};
  for (const Case &c : cases) {
    std::vector<Tensor> results = {f64({1, 1, 1, 1}, {0}), f64({1, 1, 1}, {0})};
    std::vector<Tensor> inputs = {f64({1, 1, 1}, {c.x}), f64({1, 1, 1}, {1}), f64({1, 1, 1}, {0})};
    ASSERT_EQ(call("rnn", inputs, results, {forward, 0, 1, c.function}, {0, c.alpha, c.beta}), LLMC_KERNEL_OK);
    EXPECT_NEAR(results[0].at<double>(0), c.expected, 1e-15) << c.function << " of " << c.x;
  }
}

TEST(ReferenceKernel, gru) {
  Ints plain = {forward, 0, 2, affine, affine, 0}, linear = {forward, 0, 2, affine, affine, 1};
  Floats floats = {0, 1, 1, 0, 0};
  // z = 0.5, r = 2, h = 2 + 2 * 4 = 10; with biases of 1 and 2 they are inside or outside of the product with r.
  expectStep("gru", {0.5, 2, 2}, {0, 0, 1}, {}, 7, plain, floats);
  expectStep("gru", {0.5, 2, 2}, {0, 0, 1}, {0, 0, 1, 0, 0, 2}, 0.5 * 13 + 2, plain, floats);
  expectStep("gru", {0.5, 2, 2}, {0, 0, 1}, {0, 0, 1, 0, 0, 2}, 0.5 * 15 + 2, linear, floats);
  // Two units: r of both goes into h of each. Then z = 0 takes all of h.
  std::vector<Tensor> inputs = {f32({2, 1, 1}, {1, 1}), f32({1, 6, 1}, {0, 0, 1, 2, 0, 0}),
                                f32({1, 6, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0}), absent, absent,
                                f32({1, 1, 2}, {10, 100})};
  expectKernels("gru", inputs, {f32({2, 1, 1, 2}, {200, 10, 20, 200}), f32({1, 1, 2}, {20, 200})}, plain, floats);
}

TEST(ReferenceKernel, lstm) {
  Ints plain = {forward, 0, 3, affine, affine, affine, 0}, coupled = {forward, 0, 3, affine, affine, affine, 1};
  Floats floats = {0, 1, 1, 1, 0, 0, 0};
  // i = 1, o = 2, f = 0.5 and 3 for the cell, which begins with 2.
  Tensor one = f32({1, 1, 1}, {1}), weights = f32({1, 4, 1}, {1, 2, 0.5, 3}), none = f32({1, 4, 1}, {0, 0, 0, 0}),
      cell = f32({1, 1, 1}, {2});
  auto state = [](double value) { return f32({1, 1, 1}, {value}); };
  auto expectLstm = [&](std::vector<Tensor> inputs, double h, double c, const Ints &ints) {
    expectKernels("lstm", inputs, {f32({1, 1, 1, 1}, {h}), state(h), state(c)}, ints, floats);
  };
  expectLstm({one, weights, none}, 6, 3, plain);
  expectLstm({one, weights, none, absent, absent, absent, cell}, 8, 4, plain);
  expectLstm({one, weights, none, absent, absent, absent, cell}, 6, 3, coupled);
  expectLstm({one, weights, none, absent, absent, absent, cell, f32({1, 3}, {1, 1, 1})}, 224, 14, plain);
  expectLstm({one, weights, f32({1, 4, 1}, {1, 0, 0, 0}), f32({1, 8}, {1, 0, 0, 0, 0, 2, 0, 0}), absent, state(1), cell}, 40, 10,
             plain);
  // Two steps: h of the first goes into the second.
  expectKernels("lstm", {f32({2, 1, 1}, {1, 1}), weights, f32({1, 4, 1}, {0, 0, 0, 1})},
                {f32({2, 1, 1, 1}, {6, 21}), state(21), state(10.5)}, plain, floats);
}

TEST(ReferenceKernel, quantized_lstm) {
  Ints plain = {forward, 0, 3, affine, affine, affine, 0};
  Floats floats = {0, 1, 1, 1, 0, 0, 0};
  // The first step from h = 0; h = 255 in 255 steps of 1 goes into the cell's gate of the second, times (5 - 1) * 0.5.
  Tensor gates = f32({1, 2, 1, 4}, {1, 85, 0.5, 3, 1, 85, 0.5, 3}), scales = f32({1, 4}, {1, 1, 1, 0.5}), zeros = i32({1, 4}, {0, 0, 0, 1});
  auto state = [](double value) { return f32({1, 1, 1}, {value}); };
  expectKernels("quantized_lstm", {gates, make<int8_t>({1, 4, 1}, {0, 0, 0, 5}), scales, zeros},
                {f32({2, 1, 1, 1}, {255, 43732.5}), state(43732.5), state(514.5)}, plain, floats);
  expectKernels("quantized_lstm", {gates, make<uint8_t>({1, 4, 1}, {0, 0, 0, 5}), scales, zeros, f32({1, 8}, {0, 0, 0, 4, 0, 0, 0, -4})},
                {f32({2, 1, 1, 1}, {255, 43732.5}), state(43732.5), state(514.5)}, plain, floats);
  // Reverse walks begin at the end.
  expectKernels("quantized_lstm", {gates, make<int8_t>({1, 4, 1}, {0, 0, 0, 5}), scales, zeros},
                {f32({2, 1, 1, 1}, {43732.5, 255}), state(43732.5), state(514.5)}, {reverse, 0, 3, affine, affine, affine, 0}, floats);
  // The steps are those of all sequences, and reach to zero: 0.6 is one of them. Then c = f * c + h.
  Tensor pair = f32({1, 1, 2, 4}, {1, 1, 1, 0, 1, 1, 1, 0}), ones = f32({1, 4}, {1, 1, 1, 1}), none = i32({1, 4}, {0, 0, 0, 0});
  auto states = [](double first, double second) { return f32({1, 2, 1}, {first, second}); };
  auto expectPair = [&](const Tensor &h, const Tensor &c, double first, double second) {
    expectKernels("quantized_lstm", {pair, make<int8_t>({1, 4, 1}, {0, 0, 0, 1}), ones, none, absent, h, c},
                  {f32({1, 1, 2, 1}, {first, second}), states(first, second), states(first, second)}, plain, floats);
  };
  expectPair(states(255, 0.6), absent, 255, 1);
  expectPair(states(-100, 155), states(1, 2), -99, 157);
  // An element that is no number makes the scale none, and so all gates with a product.
  std::vector<Tensor> results = {f32({1, 1, 2, 1}, {0, 0}), states(0, 0), states(0, 0)};
  ASSERT_EQ(call("quantized_lstm", {pair, make<int8_t>({1, 4, 1}, {0, 0, 0, 1}), ones, none, absent, states(NaN, 1)}, results, plain, floats),
            LLMC_KERNEL_OK);
  EXPECT_TRUE(std::isnan(results[0].at<float>(1)));
}

TEST(ReferenceKernel, linear_attention) {
  Tensor q = f32({1, 2, 1}, {2, 3}), k = f32({1, 2, 1}, {1, 1}), v = f32({1, 2, 2}, {1, 10, 2, 20});
  auto expectAttention = [&](const std::vector<Tensor> &inputs, const Floats &y, const Floats &state) {
    expectKernels("linear_attention", inputs, {f32({1, 2, 2}, y), f32({1, 1, 1, 2}, state)}, {1, 1}, {1});
  };
  expectAttention({q, k, v}, {2, 20, 9, 90}, {3, 30});
  expectAttention({q, k, v, f32({1, 1, 1, 2}, {5, 50})}, {12, 120, 24, 240}, {8, 80});
  // The second step forgets the first.
  expectAttention({q, k, v, absent, f32({1, 2, 1}, {0, -inf})}, {2, 20, 6, 60}, {2, 20});
  // Half of what the state does not give yet is added.
  expectAttention({q, k, v, absent, absent, f32({1, 2, 1}, {0.5, 0.5})}, {1, 10, 3.75, 37.5}, {1.25, 12.5});
  // Two heads of queries read one state of four keys, of which decay forgets the last; the scale is a half.
  Floats queries = {1, 1, 1, 1, 2, 0, 0, 0}, keys = {1, 2, 3, 4};
  expectKernels("linear_attention",
                {f32({1, 1, 8}, queries), f32({1, 1, 4}, keys), f32({1, 1, 1}, {10}), f32({1, 1, 4, 1}, {1, 1, 1, 1}), f32({1, 1, 4}, {0, 0, 0, -inf})},
                {f32({1, 1, 2}, {51.5, 11}), f32({1, 1, 4, 1}, {11, 21, 31, 40})}, {2, 1}, {0});
  llmc_error error{};
  std::vector<Tensor> results = {f32({1, 2, 2}, {0, 0, 0, 0}), f32({1, 1, 1, 2}, {0, 0})};
  EXPECT_EQ(call("linear_attention", {q, k, v, absent, f32({1, 2, 3}, {0, 0, 0, 0, 0, 0})}, results, {1, 1}, {1}, &error), LLMC_KERNEL_BAD_SHAPE);
  EXPECT_EQ(error.operand, 4);
  EXPECT_EQ(error.value, 3);
}
