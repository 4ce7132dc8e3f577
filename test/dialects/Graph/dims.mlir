// RUN: llmc-opt %s | FileCheck %s
// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// Dim expressions are kept in a normal form, which parses back to itself.

// CHECK-LABEL: func private @sums_and_products
// CHECK-SAME: [#graph.expr<"N">, #graph.expr<"N">]
// CHECK-SAME: [#graph.expr<"7">, #graph.expr<"2 * N">]
// CHECK-SAME: [#graph.expr<"0">, #graph.expr<"A * B">]
func.func private @sums_and_products(
  tensor<?x?xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"N * 1 + 0">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"1 + 2 * 3">, #graph.expr<"N + N">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"N - N">, #graph.expr<"B * A">]})

// The order of writing does not matter; products distribute over sums.
// CHECK-LABEL: func private @polynomials
// CHECK-SAME: [#graph.expr<"[[P:[^"]*]]">, #graph.expr<"[[P]]">]
// CHECK-SAME: [#graph.expr<"[[Q:[^"]*]]">, #graph.expr<"[[Q]]">]
func.func private @polynomials(
  tensor<?x?xf32> {graph.dims = [#graph.expr<"3 * N + M * 2 - 1">, #graph.expr<"M - 1 + N * 3 + M">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"(N + 1) * (M + 2)">, #graph.expr<"N * M + 2 * N + M + 2">]})

// CHECK-LABEL: func private @divisions
// CHECK-SAME: [#graph.expr<"N floordiv 2">, #graph.expr<"(N + 1) ceildiv 4">]
// CHECK-SAME: [#graph.expr<"N mod 8">, #graph.expr<"3 * N">]
// CHECK-SAME: [#graph.expr<"3">, #graph.expr<"4">]
func.func private @divisions(
  tensor<?x?xf32> {graph.dims = [#graph.expr<"N floordiv 2">, #graph.expr<"(N + 1) ceildiv 4">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"N mod 8">, #graph.expr<"N * 6 floordiv 2">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"7 floordiv 2">, #graph.expr<"7 ceildiv 2">]})

// CHECK-LABEL: func private @extrema
// CHECK-SAME: [#graph.expr<"min(M, N)">, #graph.expr<"min(M, N)">]
// CHECK-SAME: [#graph.expr<"max((N + 1), 2)">, #graph.expr<"5">]
func.func private @extrema(
  tensor<?x?xf32> {graph.dims = [#graph.expr<"min(M, N)">, #graph.expr<"min(N, M)">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"max(N + 1, 2)">, #graph.expr<"max(3, 5)">]})

// ONNX lets any text name a dim.
// CHECK-LABEL: func private @names
// CHECK-SAME: [#graph.expr<"past.len:0/x">, #graph.expr<"'batch size' + 1">]
// CHECK-SAME: [#graph.expr<"'min'">, #graph.expr<"'it''s'">]
// CHECK-SAME: [#graph.expr<"'\22'">, #graph.expr<"'2'">]
func.func private @names(
  tensor<?x?xf32> {graph.dims = [#graph.expr<"past.len:0/x">, #graph.expr<"1 + 'batch size'">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"'min'">, #graph.expr<"'it''s'">]},
  tensor<?x?xf32> {graph.dims = [#graph.expr<"'\"'">, #graph.expr<"'2'">]})
