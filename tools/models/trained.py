"""Models with trained weights: the graphs are written here, the weights come out of packages for other frameworks."""
from onnx import TensorProto

from builder import Net
from encoders import bert
from weight_files import read_safetensors, read_torch

SOURCES = ("trained.py", "encoders.py", "builder.py", "weight_files.py")


def minilm_l6(weights):
    """Outputs the token states and the sentence embedding: their mean under the mask, with length one."""
    net = Net("minilm_l6", 13, read_safetensors(weights / "weights.safetensors"))
    x = bert(net, layers=6, hidden=384, heads=12, inner=1536)
    mask = net.op("Cast", net.op("Unsqueeze", "attention_mask", net.const([2])), to=TensorProto.FLOAT)
    total = net.op("ReduceSum", net.op("Mul", x, mask), net.const([1]), keepdims=0)
    mean = net.op("Div", total, net.op("Clip", net.op("ReduceSum", mask, net.const([1]), keepdims=0), net.const(1e-9)))
    length = net.op("Clip", net.op("ReduceL2", mean, axes=[1], keepdims=1), net.const(1e-12))
    embedding = net.op("Div", mean, net.op("Expand", length, net.op("Shape", mean)))
    net.output(x, "last_hidden_state", ["N", "S", 384])
    net.output(embedding, "sentence_embedding", ["N", 384])
    return net


def efficientnet_l0(weights):
    """EfficientNet-Lite0: ReLU6, no squeeze-and-excite, TensorFlow's padding (SAME_UPPER)."""
    net = Net("efficientnet_l0", 17, read_torch(weights / "weights.pth"))

    def conv(x, name, norm, *sizes, clip=True, **options):
        x = net.batch_norm(net.conv(x, name, *sizes, auto_pad="SAME_UPPER", **options), norm, sizes[1], epsilon=1e-3)
        return net.op("Clip", x, net.const(0.0), net.const(6.0)) if clip else x

    x, channels, index = conv(net.input("image", ["N", 3, "H", "W"]), "_conv_stem", "_bn0", 3, 32, 3, 2), 32, 0
    for repeat, kernel, first, expand, outputs in [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40),
                                                   (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
                                                   (1, 3, 1, 6, 320)]:
        for i in range(repeat):
            name, trunk, hidden, stride = f"_blocks.{index}.", x, channels * expand, first if i == 0 else 1
            if expand != 1:
                x = conv(x, name + "_expand_conv", name + "_bn0", channels, hidden, 1)
            x = conv(x, name + "_depthwise_conv", name + "_bn1", hidden, hidden, kernel, stride, groups=hidden)
            x = conv(x, name + "_project_conv", name + "_bn2", hidden, outputs, 1, clip=False)
            x = net.op("Add", x, trunk) if stride == 1 and channels == outputs else x
            channels, index = outputs, index + 1
    x = conv(x, "_conv_head", "_bn1", 320, 1280, 1)
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    net.output(net.op("Gemm", x, net.param("_fc.weight", (1000, 1280)), net.param("_fc.bias", (1000,)), transB=1),
               "logits", ["N", 1000])
    return net


def build(name, path, weights):
    {"minilm_l6": minilm_l6, "efficientnet_l0": efficientnet_l0}[name](weights).save(path)
