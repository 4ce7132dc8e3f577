"""Reads a GGUF file: its metadata, and its tensors dequantized to float32 (the types F32, Q8_0 and Q4_1)."""
import struct

import numpy as np

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
F32, Q4_1, Q8_0 = 0, 3, 8
BLOCK = 32  # values that share a scale


class Reader:
    def __init__(self, data):
        self.data, self.position = data, 0

    def scalar(self, code):
        value, = struct.unpack_from("<" + code, self.data, self.position)
        self.position += struct.calcsize(code)
        return value

    def string(self):
        size = self.scalar("Q")
        self.position += size
        return bytes(self.data[self.position - size:self.position]).decode("utf-8", "replace")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            kind, count = self.scalar("I"), self.scalar("Q")
            return [self.value(kind) for _ in range(count)]
        return self.scalar(SCALARS[kind])


def dequantize(data, offset, kind, count):
    if kind == F32:
        return np.frombuffer(data, "<f4", count, offset).copy()
    if kind == Q8_0:  # half scale, 32 signed bytes
        blocks = np.frombuffer(data, [("d", "<f2"), ("q", "i1", BLOCK)], count // BLOCK, offset)
        return (blocks["d"].astype(np.float32)[:, None] * blocks["q"].astype(np.float32)).reshape(-1)
    if kind == Q4_1:  # half scale, half minimum, 16 bytes: the low nibbles are the first 16 values
        blocks = np.frombuffer(data, [("d", "<f2"), ("m", "<f2"), ("q", "u1", BLOCK // 2)], count // BLOCK, offset)
        values = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1).astype(np.float32)
        scale, minimum = (blocks[f].astype(np.float32)[:, None] for f in "dm")
        return (scale * values + minimum).reshape(-1)
    raise ValueError(f"GGUF tensor type {kind} is not supported")


def read_gguf(path, tensors=True):
    """(metadata by key, float32 tensors by name, if wanted). Shapes are row-major, so the file's dims reversed."""
    data = np.memmap(path, np.uint8, "r")
    reader = Reader(data)
    magic, version = reader.scalar("I"), reader.scalar("I")
    if magic != 0x46554747 or version not in (2, 3):
        raise ValueError(f"{path} is not a GGUF file of version 2 or 3")
    tensor_count, field_count = reader.scalar("Q"), reader.scalar("Q")
    fields = {}
    for _ in range(field_count):
        name = reader.string()
        fields[name] = reader.value(reader.scalar("I"))
    if not tensors:
        return fields, {}
    entries = []
    for _ in range(tensor_count):
        name = reader.string()
        dims = [reader.scalar("Q") for _ in range(reader.scalar("I"))]
        entries.append((name, dims[::-1], reader.scalar("I"), reader.scalar("Q")))
    alignment = fields.get("general.alignment", 32)
    start = -(-reader.position // alignment) * alignment
    return fields, {name: dequantize(data, start + offset, kind, int(np.prod(shape))).reshape(shape)
                    for name, shape, kind, offset in entries}
