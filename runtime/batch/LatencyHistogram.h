//===- LatencyHistogram.h - Times counted in buckets of 3 % -------------------------------------------------------===//
//
// Log-linear: each power of two has 32 buckets of equal width, so a value is known to 1/32 of itself. Fixed size, no
// allocation.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_LATENCYHISTOGRAM_H
#define LLMC_RUNTIME_BATCH_LATENCYHISTOGRAM_H

#include "runtime/batch/BatchTypes.h"
#include <array>
#include <bit>

namespace llmc::batch {

class LatencyHistogram {
public:
  static constexpr unsigned kBits = 5, kSteps = 1 << kBits, kBuckets = (64 - kBits) * kSteps;

  void add(TimeNs value) {
    ++counts[bucketOf(value)];
    ++count_;
    sum_ += value;
  }
  void clear() { *this = LatencyHistogram(); }
  uint64_t count() const { return count_; }
  TimeNs sum() const { return sum_; }
  TimeNs mean() const { return count_ ? sum_ / TimeNs(count_) : 0; }
  uint64_t inBucket(unsigned bucket) const { return counts[bucket]; }
  /// The greatest value of the bucket in which so many of 10,000 values have been counted; 0 without any.
  TimeNs percentile(uint32_t perTenThousand) const {
    uint64_t rank = (count_ * perTenThousand + 9999) / 10000, seen = 0;
    for (unsigned bucket = 0; bucket < kBuckets && rank > 0; ++bucket)
      if ((seen += counts[bucket]) >= rank)
        return lastOf(bucket);
    return 0;
  }

  /// Negative values count as 0.
  static unsigned bucketOf(TimeNs value) {
    uint64_t v = value < 0 ? 0 : uint64_t(value);
    if (v < kSteps)
      return unsigned(v);
    unsigned shift = unsigned(std::bit_width(v)) - kBits - 1;
    return (shift + 1) * kSteps + unsigned((v >> shift) - kSteps);
  }
  /// The greatest value that is counted there.
  static TimeNs lastOf(unsigned bucket) {
    if (bucket < kSteps)
      return bucket;
    unsigned shift = bucket / kSteps - 1;
    uint64_t first = uint64_t(kSteps + bucket % kSteps) << shift;
    return TimeNs(first + ((uint64_t(1) << shift) - 1));
  }

private:
  std::array<uint64_t, kBuckets> counts = {};
  uint64_t count_ = 0;
  TimeNs sum_ = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_LATENCYHISTOGRAM_H
