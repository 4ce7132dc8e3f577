//===- SimDevice.cpp - Memory that only its device can touch ------------------------------------------------------===//

#include "runtime/device/SimDevice.h"
#include "runtime/device/SimQueue.h"
#include <cassert>
#include <cstring>
#include <sys/mman.h>
#include <system_error>

namespace llmc::rt {

static constexpr size_t kPage = 4096;
// No address of a process on this machine has this bit without the 16 below it.
static constexpr uintptr_t kForeign = uintptr_t(1) << 63;

static std::byte *toForeign(std::byte *address) {
  return reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(address) ^ kForeign);
}

SimDevice::~SimDevice() {
  for (auto &[address, allocation] : allocations)
    ::munmap(allocation.pages, allocation.pageBytes);
}

/// The last byte is close to the guard behind it: overruns are more common than underruns.
Result<std::byte *> SimDevice::allocate(size_t bytes, size_t alignment) {
  std::lock_guard lock(mutex);
  if (bytes > size_t(INT64_MAX) - size_t(used) || used + int64_t(bytes) > memoryBytes)
    return Status(Code::OutOfMemory, concat("device ", name, " has ", memoryBytes, " bytes of memory, ", used,
                                            " of them in use, and ", bytes, " more are needed"));
  size_t inner = (bytes + kPage - 1) / kPage * kPage, all = inner + 2 * kPage;
  void *pages = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return Status(Code::OutOfMemory, concat("can not allocate ", bytes, " bytes for device ", name));
  auto *begin = static_cast<std::byte *>(pages) + kPage;
  if (::mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(pages, all);
    return Status(Code::OutOfMemory, concat("can not allocate ", bytes, " bytes for device ", name));
  }
  std::memset(begin, kPoison, inner);
  std::byte *address = begin + (inner - bytes) / alignment * alignment;
  allocations[reinterpret_cast<uintptr_t>(address)] = {static_cast<std::byte *>(pages), all, bytes};
  used += int64_t(bytes);
  return toForeign(address);
}

/// Its pages are gone: to touch them is a fault.
void SimDevice::free(std::byte *address, size_t) {
  std::lock_guard lock(mutex);
  auto found = allocations.find(reinterpret_cast<uintptr_t>(toForeign(address)));
  assert(found != allocations.end() && "only what was allocated is freed");
  ::munmap(found->second.pages, found->second.pageBytes);
  used -= int64_t(found->second.bytes);
  allocations.erase(found);
}

std::byte *SimDevice::find(const std::byte *address, size_t bytes) const {
  std::lock_guard lock(mutex);
  uintptr_t real = reinterpret_cast<uintptr_t>(address) ^ kForeign;
  auto after = allocations.upper_bound(real);
  if (after == allocations.begin())
    return nullptr;
  auto &[begin, allocation] = *std::prev(after);
  size_t offset = real - begin;
  if (offset > allocation.bytes || bytes > allocation.bytes - offset)
    return nullptr;
  return reinterpret_cast<std::byte *>(real);
}

Result<std::unique_ptr<Queue>> SimDevice::makeQueue(size_t capacity) {
  try {
    return std::unique_ptr<Queue>(std::make_unique<SimQueue>(*this, capacity));
  } catch (const std::system_error &error) {
    return Status(Code::OutOfMemory, concat("can not start the thread of device ", name, ": ", error.what()));
  }
}

} // namespace llmc::rt
