//===- ArenaPlanner.cpp - Greedy placement into the tightest gap, in four orders ----------------------------------===//

#include "runtime/plan/ArenaPlanner.h"
#include <algorithm>
#include <tuple>

namespace llmc {
namespace {

/// Bytes live at each distinct step at which a buffer begins: between two of them the sum can only fall.
struct LiveBytes {
  std::vector<uint32_t> steps; // ascending
  std::vector<int64_t> bytes;

  explicit LiveBytes(std::span<const ArenaItem> items) {
    for (const ArenaItem &item : items)
      if (item.size > 0)
        steps.push_back(item.firstStep);
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    std::vector<int64_t> change(steps.size() + 1, 0);
    for (const ArenaItem &item : items) {
      if (item.size == 0)
        continue;
      change[indexFrom(item.firstStep)] += item.size;
      change[indexAfter(item.lastStep)] -= item.size;
    }
    bytes.resize(steps.size());
    int64_t live = 0;
    for (size_t i = 0; i < steps.size(); ++i)
      bytes[i] = live += change[i];
  }
  size_t indexFrom(uint32_t step) const { return std::lower_bound(steps.begin(), steps.end(), step) - steps.begin(); }
  size_t indexAfter(uint32_t step) const { return std::upper_bound(steps.begin(), steps.end(), step) - steps.begin(); }
  /// The greatest sum during the life of `item`, which is not empty.
  int64_t breadth(const ArenaItem &item) const {
    return *std::max_element(bytes.begin() + indexFrom(item.firstStep), bytes.begin() + indexAfter(item.lastStep));
  }
};

bool liveTogether(const ArenaItem &a, const ArenaItem &b) {
  return a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
}

int64_t roundUp(int64_t value, int64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

std::vector<uint32_t> orderItems(ArenaOrder order, std::span<const ArenaItem> items, const LiveBytes &live) {
  std::vector<uint32_t> result;
  for (uint32_t i = 0; i < items.size(); ++i)
    if (items[i].size > 0)
      result.push_back(i);
  std::vector<double> key(items.size());
  for (uint32_t i : result) {
    const ArenaItem &item = items[i];
    switch (order) {
    case ArenaOrder::Size:
      key[i] = double(item.size);
      break;
    case ArenaOrder::SizeTimesLife:
      key[i] = double(item.size) * (double(item.lastStep) - item.firstStep + 1);
      break;
    case ArenaOrder::Breadth:
      key[i] = double(live.breadth(item));
      break;
    case ArenaOrder::FirstUse:
      key[i] = -double(item.firstStep);
      break;
    }
  }
  // Among equal keys the larger first, then the order of the items: one and the same result everywhere.
  std::sort(result.begin(), result.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(-key[a], -items[a].size, a) < std::tuple(-key[b], -items[b].size, b);
  });
  return result;
}

/// Places each item in turn into the smallest gap, between those placed before that live with it, that is large enough.
/// Gives up, with a peak of `limit`, as soon as it can not be below `limit`.
class Placement {
public:
  Placement(std::span<const ArenaItem> items, std::span<const uint32_t> order, int64_t limit)
      : items(items), offsets(items.size(), 0) {
    placed.reserve(order.size());
    for (uint32_t index : order) {
      place(index);
      if (peak >= limit)
        return;
    }
  }
  std::span<const ArenaItem> items;
  std::vector<int64_t> offsets;
  int64_t peak = 0;

private:
  struct Placed {
    int64_t offset;
    uint32_t item;
  };

  int64_t findOffset(const ArenaItem &item) const {
    int64_t end = 0, best = -1, bestGap = INT64_MAX;
    for (const Placed &other : placed) {
      if (!liveTogether(items[other.item], item))
        continue;
      int64_t start = roundUp(end, item.alignment), gap = other.offset - start;
      if (gap >= item.size && gap < bestGap) {
        best = start;
        bestGap = gap;
      }
      end = std::max(end, other.offset + items[other.item].size);
    }
    return best >= 0 ? best : roundUp(end, item.alignment);
  }

  void place(uint32_t index) {
    int64_t offset = offsets[index] = findOffset(items[index]);
    auto position = std::upper_bound(placed.begin(), placed.end(), offset,
                                     [](int64_t value, const Placed &other) { return value < other.offset; });
    placed.insert(position, {offset, index});
    peak = std::max(peak, offset + items[index].size);
  }

  std::vector<Placed> placed; // by rising offset
};

} // namespace

ArenaPlan planArena(std::span<const ArenaItem> items) {
  ArenaPlan plan;
  plan.offsets.assign(items.size(), 0);
  LiveBytes live(items);
  if (live.steps.empty())
    return plan;
  auto peak = std::max_element(live.bytes.begin(), live.bytes.end());
  plan.lowerBound = *peak;
  plan.peakStep = live.steps[peak - live.bytes.begin()];
  plan.peak = INT64_MAX;
  for (ArenaOrder order : {ArenaOrder::Size, ArenaOrder::SizeTimesLife, ArenaOrder::Breadth, ArenaOrder::FirstUse}) {
    Placement placement(items, orderItems(order, items, live), plan.peak);
    if (placement.peak < plan.peak) {
      plan.peak = placement.peak;
      plan.offsets = std::move(placement.offsets);
      plan.order = order;
    }
    if (plan.peak == plan.lowerBound)
      break;
  }
  return plan;
}

} // namespace llmc
