//===- PlanTool.h - The parts of llmc-plan ------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_PLAN_PLANTOOL_H
#define LLMC_TOOLS_LLMC_PLAN_PLANTOOL_H

#include "runtime/plan/PlanFile.h"
#include <iosfwd>
#include <nlohmann/json.hpp>

namespace llmc::tools {

using Json = nlohmann::ordered_json;

/// All that is in a plan, with expressions, buffers and kernels spelled out.
Json describePlan(const rt::PlanFile &file);
/// That description as text.
void printPlan(const Json &description, std::ostream &out);
/// Everything that loading checks, on any machine: all bodies, all variants, all hashes.
rt::Status checkPlan(const rt::PlanFile &file);

} // namespace llmc::tools

#endif // LLMC_TOOLS_LLMC_PLAN_PLANTOOL_H
