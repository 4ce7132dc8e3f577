#include "compiler/Codegen/Cpu/Nest.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {

Nest::Nest(KernelBuilder &kb, ArrayRef<DimExpr> sizes) : kb(kb), numOriginals(sizes.size()) {
  for (auto [d, size] : llvm::enumerate(sizes))
    loops.push_back({size, {{static_cast<unsigned>(d), size}}});
}

unsigned Nest::addAccess(Access access) {
  assert(access.strides.size() == loops.size() && "an access has one stride per loop");
  accesses.push_back(std::move(access));
  return accesses.size() - 1;
}

unsigned Nest::addAccess(const View &view, AffineMap map) {
  Access access{view, Dims(loops.size(), kb.constantExpr(0))};
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      access.strides[loop.getPosition()] = access.strides[loop.getPosition()] + view.strides[d];
  return addAccess(std::move(access));
}

void Nest::split(unsigned loop, DimExpr inner) {
  DimExpr outer = loops[loop].size.floorDiv(inner);
  loops[loop] = {outer, {{numOriginals, outer}}};
  loops.insert(loops.begin() + loop + 1, Loop{inner, {{numOriginals + 1, inner}}});
  numOriginals += 2;
  for (Access &access : accesses) {
    DimExpr step = access.strides[loop];
    access.strides[loop] = step * inner;
    access.strides.insert(access.strides.begin() + loop + 1, step);
  }
}

void Nest::insertUnitLoop(unsigned position, int64_t stride) {
  loops.insert(loops.begin() + position, Loop{kb.constantExpr(1), {{numOriginals++, kb.constantExpr(1)}}});
  for (Access &access : accesses)
    access.strides.insert(access.strides.begin() + position, kb.constantExpr(stride));
}

bool Nest::canCollapse(unsigned outer, unsigned inner) const {
  DimExpr size = loops[inner].size;
  if (loops[outer].size.isConstant(1) || size.isConstant(1))
    return true;
  return llvm::all_of(accesses,
                      [&](const Access &access) { return access.strides[outer] == access.strides[inner] * size; });
}

void Nest::collapse(unsigned outer, unsigned inner) {
  bool takeOuter = loops[inner].size.isConstant(1);
  for (Access &access : accesses) {
    if (takeOuter)
      access.strides[inner] = access.strides[outer];
    access.strides.erase(access.strides.begin() + outer);
  }
  Loop &into = loops[inner], &from = loops[outer];
  into.size = from.size * into.size;
  into.origins.insert(into.origins.begin(), from.origins.begin(), from.origins.end());
  loops.erase(loops.begin() + outer);
}

void Nest::coordinates(unsigned loop, Value linear, llvm::DenseMap<unsigned, Value> &result) const {
  const Loop &from = loops[loop];
  Dims sizes = llvm::map_to_vector<4>(from.origins, [](const auto &origin) { return origin.second; });
  SmallVector<Value> values = kb.delinearize(linear, sizes);
  for (auto [origin, value] : llvm::zip_equal(from.origins, values))
    result[origin.first] = value;
}

Value Nest::pointer(unsigned number, ArrayRef<Value> indices) const {
  const Access &access = accesses[number];
  Value offset = kb.index(access.view.offset);
  for (auto [index, stride] : llvm::zip_equal(indices, access.strides))
    if (index && !stride.isConstant(0))
      offset = kb.add(offset, kb.mul(index, kb.index(stride)));
  return kb.advance(access.view.base, access.view.elementType, offset);
}

} // namespace llmc::cpu
