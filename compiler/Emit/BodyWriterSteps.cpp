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

FailureOr<plan::IfT> BodyWriter::writeIf(Frame &frame, plan::IfOp op) {
  plan::IfT branch;
  branch.else_block = UINT32_MAX; // nothing to do
  branch.cond = bufferIndex(frame, op.getCondition());
  Frame thenFrame = enterBlock(&frame);
  branch.then_block = thenFrame.number;
  if (failed(writeInner(op.getThenBlock().front(), op.getFrame(), thenFrame)))
    return failure();
  branch.then_arguments = finishInner(thenFrame);
  if (op.getElseBlock().empty())
    return branch;
  Frame elseFrame = enterBlock(&frame);
  branch.else_block = elseFrame.number;
  if (failed(writeInner(op.getElseBlock().front(), op.getFrame(), elseFrame)))
    return failure();
  branch.else_arguments = finishInner(elseFrame);
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
  Frame inner = enterBlock(&frame);
  loop.body_block = inner.number;
  if (op.getIteration()) {
    plan::SymbolT iteration;
    iteration.source = plan::SymbolSource::FRAME_ARGUMENT;
    addSymbol(inner, *op.getIteration(), std::move(iteration));
    loop.iteration = 0;
  }
  Block &block = op.getBlock().front();
  if (failed(writeInner(block, op.getFrame(), inner)))
    return failure();
  loop.carried_yield = bufferIndices(inner, block.getTerminator()->getOperands());
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
