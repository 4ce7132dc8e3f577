#include "test/kernels/ReferenceCase.h"

#include "kernels/reference/Registry.h"

#include <algorithm>
#include <sstream>

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

int64_t Tensor::offset(int64_t element) const {
  if (strides.empty())
    return element * sizeOf(dtype);
  int64_t place = 0;
  for (size_t d = dims.size(); d-- > 0; element /= dims[d])
    place += element % dims[d] * strides[d];
  return place * sizeOf(dtype);
}

static double valueOf(const Tensor &tensor, int64_t element) {
  double value = 0;
  dispatchAny(tensor.dtype, [&]<typename T>() {
    value = double(load(tensor.at<T>(element)));
    return 0;
  });
  return value;
}

std::string Tensor::str() const {
  std::ostringstream os;
  os << "dtype " << dtype << " [";
  for (int64_t dim : dims)
    os << ' ' << dim;
  os << " ]:" << std::hexfloat;
  for (int64_t i = 0; i < std::min<int64_t>(elements(), 64); ++i)
    os << ' ' << valueOf(*this, i);
  return os.str();
}

Tensor test::exact(const Ints &dims, const std::vector<int64_t> &values) {
  Tensor tensor{LLMC_I64, dims, {}, std::vector<char>(values.size() * 8)};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

Tensor test::strided(const Tensor &tensor) {
  if (tensor.dtype == LLMC_DTYPE_INVALID || tensor.dims.empty())
    return tensor;
  Tensor result = tensor;
  result.strides.resize(tensor.dims.size());
  int64_t stride = 2;
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    result.strides[d] = stride;
    stride *= tensor.dims[d] + 1;
  }
  int64_t size = sizeOf(tensor.dtype);
  result.bytes.assign(stride * size, char(0xAB));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    std::memcpy(result.bytes.data() + result.offset(i), tensor.bytes.data() + i * size, size);
  return result;
}

static llmc_tensor describe(Tensor &tensor) {
  return {tensor.bytes.data(), tensor.dims.data(), tensor.strides.empty() ? nullptr : tensor.strides.data(),
          tensor.dtype, int32_t(tensor.dims.size())};
}

int32_t test::call(const char *mnemonic, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs,
                   const Ints &ints, const Floats &floats, llmc_error *error) {
  llmc_reference_kernel kernel = reference::find(mnemonic);
  EXPECT_NE(kernel, nullptr) << mnemonic;
  if (!kernel)
    return -1;
  std::vector<Tensor> copies = inputs;
  std::vector<llmc_tensor> in, out;
  for (Tensor &tensor : copies)
    in.push_back(describe(tensor));
  for (Tensor &tensor : outputs)
    out.push_back(describe(tensor));
  llmc_error ignored{};
  llmc_reference_args args{in.data(),
                           out.data(),
                           ints.data(),
                           floats.data(),
                           int32_t(in.size()),
                           int32_t(out.size()),
                           int32_t(ints.size()),
                           int32_t(floats.size()),
                           error ? error : &ignored};
  int32_t status = kernel(&args);
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(copies[i].bytes, inputs[i].bytes) << mnemonic << " wrote to input " << i;
  return status;
}

static bool agree(const Tensor &a, const Tensor &b, int64_t element, double tolerance) {
  double x = valueOf(a, element), y = valueOf(b, element);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y);
  if (tolerance > 0)
    return x == y || std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y));
  return std::memcmp(a.bytes.data() + a.offset(element), b.bytes.data() + b.offset(element), sizeOf(a.dtype)) == 0;
}

static void checkOutput(const char *mnemonic, const Tensor &output, const Tensor &expected, double tolerance) {
  ASSERT_EQ(output.dims, expected.dims) << mnemonic;
  for (int64_t i = 0; i < expected.elements(); ++i)
    ASSERT_TRUE(agree(output, expected, i, tolerance))
        << mnemonic << ", element " << i << "\n  expected " << expected.str() << "\n  got      " << output.str();
  std::vector<bool> isElement(output.bytes.size());
  for (int64_t i = 0; i < output.elements(); ++i)
    for (int64_t b = 0; b < sizeOf(output.dtype); ++b)
      isElement[output.offset(i) + b] = true;
  for (size_t b = 0; b < isElement.size(); ++b)
    ASSERT_TRUE(isElement[b] || output.bytes[b] == char(0xAB)) << mnemonic << " wrote to a gap at byte " << b;
}

static void check(const char *mnemonic, const std::vector<Tensor> &inputs, const std::vector<Tensor> &expected, const Ints &ints,
                  const Floats &floats, double tolerance, bool gaps) {
  std::vector<Tensor> outputs;
  for (Tensor output : expected) {
    std::fill(output.bytes.begin(), output.bytes.end(), char(0xAB));
    outputs.push_back(gaps ? strided(output) : output);
  }
  ASSERT_EQ(call(mnemonic, inputs, outputs, ints, floats), LLMC_KERNEL_OK) << mnemonic;
  for (size_t i = 0; i < expected.size(); ++i)
    checkOutput(mnemonic, outputs[i], expected[i], tolerance);
}

static void expectAll(const char *mnemonic, const std::vector<Tensor> &inputs, const std::vector<Tensor> &expected,
                      const Ints &ints, const Floats &floats, double tolerance) {
  check(mnemonic, inputs, expected, ints, floats, tolerance, /*gaps=*/false);
  std::vector<Tensor> spread;
  for (const Tensor &tensor : inputs)
    spread.push_back(strided(tensor));
  check(mnemonic, spread, expected, ints, floats, tolerance, /*gaps=*/true);
}

void test::expectKernel(const char *mnemonic, const std::vector<Tensor> &inputs, const Tensor &expected,
                        const Ints &ints, const Floats &floats, double tolerance) {
  expectAll(mnemonic, inputs, {expected}, ints, floats, tolerance);
}

void test::expectKernels(const char *mnemonic, const std::vector<Tensor> &inputs, const std::vector<Tensor> &expected,
                         const Ints &ints, const Floats &floats) {
  expectAll(mnemonic, inputs, expected, ints, floats, 0);
}

void test::expectFault(const char *mnemonic, const std::vector<Tensor> &inputs, const Tensor &outputLike,
                       const Ints &ints, int32_t status, int32_t operand, int64_t value) {
  std::vector<Tensor> outputs{outputLike};
  llmc_error error{};
  EXPECT_EQ(call(mnemonic, inputs, outputs, ints, {}, &error), status) << mnemonic;
  EXPECT_EQ(error.code, status) << mnemonic;
  EXPECT_EQ(error.operand, operand) << mnemonic;
  EXPECT_EQ(error.value, value) << mnemonic;
}
