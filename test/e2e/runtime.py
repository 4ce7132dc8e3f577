"""The C API of the runtime for tests: just enough of it, over ctypes."""
import ctypes

import numpy as np

from checks import BIN

TYPES = {np.dtype(np.float32): 1, np.dtype(np.float16): 2, np.dtype(np.float64): 4, np.dtype(np.int8): 5, np.dtype(np.uint8): 6,
         np.dtype(np.int16): 7, np.dtype(np.uint16): 8, np.dtype(np.int32): 9, np.dtype(np.uint32): 10,
         np.dtype(np.int64): 11, np.dtype(np.uint64): 12, np.dtype(np.bool_): 13}


class PlanOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("verify_constants", ctypes.c_int32),
                ("cpu_level", ctypes.c_char_p), ("shape_cache_size", ctypes.c_int32)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_void_p)]


class TensorView(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("type", ctypes.c_int),
                ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64))]


class ProfileEvent(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kind", ctypes.c_char_p), ("op", ctypes.c_char_p),
                ("sources", ctypes.POINTER(ctypes.c_char_p)), ("num_sources", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("step", ctypes.c_int32), ("begin_ns", ctypes.c_uint64), ("end_ns", ctypes.c_uint64)]


PROFILE_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ProfileEvent))


def library():
    lib = ctypes.CDLL(str(BIN.parent / "lib/libllmc-runtime.so"))
    lib.llmc_last_error.restype = ctypes.c_char_p
    lib.llmc_plan_cpu_level.restype = ctypes.c_char_p
    return lib


LIB = library()


class RunError(Exception):
    """A status that is not LLMC_OK, with the runtime's message."""


def check(status):
    if status != 0:
        raise RunError(LIB.llmc_last_error().decode())


class Plan:
    """A loaded artifact: plan(inputs by name) -> outputs by name."""

    def __init__(self, path, threads=1, level=None):
        self.handle, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        options = PlanOptions(ctypes.sizeof(PlanOptions), threads, 0, level.encode() if level else None, 0)
        check(LIB.llmc_plan_load(str(path).encode(), ctypes.byref(options), ctypes.byref(self.handle)))
        check(LIB.llmc_session_create(self.handle, 0, ctypes.byref(self.session)))
        self.output_names = []
        for index in range(LIB.llmc_plan_num_outputs(self.handle, 0)):
            info = TensorInfo(ctypes.sizeof(TensorInfo))
            check(LIB.llmc_plan_output(self.handle, 0, index, ctypes.byref(info)))
            self.output_names.append(info.name.decode())

    def close(self):
        LIB.llmc_session_release(self.session)
        LIB.llmc_plan_release(self.handle)

    def set_inputs(self, inputs):
        self.kept = {name: np.asarray(array, order="C") for name, array in inputs.items()}  # read in place
        for name, array in self.kept.items():
            dims = (ctypes.c_int64 * array.ndim)(*array.shape)
            check(LIB.llmc_session_set_input_by_name(self.session, name.encode(), TYPES[array.dtype], dims, array.ndim,
                                                     ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)))

    def run(self):
        check(LIB.llmc_session_run(self.session))

    def outputs(self):
        results, dtypes = {}, {number: dtype for dtype, number in TYPES.items()}
        for index, name in enumerate(self.output_names):
            view = TensorView(ctypes.sizeof(TensorView))
            check(LIB.llmc_session_output(self.session, index, ctypes.byref(view)))
            shape = [view.dims[i] for i in range(view.rank)]
            data = ctypes.string_at(view.data, view.size) if view.size else b""
            results[name] = np.frombuffer(data, dtypes[view.type]).reshape(shape)
        return results

    def __call__(self, inputs):
        self.set_inputs(inputs)
        self.run()
        return self.outputs()

    def profile(self, inputs):
        """Milliseconds of each step of one run: (op, nodes, ms)."""
        steps = []

        def record(_, event):
            e = event.contents
            steps.append((e.op.decode(), [e.sources[i].decode() for i in range(e.num_sources)], (e.end_ns - e.begin_ns) / 1e6))

        callback = PROFILE_CALLBACK(record)
        self.set_inputs(inputs)
        check(LIB.llmc_session_set_profile(self.session, callback, None))
        self.run()
        check(LIB.llmc_session_set_profile(self.session, PROFILE_CALLBACK(), None))
        return steps
