//===- PlanUnitTest.cpp - The arena planner and expressions, alone ------------------------------------------------===//

#include "runtime/plan/ArenaPlanner.h"
#include "runtime/plan/Expr.h"
#include "runtime/schema/Container.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace llmc {
namespace {

/// Buffers that live at one time are disjoint, places are aligned, the peak is what it says.
void expectSound(const std::vector<ArenaItem> &items, const ArenaPlan &plan) {
  int64_t peak = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % items[i].alignment, 0);
    peak = std::max(peak, plan.offsets[i] + items[i].size);
    for (size_t j = 0; j < i; ++j) {
      bool together = items[i].firstStep <= items[j].lastStep && items[j].firstStep <= items[i].lastStep;
      bool overlap =
          plan.offsets[i] < plan.offsets[j] + items[j].size && plan.offsets[j] < plan.offsets[i] + items[i].size;
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
  }
  EXPECT_EQ(plan.peak, peak);
  EXPECT_GE(plan.peak, plan.lowerBound);
}

TEST(ArenaPlanner, chain_needs_two_buffers) {
  std::vector<ArenaItem> items;
  for (uint32_t i = 0; i < 10; ++i)
    items.push_back({100, i, i + 1, 4});
  ArenaPlan plan = planArena(items);
  expectSound(items, plan);
  EXPECT_EQ(plan.lowerBound, 200);
  EXPECT_EQ(plan.peak, 200);
  EXPECT_EQ(plan.peakStep, 1u);
}

TEST(ArenaPlanner, nothing_and_empty_buffers) {
  EXPECT_EQ(planArena({}).peak, 0);
  std::vector<ArenaItem> items = {{0, 0, 5, 64}, {64, 1, 2, 64}, {0, 1, 1, 1}};
  ArenaPlan plan = planArena(items);
  expectSound(items, plan);
  EXPECT_EQ(plan.peak, 64);
}

TEST(ArenaPlanner, random_lifetimes_are_sound_and_near_the_bound) {
  std::mt19937 random(7);
  double sum = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<ArenaItem> items;
    for (uint32_t i = 0; i < 60; ++i)
      items.push_back({int64_t(random() % 1000) * 16, i, i + uint32_t(random() % 6), int64_t(1) << random() % 5});
    ArenaPlan plan = planArena(items);
    expectSound(items, plan);
    EXPECT_EQ(plan.offsets, planArena(items).offsets) << "not deterministic";
    sum += double(plan.peak) / double(plan.lowerBound);
  }
  EXPECT_LT(sum / 100, 1.05) << "average over the lower bound";
}

TEST(ArenaPlanner, thousands_of_buffers) {
  std::mt19937 random(1);
  std::vector<ArenaItem> items;
  for (uint32_t i = 0; i < 3000; ++i)
    items.push_back({int64_t(random() % 100000), i, i + uint32_t(random() % 20), 64});
  ArenaPlan plan = planArena(items);
  EXPECT_LT(plan.peak, plan.lowerBound * 1.2);
}

using plan::ExprOp;
using rt::applyExprOp;

TEST(Expr, rounds_towards_minus_infinity) {
  EXPECT_EQ(applyExprOp(ExprOp::FLOORDIV, 7, 2), 3);
  EXPECT_EQ(applyExprOp(ExprOp::FLOORDIV, -7, 2), -4);
  EXPECT_EQ(applyExprOp(ExprOp::CEILDIV, 7, 2), 4);
  EXPECT_EQ(applyExprOp(ExprOp::CEILDIV, -7, 2), -3);
  EXPECT_EQ(applyExprOp(ExprOp::MOD, -7, 2), 1);
  EXPECT_EQ(applyExprOp(ExprOp::MOD, INT64_MIN, 3), 1);
  EXPECT_EQ(applyExprOp(ExprOp::ALIGN_UP, 65, 64), 128);
  EXPECT_EQ(applyExprOp(ExprOp::ALIGN_UP, 64, 64), 64);
  EXPECT_EQ(applyExprOp(ExprOp::MINOF, -1, 1), -1);
  EXPECT_EQ(applyExprOp(ExprOp::MAXOF, -1, 1), 1);
  EXPECT_EQ(applyExprOp(ExprOp::CEILDIV, INT64_MAX, 1), INT64_MAX);
}

TEST(Expr, has_no_value_where_int64_has_none) {
  EXPECT_FALSE(applyExprOp(ExprOp::ADD, INT64_MAX, 1));
  EXPECT_FALSE(applyExprOp(ExprOp::SUB, INT64_MIN, 1));
  EXPECT_FALSE(applyExprOp(ExprOp::MUL, INT64_MAX, 2));
  EXPECT_FALSE(applyExprOp(ExprOp::ALIGN_UP, INT64_MAX, 64));
  for (ExprOp op : {ExprOp::FLOORDIV, ExprOp::CEILDIV, ExprOp::MOD, ExprOp::ALIGN_UP})
    for (int64_t divisor : {int64_t(0), int64_t(-1), INT64_MIN})
      EXPECT_FALSE(applyExprOp(op, 1, divisor));
}

TEST(Container, stream_hash_equals_hash) {
  std::vector<std::byte> bytes(100000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte(i * 31 % 251);
  StreamHash stream;
  for (size_t at = 0, step = 1; at < bytes.size(); at += step, step = step * 2 + 1)
    stream.update(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
  plan::Hash256 whole = hashOf(bytes), pieces = stream.finish();
  EXPECT_EQ(std::memcmp(&whole, &pieces, sizeof whole), 0);
}

} // namespace
} // namespace llmc
