//===- FormatTest.cpp - Files that are not what they should be ----------------------------------------------------===//

#include "runtime/device/CpuFeatures.h"
#include "runtime/device/ElfImage.h"
#include "test/runtime/LoadHelper.h"
#include "test/runtime/TestKernels.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <unistd.h>

namespace llmc::test {
namespace {

using rt::Code;
using rt::Status;
using testing::HasSubstr;

struct HeaderCase {
  const char *rule;
  Code code;
  std::function<void(ContainerHeader &)> spoil;
};
void PrintTo(const HeaderCase &c, std::ostream *out) { *out << c.rule; }

class Header : public testing::TestWithParam<HeaderCase> {};

TEST_P(Header, is_refused) {
  Bytes file = everythingPlan().file();
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  GetParam().spoil(header);
  if (std::strcmp(GetParam().rule, "header-checksum") != 0)
    header.checksum = headerChecksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  Status status = loadStatus(file);
  EXPECT_STREQ(status.rule(), GetParam().rule) << status.message();
  EXPECT_EQ(status.code(), GetParam().code);
}

const HeaderCase kHeaders[] = {
    {"magic", Code::InvalidPlan, [](ContainerHeader &h) { h.magic[0] = 'X'; }},
    {"container-version", Code::Incompatible, [](ContainerHeader &h) { h.major = 2; }},
    {"header-checksum", Code::InvalidPlan, [](ContainerHeader &h) { h.segmentsOffset += 1; }},
    {"header-flags", Code::Incompatible, [](ContainerHeader &h) { h.flags = 1; }},
    {"file-size", Code::InvalidPlan, [](ContainerHeader &h) { h.fileSize += 1; }},
    {"plan-offset", Code::InvalidPlan, [](ContainerHeader &h) { h.planOffset = 60; }},
    {"plan-offset", Code::InvalidPlan, [](ContainerHeader &h) { h.headerSize = 1u << 31; }},
    {"plan-range", Code::InvalidPlan, [](ContainerHeader &h) { h.planSize = 1u << 30; }},
    {"plan-range", Code::InvalidPlan, [](ContainerHeader &h) { h.segmentsOffset = UINT64_MAX; }},
    {"flatbuffer", Code::InvalidPlan, [](ContainerHeader &h) { h.planSize = 4; }},
    {"plan-hash", Code::InvalidPlan, [](ContainerHeader &h) { h.planHash[0] ^= 1; }},
};
INSTANTIATE_TEST_SUITE_P(Format, Header, testing::ValuesIn(kHeaders));

TEST(Format, a_later_minor_version_with_a_longer_header_loads) {
  Bytes file = everythingPlan().file();
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  Bytes longer(file.size());
  uint32_t shift = 64;
  std::memcpy(longer.data() + header.planOffset + shift, file.data() + header.planOffset, header.planSize);
  std::memcpy(longer.data() + header.segmentsOffset, file.data() + header.segmentsOffset,
              file.size() - header.segmentsOffset);
  header.minor = 7;
  header.headerSize += shift;
  header.planOffset += shift;
  header.checksum = headerChecksum(header);
  std::memcpy(longer.data(), &header, sizeof header);
  EXPECT_TRUE(loadStatus(longer).ok()) << loadStatus(longer).message();
}

TEST(Format, truncated_at_every_byte) {
  Bytes file = everythingPlan().file();
  PageAligned whole(file);
  for (size_t size = 0; size < file.size(); ++size) {
    Status status = loadStatus(whole.bytes().first(size));
    ASSERT_EQ(status.code(), Code::InvalidPlan) << size;
  }
}

/// The same with a header that agrees, so that what lies behind it has to notice.
TEST(Format, truncated_at_every_byte_of_the_plan_with_a_header_that_agrees) {
  Bytes file = everythingPlan().file();
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  for (uint32_t size = 0; size < header.planSize; ++size) {
    Bytes shorter(file.begin(), file.begin() + header.planOffset + size);
    ContainerHeader cut = makeContainerHeader(header.planOffset, std::span(shorter).subspan(header.planOffset),
                                              shorter.size(), shorter.size());
    std::memcpy(shorter.data(), &cut, sizeof cut);
    ASSERT_FALSE(loadStatus(shorter).ok()) << size;
  }
}

TEST(Format, says_what_was_changed_after_writing) {
  PlanBuilder builder = everythingPlan();
  Bytes file = builder.file();
  rt::LoadOptions verify;
  verify.verifyConstants = true;
  ASSERT_TRUE(loadStatus(file, verify).ok());
  auto changed = [&](size_t offset) {
    Bytes copy = file;
    copy[offset] ^= std::byte(1);
    return copy;
  };
  size_t code = 65536, constants = file.size() - 65536; // as assemble() lays them out
  EXPECT_THAT(loadStatus(changed(code + 100)).message(), HasSubstr("CODE segment 0 was changed after it was written"));
  EXPECT_THAT(loadStatus(changed(constants + 3), verify).message(),
              HasSubstr("CONSTANTS segment 1 was changed after it was written"));
  EXPECT_TRUE(loadStatus(changed(constants + 3)).ok()) << "constants are compared on request only";
  EXPECT_THAT(loadStatus(changed(sizeof(ContainerHeader) + 200)).message(),
              HasSubstr("the plan was changed after it was written"));
}

/// An expression list whose elements straddle their alignment, which the stock verifier accepts.
TEST(Format, misaligned_elements_are_refused) {
  Bytes file = everythingPlan().file();
  PageAligned aligned(file);
  std::byte *bytes = const_cast<std::byte *>(aligned.bytes().data());
  const plan::Plan *root = plan::GetPlan(bytes + sizeof(ContainerHeader));
  const plan::Block *block = root->entries()->Get(0)->bodies()->Get(0)->blocks()->Get(0);
  const uint8_t *field = reinterpret_cast<const flatbuffers::Table *>(block)->GetAddressOf(plan::Block::VT_EXPRS);
  size_t at = size_t(reinterpret_cast<const std::byte *>(field) - bytes);
  size_t target = (at + 8) / 8 * 8; // a length of 0 at a multiple of 8: the elements are 4 bytes on
  auto word = [&](size_t offset) {
    uint32_t value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  };
  while (word(target) != 0)
    target += 8;
  uint32_t offset = uint32_t(target - at);
  std::memcpy(file.data() + at, &offset, sizeof offset);
  rehash(file);
  Status status = loadStatus(file);
  EXPECT_STREQ(status.rule(), "vector-alignment") << status.message();
}

TEST(Format, other_cpu) {
  if (!rt::missingFeature("x86-64-v4"))
    GTEST_SKIP() << "this machine has x86-64-v4";
  Status status = loadStatus(addReluPlan({4}).file());
  EXPECT_EQ(status.code(), Code::Incompatible);
  EXPECT_THAT(status.message(), HasSubstr("'x86-64-v4' needs avx512f, which this machine lacks"));
}

TEST(Format, level_is_the_best_or_the_one_asked_for) {
  PageAligned file(addReluPlan({2, 3, 4}).file());
  auto levelOf = [&](const char *pinned) {
    rt::LoadOptions options;
    options.cpuLevel = pinned;
    auto plan = rt::LoadedPlan::load(*rt::PlanFile::fromMemory(file.bytes()), options);
    return plan.ok() ? (*plan)->cpuLevel() : plan.status().message();
  };
  std::string best = std::string(rt::hostCpuLevel()).substr(0, 9); // this plan has nothing beyond v4
  EXPECT_EQ(levelOf(""), best);
  EXPECT_EQ(levelOf("x86-64-v2"), "x86-64-v2");
  EXPECT_THAT(levelOf("x86-64-v1"), HasSubstr("is not the level asked for, 'x86-64-v1'"));
}

TEST(Format, maps_code_from_the_file) {
  std::string name = "llmc-format-test-" + std::to_string(::getpid()) + ".llmc", path = testing::TempDir() + name;
  Bytes bytes = addReluPlan().file();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  auto file = rt::PlanFile::open(path.c_str());
  ASSERT_TRUE(file.ok()) << file.status().message();
  auto plan = rt::LoadedPlan::load(*file, {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) {
      found |= line.find("r-xp") != std::string::npos;
      EXPECT_EQ(line.find("rwxp"), std::string::npos) << line;
    }
  EXPECT_TRUE(found) << "no executable mapping of " << path;
  ::unlink(path.c_str());
}

// --- ELF images ---------------------------------------------------------------------------------------------------

struct ElfCase {
  const char *rule;
  std::function<void(Bytes &image)> spoil;
};
void PrintTo(const ElfCase &c, std::ostream *out) { *out << c.rule; }

template <typename T> void change(Bytes &image, size_t offset, T value) {
  std::memcpy(image.data() + offset, &value, sizeof value);
}
template <typename T> T readAt(const Bytes &image, size_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

/// Offset of the nth program header of a type.
size_t programHeader(const Bytes &image, uint32_t type, int nth = 0) {
  auto header = readAt<Elf64_Ehdr>(image, 0);
  for (size_t i = 0; i < header.e_phnum; ++i)
    if (size_t at = header.e_phoff + i * sizeof(Elf64_Phdr); readAt<Elf64_Phdr>(image, at).p_type == type && nth-- == 0)
      return at;
  throw std::runtime_error("no such program header");
}

/// Replaces the first entry of the dynamic section by `tag`.
void setDynamic(Bytes &image, int64_t tag) {
  auto dynamic = readAt<Elf64_Phdr>(image, programHeader(image, PT_DYNAMIC));
  change(image, dynamic.p_offset, tag);
}

class Elf : public testing::TestWithParam<ElfCase> {};

TEST_P(Elf, is_refused) {
  Bytes image = kernelImage(2);
  ASSERT_TRUE(rt::checkElfImage(image).ok());
  GetParam().spoil(image);
  Bytes exact(image); // no spare capacity for a read beyond the end to hide in
  Status status = rt::checkElfImage(exact).status();
  EXPECT_STREQ(status.rule(), GetParam().rule) << status.message();
}

const ElfCase kElf[] = {
    {"elf-header", [](Bytes &i) { i.resize(10); }},
    {"elf-header", [](Bytes &i) { i[EI_CLASS] = std::byte(ELFCLASS32); }},
    {"elf-header", [](Bytes &i) { change<uint16_t>(i, offsetof(Elf64_Ehdr, e_machine), EM_AARCH64); }},
    {"elf-header", [](Bytes &i) { change<uint16_t>(i, offsetof(Elf64_Ehdr, e_type), ET_EXEC); }},
    {"elf-program-headers", [](Bytes &i) { change<uint64_t>(i, offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 8); }},
    {"elf-program-headers", [](Bytes &i) { change<uint16_t>(i, offsetof(Elf64_Ehdr, e_phnum), 0); }},
    {"elf-program-headers", [](Bytes &i) { change<uint32_t>(i, programHeader(i, PT_GNU_STACK), PT_TLS); }},
    {"elf-program-headers", [](Bytes &i) { change<uint32_t>(i, programHeader(i, PT_GNU_STACK), PT_INTERP); }},
    {"elf-load-bounds",
     [](Bytes &i) { change<uint64_t>(i, programHeader(i, PT_LOAD) + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX); }},
    {"elf-load-bounds",
     [](Bytes &i) { change<uint64_t>(i, programHeader(i, PT_LOAD) + offsetof(Elf64_Phdr, p_memsz), 1u << 20); }},
    {"elf-load-alignment",
     [](Bytes &i) { change<uint64_t>(i, programHeader(i, PT_LOAD) + offsetof(Elf64_Phdr, p_vaddr), 1); }},
    {"elf-load-order",
     [](Bytes &i) { change<uint64_t>(i, programHeader(i, PT_LOAD) + offsetof(Elf64_Phdr, p_vaddr), 1u << 24); }},
    {"elf-writable-code",
     [](Bytes &i) { change<uint32_t>(i, programHeader(i, PT_LOAD) + offsetof(Elf64_Phdr, p_flags), PF_W | PF_X); }},
    {"elf-writable-code",
     [](Bytes &i) { change<uint32_t>(i, programHeader(i, PT_GNU_STACK) + offsetof(Elf64_Phdr, p_flags), PF_X); }},
    {"elf-dynamic",
     [](Bytes &i) { change<uint64_t>(i, programHeader(i, PT_DYNAMIC) + offsetof(Elf64_Phdr, p_offset), UINT64_MAX); }},
    {"elf-needed", [](Bytes &i) { setDynamic(i, DT_NEEDED); }},
    {"elf-relocations", [](Bytes &i) { setDynamic(i, DT_RELA); }},
    {"elf-relocations", [](Bytes &i) { setDynamic(i, DT_JMPREL); }},
    {"elf-initializers", [](Bytes &i) { setDynamic(i, DT_INIT_ARRAY); }},
};
INSTANTIATE_TEST_SUITE_P(Format, Elf, testing::ValuesIn(kElf));

TEST(Elf, an_anonymous_copy_runs_too) {
  auto image = rt::ElfImage::map(kernelImage(2), /*descriptor=*/-1, 0);
  ASSERT_TRUE(image.ok());
  EXPECT_FALSE(image->at(0).ok()) << "headers are not code";
}

} // namespace
} // namespace llmc::test
