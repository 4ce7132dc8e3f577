//===- DropEach.cpp - Whether all copies and waits of an artifact are needed --------------------------------------===//
//
// drop-each FILE: leaves out each copy between devices and each wait in turn. Each time the runtime must refuse the plan.
// The signals and waits of a copy go to its neighbours, so that its absence is all there is to notice.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/plan/ShapeState.h"
#include "runtime/plan/verify/Verify.h"
#include <iostream>
#include <map>
#include <stdexcept>

using namespace llmc;

using Steps = std::vector<std::unique_ptr<plan::StepT>>;

/// All that loading checks of the structure, without the segments behind it.
static rt::Status check(const plan::PlanT &object, const ContainerHeader &header) {
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::Plan::Pack(builder, &object));
  const plan::Plan &plan = *plan::GetPlan(builder.GetBufferPointer());
  LLMC_TRY(rt::verifyPlan({plan, header}));
  std::vector<uint32_t> variants(rt::count(plan.executables()), 0);
  LLMC_TRY_ASSIGN(rt::Program program, rt::decodeProgram(plan, *plan.entries()->Get(0), *plan.entries()->Get(0)->bodies()->Get(0), variants));
  rt::ShapeState state(program);
  std::vector<rt::BlockError> blockErrors;
  LLMC_TRY(rt::resolveEvent(program, rt::kLoadEvent, state, &blockErrors));
  return program.placementEvent == rt::kLoadEvent ? rt::placeBuffers(program, state, blockErrors) : rt::Status();
}

static void removeCopy(Steps &steps, size_t at) {
  std::unique_ptr<plan::StepT> copy = std::move(steps[at]);
  steps.erase(steps.begin() + long(at));
  for (size_t next = at; next < steps.size(); ++next)
    if (steps[next]->queue == copy->queue) {
      steps[next]->wait.insert(steps[next]->wait.end(), copy->wait.begin(), copy->wait.end());
      break;
    }
  for (size_t before = at; before-- > 0;)
    if (steps[before]->queue == copy->queue) {
      steps[before]->signal.insert(steps[before]->signal.end(), copy->signal.begin(), copy->signal.end());
      break;
    }
}

int main(int argc, char **argv) try {
  if (argc != 2)
    throw std::runtime_error("usage: drop-each FILE");
  auto file = rt::PlanFile::open(argv[1]);
  if (!file.ok())
    throw std::runtime_error(file.status().message());
  plan::PlanT original;
  (*file)->plan().UnPackTo(&original);
  if (rt::Status status = check(original, (*file)->header()); !status.ok())
    throw std::runtime_error(status.message());
  std::map<std::string, int> refusals; // by rule
  int accepted = 0;
  auto attempt = [&](const std::string &what, size_t block, auto change) {
    plan::PlanT changed(original);
    change(changed.entries[0]->bodies[0]->blocks[block]->steps);
    rt::Status status = check(changed, (*file)->header());
    ++(status.ok() ? accepted : refusals[status.rule()]);
    if (status.ok())
      std::cout << "accepted without " << what << '\n';
  };
  for (size_t b = 0; b < original.entries[0]->bodies[0]->blocks.size(); ++b) {
    const Steps &steps = original.entries[0]->bodies[0]->blocks[b]->steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      std::string where = rt::concat(" of step ", i, " of block ", b);
      if (steps[i]->queue != 0 && steps[i]->body.AsCopy())
        attempt("the copy" + where, b, [&](Steps &list) { removeCopy(list, i); });
      for (size_t w = 0; w < steps[i]->wait.size(); ++w)
        attempt(rt::concat("wait ", w, where), b, [&](Steps &list) { list[i]->wait.erase(list[i]->wait.begin() + long(w)); });
    }
  }
  for (auto &[rule, count] : refusals)
    std::cout << count << " refused by " << rule << ", ";
  std::cout << accepted << " accepted\n";
  return accepted == 0 && !refusals.empty() ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << "drop-each: " << error.what() << '\n';
  return 1;
}
