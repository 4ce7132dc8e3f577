/* Kernels of the runtime's tests: freestanding, compiled once per CPU level into an image as the compiler makes them.
 * Each obeys kernel_abi.h; PlanBuilder.cpp states their exports. */
#include "kernels/abi/kernel_abi.h"

#define KERNEL(name)                                                                                                   \
  __attribute__((visibility("default"))) int32_t name(const llmc_args *args, int64_t begin, int64_t end, void *scratch)

/* add(a, b, out; n): one item per element. */
KERNEL(add) {
  const float *a = args->pointers[0], *b = args->pointers[1];
  float *out = args->pointers[2];
  for (int64_t i = begin; i < end; ++i)
    out[i] = a[i] + b[i];
  return LLMC_KERNEL_OK;
}

/* relu(x, out; n): one item per element; may be in place. */
KERNEL(relu) {
  const float *x = args->pointers[0];
  float *out = args->pointers[1];
  for (int64_t i = begin; i < end; ++i)
    out[i] = x[i] > 0 ? x[i] : 0;
  return LLMC_KERNEL_OK;
}

/* gather(table, indices, out; rows, columns, n): one item per index. */
KERNEL(gather) {
  const float *table = args->pointers[0];
  const int64_t *indices = args->pointers[1];
  float *out = args->pointers[2];
  int64_t rows = args->scalars[0], columns = args->scalars[1];
  for (int64_t i = begin; i < end; ++i) {
    if (indices[i] < 0 || indices[i] >= rows) {
      args->error->operand = 1;
      args->error->row = i;
      args->error->value = indices[i];
      return LLMC_KERNEL_INDEX_OUT_OF_RANGE;
    }
    for (int64_t c = 0; c < columns; ++c)
      out[i * columns + c] = table[indices[i] * columns + c];
  }
  return LLMC_KERNEL_OK;
}

/* reverse(x, out; n): one item per row of 4, through 16 bytes of scratch. */
KERNEL(reverse) {
  const float *x = args->pointers[0];
  float *out = args->pointers[1], *temporary = scratch;
  for (int64_t i = begin; i < end; ++i) {
    for (int c = 0; c < 4; ++c)
      temporary[c] = x[i * 4 + 3 - c];
    for (int c = 0; c < 4; ++c)
      out[i * 4 + c] = temporary[c];
  }
  return LLMC_KERNEL_OK;
}

/* count_positive(x, count; n): one item. */
KERNEL(count_positive) {
  const float *x = args->pointers[0];
  int64_t *count = args->pointers[1];
  if (begin == end)
    return LLMC_KERNEL_OK;
  *count = 0;
  for (int64_t i = 0; i < args->scalars[0]; ++i)
    *count += x[i] > 0;
  return LLMC_KERNEL_OK;
}

/* compress(x, out; n, count): one item; writes the positive elements of x, `count` of them. */
KERNEL(compress) {
  const float *x = args->pointers[0];
  float *out = args->pointers[1];
  int64_t next = 0;
  for (int64_t i = 0; begin < end && i < args->scalars[0]; ++i) {
    if (x[i] <= 0)
      continue;
    if (next == args->scalars[1])
      return LLMC_KERNEL_OUT_OF_SPACE;
    out[next++] = x[i];
  }
  return LLMC_KERNEL_OK;
}

/* add_scalar(x, out; s): one item; int64 out = x + s. */
KERNEL(add_scalar) {
  if (begin < end)
    *(int64_t *)args->pointers[1] = *(const int64_t *)args->pointers[0] + args->scalars[0];
  return LLMC_KERNEL_OK;
}

/* less(a, out; limit): one item; bool out = a < limit. */
KERNEL(less) {
  if (begin < end)
    *(uint8_t *)args->pointers[1] = *(const int64_t *)args->pointers[0] < args->scalars[0];
  return LLMC_KERNEL_OK;
}

/* ranges(out; n): one item per element; each element gets the first item of the call that wrote it. */
KERNEL(ranges) {
  int64_t *out = args->pointers[0];
  for (int64_t i = begin; i < end; ++i)
    out[i] = begin;
  return LLMC_KERNEL_OK;
}

/* environment(out): one item; the level that this image is compiled for, and the floating-point control word. */
KERNEL(environment) {
  int32_t *out = args->pointers[0];
  if (begin < end) {
    out[0] = LEVEL;
    out[1] = (int32_t)__builtin_ia32_stmxcsr();
  }
  return LLMC_KERNEL_OK;
}

/* fail(x; n): one item per element of x, an int32; returns the first that is not 0. */
KERNEL(fail) {
  const int32_t *x = args->pointers[0];
  for (int64_t i = begin; i < end; ++i)
    if (x[i] != 0) {
      args->error->row = i;
      args->error->value = x[i];
      return x[i];
    }
  return LLMC_KERNEL_OK;
}
