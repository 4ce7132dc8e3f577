/* The C API from C, as an application would use it: the header is C11, and the answer is right. */
#include "llmc/llmc.h"
#include <stdio.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, llmc_last_error());
  return 1;
}

static void on_step(void *user, const llmc_profile_event *event) { *(int *)user += event->end_ns >= event->begin_ns; }

int main(int argc, char **argv) {
  llmc_plan_options options = {sizeof options, 1, 1, NULL, 0, NULL};
  llmc_plan *plan;
  llmc_session *session;
  float a[8] = {1, -2, 3, -4, 5, -6, 7, -8}, b[8] = {1, 1, 1, 1, 1, 1, 1, 1}, expected[8] = {2, 0, 4, 0, 6, 0, 8, 0};
  int64_t dims[2] = {2, 4};
  llmc_tensor_view view = {.struct_size = sizeof view};
  int steps = 0;
  if (argc != 2 || llmc_plan_load(argv[1], &options, &plan) != LLMC_OK)
    return fail("load");
  if (llmc_session_create(plan, 0, &session) != LLMC_OK)
    return fail("session");
  llmc_plan_release(plan);
  if (llmc_session_set_input_by_name(session, "a", LLMC_TYPE_F32, dims, 2, a, sizeof a) != LLMC_OK ||
      llmc_session_set_input_by_name(session, "b", LLMC_TYPE_F32, dims, 2, b, sizeof b) != LLMC_OK ||
      llmc_session_set_profile(session, on_step, &steps) != LLMC_OK || llmc_session_run(session) != LLMC_OK ||
      llmc_session_output_by_name(session, "y", &view) != LLMC_OK)
    return fail("run");
  if (view.rank != 2 || view.dims[0] != 2 || view.size != sizeof expected ||
      memcmp(view.data, expected, view.size) != 0)
    return fail("wrong answer");
  if (steps != 2)
    return fail("wrong number of steps");
  llmc_session_release(session);
  return 0;
}
