//===- Module.cpp - The extension behind the Python package -------------------------------------------------------===//
//
// What needs the C API or the GIL; the package's Python says how it is used.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "Batcher.h"
#include "Gil.h"
#include "Runner.h"
#include "Types.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace llmc::python {

/// llmc::Error -> the class of llmc.errors that its status has.
static void translate(const std::exception_ptr &exception, void *) {
  InCall call;
  try {
    std::rethrow_exception(exception);
  } catch (const Error &error) {
    nb::object made = nb::module_::import_("llmc.errors").attr("make")(int(error.status()), error.what());
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

/// A file's name, or the bytes of an artifact, which are kept.
static std::unique_ptr<Runner> load(nb::object source, const std::string &entry, int threads,
                                    const std::string &cpuLevel, bool verify, int shapeCacheSize,
                                    const std::string &deviceProfile) {
  Options options = {threads, cpuLevel, verify, shapeCacheSize, deviceProfile};
  if (std::string path; nb::try_cast(source, path)) {
    Plan plan = [&] {
      WithoutGil free;
      return Plan(path, options);
    }();
    return std::make_unique<Runner>(std::move(plan), entry, nb::object());
  }
  using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  Bytes bytes;
  if (!nb::try_cast(source, bytes))
    throw nb::type_error("an artifact is the name of a file, or bytes");
  return std::make_unique<Runner>(Plan({reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()}, options),
                                  entry, nb::cast(std::move(bytes)));
}

/// (name, dtype, ((dim's name, size, low, high), ...), generated) of each.
static nb::list describe(const Runner &runner, bool inputs) {
  const Plan &plan = runner.loaded();
  int entry = runner.entryIndex();
  nb::list result;
  for (int i = 0; i < (inputs ? plan.numInputs(entry) : plan.numOutputs(entry)); ++i) {
    TensorInfo info = inputs ? plan.input(i, entry) : plan.output(i, entry);
    nb::list dims;
    for (const llmc_dim &dim : info.dims)
      dims.append(nb::make_tuple(dim.name, dim.value, dim.lo, dim.hi));
    result.append(nb::make_tuple(info.name, dtypeOf(info.type).name, nb::tuple(dims), info.isGenerated));
  }
  return result;
}

static nb::list run(Runner &runner, const nb::list &given) {
  runner.guard().check("the model");
  const Plan &plan = runner.loaded();
  int expected = plan.numInputs(runner.entryIndex());
  if (nb::len(given) != size_t(expected))
    throw Error(LLMC_INVALID_ARGUMENT,
                "there are " + std::to_string(nb::len(given)) + " inputs, expected " + std::to_string(expected));
  std::vector<Input> inputs;
  for (int i = 0; i < expected; ++i)
    inputs.push_back(readInput(given[size_t(i)], plan.input(i, runner.entryIndex()).name));
  std::vector<Tensor> outputs;
  {
    WithoutGil free;
    outputs = runner.run(inputs);
  }
  nb::list result;
  for (Tensor &output : outputs)
    result.append(nb::cast(std::move(output)));
  return result;
}

static void defineRunner(nb::module_ &module) {
  nb::class_<Runner>(module, "Runner", "One entry of a loaded artifact.")
      .def("run", &run, "inputs"_a, nb::call_guard<InCall>(),
           nb::sig("def run(self, inputs: list[object]) -> list[Tensor]"), "Runs it on the inputs in their order.")
      .def(
          "inputs", [](const Runner &self) { return describe(self, true); },
          nb::sig("def inputs(self) -> list[tuple[str, str, tuple[tuple[str, int, int, int], ...], bool]]"),
          "Name, dtype and dims (name, size or -1, least, greatest) of each input.")
      .def(
          "outputs", [](const Runner &self) { return describe(self, false); },
          nb::sig("def outputs(self) -> list[tuple[str, str, tuple[tuple[str, int, int, int], ...], bool]]"),
          "The same of outputs.")
      .def_prop_ro(
          "entry", [](const Runner &self) { return self.loaded().entryName(self.entryIndex()); }, "Its name.")
      .def_prop_ro(
          "batch_dim", [](const Runner &self) { return self.loaded().batchDim(self.entryIndex()); },
          "Name of the dim that the plan batches; '' if it says of none.")
      .def_prop_ro(
          "threads", [](const Runner &self) { return self.loaded().threads(); }, "Threads of each run.")
      .def_prop_ro(
          "cpu_level", [](const Runner &self) { return self.loaded().cpuLevel(); }, "Level of the code in use.");
}

} // namespace llmc::python

NB_MODULE(_llmc, module) {
  using namespace llmc::python;
  nb::register_exception_translator(&translate);
  module.doc() = "The runtime behind the package llmc.";
  module.def("version", &llmc_version, "Version of the runtime, as in '0.1.0'.");
  module.def("host_cpu_level", &llmc_host_cpu_level,
             "The greatest CPU level that this machine has, as in 'x86-64-v3'.");
  watchInterpreter();
  Tensor::define(module);
  defineRunner(module);
  Batcher::define(module);
  module.def("load", &load, nb::call_guard<InCall>(), "source"_a, "entry"_a, "threads"_a, "cpu_level"_a, "verify"_a,
             "shape_cache_size"_a, "device_profile"_a,
             nb::sig("def load(source: str | object, entry: str, threads: int, cpu_level: str, verify: bool, "
                     "shape_cache_size: int, device_profile: str) -> Runner"),
             "Loads an artifact.");
}
