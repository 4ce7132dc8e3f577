// layer_norm, rms_norm and batch_norm. The stage is float (double for double); the mean of a
// group and its subtraction are in double, and so is the sum of squares before it rounds to the stage; scale and bias
// are applied in the stage before the result rounds to the output's type.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

/// x split at an axis into groups, one per position in the leading dims, over the trailing dims.
struct Groups {
  Dims lead, leadX, leadY, trail, trailX, trailY, trailScale, trailBias;

  Groups(const llmc_reference_args *args, int64_t axis) {
    const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
    Dims shape = shapeOf(x);
    split(shape, axis, lead, trail);
    split(stridesOf(x), axis, leadX, trailX);
    split(stridesOf(y), axis, leadY, trailY);
    trailScale = broadcastStrides(args->inputs[1], trail);
    if (isPresent(args, 2))
      trailBias = broadcastStrides(args->inputs[2], trail);
    else
      trailBias.rank = trail.rank;
  }

  static void split(const Dims &dims, int64_t axis, Dims &lead, Dims &trail) {
    lead.rank = int32_t(axis), trail.rank = dims.rank - lead.rank;
    for (int32_t d = 0; d < dims.rank; ++d)
      (d < axis ? lead[d] : trail[d - int32_t(axis)]) = dims[d];
  }
};

} // namespace

/// y = (x - mean) / sqrt(mean of squares + epsilon) * scale + bias over each group; `centre`: subtract the mean first.
template <typename T> static void normalize(const llmc_reference_args *args, const Groups &groups, bool centre) {
  using C = Compute<T>;
  const T *x = dataOf<T>(args->inputs[0]);
  const llmc_tensor &scale = args->inputs[1];
  const llmc_tensor *bias = isPresent(args, 2) ? &args->inputs[2] : nullptr;
  T *y = dataOf<T>(args->outputs[0]);
  C epsilon = C(args->floats[0]);
  double count = double(groups.trail.elements());
  const Dims outer[] = {groups.leadX, groups.leadY}, reading[] = {groups.trailX};
  const Dims writing[] = {groups.trailX, groups.trailY, groups.trailScale, groups.trailBias};
  forEachElement(groups.lead, outer, [&](const int64_t *group) {
    auto meanOf = [&](auto term) {
      double total = 0;
      forEachElement(groups.trail, reading,
                     [&](const int64_t *at) { total += double(term(load(x[group[0] + at[0]]))); });
      return total / count;
    };
    double mean = centre ? meanOf([](C value) { return value; }) : 0;
    C variance = C(meanOf([&](C value) { return (value - mean) * (value - mean); }));
    C deviation = math::sqrt(variance + epsilon);
    forEachElement(groups.trail, writing, [&](const int64_t *at) {
      C value = C(load(x[group[0] + at[0]]) - mean) / deviation * C(readFloat(scale, at[2]));
      if (bias)
        value += C(readFloat(*bias, at[3]));
      y[group[1] + at[1]] = store<T>(value);
    });
  });
}

static int32_t normalizeTrailing(const llmc_reference_args *args, bool centre) {
  int64_t axis = args->ints[0];
  if (!normalizeIndex(axis, args->inputs[0].rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  Groups groups(args, axis);
  return dispatchFloat(args->outputs[0].dtype, [&]<typename T>() {
    normalize<T>(args, groups, centre);
    return LLMC_KERNEL_OK;
  });
}

/// layer_norm(x, scale, bias?): mean, then the variance of the centred values, over dims axis .. rank - 1.
/// ints: axis; floats: epsilon. Scale and bias broadcast to those dims.
LLMC_REFERENCE_KERNEL(layer_norm) { return normalizeTrailing(args, true); }

/// rms_norm(x, scale): x / sqrt(mean of squares + epsilon) * scale over dims axis .. rank - 1. ints: axis; floats:
/// epsilon
LLMC_REFERENCE_KERNEL(rms_norm) { return normalizeTrailing(args, false); }

/// batch_norm(x, scale, bias, mean, var): (x - mean) / sqrt(var + epsilon) * scale + bias, each per channel.
/// ints: channels last (else the channel is dim 1; a rank below 2 is one channel); floats: epsilon
LLMC_REFERENCE_KERNEL(batch_norm) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  Dims shape = shapeOf(y), perChannel{shape.rank};
  if (shape.rank >= 2)
    perChannel[args->ints[0] ? shape.rank - 1 : 1] = 1;
  const Dims strides[] = {stridesOf(x), stridesOf(y), perChannel};
  return dispatchFloat(y.dtype, [&]<typename T>() {
    using C = Compute<T>;
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    auto parameter = [&](int32_t input, int64_t channel) {
      const llmc_tensor &tensor = args->inputs[input];
      return C(readFloat(tensor, channel * stridesOf(tensor)[0]));
    };
    forEachElement(shape, strides, [&](const int64_t *at) {
      int64_t c = at[2];
      C deviation = math::sqrt(parameter(4, c) + C(args->floats[0]));
      to[at[1]] = store<T>((load(from[at[0]]) - parameter(3, c)) / deviation * parameter(1, c) + parameter(2, c));
    });
    return LLMC_KERNEL_OK;
  });
}
