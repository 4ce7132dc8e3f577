"""Transformer encoders with seeded random weights: BERT as older exporters write it, ViT as newer ones do."""
import numpy as np
from onnx import TensorProto

from builder import Net

SOURCES = ("encoders.py", "builder.py")


def bert(net, layers, hidden, heads, inner, vocabulary=30522, positions=512, epsilon=1e-12):
    """BERT encoder in the primitive ops that PyTorch's exporter writes at opset 13. Returns the last hidden state."""
    dims = ["N", "S"]
    ids, mask, types = (net.input(n, dims, TensorProto.INT64) for n in
                        ("input_ids", "attention_mask", "token_type_ids"))

    def layer_norm(x, name):
        centered = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
        variance = net.op("ReduceMean", net.op("Pow", centered, net.const(2.0)), axes=[-1])
        x = net.op("Div", centered, net.op("Sqrt", net.op("Add", variance, net.const(epsilon))))
        x = net.op("Mul", x, net.param(name + ".weight", (hidden,), low=0.8, high=1.2))
        return net.op("Add", x, net.param(name + ".bias", (hidden,), 0.05))

    def size(x, axis):
        return net.op("Unsqueeze", net.op("Gather", net.op("Shape", x), net.const(axis), axis=0), net.const([0]))

    def reshape(x, *tail):  # keeps the first two dimensions through Shape arithmetic
        shape = net.op("Concat", size(x, 0), size(x, 1), *[net.const([t]) for t in tail], axis=0)
        return net.op("Reshape", x, shape)

    bias = net.op("Cast", net.op("Unsqueeze", net.op("Unsqueeze", mask, net.const([1])), net.const([2])),
                  to=TensorProto.FLOAT)
    bias = net.op("Mul", net.op("Sub", net.const(1.0), bias), net.const(float(np.finfo(np.float32).min)))
    places = net.op("Slice", net.const(np.arange(positions)[None]), net.const([0]), size(ids, 1), net.const([1]),
                    net.const([1]))
    table = lambda name, rows: net.param(f"embeddings.{name}_embeddings.weight", (rows, hidden), 0.5)
    x = net.op("Add", net.op("Gather", table("word", vocabulary), ids), net.op("Gather", table("token_type", 2), types))
    x = layer_norm(net.op("Add", x, net.op("Gather", table("position", positions), places)), "embeddings.LayerNorm")
    for i in range(layers):
        layer = f"encoder.layer.{i}."
        net.scope = layer.replace(".", "/")
        q, k, v = (reshape(net.linear(x, f"{layer}attention.self.{n}", hidden, hidden), heads, hidden // heads)
                   for n in ("query", "key", "value"))
        q, v = (net.op("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
        scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 2, 3, 1]))
        scores = net.op("Add", net.op("Div", scores, net.const((hidden // heads) ** 0.5)), bias)
        y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = net.linear(reshape(y, hidden), layer + "attention.output.dense", hidden, hidden)
        x = layer_norm(net.op("Add", y, x), layer + "attention.output.LayerNorm")
        y = net.linear(x, layer + "intermediate.dense", hidden, inner)
        erf = net.op("Erf", net.op("Div", y, net.const(2 ** 0.5)))
        y = net.op("Mul", net.op("Mul", y, net.op("Add", erf, net.const(1.0))), net.const(0.5))
        y = net.linear(y, layer + "output.dense", inner, hidden)
        x = layer_norm(net.op("Add", y, x), layer + "output.LayerNorm")
    net.scope = ""
    return x


def bert_model(name, *sizes):
    net = Net(name, 13)
    x, hidden = bert(net, *sizes), sizes[1]
    first = net.op("Gather", x, net.const(0), axis=1)
    pooled = net.op("Tanh", net.op("Gemm", first, net.param("pooler.dense.weight", (hidden, hidden), hidden ** -0.5),
                                   net.param("pooler.dense.bias", (hidden,), 0.02), transB=1))
    net.output(x, "last_hidden_state", ["N", "S", hidden])
    net.output(pooled, "pooler_output", ["N", hidden])
    return net


def vit_b16(layers=12, hidden=768, heads=12):
    """ViT-B/16 at 224 with the composite ops of newer exporters (opset 20: LayerNormalization, Gelu; fused QKV)."""
    net = Net("vit_b16", 20)

    def layer_norm(x, name):
        return net.op("LayerNormalization", x, net.param(name + ".weight", (hidden,), low=0.8, high=1.2),
                      net.param(name + ".bias", (hidden,), 0.05), axis=-1, epsilon=1e-6)

    x = net.conv(net.input("pixel_values", ["N", 3, 224, 224]), "patch_embed.proj", 3, hidden, 16, 16, bias=0.02,
                 pads=[0] * 4)
    x = net.op("Transpose", net.op("Reshape", x, net.const([0, hidden, 196])), perm=[0, 2, 1])
    batch = net.op("Shape", x, start=0, end=1)
    token = net.op("Expand", net.param("cls_token", (1, 1, hidden), 0.5),
                   net.op("Concat", batch, net.const([1, hidden]), axis=0))
    x = net.op("Add", net.op("Concat", token, x, axis=1), net.param("pos_embed", (1, 197, hidden), 0.2))
    for i in range(layers):
        name = f"blocks.{i}."
        net.scope = name.replace(".", "/")
        qkv = net.linear(layer_norm(x, name + "norm1"), name + "attn.qkv", hidden, 3 * hidden)
        qkv = net.op("Transpose", net.op("Reshape", qkv, net.const([0, 197, 3, heads, hidden // heads])),
                     perm=[2, 0, 3, 1, 4])
        q, k, v = (net.op("Gather", qkv, net.const(j), axis=0) for j in range(3))
        scores = net.op("MatMul", net.op("Mul", q, net.const((hidden // heads) ** -0.5)),
                        net.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = net.op("Reshape", y, net.const([0, 197, hidden]))
        x = net.op("Add", x, net.linear(y, name + "attn.proj", hidden, hidden))
        y = net.op("Gelu", net.linear(layer_norm(x, name + "norm2"), name + "mlp.fc1", hidden, 4 * hidden))
        x = net.op("Add", x, net.linear(y, name + "mlp.fc2", 4 * hidden, hidden))
    net.scope = ""
    x = net.op("Gather", layer_norm(x, "norm"), net.const(0), axis=1)
    net.output(net.linear(x, "head", hidden, 1000), "logits", ["N", 1000])
    return net


def build(name, path):
    sizes = {"bert_tiny": (2, 128, 2, 512), "bert_base": (12, 768, 12, 3072)}
    (vit_b16() if name == "vit_b16" else bert_model(name, *sizes[name])).save(path)
