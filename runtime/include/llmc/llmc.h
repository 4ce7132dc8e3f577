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
 * any number of sessions of a plan run at once. A batcher takes requests from all threads and runs them in batches. Functions that can fail return a status; llmc_last_error() has the message
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
  LLMC_INTERNAL = 9, /* a fault of the runtime or the compiler */
  LLMC_REJECTED = 10, /* by a batcher: it is full or closing, or the request waited too long; see llmc_request_reason */
  LLMC_DEADLINE = 11, /* by a batcher: the deadline of the request has passed, or could not be kept */
  LLMC_PENDING = 12   /* the request has not ended yet */
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
/* Name of the dim that batches of the entry grow in, if it was compiled with --batch-dim; "" otherwise. */
LLMC_API const char *llmc_plan_batch_dim(const llmc_plan *plan, int32_t entry);

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
  int32_t generated;    /* not 0: an input that batchers make, and requests to them leave out */
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

/* ---- Batchers ------------------------------------------------------------------------------------------------- */

/* A batcher takes single requests from any number of threads and runs those that fit together as one batch, on threads of
 * its own. Rows of a batch never influence each other: an answer is that of a run of the request alone.
 *
 *   llmc_batch_model model = {sizeof model, plan}; // compiled with --batch-dim
 *   llmc_batcher *batcher;
 *   llmc_batcher_create(&model, 1, NULL, &batcher);
 *   llmc_submission what = {sizeof what};
 *   what.inputs = inputs; what.num_inputs = 1;
 *   llmc_request *request;
 *   llmc_batcher_submit(batcher, &what, &request);   // from any thread
 *   if (llmc_request_wait(request, -1) == LLMC_OK)
 *     llmc_request_output(request, 0, &tensor);
 *   llmc_request_release(request);
 *
 * Every function below may be called from any thread at any time, but that nothing may follow the release of a handle.
 * A process made by fork can not use the batchers of its parent: calls fail with LLMC_INVALID_ARGUMENT, releases do nothing.
 *
 * Spans of time are microseconds. In options, 0 and NULL mean the default, which is named. */

typedef struct llmc_batcher llmc_batcher;
typedef struct llmc_request llmc_request;

#define LLMC_BATCH_NONE "" /* as batch_dim: nothing is batched, each request runs alone with the dims that it has */

typedef enum llmc_pad_policy { /* what runs when the rows that wait lie between two sizes */
  LLMC_PAD_MIN_COST = 0,       /* the smaller one if it is no dearer per row, else the larger one, padded */
  LLMC_PAD_UP = 1,             /* the larger one */
  LLMC_PAD_DOWN = 2            /* the smaller one; the rest goes on waiting */
} llmc_pad_policy;

typedef enum llmc_mix_policy { /* who may share a batch with a more urgent request */
  LLMC_MIX_FILL = 0,           /* less urgent ones take only rows that would have been padding */
  LLMC_MIX_MERGE = 1,          /* everyone */
  LLMC_MIX_ISOLATE = 2         /* nobody */
} llmc_mix_policy;

typedef enum llmc_response_order { /* in which requests end */
  LLMC_ORDER_NONE = 0,             /* as they are done */
  LLMC_ORDER_STREAM = 1,           /* within a stream as they were submitted */
  LLMC_ORDER_MODEL = 2             /* as they were submitted */
} llmc_response_order;

/* How requests of one priority wait. */
typedef struct llmc_batch_class {
  size_t struct_size;           /* sizeof(llmc_batch_class), of each in an array */
  int64_t queue_timeout_us;     /* longest wait before a run starts; 0: none */
  int32_t demote;               /* not 0: after that wait it goes behind all others; 0: it is rejected */
  int32_t max_queued_requests;  /* 0: no limit */
} llmc_batch_class;

/* A model of a batcher, and how its requests are batched. */
typedef struct llmc_batch_model {
  size_t struct_size;     /* sizeof(llmc_batch_model), of each in an array */
  const llmc_plan *plan;  /* may be released once the batcher is made */
  int32_t entry;
  const char *name;       /* in messages and traces; NULL: that of the entry */
  int32_t instances;      /* runs of it at one time; 0: 1 */
  /* Rows. */
  const char *batch_dim;  /* name of the dim that batches grow in. NULL: as the plan says, which the compiler has checked. A
                             name is the caller's word that rows do not influence each other. LLMC_BATCH_NONE: none */
  const int32_t *sizes;   /* row counts that run, ascending; NULL: those of the plan, else any */
  int32_t num_sizes;
  int32_t max_rows;       /* of a batch; 0: the largest size, or 32 where any runs */
  const int32_t *preferred; /* row counts, ascending, the last of which does not wait for more; NULL: none */
  int32_t num_preferred;
  int32_t only_preferred; /* not 0: no other row count runs */
  int32_t split_large;    /* not 0: a request of more rows than max_rows runs in parts; 0: it is refused */
  llmc_pad_policy pad;
  int32_t max_shapes;     /* shapes, beside the rows, that may be in use at one time where dims are exact; 0: 16 */
  /* When. */
  int64_t delay_us;       /* that a request may wait for others to share its run */
  /* Order. */
  const llmc_batch_class *classes; /* [0] is of priority 1, the most urgent; NULL: one class without limits */
  int32_t num_classes;             /* at most 16 */
  int32_t default_priority;        /* 0: 1 */
  int64_t aging_us;                /* head start of a priority over the next one; 0: one second; -1: none, first come, first served */
  int32_t strict;                  /* not 0: priority 1 is always first, but for one of every 8 batches */
  llmc_mix_policy mix;
  llmc_response_order order;
  /* Limits of what waits. */
  int32_t max_queued_requests;     /* 0: none */
  int32_t max_queued_rows;         /* 0: what the SLO allows; without one, no limit but max_requests */
  int64_t max_queued_bytes;        /* of inputs; 0: none */
  int32_t admit_by_deadline;       /* not 0: refuse at once what can not be done in time */
  /* Devices. */
  int32_t weight;                  /* share of the time, against other models; 0: 1 */
  int32_t double_buffer;           /* not 0: gather the next batch while one runs */
  /* Failure. */
  int32_t stateful;                /* not 0: never run again after a failure */
  int32_t breaker_min_requests;    /* failures stop the model for a while once half of so many requests in 10 s failed; 0: 20;
                                      -1: never */
  const int32_t *fallback;         /* indices of models that take over meanwhile, which take the same inputs */
  int32_t num_fallback;
  /* Adaptive control. */
  int64_t slo_p99_us;              /* delay and queue limit adapt to it; 0: off */
  int64_t exec_p95_us;             /* the largest batch adapts to it; 0: off */
  /* Answers that are kept. */
  int64_t cache_bytes;             /* for inputs and answers of requests, which equal inputs get again; 0: none */
} llmc_batch_model;

typedef struct llmc_batcher_options {
  size_t struct_size;         /* sizeof(llmc_batcher_options) */
  int32_t max_requests;       /* that have not been released, ended or not; 0: 4096 */
  int64_t max_queued_bytes;   /* of inputs of all models; 0: no limit */
  int32_t parallel_runs;      /* of all models; 0: the most instances that one model has */
  int64_t spin_us;            /* that threads which wait burn before they sleep; 0: none */
  const char *record;         /* a file that gets requests and runs, for llmc-batch-sim --replay; NULL: none */
} llmc_batcher_options;

/* Checks everything, makes the threads, and measures what runs cost where shapes are known and the plan does not say it.
 * `options` may be NULL. On failure *batcher is NULL, and the message is a sentence about the first thing that is wrong. */
LLMC_API llmc_status llmc_batcher_create(const llmc_batch_model *models, int32_t num_models,
                                         const llmc_batcher_options *options, llmc_batcher **batcher);

typedef struct llmc_batch_input {
  const char *name; /* NULL: the input at this place of the list */
  llmc_type type;
  int32_t rank;
  const int64_t *dims; /* copied */
  const void *data;    /* row-major, aligned to the type */
  size_t size;         /* bytes */
} llmc_batch_input;

/* Where an output is to be written, row-major. */
typedef struct llmc_batch_output {
  const char *name; /* NULL: the output at this place of the list */
  void *data;       /* aligned to the type; the caller's, not to be touched until the request has ended */
  size_t size;      /* bytes, at least what the output has */
} llmc_batch_output;

/* Called once, when the request has ended, on a thread of the batcher or on one that is in a call of it (so perhaps before
 * the submission returns). It may use the request, release it, submit others, but it must neither wait for or release
 * others that have not ended, nor drain or close a batcher. Long work delays other requests. */
typedef void (*llmc_request_callback)(void *user, llmc_request *request);

typedef struct llmc_submission {
  size_t struct_size; /* sizeof(llmc_submission) */
  int32_t model;
  const llmc_batch_input *inputs; /* all of the model, each once */
  int32_t num_inputs;
  int32_t lend;                   /* 0: the inputs are copied before the call returns. Not 0: they are read in place, and must
                                     stay as they are until the request has ended */
  const llmc_batch_output *outputs; /* those that are to be written to the caller's memory; others to memory of the request */
  int32_t num_outputs;
  int64_t deadline_us;      /* from now, for the whole request; 0: none */
  int64_t queue_timeout_us; /* from now, until its run starts; the shorter of this and the class's counts; 0: none */
  int32_t priority;         /* 1 is the most urgent; 0: the model's default */
  uint64_t stream;          /* for LLMC_ORDER_STREAM; 0: none */
  int32_t version;          /* of the model, which then serves it even if another one has taken its place; 0: the present one */
  llmc_request_callback callback; /* NULL: none */
  void *user;
} llmc_submission;

/* Submits a request, which is one or more rows. Refuses what is wrong, and what there is no room for (LLMC_REJECTED): then
 * *request is NULL, there is no callback, and no other request is disturbed. `request` may be NULL where there is a callback:
 * then the request releases itself after it. Otherwise the caller releases it. */
LLMC_API llmc_status llmc_batcher_submit(llmc_batcher *batcher, const llmc_submission *what, llmc_request **request);

/* Waits until the request has ended, at most so long; 0: asks only; < 0: without limit. The status with which it ended, or
 * LLMC_PENDING. If it is not LLMC_OK, llmc_last_error() says more. */
LLMC_API llmc_status llmc_request_wait(llmc_request *request, int64_t timeout_us);
/* Why it ended so, as in "queue_full"; "none" for one that is done or has not ended. See docs/batching.md. */
LLMC_API const char *llmc_request_reason(const llmc_request *request);
/* The message of one that failed; "" otherwise. Valid until the release. */
LLMC_API const char *llmc_request_error(const llmc_request *request);
/* An output of a request that is done. Valid until the release. */
LLMC_API llmc_status llmc_request_output(const llmc_request *request, int32_t index, llmc_tensor_view *view);
/* Has it end with LLMC_CANCELLED unless it has ended. One that runs ends at once too if it uses no memory of the caller, else
 * with its run. */
LLMC_API void llmc_request_cancel(llmc_request *request);
/* Frees the request and its outputs. One that has not ended is cancelled, and the call waits until it has ended. NULL is
 * ignored. */
LLMC_API void llmc_request_release(llmc_request *request);

/* The version of a model with which new requests start. The first is 1. */
LLMC_API int32_t llmc_batcher_version(const llmc_batcher *batcher, int32_t model);
/* Has new requests, and those that wait, run by another plan, whose inputs, outputs and batching are the same. Runs under way
 * end with the old one. *version, if not NULL, is set to the number of the new version. */
LLMC_API llmc_status llmc_batcher_swap(llmc_batcher *batcher, int32_t model, const llmc_plan *plan, int32_t entry,
                                       int32_t *version);

/* Refuses new requests, waits until all have ended, and rejects what has not started after so long; < 0: without limit. */
LLMC_API llmc_status llmc_batcher_drain(llmc_batcher *batcher, int64_t timeout_us);
/* Refuses new requests, rejects those that have not started, waits for runs under way and ends the threads. All requests
 * have ended then; they stay readable until they are released. Once more does nothing. */
LLMC_API llmc_status llmc_batcher_close(llmc_batcher *batcher);
/* Closes it. Requests keep what they need, so that they may be released later. NULL is ignored. */
LLMC_API void llmc_batcher_release(llmc_batcher *batcher);

typedef struct llmc_latency {
  int64_t count;
  int64_t mean_ns, p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns; /* to 3 %, but for the mean */
} llmc_latency;

typedef struct llmc_batch_stats {
  size_t struct_size; /* sizeof(llmc_batch_stats), set by the caller */
  /* Since the batcher was made. A request counts with the model that it was submitted to, a run with the one that ran. */
  int64_t admitted, done, failed, rejected, expired, cancelled;
  int64_t late;                         /* done after their deadline */
  int64_t executions, failed_executions;
  int64_t rows, executed_rows;          /* of executions: asked for, and with padding */
  int64_t cache_hits, cache_misses;
  llmc_latency queue, run, total;       /* submission to start; of executions; submission to end, of those done */
  /* At this moment. */
  int64_t queued_requests, queued_rows, queued_bytes;
  int64_t delay_ns;                     /* as adapted */
} llmc_batch_stats;

LLMC_API int32_t llmc_batcher_num_models(const llmc_batcher *batcher);
/* All numbers are of one moment. */
LLMC_API llmc_status llmc_batcher_stats(const llmc_batcher *batcher, int32_t model, llmc_batch_stats *stats);
/* How many requests of the model ended for a reason, as in "queue_full"; -1 if there is no such reason. */
LLMC_API int64_t llmc_batcher_count(const llmc_batcher *batcher, int32_t model, const char *reason);

typedef enum llmc_latency_kind { LLMC_LATENCY_QUEUE = 0, LLMC_LATENCY_RUN = 1, LLMC_LATENCY_TOTAL = 2 } llmc_latency_kind;

/* One column of a histogram, `index` from 0: how many values of at most *upto_ns, and above the limit of the column before. Each
 * power of two has 32 columns of equal width. LLMC_INVALID_ARGUMENT past the last one. */
LLMC_API llmc_status llmc_batcher_histogram(const llmc_batcher *batcher, int32_t model, llmc_latency_kind kind,
                                            int32_t index, int64_t *upto_ns, int64_t *count);

#ifdef __cplusplus
}
#endif

#endif /* LLMC_LLMC_H */
