//===- PlanRewrite.h - Another plan for the same segments ---------------------------------------------------------===//
#ifndef LLMC_TOOLS_COMMON_PLANREWRITE_H
#define LLMC_TOOLS_COMMON_PLANREWRITE_H

#include "runtime/plan/PlanFile.h"

namespace llmc::tools {

/// Puts `plan` in the place of the plan of the artifact at `path`, of which `file` is the mapping. Segments keep their bytes, and their
/// places too unless the plan outgrows the room in front of them. The new file is verified, and then replaces the old one as a whole.
void rewritePlan(const std::string &path, const rt::PlanFile &file, plan::PlanT &plan);

} // namespace llmc::tools

#endif // LLMC_TOOLS_COMMON_PLANREWRITE_H
