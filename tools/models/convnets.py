"""Convolutional networks as today's exporters write them, with seeded random weights. The batch is symbolic ("N")."""
import numpy as np

from builder import Net

SOURCES = ("convnets.py", "builder.py")


def mobilenet_v2():
    """MobileNetV2 1.0 at 224 (3.5 M parameters), opset 17, BatchNormalization not folded."""
    net = Net("mobilenet_v2", 17)

    def block(x, name, inputs, outputs, kernel, stride=1, groups=1, clip=True, scale=(0.5, 1.5)):
        x = net.batch_norm(net.conv(x, name + ".0", inputs, outputs, kernel, stride, groups), name + ".1", outputs,
                           scale=scale)
        return net.op("Clip", x, net.const(0.0), net.const(6.0)) if clip else x

    x = block(net.input("input", ["N", 3, 224, 224]), "features.0", 3, 32, 3, 2)
    channels, index = 32, 0
    for expand, outputs, repeat, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeat):
            index, trunk, hidden, stride = index + 1, x, channels * expand, first if i == 0 else 1
            name, add = f"features.{index}", stride == 1 and channels == outputs
            if expand != 1:
                x = block(x, name + ".expand", channels, hidden, 1)
            x = block(x, name + ".depthwise", hidden, hidden, 3, stride, groups=hidden)
            x = block(x, name + ".project", hidden, outputs, 1, clip=False, scale=(0.1, 0.4) if add else (0.5, 1.5))
            x, channels = net.op("Add", trunk, x) if add else x, outputs
    x = block(x, "features.18", 320, 1280, 1)
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    x = net.op("Gemm", x, net.param("classifier.weight", (1000, 1280), 0.05),
               net.param("classifier.bias", (1000,), 0.1), transB=1)
    net.output(x, "logits", ["N", 1000])
    return net


def yolov8n(size=640):
    """YOLOv8n detector (3.2 M parameters, 80 classes): SiLU, Split/Concat, SPPF, nearest Resize, DFL head. Opset 17."""
    net, widths = Net("yolov8n", 17), (64, 128, 256)

    def conv(x, name, inputs, outputs, kernel=1, stride=1):
        x = net.conv(x, name, inputs, outputs, kernel, stride, gain=2.2, bias=0.3)
        return net.op("Mul", x, net.op("Sigmoid", x))

    def c2f(x, name, inputs, outputs, repeat, add):
        half = outputs // 2
        x = conv(x, name + ".cv1", inputs, outputs)
        parts = net.op("Split", x, net.const([half, half]), axis=1, outputs=2)
        for i in range(repeat):
            y = conv(conv(parts[-1], f"{name}.m.{i}.cv1", half, half, 3), f"{name}.m.{i}.cv2", half, half, 3)
            parts.append(net.op("Add", parts[-1], y) if add else y)
        return conv(net.op("Concat", *parts, axis=1), name + ".cv2", (2 + repeat) * half, outputs)

    def up(x):
        return net.op("Resize", x, "", net.const([1.0, 1.0, 2.0, 2.0]), mode="nearest", nearest_mode="floor",
                      coordinate_transformation_mode="asymmetric")

    def join(*parts):
        return net.op("Concat", *parts, axis=1)

    x = conv(conv(net.input("images", ["N", 3, size, size]), "0", 3, 16, 3, 2), "1", 16, 32, 3, 2)
    x = conv(c2f(x, "2", 32, 32, 1, True), "3", 32, 64, 3, 2)
    p3 = c2f(x, "4", 64, 64, 2, True)
    p4 = c2f(conv(p3, "5", 64, 128, 3, 2), "6", 128, 128, 2, True)
    x = conv(c2f(conv(p4, "7", 128, 256, 3, 2), "8", 256, 256, 1, True), "9.cv1", 256, 128)
    pools = [x]
    for _ in range(3):
        pools.append(net.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    p5 = conv(join(*pools), "9.cv2", 512, 256)
    n4 = c2f(join(up(p5), p4), "12", 384, 128, 1, False)
    n3 = c2f(join(up(n4), p3), "15", 192, 64, 1, False)
    n4 = c2f(join(conv(n3, "16", 64, 64, 3, 2), n4), "18", 192, 128, 1, False)
    n5 = c2f(join(conv(n4, "19", 128, 128, 3, 2), p5), "21", 384, 256, 1, False)

    levels = []
    for i, (x, width) in enumerate(zip((n3, n4, n5), widths)):
        heads = []
        for branch, middle, outputs in (("cv2", 64, 64), ("cv3", 80, 80)):
            y = conv(conv(x, f"22.{branch}.{i}.0", width, middle, 3), f"22.{branch}.{i}.1", middle, middle, 3)
            heads.append(net.conv(y, f"22.{branch}.{i}.2", middle, outputs, 1, gain=1.0, bias=0.3))
        levels.append(net.op("Reshape", join(*heads), net.const([0, 144, -1])))
    boxes, classes = net.op("Split", net.op("Concat", *levels, axis=2), net.const([64, 80]), axis=1, outputs=2)
    grids = [size // s for s in (8, 16, 32)]
    count = sum(g * g for g in grids)
    # Distribution focal loss: the expectation over 16 bins of each of the four distances.
    bins = net.op("Transpose", net.op("Reshape", boxes, net.const([0, 4, 16, count])), perm=[0, 2, 1, 3])
    expectation = net.op("Conv", net.op("Softmax", bins, axis=1),
                         net.const(np.arange(16.0).reshape(1, 16, 1, 1)), kernel_shape=[1, 1])
    near, far = net.op("Split", net.op("Reshape", expectation, net.const([0, 4, count])), net.const([2, 2]), axis=1,
                       outputs=2)
    anchors = np.concatenate([np.stack(np.meshgrid(np.arange(g) + 0.5, np.arange(g) + 0.5)).reshape(2, -1)
                              for g in grids], axis=1)[None]
    strides = np.concatenate([np.full(g * g, s) for g, s in zip(grids, (8.0, 16.0, 32.0))]).reshape(1, 1, -1)
    low, high = net.op("Sub", net.const(anchors), near), net.op("Add", net.const(anchors), far)
    center = net.op("Div", net.op("Add", low, high), net.const(2.0))
    boxes = net.op("Mul", join(center, net.op("Sub", high, low)), net.const(strides))
    net.output(join(boxes, net.op("Sigmoid", classes)), "output0", ["N", 84, count])
    return net


def build(name, path):
    {"mobilenet_v2": mobilenet_v2, "yolov8n": yolov8n}[name]().save(path)
