// Buffers and frames of a body; BodyWriterSteps.cpp has the steps.
#include "compiler/Emit/BodyWriter.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;

static plan::DType dtypeOf(Type element) { return static_cast<plan::DType>(graph::dtypeOf(element)); }

void BodyWriter::writeResources() {
  body->name = op.getName().str();
  body->priority = op.getPriority();
  body->semaphores = op.getSemaphores();
  body->arena_bound = op.getArenaPeak().value_or(0);
  for (auto device : op.getDevices().getAsRange<plan::DeviceAttr>()) {
    body->devices.push_back(llvm::find(tables.devices, device) - tables.devices.begin());
    if (body->devices.back() == tables.devices.size())
      tables.devices.push_back(device);
  }
  for (int64_t device : op.getQueues()) {
    auto queue = std::make_unique<plan::QueueT>();
    queue->device = device;
    body->queues.push_back(std::move(queue));
  }
  for (plan::ArenaAttr source : op.arenaList()) {
    auto arena = std::make_unique<plan::ArenaT>();
    arena->device = source.getDevice();
    arena->space = static_cast<plan::MemSpace>(source.getSpace());
    arena->alignment = source.getAlignment();
    body->arenas.push_back(std::move(arena));
  }
}

void BodyWriter::addSymbol(Frame &frame, StringRef name, plan::SymbolT symbol) {
  symbol.name = name.str();
  frame.exprs.addSymbol(name);
  frame.block->symbols.push_back(std::make_unique<plan::SymbolT>(std::move(symbol)));
}

/// The value of an input's symbol comes from the first dim that is just this symbol.
void BodyWriter::writeInputSymbols(Frame &frame) {
  DictionaryAttr ranges = cast<plan::EntryOp>(op->getParentOp()).getSymbols();
  for (auto input : op.getSteps().front().getOps<plan::InputOp>())
    for (auto [i, dim] : llvm::enumerate(graph::dimsOf(input.getDims()))) {
      if (dim.kind() != DimExpr::Kind::Symbol || frame.exprs.hasSymbol(dim.symbolName()))
        continue;
      plan::SymbolT symbol;
      symbol.source = plan::SymbolSource::INPUT_DIM;
      symbol.input = input.getIndex();
      symbol.dim = i;
      if (auto range = ranges.getAs<DenseI64ArrayAttr>(dim.symbolName())) {
        symbol.lo = range[0];
        symbol.hi = range[1];
      }
      addSymbol(frame, dim.symbolName(), std::move(symbol));
    }
}

/// Those that steps of the block define: before its buffers, since an output's dims may name them.
void BodyWriter::writeReadSymbols(Block &block, Frame &frame) {
  for (Operation &step : block)
    for (StringRef name : plan::definedSymbols(&step)) {
      plan::SymbolT symbol;
      symbol.source = plan::SymbolSource::READ_STEP;
      if (auto read = dyn_cast<plan::ReadScalarOp>(step)) {
        symbol.lo = read.getRange()[0];
        symbol.hi = read.getRange()[1];
      }
      addSymbol(frame, name, std::move(symbol));
    }
}

void BodyWriter::writeBoundary(Frame &frame) {
  Block &block = op.getSteps().front();
  for (auto input : block.getOps<plan::InputOp>())
    addBuffer(frame, input);
  auto outputs = llvm::to_vector(block.getOps<plan::OutputOp>());
  llvm::sort(outputs, [](plan::OutputOp a, plan::OutputOp b) { return a.getIndex() < b.getIndex(); });
  for (plan::OutputOp output : outputs)
    addBuffer(frame, output);
  for (auto state : block.getOps<plan::StateOp>())
    addBuffer(frame, state);
}

/// A symbol of `frame` whose value is that of `value` in the frame around it.
DimExpr BodyWriter::passArgument(Frame &frame, StringRef name, DimExpr value, int64_t lowest) {
  plan::SymbolT symbol;
  symbol.source = plan::SymbolSource::FRAME_ARGUMENT;
  symbol.lo = lowest;
  addSymbol(frame, name, std::move(symbol));
  frame.arguments.emplace_back(value, DimExpr::symbol(op.getContext(), name));
  return frame.arguments.back().second;
}

/// `expr`, a size of `owner`, a frame around `frame`, as an expression of `frame`: what is not constant is handed over as an argument.
DimExpr BodyWriter::seenFrom(Frame &frame, Frame &owner, DimExpr expr) {
  if (&frame == &owner || expr.asConstant())
    return expr;
  DimExpr value = seenFrom(*frame.parent, owner, expr);
  for (auto &[passed, symbol] : frame.arguments)
    if (passed == value)
      return symbol;
  return passArgument(frame, "outer (" + value.str() + ")", value, 0);
}

std::vector<uint32_t> BodyWriter::dimIndices(Frame &frame, ArrayAttr dims) {
  std::vector<uint32_t> indices;
  for (DimExpr dim : graph::dimsOf(dims))
    indices.push_back(frame.exprs.index(dim));
  return indices;
}

uint32_t BodyWriter::exprIndex(Frame &frame, graph::ExprAttr expr) {
  return expr ? frame.exprs.index(DimExpr(expr)) : frame.exprs.constant(op.getContext(), 0);
}

void BodyWriter::addSpec(plan::BufferT &buffer, plan::BufferOpInterface op, int64_t index, StringRef name,
                         std::vector<std::unique_ptr<plan::TensorSpecT>> &specs) {
  buffer.index = index;
  buffer.name = name.str();
  if (specs.size() > static_cast<size_t>(index))
    return; // by an earlier body
  auto spec = std::make_unique<plan::TensorSpecT>();
  spec->name = name.str();
  spec->dtype = buffer.dtype;
  spec->dims = buffer.dims;
  spec->buffer = body->buffers.size();
  for (DimExpr dim : graph::dimsOf(op.getDims()))
    spec->dim_names.push_back(dim && dim.kind() == DimExpr::Kind::Symbol ? dim.symbolName().str() : dim.str()); // not quoted
  specs.push_back(std::move(spec));
}

void BodyWriter::addBuffer(Frame &frame, plan::BufferOpInterface op) {
  auto buffer = std::make_unique<plan::BufferT>();
  buffer->block = frame.number;
  buffer->dtype = dtypeOf(op.getElement());
  buffer->dims = dimIndices(frame, op.getDims());
  DimExpr size = plan::byteSize(op.getElement(), op.getDims());
  if (auto input = dyn_cast<plan::InputOp>(*op)) {
    buffer->kind = plan::BufKind::INPUT;
    addSpec(*buffer, op, input.getIndex(), input.getTensor(), entry.inputs);
  } else if (auto output = dyn_cast<plan::OutputOp>(*op)) {
    buffer->kind = plan::BufKind::OUTPUT;
    addSpec(*buffer, op, output.getIndex(), output.getTensor(), entry.outputs);
  } else if (auto state = dyn_cast<plan::StateOp>(*op)) {
    buffer->kind = plan::BufKind::STATE;
    addSpec(*buffer, op, state.getIndex(), state.getTensor(), entry.states);
  } else if (auto constant = dyn_cast<plan::ConstantOp>(*op)) {
    buffer->kind = plan::BufKind::CONSTANT;
    buffer->index = tables.constants.add(constant);
    buffer->device = constant.getDevice();
    size = DimExpr::constant(op.getContext(), tables.constants.size(buffer->index));
  } else if (auto arena = dyn_cast<plan::ArenaOp>(*op)) {
    buffer->kind = plan::BufKind::ARENA;
    buffer->arena = arena.getArena();
    if (arena.getOffset())
      buffer->offset = frame.exprs.constant(op.getContext(), *arena.getOffset());
  } else if (isa<plan::ArgumentOp>(*op)) {
    buffer->kind = plan::BufKind::ARENA;
  } else {
    auto view = cast<plan::ViewOp>(*op);
    buffer->kind = plan::BufKind::VIEW;
    Frame &owner = *frames.at(view.getParent().getParentBlock());
    buffer->parent = owner.buffers.at(view.getParent());
    buffer->offset = exprIndex(frame, view.getOffset());
  }
  buffer->size = frame.exprs.index(size);
  Value value = op->getResult(0);
  sizes[value] = size;
  frame.buffers[value] = body->buffers.size();
  body->buffers.push_back(std::move(buffer));
}

/// What a step of `frame` names: a view of a buffer of a block around it.
uint32_t BodyWriter::bufferIndex(Frame &frame, Value value) {
  if (auto found = frame.buffers.find(value); found != frame.buffers.end())
    return found->second;
  Frame &owner = *frames.at(value.getParentBlock());
  auto source = value.getDefiningOp<plan::BufferOpInterface>();
  auto view = std::make_unique<plan::BufferT>();
  view->kind = plan::BufKind::VIEW;
  view->block = frame.number;
  view->dtype = dtypeOf(source.getElement());
  for (DimExpr dim : graph::dimsOf(source.getDims()))
    view->dims.push_back(frame.exprs.index(seenFrom(frame, owner, dim)));
  view->size = frame.exprs.index(seenFrom(frame, owner, sizes.at(value)));
  view->parent = owner.buffers.at(value);
  view->offset = frame.exprs.constant(op.getContext(), 0);
  uint32_t index = frame.buffers[value] = body->buffers.size();
  body->buffers.push_back(std::move(view));
  return index;
}

std::vector<uint32_t> BodyWriter::bufferIndices(Frame &frame, ValueRange buffers) {
  std::vector<uint32_t> indices;
  for (Value buffer : buffers)
    indices.push_back(bufferIndex(frame, buffer));
  return indices;
}

LogicalResult BodyWriter::writeBlock(Block &block, Frame &frame) {
  for (Operation &child : block) {
    if (auto buffer = dyn_cast<plan::BufferOpInterface>(child)) {
      if (!frame.buffers.contains(child.getResult(0)))
        addBuffer(frame, buffer);
    } else if (auto step = dyn_cast<plan::StepOpInterface>(child); step && failed(addStep(frame, step))) {
      return failure();
    }
  }
  return success();
}

BodyWriter::Frame BodyWriter::enterBlock(Frame *parent) {
  uint32_t number = body->blocks.size();
  body->blocks.push_back(std::make_unique<plan::BlockT>());
  Frame frame;
  frame.parent = parent;
  frame.number = number;
  frame.block = body->blocks.back().get();
  return frame;
}

FailureOr<std::unique_ptr<plan::BodyT>> BodyWriter::write() {
  writeResources();
  Frame root = enterBlock(nullptr);
  Block &block = op.getSteps().front();
  frames[&block] = &root;
  writeInputSymbols(root);
  writeReadSymbols(block, root);
  writeBoundary(root);
  if (op.getGuards())
    for (auto guard : op.getGuards()->getAsRange<plan::GuardAttr>())
      body->guards.push_back(guardOf(root, guard));
  if (failed(writeBlock(block, root)))
    return failure();
  root.block->exprs = root.exprs.take();
  return std::move(body);
}

} // namespace llmc
