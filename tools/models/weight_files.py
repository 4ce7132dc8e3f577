"""Readers of weight files: safetensors and PyTorch's old format. Neither needs the library that wrote the file."""
import json
import pickle
from collections import OrderedDict

import numpy as np


def read_safetensors(path):
    """Eight bytes of header length, a JSON header with type, shape and byte range of each tensor, the bytes."""
    data = np.memmap(path, np.uint8, "r")
    start = 8 + int(data[:8].view("<u8")[0])
    header, tensors = json.loads(bytes(data[8:start])), {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            dtype = {"F32": np.float32, "I64": np.int64}[entry["dtype"]]
            tensors[name] = np.frombuffer(data[start + first:start + last].tobytes(), dtype).reshape(entry["shape"])
    return tensors


class TorchUnpickler(pickle.Unpickler):
    """Reads the state dict of a PyTorch file in its old format: tensors become (storage, offset, shape, strides)."""

    types = {"FloatStorage": np.float32, "LongStorage": np.int64}

    def find_class(self, module, name):
        if name == "OrderedDict":
            return OrderedDict
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, shape, strides, *rest: (storage, offset, shape, strides)
        return self.types[name]

    def persistent_load(self, reference):
        return reference  # ("storage", type, key, device, element count, view)


def read_torch(path):
    """Old format: three pickles of header, the state dict, the storage keys, then for each key a count and the data."""
    with open(path, "rb") as file:
        for _ in range(3):
            pickle.load(file)  # magic number, version, machine description
        entries = TorchUnpickler(file).load()
        types = {storage[2]: storage[1] for storage, *_ in entries.values()}
        storages = {}
        for key in pickle.load(file):
            count = int.from_bytes(file.read(8), "little")
            storages[key] = np.fromfile(file, types[key], count)
    tensors = {}
    for name, (storage, offset, shape, strides) in entries.items():
        data = storages[storage[2]][offset:]
        tensors[name] = np.lib.stride_tricks.as_strided(data, shape, [s * data.itemsize for s in strides])
    return tensors
