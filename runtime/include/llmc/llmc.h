/* llmc.h - Runs models that llmc has compiled. The C API of the runtime.
 *
 *   llmc_plan *plan;
 *   llmc_session *session;
 *   if (llmc_plan_load("model.llmc", NULL, &plan) != LLMC_OK) { puts(llmc_last_error()); ... }
 *   llmc_session_create(plan, 0, &session);
 *   llmc_session_set_input(session, 0, LLMC_TYPE_F32, dims, 4, pixels, sizeof pixels);
 *   llmc_session_run(session);
 *   llmc_session_output(session, 0, &tensor); // tensor.data, tensor.dims
 *
 * A plan is immutable and may be shared by all threads. A session is one line of requests: one thread uses it at a time;
 * any number of sessions of a plan run at once. Functions that can fail return a status; llmc_last_error() has the message
 * for the calling thread. No function throws or ends the process. Strings and arrays that functions return belong to the
 * object they were asked of and live as long as it does, unless stated.
 *
 * A plan file holds native code. It is verified before use, but loading it is as trusting as loading a shared library.
 *
 * Versions: functions and struct fields are only added. A struct with a `struct_size` field may grow at its end; the caller
 * sets the field to sizeof the struct it was compiled with. */
#ifndef LLMC_LLMC_H
#define LLMC_LLMC_H

#include <stddef.h>
#include <stdint.h>

#define LLMC_API_VERSION 1

#if defined(__GNUC__)
#define LLMC_API __attribute__((visibility("default")))
#else
#define LLMC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum llmc_status {
  LLMC_OK = 0,
  LLMC_INVALID_ARGUMENT = 1, /* null, index or name unknown, missing input, memory too small or not aligned */
  LLMC_SHAPE = 2,            /* rank, type or dims of an input do not fit the model, or each other */
  LLMC_IO = 3,               /* a file can not be opened, read or mapped */
  LLMC_INVALID_PLAN = 4,     /* not a plan file, damaged, or refused by the verifier */
  LLMC_INCOMPATIBLE = 5,     /* a sound plan for another version, processor or device */
  LLMC_DATA = 6,             /* the values of the inputs ask for what can not be, such as an index out of range */
  LLMC_OUT_OF_MEMORY = 7,
  LLMC_CANCELLED = 8,
  LLMC_INTERNAL = 9          /* a fault of the runtime or the compiler */
} llmc_status;

/* Element types; values equal those of plan files. */
typedef enum llmc_type {
  LLMC_TYPE_INVALID = 0,
  LLMC_TYPE_F32 = 1,
  LLMC_TYPE_F16 = 2,
  LLMC_TYPE_BF16 = 3,
  LLMC_TYPE_F64 = 4,
  LLMC_TYPE_I8 = 5,
  LLMC_TYPE_U8 = 6,
  LLMC_TYPE_I16 = 7,
  LLMC_TYPE_U16 = 8,
  LLMC_TYPE_I32 = 9,
  LLMC_TYPE_U32 = 10,
  LLMC_TYPE_I64 = 11,
  LLMC_TYPE_U64 = 12,
  LLMC_TYPE_BOOL = 13 /* one byte, 0 or 1 */
} llmc_type;

typedef struct llmc_plan llmc_plan;
typedef struct llmc_session llmc_session;

/* ---- The library ---------------------------------------------------------------------------------------------- */

/* Version of the library, as in "0.1.0". */
LLMC_API const char *llmc_version(void);
/* LLMC_API_VERSION of the library. */
LLMC_API int32_t llmc_api_version(void);
/* Name of a status, as in "LLMC_SHAPE". */
LLMC_API const char *llmc_status_name(llmc_status status);
/* Name of an element type, as in "f32"; "invalid" for others. */
LLMC_API const char *llmc_type_name(llmc_type type);
/* Bytes of one element; 0 if the type is not known. */
LLMC_API size_t llmc_type_size(llmc_type type);
/* What went wrong in the last failing call on this thread; "" if none has failed. Valid until the next call that fails. */
LLMC_API const char *llmc_last_error(void);
/* The greatest CPU level that this machine has, as in "x86-64-v3"; "" if it is below x86-64-v2. */
LLMC_API const char *llmc_host_cpu_level(void);

/* ---- Plans ---------------------------------------------------------------------------------------------------- */

typedef struct llmc_plan_options {
  size_t struct_size;       /* sizeof(llmc_plan_options) */
  int32_t threads;          /* per run; 0: as many as this process may use. At most 256 */
  int32_t verify_constants; /* not 0: compare the weights with their hashes, which reads all of them */
  const char *cpu_level;    /* only code of this level, as in "x86-64-v3"; NULL: the best that this machine has */
  int32_t shape_cache_size; /* shapes per entry whose preparation is kept; 0: 64 */
  const char *device_profile; /* a file that says what devices cost and how much memory simulated ones have; NULL: none */
} llmc_plan_options;

/* Maps and verifies a plan. `options` may be NULL. On failure *plan is NULL. */
LLMC_API llmc_status llmc_plan_load(const char *path, const llmc_plan_options *options, llmc_plan **plan);
/* The same for a plan in memory, which must stay as it is until the plan and its sessions are released. Bytes that start at
 * a multiple of 4096 are used in place, others are copied. */
LLMC_API llmc_status llmc_plan_load_memory(const void *bytes, size_t size, const llmc_plan_options *options,
                                           llmc_plan **plan);
/* Sessions keep what they need: the order of release does not matter. NULL is ignored. */
LLMC_API void llmc_plan_release(llmc_plan *plan);

/* Level of the code in use; "" for a plan without code. */
LLMC_API const char *llmc_plan_cpu_level(const llmc_plan *plan);
/* Threads of each run. */
LLMC_API int32_t llmc_plan_threads(const llmc_plan *plan);

LLMC_API int32_t llmc_plan_num_entries(const llmc_plan *plan);
/* NULL if there is no such entry. */
LLMC_API const char *llmc_plan_entry_name(const llmc_plan *plan, int32_t entry);
/* Index of the entry of that name, or -1. */
LLMC_API int32_t llmc_plan_find_entry(const llmc_plan *plan, const char *name);

typedef struct llmc_dim {
  int64_t value;    /* -1 if it is not fixed */
  const char *name; /* as in the model; "" if it has none */
  int64_t lo, hi;   /* the sizes that are allowed, both included; equal to value if that is fixed. Of an output's dim that
                       is not fixed: 0 and INT64_MAX */
} llmc_dim;

typedef struct llmc_tensor_info {
  size_t struct_size; /* sizeof(llmc_tensor_info), set by the caller */
  const char *name;   /* of the tensor in the model */
  llmc_type type;
  int32_t rank;
  const llmc_dim *dims; /* rank of them */
} llmc_tensor_info;

/* -1 if there is no such entry. */
LLMC_API int32_t llmc_plan_num_inputs(const llmc_plan *plan, int32_t entry);
LLMC_API int32_t llmc_plan_num_outputs(const llmc_plan *plan, int32_t entry);
LLMC_API llmc_status llmc_plan_input(const llmc_plan *plan, int32_t entry, int32_t index, llmc_tensor_info *info);
LLMC_API llmc_status llmc_plan_output(const llmc_plan *plan, int32_t entry, int32_t index, llmc_tensor_info *info);
/* Index of the input or output of that name, or -1. */
LLMC_API int32_t llmc_plan_find_input(const llmc_plan *plan, int32_t entry, const char *name);
LLMC_API int32_t llmc_plan_find_output(const llmc_plan *plan, int32_t entry, const char *name);

/* ---- Sessions ------------------------------------------------------------------------------------------------- */

/* On failure *session is NULL. */
LLMC_API llmc_status llmc_session_create(const llmc_plan *plan, int32_t entry, llmc_session **session);
/* NULL is ignored. Not while a run is under way. */
LLMC_API void llmc_session_release(llmc_session *session);

/* Gives an input: `rank` dims, copied, and `size` bytes of row-major elements, aligned to their type. They are not copied:
 * each run reads them in place, until other data is set. */
LLMC_API llmc_status llmc_session_set_input(llmc_session *session, int32_t index, llmc_type type, const int64_t *dims,
                                            int32_t rank, const void *data, size_t size);
LLMC_API llmc_status llmc_session_set_input_by_name(llmc_session *session, const char *name, llmc_type type,
                                                    const int64_t *dims, int32_t rank, const void *data, size_t size);
/* Has runs write an output to `size` bytes at `data`, aligned to its type, which overlap no input and no other output. Without
 * it, or with NULL, an output lies in memory of the session. */
LLMC_API llmc_status llmc_session_set_output(llmc_session *session, int32_t index, void *data, size_t size);
LLMC_API llmc_status llmc_session_set_output_by_name(llmc_session *session, const char *name, void *data, size_t size);

/* Checks the inputs' dims and makes everything ready that follows from them. A run does so by itself; this is for the dims of
 * outputs before a run, and to have the work of a new shape out of the way. */
LLMC_API llmc_status llmc_session_prepare(llmc_session *session);
/* Runs the entry on the calling thread and the plan's workers. Waits for workers that are busy with other runs. With a shape
 * seen before, it allocates nothing. After a failure the contents of outputs are undefined; the session can run again. */
LLMC_API llmc_status llmc_session_run(llmc_session *session);
/* From any thread: ends a run under way soon, with LLMC_CANCELLED. Does nothing if there is none. */
LLMC_API void llmc_session_cancel(llmc_session *session);

typedef struct llmc_tensor_view {
  size_t struct_size; /* sizeof(llmc_tensor_view), set by the caller */
  const void *data;   /* row-major; NULL before the memory is known */
  size_t size;        /* bytes */
  llmc_type type;
  int32_t rank;
  const int64_t *dims; /* -1 for one that depends on data that has not been computed. Valid until the session's next call */
} llmc_tensor_view;

/* An output of the last run. After prepare: its dims, and where it will be. */
LLMC_API llmc_status llmc_session_output(const llmc_session *session, int32_t index, llmc_tensor_view *view);
LLMC_API llmc_status llmc_session_output_by_name(const llmc_session *session, const char *name, llmc_tensor_view *view);

/* Bytes of memory for intermediate values with the current shape, on all devices. */
LLMC_API size_t llmc_session_arena_size(const llmc_session *session);

/* Nanoseconds that the last run would take on the devices of the plan's device profile: of a virtual clock, and so the same in
 * each run. 0 without a profile. */
LLMC_API int64_t llmc_session_virtual_time(const llmc_session *session);

/* ---- Profiles ------------------------------------------------------------------------------------------------- */

typedef struct llmc_profile_event {
  size_t struct_size;          /* of the struct as the library knows it */
  const char *kind;            /* "Dispatch", "Copy", "Loop" ... A Loop or If comes after the steps inside it */
  const char *op;              /* what the step computes, as the compiler calls it; "" if the plan does not say */
  const char *const *sources;  /* names of the model's nodes that it computes */
  int32_t num_sources;
  int32_t threads;             /* that took part */
  int32_t step;                /* position in the plan */
  uint64_t begin_ns, end_ns;   /* of the clock CLOCK_MONOTONIC */
} llmc_profile_event;

/* `event` and what it points to are valid during the call. */
typedef void (*llmc_profile_callback)(void *user, const llmc_profile_event *event);

/* Calls `callback` after each step of each run, on the thread that runs. A profiled run waits for all threads after each step,
 * so it is slower. NULL ends it. */
LLMC_API llmc_status llmc_session_set_profile(llmc_session *session, llmc_profile_callback callback, void *user);

#ifdef __cplusplus
}
#endif

#endif /* LLMC_LLMC_H */
