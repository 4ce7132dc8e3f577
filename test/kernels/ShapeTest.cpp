// Kernels that move elements, and those that make them from scalars.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

static const Tensor matrix = f32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(ReferenceKernel, reshape) {
  expectKernel("reshape", {matrix}, f32({3, 2}, {1, 2, 3, 4, 5, 6}));
  expectKernel("reshape", {matrix}, f32({1, 6, 1}, {1, 2, 3, 4, 5, 6}));
  expectKernel("reshape", {make<uint8_t>({1, 1}, {7})}, make<uint8_t>({}, {7}));
  expectKernel("reshape", {f64({}, {7})}, f64({1}, {7}));
  expectKernel("reshape", {f32({0, 3}, {})}, f32({5, 0}, {}));
  expectFault("reshape", {matrix}, f32({5}, {0, 0, 0, 0, 0}), {}, LLMC_KERNEL_BAD_SHAPE, 0, 6);
}

TEST(ReferenceKernel, transpose) {
  expectKernel("transpose", {matrix}, f32({3, 2}, {1, 4, 2, 5, 3, 6}), {2, 1, 0});
  expectKernel("transpose", {i64({1, 2, 3}, {1, 2, 3, 4, 5, 6})}, i64({3, 1, 2}, {1, 4, 2, 5, 3, 6}), {3, 2, 0, 1});
  expectKernel("transpose", {f32({}, {1})}, f32({}, {1}), {0});
  expectKernel("transpose", {f32({0, 2}, {})}, f32({2, 0}, {}), {2, 1, 0});
}

TEST(ReferenceKernel, expand) {
  expectKernel("expand", {f32({2, 1}, {1, 2})}, f32({2, 3}, {1, 1, 1, 2, 2, 2}));
  expectKernel("expand", {f32({3}, {1, 2, 3})}, f32({2, 3}, {1, 2, 3, 1, 2, 3}));
  expectKernel("expand", {make<Half>({}, {4})}, make<Half>({2, 2}, {4, 4, 4, 4}));
  expectKernel("expand", {f32({1}, {1})}, f32({0}, {}));
}

TEST(ReferenceKernel, tile) {
  expectKernel("tile", {f32({2}, {1, 2})}, f32({6}, {1, 2, 1, 2, 1, 2}), {1, 3});
  expectKernel("tile", {boolean({2, 1}, {1, 0})}, boolean({2, 2}, {1, 1, 0, 0}), {2, 1, 2});
  expectKernel("tile", {f32({2}, {1, 2})}, f32({0}, {}), {1, 0});
  expectKernel("tile", {f32({0}, {})}, f32({0}, {}), {1, 3});
}

TEST(ReferenceKernel, trilu) {
  Tensor square = i64({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expectKernel("trilu", {square}, i64({3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9}), {1, 0});
  expectKernel("trilu", {square}, i64({3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9}), {0, 0});
  expectKernel("trilu", {square}, i64({3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0}), {1, 1});
  expectKernel("trilu", {square}, i64({3, 3}, {1, 2, 0, 4, 5, 6, 7, 8, 9}), {0, 1});
  expectKernel("trilu", {square}, i64({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}), {1, INT64_MAX});
  expectKernel("trilu", {square}, square, {1, INT64_MIN});
  expectKernel("trilu", {f32({2, 1, 2}, {1, 2, 3, 4})}, f32({2, 1, 2}, {0, 2, 0, 4}), {1, 1});
}

TEST(ReferenceKernel, shape) {
  expectKernel("shape", {f32({2, 0, 4}, {})}, i64({3}, {2, 0, 4}), {0, INT64_MAX});
  expectKernel("shape", {f32({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, i64({1}, {1}), {-2, -1});
  expectKernel("shape", {f32({2, 1}, {1, 2})}, i64({0}, {}), {1, 1});
  expectKernel("shape", {f32({}, {1})}, i64({0}, {}), {0, INT64_MAX});
}

TEST(ReferenceKernel, concat) {
  expectKernel("concat", {matrix, f32({2, 1}, {7, 8})}, f32({2, 4}, {1, 2, 3, 7, 4, 5, 6, 8}), {1});
  expectKernel("concat", {f32({1, 3}, {7, 8, 9}), matrix, f32({0, 3}, {})}, f32({3, 3}, {7, 8, 9, 1, 2, 3, 4, 5, 6}),
               {-2});
  expectKernel("concat", {i64({1}, {1})}, i64({1}, {1}), {0});
}

TEST(ReferenceKernel, gather) {
  expectKernel("gather", {matrix, i64({2}, {1, -2})}, f32({2, 3}, {4, 5, 6, 1, 2, 3}), {0});
  expectKernel("gather", {matrix, i32({1, 2}, {2, 0})}, f32({2, 1, 2}, {3, 1, 6, 4}), {1});
  expectKernel("gather", {matrix, i64({}, {-1})}, f32({2}, {3, 6}), {-1});
  expectKernel("gather", {matrix, i64({0}, {})}, f32({2, 0}, {}), {1});
  expectKernel("gather", {boolean({2}, {0, 1}), i64({3}, {1, 1, 0})}, boolean({3}, {1, 1, 0}), {0});
  for (int64_t bad : {int64_t(2), int64_t(-3), INT64_MAX, INT64_MIN})
    expectFault("gather", {matrix, exact({1}, {bad})}, f32({1, 3}, {0, 0, 0}), {0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1,
                bad);
  expectFault("gather", {f32({0}, {}), i64({1}, {0})}, f32({1}, {0}), {0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, 0);
}

TEST(ReferenceKernel, gather_elements) {
  expectKernel("gather_elements", {matrix, i64({2, 2}, {0, -1, 1, 1})}, f32({2, 2}, {1, 3, 5, 5}), {1});
  expectKernel("gather_elements", {matrix, i32({1, 3}, {1, 0, 1})}, f32({1, 3}, {4, 2, 6}), {0});
  expectFault("gather_elements", {matrix, i64({1, 1}, {3})}, f32({1, 1}, {0}), {1}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1,
              3);
}

TEST(ReferenceKernel, slice) {
  expectKernel("slice", {matrix}, f32({2, 2}, {2, 3, 5, 6}), {1, 1, 1, INT64_MAX, 1, 1, 0});
  expectKernel("slice", {matrix}, f32({2, 2}, {6, 4, 3, 1}), {2, -1, -1, 2, INT64_MIN, INT64_MIN, 2, 0, -1, 2, -1, -2});
  expectKernel("slice", {matrix}, f32({2, 3}, {4, 5, 6, 1, 2, 3}), {1, 5, 1, -100, 0, 1, -1});
  expectKernel("slice", {matrix}, f32({2, 0}, {}), {1, 2, 1, 1, 1, 1, 1, 1});
  expectKernel("slice", {matrix}, f32({2, 1}, {1, 4}), {1, 0, 1, 3, 1, 1, 1, INT64_MAX});
  expectFault("slice", {matrix}, f32({2, 3}, {0, 0, 0, 0, 0, 0}), {1, 0, 1, 1, 1, 0, 1, 0}, LLMC_KERNEL_BAD_SHAPE, 4,
              0);
}

TEST(ReferenceKernel, slice_dynamic) {
  expectKernel("slice_dynamic", {matrix, i64({1}, {1}), exact({1}, {INT64_MAX}), i64({1}, {-1})},
               f32({2, 2}, {2, 3, 5, 6}));
  expectKernel("slice_dynamic", {matrix, i32({2}, {-1, -1}), i32({2}, {-9, -9}), absent, i32({2}, {-1, -2})},
               f32({2, 2}, {6, 4, 3, 1}));
  expectKernel("slice_dynamic", {matrix, i64({0}, {}), i64({0}, {})}, matrix);
  expectFault("slice_dynamic", {matrix, i64({1}, {0}), i64({1}, {1}), i64({1}, {2})}, matrix, {},
              LLMC_KERNEL_INDEX_OUT_OF_RANGE, 3, 2);
  expectFault("slice_dynamic", {matrix, i64({1}, {0}), i64({2}, {1, 1})}, matrix, {}, LLMC_KERNEL_BAD_SHAPE, 2, 2);
  // The output's dims hold a bound on the way in and the truth on the way out; less room than needed is a fault.
  std::vector<Tensor> outputs{f32({2, 3}, {0, 0, 0, 0, 0, 0})};
  EXPECT_EQ(call("slice_dynamic", {matrix, i64({1}, {0}), i64({1}, {1}), i64({1}, {1})}, outputs, {}, {}),
            LLMC_KERNEL_OK);
  EXPECT_EQ(outputs[0].dims, (Ints{2, 1}));
  EXPECT_EQ(outputs[0].at<float>(1), 4);
  expectFault("slice_dynamic", {matrix, i64({1}, {0}), i64({1}, {2}), i64({1}, {1})}, f32({2, 1}, {0, 0}), {},
              LLMC_KERNEL_OUT_OF_SPACE, -1, 4);
}

TEST(ReferenceKernel, pad) {
  Tensor row = f32({1, 3}, {1, 2, 3});
  expectKernel("pad", {row}, f32({2, 6}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0}), {4, 1, 2, 0, 1, 0});
  expectKernel("pad", {row, f32({}, {9})}, f32({1, 5}, {9, 1, 2, 3, 9}), {4, 0, 1, 0, 1, 0});
  expectKernel("pad", {row}, f32({1, 7}, {3, 2, 1, 2, 3, 2, 1}), {4, 0, 2, 0, 2, 1});
  expectKernel("pad", {row}, f32({1, 6}, {1, 1, 1, 2, 3, 3}), {4, 0, 2, 0, 1, 2});
  expectKernel("pad", {row}, f32({1, 6}, {2, 3, 1, 2, 3, 1}), {4, 0, 2, 0, 1, 3});
  expectKernel("pad", {row}, f32({1, 1}, {2}), {4, 0, -1, 0, -1, 0});
  expectKernel("pad", {row}, f32({1, 4}, {2, 3, 2, 3}), {4, 0, -1, 0, 2, 1}); // crops to [2 3], then reflects
  expectKernel("pad", {f32({1}, {5})}, f32({3}, {5, 5, 5}), {2, 1, 1, 1});
  expectKernel("pad", {f32({0}, {}), f32({}, {7})}, f32({2}, {7, 7}), {2, 1, 1, 0});
  expectKernel("pad", {boolean({1}, {1})}, boolean({2}, {1, 0}), {2, 0, 1, 0});
  expectKernel("pad", {f32({}, {5})}, f32({}, {5}), {0, 0});
  expectFault("pad", {f32({0}, {})}, f32({1}, {0}), {2, 0, 1, 2}, LLMC_KERNEL_BAD_SHAPE, 0, 0);
}

TEST(ReferenceKernel, range) {
  expectKernel("range", {i64({}, {1}), i64({}, {8}), i64({}, {3})}, i64({3}, {1, 4, 7}));
  expectKernel("range", {i32({}, {10}), i32({}, {4}), i32({}, {-2})}, i32({3}, {10, 8, 6}));
  expectKernel("range", {f32({}, {0}), f32({}, {1}), f32({}, {0.25})}, f32({4}, {0, 0.25, 0.5, 0.75}));
  expectKernel("range", {i64({}, {5}), i64({}, {5}), i64({}, {1})}, i64({0}, {}));
  expectKernel("range", {f64({}, {5}), f64({}, {1}), f64({}, {1})}, f64({0}, {}));
  expectKernel("range", {exact({}, {INT64_MIN}), exact({}, {INT64_MAX}), exact({}, {INT64_MAX})},
               exact({3}, {INT64_MIN, -1, INT64_MAX - 1}));
  expectFault("range", {i64({}, {0}), i64({}, {5}), i64({}, {0})}, i64({5}, {0, 0, 0, 0, 0}), {}, LLMC_KERNEL_BAD_SHAPE,
              2, 0);
  expectFault("range", {f32({}, {0}), f32({}, {inf}), f32({}, {1})}, f32({1}, {0}), {}, LLMC_KERNEL_BAD_SHAPE, 2, 0);
  expectFault("range", {i64({}, {0}), i64({}, {5}), i64({}, {1})}, i64({4}, {0, 0, 0, 0}), {}, LLMC_KERNEL_OUT_OF_SPACE,
              -1, 5);
}
