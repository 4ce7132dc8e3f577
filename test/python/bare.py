"""bare.py ARTIFACT: runs the artifact of `two` (support.py) where nothing but llmc is installed."""
import array
import importlib.util
import sys

import llmc

assert importlib.util.find_spec("numpy") is None
model = llmc.load(sys.argv[1], threads=1)
assert [info.shape for info in model.inputs] == [("N",), ("N",)]
outputs = model(array.array("f", [5, 7]), array.array("f", [1, 2]))
assert all(isinstance(value, llmc.Tensor) for value in outputs.values())
assert memoryview(outputs["sum"]).tolist() == [6, 9]
assert memoryview(model(outputs["sum"], outputs["difference"])["difference"]).tolist() == [2, 4]
try:
    model(array.array("d", [1]), array.array("f", [1]))
except llmc.ShapeError as error:
    assert "'a' has type F64" in str(error), error
else:
    raise AssertionError("a wrong type is refused")
print("good")
