/* Runs a compiled model from C: every input filled with ones, open dims set to 1, the first values of each output printed.
 *   run-c MODEL.llmc */
#include "llmc/llmc.h"
#include <stdio.h>
#include <stdlib.h>

enum { MAX_RANK = 8 };

static void must(llmc_status status) {
  if (status == LLMC_OK)
    return;
  fprintf(stderr, "error: %s: %s\n", llmc_status_name(status), llmc_last_error());
  exit(1);
}

/* A tensor of ones, f32 or integers, that fits `info`. The session reads it in place. */
static void *set_ones(llmc_session *session, int32_t index, const llmc_tensor_info *info) {
  int64_t dims[MAX_RANK];
  size_t count = 1, width = llmc_type_size(info->type);
  for (int32_t i = 0; i < info->rank; ++i) {
    dims[i] = info->dims[i].value >= 0 ? info->dims[i].value : 1;
    count *= (size_t)dims[i];
  }
  unsigned char *data = calloc(count + 1, width);
  if (!data)
    exit(1);
  for (size_t i = 0; i < count; ++i) {
    if (info->type == LLMC_TYPE_F32)
      ((float *)(void *)data)[i] = 1;
    else
      data[i * width] = 1; /* integers, little-endian */
  }
  must(llmc_session_set_input(session, index, info->type, dims, info->rank, data, count * width));
  return data;
}

int main(int argc, char **argv) {
  llmc_plan *plan;
  llmc_session *session;
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL.llmc\n", argv[0]);
    return 2;
  }
  must(llmc_plan_load(argv[1], NULL, &plan));
  must(llmc_session_create(plan, 0, &session));
  int32_t inputs = llmc_plan_num_inputs(plan, 0);
  void **data = calloc((size_t)inputs + 1, sizeof *data);
  for (int32_t i = 0; data && i < inputs; ++i) {
    llmc_tensor_info info = {.struct_size = sizeof info};
    must(llmc_plan_input(plan, 0, i, &info));
    data[i] = set_ones(session, i, &info);
  }
  must(llmc_session_run(session));
  for (int32_t i = 0; i < llmc_plan_num_outputs(plan, 0); ++i) {
    llmc_tensor_info info = {.struct_size = sizeof info};
    llmc_tensor_view view = {.struct_size = sizeof view};
    must(llmc_plan_output(plan, 0, i, &info));
    must(llmc_session_output(session, i, &view));
    printf("%s:", info.name);
    for (size_t k = 0; view.type == LLMC_TYPE_F32 && k < view.size / sizeof(float) && k < 8; ++k)
      printf(" %g", ((const float *)view.data)[k]);
    printf("\n");
  }
  llmc_session_release(session);
  llmc_plan_release(plan);
  for (int32_t i = 0; data && i < inputs; ++i)
    free(data[i]);
  free(data);
  return 0;
}
