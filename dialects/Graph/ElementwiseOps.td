// Ops that compute each element from the elements at the same place; binary ones broadcast as ONNX (numpy) does.
#ifndef LLMC_DIALECTS_GRAPH_ELEMENTWISEOPS_TD
#define LLMC_DIALECTS_GRAPH_ELEMENTWISEOPS_TD

include "dialects/Graph/GraphBase.td"

class Graph_ElementwiseOp<string mnemonic, string rule, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Graph_Elementwise], traits)> {
  let extraClassDefinition = baseDefinition # [{
    ::llvm::LogicalResult $cppClass::inferShape(Adaptor, ::llmc::graph::ShapeInference &shapes) {
      return ::llmc::graph::}] # rule # [{(shapes);
    }
  }];
}

class Graph_UnaryOp<string mnemonic, string what, Type type = Graph_Tensor, string rule = "inferUnary">
    : Graph_ElementwiseOp<mnemonic, rule> {
  let summary = what;
  let description = "```mlir\n%y = graph." # mnemonic #
                    !if(!eq(rule, "inferUnary"), " %x : tensor<4xf32> -> tensor<4xf32>\n```",
                        " %x : tensor<4xf32> -> tensor<4xi1>\n```");
  let arguments = (ins type:$x);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Graph_AbsOp : Graph_UnaryOp<"abs", "Absolute value; wraps for the least integer">;
def Graph_NegOp : Graph_UnaryOp<"neg", "Negation; wraps for the least integer">;
def Graph_ExpOp : Graph_UnaryOp<"exp", "e to the power of x", Graph_FloatTensor>;
def Graph_LogOp : Graph_UnaryOp<"log", "Natural logarithm", Graph_FloatTensor>;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "Square root", Graph_FloatTensor>;
def Graph_ErfOp : Graph_UnaryOp<"erf", "Gauss error function", Graph_FloatTensor>;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "Hyperbolic tangent", Graph_FloatTensor>;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "1 / (1 + exp(-x))", Graph_FloatTensor>;
def Graph_ReluOp : Graph_UnaryOp<"relu", "max(x, 0); NaN stays NaN">;
def Graph_FloorOp : Graph_UnaryOp<"floor", "Round towards minus infinity", Graph_FloatTensor>;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "Round towards plus infinity", Graph_FloatTensor>;
def Graph_RoundOp : Graph_UnaryOp<"round", "Round to the nearest integer, halves to even", Graph_FloatTensor>;
def Graph_SignOp : Graph_UnaryOp<"sign", "-1, 0 or 1">;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "1 / x", Graph_FloatTensor>;
def Graph_SinOp : Graph_UnaryOp<"sin", "Sine of an angle in radians", Graph_FloatTensor>;
def Graph_CosOp : Graph_UnaryOp<"cos", "Cosine of an angle in radians", Graph_FloatTensor>;
def Graph_TanOp : Graph_UnaryOp<"tan", "Tangent of an angle in radians", Graph_FloatTensor>;
def Graph_AsinOp : Graph_UnaryOp<"asin", "Arc sine in radians", Graph_FloatTensor>;
def Graph_AcosOp : Graph_UnaryOp<"acos", "Arc cosine in radians", Graph_FloatTensor>;
def Graph_AtanOp : Graph_UnaryOp<"atan", "Arc tangent in radians", Graph_FloatTensor>;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "Hyperbolic sine", Graph_FloatTensor>;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "Hyperbolic cosine", Graph_FloatTensor>;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "Inverse hyperbolic sine", Graph_FloatTensor>;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "Inverse hyperbolic cosine", Graph_FloatTensor>;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "Inverse hyperbolic tangent", Graph_FloatTensor>;
def Graph_SoftplusOp : Graph_UnaryOp<"softplus", "log(1 + exp(x))", Graph_FloatTensor>;
def Graph_SoftsignOp : Graph_UnaryOp<"softsign", "x / (1 + |x|)", Graph_FloatTensor>;
def Graph_HardSwishOp : Graph_UnaryOp<"hard_swish", "x * max(0, min(1, x / 6 + 0.5))", Graph_FloatTensor>;
def Graph_IsNanOp : Graph_UnaryOp<"is_nan", "Whether x is not a number", Graph_FloatTensor, "inferPredicate">;

def Graph_NotOp : Graph_ElementwiseOp<"not", "inferUnary"> {
  let summary = "Logical negation";
  let description = [{
    ```mlir
    %y = graph.not %x : tensor<4xi1> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$x);
  let results = (outs Graph_BoolTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

class Graph_AlphaOp<string mnemonic, string what> : Graph_ElementwiseOp<mnemonic, "inferUnary"> {
  let summary = what;
  let description = "```mlir\n%y = graph." # mnemonic # " %x {alpha = 1.0e-01 : f64} : tensor<4xf32> -> tensor<4xf32>\n```";
  let arguments = (ins Graph_FloatTensor:$x, F64Attr:$alpha);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = "pack.floats.push_back(getAlpha().convertToDouble());";
}
def Graph_LeakyReluOp : Graph_AlphaOp<"leaky_relu", "x where x >= 0, else alpha * x">;
def Graph_EluOp : Graph_AlphaOp<"elu", "x where x >= 0, else alpha * (exp(x) - 1)">;

def Graph_HardSigmoidOp : Graph_ElementwiseOp<"hard_sigmoid", "inferUnary"> {
  let summary = "max(0, min(1, alpha * x + beta))";
  let description = [{
    ```mlir
    %y = graph.hard_sigmoid %x {alpha = 2.0e-01 : f64, beta = 5.0e-01 : f64} : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, F64Attr:$alpha, F64Attr:$beta);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.floats.push_back(getAlpha().convertToDouble());
    pack.floats.push_back(getBeta().convertToDouble());
  }];
}

def Graph_GeluOp : Graph_ElementwiseOp<"gelu", "inferUnary"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `x / 2 * (1 + erf(x / sqrt(2)))`, or with `tanh_form` the approximation
    `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
    ```mlir
    %y = graph.gelu %x : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, UnitAttr:$tanh_form);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = "pack.ints.push_back(getTanhForm());";
}

class Graph_BinaryOp<string mnemonic, string what, string rule = "inferBroadcast", Type type = Graph_Tensor,
                     list<Trait> traits = []> : Graph_ElementwiseOp<mnemonic, rule, traits> {
  let summary = what;
  let description = "```mlir\n%z = graph." # mnemonic # !if(!eq(rule, "inferCompare"),
      " %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>\n```",
      !if(!eq(rule, "inferBroadcast"), " %x, %y : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>\n```",
          " %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>\n```"));
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Graph_AddOp : Graph_BinaryOp<"add", "Sum; integers wrap", "inferAdd"> { let hasFolder = 1; }
def Graph_SubOp : Graph_BinaryOp<"sub", "Difference; integers wrap", "inferSub"> { let hasFolder = 1; }
def Graph_MulOp : Graph_BinaryOp<"mul", "Product; integers wrap", "inferMul"> { let hasFolder = 1; }
def Graph_DivOp : Graph_BinaryOp<"div", "Quotient; integers truncate towards zero", "inferDiv"> { let hasFolder = 1; }
def Graph_MaxOp : Graph_BinaryOp<"max", "The greater; NaN if either is NaN", "inferMax">;
def Graph_MinOp : Graph_BinaryOp<"min", "The smaller; NaN if either is NaN", "inferMin">;
def Graph_EqualOp : Graph_BinaryOp<"equal", "Whether lhs equals rhs", "inferCompare">;
def Graph_LessOp : Graph_BinaryOp<"less", "Whether lhs is less than rhs", "inferCompare">;
def Graph_LessEqualOp : Graph_BinaryOp<"less_equal", "Whether lhs is at most rhs", "inferCompare">;
def Graph_GreaterOp : Graph_BinaryOp<"greater", "Whether lhs is greater than rhs", "inferCompare">;
def Graph_GreaterEqualOp : Graph_BinaryOp<"greater_equal", "Whether lhs is at least rhs", "inferCompare">;
def Graph_AndOp : Graph_BinaryOp<"and", "Logical and", "inferBroadcast", Graph_BoolTensor>;
def Graph_OrOp : Graph_BinaryOp<"or", "Logical or", "inferBroadcast", Graph_BoolTensor>;
def Graph_XorOp : Graph_BinaryOp<"xor", "Logical exclusive or", "inferBroadcast", Graph_BoolTensor>;

class Graph_BitsOp<string mnemonic, string what> : Graph_ElementwiseOp<mnemonic, "inferBroadcast"> {
  let summary = what;
  let description = "```mlir\n%z = graph." # mnemonic # " %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>\n```";
  let arguments = (ins Graph_IntegerTensor:$lhs, Graph_IntegerTensor:$rhs);
  let results = (outs Graph_IntegerTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}
def Graph_BitwiseAndOp : Graph_BitsOp<"bitwise_and", "And of each bit">;
def Graph_BitwiseOrOp : Graph_BitsOp<"bitwise_or", "Or of each bit">;
def Graph_BitwiseXorOp : Graph_BitsOp<"bitwise_xor", "Exclusive or of each bit">;

def Graph_BitwiseNotOp : Graph_ElementwiseOp<"bitwise_not", "inferUnary"> {
  let summary = "Each bit inverted";
  let description = [{
    ```mlir
    %y = graph.bitwise_not %x : tensor<4xi32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Graph_IntegerTensor:$x);
  let results = (outs Graph_IntegerTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Graph_BitShiftOp : Graph_ElementwiseOp<"bit_shift", "inferBroadcast"> {
  let summary = "The bits of lhs moved by rhs places";
  let description = [{
    To the right, where signed numbers keep their sign, or with `left` to the left. A count of the width or more, or below 0, moves all
    bits out.
    ```mlir
    %z = graph.bit_shift %x, %y {left} : (tensor<2x4xui8>, tensor<4xui8>) -> tensor<2x4xui8>
    ```
  }];
  let arguments = (ins Graph_IntegerTensor:$lhs, Graph_IntegerTensor:$rhs, UnitAttr:$left);
  let results = (outs Graph_IntegerTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(getLeft());";
}

def Graph_PowOp : Graph_BinaryOp<"pow", "lhs to the power of rhs", "inferPow"> {
  let description = [{
    The exponent may have another element type; the result has that of the base.
    ```mlir
    %z = graph.pow %x, %y : (tensor<2x4xf32>, tensor<i64>) -> tensor<2x4xf32>
    ```
  }];
}

def Graph_ModOp : Graph_ElementwiseOp<"mod", "inferBroadcast"> {
  let summary = "Remainder";
  let description = [{
    With the sign of the divisor, or with `fmod` that of the dividend.
    ```mlir
    %z = graph.mod %x, %y : (tensor<2x4xi64>, tensor<4xi64>) -> tensor<2x4xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, UnitAttr:$fmod);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(getFmod());";
}

def Graph_WhereOp : Graph_ElementwiseOp<"where", "inferWhere"> {
  let summary = "lhs where the condition holds, else rhs";
  let description = [{
    ```mlir
    %z = graph.where %c, %x, %y : (tensor<4xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Graph_CastOp : Graph_Op<"cast", [Graph_Elementwise]> {
  let summary = "The same values in another element type";
  let description = [{
    Floats to integers truncate towards zero, saturate and turn NaN into 0; anything to bool is `x != 0`.
    ```mlir
    %y = graph.cast %x to i64 : tensor<4xf32> -> tensor<4xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, TypeAttr:$to);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `to` $to attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}

def Graph_BitCastOp : Graph_Op<"bit_cast", [Graph_Elementwise]> {
  let summary = "The same bits in another element type of the same width";
  let description = [{
    A bool is a byte of 0 or 1.
    ```mlir
    %y = graph.bit_cast %x to i32 : tensor<4xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, TypeAttr:$to);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `to` $to attr-dict `:` type($x) `->` type($y)";
}

#endif // LLMC_DIALECTS_GRAPH_ELEMENTWISEOPS_TD
