#include "compiler/Codegen/Cpu/Strategy.h"
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace llmc::cpu {
namespace {

/// Sizes assumed for what is not known.
constexpr int64_t likelyRows = 128, likelyDepth = 256, likelyColumns = 128;
/// Half of the smallest L2 cache of the machines of each level (512 KiB), for the block of left rows that stays there.
constexpr int64_t rowsBudget = 256 << 10;
/// Packed columns up to this size stay in the L2 cache beside the rows, so that a work item may take all of them.
constexpr int64_t columnsBudget = 192 << 10;
/// Multiply-adds of a work item: 20 to 40 us at the speed of AVX2.
constexpr int64_t itemWork = 1 << 20;

struct Tile {
  int64_t rows, vectors;
};

/// Accumulators, one row of the panel and a broadcast must fit the registers; more accumulators hide the latency of
/// FMA.
Tile tileOf(const CpuLevel &level, std::optional<int64_t> rows, std::optional<int64_t> columns) {
  if (columns && *columns <= level.lanes(4) && !(rows && *rows <= 2)) // the other vectors of a panel would be zeros
    return {level.registers >= 32 ? 16 : level.fma ? 12 : 8, 1};
  if (level.registers >= 32)
    return rows && *rows >= 48 ? Tile{12, 2} : Tile{8, 2};
  // One or two rows: a whole panel at once, or too few sums would be in flight.
  if (rows && *rows <= 2)
    return {*rows == 0 ? 1 : *rows, 4};
  if (level.fma)
    return {6, 2};
  return {4, 2}; // a product needs a register of its own
}

/// `size` cut into equal parts of about `part`, each a multiple of `unit`.
int64_t evenPart(int64_t size, int64_t part, int64_t unit) {
  int64_t parts = std::max<int64_t>(1, llvm::divideCeil(size, std::max(part, unit)));
  return llvm::alignTo(std::max<int64_t>(1, llvm::divideCeil(size, parts)), unit);
}

} // namespace

int64_t grainOf(int64_t itemNanos) { return std::max<int64_t>(1, 10000 / std::max<int64_t>(1, itemNanos)); }

GemmStrategy chooseGemm(const CpuLevel &level, const GemmShape &shape) {
  GemmStrategy strategy;
  Tile tile = tileOf(level, shape.rows, shape.columns);
  strategy.tileRows = tile.rows;
  strategy.tileVectors = tile.vectors;

  int64_t rows = shape.rows.value_or(likelyRows), depth = std::max<int64_t>(1, shape.depth.value_or(likelyDepth));
  int64_t panels = std::max<int64_t>(1, llvm::divideCeil(shape.columns.value_or(likelyColumns), panelColumns));
  int64_t panelBytes = depth * panelColumns * 4;
  int64_t panelWork = depth * (tile.vectors == 1 ? level.lanes(4) : panelColumns);
  int64_t mostRows = std::max(tile.rows, rowsBudget / std::max<int64_t>(1, shape.rowBytes.value_or(depth * 4)));
  if (panels * panelBytes <= columnsBudget) {
    strategy.blockPanels = panels;
    mostRows = std::min(mostRows, std::max(4 * tile.rows, itemWork / (panels * panelWork)));
  }
  strategy.blockRows = shape.rows ? evenPart(rows, mostRows, tile.rows) : llvm::alignTo(mostRows, tile.rows);
  strategy.fetchAhead = panels * panelBytes > columnsBudget;
  int64_t usedRows = std::min(rows, strategy.blockRows);
  if (panels * panelBytes > columnsBudget)
    strategy.blockPanels = std::min(evenPart(panels, itemWork / std::max<int64_t>(1, usedRows * panelWork), 1), panels);
  // 4 multiply-adds a nanosecond and lane is what a core of 2 GHz and two units reaches.
  strategy.itemNanos = usedRows * strategy.blockPanels * panelWork / (4 * level.lanes(4));
  return strategy;
}

} // namespace llmc::cpu
