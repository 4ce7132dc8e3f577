// quantized_lstm: all steps of a layer whose state is quantized, in each step, for its product with an integer recurrence.
//
// inputs: gates [directions, steps, batch, 4 * hidden], what x gives; recurrence [directions, 4 * hidden, hidden] of bytes; scales and zero
//         points of its rows [directions, 4 * hidden]; bias? [directions, 8 * hidden], initial h?, initial c? [directions, batch, hidden],
//         peepholes? [directions, 3 * hidden]
// outputs, ints and floats: as for lstm
//
// Sums of products are exact. A step quantizes h in its place, last h.
#include "kernels/reference/Recurrent.h"

using namespace llmc::reference;

namespace {

/// 256 steps from the least to the greatest of some numbers and zero.
struct Quantization {
  float least = 0, greatest = 0;

  void include(float x) { least = minimum(least, x), greatest = maximum(greatest, x); }
  float scale() const { return greatest == least ? 1 : (greatest - least) / 255; }
  float zeroPoint() const { return math::roundEven(bounded(-least / scale())); }
  /// The number of steps from zero to x; none if that is no number.
  float steps(float x) const {
    float value = bounded(math::roundEven(x / scale()) + zeroPoint()) - zeroPoint();
    return isNan(value) ? 0 : value;
  }

private:
  static float bounded(float x) { return maximum(0.0f, minimum(255.0f, x)); }
};

/// One direction of the layer; `Weight` is the type of the recurrence.
template <typename Weight> struct Layer {
  const llmc_reference_args *args;
  int64_t direction, steps, batch, hidden;
  Activations<float, 3> activations;
  bool inputForget;

  Row<float> ofUnits(int32_t input) const { return optionalMatrix<float>(args, input, direction).row(0); }
  Row<float> state(int64_t sequence) const { return Matrix<float>(args->outputs[1], direction).row(sequence); }
  Row<float> cell(int64_t sequence) const { return Matrix<float>(args->outputs[2], direction).row(sequence); }
  Row<float> output(int64_t step, int64_t sequence) const {
    Dims strides = stridesOf(args->outputs[0]);
    return {dataOf<float>(args->outputs[0]) + step * strides[0] + direction * strides[1] + sequence * strides[2], strides[3]};
  }
  Row<float> gates(int64_t step, int64_t sequence) const {
    Dims strides = stridesOf(args->inputs[0]);
    return {dataOf<float>(args->inputs[0]) + direction * strides[0] + step * strides[1] + sequence * strides[2], strides[3]};
  }

  void start() const {
    for (int64_t b = 0; b < batch; ++b) {
      Row<float> h = optionalMatrix<float>(args, 5, direction).row(b), c = optionalMatrix<float>(args, 6, direction).row(b);
      for (int64_t j = 0; j < hidden; ++j)
        state(b).set(j, h ? h[j] : 0), cell(b).set(j, c ? c[j] : 0);
    }
  }
  /// Leaves the steps of h of all sequences in its place, and returns their scale.
  float quantizeStates() const {
    Quantization quantization;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t k = 0; k < hidden; ++k)
        quantization.include(state(b)[k]);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t k = 0; k < hidden; ++k)
        state(b).set(k, quantization.steps(state(b)[k]));
    return quantization.scale();
  }
  float product(const Row<float> &h, int64_t row, int32_t zeroPoint) const {
    Dims strides = stridesOf(args->inputs[1]);
    const Weight *weights = dataOf<Weight>(args->inputs[1]) + direction * strides[0] + row * strides[1];
    int32_t total = 0;
    for (int64_t k = 0; k < hidden; ++k)
      total += int32_t(h[k]) * (weights[k * strides[2]] - zeroPoint);
    return float(total);
  }
  void step(int64_t time, int64_t b, float scale) const {
    const Activation<float> *function = activations.of(direction);
    Row<float> h = state(b), cells = cell(b), ofX = gates(time, b), now = output(time, b);
    Row<float> scales = ofUnits(2), bias = ofUnits(4), peepholes = ofUnits(7);
    Dims zeroStrides = stridesOf(args->inputs[3]);
    auto peep = [&](int64_t gate, int64_t j, float c) { return peepholes ? peepholes[gate * hidden + j] * c : 0.0f; };
    for (int64_t j = 0; j < hidden; ++j) {
      auto gate = [&](int64_t g) {
        int64_t row = g * hidden + j, zeroPoint = readIndex(args->inputs[3], direction * zeroStrides[0] + row * zeroStrides[1]);
        float total = ofX[row] + product(h, row, int32_t(zeroPoint)) * (scale * scales[row]);
        return bias ? total + (bias[row] + bias[4 * hidden + row]) : total;
      };
      float before = cells[j], input = function[0](gate(0) + peep(0, j, before));
      float forget = inputForget ? 1 - input : function[0](gate(2) + peep(2, j, before));
      float c = forget * before + input * function[1](gate(3));
      cells.set(j, c);
      now.set(j, function[0](gate(1) + peep(1, j, c)) * function[2].unclipped(c));
    }
  }
  void run(bool isReverse) const {
    start();
    for (int64_t i = 0; i < steps; ++i) {
      int64_t time = isReverse ? steps - 1 - i : i;
      float scale = quantizeStates();
      for (int64_t b = 0; b < batch; ++b)
        step(time, b, scale);
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t j = 0; j < hidden; ++j)
          state(b).set(j, output(time, b)[j]);
    }
  }
};

} // namespace

template <typename Weight> static int32_t runLayers(const llmc_reference_args *args) {
  const llmc_tensor &gates = args->inputs[0];
  for (int64_t d = 0; d < gates.dims[0]; ++d) {
    Layer<Weight> layer{args, d, gates.dims[1], gates.dims[2], gates.dims[3] / 4, Activations<float, 3>(args), lastInt(args) != 0};
    layer.run(args->ints[0] == 1 || d == 1);
  }
  return LLMC_KERNEL_OK;
}

LLMC_REFERENCE_KERNEL(quantized_lstm) {
  bool areFloats = args->inputs[0].dtype == LLMC_F32 && args->outputs[0].dtype == LLMC_F32;
  if (areFloats && args->inputs[1].dtype == LLMC_I8)
    return runLayers<int8_t>(args);
  if (areFloats && args->inputs[1].dtype == LLMC_U8)
    return runLayers<uint8_t>(args);
  return LLMC_KERNEL_UNSUPPORTED;
}
