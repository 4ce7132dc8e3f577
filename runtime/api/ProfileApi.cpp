//===- ProfileApi.cpp - C API: what each step took ----------------------------------------------------------------===//

#include "runtime/api/Boundary.h"
#include "runtime/api/PlanApi.h"
#include "runtime/plan/verify/Verify.h"

using namespace llmc;
using namespace llmc::rt;

static const char *kindName(Program::StepKind kind) {
  static const char *const names[] = {"Dispatch", "Copy", "Fill", "If", "Loop", "ReadScalar", "Check", "Barrier"};
  return names[size_t(kind)];
}

static uint64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

/// The caller's callback behind the executor's hook.
struct llmc_profile {
  llmc_profile_callback callback;
  void *user;
  std::vector<const char *> sources;

  static void forward(void *self, const ProfileEvent &event) { static_cast<llmc_profile *>(self)->report(event); }

  void report(const ProfileEvent &event) {
    llmc_profile_event result = {sizeof result,
                                 kindName(event.step->kind),
                                 "",
                                 nullptr,
                                 0,
                                 int32_t(event.workers),
                                 int32_t(event.step->position),
                                 nanoseconds(event.begin),
                                 nanoseconds(event.end)};
    sources.clear();
    if (event.step->info != kNone) {
      const plan::StepInfo *info = event.program->plan->step_infos()->Get(event.step->info);
      result.op = info->op()->c_str();
      for (uint32_t i = 0; i < count(info->source_ops()); ++i)
        sources.push_back(info->source_ops()->Get(i)->c_str());
    }
    result.sources = sources.data();
    result.num_sources = int32_t(sources.size());
    callback(user, &result);
  }
};

llmc_status llmc_session_set_profile(llmc_session *session, llmc_profile_callback callback, void *user) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    session->profile.reset(callback ? new llmc_profile{callback, user, {}} : nullptr);
    session->session.setProfile({callback ? &llmc_profile::forward : nullptr, session->profile.get()});
    return {};
  });
}

void ProfileDeleter::operator()(llmc_profile *profile) const { delete profile; }
