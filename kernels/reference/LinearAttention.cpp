// linear_attention: attention by a state of keys x values per head, which lives in the second output.
//
// inputs: query [batch, steps, query heads * keys], key [.., heads * keys], value [.., heads * values], past state? [batch, heads, keys, values],
//         decay? [.., heads * keys] or [.., heads], beta? [.., heads] or [.., 1]
// outputs: y [batch, steps, query heads * values], state [batch, heads, keys, values]
// ints: query heads, heads; floats: scale, 0 for 1 / sqrt(keys)
// With beta the value of a step is corrected by what the state gives for its key. Sums over keys ascend, with one fused multiply-add each.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

/// Elements of one step of one sequence; none of an input that is absent.
struct Step {
  const float *data = nullptr;
  int64_t size = 0, step = 0;

  Step(const llmc_reference_args *args, int32_t input, int64_t batch, int64_t time) {
    if (!isPresent(args, input))
      return;
    const llmc_tensor &tensor = args->inputs[input];
    Dims strides = stridesOf(tensor);
    data = dataOf<float>(tensor) + batch * strides[0] + time * strides[1];
    size = tensor.dims[2], step = strides[2];
  }
  explicit operator bool() const { return data; }
  float operator[](int64_t i) const { return data[i * step]; }
};

/// One head of one sequence.
struct Head {
  float *state;
  int64_t keys, values, keyStep, valueStep;
  int64_t index, heads;

  float &at(int64_t key, int64_t value) const { return state[key * keyStep + value * valueStep]; }
  void decay(const Step &decay) const {
    bool isPerKey = decay.size != heads;
    for (int64_t k = 0; k < keys; ++k) {
      float factor = math::exp(decay[isPerKey ? index * keys + k : index]);
      for (int64_t v = 0; v < values; ++v)
        at(k, v) *= factor;
    }
  }
  void add(const Step &key, const Step &value, const Step &beta) const {
    for (int64_t v = 0; v < values; ++v) {
      float change = value[index * values + v];
      if (beta)
        change = beta[beta.size == 1 ? 0 : index] * (change - read(key, index, v));
      for (int64_t k = 0; k < keys; ++k)
        at(k, v) = multiplyAdd(key[index * keys + k], change, at(k, v));
    }
  }
  /// Element v of state^T * x, where x is the part of a head.
  float read(const Step &x, int64_t part, int64_t v) const {
    float total = 0;
    for (int64_t k = 0; k < keys; ++k)
      total = multiplyAdd(x[part * keys + k], at(k, v), total);
    return total;
  }
};

/// All steps of a head.
struct Walk {
  const llmc_reference_args *args;
  int64_t batch;
  Head head;

  void start() const {
    bool hasPast = isPresent(args, 3);
    Dims strides = hasPast ? stridesOf(args->inputs[3]) : Dims{};
    for (int64_t k = 0; k < head.keys; ++k)
      for (int64_t v = 0; v < head.values; ++v) {
        int64_t from = batch * strides[0] + head.index * strides[1] + k * strides[2] + v * strides[3];
        head.at(k, v) = hasPast ? dataOf<float>(args->inputs[3])[from] : 0;
      }
  }
  void step(int64_t time, float scale) const {
    if (Step decay = Step(args, 4, batch, time))
      head.decay(decay);
    head.add(Step(args, 1, batch, time), Step(args, 2, batch, time), Step(args, 5, batch, time));
    Dims strides = stridesOf(args->outputs[0]);
    Step query(args, 0, batch, time);
    int64_t shared = args->ints[0] / head.heads; // query heads
    for (int64_t i = head.index * shared; i < (head.index + 1) * shared; ++i)
      for (int64_t v = 0; v < head.values; ++v)
        dataOf<float>(args->outputs[0])[batch * strides[0] + time * strides[1] + (i * head.values + v) * strides[2]] =
            scale * head.read(query, i, v);
  }
};

} // namespace

/// Fails unless an input that is there has one of two sizes.
static int32_t checkSize(const llmc_reference_args *args, int32_t input, int64_t one, int64_t other) {
  int64_t size = isPresent(args, input) ? args->inputs[input].dims[2] : one;
  return size == one || size == other ? LLMC_KERNEL_OK : fail(args, LLMC_KERNEL_BAD_SHAPE, input, size);
}

LLMC_REFERENCE_KERNEL(linear_attention) {
  const llmc_tensor &state = args->outputs[1];
  if (args->inputs[0].dtype != LLMC_F32)
    return LLMC_KERNEL_UNSUPPORTED;
  int64_t heads = args->ints[1], keys = state.dims[2], values = state.dims[3];
  if (int32_t code = checkSize(args, 4, heads, heads * keys))
    return code;
  if (int32_t code = checkSize(args, 5, heads, 1))
    return code;
  float scale = args->floats[0] != 0 ? float(args->floats[0]) : 1 / math::sqrt(float(keys));
  Dims strides = stridesOf(state);
  for (int64_t b = 0; b < state.dims[0]; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      float *data = dataOf<float>(state) + b * strides[0] + h * strides[1];
      Walk walk{args, b, {data, keys, values, strides[2], strides[3], h, heads}};
      walk.start();
      for (int64_t t = 0; t < args->inputs[0].dims[1]; ++t)
        walk.step(t, scale);
    }
  return LLMC_KERNEL_OK;
}
