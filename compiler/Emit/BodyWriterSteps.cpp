// Steps, and the blocks that they enter.
#include "compiler/Emit/BodyWriter.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;

static std::vector<plan::Point> pointsOf(ArrayAttr points) {
  std::vector<plan::Point> result;
  if (points)
    for (auto point : points.getAsRange<plan::PointAttr>())
      result.emplace_back(point.getSemaphore(), 0, point.getValue());
  return result;
}

/// Writes the block of an If or Loop, entered from `parent`.
LogicalResult BodyWriter::writeInner(Block &block, DictionaryAttr arguments, Frame &frame) {
  frames[&block] = &frame;
  for (auto &[name, value] : plan::frameArguments(arguments))
    passArgument(frame, name, value, INT64_MIN);
  writeReadSymbols(block, frame);
  return writeBlock(block, frame);
}

/// Puts the expressions of a finished frame into its block, and gives its arguments as expressions of the frame around it.
std::vector<uint32_t> BodyWriter::finishInner(Frame &frame) {
  frame.block->exprs = frame.exprs.take();
  std::vector<uint32_t> indices;
  for (auto &[value, symbol] : frame.arguments)
    indices.push_back(frame.parent->exprs.index(value));
  return indices;
}

std::vector<uint32_t> BodyWriter::symbolIndices(const Frame &frame, ArrayAttr names) {
  std::vector<uint32_t> indices;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    indices.push_back(frame.exprs.symbol(name));
  return indices;
}

FailureOr<plan::IfT> BodyWriter::writeIf(Frame &frame, plan::IfOp op) {
  plan::IfT branch;
  branch.else_block = UINT32_MAX; // nothing to do
  branch.cond = bufferIndex(frame, op.getCondition());
  branch.symbols = symbolIndices(frame, op.getSymbols());
  branch.results = bufferIndices(frame, op.getGiven());
  auto write = [&](Block &block, uint32_t &number, std::vector<uint32_t> &arguments, std::vector<uint32_t> &sizes,
                   std::vector<uint32_t> &results) {
    Frame inner = enterBlock(&frame);
    number = inner.number;
    if (failed(writeInner(block, op.getFrame(), inner)))
      return failure();
    auto yield = cast<plan::YieldOp>(block.getTerminator());
    sizes = dimIndices(inner, yield.getSizes());
    results = bufferIndices(inner, yield.getValues());
    arguments = finishInner(inner);
    return success();
  };
  if (failed(write(op.getThenBlock().front(), branch.then_block, branch.then_arguments, branch.then_sizes, branch.then_results)))
    return failure();
  if (!op.getElseBlock().empty() &&
      failed(write(op.getElseBlock().front(), branch.else_block, branch.else_arguments, branch.else_sizes, branch.else_results)))
    return failure();
  return branch;
}

FailureOr<plan::LoopT> BodyWriter::writeLoop(Frame &frame, plan::LoopOp op) {
  plan::LoopT loop;
  if (op.getCondition())
    loop.cond = bufferIndex(frame, op.getCondition());
  loop.trip = exprIndex(frame, op.getTripsAttr());
  loop.max_trip = op.getLimit();
  loop.carried_init = bufferIndices(frame, op.getInits());
  loop.carried_out = bufferIndices(frame, op.getCarried());
  loop.collected_out = bufferIndices(frame, op.getCollected());
  loop.size_starts = dimIndices(frame, op.getStart());
  loop.size_results = symbolIndices(frame, op.getResultSymbols());
  Frame inner = enterBlock(&frame);
  loop.body_block = inner.number;
  auto addTripSymbol = [&](StringRef name, int64_t lowest) { // its value is new in each trip
    plan::SymbolT symbol;
    symbol.source = plan::SymbolSource::FRAME_ARGUMENT;
    symbol.lo = lowest;
    addSymbol(inner, name, std::move(symbol));
  };
  if (op.getIteration()) {
    addTripSymbol(*op.getIteration(), 0);
    loop.iteration = 0;
  }
  for (StringRef name : op.getSymbols().getAsValueRange<StringAttr>())
    addTripSymbol(name, INT64_MIN);
  loop.size_arguments = symbolIndices(inner, op.getSymbols());
  Block &block = op.getBlock().front();
  if (failed(writeInner(block, op.getFrame(), inner)))
    return failure();
  for (auto argument : block.getOps<plan::ArgumentOp>()) {
    loop.carried_argument.resize(loop.carried_out.size(), UINT32_MAX);
    loop.carried_argument[argument.getIndex()] = inner.buffers.at(argument);
  }
  auto yield = cast<plan::YieldOp>(block.getTerminator());
  std::vector<uint32_t> yielded = bufferIndices(inner, yield.getValues());
  loop.carried_yield.assign(yielded.begin(), yielded.begin() + loop.carried_out.size());
  loop.collected_yield.assign(yielded.begin() + loop.carried_out.size(), yielded.end());
  loop.size_yields = dimIndices(inner, yield.getSizes());
  loop.arguments = finishInner(inner);
  return loop;
}

FailureOr<plan::DispatchT> BodyWriter::writeDispatch(Frame &frame, plan::DispatchOp op) {
  auto kernel = tables.exports.find(op.getKernel());
  if (kernel == tables.exports.end())
    return op.emitOpError() << "launches @" << op.getKernel() << ", for which there is no code";
  plan::DispatchT launch;
  launch.export_index = kernel->second;
  launch.buffers = bufferIndices(frame, op.getBuffers());
  launch.scalars = dimIndices(frame, op.getScalars());
  return launch;
}

plan::CopyT BodyWriter::writeCopy(Frame &frame, plan::CopyOp op) {
  plan::CopyT copy;
  copy.src = bufferIndex(frame, op.getSource());
  copy.dst = bufferIndex(frame, op.getTarget());
  copy.src_offset = exprIndex(frame, op.getSourceOffsetAttr());
  copy.dst_offset = exprIndex(frame, op.getTargetOffsetAttr());
  copy.length = op.getLengthAttr() ? exprIndex(frame, op.getLengthAttr()) : body->buffers[copy.src]->size;
  return copy;
}

plan::ReadScalarT BodyWriter::writeReadScalar(Frame &frame, plan::ReadScalarOp op) {
  plan::ReadScalarT read;
  read.src = bufferIndex(frame, op.getSource());
  read.offset = exprIndex(frame, op.getOffsetAttr());
  read.symbol = frame.exprs.symbol(op.getSymbol());
  return read;
}

plan::Guard BodyWriter::guardOf(Frame &frame, plan::GuardAttr guard) {
  return {exprIndex(frame, guard.getExpr()), static_cast<plan::Cmp>(guard.getCmp()), 0, 0, guard.getBound()};
}

FailureOr<plan::StepBodyUnion> BodyWriter::writeStep(Frame &frame, plan::StepOpInterface op) {
  plan::StepBodyUnion step;
  auto set = [&](auto written) -> FailureOr<plan::StepBodyUnion> {
    if (failed(written))
      return failure();
    step.Set(std::move(*written));
    return std::move(step);
  };
  if (auto dispatch = dyn_cast<plan::DispatchOp>(*op))
    return set(writeDispatch(frame, dispatch));
  if (auto branch = dyn_cast<plan::IfOp>(*op))
    return set(writeIf(frame, branch));
  if (auto loop = dyn_cast<plan::LoopOp>(*op))
    return set(writeLoop(frame, loop));
  if (auto copy = dyn_cast<plan::CopyOp>(*op)) {
    step.Set(writeCopy(frame, copy));
  } else if (auto fill = dyn_cast<plan::FillOp>(*op)) {
    plan::FillT written;
    written.dst = bufferIndex(frame, fill.getTarget());
    written.pattern = fill.getPattern();
    written.pattern_size = fill.getBytes();
    step.Set(std::move(written));
  } else if (auto read = dyn_cast<plan::ReadScalarOp>(*op)) {
    step.Set(writeReadScalar(frame, read));
  } else if (auto check = dyn_cast<plan::CheckOp>(*op)) {
    plan::CheckT written;
    written.guard = std::make_unique<plan::Guard>(guardOf(frame, check.getGuard()));
    written.message = check.getMessage().str();
    step.Set(std::move(written));
  } else {
    assert(isa<plan::BarrierOp>(*op) && "all kinds of steps are handled");
    step.Set(plan::BarrierT());
  }
  return std::move(step);
}

LogicalResult BodyWriter::addStep(Frame &frame, plan::StepOpInterface op) {
  plan::StepT *step = frame.block->steps.emplace_back(std::make_unique<plan::StepT>()).get();
  auto info = std::make_unique<plan::StepInfoT>();
  auto dispatch = dyn_cast<plan::DispatchOp>(*op);
  info->op = (dispatch ? dispatch.getKernel() : op->getName().stripDialect()).str();
  info->source_ops = graph::sourceNames(op->getLoc());
  step->info = tables.plan.step_infos.size();
  tables.plan.step_infos.push_back(std::move(info));
  if (plan::ScheduleAttr schedule = op.getScheduleAttr()) {
    step->queue = schedule.getQueue();
    step->wait = pointsOf(schedule.getWait());
    step->signal = pointsOf(schedule.getSignal());
  }
  FailureOr<plan::StepBodyUnion> written = writeStep(frame, op);
  if (succeeded(written))
    step->body = std::move(*written);
  return written;
}

} // namespace llmc
