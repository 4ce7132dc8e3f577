// RUN: llmc-opt %s --graph-to-linalg --linalg-fuse-element-wise --split-input-file | FileCheck %s

// CHECK-LABEL: func @chain
func.func @chain(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}, %y: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: arith.maximumf
  // CHECK-NOT: linalg.generic
  %s = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.relu %s : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What two ops read is computed once.
// CHECK-LABEL: func @two_readers
func.func @two_readers(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: math.exp
  // CHECK-NOT: math.exp
  %e = graph.exp %x : tensor<4xf32> -> tensor<4xf32>
  %a = graph.neg %e : tensor<4xf32> -> tensor<4xf32>
  %b = graph.sqrt %e : tensor<4xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// A matrix product reads through a transpose, and writes through one.
// CHECK: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func @transposes_of_a_product
func.func @transposes_of_a_product(%x: tensor<8x2xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"2">]}, %w: tensor<8x3xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"3">]}) -> tensor<3x2xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[LHS]], #{{.*}}, #[[OUT]]]
  // CHECK-NOT: linalg.generic
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : tensor<8x2xf32> -> tensor<2x8xf32>
  %y = graph.matmul %t, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  %z = graph.transpose %y {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  return %z : tensor<3x2xf32>
}

// -----

// What a matrix product multiplies is not computed inside of it.
// CHECK-LABEL: func @operand_is_computed
func.func @operand_is_computed(%x: tensor<2x8xf32> {graph.dims = [#graph.expr<"2">, #graph.expr<"8">]}, %w: tensor<8x3xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"3">]}) -> tensor<2x3xf32> {
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK: linalg.generic
  // CHECK: arith.mulf
  %e = graph.exp %x : tensor<2x8xf32> -> tensor<2x8xf32>
  %y = graph.matmul %e, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Each sum reads the two before it: as many rounds of rewriting as the chain has links.
// CHECK-LABEL: func @braid
func.func @braid(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}, %y: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK-NOT: graph.add
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %y, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.add %3, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.add %4, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = graph.add %5, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = graph.add %6, %7 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = graph.add %7, %8 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %10 = graph.add %8, %9 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %11 = graph.add %9, %10 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %12 = graph.add %10, %11 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %13 = graph.add %11, %12 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %14 = graph.add %12, %13 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %15 = graph.add %13, %14 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %16 = graph.add %14, %15 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %17 = graph.add %15, %16 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %18 = graph.add %16, %17 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %19 = graph.add %17, %18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %20 = graph.add %18, %19 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %21 = graph.add %19, %20 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %22 = graph.add %20, %21 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %23 = graph.add %21, %22 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %24 = graph.add %22, %23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %25 = graph.add %23, %24 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %26 = graph.add %24, %25 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %27 = graph.add %25, %26 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %28 = graph.add %26, %27 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %29 = graph.add %27, %28 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %30 = graph.add %28, %29 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %31 = graph.add %29, %30 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %32 = graph.add %30, %31 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %33 = graph.add %31, %32 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %34 = graph.add %32, %33 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %35 = graph.add %33, %34 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %36 = graph.add %34, %35 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %37 = graph.add %35, %36 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %38 = graph.add %36, %37 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %39 = graph.add %37, %38 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %39 : tensor<4xf32>
}

// -----

// A body ends at a hundred ops.
// CHECK-LABEL: func @long_chain
func.func @long_chain(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> tensor<4xf32> {
  // CHECK-COUNT-2: linalg.generic
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %0 = graph.sqrt %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.exp %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.sqrt %1 : tensor<4xf32> -> tensor<4xf32>
  %3 = graph.exp %2 : tensor<4xf32> -> tensor<4xf32>
  %4 = graph.sqrt %3 : tensor<4xf32> -> tensor<4xf32>
  %5 = graph.exp %4 : tensor<4xf32> -> tensor<4xf32>
  %6 = graph.sqrt %5 : tensor<4xf32> -> tensor<4xf32>
  %7 = graph.exp %6 : tensor<4xf32> -> tensor<4xf32>
  %8 = graph.sqrt %7 : tensor<4xf32> -> tensor<4xf32>
  %9 = graph.exp %8 : tensor<4xf32> -> tensor<4xf32>
  %10 = graph.sqrt %9 : tensor<4xf32> -> tensor<4xf32>
  %11 = graph.exp %10 : tensor<4xf32> -> tensor<4xf32>
  %12 = graph.sqrt %11 : tensor<4xf32> -> tensor<4xf32>
  %13 = graph.exp %12 : tensor<4xf32> -> tensor<4xf32>
  %14 = graph.sqrt %13 : tensor<4xf32> -> tensor<4xf32>
  %15 = graph.exp %14 : tensor<4xf32> -> tensor<4xf32>
  %16 = graph.sqrt %15 : tensor<4xf32> -> tensor<4xf32>
  %17 = graph.exp %16 : tensor<4xf32> -> tensor<4xf32>
  %18 = graph.sqrt %17 : tensor<4xf32> -> tensor<4xf32>
  %19 = graph.exp %18 : tensor<4xf32> -> tensor<4xf32>
  %20 = graph.sqrt %19 : tensor<4xf32> -> tensor<4xf32>
  %21 = graph.exp %20 : tensor<4xf32> -> tensor<4xf32>
  %22 = graph.sqrt %21 : tensor<4xf32> -> tensor<4xf32>
  %23 = graph.exp %22 : tensor<4xf32> -> tensor<4xf32>
  %24 = graph.sqrt %23 : tensor<4xf32> -> tensor<4xf32>
  %25 = graph.exp %24 : tensor<4xf32> -> tensor<4xf32>
  %26 = graph.sqrt %25 : tensor<4xf32> -> tensor<4xf32>
  %27 = graph.exp %26 : tensor<4xf32> -> tensor<4xf32>
  %28 = graph.sqrt %27 : tensor<4xf32> -> tensor<4xf32>
  %29 = graph.exp %28 : tensor<4xf32> -> tensor<4xf32>
  %30 = graph.sqrt %29 : tensor<4xf32> -> tensor<4xf32>
  %31 = graph.exp %30 : tensor<4xf32> -> tensor<4xf32>
  %32 = graph.sqrt %31 : tensor<4xf32> -> tensor<4xf32>
  %33 = graph.exp %32 : tensor<4xf32> -> tensor<4xf32>
  %34 = graph.sqrt %33 : tensor<4xf32> -> tensor<4xf32>
  %35 = graph.exp %34 : tensor<4xf32> -> tensor<4xf32>
  %36 = graph.sqrt %35 : tensor<4xf32> -> tensor<4xf32>
  %37 = graph.exp %36 : tensor<4xf32> -> tensor<4xf32>
  %38 = graph.sqrt %37 : tensor<4xf32> -> tensor<4xf32>
  %39 = graph.exp %38 : tensor<4xf32> -> tensor<4xf32>
  %40 = graph.sqrt %39 : tensor<4xf32> -> tensor<4xf32>
  %41 = graph.exp %40 : tensor<4xf32> -> tensor<4xf32>
  %42 = graph.sqrt %41 : tensor<4xf32> -> tensor<4xf32>
  %43 = graph.exp %42 : tensor<4xf32> -> tensor<4xf32>
  %44 = graph.sqrt %43 : tensor<4xf32> -> tensor<4xf32>
  %45 = graph.exp %44 : tensor<4xf32> -> tensor<4xf32>
  %46 = graph.sqrt %45 : tensor<4xf32> -> tensor<4xf32>
  %47 = graph.exp %46 : tensor<4xf32> -> tensor<4xf32>
  %48 = graph.sqrt %47 : tensor<4xf32> -> tensor<4xf32>
  %49 = graph.exp %48 : tensor<4xf32> -> tensor<4xf32>
  %50 = graph.sqrt %49 : tensor<4xf32> -> tensor<4xf32>
  %51 = graph.exp %50 : tensor<4xf32> -> tensor<4xf32>
  %52 = graph.sqrt %51 : tensor<4xf32> -> tensor<4xf32>
  %53 = graph.exp %52 : tensor<4xf32> -> tensor<4xf32>
  %54 = graph.sqrt %53 : tensor<4xf32> -> tensor<4xf32>
  %55 = graph.exp %54 : tensor<4xf32> -> tensor<4xf32>
  %56 = graph.sqrt %55 : tensor<4xf32> -> tensor<4xf32>
  %57 = graph.exp %56 : tensor<4xf32> -> tensor<4xf32>
  %58 = graph.sqrt %57 : tensor<4xf32> -> tensor<4xf32>
  %59 = graph.exp %58 : tensor<4xf32> -> tensor<4xf32>
  %60 = graph.sqrt %59 : tensor<4xf32> -> tensor<4xf32>
  %61 = graph.exp %60 : tensor<4xf32> -> tensor<4xf32>
  %62 = graph.sqrt %61 : tensor<4xf32> -> tensor<4xf32>
  %63 = graph.exp %62 : tensor<4xf32> -> tensor<4xf32>
  %64 = graph.sqrt %63 : tensor<4xf32> -> tensor<4xf32>
  %65 = graph.exp %64 : tensor<4xf32> -> tensor<4xf32>
  %66 = graph.sqrt %65 : tensor<4xf32> -> tensor<4xf32>
  %67 = graph.exp %66 : tensor<4xf32> -> tensor<4xf32>
  %68 = graph.sqrt %67 : tensor<4xf32> -> tensor<4xf32>
  %69 = graph.exp %68 : tensor<4xf32> -> tensor<4xf32>
  %70 = graph.sqrt %69 : tensor<4xf32> -> tensor<4xf32>
  %71 = graph.exp %70 : tensor<4xf32> -> tensor<4xf32>
  %72 = graph.sqrt %71 : tensor<4xf32> -> tensor<4xf32>
  %73 = graph.exp %72 : tensor<4xf32> -> tensor<4xf32>
  %74 = graph.sqrt %73 : tensor<4xf32> -> tensor<4xf32>
  %75 = graph.exp %74 : tensor<4xf32> -> tensor<4xf32>
  %76 = graph.sqrt %75 : tensor<4xf32> -> tensor<4xf32>
  %77 = graph.exp %76 : tensor<4xf32> -> tensor<4xf32>
  %78 = graph.sqrt %77 : tensor<4xf32> -> tensor<4xf32>
  %79 = graph.exp %78 : tensor<4xf32> -> tensor<4xf32>
  %80 = graph.sqrt %79 : tensor<4xf32> -> tensor<4xf32>
  %81 = graph.exp %80 : tensor<4xf32> -> tensor<4xf32>
  %82 = graph.sqrt %81 : tensor<4xf32> -> tensor<4xf32>
  %83 = graph.exp %82 : tensor<4xf32> -> tensor<4xf32>
  %84 = graph.sqrt %83 : tensor<4xf32> -> tensor<4xf32>
  %85 = graph.exp %84 : tensor<4xf32> -> tensor<4xf32>
  %86 = graph.sqrt %85 : tensor<4xf32> -> tensor<4xf32>
  %87 = graph.exp %86 : tensor<4xf32> -> tensor<4xf32>
  %88 = graph.sqrt %87 : tensor<4xf32> -> tensor<4xf32>
  %89 = graph.exp %88 : tensor<4xf32> -> tensor<4xf32>
  %90 = graph.sqrt %89 : tensor<4xf32> -> tensor<4xf32>
  %91 = graph.exp %90 : tensor<4xf32> -> tensor<4xf32>
  %92 = graph.sqrt %91 : tensor<4xf32> -> tensor<4xf32>
  %93 = graph.exp %92 : tensor<4xf32> -> tensor<4xf32>
  %94 = graph.sqrt %93 : tensor<4xf32> -> tensor<4xf32>
  %95 = graph.exp %94 : tensor<4xf32> -> tensor<4xf32>
  %96 = graph.sqrt %95 : tensor<4xf32> -> tensor<4xf32>
  %97 = graph.exp %96 : tensor<4xf32> -> tensor<4xf32>
  %98 = graph.sqrt %97 : tensor<4xf32> -> tensor<4xf32>
  %99 = graph.exp %98 : tensor<4xf32> -> tensor<4xf32>
  %100 = graph.sqrt %99 : tensor<4xf32> -> tensor<4xf32>
  %101 = graph.exp %100 : tensor<4xf32> -> tensor<4xf32>
  %102 = graph.sqrt %101 : tensor<4xf32> -> tensor<4xf32>
  %103 = graph.exp %102 : tensor<4xf32> -> tensor<4xf32>
  %104 = graph.sqrt %103 : tensor<4xf32> -> tensor<4xf32>
  %105 = graph.exp %104 : tensor<4xf32> -> tensor<4xf32>
  %106 = graph.sqrt %105 : tensor<4xf32> -> tensor<4xf32>
  %107 = graph.exp %106 : tensor<4xf32> -> tensor<4xf32>
  %108 = graph.sqrt %107 : tensor<4xf32> -> tensor<4xf32>
  %109 = graph.exp %108 : tensor<4xf32> -> tensor<4xf32>
  %110 = graph.sqrt %109 : tensor<4xf32> -> tensor<4xf32>
  %111 = graph.exp %110 : tensor<4xf32> -> tensor<4xf32>
  %112 = graph.sqrt %111 : tensor<4xf32> -> tensor<4xf32>
  %113 = graph.exp %112 : tensor<4xf32> -> tensor<4xf32>
  %114 = graph.sqrt %113 : tensor<4xf32> -> tensor<4xf32>
  %115 = graph.exp %114 : tensor<4xf32> -> tensor<4xf32>
  %116 = graph.sqrt %115 : tensor<4xf32> -> tensor<4xf32>
  %117 = graph.exp %116 : tensor<4xf32> -> tensor<4xf32>
  %118 = graph.sqrt %117 : tensor<4xf32> -> tensor<4xf32>
  %119 = graph.exp %118 : tensor<4xf32> -> tensor<4xf32>
  %120 = graph.sqrt %119 : tensor<4xf32> -> tensor<4xf32>
  %121 = graph.exp %120 : tensor<4xf32> -> tensor<4xf32>
  %122 = graph.sqrt %121 : tensor<4xf32> -> tensor<4xf32>
  %123 = graph.exp %122 : tensor<4xf32> -> tensor<4xf32>
  %124 = graph.sqrt %123 : tensor<4xf32> -> tensor<4xf32>
  %125 = graph.exp %124 : tensor<4xf32> -> tensor<4xf32>
  %126 = graph.sqrt %125 : tensor<4xf32> -> tensor<4xf32>
  %127 = graph.exp %126 : tensor<4xf32> -> tensor<4xf32>
  %128 = graph.sqrt %127 : tensor<4xf32> -> tensor<4xf32>
  %129 = graph.exp %128 : tensor<4xf32> -> tensor<4xf32>
  %130 = graph.sqrt %129 : tensor<4xf32> -> tensor<4xf32>
  %131 = graph.exp %130 : tensor<4xf32> -> tensor<4xf32>
  %132 = graph.sqrt %131 : tensor<4xf32> -> tensor<4xf32>
  %133 = graph.exp %132 : tensor<4xf32> -> tensor<4xf32>
  %134 = graph.sqrt %133 : tensor<4xf32> -> tensor<4xf32>
  %135 = graph.exp %134 : tensor<4xf32> -> tensor<4xf32>
  %136 = graph.sqrt %135 : tensor<4xf32> -> tensor<4xf32>
  %137 = graph.exp %136 : tensor<4xf32> -> tensor<4xf32>
  %138 = graph.sqrt %137 : tensor<4xf32> -> tensor<4xf32>
  %139 = graph.exp %138 : tensor<4xf32> -> tensor<4xf32>
  %140 = graph.sqrt %139 : tensor<4xf32> -> tensor<4xf32>
  %141 = graph.exp %140 : tensor<4xf32> -> tensor<4xf32>
  %142 = graph.sqrt %141 : tensor<4xf32> -> tensor<4xf32>
  %143 = graph.exp %142 : tensor<4xf32> -> tensor<4xf32>
  %144 = graph.sqrt %143 : tensor<4xf32> -> tensor<4xf32>
  %145 = graph.exp %144 : tensor<4xf32> -> tensor<4xf32>
  %146 = graph.sqrt %145 : tensor<4xf32> -> tensor<4xf32>
  %147 = graph.exp %146 : tensor<4xf32> -> tensor<4xf32>
  %148 = graph.sqrt %147 : tensor<4xf32> -> tensor<4xf32>
  %149 = graph.exp %148 : tensor<4xf32> -> tensor<4xf32>
  return %149 : tensor<4xf32>
}
