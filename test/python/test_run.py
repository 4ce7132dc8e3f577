"""Calling a model: what goes in, what comes out."""
import mmap
import unittest

import ml_dtypes
import numpy as np
from support import artifact, double_of, load

import llmc


class Description(unittest.TestCase):
    def test_names_types_and_dims(self):
        model = load("layer")
        self.assertEqual([info.name for info in model.inputs + model.outputs], ["x", "y"])
        self.assertEqual(model.inputs[0].dtype, "float32")
        self.assertEqual(model.inputs[0].shape, ("N", 2, 2))
        self.assertEqual(model.outputs[0].shape, ("N", 2))
        self.assertEqual(model.inputs[0].dims[0], llmc.Dim("N", None, 0, 2**63 - 1))
        self.assertEqual(model.inputs[0].dims[1], llmc.Dim("", 2, 2, 2))

    def test_what_runs_it(self):
        model = load("layer", threads=2, entry="main")
        self.assertEqual((model.threads, model.entry), (2, "main"))
        self.assertEqual(model.cpu_level[:8], "x86-64-v")
        self.assertEqual(llmc.host_cpu_level()[:8], "x86-64-v")
        self.assertIn("x: float32[N, 2, 2]", repr(model))


class Calls(unittest.TestCase):
    def test_by_name_and_by_place(self):
        a, b, model = np.float32([5, 7]), np.float32([1, 2]), load("two")
        for outputs in (model(a, b), model({"b": b, "a": a})):
            self.assertEqual(list(outputs), ["sum", "difference"])
            np.testing.assert_array_equal(outputs["sum"], [6, 9])
            np.testing.assert_array_equal(outputs["difference"], [4, 5])

    def test_any_size_of_an_open_dim(self):
        model = load("layer")
        for size in (1, 3, 0, 17, 3):
            y = model(np.ones((size, 2, 2), np.float32))["y"]
            np.testing.assert_array_equal(y, np.broadcast_to(np.float32([16.5, 19.5]), (size, 2)))

    def test_outputs_whose_size_depends_on_data(self):
        model = load("nonzero")
        for values, where in (([0, 1, 0, 2], [1, 3]), ([0, 0, 0, 0], []), ([1, 1, 1, 1], [0, 1, 2, 3])):
            result = model(np.float32(values))["where"]
            np.testing.assert_array_equal(result, np.int64([where]))

    def test_results_are_kept_apart(self):
        model = load("two")
        results = [model(np.float32([i]), np.float32([0]))["sum"] for i in range(50)]
        self.assertEqual([float(result[0]) for result in results], list(range(50)))

    def test_a_result_is_the_next_input(self):
        model, h = load("state"), np.zeros((2, 4), np.float32)
        x, expected = np.full((2, 4), 0.5, np.float32), np.zeros((2, 4), np.float32)
        for _ in range(20):
            h, expected = model(x, h)["next"], np.tanh(x + expected)
        np.testing.assert_allclose(h, expected, rtol=1e-6)

    def test_bytes_are_an_artifact_too(self):
        data = artifact("two").read_bytes()
        with open(artifact("two"), "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        for source in (data, bytearray(data), memoryview(data), mapped):
            model = llmc.load(source, threads=1)
            del source
            np.testing.assert_array_equal(model(np.float32([3]), np.float32([1]))["sum"], [4])

    def test_closed(self):
        with load("two") as model:
            y = model(np.float32([3]), np.float32([1]))["sum"]
        with self.assertRaisesRegex(llmc.InvalidArgumentError, "the model is closed"):
            model(np.float32([3]), np.float32([1]))
        model.close()
        self.assertEqual(y[0], 4)


class Inputs(unittest.TestCase):
    def test_layouts_that_are_copied(self):
        model, x = load("layer"), np.arange(24, dtype=np.float32).reshape(6, 2, 2)
        shifted = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(6, 2, 2)
        self.assertNotEqual(shifted.ctypes.data % 4, 0)
        expected = model(x)["y"]
        for layout in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x[::-1][::-1].copy("F"), shifted):
            np.testing.assert_array_equal(model(layout)["y"], expected)
        np.testing.assert_array_equal(model(x[::-1])["y"], expected[::-1])
        np.testing.assert_array_equal(model(np.broadcast_to(x[0], x.shape))["y"], np.broadcast_to(expected[0], (6, 2)))

    def test_row_major_ones_are_read_in_place(self):
        model, x = load("large"), np.ones((1024, 1024), np.float32)
        x.flags.writeable = False
        y = model(x)["y"]
        np.testing.assert_array_equal(y, -x)
        self.assertTrue(y.flags.writeable)

    def test_buffers_and_dlpack(self):
        model, values = load("two"), np.float32([1, 2, 3])

        class Producer:
            def __dlpack__(self, **options):
                return values.__dlpack__(**options)

            def __dlpack_device__(self):
                return values.__dlpack_device__()

        for x in (memoryview(values), bytearray(values.tobytes()) and memoryview(values.tobytes()).cast("f"), Producer()):
            np.testing.assert_array_equal(model(x, x)["sum"], [2, 4, 6])

    def test_a_tensor_is_an_input(self):
        model = load("two")
        tensor = model._open().run([np.float32([1]), np.float32([2])])[0]
        self.assertIsInstance(tensor, llmc.Tensor)
        np.testing.assert_array_equal(model(tensor, tensor)["sum"], [6])


class ElementTypes(unittest.TestCase):
    def check(self, onnx_type, dtype):
        model = load(double_of(onnx_type))
        y = model(np.array([1, 2, 3], dtype))["y"]
        self.assertEqual(y.dtype, np.dtype(dtype))
        self.assertEqual(model.inputs[0].dtype, np.dtype(dtype).name)
        np.testing.assert_array_equal(y, np.array([2, 4, 6], dtype))

    def test_numbers(self):
        for onnx_type, dtype in (("float", "float32"), ("float16", "float16"), ("double", "float64"), ("int8", "int8"),
                                 ("uint8", "uint8"), ("int16", "int16"), ("uint16", "uint16"), ("int32", "int32"),
                                 ("uint32", "uint32"), ("int64", "int64"), ("uint64", "uint64")):
            with self.subTest(dtype):
                self.check(onnx_type, dtype)

    def test_bfloat16(self):
        self.check("bfloat16", ml_dtypes.bfloat16)

    def test_bool(self):
        y = load("negate (bool[N] x) => (bool[N] y) { y = Not(x) }")(np.array([True, False]))["y"]
        self.assertEqual(y.tolist(), [False, True])


class Tensors(unittest.TestCase):
    def tensor(self, onnx_type, values):
        return load(double_of(onnx_type))._open().run([values])[0]

    def test_what_it_says_of_itself(self):
        tensor = self.tensor("float", np.float32([1, 2]))
        self.assertEqual((tensor.shape, tensor.dtype, tensor.nbytes), ((2,), "float32", 8))
        self.assertEqual(repr(tensor), "llmc.Tensor(float32, [2])")
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))

    def test_readers_share_its_memory(self):
        tensor = self.tensor("float", np.float32([1, 2]))
        view, dlpack, data = np.asarray(tensor), np.from_dlpack(tensor), tensor.data
        view[0] = 7
        self.assertEqual((dlpack[0], memoryview(tensor)[0], np.frombuffer(data, np.float32)[0]), (7, 7, 7))

    def test_readers_keep_its_memory(self):
        view = np.asarray(self.tensor("float", np.float32([1, 2])))
        dlpack = np.from_dlpack(self.tensor("float", np.float32([3, 4])))
        others = [self.tensor("float", np.float32([9, 9])) for _ in range(100)]
        self.assertEqual((view.tolist(), dlpack.tolist(), len(others)), ([2, 4], [6, 8], 100))

    def test_bfloat16_has_no_buffer(self):
        tensor = self.tensor("bfloat16", np.array([1, 2], ml_dtypes.bfloat16))
        with self.assertRaisesRegex(BufferError, "bfloat16"):
            memoryview(tensor)
        self.assertEqual(np.frombuffer(tensor.data, ml_dtypes.bfloat16).tolist(), [2, 4])


if __name__ == "__main__":
    unittest.main()
