"""Runs a compiled artifact in this process: just enough of the runtime's C API (llmc.h) for timing and for tests."""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p

import ml_dtypes
import numpy as np

# Numbers of llmc_type.
TYPES = {1: np.float32, 2: np.float16, 3: ml_dtypes.bfloat16, 4: np.float64, 5: np.int8, 6: np.uint8, 7: np.int16, 8: np.uint16,
         9: np.int32, 10: np.uint32, 11: np.int64, 12: np.uint64, 13: np.bool_}
NUMBERS = {np.dtype(dtype): number for number, dtype in TYPES.items()}


class PlanOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("threads", c_int32), ("verify_constants", c_int32), ("cpu_level", c_char_p),
                ("shape_cache_size", c_int32)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("type", c_int32), ("rank", c_int32), ("dims", c_void_p)]


class TensorView(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("data", c_void_p), ("size", c_size_t), ("type", c_int32), ("rank", c_int32),
                ("dims", POINTER(c_int64))]


class Artifact:
    """A loaded artifact and one session of its first entry."""

    def __init__(self, library, path, threads=1, cpu_level=None):
        self.api = ctypes.CDLL(str(library))
        self.api.llmc_last_error.restype = c_char_p
        self.api.llmc_plan_release.argtypes = self.api.llmc_session_release.argtypes = [c_void_p]
        self.plan, self.session, self.inputs = c_void_p(), c_void_p(), {}
        options = PlanOptions(ctypes.sizeof(PlanOptions), threads, 0, cpu_level.encode() if cpu_level else None, 0)
        self.check(self.api.llmc_plan_load(str(path).encode(), byref(options), byref(self.plan)))
        self.check(self.api.llmc_session_create(self.plan, 0, byref(self.session)))
        self.output_names = []
        for i in range(self.api.llmc_plan_num_outputs(self.plan, 0)):
            info = TensorInfo(ctypes.sizeof(TensorInfo))
            self.check(self.api.llmc_plan_output(self.plan, 0, i, byref(info)))
            self.output_names.append(info.name.decode())

    def __del__(self):
        self.api.llmc_session_release(self.session)
        self.api.llmc_plan_release(self.plan)

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.api.llmc_last_error().decode())

    def set_inputs(self, arrays):
        """{name: array}. The arrays are read in place by each run, so they are kept here."""
        for name, array in arrays.items():
            array = np.asarray(array, order="C")
            self.inputs[name] = array
            dims = (c_int64 * max(array.ndim, 1))(*array.shape)
            self.check(self.api.llmc_session_set_input_by_name(self.session, name.encode(), NUMBERS[array.dtype], dims, array.ndim,
                                                               c_void_p(array.ctypes.data), c_size_t(array.nbytes)))

    def run(self):
        self.check(self.api.llmc_session_run(self.session))

    def outputs(self):
        """Copies of the outputs of the last run, by name."""
        return {name: self.output(i) for i, name in enumerate(self.output_names)}

    def output(self, index):
        view = TensorView(ctypes.sizeof(TensorView))
        self.check(self.api.llmc_session_output(self.session, index, byref(view)))
        shape = [view.dims[i] for i in range(view.rank)]
        data = ctypes.string_at(view.data, view.size) if view.size else b""
        return np.frombuffer(data, TYPES[view.type]).reshape(shape).copy()
