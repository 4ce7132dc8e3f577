/* Runs an artifact with inputs x and b, f32[1,4], and prints its output: a program that has only the runtime library. */
#include "llmc/llmc.h"
#include <stdio.h>

int main(int argc, char **argv) {
  llmc_plan *plan;
  llmc_session *session;
  const float x[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40};
  const int64_t dims[2] = {1, 4};
  llmc_tensor_view view = {sizeof view};
  if (argc != 2 || llmc_plan_load(argv[1], NULL, &plan) != LLMC_OK || llmc_session_create(plan, 0, &session) != LLMC_OK ||
      llmc_session_set_input_by_name(session, "x", LLMC_TYPE_F32, dims, 2, x, sizeof x) != LLMC_OK ||
      llmc_session_set_input_by_name(session, "b", LLMC_TYPE_F32, dims, 2, b, sizeof b) != LLMC_OK ||
      llmc_session_run(session) != LLMC_OK || llmc_session_output_by_name(session, "y", &view) != LLMC_OK) {
    fprintf(stderr, "%s\n", llmc_last_error());
    return 1;
  }
  const float *y = view.data;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  llmc_session_release(session);
  llmc_plan_release(plan);
  return 0;
}
