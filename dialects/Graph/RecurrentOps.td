// Recurrent layers: one op does all steps, so that the state never leaves the kernel.
#ifndef LLMC_DIALECTS_GRAPH_RECURRENTOPS_TD
#define LLMC_DIALECTS_GRAPH_RECURRENTOPS_TD

include "dialects/Graph/GraphBase.td"

def Graph_I32Tensor : RankedTensorOf<[I32]>;
def Graph_F32Tensor : RankedTensorOf<[F32]>;
def Graph_ByteTensor : RankedTensorOf<[I8, UI8]>;

// The attributes of a layer, with what `more` appends to `ints`.
class packLayer<code more> {
  code packing = [{
    pack.ints.push_back(packedDirection(getDirection()));
    pack.ints.push_back(getClip().has_value());
    packActivations(getActivations(), pack);
  }] # more # [{
    pack.floats.push_back(getClip() ? getClip()->convertToDouble() : 0);
    pack.floats.append(getAlphas().begin(), getAlphas().end());
    pack.floats.append(getBetas().begin(), getBetas().end());
  }];
}

class Graph_RecurrentOp<string mnemonic, dag extraInputs, dag extraAttributes, dag extraResults, code pack>
    : Graph_Op<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = !con((ins Graph_FloatTensor:$x, Graph_FloatTensor:$weight, Graph_FloatTensor:$recurrence,
                        Optional<Graph_FloatTensor>:$bias, Optional<Graph_I32Tensor>:$lengths, Optional<Graph_FloatTensor>:$initial_h),
                       extraInputs,
                       (ins StrAttr:$direction, StrArrayAttr:$activations, DenseF64ArrayAttr:$alphas, DenseF64ArrayAttr:$betas,
                        OptionalAttr<F64Attr>:$clip),
                       extraAttributes);
  let results = !con((outs Graph_FloatTensor:$y, Graph_FloatTensor:$last_h), extraResults);
  let packing = packLayer<pack>.packing;
}

def Graph_RnnOp : Graph_RecurrentOp<"rnn", (ins), (ins), (outs), ""> {
  let summary = "A recurrent layer: H = f(x * W^T + H * R^T + bias) at each step";
  let description = [{
    `x` is [steps, batch, inputs], `weight` [directions, hidden, inputs], `recurrence` [directions, hidden, hidden], `bias`
    [directions, 2 * hidden] (of W, then of R), `lengths` [batch] and the states [directions, batch, hidden]; `y` is
    [steps, directions, batch, hidden]. A state is kept in the element type. `direction` is "forward", "reverse" or "bidirectional"; each
    of `activations` has its alpha and beta, read or not. `clip` bounds what activations get. Steps from a sequence's length on give 0.
    ```mlir
    %y, %h = graph.rnn %x, %w, %r {direction = "forward", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight `,` $recurrence (`bias` $bias^)? (`lengths` $lengths^)? (`initial_h` $initial_h^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Graph_GruOp : Graph_RecurrentOp<"gru", (ins), (ins UnitAttr:$linear_before_reset), (outs), [{
    pack.ints.push_back(getLinearBeforeReset());
  }]> {
  let summary = "A layer of gated recurrent units";
  let description = [{
    As `graph.rnn`, with three gates in `weight`, `recurrence` and `bias`: z, r, h. `activations` has two per direction.
    ```mlir
    %y, %h = graph.gru %x, %w, %r {direction = "forward", activations = ["Sigmoid", "Tanh"], alphas = array<f64: 0.0, 0.0>,
                                   betas = array<f64: 0.0, 0.0>, linear_before_reset}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight `,` $recurrence (`bias` $bias^)? (`lengths` $lengths^)? (`initial_h` $initial_h^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Graph_LstmOp : Graph_RecurrentOp<"lstm", (ins Optional<Graph_FloatTensor>:$initial_c, Optional<Graph_FloatTensor>:$peepholes),
                                     (ins UnitAttr:$input_forget), (outs Graph_FloatTensor:$last_c), [{
    pack.ints.push_back(getInputForget());
  }]> {
  let summary = "A layer of long short-term memory";
  let description = [{
    As `graph.rnn`, with four gates in `weight`, `recurrence` and `bias`: i, o, f, c; `peepholes` is [directions, 3 * hidden], for i, o, f.
    `activations` has three per direction. With `input_forget` the forget gate is 1 - i. What h
    gets, c, is not clipped.
    ```mlir
    %y, %h, %c = graph.lstm %x, %w, %r {direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"],
                                        alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight `,` $recurrence (`bias` $bias^)? (`lengths` $lengths^)? (`initial_h` $initial_h^)? (`initial_c` $initial_c^)?
    (`peepholes` $peepholes^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Graph_QuantizedLstmOp : Graph_Op<"quantized_lstm", [AttrSizedOperandSegments]> {
  let summary = "`graph.lstm` whose state is quantized, in each step, for its product with an integer recurrence";
  let description = [{
    `gates` is what x gives: [directions, steps, batch, 4 * hidden]. A step quantizes the h of all sequences together: 256 steps from the
    least to the greatest element and zero. The exact sum of their products with `recurrence` less `zero_points` (of rows, [directions,
    4 * hidden]) times the scale of the steps and `scales` (of rows too) is added, then the bias. The rest is as in `graph.lstm`.
    ```mlir
    %y, %h, %c = graph.quantized_lstm %gates, %r, %scales, %zeros {direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"],
                                                                   alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>}
      : (tensor<1x5x2x16xf32>, tensor<1x16x4xi8>, tensor<1x16xf32>, tensor<1x16xi32>)
      -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
    ```
  }];
  let arguments = (ins Graph_F32Tensor:$gates, Graph_ByteTensor:$recurrence, Graph_F32Tensor:$scales, Graph_IndexTensor:$zero_points,
                       Optional<Graph_F32Tensor>:$bias, Optional<Graph_F32Tensor>:$initial_h, Optional<Graph_F32Tensor>:$initial_c,
                       Optional<Graph_F32Tensor>:$peepholes, StrAttr:$direction, StrArrayAttr:$activations, DenseF64ArrayAttr:$alphas,
                       DenseF64ArrayAttr:$betas, OptionalAttr<F64Attr>:$clip, UnitAttr:$input_forget);
  let results = (outs Graph_F32Tensor:$y, Graph_F32Tensor:$last_h, Graph_F32Tensor:$last_c);
  let assemblyFormat = [{
    $gates `,` $recurrence `,` $scales `,` $zero_points (`bias` $bias^)? (`initial_h` $initial_h^)? (`initial_c` $initial_c^)?
    (`peepholes` $peepholes^)? attr-dict `:` functional-type(operands, results)
  }];
  let packing = packLayer<"pack.ints.push_back(getInputForget());">.packing;
}

def Graph_LinearAttentionOp : Graph_Op<"linear_attention", [AttrSizedOperandSegments]> {
  let summary = "Attention by a state that each step decays, corrects and reads";
  let description = [{
    `query` is [batch, steps, query_heads * keys], `key` and `value` alike with `heads` heads, the state [batch, heads, keys, values]. A step
    multiplies the state by exp(`decay`), of [batch, steps, heads] or [.., heads * keys], adds key (x) value, or with `beta`, of [batch,
    steps, heads] or [.., 1], beta * key (x) (value - state^T * key), and gives `scale` * state^T * query. Each head serves
    query_heads / heads query heads; a `scale` of 0 stands for 1 / sqrt(keys).
    ```mlir
    %y, %state = graph.linear_attention %q, %k, %v {query_heads = 2 : i64, heads = 1 : i64, scale = 0.0 : f64}
      : (tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x3xf32>) -> (tensor<1x5x6xf32>, tensor<1x1x4x3xf32>)
    ```
  }];
  let arguments = (ins Graph_F32Tensor:$query, Graph_F32Tensor:$key, Graph_F32Tensor:$value, Optional<Graph_F32Tensor>:$past,
                       Optional<Graph_F32Tensor>:$decay, Optional<Graph_F32Tensor>:$beta, I64Attr:$query_heads, I64Attr:$heads, F64Attr:$scale);
  let results = (outs Graph_F32Tensor:$y, Graph_F32Tensor:$state);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`past` $past^)? (`decay` $decay^)? (`beta` $beta^)? attr-dict `:` functional-type(operands, results)
  }];
  let packing = [{
    pack.ints.push_back(getQueryHeads());
    pack.ints.push_back(getHeads());
    pack.floats.push_back(getScale().convertToDouble());
  }];
}

#endif // LLMC_DIALECTS_GRAPH_RECURRENTOPS_TD
