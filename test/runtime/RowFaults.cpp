//===- RowFaults.cpp - row-faults: a batch with one row that a kernel refuses -------------------------------------===//
//
// row-faults ARTIFACT INPUT VALUE: runs 8 rows with VALUE as the last element of row 5 of INPUT, an integer tensor with rows along axis
// 0. The run fails without marks of rows. With them only row 5 does, all others have the bits of runs alone. Prints the row's error.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/exec/Session.h"
#include "runtime/plan/verify/Verify.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace llmc;
using namespace llmc::rt;

namespace {

constexpr int64_t kRows = 8, kBadRow = 5;

void require(bool holds, const char *what) {
  if (!holds) {
    std::printf("FAIL %s\n", what);
    std::exit(1);
  }
}

struct Input {
  plan::DType type;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
  size_t rowBytes = 0;
};

/// Integers are 1, 2 or 3.
void put(plan::DType type, int64_t number, std::byte *to) {
  if (type == plan::DType::F32) {
    float value = float(number) / 7;
    std::memcpy(to, &value, sizeof value);
  } else {
    int64_t value = 1 + number % 3;
    std::memcpy(to, &value, size_t(elementSize(type)));
  }
}

std::vector<Input> makeInputs(const plan::EntryPoint &spec, std::string_view badInput, int64_t bad) {
  std::vector<Input> inputs;
  for (uint32_t i = 0; i < spec.inputs()->size(); ++i) {
    const plan::TensorSpec *tensor = spec.inputs()->Get(i);
    Input input = {tensor->dtype(), {}, {}};
    size_t size = size_t(elementSize(input.type)), elements = 1;
    for (const flatbuffers::String *name : *tensor->dim_names())
      input.dims.push_back(name->str() == "N" ? kRows : std::atoll(name->c_str()));
    for (int64_t dim : input.dims)
      elements *= size_t(dim);
    input.bytes.resize(elements * size);
    for (size_t e = 0; e < elements; ++e)
      put(input.type, int64_t(e) * (i + 3), input.bytes.data() + e * size);
    bool hasRows = spec.batching()->input_axes()->Get(i) != kNone;
    input.rowBytes = hasRows ? input.bytes.size() / kRows : 0;
    if (text(tensor->name()) == badInput)
      std::memcpy(input.bytes.data() + (kBadRow + 1) * input.rowBytes - size, &bad, size);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

/// Rows [first, first + count).
Status run(Session &session, const std::vector<Input> &inputs, int64_t first, int64_t rows) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Input &input = inputs[i];
    std::vector<int64_t> dims = input.dims;
    std::span<const std::byte> bytes = input.bytes;
    if (input.rowBytes) {
      dims[0] = rows;
      bytes = bytes.subspan(size_t(first) * input.rowBytes, size_t(rows) * input.rowBytes);
    }
    LLMC_TRY(session.setInput(i, input.type, dims, bytes));
  }
  return session.run();
}

void checkRows(std::shared_ptr<LoadedPlan> plan, std::string_view badInput, int64_t bad) {
  Session together(plan, 0), alone(plan, 0);
  std::vector<Input> inputs = makeInputs(together.spec(), badInput, bad);
  require(run(together, inputs, 0, kRows).code() == Code::Data, "the run fails without marks");
  together.setRowFaults(true);
  Status status = run(together, inputs, 0, kRows);
  require(status.ok(), status.message().c_str());
  require(together.rowFaults().size() == 1 && together.rowFaults()[0].row == kBadRow, "one row is at fault");
  require(together.rowFaults()[0].status.code() == Code::Data, "its fault is its data");
  for (int64_t row = 0; row < kRows; ++row) {
    Status single = run(alone, inputs, row, 1);
    require(single.ok() == (row != kBadRow), "alone, the same row fails");
    std::span<const std::byte> all = together.outputData(0), one = alone.outputData(0);
    size_t bytes = all.size() / kRows;
    require(row == kBadRow || (one.size() == bytes && std::memcmp(all.data() + size_t(row) * bytes, one.data(), bytes) == 0),
            "a row has the bits of the row alone");
  }
  std::printf("%s\n", together.rowFaults()[0].status.message().c_str());
  require(run(together, inputs, 0, kBadRow).ok() && together.rowFaults().empty(), "rows without a fault have none");
  together.setRowFaults(false);
  require(run(together, inputs, 0, kRows).code() == Code::Data, "the run fails without marks again");
}

} // namespace

int main(int argc, char **argv) {
  require(argc == 4, "usage: row-faults ARTIFACT INPUT VALUE");
  auto file = PlanFile::open(argv[1]);
  require(file.ok(), file.status().message().c_str());
  for (unsigned threads : {1u, 2u}) {
    LoadOptions options;
    options.threads = threads;
    auto plan = LoadedPlan::load(*file, options);
    require(plan.ok(), plan.status().message().c_str());
    checkRows(*plan, argv[2], std::atoll(argv[3]));
  }
  return 0;
}
