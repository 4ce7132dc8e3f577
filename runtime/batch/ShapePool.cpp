//===- ShapePool.cpp - Which requests may share a run, as buckets of the core -------------------------------------===//

#include "runtime/batch/ShapePool.h"
#include <algorithm>

namespace llmc::batch {

ShapePool::ShapePool(const BatchSpec &spec, uint32_t exact) : spec(spec) {
  size_t settled = 1;
  for (const PaddedDim &dim : spec.padded)
    settled *= dim.edges.size();
  shapes.resize(spec.isExact ? exact : settled);
  for (uint32_t bucket = 0; bucket < shapes.size() && !spec.isExact; ++bucket)
    shapes[bucket].inputDims = dimsOf(bucket);
}

std::vector<int64_t> ShapePool::dimsOf(uint32_t bucket) const {
  std::vector<int64_t> edges(spec.padded.size()), dims;
  for (size_t i = edges.size(); i-- > 0; bucket /= uint32_t(spec.padded[i].edges.size()))
    edges[i] = spec.padded[i].edges[bucket % spec.padded[i].edges.size()];
  for (const BatchTensor &input : spec.inputs)
    for (uint32_t d = 0; d < input.rank; ++d)
      dims.push_back(input.varies(d) ? 0 : input.paddedDim[d] != kNone ? edges[input.paddedDim[d]] : input.dims[d]);
  return dims;
}

uint32_t ShapePool::find(std::span<const int64_t> inputDims, std::span<const std::byte> shared) const {
  for (uint32_t bucket = 0; bucket < shapes.size(); ++bucket) {
    const Shape &shape = shapes[bucket];
    if (shape.outputDims.size() == spec.numOutputDims && (shape.lastUse || !spec.isExact) &&
        std::equal(shape.inputDims.begin(), shape.inputDims.end(), inputDims.begin(), inputDims.end()) &&
        std::equal(shape.shared.begin(), shape.shared.end(), shared.begin(), shared.end()))
      return bucket;
  }
  return kNone;
}

uint32_t ShapePool::add(Shape shape) {
  uint32_t best = kNone;
  for (uint32_t bucket = 0; bucket < shapes.size(); ++bucket)
    if (spec.isExact ? shapes[bucket].users == 0 && (best == kNone || shapes[bucket].lastUse < shapes[best].lastUse)
                     : shapes[bucket].inputDims == shape.inputDims)
      best = bucket;
  if (best != kNone)
    shapes[best] = std::move(shape);
  return best;
}

} // namespace llmc::batch
