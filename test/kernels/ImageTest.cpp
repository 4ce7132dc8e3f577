// An image of all kernels and mathematics needs nothing from outside and no work of a loader; what is embedded is what
// was built.
#include "test/kernels/Image.h"
#include "kernels/reference/Bitcode.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

using namespace llmc;
using namespace llmc::test;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class KernelImage : public testing::TestWithParam<const char *> {};

TEST_P(KernelImage, HasNoUndefinedSymbolsAndNoRelocations) {
  std::string bytes = readFile(imagePath("bitcode", GetParam()));
  Elf64_Ehdr header;
  ASSERT_GT(bytes.size(), sizeof(header));
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  int symbols = 0;
  for (const Elf64_Shdr &section : sections) {
    EXPECT_TRUE(section.sh_type != SHT_REL && section.sh_type != SHT_RELA && section.sh_type != SHT_RELR)
        << section.sh_size << " bytes of relocations";
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM)
      continue;
    for (size_t at = sizeof(Elf64_Sym); at < section.sh_size; at += sizeof(Elf64_Sym), ++symbols) { // the first is null
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + section.sh_offset + at, sizeof(symbol));
      EXPECT_NE(symbol.st_shndx, SHN_UNDEF) << bytes.data() + sections[section.sh_link].sh_offset + symbol.st_name;
    }
  }
  EXPECT_GT(symbols, 100); // all kernels are in the symbol table
}

TEST_P(KernelImage, IsBuiltFromTheEmbeddedBytes) {
  std::string level = GetParam(), name = "x86-64-" + level;
  std::span<const char> bitcode = reference::bitcode(name), math = reference::mathObject(name);
  EXPECT_EQ(std::string(bitcode.begin(), bitcode.end()), readFile(LLMC_BITCODE_DIR "/kernels-" + level + ".bc"));
  EXPECT_EQ(std::string(math.begin(), math.end()), readFile(LLMC_BITCODE_DIR "/math-" + level + ".o"));
  EXPECT_EQ(std::string(bitcode.begin(), bitcode.begin() + 2), "BC");
  EXPECT_EQ(std::string(math.begin() + 1, math.begin() + 4), "ELF");
}

INSTANTIATE_TEST_SUITE_P(Levels, KernelImage, testing::Values("v2", "v3", "v4"));

TEST(KernelBitcode, IsEmptyForUnknownLevels) {
  EXPECT_TRUE(reference::bitcode("x86-64").empty());
  EXPECT_TRUE(reference::mathObject("x86-64-v5").empty());
}
