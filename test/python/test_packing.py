"""Requests of different lengths in one run, one after the other: the batcher makes what says where each lies."""
import unittest

import numpy as np
from support import artifact

import llmc

MODEL = """packed (float[T, 2] values, float[N] counts, int32[N] ends, int64[M] offsets, int64[T] index, float[L] longest, float[N, 1] scale)
        => (float[N, 2] means, float[N, 2] lasts, float[K, 2] firsts, float[T, 2] scaled)
        <int64[1] two = {2}, int64[1] column = {1}, int64[1] begin = {0}, int64[1] end = {-1}, int32 one = {1}>
        { n = Shape(counts)  shape = Concat <axis = 0> (n, two)  zeros = ConstantOfShape(shape)
          wide = Unsqueeze(index, column)  size = Shape(values)  at = Expand(wide, size)
          sums = ScatterElements <axis = 0, reduction = "add"> (zeros, at, values)
          divisor = Unsqueeze(counts, column)  means = Div(sums, divisor)
          last = Sub(ends, one)  lasts = Gather(values, last)
          starts = Slice(offsets, begin, end)  firsts = Gather(values, starts)
          nothing = ReduceSum(longest)  factors = Gather(scale, index)  product = Mul(values, factors)  scaled = Add(product, nothing) }"""
KINDS = {"counts": "count", "ends": "accumulated", "offsets": "accumulated-zero", "index": "index", "longest": "longest"}
RANGES = {"T": "1..64", "N": "1..8", "M": "2..9", "L": "1..64"}


def load():
    return llmc.load(artifact(MODEL, batch_dim="T", dim=tuple(f"{name}={span}" for name, span in RANGES.items()),
                              generate=tuple(f"{name}={kind}" for name, kind in KINDS.items())), threads=1)


def request(seed, length):
    """Its inputs, and what comes of them."""
    rng = np.random.default_rng(seed)
    values, scale = rng.integers(-8, 8, (length, 2)).astype(np.float32), rng.integers(1, 5, (1, 1)).astype(np.float32)
    expected = {"means": values.sum(0, keepdims=True, dtype=np.float32) / np.float32(length), "lasts": values[-1:], "firsts": values[:1], "scaled": values * scale}
    return {"values": values, "scale": scale}, expected


class Packing(unittest.TestCase):
    def check(self, answer, expected):
        for name, value in expected.items():
            np.testing.assert_array_equal(answer[name], value)

    def test_requests_of_any_length_share_runs(self):
        with llmc.Batcher(load(), delay=0.02) as batcher:
            requests = [request(i, 1 + i % 9) for i in range(400)]
            futures = [batcher.submit(inputs) for inputs, _ in requests]
            for future, (_, expected) in zip(futures, requests):
                self.check(future.result(60), expected)
            stats = batcher.stats()
        self.assertEqual((stats.done, stats.rows), (400, sum(1 + i % 9 for i in range(400))))
        self.assertLess(stats.executions, 200)
        self.assertGreaterEqual(stats.executions, 50)  # no more than 8 requests in a run

    def test_a_run_alone_brings_all_inputs(self):
        model = load()
        inputs, expected = request(1, 5)
        places = {"counts": np.float32([5]), "ends": np.int32([5]), "offsets": np.int64([0, 5]), "index": np.zeros(5, np.int64),
                  "longest": np.zeros(5, np.float32)}
        self.check(model(inputs | places), expected)
        with llmc.Batcher(model, batch_dim="") as batcher:
            self.check(batcher.submit(inputs | places).result(60), expected)
        self.assertEqual({info.name for info in model.inputs if info.generated}, set(KINDS))

    def test_the_longest_request_is_a_full_batch(self):
        with llmc.Batcher(load()) as batcher:
            inputs, expected = request(2, 64)
            self.check(batcher.submit(inputs).result(60), expected)

    def test_what_is_wrong_with_a_request(self):
        with llmc.Batcher(load()) as batcher:
            inputs, expected = request(3, 4)
            for given, message in (
                    (inputs | {"index": np.zeros(4, np.int64)}, "there is no input 'index'; there is 'values', 'scale'"),
                    ({"values": inputs["values"]}, "input 'scale' is missing"),
                    (request(4, 65)[0], "the request has 65 rows, more than the 64 of a batch"),
                    (inputs | {"values": np.zeros((0, 2), np.float32)}, "the request has 0 rows"),
                    (inputs | {"scale": np.ones((2, 1), np.float32)}, "input 'scale' has 2 in dim 0, expected 1: one place for each request")):
                with self.assertRaisesRegex(llmc.Error, message):
                    batcher.submit(given).result(60)
            self.check(batcher.submit(inputs).result(60), expected)

    def test_settings_that_do_not_go_with_it(self):
        for settings, message in (({"split_large": True}, "split_large: a packed request can not be run in parts"),
                                  ({"pad": "down"}, "packed batches have any number of rows: only_preferred and pad do not apply to them"),
                                  ({"max_rows": 65}, "max_rows is 65, but 'T' is in 1..64")):
            with self.assertRaisesRegex(llmc.Error, message):
                llmc.Batcher(load(), **settings)

    def test_a_model_whose_requests_influence_each_other_is_refused(self):
        text = "mix (float[T, 2] x, int64[N] counts) => (float[T, 2] y) { y = Softmax <axis = 0> (x) }"
        with self.assertRaisesRegex(llmc.CompileError, "packed requests of T influence each other: in a trial with seeded data output 'y' has other bits "
                                                       "for a request of 3 places as number 0 of 8 than alone"):
            artifact(text, batch_dim="T", dim=("T=1..64", "N=1..8"), generate=("counts=count",))

    def test_options_that_can_not_be(self):
        text = "lengths (float[T, 2] x, int64[N] counts, int16[N] short, int64[N, 2] wide) => (float[T, 2] y) { y = Neg(x) }"
        for generate, message in (("other=count", "--generate 'other': the model has no such input"),
                                  ("counts=index", "--generate 'counts=index': the axis of the input is N, expected T"),
                                  ("short=count", "the input has elements of type 'i16', expected i32, i64 or f32"),
                                  ("wide=count", "the input has rank 2, expected one axis"),
                                  ("counts=longest", "N is at most 8, but a request of T has up to 64 places"),
                                  ("counts=sum", "is not INPUT=KIND, where KIND is count, accumulated, accumulated-zero, index or longest")):
            with self.assertRaisesRegex(llmc.CompileError, message):
                artifact(text, batch_dim="T", dim=("T=1..64", "N=1..8"), generate=(generate,))
        text = "whole (float[T, 2] x, int64[N] counts) => (float[1, 2] y) <int64[1] axis = {0}> { y = ReduceSum(x, axis) }"
        with self.assertRaisesRegex(llmc.CompileError, "output 'y' is 1x2, expected one axis that is T or has one place for each request"):
            artifact(text, batch_dim="T", dim=("T=1..64", "N=1..8"), generate=("counts=count",))
        with self.assertRaisesRegex(llmc.CompileError, "--batch-sizes, --buckets, --pad, --mask and --generate need --batch-dim"):
            artifact(text, generate=("counts=count",))
        with self.assertRaisesRegex(llmc.CompileError, "--generate packs requests one after the other, so --buckets, which pads them, does not go with it"):
            artifact(text, batch_dim="T", generate=("counts=count",), buckets=("N=1,2",))
