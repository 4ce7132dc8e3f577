"""What is wrong is said in one sentence that names it, by an exception of its own."""
import unittest

import numpy as np
from support import FOLDER, artifact, load, model_proto

import llmc


class Refused(unittest.TestCase):
    def refused(self, kind, message, call, *arguments, **options):
        with self.assertRaisesRegex(kind, message) as caught:
            call(*arguments, **options)
        self.assertIsInstance(caught.exception, llmc.Error)
        return caught.exception


class Inputs(Refused):
    def setUp(self):
        self.model, self.x = load("layer"), np.ones((3, 2, 2), np.float32)

    def tearDown(self):  # nothing that was refused disturbs what comes next
        np.testing.assert_array_equal(self.model(self.x)["y"][2], [16.5, 19.5])

    def test_names(self):
        self.refused(llmc.InvalidArgumentError, "there is no input 'z'; there is 'x'", self.model, {"z": self.x})
        self.refused(llmc.InvalidArgumentError, "there is no input 'z'", self.model, {"x": self.x, "z": self.x})
        self.refused(llmc.InvalidArgumentError, "input 'x' is missing", self.model, {})

    def test_number(self):
        self.refused(llmc.InvalidArgumentError, "0 inputs are given; the model takes 'x'", self.model)
        self.refused(llmc.InvalidArgumentError, "2 inputs are given; the model takes 'x'", self.model, self.x, self.x)

    def test_types(self):
        error = self.refused(llmc.ShapeError, "input 'x' has type F64, expected F32", self.model, self.x.astype(np.float64))
        self.assertIs(error.status, llmc.Status.SHAPE)
        self.assertIsInstance(error, ValueError)
        self.refused(llmc.ShapeError, "input 'x' is a ndarray of complex64", self.model, self.x.astype(np.complex64))

    def test_dims(self):
        self.refused(llmc.ShapeError, "input 'x' has rank 2, expected 3", self.model, self.x[0])
        self.refused(llmc.ShapeError, "input 'x' has 3 in dim 2, expected 2", self.model, np.ones((1, 2, 3), np.float32))

    def test_dims_of_two_inputs(self):
        self.refused(llmc.ShapeError, "'b'", load("two"), np.ones(3, np.float32), np.ones(4, np.float32))

    def test_what_is_no_tensor(self):
        for value, kind in (([1.0], "a list"), ("text", "a str"), (None, "a NoneType"), (np.array(["a"]), "of <U1"),
                            (np.array([None]), "of object"), (self.x.astype(">f4"), "of >f4")):
            self.refused(llmc.InvalidArgumentError, f"input 'x' is .*{kind}", self.model, value)

    def test_another_device(self):
        class Elsewhere:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                raise BufferError("on a device")

            def __dlpack_device__(self):
                return 2, 0

        self.refused(llmc.InvalidArgumentError, "input 'x' is a Elsewhere", self.model, Elsewhere(self.x))


class Data(Refused):
    def test_the_node_is_named(self):
        model = load("lookup")
        error = self.refused(llmc.DataError, "pick", model, np.int64([0, 3]))
        self.assertIs(error.status, llmc.Status.DATA)
        np.testing.assert_array_equal(model(np.int64([2]))["row"], [[4, 5]])


class Artifacts(Refused):
    def test_no_file(self):
        error = self.refused(llmc.FileError, "can not open '.*nothing.llmc'", llmc.load, FOLDER / "nothing.llmc")
        self.assertIs(error.status, llmc.Status.IO)

    def test_no_artifact(self):
        self.refused(llmc.InvalidPlanError, "has 4 bytes", llmc.load, b"text")
        self.refused(llmc.InvalidPlanError, "", llmc.load, artifact("layer").read_bytes()[:-1])
        with self.assertRaises(TypeError):
            llmc.load(7)

    def test_options(self):
        self.refused(llmc.InvalidArgumentError, "threads is -1", load, "layer", threads=-1)
        self.refused(llmc.InvalidArgumentError, "there is no entry 'other'; there is 'main'", load, "layer", entry="other")
        self.refused(llmc.Error, "x86-64-v9", load, "layer", cpu_level="x86-64-v9")


class Compiler(Refused):
    def test_what_the_compiler_says(self):
        self.refused(llmc.CompileError, "can not open .*nothing.onnx", llmc.compile, FOLDER / "nothing.onnx")
        unknown = model_proto("m (float[N] x) => (float[N] y) { [here] y = Nonsense(x) }")
        self.refused(llmc.CompileError, "Nonsense", llmc.compile, unknown, FOLDER / "never.llmc")
        self.refused(llmc.CompileError, "no-such-option", llmc.compile, unknown, FOLDER / "never.llmc", no_such_option=1)

    def test_where_the_artifact_goes(self):
        proto = model_proto("m (float[N] x) => (float[N] y) { y = Neg(x) }")
        path = FOLDER / "beside.onnx"
        path.write_bytes(proto.SerializeToString())
        self.assertEqual(llmc.compile(path), FOLDER / "beside.llmc")
        fixed = llmc.compile(str(path), str(FOLDER / "fixed.llmc"), dim={"N": 3}, cpu=["x86-64-v3"], O=1)
        self.assertEqual(llmc.load(fixed).inputs[0].shape, (3,))
        with self.assertRaisesRegex(TypeError, "output="):
            llmc.compile(proto)
        with self.assertRaisesRegex(TypeError, "not int"):
            llmc.compile(3)

    def test_no_compiler(self):
        import os
        from unittest import mock
        with mock.patch.dict(os.environ, {"PATH": "/nowhere", "LLMC_BIN": ""}):
            self.refused(llmc.CompileError, "the compiler 'llmc' is not there", llmc.compile, FOLDER / "any.onnx")


if __name__ == "__main__":
    unittest.main()
