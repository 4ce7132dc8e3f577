// rnn, gru and lstm: all steps of a recurrent layer, in one or both directions.
//
// inputs: x [steps, batch, inputs], w [directions, gates * hidden, inputs], r [directions, gates * hidden, hidden],
//         bias? [directions, 2 * gates * hidden], lengths? [batch], initial h? [directions, batch, hidden],
//         lstm: initial c?, peepholes? [directions, 3 * hidden]
// outputs: y [steps, directions, batch, hidden], last h [directions, batch, hidden], lstm: last c
// ints: direction (0 forward, 1 reverse, 2 both), whether it clips, list activations (numbered in Recurrent.h), gru: linear before reset,
// lstm: input forget; floats: clip, alphas, betas
//
// States live in the outputs, so in the element type: h of a step is the row of y that the next step reads, c is last c. A gate is one
// sum: the biases, then inputs ascending, then h ascending, one fused multiply-add each.
#include "kernels/reference/Recurrent.h"

using namespace llmc::reference;

namespace {

/// One direction of a layer, over one sequence of the batch.
template <typename T> struct Sequence {
  using C = Compute<T>;

  int64_t direction, index; // places in the tensors
  int64_t hidden, inputs, gates;
  Matrix<T> w, r;        // of the direction
  Row<T> bias;           // of the direction
  Row<T> x, before, now; // of the step at hand: inputs, h before (none: zeros) and after it

  C inputBias(int64_t gate, int64_t j) const { return bias ? bias[gate * hidden + j] : C(0); }
  C stateBias(int64_t gate, int64_t j) const { return bias ? bias[(gates + gate) * hidden + j] : C(0); }
  C beforeAt(int64_t j) const { return before ? before[j] : C(0); }

  /// Adds x * W^T of the gates `first` to `first + count - 1` at unit j.
  template <int count> void addInputs(int64_t first, int64_t j, C (&total)[count]) const { add(x, w, inputs, first, j, total); }
  /// Adds h * R^T.
  template <int count> void addState(int64_t first, int64_t j, const Row<T> &h, C (&total)[count]) const {
    add(h, r, h ? hidden : 0, first, j, total);
  }
  /// Biases, inputs and h.
  template <int count> void sums(int64_t first, int64_t j, const Row<T> &h, C (&total)[count]) const {
    for (int g = 0; g < count; ++g)
      total[g] = inputBias(first + g, j) + stateBias(first + g, j);
    addInputs(first, j, total);
    addState(first, j, h, total);
  }

private:
  template <int count>
  void add(const Row<T> &values, const Matrix<T> &weights, int64_t size, int64_t first, int64_t j, C (&total)[count]) const {
    Row<T> rows[count];
    for (int g = 0; g < count; ++g)
      rows[g] = weights.row((first + g) * hidden + j);
    for (int64_t k = 0; k < size; ++k)
      for (int g = 0; g < count; ++g)
        total[g] = multiplyAdd(values[k], rows[g][k], total[g]);
  }
};

} // namespace

/// Calls `step(sequence)` for the steps of each direction and sequence in order, `start(sequence)` in front of them, and fills what is
/// behind a sequence's end with zeros.
template <typename T, typename Start, typename Step>
static int32_t forEachStep(const llmc_reference_args *args, int64_t gates, Start start, Step step) {
  const llmc_tensor &x = args->inputs[0], &w = args->inputs[1], &r = args->inputs[2], &y = args->outputs[0],
      &last = args->outputs[1];
  Dims yStrides = stridesOf(y), xStrides = stridesOf(x);
  int64_t steps = x.dims[0], hidden = r.dims[2];
  for (int64_t d = 0; d < y.dims[1]; ++d)
    for (int64_t b = 0; b < x.dims[1]; ++b) {
      int64_t length = isPresent(args, 4) ? readIndex(args->inputs[4], b * stridesOf(args->inputs[4])[0]) : steps;
      if (length < 0 || length > steps)
        return fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 4, length);
      auto rowAt = [&](int64_t t) { return Row<T>{dataOf<T>(y) + t * yStrides[0] + d * yStrides[1] + b * yStrides[2],
                                                  yStrides[3]}; };
      Sequence<T> sequence{d, b, hidden, x.dims[2], gates, Matrix<T>(w, d), Matrix<T>(r, d), optionalMatrix<T>(args, 3, d).row(0),
                           {}, {}, {}};
      sequence.before = optionalMatrix<T>(args, 5, d).row(b);
      start(sequence);
      bool isReverse = args->ints[0] == 1 || d == 1;
      for (int64_t i = 0; i < length; ++i) {
        int64_t t = isReverse ? length - 1 - i : i;
        sequence.x = {dataOf<T>(x) + t * xStrides[0] + b * xStrides[1], xStrides[2]};
        sequence.now = rowAt(t);
        step(sequence);
        sequence.before = sequence.now;
      }
      Row<T> lastRow = Matrix<T>(last, d).row(b);
      for (int64_t j = 0; j < hidden; ++j)
        lastRow.set(j, sequence.beforeAt(j));
      for (int64_t t = length; t < steps; ++t)
        for (int64_t j = 0; j < hidden; ++j)
          rowAt(t).set(j, Compute<T>(0));
    }
  return LLMC_KERNEL_OK;
}

LLMC_REFERENCE_KERNEL(rnn) {
  return dispatchFloat(args->inputs[0].dtype, [&]<typename T>() {
    using C = Compute<T>;
    Activations<C, 1> activations(args);
    return forEachStep<T>(args, 1, [](const Sequence<T> &) {}, [&](const Sequence<T> &s) {
      const Activation<C> &f = *activations.of(s.direction);
      for (int64_t j = 0; j < s.hidden; ++j) {
        C total[1];
        s.sums(0, j, s.before, total);
        s.now.set(j, f(total[0]));
      }
    });
  });
}

/// z, r = f(...); h = g(x * Wh^T + (r * h before) * Rh^T + biases), or with linear before reset
/// g(x * Wh^T + Wbh + r * (h before * Rh^T + Rbh)); the new h is (1 - z) * h + z * h before.
LLMC_REFERENCE_KERNEL(gru) {
  return dispatchFloat(args->inputs[0].dtype, [&]<typename T>() {
    using C = Compute<T>;
    Activations<C, 2> activations(args);
    bool isLinear = lastInt(args) != 0;
    return forEachStep<T>(args, 3, [](const Sequence<T> &) {}, [&](const Sequence<T> &s) {
      const Activation<C> &f = activations.of(s.direction)[0], &g = activations.of(s.direction)[1];
      auto finish = [&](int64_t j, C z, C h) { s.now.set(j, (C(1) - z) * h + z * s.beforeAt(j)); };
      if (isLinear) {
        for (int64_t j = 0; j < s.hidden; ++j) {
          C gates[2], fromX[1] = {s.inputBias(2, j)}, fromH[1] = {s.stateBias(2, j)};
          s.sums(0, j, s.before, gates);
          s.addInputs(2, j, fromX);
          s.addState(2, j, s.before, fromH);
          finish(j, f(gates[0]), g(fromX[0] + f(gates[1]) * fromH[0]));
        }
        return;
      }
      // All of r * h before is needed before the first h: it waits in last h, which nothing reads before the end.
      Row<T> reset = Matrix<T>(args->outputs[1], s.direction).row(s.index);
      for (int64_t j = 0; j < s.hidden; ++j) {
        C gates[1];
        s.sums(1, j, s.before, gates);
        reset.set(j, f(gates[0]) * s.beforeAt(j));
      }
      for (int64_t j = 0; j < s.hidden; ++j) {
        C z[1], h[1];
        s.sums(0, j, s.before, z);
        s.sums(2, j, reset, h);
        finish(j, f(z[0]), g(h[0]));
      }
    });
  });
}

/// i, o, f = f(...), each with its peephole of c (o with the new one); c = f * c before + i * g(...); h = o * h(c), where nothing is clipped.
LLMC_REFERENCE_KERNEL(lstm) {
  return dispatchFloat(args->inputs[0].dtype, [&]<typename T>() {
    using C = Compute<T>;
    Activations<C, 3> activations(args);
    bool inputForget = lastInt(args) != 0;
    auto cellOf = [&](const Sequence<T> &s) { return Matrix<T>(args->outputs[2], s.direction).row(s.index); };
    auto start = [&](const Sequence<T> &s) {
      Row<T> initial = optionalMatrix<T>(args, 6, s.direction).row(s.index), cell = cellOf(s);
      for (int64_t j = 0; j < s.hidden; ++j)
        cell.set(j, initial ? initial[j] : C(0));
    };
    return forEachStep<T>(args, 4, start, [&](const Sequence<T> &s) {
      const Activation<C> *function = activations.of(s.direction);
      Row<T> cell = cellOf(s), peepholes = optionalMatrix<T>(args, 7, s.direction).row(0);
      auto peep = [&](int64_t gate, int64_t j, C c) { return peepholes ? peepholes[gate * s.hidden + j] * c : C(0); };
      for (int64_t j = 0; j < s.hidden; ++j) {
        C gates[4], before = cell[j];
        s.sums(0, j, s.before, gates);
        C input = function[0](gates[0] + peep(0, j, before));
        C forget = inputForget ? C(1) - input : function[0](gates[2] + peep(2, j, before));
        C c = forget * before + input * function[1](gates[3]);
        C output = function[0](gates[1] + peep(1, j, c));
        cell.set(j, c);
        s.now.set(j, output * function[2].unclipped(c));
      }
    });
  });
}
