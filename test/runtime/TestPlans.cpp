//===- TestPlans.cpp - Plans that several tests use ---------------------------------------------------------------===//

#include "test/runtime/PlanBuilder.h"

namespace llmc::test {

using plan::DType;

PlanBuilder addReluPlan(std::vector<int> levels, bool openPlacement) {
  PlanBuilder b(levels);
  uint32_t n = b.inputDim("batch", 0, 0, 1, 64), four = b.constant(4), elements = b.mul(n, four);
  uint32_t bytes = b.mul(elements, four);
  uint32_t x = b.input("a", DType::F32, {n, four}, bytes, {"batch", ""});
  uint32_t y = b.input("b", DType::F32, {n, four}, bytes, {"batch", ""});
  uint32_t sum = b.arena(DType::F32, bytes, openPlacement ? kNone : b.constant(64), "sum");
  uint32_t out = b.output("y", DType::F32, {n, four}, bytes);
  b.dispatch("add", {x, y, sum}, {elements}, "Add_0");
  b.dispatch("relu", {sum, out}, {elements}, "Relu_1");
  return b;
}

PlanBuilder batchedPlan() {
  PlanBuilder b = addReluPlan();
  plan::EntryPointT &entry = *b.parts.plan.entries[0];
  for (auto &input : entry.inputs)
    input->dim_names = {"batch", "length"};
  entry.outputs[0]->dim_names = {"batch", "length"};
  auto batching = std::make_unique<plan::BatchingT>();
  batching->dim = "batch";
  batching->input_axes = {0, 0};
  batching->output_axes = {0};
  batching->sizes = {1, 4, 8};
  batching->row_proof = "by test";
  batching->buckets.push_back(std::make_unique<plan::BucketDimT>());
  batching->buckets[0]->name = "length";
  batching->buckets[0]->edges = {2, 4};
  batching->buckets[0]->input_axes = {kNone, 1};
  batching->buckets[0]->output_axes = {1};
  batching->buckets[0]->proof = "by test";
  batching->pads.push_back(std::make_unique<plan::PadT>());
  batching->pads[0]->input = 1;
  batching->pads[0]->value = {0, 0, 128, 63};
  batching->costs = {1, 2, 3, 4, 5, 6};
  batching->cost_level = "x86-64-v2";
  batching->cost_threads = 1;
  entry.batching = std::move(batching);
  return b;
}

PlanBuilder packedPlan() {
  PlanBuilder b;
  uint32_t rows = b.inputDim("T", 0, 0, 1, 64), requests = b.inputDim("N", 1, 0, 1, 8), zero = b.constant(0);
  uint32_t rowBytes = b.mul(rows, b.constant(4)), requestBytes = b.mul(requests, b.constant(8));
  uint32_t x = b.input("x", DType::F32, {rows}, rowBytes),
           counts = b.input("counts", DType::I64, {requests}, requestBytes);
  uint32_t y = b.output("y", DType::F32, {rows}, rowBytes), n = b.output("n", DType::I64, {requests}, requestBytes);
  b.copy(x, zero, y, zero, rowBytes);
  b.copy(counts, zero, n, zero, requestBytes);
  plan::EntryPointT &entry = *b.parts.plan.entries[0];
  entry.inputs[0]->dim_names = entry.outputs[0]->dim_names = {"T"};
  entry.inputs[1]->dim_names = entry.outputs[1]->dim_names = {"N"};
  auto batching = std::make_unique<plan::BatchingT>();
  batching->dim = "T";
  batching->input_axes = batching->output_axes = {0, kNone};
  batching->request_input_axes = {kNone, kNone};
  batching->request_output_axes = {kNone, 0};
  batching->sizes = {1, 8, 64};
  batching->row_proof = "by test";
  batching->generated.push_back(std::make_unique<plan::GeneratedT>());
  batching->generated[0]->input = 1;
  batching->generated[0]->kind = plan::GeneratedKind::COUNT;
  entry.batching = std::move(batching);
  return b;
}

PlanBuilder twoDevicesPlan() {
  PlanBuilder b;
  uint32_t left = b.addDevice("left", plan::DeviceKind::SIM, 0), right = b.addDevice("right", plan::DeviceKind::SIM, 1);
  b.body().semaphores = 1;
  uint32_t four = b.constant(4), bytes = b.constant(16), zero = b.constant(0);
  uint32_t x = b.input("a", DType::F32, {four}, bytes), y = b.input("b", DType::F32, {four}, bytes);
  uint32_t out = b.output("y", DType::F32, {four}, bytes);
  uint32_t xLeft = b.arenaOn(left, DType::F32, bytes), yLeft = b.arenaOn(left, DType::F32, bytes);
  uint32_t sumLeft = b.arenaOn(left, DType::F32, bytes), sumRight = b.arenaOn(right, DType::F32, bytes);
  uint32_t result = b.arenaOn(right, DType::F32, bytes);
  b.copy(x, zero, xLeft, zero, bytes).queue = left;
  b.copy(y, zero, yLeft, zero, bytes).queue = left;
  plan::StepT &sum = b.dispatch("add", {xLeft, yLeft, sumLeft}, {four}, "Add_0");
  sum.queue = left;
  sum.signal.emplace_back(0, 0, 1);
  plan::StepT &cross = b.copy(sumLeft, zero, sumRight, zero, bytes);
  cross.queue = right;
  cross.wait.emplace_back(0, 0, 1);
  b.dispatch("relu", {sumRight, result}, {four}, "Relu_1").queue = right;
  b.copy(result, zero, out, zero, bytes).queue = right;
  return b;
}

PlanBuilder compressPlan() {
  PlanBuilder b;
  uint32_t n = b.inputDim("n", 0, 0, 0, 1000), four = b.constant(4), eight = b.constant(8), zero = b.constant(0);
  uint32_t x = b.input("x", DType::F32, {n}, b.mul(n, four));
  uint32_t number = b.arena(DType::I64, eight);
  uint32_t count = b.readSymbol("count", 0, 1000), bytes = b.mul(count, four);
  uint32_t kept = b.arena(DType::F32, bytes, kNone, "kept");
  uint32_t y = b.output("y", DType::F32, {count}, bytes);
  b.dispatch("count_positive", {x, number}, {n}, "NonZero_0");
  b.readScalar(number, zero, count);
  b.dispatch("compress", {x, kept}, {n, count}, "Compress_1");
  b.dispatch("relu", {kept, y}, {count}, "Relu_2");
  return b;
}

/// acc = x; three times: acc = acc + relu(acc + acc), with the sum in the middle on "left", relu on "right"; y = acc.
PlanBuilder deviceLoopPlan() {
  PlanBuilder b;
  uint32_t left = b.addDevice("left", plan::DeviceKind::SIM, 0), right = b.addDevice("right", plan::DeviceKind::SIM, 1);
  b.body().semaphores = 2;
  uint32_t four = b.constant(4), bytes = b.constant(16), trips = b.constant(3), zero = b.constant(0);
  uint32_t x = b.input("x", DType::F32, {four}, bytes), y = b.output("y", DType::F32, {four}, bytes);
  uint32_t acc = b.arena(DType::F32, bytes, kNone, "acc"), body = b.newBlock();
  plan::LoopT loop;
  loop.trip = trips;
  loop.max_trip = 8;
  loop.body_block = body;
  loop.carried_init = {x};
  loop.carried_out = {acc};
  b.inBlock(body);
  uint32_t fourHere = b.constant(4), bytesHere = b.constant(16), zeroHere = b.constant(0);
  uint32_t now = b.view(DType::F32, acc, zeroHere, bytesHere);
  uint32_t onLeft = b.arenaOn(left, DType::F32, bytesHere), sum = b.arenaOn(left, DType::F32, bytesHere);
  uint32_t onRight = b.arenaOn(right, DType::F32, bytesHere), cut = b.arenaOn(right, DType::F32, bytesHere);
  uint32_t back = b.arena(DType::F32, bytesHere, kNone, "back"), next = b.arena(DType::F32, bytesHere, kNone, "next");
  b.copy(now, zeroHere, onLeft, zeroHere, bytesHere).queue = left;
  plan::StepT &add = b.dispatch("add", {onLeft, onLeft, sum}, {fourHere});
  add.queue = left;
  add.signal.emplace_back(0, 0, 1);
  plan::StepT &across = b.copy(sum, zeroHere, onRight, zeroHere, bytesHere);
  across.queue = right;
  across.wait.emplace_back(0, 0, 1);
  b.dispatch("relu", {onRight, cut}, {fourHere}).queue = right;
  plan::StepT &home = b.copy(cut, zeroHere, back, zeroHere, bytesHere);
  home.queue = right;
  home.signal.emplace_back(1, 0, 1);
  b.dispatch("add", {now, back, next}, {fourHere}).wait.emplace_back(1, 0, 1);
  loop.carried_yield = {next};
  b.inBlock(0);
  b.loop(std::move(loop));
  b.copy(acc, zero, y, zero, bytes);
  return b;
}

/// Sums a row of `steps` picks from a table into y, by a loop; then, if `flag`, doubles it, else clears it:
///   acc = 0; for (t = 0; t < steps; ++t) acc = acc + table[t]; y = flag ? acc + acc : 0
/// table: a constant f32[8, 4]; steps: an i64 input read at run time, 0..8; flag: a bool input.
PlanBuilder everythingPlan() {
  PlanBuilder b;
  uint32_t one = b.constant(1), four = b.constant(4), eight = b.constant(8), sixteen = b.constant(16);
  uint32_t zero = b.constant(0);
  uint32_t stepsIn = b.input("steps", DType::I64, {}, eight);
  uint32_t flag = b.input("flag", DType::BOOL, {}, one);
  std::vector<float> values(32);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  uint32_t table = b.weights("table", DType::F32, values);
  uint32_t start = b.arena(DType::F32, sixteen, kNone, "start");
  uint32_t acc = b.arena(DType::F32, sixteen, kNone, "acc");
  uint32_t y = b.output("y", DType::F32, {four}, sixteen);
  b.fill(start, 0, 4);
  uint32_t trips = b.readSymbol("trips", INT64_MIN, INT64_MAX);
  b.readScalar(stepsIn, zero, trips);
  b.check(trips, plan::Cmp::GE, 0, "steps must not be negative");

  uint32_t body = b.newBlock(), thenBlock = b.newBlock(), elseBlock = b.newBlock();
  plan::LoopT loop;
  loop.trip = trips;
  loop.max_trip = 8;
  loop.body_block = body;
  loop.arguments = {sixteen};
  loop.carried_init = {start};
  loop.carried_out = {acc};
  loop.iteration = 0;
  b.inBlock(body);
  uint32_t t = b.argument("t"), rowBytes = b.argument("row_bytes"), zeroHere = b.constant(0), fourHere = b.constant(4);
  uint32_t accHere = b.view(DType::F32, acc, zeroHere, rowBytes);
  uint32_t row = b.view(DType::F32, table, b.mul(t, rowBytes), rowBytes);
  uint32_t next = b.arena(DType::F32, rowBytes, kNone, "next");
  b.dispatch("add", {accHere, row, next}, {fourHere}, "body/Add");
  loop.carried_yield = {next};
  b.inBlock(0);
  b.loop(std::move(loop));

  b.inBlock(thenBlock);
  uint32_t sizeThen = b.constant(16), zeroThen = b.constant(0), fourThen = b.constant(4);
  uint32_t accThen = b.view(DType::F32, acc, zeroThen, sizeThen), yThen = b.view(DType::F32, y, zeroThen, sizeThen);
  b.dispatch("add", {accThen, accThen, yThen}, {fourThen}, "then/Add");
  b.inBlock(elseBlock);
  uint32_t sizeElse = b.constant(16), zeroElse = b.constant(0);
  uint32_t yElse = b.view(DType::F32, y, zeroElse, sizeElse);
  b.fill(yElse, 0, 4);
  b.inBlock(0);
  b.branch(flag, thenBlock, elseBlock);
  b.barrier();
  return b;
}

} // namespace llmc::test
