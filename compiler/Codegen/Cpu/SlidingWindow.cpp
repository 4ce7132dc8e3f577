#include "compiler/Codegen/Cpu/SlidingWindow.h"
#include "compiler/Codegen/Cpu/Strategy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <map>

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

/// Taps [first, last) of one dim.
struct TapRange {
  Value first, last;
};

/// Taps of the last dim at one position of a tile, and how many lie in the padded input.
struct TapSpan {
  int64_t first, last, padded;
};

class SlidingWindow {
public:
  SlidingWindow(KernelBuilder &kb, const View &input, const Window &window, const Nest &nest, const Epilogue &epilogue,
                WindowReducer &reducer)
      : kb(kb), input(input), window(window), nest(nest), epilogue(epilogue), reducer(reducer), last(window.rank() - 1),
        lineLoop(window.rank()), count(kb.level.lanes(4)) {}

  LogicalResult emit() {
    Dims lines;
    for (unsigned loop = 0; loop < lineLoop; ++loop)
      lines.push_back(nest.loops[loop].size);
    kb.cost.grid = graph::productOf(kb.context(), lines);
    kb.cost.grain = kb.constantExpr(grainOf(nanosOfLine()));
    kb.loop(kb.begin(), kb.end(), 1, [&](Value item) { emitLine(kb.delinearize(item, lines)); });
    kb.finish();
    return status;
  }

private:
  int64_t nanosOfLine() {
    int64_t positions = lineSize().asConstant().value_or(28),
            channels = nest.loops.back().size.asConstant().value_or(64);
    return positions * channels * window.taps() / (2 * count) + 1;
  }
  DimExpr lineSize() { return nest.loops[lineLoop].size; }

  /// The line at `outer`: coordinates of the batch and of all spatial dims but the last.
  void emitLine(ArrayRef<Value> outer) {
    line.assign(outer.begin(), outer.end());
    Value offset = kb.add(kb.index(input.offset), kb.mul(outer[0], kb.index(input.strides[0])));
    ranges.clear();
    tapsOutside = paddedOutside = kb.index(1);
    for (unsigned d = 0; d < last; ++d) {
      Value origin = window.origin(kb, d, outer[d + 1]);
      addRange(d, origin, tapsOutside, paddedOutside);
      offset = kb.add(offset, kb.mul(origin, kb.index(input.strides[d + 1])));
    }
    linePointer = kb.advance(input.base, kb.b.getF32Type(), offset);
    std::optional<int64_t> positions = lineSize().asConstant(), size = input.sizes[last + 1].asConstant();
    if (!positions || !size || !emitStaticLine(*positions, *size))
      emitDynamicLine();
  }

  /// A line of known size: tiles of nearly equal width that know which of their taps are outside. Gives up, having
  /// emitted nothing, if many tiles differ.
  bool emitStaticLine(int64_t positions, int64_t size) {
    int64_t tiles = llvm::divideCeil(positions, mostPositions());
    int64_t width = tiles ? llvm::divideCeil(positions, tiles) : 1;
    SmallVector<TapSpan> whole = wholeSpans(width);
    auto isWhole = [&](int64_t x) {
      return x + width <= positions && llvm::all_of(spansAt(x, width, size), [&](const TapSpan &span) {
               return span.first == 0 && span.last == window.kernel[last];
             });
    };
    int64_t different = 0;
    for (int64_t x = 0; x < positions; x += width)
      different += !isWhole(x);
    if (different > 4)
      return false;
    for (int64_t x = 0; x < positions;) {
      int64_t end = x;
      while (isWhole(end))
        end += width;
      if (end > x) {
        kb.loop(kb.index(x), kb.index(end), width, [&](Value first) { emitTile(first, whole); });
        x = end;
        continue;
      }
      emitTile(kb.index(x), spansAt(x, std::min(width, positions - x), size));
      x += width;
    }
    return true;
  }

  /// A line of any size: single positions at the borders, tiles and single positions between them.
  void emitDynamicLine() {
    auto [left, right] = interior();
    int64_t tile = std::max<int64_t>(1, mostPositions() - 1);
    Value tiled = kb.add(left, kb.mul(kb.div(kb.sub(right, left), kb.index(tile)), kb.index(tile)));
    kb.loop(kb.index(0), left, 1, [&](Value x) { emitBorder(x); });
    kb.loop(left, tiled, tile, [&](Value x) { emitTile(x, wholeSpans(tile)); });
    kb.loop(tiled, right, 1, [&](Value x) { emitTile(x, wholeSpans(1)); });
    kb.loop(right, kb.index(lineSize()), 1, [&](Value x) { emitBorder(x); });
  }

  /// Positions computed at once: as many as registers allow beside a row of weights, an input and, without FMA, products.
  int64_t mostPositions() {
    int64_t most = kb.level.registers >= 32 ? 12 : kb.level.fma ? 7 : 4;
    int64_t others = window.kernel[last] + (kb.level.fma ? 2 : 6);
    return std::clamp<int64_t>(kb.level.registers - others, 1, most);
  }

  SmallVector<TapSpan> wholeSpans(int64_t count) {
    return SmallVector<TapSpan>(count, TapSpan{0, window.kernel[last], window.kernel[last]});
  }

  /// Spans of the positions from `x` on in a line over `size` inputs.
  SmallVector<TapSpan> spansAt(int64_t x, int64_t count, int64_t size) {
    SmallVector<TapSpan> spans;
    int64_t step = window.dilations[last], kernel = window.kernel[last];
    int64_t pad = *window.pads[last].asConstant(), padEnd = *window.padsEnd[last].asConstant(); // known as `size` is
    auto within = [&](int64_t distance) {
      return std::min(kernel, (std::max<int64_t>(distance, 0) + step - 1) / step);
    };
    for (int64_t position = x; position < x + count; ++position) {
      int64_t origin = position * window.strides[last] - pad, end = within(size - origin);
      spans.push_back({std::min(within(-origin), end), end, within(size + padEnd - origin)});
    }
    return spans;
  }

  /// Adds the range of taps of dim `d`, multiplies how many there are into `taps` and `padded`.
  TapRange addRange(unsigned d, Value origin, Value &taps, Value &padded) {
    Value size = kb.index(input.sizes[d + 1]);
    auto [first, end] = window.tapsInside(kb, d, origin, size);
    taps = kb.mul(taps, kb.sub(end, first));
    Value paddedEnd = kb.add(size, kb.index(window.padsEnd[d]));
    padded = kb.mul(padded, window.tapsWithin(kb, d, kb.sub(paddedEnd, origin)));
    ranges.push_back({first, end});
    return ranges.back();
  }

  /// Positions [left, right) of the line whose window lies inside the input along the line.
  std::pair<Value, Value> interior() {
    int64_t stride = window.strides[last];
    DimExpr pad = window.pads[last];
    int64_t extent = (window.kernel[last] - 1) * window.dilations[last] + 1;
    Value positions = kb.index(lineSize());
    Value left = kb.min(kb.index(pad.ceilDiv(stride)), positions);
    // floor((size + pad - extent) / stride) + 1 windows start in time, if that is not negative.
    Value room = kb.add(kb.index(input.sizes[last + 1]), kb.index(pad + (stride - extent)));
    Value right = kb.min(kb.div(kb.max(room, kb.index(0)), kb.index(stride)), positions);
    return {left, kb.max(left, right)};
  }

  /// The positions from `x` on, one per span.
  void emitTile(Value x, ArrayRef<TapSpan> spans) {
    Value origin = window.origin(kb, last, x);
    kb.loopOverLanes(kb.index(0), kb.index(nest.loops.back().size), count, [&](Value channel, const Lanes &lanes) {
      SmallVector<Value> values(spans.size(), reducer.initial(count));
      values = overOuterTaps(0, pointerTo(origin, channel), kb.index(0), values,
                             [&](Value pointer, Value tap, ValueRange carried) {
                               return overUnrolledTaps(pointer, tap, channel, lanes, spans, carried);
                             });
      for (auto [value, span] : llvm::zip_equal(values, spans))
        value = reducer.finish(value, kb.mul(tapsOutside, kb.index(span.last - span.first)),
                               kb.mul(paddedOutside, kb.index(span.padded)));
      store(x, channel, lanes, values);
    });
  }

  /// Position `x`, any taps outside.
  void emitBorder(Value x) {
    Value origin = window.origin(kb, last, x);
    Value taps = tapsOutside, padded = paddedOutside;
    TapRange range = addRange(last, origin, taps, padded);
    ranges.pop_back();
    kb.loopOverLanes(kb.index(0), kb.index(nest.loops.back().size), count, [&](Value channel, const Lanes &lanes) {
      SmallVector<Value> values{reducer.initial(count)};
      values = overOuterTaps(0, pointerTo(origin, channel), kb.index(0), values,
                             [&](Value pointer, Value tap, ValueRange carried) {
                               return kb.loop(range.first, range.last, 1, carried, [&](Value k, ValueRange inner) {
                                 Value element = kb.load(step(pointer, last, k), kb.b.getF32Type(), lanes);
                                 Value operand = reducer.operandOf(kb.add(tap, k), channel, lanes);
                                 return SmallVector<Value>{reducer.combine(inner.front(), element, operand)};
                               });
                             });
      store(x, channel, lanes, {reducer.finish(values.front(), taps, padded)});
    });
  }

  using Taps = llvm::function_ref<SmallVector<Value>(Value pointer, Value tap, ValueRange carried)>;

  /// Loops over the taps inside of dims `d` and beyond, but the last; `tap` counts taps in row-major order.
  SmallVector<Value> overOuterTaps(unsigned d, Value pointer, Value tap, ValueRange carried, Taps inner) {
    if (d == last)
      return inner(pointer, tap, carried);
    int64_t tapsPerStep = 1;
    for (unsigned other = d + 1; other <= last; ++other)
      tapsPerStep *= window.kernel[other];
    return kb.loop(ranges[d].first, ranges[d].last, 1, carried, [&](Value k, ValueRange values) {
      return overOuterTaps(d + 1, step(pointer, d, k), kb.add(tap, kb.mul(k, kb.index(tapsPerStep))), values, inner);
    });
  }

  /// All taps of the last dim for all positions of a tile. Each input is read once.
  SmallVector<Value> overUnrolledTaps(Value pointer, Value tap, Value channel, const Lanes &lanes,
                                      ArrayRef<TapSpan> spans, ValueRange carried) {
    SmallVector<Value> values = llvm::to_vector_of<Value>(carried), operands;
    for (int64_t k = 0; k < window.kernel[last]; ++k)
      operands.push_back(reducer.operandOf(kb.add(tap, kb.index(k)), channel, lanes));
    // Input offset along the line -> who uses it. Ascending offsets are ascending taps for each position.
    std::map<int64_t, SmallVector<std::pair<size_t, int64_t>>> users;
    for (auto [position, span] : llvm::enumerate(spans))
      for (int64_t k = span.first; k < span.last; ++k)
        users[position * window.strides[last] + k * window.dilations[last]].push_back({position, k});
    for (const auto &[offset, positions] : users) {
      Value from = kb.advance(pointer, kb.b.getF32Type(), kb.mul(kb.index(offset), kb.index(input.strides[last + 1])));
      Value element = kb.load(from, kb.b.getF32Type(), lanes);
      for (auto [position, k] : positions)
        values[position] = reducer.combine(values[position], element, operands[k]);
    }
    return values;
  }

  void store(Value x, Value channel, const Lanes &lanes, ArrayRef<Value> values) {
    TileOfResult tile{line, lineLoop, static_cast<int64_t>(values.size()), 1, {}};
    tile.indices.push_back(x);
    tile.indices.push_back(channel);
    if (failed(epilogue.store(kb, nest, tile, lanes, values)))
      status = failure();
  }

  Value pointerTo(Value origin, Value channel) {
    Value offset = kb.add(kb.mul(origin, kb.index(input.strides[last + 1])), channel);
    return kb.advance(linePointer, kb.b.getF32Type(), offset);
  }
  Value step(Value pointer, unsigned d, Value tap) {
    Value steps = kb.mul(tap, kb.index(window.dilations[d]));
    return kb.advance(pointer, kb.b.getF32Type(), kb.mul(steps, kb.index(input.strides[d + 1])));
  }

  KernelBuilder &kb;
  const View &input;
  const Window &window;
  const Nest &nest;
  const Epilogue &epilogue;
  WindowReducer &reducer;
  unsigned last;     // spatial dim
  unsigned lineLoop; // its loop
  unsigned count;    // lanes
  LogicalResult status = success();
  // Of the current line:
  SmallVector<Value> line;
  SmallVector<TapRange> ranges; // per spatial dim but the last
  Value tapsOutside, paddedOutside, linePointer;
};

} // namespace

LogicalResult emitSlidingWindow(KernelBuilder &kb, const View &input, const Window &window, const Nest &nest,
                                const Epilogue &epilogue, WindowReducer &reducer) {
  return SlidingWindow(kb, input, window, nest, epilogue, reducer).emit();
}

} // namespace llmc::cpu
