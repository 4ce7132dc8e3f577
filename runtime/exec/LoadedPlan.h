//===- LoadedPlan.h - A plan bound to this machine ----------------------------------------------------------------===//
//
// Immutable after loading, but for the cache of bindings, and shared by all sessions.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_LOADEDPLAN_H
#define LLMC_RUNTIME_EXEC_LOADEDPLAN_H

#include "kernels/abi/kernel_abi.h"
#include "runtime/device/DeviceProfile.h"
#include "runtime/device/SimDevice.h"
#include "runtime/exec/VirtualClock.h"
#include <list>
#include <memory>
#include <mutex>

namespace llmc::rt {

struct LoadOptions {
  unsigned threads = 0; // per run; 0: all processors
  std::string cpuLevel; // empty: the best that fits
  std::string deviceProfile; // a file; empty: none
  bool verifyConstants = false;
  size_t shapeCacheSize = 64; // bindings kept per entry
};

/// A body that this machine can run.
struct LoadedBody {
  explicit LoadedBody(Program decoded) : program(std::move(decoded)), loaded(program) {}
  Program program;
  ShapeState loaded; // with what constants determine
  std::vector<BlockError> loadErrors;
  std::vector<Device *> devices;            // of the body
  std::vector<const void *> kernels;        // per dispatch
  std::vector<const std::byte *> constants; // per buffer, an address of its device; null for those of other kinds
};

/// A body with all numbers that follow from the dims of the inputs. Immutable and shared.
struct Binding {
  const LoadedBody *body;
  std::vector<int64_t> dims; // of all inputs, one after the other
  ShapeState shape;
  std::vector<BlockError> blockErrors;
  bool isParallel = false; // whether any step may be worth more than one thread: if not, no other thread is woken
};

class LoadedEntry {
public:
  LoadedEntry(const plan::EntryPoint &spec, size_t cacheSize) : spec(spec), cacheSize(cacheSize) {}

  /// The binding for `dims`, made if it is not among those of the last `shapeCacheSize` shapes. Allocates nothing if it
  /// is.
  Result<std::shared_ptr<const Binding>> bind(std::span<const int64_t> dims);

  const plan::EntryPoint &spec;
  std::vector<std::unique_ptr<LoadedBody>> bodies; // by falling priority

private:
  Result<std::shared_ptr<const Binding>> makeBinding(std::span<const int64_t> dims) const;
  std::shared_ptr<const Binding> find(std::span<const int64_t> dims);

  const size_t cacheSize;
  std::mutex mutex;
  std::list<std::shared_ptr<const Binding>> cache; // latest first
};

class LoadedPlan {
public:
  static Result<std::shared_ptr<LoadedPlan>> load(std::shared_ptr<const PlanFile> file, const LoadOptions &options);

  const plan::Plan &plan() const { return file->plan(); }
  const CpuDevice &device() const { return cpu; }
  /// Of the devices of the body's queues, if a profile was given.
  std::unique_ptr<VirtualClock> makeClock(const LoadedBody &body) const;
  /// The level of the code in use; empty if the plan has no code.
  const std::string &cpuLevel() const { return level; }
  std::span<const std::unique_ptr<LoadedEntry>> entries() const { return loadedEntries; }

private:
  LoadedPlan(std::shared_ptr<const PlanFile> file, const LoadOptions &options)
      : file(std::move(file)), cpu(options.threads, options.cpuLevel) {}
  void makeDevices();
  bool isRunnable(const plan::Body &body) const;
  Status chooseVariants();
  Status loadImages();
  Status loadEntry(const plan::EntryPoint &spec, size_t cacheSize);
  Status loadBody(const plan::EntryPoint &spec, const plan::Body &body, LoadedEntry &entry);
  Status bindCode(LoadedBody &body) const;
  Status bindConstants(LoadedBody &body);
  Result<const std::byte *> placeConstant(uint32_t index, Device &device);

  std::shared_ptr<const PlanFile> file;
  CpuDevice cpu;
  DeviceProfile profile;
  std::vector<std::unique_ptr<SimDevice>> simulated;
  std::vector<Device *> devices; // per device of the plan; null for those that are not there
  std::map<std::pair<uint32_t, Device *>, DeviceBlock> placed; // constants in the memory of devices
  std::string level;
  std::vector<uint32_t> variants;                 // per executable
  std::vector<std::unique_ptr<CodeImage>> images; // per executable; null for those of other devices
  std::vector<std::unique_ptr<LoadedEntry>> loadedEntries;
};

/// Checks the dims of all inputs against what `program` expects, and enters them in `shape`. Then everything that
/// follows from them.
Status bindShape(const LoadedBody &body, std::span<const int64_t> dims, ShapeState &shape,
                 std::vector<BlockError> &blockErrors);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_LOADEDPLAN_H
