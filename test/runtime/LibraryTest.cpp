//===- LibraryTest.cpp - What libllmc-runtime.so is: size, dependencies, symbols ----------------------------------===//

#include <array>
#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <set>
#include <string>

namespace {

std::string outputOf(const std::string &command) {
  std::string result;
  std::FILE *pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.append(buffer.data(), size);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return result;
}

/// The lines that a command prints.
std::set<std::string> lines(const std::string &command) {
  std::set<std::string> result;
  std::string text = outputOf(command);
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    result.insert(text.substr(at, end - at));
  return result;
}

const std::string kLibrary = LLMC_RUNTIME_LIBRARY;

TEST(Library, needs_only_libc_libstdcxx_and_libgcc) {
  // libc6 also has libm and the loader.
  std::set<std::string> allowed = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1"};
  for (const std::string &name : lines("readelf -d '" + kLibrary + "' | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'"))
    EXPECT_TRUE(allowed.count(name)) << name;
}

TEST(Library, exports_only_the_c_api) {
  std::set<std::string> names = lines("nm -D --defined-only '" + kLibrary + "' | awk '{print $3}'");
  EXPECT_TRUE(names.count("llmc_plan_load"));
  for (const std::string &name : names)
    EXPECT_EQ(name.rfind("llmc_", 0), 0u) << name;
}

TEST(Library, is_at_most_a_megabyte_stripped) {
  std::string stripped = testing::TempDir() + "/llmc-runtime-stripped.so";
  outputOf("strip -o '" + stripped + "' '" + kLibrary + "'");
  EXPECT_LE(std::filesystem::file_size(stripped), 1u << 20);
  std::filesystem::remove(stripped);
}

} // namespace
