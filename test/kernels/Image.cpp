#include "test/kernels/Image.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace llmc::test;

std::string llmc::test::imagePath(const std::string &kind, const std::string &level) {
  return LLMC_IMAGES "/" + kind + "-" + level + ".so";
}

bool llmc::test::hostRuns(const std::string &level) {
  if (level == "v2")
    return __builtin_cpu_supports("x86-64-v2");
  if (level == "v3")
    return __builtin_cpu_supports("x86-64-v3");
  return __builtin_cpu_supports("x86-64-v4");
}

Image::Image(const std::string &kind, const std::string &level)
    : handle(dlopen(imagePath(kind, level).c_str(), RTLD_NOW | RTLD_LOCAL)) {
  EXPECT_NE(handle, nullptr) << dlerror();
}

llmc_reference_kernel Image::kernel(int line) const {
  using Lookup = llmc_reference_kernel (*)(int);
  auto lookup = handle ? reinterpret_cast<Lookup>(dlsym(handle, "llmc_test_kernel")) : nullptr;
  return lookup ? lookup(line) : nullptr;
}
