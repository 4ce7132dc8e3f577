//===- BatchPlans.h - Small models for the tests of the batcher ---------------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_BATCH_BATCHPLANS_H
#define LLMC_TEST_RUNTIME_BATCH_BATCHPLANS_H

#include "llmc/llmc.hpp"
#include "test/runtime/PlanBuilder.h"
#include <gtest/gtest.h>

namespace llmc::test {

/// A plan and the bytes that it lies in.
struct HeldPlan {
  explicit HeldPlan(const PlanBuilder &builder, int threads = 1) : file(builder.file()), plan(load(file, threads)) {}
  static Plan load(const PageAligned &file, int threads) {
    Options options;
    options.threads = threads;
    return Plan(file.bytes(), options);
  }
  PageAligned file;
  Plan plan;
};

/// As the C API takes it; `dim`: null for the one that the plan names.
inline llmc_batch_model modelOf(const HeldPlan &held, const char *dim = nullptr) {
  llmc_batch_model model = {};
  model.struct_size = sizeof model;
  model.plan = held.plan.get();
  model.batch_dim = dim;
  return model;
}

/// Rows of a request to addReluPlan that nobody else has.
struct AddRequest {
  AddRequest(int id, int rows) : rows(rows), a(size_t(rows) * 4), b(size_t(rows) * 4) {
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = float(id) * 16 + float(i);
      b[i] = i % 3 == 0 ? -1e6f : 0.5f;
    }
  }
  std::vector<Input> inputs() const {
    return {input("a", {rows, 4}, std::span<const float>(a)), input("b", {rows, 4}, std::span<const float>(b))};
  }
  void check(const Future &future) const {
    TensorView y = future.get().output(0);
    ASSERT_EQ(y.dims[0], rows);
    std::span<const float> values = y.as<float>();
    ASSERT_EQ(values.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(values[i], std::max(0.0f, a[i] + b[i])) << "element " << i;
  }
  int rows;
  std::vector<float> a, b;
};

/// y[N, 4] = table[id[N]], table[r, c] = 4 r + c with 8 rows: other ids fail the run at "embedding/Gather". N in 1..16.
inline PlanBuilder lookupPlan() {
  PlanBuilder b;
  uint32_t n = b.inputDim("N", 0, 0, 1, 16), four = b.constant(4), eight = b.constant(8), sixteen = b.constant(16);
  std::vector<float> values(32);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  uint32_t table = b.weights("table", plan::DType::F32, values);
  uint32_t id = b.input("id", plan::DType::I64, {n}, b.mul(n, eight), {"N"});
  uint32_t y = b.output("y", plan::DType::F32, {n, four}, b.mul(n, sixteen));
  b.dispatch("gather", {table, id, y}, {eight, four, n}, "embedding/Gather");
  return b;
}

/// The same with the table as an input that has no rows, f32[8, 4].
inline PlanBuilder sharedTablePlan() {
  PlanBuilder b;
  uint32_t n = b.inputDim("N", 1, 0, 1, 16), four = b.constant(4), eight = b.constant(8), sixteen = b.constant(16);
  uint32_t table = b.input("table", plan::DType::F32, {eight, four}, b.constant(128));
  uint32_t id = b.input("id", plan::DType::I64, {n}, b.mul(n, eight), {"N"});
  uint32_t y = b.output("y", plan::DType::F32, {n, four}, b.mul(n, sixteen));
  b.dispatch("gather", {table, id, y}, {eight, four, n}, "embedding/Gather");
  return b;
}

/// y = x + x of f32[2, N, S], whose rows are the second dim. N in 1..16, S in 1..64.
inline PlanBuilder middleRowsPlan() {
  PlanBuilder b;
  uint32_t n = b.inputDim("N", 0, 1, 1, 16), s = b.inputDim("S", 0, 2, 1, 64), two = b.constant(2);
  uint32_t elements = b.mul(two, b.mul(n, s)), bytes = b.mul(elements, b.constant(4));
  uint32_t x = b.input("x", plan::DType::F32, {two, n, s}, bytes, {"", "N", "S"});
  uint32_t y = b.output("y", plan::DType::F32, {two, n, s}, bytes);
  b.dispatch("add", {x, x, y}, {elements}, "Double");
  return b;
}

/// middleRowsPlan as a compiler writes it that pads S to 4, 16 or 64 with -1, and takes 1, 2, 4 or 8 rows.
inline PlanBuilder paddedPlan() {
  PlanBuilder b = middleRowsPlan();
  auto table = std::make_unique<plan::BatchingT>();
  table->dim = "N";
  table->input_axes = table->output_axes = {1};
  table->sizes = {1, 2, 4, 8};
  table->row_proof = "no element reads another";
  auto bucket = std::make_unique<plan::BucketDimT>();
  bucket->name = "S";
  bucket->edges = {4, 16, 64};
  bucket->input_axes = bucket->output_axes = {2};
  bucket->proof = table->row_proof;
  table->buckets.push_back(std::move(bucket));
  float value = -1;
  auto pad = std::make_unique<plan::PadT>();
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  pad->value.assign(bytes, bytes + 4);
  table->pads.push_back(std::move(pad));
  b.parts.plan.entries[0]->outputs[0]->dim_names = {"", "N", "S"};
  b.parts.plan.entries[0]->batching = std::move(table);
  return b;
}

/// y = x of f32[N, 4], by many steps: a run takes a while. N in 1..64.
inline PlanBuilder slowPlan(int steps = 2000) {
  PlanBuilder b;
  uint32_t n = b.inputDim("N", 0, 0, 1, 64), four = b.constant(4), elements = b.mul(n, four);
  uint32_t bytes = b.mul(elements, four);
  uint32_t x = b.input("x", plan::DType::F32, {n, four}, bytes, {"N", ""});
  uint32_t y = b.output("y", plan::DType::F32, {n, four}, bytes);
  for (int i = 0; i < steps; ++i)
    b.dispatch("relu", {x, y}, {elements}, "Relu");
  return b;
}

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_BATCH_BATCHPLANS_H
