// See ConstantTable.h.
#include "compiler/Emit/ConstantTable.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "runtime/schema/Container.h"

using namespace mlir;

namespace llmc {

static std::span<const std::byte> asSpan(ArrayRef<char> bytes) {
  return {reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()};
}

uint32_t ConstantTable::add(plan::ConstantOp op) {
  std::optional<graph::ConstantView> view = graph::ConstantView::of(op.getValue());
  assert(view && "the verifier of the graph dialect checked the constant");
  plan::Hash256 hash = hashOf(asSpan(view->bytes()));
  std::string key = op.getEncoding().str();
  llvm::raw_string_ostream(key) << '|' << view->type() << '|' << hash.a() << '|' << hash.b();
  auto [place, isNew] = byContent.try_emplace(key, constants.size());
  if (!isNew)
    return place->second;
  bool isDense = op.getEncoding() == "dense";
  uint64_t size = isDense ? view->bytes().size()
                          : cpu::packedBytes(*cpu::Encoding::parse(op.getEncoding()), view->type().getShape());
  std::vector<std::string> names = graph::sourceNames(op.getLoc());
  std::string name = names.empty() ? "constant_" + std::to_string(constants.size()) : names.front();
  constants.push_back({op.getValue(), op.getEncoding().str(), name, alignUp(end(), alignment), size});
  return place->second;
}

std::vector<std::unique_ptr<plan::ConstantT>> ConstantTable::describe() const {
  std::vector<std::unique_ptr<plan::ConstantT>> result;
  for (const Stored &constant : constants) {
    auto described = std::make_unique<plan::ConstantT>();
    auto type = cast<RankedTensorType>(constant.value.getType());
    described->name = constant.name;
    described->dtype = static_cast<plan::DType>(graph::dtypeOf(type.getElementType()));
    described->dims.assign(type.getShape().begin(), type.getShape().end());
    described->encoding = constant.encoding;
    described->data = std::make_unique<plan::SegRangeT>();
    described->data->range = std::make_unique<plan::Range>(constant.offset, constant.size);
    result.push_back(std::move(described));
  }
  return result;
}

llvm::Error ConstantTable::write(llvm::function_ref<llvm::Error(ArrayRef<char>)> append) const {
  llvm::Error error = llvm::Error::success();
  uint64_t position = 0;
  auto put = [&](ArrayRef<char> bytes) {
    if (error)
      return;
    error = append(bytes);
    position += bytes.size();
  };
  for (const Stored &constant : constants) {
    put(std::vector<char>(constant.offset - position));
    std::optional<graph::ConstantView> view = graph::ConstantView::of(constant.value);
    if (constant.encoding == "dense")
      put(view->bytes());
    else
      cpu::pack(*cpu::Encoding::parse(constant.encoding), view->bytes(), view->type().getShape(), put);
  }
  return error;
}

} // namespace llmc
