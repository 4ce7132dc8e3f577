"""SmolLM2-135M, a chat decoder with key-value caches: the graph is written here, the weights come from a GGUF file."""
import numpy as np
from onnx import TensorProto

from builder import Net
from gguf_file import read_gguf

SOURCES = ("decoder.py", "builder.py", "gguf_file.py")


def smollm2_135m(weights):
    """Llama decoder in primitive ops, with the names of common exports: past_key_values.I.key -> present.I.key.

    S new tokens after P cached ones; the embedding table is also, transposed, the last weight.
    """
    fields, weights = read_gguf(weights / "weights.gguf")
    get = lambda key: fields["llama." + key]
    hidden, inner, layers = get("embedding_length"), get("feed_forward_length"), get("block_count")
    heads, kv_heads, size = get("attention.head_count"), get("attention.head_count_kv"), get("rope.dimension_count")
    epsilon, vocabulary, half = get("attention.layer_norm_rms_epsilon"), get("vocab_size"), size // 2
    for name, array in weights.items():
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            # GGUF interleaves the two halves that the rotation pairs; put them back side by side.
            weights[name] = array.reshape(-1, half, 2, hidden).swapaxes(1, 2).reshape(-1, hidden)
    net = Net("smollm2_135m", 17, weights)
    ids = net.input("input_ids", ["N", "S"], TensorProto.INT64)
    mask = net.input("attention_mask", ["N", "P + S"], TensorProto.INT64)
    positions = net.input("position_ids", ["N", "S"], TensorProto.INT64)
    past = [[net.input(f"past_key_values.{i}.{n}", ["N", kv_heads, "P", size]) for n in ("key", "value")]
            for i in range(layers)]

    def size_of(x, axis):
        return net.op("Gather", net.op("Shape", x), net.const([axis]), axis=0)

    def rms_norm(x, name):
        mean = net.op("ReduceMean", net.op("Pow", x, net.const(2.0)), axes=[-1])
        scale = net.op("Div", net.const(1.0), net.op("Sqrt", net.op("Add", mean, net.const(epsilon))))
        return net.op("Mul", net.param(name + ".weight", (hidden,)), net.op("Mul", x, scale))

    def split_heads(x, count):
        return net.op("Transpose", net.op("Reshape", x, net.const([0, 0, count, size])), perm=[0, 2, 1, 3])

    def rotate(x):
        low = net.op("Slice", x, net.const([0]), net.const([half]), net.const([3]))
        high = net.op("Slice", x, net.const([half]), net.const([2 ** 63 - 1]), net.const([3]))
        turned = net.op("Concat", net.op("Neg", high), low, axis=3)
        return net.op("Add", net.op("Mul", x, cos), net.op("Mul", turned, sin))

    def repeat(x, total):  # grouped-query attention: every cached head serves heads / kv_heads query heads
        wide = net.op("Concat", batch, net.const([kv_heads, heads // kv_heads]), total, net.const([size]), axis=0)
        x = net.op("Expand", net.op("Unsqueeze", x, net.const([2])), wide)
        return net.op("Reshape", x, net.op("Concat", batch, net.const([heads]), total, net.const([size]), axis=0))

    batch, new, total = size_of(ids, 0), size_of(ids, 1), size_of(mask, 1)
    frequency = get("rope.freq_base") ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    frequency = net.op("Expand", net.const(frequency[None, :, None]),
                       net.op("Concat", batch, net.const([half, 1]), axis=0))
    places = net.op("Cast", net.op("Unsqueeze", positions, net.const([1])), to=TensorProto.FLOAT)
    angles = net.op("MatMul", frequency, places)
    angles = net.op("Transpose", angles, perm=[0, 2, 1])
    angles = net.op("Unsqueeze", net.op("Concat", angles, angles, axis=2), net.const([1]))
    cos, sin = net.op("Cos", angles), net.op("Sin", angles)

    scalar = lambda x: net.op("Squeeze", x, net.const([0]))
    columns = net.op("Range", net.const(0), scalar(total), net.const(1))
    rows = net.op("Range", scalar(net.op("Sub", total, new)), scalar(total), net.const(1))
    causal = net.op("LessOrEqual", columns, net.op("Unsqueeze", rows, net.const([1])))
    present = net.op("Unsqueeze", net.op("Cast", mask, to=TensorProto.BOOL), net.const([1, 2]))
    bias = net.op("Where", net.op("And", causal, present), net.const(0.0), net.const(float(np.finfo(np.float32).min)))

    embedding, caches = net.param("token_embd.weight", (vocabulary, hidden)), []
    x = net.op("Gather", embedding, ids)
    for i in range(layers):
        name = f"blk.{i}."
        net.scope = f"layers.{i}/"
        y = rms_norm(x, name + "attn_norm")
        q = rotate(split_heads(net.linear(y, name + "attn_q", hidden, heads * size, bias=False), heads))
        k = rotate(split_heads(net.linear(y, name + "attn_k", hidden, kv_heads * size, bias=False), kv_heads))
        v = split_heads(net.linear(y, name + "attn_v", hidden, kv_heads * size, bias=False), kv_heads)
        k, v = net.op("Concat", past[i][0], k, axis=2), net.op("Concat", past[i][1], v, axis=2)
        caches += [(k, f"present.{i}.key"), (v, f"present.{i}.value")]
        scores = net.op("MatMul", q, net.op("Transpose", repeat(k, total), perm=[0, 1, 3, 2]))
        scores = net.op("Add", net.op("Mul", scores, net.const(size ** -0.5)), bias)
        y = net.op("MatMul", net.op("Softmax", scores, axis=-1), repeat(v, total))
        y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.const([0, 0, hidden]))
        x = net.op("Add", x, net.linear(y, name + "attn_output", hidden, hidden, bias=False))
        y = rms_norm(x, name + "ffn_norm")
        gate = net.linear(y, name + "ffn_gate", hidden, inner, bias=False)
        y = net.op("Mul", net.op("Mul", gate, net.op("Sigmoid", gate)),
                   net.linear(y, name + "ffn_up", hidden, inner, bias=False))
        x = net.op("Add", x, net.linear(y, name + "ffn_down", inner, hidden, bias=False))
    net.scope = ""
    logits = net.op("MatMul", rms_norm(x, "output_norm"), net.op("Transpose", embedding, perm=[1, 0]))
    net.output(logits, "logits", ["N", "S", vocabulary])
    for value, name in caches:
        net.output(value, name, ["N", kv_heads, "P + S", size])
    return net


def build(name, path, weights):
    smollm2_135m(weights).save(path, external_data=True)  # in a second file, as large exports are
