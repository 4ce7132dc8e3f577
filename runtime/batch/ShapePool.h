//===- ShapePool.h - Which requests may share a run, as buckets of the core ---------------------------------------===//
//
// A shape is all that requests of one batch agree in: the dims as executed, but for the rows, and the bytes of inputs
// without rows. The core has a fixed number of buckets. Where only padded dims are open, each combination of edges has its
// own; else shapes share them, and one that no request uses gives its place to a new one, the least recently used first.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_SHAPEPOOL_H
#define LLMC_RUNTIME_BATCH_SHAPEPOOL_H

#include "runtime/batch/BatchSpec.h"

namespace llmc::batch {

struct Shape {
  std::vector<int64_t> inputDims; // as executed; 0 in place of rows
  std::vector<std::byte> shared;  // inputs without rows, one after the other
  std::vector<int64_t> outputDims;
  uint32_t users = 0;   // requests
  uint64_t lastUse = 0; // 0: never
};

class ShapePool {
public:
  /// `exact`: how many shapes that are not settled by the edges of padded dims may be in use at one time.
  ShapePool(const BatchSpec &spec, uint32_t exact);

  uint32_t numBuckets() const { return uint32_t(shapes.size()); }
  const Shape &operator[](uint32_t bucket) const { return shapes[bucket]; }
  /// The bucket that has this shape; kNone if none has.
  uint32_t find(std::span<const int64_t> inputDims, std::span<const std::byte> shared) const;
  /// A bucket for a shape that none has; kNone if all are in use.
  uint32_t add(Shape shape);
  void use(uint32_t bucket) {
    ++shapes[bucket].users;
    shapes[bucket].lastUse = ++useCount;
  }
  void leave(uint32_t bucket) { --shapes[bucket].users; }
  /// Of a bucket of settled shapes, the input dims: all combinations of edges, with the last padded dim fastest.
  std::vector<int64_t> dimsOf(uint32_t bucket) const;

private:
  const BatchSpec &spec;
  std::vector<Shape> shapes;
  uint64_t useCount = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_SHAPEPOOL_H
