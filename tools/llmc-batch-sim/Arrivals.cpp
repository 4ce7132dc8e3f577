//===- Arrivals.cpp - When requests come --------------------------------------------------------------------------===//

#include "tools/llmc-batch-sim/Arrivals.h"
#include "tools/llmc-batch-sim/TextFile.h"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace llmc::sim {

using batch::TimeNs;

namespace {

/// Gaps of one kind, at one rate.
class Renewal final : public ArrivalSource {
public:
  Renewal(const ArrivalSpec &spec, uint64_t seed)
      : random(seed), gap(1e9 / spec.rate), shape(spec.kind == ArrivalKind::Gamma ? 1 / (spec.cv * spec.cv) : 0) {}
  TimeNs next() override {
    time += gap * (shape > 0 ? random.gamma(shape) : random.exponentialTime());
    return TimeNs(time);
  }

private:
  Random random;
  double gap, shape, time = 0;
};

/// A Poisson process whose rate changes: candidates come at its greatest rate and are kept by chance.
class Thinned : public ArrivalSource {
public:
  Thinned(double greatest, uint64_t seed) : random(seed), greatest(greatest) {}
  TimeNs next() final {
    do
      time += 1e9 / greatest * random.exponentialTime();
    while (random.uniform() * greatest > rateAt(time * 1e-9));
    return TimeNs(time);
  }

protected:
  virtual double rateAt(double seconds) = 0;
  Random random;

private:
  double greatest, time = 0;
};

class Mmpp final : public Thinned {
public:
  Mmpp(const ArrivalSpec &spec, uint64_t seed)
      : Thinned(2 * spec.rate * spec.peak / (1 + spec.peak), seed), low(2 * spec.rate / (1 + spec.peak)),
        high(low * spec.peak) {}

private:
  double rateAt(double seconds) override {
    while (seconds > switchAt) {
      switchAt += random.exponentialTime();
      isHigh = !isHigh;
    }
    return isHigh ? high : low;
  }
  double low, high, switchAt = 0;
  bool isHigh = false;
};

class Bursts final : public Thinned {
public:
  Bursts(const ArrivalSpec &spec, uint64_t seed)
      : Thinned(low(spec) * spec.peak, seed), rest(low(spec)), burst(rest * spec.peak) {}

private:
  static double low(const ArrivalSpec &spec) { return spec.rate / (0.9 + 0.1 * spec.peak); }
  double rateAt(double seconds) override { return seconds - std::floor(seconds) < 0.1 ? burst : rest; }
  double rest, burst;
};

class Diurnal final : public Thinned {
public:
  Diurnal(const ArrivalSpec &spec, uint64_t seed)
      : Thinned(2 * spec.rate, seed), rate(spec.rate), period(spec.period) {}

private:
  double rateAt(double seconds) override { return rate * (1 + sineOfTurn(seconds / period)); }
  double rate, period;
};

class Trace final : public ArrivalSource {
public:
  explicit Trace(RequestList list) : list(std::move(list)) {}
  TimeNs next() override { return at < list->size() ? (*list)[at++].time : batch::kNever; }

private:
  const RequestList list;
  size_t at = 0;
};

} // namespace

RequestList readTrace(const std::string &path) {
  std::vector<TimedRequest> result;
  readLines(path, [&](const std::vector<double> &numbers) {
    if (numbers.size() > 2 || numbers[0] < 0 || (numbers.size() == 2 && numbers[1] < 1))
      return false;
    result.push_back({.time = TimeNs(numbers[0] * 1e3), .rows = numbers.size() == 2 ? uint32_t(numbers[1]) : 1});
    return true;
  });
  std::sort(result.begin(), result.end(),
            [](const auto &a, const auto &b) { return std::tie(a.time, a.rows) < std::tie(b.time, b.rows); });
  return std::make_shared<std::vector<TimedRequest>>(std::move(result));
}

std::unique_ptr<ArrivalSource> makeSource(const ArrivalSpec &spec, uint64_t seed) {
  switch (spec.kind) {
  case ArrivalKind::Mmpp:
    return std::make_unique<Mmpp>(spec, seed);
  case ArrivalKind::Bursts:
    return std::make_unique<Bursts>(spec, seed);
  case ArrivalKind::Diurnal:
    return std::make_unique<Diurnal>(spec, seed);
  case ArrivalKind::Trace:
    return std::make_unique<Trace>(spec.trace);
  default:
    return std::make_unique<Renewal>(spec, seed);
  }
}

} // namespace llmc::sim
