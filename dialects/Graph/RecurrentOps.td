// Recurrent layers: one op does all steps, so that the state never leaves the kernel.
#ifndef LLMC_DIALECTS_GRAPH_RECURRENTOPS_TD
#define LLMC_DIALECTS_GRAPH_RECURRENTOPS_TD

include "dialects/Graph/GraphBase.td"

def Graph_I32Tensor : RankedTensorOf<[I32]>;

class Graph_RecurrentOp<string mnemonic, dag extraInputs, dag extraAttributes, dag extraResults, code pack>
    : Graph_Op<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = !con((ins Graph_FloatTensor:$x, Graph_FloatTensor:$weight, Graph_FloatTensor:$recurrence,
                        Optional<Graph_FloatTensor>:$bias, Optional<Graph_I32Tensor>:$lengths, Optional<Graph_FloatTensor>:$initial_h),
                       extraInputs,
                       (ins StrAttr:$direction, StrArrayAttr:$activations, DenseF64ArrayAttr:$alphas, DenseF64ArrayAttr:$betas,
                        OptionalAttr<F64Attr>:$clip),
                       extraAttributes);
  let results = !con((outs Graph_FloatTensor:$y, Graph_FloatTensor:$last_h), extraResults);
  let packing = [{
    pack.ints.push_back(packedDirection(getDirection()));
    pack.ints.push_back(getClip().has_value());
    packActivations(getActivations(), pack);
  }] # pack # [{
    pack.floats.push_back(getClip() ? getClip()->convertToDouble() : 0);
    pack.floats.append(getAlphas().begin(), getAlphas().end());
    pack.floats.append(getBetas().begin(), getBetas().end());
  }];
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

#endif // LLMC_DIALECTS_GRAPH_RECURRENTOPS_TD
