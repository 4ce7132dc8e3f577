//===- VerifyBatching.cpp - What an entry says of requests that share a run ---------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"
#include <set>

namespace llmc::rt {

using TensorSpecs = flatbuffers::Vector<flatbuffers::Offset<plan::TensorSpec>>;
using Axes = flatbuffers::Vector<uint32_t>;
using Numbers = flatbuffers::Vector<uint64_t>;

/// Per tensor an axis whose dim has the name `dim`, or NONE.
static Status verifyAxes(const TensorSpecs *specs, const Axes *axes, std::string_view dim, const char *what) {
  if (count(axes) != count(specs))
    return fail("batching-axes", "dim '", dim, "' has axes for ", count(axes), " of ", count(specs), " ", what);
  for (uint32_t i = 0; i < count(axes); ++i) {
    uint32_t axis = axes->Get(i);
    const plan::TensorSpec *spec = specs->Get(i);
    if (axis != kNone && (axis >= count(spec->dim_names()) || text(spec->dim_names()->Get(axis)) != dim))
      return fail("batching-axes", "axis ", axis, " of '", text(spec->name()), "' is not dim '", dim, "'");
  }
  return {};
}

static Status verifyDim(const plan::EntryPoint &entry, std::string_view dim, const Axes *inputs, const Axes *outputs) {
  LLMC_TRY(verifyAxes(entry.inputs(), inputs, dim, "inputs"));
  LLMC_TRY(verifyAxes(entry.outputs(), outputs, dim, "outputs"));
  for (uint32_t i = 0; i < count(inputs); ++i)
    if (inputs->Get(i) != kNone)
      return {};
  return fail("batching-axes", "dim '", dim, "' is an axis of no input");
}

/// Rises from 1 or more.
static Status verifyRising(const char *rule, const Numbers *numbers, std::string_view what) {
  LLMC_TRY(verifyAligned(numbers, rule));
  uint64_t last = 0;
  for (uint32_t i = 0; i < count(numbers); ++i) {
    uint64_t number = numbers->Get(i);
    if (number <= last || number > uint64_t(INT64_MAX))
      return fail(rule, "number ", i, " of ", what, " is ", number, " after ", last);
    last = number;
  }
  return count(numbers) ? Status() : fail(rule, what, " are none");
}

static Status verifyBuckets(const plan::EntryPoint &entry, const plan::Batching &batching) {
  std::set<std::string_view> names = {text(batching.dim())};
  for (uint32_t i = 0; i < count(batching.buckets()); ++i) {
    const plan::BucketDim *bucket = batching.buckets()->Get(i);
    if (!names.insert(text(bucket->name())).second)
      return fail("bucket-name", "dim '", text(bucket->name()), "' has two meanings");
    LLMC_TRY(verifyRising("bucket-edges", bucket->edges(), concat("the edges of '", text(bucket->name()), "'")));
    LLMC_TRY(verifyDim(entry, text(bucket->name()), bucket->input_axes(), bucket->output_axes()));
  }
  return {};
}

/// One for each input that has a bucket, in order.
static Status verifyPads(const plan::EntryPoint &entry, const plan::Batching &batching) {
  uint32_t next = 0;
  for (uint32_t input = 0; input < count(entry.inputs()); ++input) {
    bool isPadded = false;
    for (uint32_t i = 0; i < count(batching.buckets()); ++i)
      isPadded |= batching.buckets()->Get(i)->input_axes()->Get(input) != kNone;
    if (!isPadded)
      continue;
    const plan::Pad *pad = next < count(batching.pads()) ? batching.pads()->Get(next++) : nullptr;
    const plan::TensorSpec *spec = entry.inputs()->Get(input);
    if (!pad || pad->input() != input)
      return fail("batching-pads", "input '", text(spec->name()), "' is padded with nothing");
    if (count(pad->value()) != uint64_t(elementSize(spec->dtype())))
      return fail("batching-pads", "input '", text(spec->name()), "' is padded with ", count(pad->value()), " bytes, its elements have ",
                  elementSize(spec->dtype()));
  }
  if (next != count(batching.pads()))
    return fail("batching-pads", count(batching.pads()), " pads for ", next, " inputs that are padded");
  return {};
}

static bool isGenerated(const plan::Batching &batching, uint32_t input) {
  for (uint32_t i = 0; i < count(batching.generated()); ++i)
    if (batching.generated()->Get(i)->input() == input)
      return true;
  return false;
}

/// Per tensor an axis that is not rows, or NONE.
static Status verifyRequestAxes(const TensorSpecs *specs, const Axes *axes, const Axes *rows, const char *what) {
  if (count(axes) != count(specs))
    return fail("batching-axes", "there are axes of requests for ", count(axes), " of ", count(specs), " ", what);
  for (uint32_t i = 0; i < count(axes); ++i)
    if (axes->Get(i) != kNone && (axes->Get(i) >= count(specs->Get(i)->dims()) || rows->Get(i) != kNone))
      return fail("batching-axes", "axis ", axes->Get(i), " of '", text(specs->Get(i)->name()),
                  "' has no place for each request");
  return {};
}

/// The axis of a generated input is rows if it is an index, else its own.
static Status verifyGenerated(const plan::EntryPoint &entry, const plan::Batching &batching,
                              const plan::Generated &generated) {
  const plan::TensorSpec *spec =
      generated.input() < count(entry.inputs()) ? entry.inputs()->Get(generated.input()) : nullptr;
  if (!spec)
    return fail("batching-generated", "there is no input ", generated.input(), " to generate");
  if (generated.kind() > plan::GeneratedKind::MAX)
    return fail("batching-generated", "input '", text(spec->name()), "' is of kind ", unsigned(generated.kind()));
  if (count(spec->dims()) != 1 || count(spec->dim_names()) != 1 ||
      (spec->dtype() != plan::DType::I32 && spec->dtype() != plan::DType::I64 && spec->dtype() != plan::DType::F32))
    return fail("batching-generated", "input '", text(spec->name()), "' is not one named axis of I32, I64 or F32");
  if ((batching.input_axes()->Get(generated.input()) != kNone) != (generated.kind() == plan::GeneratedKind::INDEX) ||
      batching.request_input_axes()->Get(generated.input()) != kNone)
    return fail("batching-generated", "input '", text(spec->name()), "' has other axes than its kind");
  return {};
}

static Status verifyPacking(const plan::EntryPoint &entry, const plan::Batching &batching) {
  if (count(batching.generated()) == 0)
    return count(batching.request_input_axes()) + count(batching.request_output_axes()) == 0
               ? Status()
               : fail("batching-generated", "there are axes of requests, but nothing is generated");
  if (count(batching.buckets()) > 0)
    return fail("batching-generated", "packed requests have buckets");
  LLMC_TRY(verifyRequestAxes(entry.inputs(), batching.request_input_axes(), batching.input_axes(), "inputs"));
  LLMC_TRY(verifyRequestAxes(entry.outputs(), batching.request_output_axes(), batching.output_axes(), "outputs"));
  int64_t last = -1;
  for (uint32_t i = 0; i < count(batching.generated()); ++i) {
    LLMC_TRY(verifyGenerated(entry, batching, *batching.generated()->Get(i)));
    if (int64_t(batching.generated()->Get(i)->input()) <= last)
      return fail("batching-generated", "input ", batching.generated()->Get(i)->input(), " comes after ", last);
    last = batching.generated()->Get(i)->input();
  }
  for (uint32_t i = 0; i < count(entry.outputs()); ++i)
    if (batching.output_axes()->Get(i) == kNone && batching.request_output_axes()->Get(i) == kNone)
      return fail("batching-generated", "output '", text(entry.outputs()->Get(i)->name()),
                  "' has neither rows nor a place for each request");
  for (uint32_t i = 0; i < count(entry.inputs()); ++i)
    if (batching.input_axes()->Get(i) != kNone && !isGenerated(batching, i))
      return {};
  return fail("batching-generated", "nothing that requests bring has rows");
}

static Status verifyCosts(const plan::Batching &batching) {
  LLMC_TRY(verifyAligned(batching.costs(), "costs"));
  std::optional<int64_t> expected = count(batching.sizes());
  for (uint32_t i = 0; i < count(batching.buckets()); ++i)
    expected = expected ? checkedMul(*expected, int64_t(batching.buckets()->Get(i)->edges()->size())) : expected;
  if (count(batching.costs()) == 0)
    return {};
  if (!expected || count(batching.costs()) != uint64_t(*expected))
    return fail("batching-costs", count(batching.costs()), " costs for ", expected.value_or(INT64_MAX), " sizes and buckets");
  for (uint64_t cost : *batching.costs())
    if (cost == 0 || cost > uint64_t(INT64_MAX))
      return fail("batching-costs", "a run takes ", cost, " ns");
  if (text(batching.cost_level()).empty() || batching.cost_threads() == 0)
    return fail("batching-costs", "nothing says where the costs were measured");
  return {};
}

Status verifyBatching(const plan::EntryPoint &entry) {
  const plan::Batching *batching = entry.batching();
  if (!batching)
    return {};
  LLMC_TRY(verifyDim(entry, text(batching->dim()), batching->input_axes(), batching->output_axes()));
  LLMC_TRY(verifyRising("batching-sizes", batching->sizes(), "the sizes of batches"));
  LLMC_TRY(verifyPacking(entry, *batching));
  LLMC_TRY(verifyBuckets(entry, *batching));
  LLMC_TRY(verifyPads(entry, *batching));
  return verifyCosts(*batching);
}

} // namespace llmc::rt
