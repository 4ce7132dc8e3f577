//===- PlanApi.h - What the opaque handles are --------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_API_PLANAPI_H
#define LLMC_RUNTIME_API_PLANAPI_H

#include "llmc/llmc.h"
#include "runtime/exec/Session.h"

/// Descriptions of an entry's inputs or outputs, in the form in which the C API gives them out.
struct llmc_tensors {
  struct Tensor {
    const char *name;
    llmc_type type;
    std::vector<llmc_dim> dims;
    bool isGenerated = false;
  };
  std::vector<Tensor> list;
  int32_t find(const char *name) const;
};

struct llmc_plan {
  std::shared_ptr<llmc::rt::LoadedPlan> loaded;
  std::vector<llmc_tensors> inputs, outputs; // per entry
  bool has(int32_t entry) const { return entry >= 0 && size_t(entry) < inputs.size(); }
};

struct llmc_profile; // ProfileApi.cpp
struct ProfileDeleter {
  void operator()(llmc_profile *profile) const;
};

struct llmc_session {
  llmc_session(const llmc_plan &plan, int32_t entry)
      : session(plan.loaded, uint32_t(entry)), inputs(plan.inputs[size_t(entry)]),
        outputs(plan.outputs[size_t(entry)]) {}
  llmc::rt::Session session;
  llmc_tensors inputs, outputs; // copies: the plan may be released first; names lie in the plan's file, which is shared
  std::unique_ptr<llmc_profile, ProfileDeleter> profile;
};

namespace llmc::rt {
/// Fills in `tensors` from the specs of an entry.
llmc_tensors describeTensors(const LoadedEntry &entry, bool inputs);
} // namespace llmc::rt

#endif // LLMC_RUNTIME_API_PLANAPI_H
