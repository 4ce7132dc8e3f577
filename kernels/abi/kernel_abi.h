/* The calling convention between an artifact's kernels and whoever runs them: one plain C header for the compiler's code
 * generator, the reference kernels and the runtime.
 *
 * A kernel is an exported function of an executable's code image. It reads and writes through `llmc_args` only: it
 * allocates nothing, calls nothing outside its image, keeps no state and never throws. A run may split the work items of
 * one launch over several threads, so two calls with disjoint ranges may run at once and together must give the result
 * of one call with the whole range, to the bit.
 *
 * Versioned by LLMC_KERNEL_ABI: any change of a layout or meaning below raises it, and a runtime refuses other values. */
#ifndef LLMC_KERNELS_ABI_KERNEL_ABI_H
#define LLMC_KERNELS_ABI_KERNEL_ABI_H

#include <stdint.h>

#define LLMC_KERNEL_ABI 1
#define LLMC_MAX_RANK 8

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel returns. Data-driven faults are the caller's data, never a crash. */
enum llmc_kernel_status {
  LLMC_KERNEL_OK = 0,
  LLMC_KERNEL_INDEX_OUT_OF_RANGE = 1, /* an index read from a tensor leaves the dimension it addresses */
  LLMC_KERNEL_BAD_SHAPE = 2,          /* a size read from a tensor is negative, overflows or contradicts another */
  LLMC_KERNEL_DIVISION_BY_ZERO = 3,   /* integer division or remainder by zero */
  LLMC_KERNEL_UNSUPPORTED = 4,        /* no code for this combination of element types: a fault of the compiler */
  LLMC_KERNEL_OUT_OF_SPACE = 5        /* a result of data-dependent size exceeds its declared bound */
};

/* Details of the first fault of a launch. Owned by the caller, one per thread, zeroed by it before each launch. */
typedef struct llmc_error {
  int32_t code; /* llmc_kernel_status */
  int32_t operand; /* index of the binding whose data is at fault, or -1 */
  int64_t row;  /* index of the row (first dimension of the first output) at fault, or -1 */
  int64_t value; /* the offending value, such as the index */
} llmc_error;

/* The argument block of one launch. All members outlive the call and are shared by the threads of a launch, but `error`. */
typedef struct llmc_args {
  void *const *pointers;  /* one per binding, in the order of the export; aligned as the binding states */
  const int64_t *scalars; /* sizes and other integers, in the order of the export */
  llmc_error *error;      /* never null */
  int32_t *row_status;    /* null, or, for a row-wise export, one llmc_kernel_status per row, zeroed by the caller: the kernel marks the rows
                             whose data it refuses, writes anything for them, and does the others; several threads may mark one row */
} llmc_args;

/* Does work items begin <= i < end of a launch whose count is the export's `grid` expression. `scratch` is memory for
 * this thread alone, of the size the export states, aligned to 64 bytes, contents undefined; null if the size is 0. */
typedef int32_t (*llmc_kernel)(const llmc_args *args, int64_t begin, int64_t end, void *scratch);

/* Element types. Values are stored in plans (schema enum DType) and never change. */
enum llmc_dtype {
  LLMC_DTYPE_INVALID = 0,
  LLMC_F32 = 1,
  LLMC_F16 = 2,
  LLMC_BF16 = 3,
  LLMC_F64 = 4,
  LLMC_I8 = 5,
  LLMC_U8 = 6,
  LLMC_I16 = 7,
  LLMC_U16 = 8,
  LLMC_I32 = 9,
  LLMC_U32 = 10,
  LLMC_I64 = 11,
  LLMC_U64 = 12,
  LLMC_BOOL = 13 /* one byte, 0 or 1 */
  /* 14..: sub-byte integers and 8- and 4-bit floats, strings: later */
};

/* A tensor as the reference kernels see it. */
typedef struct llmc_tensor {
  void *data;             /* null if an optional operand is absent; a zero-size tensor may have any pointer */
  int64_t *dims;          /* rank sizes; of an output whose size depends on data: the bound going in, the true size coming out */
  const int64_t *strides; /* in elements, may be 0 (broadcast); null means dense row-major */
  int32_t dtype;          /* llmc_dtype; LLMC_DTYPE_INVALID if absent */
  int32_t rank;           /* 0..LLMC_MAX_RANK */
} llmc_tensor;

/* Arguments of a reference kernel. Attributes come packed: the op that owns the kernel documents the order of `ints` and
 * `floats` beside its kernel, a list being its length followed by its elements. */
typedef struct llmc_reference_args {
  const llmc_tensor *inputs;
  const llmc_tensor *outputs;
  const int64_t *ints;
  const double *floats;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_ints;
  int32_t num_floats;
  llmc_error *error; /* never null */
} llmc_reference_args;

/* Every reference kernel has this type and is named llmc_ref_<mnemonic of the graph op>. Returns llmc_kernel_status.
 * Inputs and outputs do not overlap. */
typedef int32_t (*llmc_reference_kernel)(const llmc_reference_args *args);

#ifdef __cplusplus
}
#endif

#endif /* LLMC_KERNELS_ABI_KERNEL_ABI_H */
