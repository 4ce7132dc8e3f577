// det: determinants, by Gaussian elimination with partial pivoting in double. outputs: y, and the eliminated matrices, where it works.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

struct Matrix {
  double *data;
  int64_t size, rowStep, step;

  double &at(int64_t row, int64_t column) const { return data[row * rowStep + column * step]; }

  int64_t pivotOf(int64_t column) const {
    int64_t best = column;
    for (int64_t row = column + 1; row < size; ++row)
      if (magnitude(at(row, column)) > magnitude(at(best, column)))
        best = row;
    return best;
  }
  double eliminate() const {
    double determinant = 1;
    for (int64_t k = 0; k < size; ++k) {
      int64_t pivot = pivotOf(k);
      for (int64_t column = 0; pivot != k && column < size; ++column) {
        double kept = at(k, column);
        at(k, column) = at(pivot, column), at(pivot, column) = kept;
      }
      determinant *= pivot != k ? -at(k, k) : at(k, k);
      for (int64_t row = k + 1; at(k, k) != 0 && row < size; ++row) {
        double factor = at(row, k) / at(k, k);
        for (int64_t column = k; column < size; ++column)
          at(row, column) -= factor * at(k, column);
      }
    }
    return determinant;
  }
};

} // namespace

LLMC_REFERENCE_KERNEL(det) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0], &work = args->outputs[1];
  Dims shape = shapeOf(x), workStrides = stridesOf(work), batch{x.rank - 2}, toY = stridesOf(y), toWork{x.rank - 2};
  for (int32_t d = 0; d < batch.rank; ++d)
    batch[d] = shape[d], toWork[d] = workStrides[d];
  const Dims copies[] = {stridesOf(x), workStrides}, walks[] = {toY, toWork};
  return dispatchFloat(x.dtype, [&]<typename T>() {
    forEachElement(shape, copies, [&](const int64_t *at) { dataOf<double>(work)[at[1]] = double(load(dataOf<T>(x)[at[0]])); });
    forEachElement(batch, walks, [&](const int64_t *at) {
      Matrix matrix{dataOf<double>(work) + at[1], shape[x.rank - 1], workStrides[x.rank - 2], workStrides[x.rank - 1]};
      dataOf<T>(y)[at[0]] = convert<T>(matrix.eliminate());
    });
    return LLMC_KERNEL_OK;
  });
}
