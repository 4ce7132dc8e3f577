//===- ElfCheck.cpp - Which ELF images can be mapped as they are --------------------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/device/ElfImage.h"
#include <cstring>
#include <elf.h>

namespace llmc::rt {
namespace {

constexpr uint64_t kPageSize = 4096;
constexpr uint64_t kMaxImageSize = uint64_t(1) << 32;
constexpr unsigned kMaxHeaders = 64;

template <typename... Pieces> Status fail(const char *rule, const Pieces &...pieces) {
  return {Code::InvalidPlan, rule, concat("[", rule, "] code image: ", pieces...)};
}

template <typename T> T readAt(std::span<const std::byte> image, uint64_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

Status checkHeader(std::span<const std::byte> image, const Elf64_Ehdr &header) {
  const unsigned char *ident = header.e_ident;
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
    return fail("elf-header", "not a little-endian ELF64 file");
  if (header.e_type != ET_DYN || header.e_machine != EM_X86_64)
    return fail("elf-header", "type ", header.e_type, ", machine ", header.e_machine, "; expected a shared object (",
                ET_DYN, ") for x86-64 (", EM_X86_64, ")");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxHeaders ||
      !inRange(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), image.size()))
    return fail("elf-program-headers", header.e_phnum, " program headers of ", header.e_phentsize, " bytes at ",
                header.e_phoff, " of ", image.size());
  return {};
}

Status checkLoad(std::span<const std::byte> image, const Elf64_Phdr &load, uint64_t previousEnd) {
  if (!inRange(load.p_offset, load.p_filesz, image.size()) || load.p_filesz > load.p_memsz ||
      !inRange(load.p_vaddr, load.p_memsz, kMaxImageSize))
    return fail("elf-load-bounds", load.p_filesz, " bytes at ", load.p_offset, " of ", image.size(), " for ",
                load.p_memsz, " at address ", load.p_vaddr);
  if (load.p_offset % kPageSize != load.p_vaddr % kPageSize)
    return fail("elf-load-alignment", "offset ", load.p_offset, " and address ", load.p_vaddr, " differ in their page");
  // Whole pages: protection is per page.
  if (load.p_vaddr / kPageSize * kPageSize < previousEnd)
    return fail("elf-load-order", "a segment at address ", load.p_vaddr, " shares a page with the one before it");
  if ((load.p_flags & PF_W) && (load.p_flags & PF_X))
    return fail("elf-writable-code", "a segment is both writable and executable");
  if (load.p_memsz > load.p_filesz && !(load.p_flags & PF_W))
    return fail("elf-load-bounds", "a segment that can not be written has bytes that are not in the file");
  return {};
}

/// The dynamic section may describe symbols; nothing in it may ask the loader to act.
Status checkDynamic(std::span<const std::byte> image, const Elf64_Phdr &dynamic) {
  if (!inRange(dynamic.p_offset, dynamic.p_filesz, image.size()))
    return fail("elf-dynamic", "the dynamic section lies outside of the image");
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry = readAt<Elf64_Dyn>(image, dynamic.p_offset + at);
    switch (entry.d_tag) {
    case DT_NULL:
      return {};
    case DT_NEEDED:
      return fail("elf-needed", "it needs a library");
    case DT_RELA:
    case DT_RELASZ:
    case DT_REL:
    case DT_RELSZ:
    case DT_RELR:
    case DT_RELRSZ:
    case DT_JMPREL:
    case DT_PLTRELSZ:
    case DT_TEXTREL:
      return fail("elf-relocations", "it has dynamic relocations");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
      return fail("elf-initializers", "it has code to run when it is loaded");
    default:
      break;
    }
  }
  return {};
}

Status checkOther(std::span<const std::byte> image, const Elf64_Phdr &header) {
  switch (header.p_type) {
  case PT_DYNAMIC:
    return checkDynamic(image, header);
  case PT_INTERP:
  case PT_TLS:
    return fail("elf-program-headers", header.p_type == PT_TLS ? "thread-local data" : "it names an interpreter");
  case PT_GNU_STACK:
    return header.p_flags & PF_X ? fail("elf-writable-code", "it asks for an executable stack") : Status();
  default:
    return {};
  }
}

} // namespace

Result<std::vector<ElfSegment>> checkElfImage(std::span<const std::byte> image) {
  if (image.size() < sizeof(Elf64_Ehdr))
    return fail("elf-header", image.size(), " bytes are too few");
  Elf64_Ehdr header = readAt<Elf64_Ehdr>(image, 0);
  LLMC_TRY(checkHeader(image, header));
  std::vector<ElfSegment> segments;
  uint64_t end = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr load = readAt<Elf64_Phdr>(image, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (load.p_type != PT_LOAD) {
      LLMC_TRY(checkOther(image, load));
      continue;
    }
    if (load.p_memsz == 0)
      continue;
    LLMC_TRY(checkLoad(image, load, end));
    end = (load.p_vaddr + load.p_memsz + kPageSize - 1) / kPageSize * kPageSize;
    segments.push_back({load.p_offset, load.p_filesz, load.p_vaddr, load.p_memsz, bool(load.p_flags & PF_R),
                        bool(load.p_flags & PF_W), bool(load.p_flags & PF_X)});
  }
  if (segments.empty())
    return fail("elf-program-headers", "nothing to load");
  return segments;
}

} // namespace llmc::rt
