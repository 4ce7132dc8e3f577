//===- PlanApi.cpp - C API: loading plans and asking what is in them ----------------------------------------------===//

#include "runtime/api/PlanApi.h"
#include "runtime/api/Boundary.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>
#include <cstring>
#include <string>

using namespace llmc;
using namespace llmc::rt;

int32_t llmc_tensors::find(const char *name) const {
  for (size_t i = 0; name && i < list.size(); ++i)
    if (std::strcmp(list[i].name, name) == 0)
      return int32_t(i);
  return -1;
}

/// The range of a dim, over all bodies of the entry.
static llmc_dim describeDim(const LoadedEntry &entry, const plan::TensorSpec &spec, uint32_t d) {
  bool named = count(spec.dim_names()) > d;
  llmc_dim dim = {-1, named ? spec.dim_names()->Get(d)->c_str() : "", INT64_MAX, 0};
  for (const auto &body : entry.bodies) {
    uint32_t expr = spec.dims()->Get(d);
    const Program::Node &node = body->program.nodes[expr];
    int64_t lo = 0, hi = INT64_MAX;
    if (node.event == kLoadEvent)
      lo = hi = body->loaded.values[expr];
    else if (node.kind == Program::Node::Kind::Symbol) {
      lo = std::max<int64_t>(0, body->program.symbols[node.symbol].lo);
      hi = body->program.symbols[node.symbol].hi;
    }
    dim.lo = std::min(dim.lo, lo);
    dim.hi = std::max(dim.hi, hi);
  }
  if (dim.lo == dim.hi)
    dim.value = dim.lo;
  if (dim.name == std::to_string(dim.value)) // an expression that is a number is no name
    dim.name = "";
  return dim;
}

llmc_tensors llmc::rt::describeTensors(const LoadedEntry &entry, bool inputs) {
  llmc_tensors result;
  const auto *specs = inputs ? entry.spec.inputs() : entry.spec.outputs();
  for (uint32_t i = 0; i < count(specs); ++i) {
    const plan::TensorSpec *spec = specs->Get(i);
    result.list.push_back({spec->name()->c_str(), llmc_type(spec->dtype()), {}});
    for (uint32_t d = 0; d < count(spec->dims()); ++d)
      result.list.back().dims.push_back(describeDim(entry, *spec, d));
  }
  const plan::Batching *batching = inputs ? entry.spec.batching() : nullptr;
  for (uint32_t i = 0; batching && i < count(batching->generated()); ++i)
    result.list[batching->generated()->Get(i)->input()].isGenerated = true;
  return result;
}

/// Options of a caller that may have been compiled with a shorter or longer struct.
static Result<LoadOptions> readOptions(const llmc_plan_options *given) {
  LoadOptions result;
  if (!given)
    return result;
  llmc_plan_options options = {};
  std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  if (options.threads < 0 || options.threads > int32_t(CpuDevice::kMaxThreads))
    return Status(Code::InvalidArgument,
                  concat("threads is ", options.threads, ", expected 0..", CpuDevice::kMaxThreads));
  if (options.shape_cache_size < 0)
    return Status(Code::InvalidArgument, concat("shape_cache_size is ", options.shape_cache_size));
  result.threads = unsigned(options.threads);
  result.verifyConstants = options.verify_constants != 0;
  result.cpuLevel = options.cpu_level ? options.cpu_level : "";
  result.deviceProfile = options.device_profile ? options.device_profile : "";
  if (options.shape_cache_size > 0)
    result.shapeCacheSize = size_t(options.shape_cache_size);
  return result;
}

/// `path` is for messages; null for a plan in memory.
template <typename Open>
static llmc_status loadPlan(const char *path, const llmc_plan_options *given, llmc_plan **plan, Open open) noexcept {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(plan, "plan"));
    *plan = nullptr;
    LLMC_TRY_ASSIGN(LoadOptions options, readOptions(given));
    LLMC_TRY_ASSIGN(std::shared_ptr<const PlanFile> file, open());
    auto loaded = LoadedPlan::load(std::move(file), options);
    if (!loaded.ok())
      return path ? std::move(loaded).status().in(path) : std::move(loaded).status();
    auto result = std::make_unique<llmc_plan>();
    result->loaded = std::move(*loaded);
    for (const auto &entry : result->loaded->entries()) {
      result->inputs.push_back(describeTensors(*entry, true));
      result->outputs.push_back(describeTensors(*entry, false));
    }
    *plan = result.release();
    return {};
  });
}

llmc_status llmc_plan_load(const char *path, const llmc_plan_options *options, llmc_plan **plan) {
  return loadPlan(path, options, plan, [&]() -> Result<std::shared_ptr<const PlanFile>> {
    LLMC_TRY(notNull(path, "path"));
    return PlanFile::open(path);
  });
}

llmc_status llmc_plan_load_memory(const void *bytes, size_t size, const llmc_plan_options *options, llmc_plan **plan) {
  return loadPlan(nullptr, options, plan, [&]() -> Result<std::shared_ptr<const PlanFile>> {
    LLMC_TRY(notNull(bytes, "bytes"));
    return PlanFile::fromMemory({static_cast<const std::byte *>(bytes), size});
  });
}

void llmc_plan_release(llmc_plan *plan) { delete plan; }

const char *llmc_plan_cpu_level(const llmc_plan *plan) { return plan ? plan->loaded->cpuLevel().c_str() : ""; }
int32_t llmc_plan_threads(const llmc_plan *plan) { return plan ? int32_t(plan->loaded->device().threads()) : 0; }
int32_t llmc_plan_num_entries(const llmc_plan *plan) { return plan ? int32_t(plan->inputs.size()) : 0; }

const char *llmc_plan_entry_name(const llmc_plan *plan, int32_t entry) {
  return plan && plan->has(entry) ? plan->loaded->entries()[size_t(entry)]->spec.name()->c_str() : nullptr;
}

int32_t llmc_plan_find_entry(const llmc_plan *plan, const char *name) {
  for (int32_t i = 0; name && i < llmc_plan_num_entries(plan); ++i)
    if (std::strcmp(llmc_plan_entry_name(plan, i), name) == 0)
      return i;
  return -1;
}

const char *llmc_plan_batch_dim(const llmc_plan *plan, int32_t entry) {
  if (!plan || !plan->has(entry))
    return "";
  const plan::Batching *batching = plan->loaded->entries()[size_t(entry)]->spec.batching();
  return batching ? batching->dim()->c_str() : "";
}

int32_t llmc_plan_num_inputs(const llmc_plan *plan, int32_t entry) {
  return plan && plan->has(entry) ? int32_t(plan->inputs[size_t(entry)].list.size()) : -1;
}

int32_t llmc_plan_num_outputs(const llmc_plan *plan, int32_t entry) {
  return plan && plan->has(entry) ? int32_t(plan->outputs[size_t(entry)].list.size()) : -1;
}

int32_t llmc_plan_find_input(const llmc_plan *plan, int32_t entry, const char *name) {
  return plan && plan->has(entry) ? plan->inputs[size_t(entry)].find(name) : -1;
}

int32_t llmc_plan_find_output(const llmc_plan *plan, int32_t entry, const char *name) {
  return plan && plan->has(entry) ? plan->outputs[size_t(entry)].find(name) : -1;
}

static llmc_status tensorInfo(const llmc_plan *plan, int32_t entry, int32_t index, bool input, llmc_tensor_info *info) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(plan, "plan"));
    LLMC_TRY(notNull(info, "info"));
    if (!plan->has(entry))
      return {Code::InvalidArgument, concat("there is no entry ", entry, " among ", plan->inputs.size())};
    const llmc_tensors &tensors = (input ? plan->inputs : plan->outputs)[size_t(entry)];
    if (index < 0 || size_t(index) >= tensors.list.size())
      return {Code::InvalidArgument,
              concat("there is no ", input ? "input " : "output ", index, " among ", tensors.list.size())};
    const llmc_tensors::Tensor &tensor = tensors.list[size_t(index)];
    llmc_tensor_info result = {info->struct_size,           tensor.name,        tensor.type,
                               int32_t(tensor.dims.size()), tensor.dims.data(), tensor.isGenerated};
    std::memcpy(info, &result, std::min(info->struct_size, sizeof result));
    return {};
  });
}

llmc_status llmc_plan_input(const llmc_plan *plan, int32_t entry, int32_t index, llmc_tensor_info *info) {
  return tensorInfo(plan, entry, index, true, info);
}

llmc_status llmc_plan_output(const llmc_plan *plan, int32_t entry, int32_t index, llmc_tensor_info *info) {
  return tensorInfo(plan, entry, index, false, info);
}
