"""Requests that share runs: answers, futures, what can go wrong, and the end of it."""
import asyncio
import concurrent.futures
import gc
import math
import mmap
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from support import artifact, load, resident_kib, run_script

import llmc


def batcher(name, **options):
    return llmc.Batcher(load(name), **{"batch_dim": "N"} | options)


def request(i, rows=1):
    """For the model `two`, and what it must give."""
    a, b = np.arange(i, i + rows, dtype=np.float32), np.full(rows, 0.5, np.float32)
    return {"a": a, "b": b}, (a + b).tolist()


def rows(seed, count=1):
    return np.random.default_rng(seed).standard_normal((count, 512), np.float32)


class Answers(unittest.TestCase):
    def test_go_to_their_callers(self):
        with batcher("two", max_rows=16, instances=2) as b:

            def call(i):
                inputs, expected = request(i, 1 + i % 3)
                return b.submit(inputs).result(60)["sum"].tolist() == expected

            with ThreadPoolExecutor(32) as pool:
                self.assertTrue(all(pool.map(call, range(2000))))
        stats = b.stats()
        self.assertEqual((stats.admitted, stats.done, stats.total.count), (2000, 2000, 2000))
        self.assertEqual(stats.rows, sum(1 + i % 3 for i in range(2000)))

    def test_equal_single_runs_and_share_runs(self):
        model = load("rows")
        with batcher("rows", max_rows=16) as b:
            futures = [b.submit(rows(i)) for i in range(64)]
            for i, future in enumerate(futures):
                np.testing.assert_array_equal(future.result(60)["y"], model(rows(i))["y"])
        stats = b.stats()
        self.assertEqual((stats.done, stats.rows), (64, 64))
        self.assertLess(stats.executions, 32)

    def test_by_place_and_layout(self):
        with batcher("two") as b:
            y = b.submit(np.float32([9, 0, 1])[::2], np.float32([[1], [2]])[:, 0]).result(60)
        self.assertEqual((y["sum"].tolist(), y["difference"].tolist()), ([10, 3], [8, -1]))

    def test_without_batching_outputs_may_have_any_size(self):
        with batcher("nonzero", batch_dim="") as b:
            futures = [b.submit(np.float32([0, 1, 0, 1][: 1 + i % 4])) for i in range(20)]
            self.assertEqual([f.result(60)["where"].tolist() for f in futures[:4]], [[[]], [[1]], [[1]], [[1, 3]]])

    def test_large_requests(self):
        with batcher("two", max_rows=4) as b:
            with self.assertRaisesRegex(llmc.InvalidArgumentError, "9 rows, more than the 4"):
                b.submit(request(0, 9)[0])
        with batcher("two", max_rows=4, split_large=True) as b:
            inputs, expected = request(7, 9)
            self.assertEqual(b.submit(inputs).result(60)["sum"].tolist(), expected)

    def test_the_dim_of_the_artifact(self):
        with llmc.load(artifact("two", batch_dim="N", batch_sizes="1,2,4", dim="N=1..4"), threads=1) as model:
            self.assertEqual((model.batch_dim, load("two").batch_dim), ("N", ""))
            futures = [model.submit(request(i)[0]) for i in range(10)]
            self.assertEqual([f.result(60)["sum"].tolist() for f in futures], [request(i)[1] for i in range(10)])
            self.assertIs(model.batcher, model.batcher)
            self.assertEqual(model.batcher.stats().done, 10)
        with self.assertRaisesRegex(llmc.InvalidArgumentError, "closed"):
            model.submit(request(0)[0])

    def test_a_model_runs_requests_alone_without_it(self):
        with load("two") as model:
            self.assertEqual([model.submit(request(i, 3)[0]).result(60)["sum"].tolist() for i in range(3)],
                             [request(i, 3)[1] for i in range(3)])


def scaled(factor):
    """A model that gives `factor` for each 1."""
    return f"scaled (float[N] x) => (float[N] y) <float c = {{{factor}}}> {{ y = Mul(x, c) }}"


ONE = np.float32([1])


class Models(unittest.TestCase):
    """Several in one batcher, and several versions of one."""

    def test_each_answers_its_own(self):
        models = {"two": load("two"), "lookup": llmc.BatchModel(load("lookup"), max_rows=2)}
        with llmc.Batcher(models, batch_dim="N", max_rows=8) as b:
            for model in (models["two"], models["lookup"].model):
                model.close()
            sums = [b.submit(request(i, 1 + i % 3)[0], model="two") for i in range(30)]
            lines = [b.submit(np.int64([i % 3]), model="lookup") for i in range(20)]
            self.assertEqual([f.result(60)["sum"].tolist() for f in sums], [request(i, 1 + i % 3)[1] for i in range(30)])
            self.assertEqual([f.result(60)["row"].tolist() for f in lines], [[[2 * (i % 3), 2 * (i % 3) + 1]] for i in range(20)])
            self.assertEqual(asyncio.run(b.run_async(np.int64([1]), model="lookup"))["row"].tolist(), [[2, 3]])
            self.assertEqual(b.models, ("two", "lookup"))
            self.assertEqual((b.stats("two").done, b.stats("lookup").done), (30, 21))
            self.assertEqual((b.count("none", "two"), sum(n for _, n in b.histogram("total", "lookup"))), (30, 21))
            with self.assertRaisesRegex(llmc.InvalidArgumentError, "^model 'lookup': .*|^the request has 3 rows, more than the 2 of a batch$"):
                b.submit(np.int64([0, 1, 2]), model="lookup")

    def test_what_is_refused(self):
        def refused(message, call, *arguments, **options):
            with self.assertRaises(llmc.InvalidArgumentError) as caught:
                call(*arguments, **options)
            self.assertEqual(str(caught.exception), message)

        two, lookup = load("two"), load("lookup")
        with llmc.Batcher({"a": two, "b": lookup}, batch_dim="N") as b:
            refused("which model is not said; there is 'a', 'b'", b.submit, request(1)[0])
            refused("which model is not said; there is 'a', 'b'", b.stats)
            refused("there is no model 'c'; there is 'a', 'b'", b.submit, request(1)[0], model="c")
            refused("there is no input 'a'; there is 'index'", b.submit, request(1)[0], model="b")
            refused("model 'b' has no version 2 in use; new requests start with version 1", b.submit, np.int64([1]), model="b", version=2)
            refused("no input has a dim 'N'; there is no dim that is not fixed", b.swap, load("large"), model="a")
            refused("model 'a': inputs, outputs or batching of the new plan are not those of the old", b.swap, lookup, model="a")
            self.assertEqual(b.submit(request(5)[0], model="a").result(60)["sum"].tolist(), request(5)[1])
            self.assertEqual((b.version("a"), b.version("b")), (1, 1))
        refused("a batcher needs a model", llmc.Batcher, {})
        refused("there is no model 'c'; there is 'a'", llmc.Batcher, {"a": llmc.BatchModel(two, batch_dim="N", fallback=["c"])})
        refused("model 'b' can not take over requests of 'a': inputs, outputs or batching differ, or have dims that are neither rows nor padded",
                llmc.Batcher, {"a": llmc.BatchModel(two, fallback=["b"]), "b": lookup}, batch_dim="N")
        refused("model 'a': weight is -1", llmc.Batcher, {"a": two}, batch_dim="N", weight=-1)
        two.close()
        refused("the model is closed", llmc.Batcher, {"a": two}, batch_dim="N")
        with self.assertRaisesRegex(TypeError, "there is no setting 'rows' of a model"):
            llmc.Batcher({"b": lookup}, rows=3)

    def test_swaps_while_callers_run(self):
        with llmc.Batcher({"m": load(scaled(1)), "other": load("two")}, batch_dim="N", max_rows=8) as b:
            stop, wrong = threading.Event(), []

            def call():
                while not stop.is_set():
                    lowest = b.version("m")  # version v gives v
                    answer = b.submit(ONE, model="m").result(60)["y"].item()
                    if not lowest <= answer <= b.version("m"):
                        wrong.append(answer)

            with ThreadPoolExecutor(6) as pool:
                callers = [pool.submit(call) for _ in range(6)]
                for version in range(2, 8):
                    time.sleep(0.01)
                    with load(scaled(version)) as new:
                        self.assertEqual(b.swap(new, model="m"), version)
                    self.assertEqual(b.submit(ONE, model="m").result(60)["y"].tolist(), [version])
                stop.set()
                for caller in callers:
                    caller.result(60)
            self.assertEqual(wrong, [])
            stats = b.stats("m")
            self.assertEqual((stats.failed, stats.rejected, b.version("m"), b.version("other")), (0, 0, 7, 1))

    def test_runs_under_way_end_with_the_old_version(self):
        old, new = (f"""m (float[N, 512] x) => (float[N, 512] y) <int64 trips = {{200}}, bool go = {{1}}, float c = {{{c}}}>
            {{ t = Loop <body = step (int64 i, bool more, float[N, 512] a) => (bool on, float[N, 512] b)
               {{ on = Identity(more)  s = Transpose <perm = [1, 0]> (a)  m = MatMul(a, s)  d = MatMul(m, a)  b = Tanh(d) }}> (trips, go, x)
               z = Sub(t, t)  y = Add(z, c) }}""" for c in (1, 2))
        old, new = load(old), load(new)
        with llmc.Batcher(old, batch_dim="N", max_rows=32) as b:
            running, waiting = b.submit(rows(1, 32)), b.submit(rows(2, 32))
            while b.stats().queued_requests > 1:
                time.sleep(0.0001)
            self.assertFalse(running.done())
            b.swap(new)
            self.assertEqual([future.result(60)["y"][0, 0] for future in (running, waiting, b.submit(rows(3)))], [1, 2, 2])

    def test_plans_in_memory(self):
        def in_memory(factor):
            data = artifact(scaled(factor)).read_bytes()
            memory = mmap.mmap(-1, len(data))  # at a multiple of 4096, so it is used in place
            memory[:] = data
            return llmc.load(memory, threads=1)

        with llmc.Batcher(in_memory(3), batch_dim="N") as b:
            gc.collect()
            self.assertEqual(b.submit(ONE).result(60)["y"].tolist(), [3])
            b.swap(in_memory(4))
            gc.collect()
            self.assertEqual(b.submit(ONE).result(60)["y"].tolist(), [4])

    def test_a_fallback_answers_while_the_model_fails(self):
        spare = "lookup (int64[N] index) => (float[N, 2] row) <float[4, 2] table = {9, 9, 9, 9, 9, 9, 9, 9}> { row = Gather(table, index) }"
        models = {"first": llmc.BatchModel(load("lookup"), fallback=["spare"], breaker_min_requests=6), "spare": load(spare)}
        with llmc.Batcher(models, batch_dim="N", max_rows=1) as b:
            self.assertEqual(b.submit(np.int64([2]), model="first").result(60)["row"].tolist(), [[4, 5]])
            failures = 0
            while b.stats("spare").executions == 0 and failures < 100:  # 3 is none of the first one's rows
                failures += isinstance(b.submit(np.int64([3]), model="first").exception(60), llmc.DataError)
            self.assertGreaterEqual(failures, 3)
            self.assertEqual(b.submit(np.int64([2]), model="first").result(60)["row"].tolist(), [[9, 9]])
            self.assertEqual((b.stats("first").failed, b.stats("spare").admitted), (failures, 0))
            self.assertEqual(b.stats("first").done, 3)


class Asyncio(unittest.TestCase):
    def test_a_thousand_tasks(self):
        async def main(model, b):
            async def one(i):
                inputs, expected = request(i, 1 + i % 2)
                outputs = await (b if i % 2 else model).run_async(inputs)
                return outputs["sum"].tolist() == expected

            return await asyncio.gather(*(one(i) for i in range(1000)))

        with load("two") as model, batcher("two") as b:
            self.assertTrue(all(asyncio.run(main(model, b))))
            self.assertEqual(model.batcher.stats().done + b.stats().done, 1000)

    def test_what_goes_wrong_is_raised(self):
        async def main(b):
            return await asyncio.gather(*(b.run_async(np.int64([i])) for i in (1, 7, 2)), return_exceptions=True)

        with batcher("lookup") as b:
            first, second, third = asyncio.run(main(b))
        self.assertIsInstance(second, llmc.DataError)
        self.assertEqual((first["row"].tolist(), third["row"].tolist()), ([[2, 3]], [[4, 5]]))

    def test_a_cancelled_task_cancels_its_request(self):
        async def main(b):
            first = asyncio.ensure_future(b.run_async(rows(1, 32)))
            task = asyncio.ensure_future(b.run_async(rows(2, 32)))
            await asyncio.sleep(0.001)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return await first

        with batcher("rows", max_rows=32) as b:
            self.assertEqual(asyncio.run(main(b))["y"].shape, (32, 512))
        self.assertEqual((b.stats().done, b.stats().cancelled), (1, 1))


class Futures(unittest.TestCase):
    def test_what_it_is(self):
        with batcher("two") as b:
            future = b.submit(request(1)[0])
            self.assertIsInstance(future, concurrent.futures.Future)
            self.assertIsNone(future.exception(60))
            self.assertTrue(future.done() and not future.cancelled() and not future.cancel())
            futures = [b.submit(request(i)[0]) for i in range(50)]
            self.assertEqual(len(concurrent.futures.wait(futures, 60).done), 50)

    def test_time_is_up(self):
        with batcher("rows", max_rows=32) as b:
            future = b.submit(rows(1, 32))
            with self.assertRaises(TimeoutError):
                future.result(0)
            self.assertFalse(future.done())
            self.assertEqual(future.result(60)["y"].shape, (32, 512))

    def test_callbacks(self):
        with batcher("two") as b:
            called, ended = [], threading.Event()

            def again(future):
                called.append(future.result()["sum"][0])
                if len(called) < 20:
                    b.submit(request(len(called))[0]).add_done_callback(again)
                else:
                    ended.set()

            b.submit(request(0)[0]).add_done_callback(again)
            self.assertTrue(ended.wait(60))
            self.assertEqual(called, [i + 0.5 for i in range(20)])

    def test_cancel(self):
        with batcher("rows", max_rows=32) as b:
            running, waiting = b.submit(rows(1, 32)), [b.submit(rows(i, 32)) for i in range(2, 8)]
            self.assertTrue(all(future.cancel() for future in waiting))
            for future in waiting:
                with self.assertRaises(concurrent.futures.CancelledError):
                    future.result(60)
                self.assertTrue(future.cancelled() and future.cancel())
            self.assertEqual(running.result(60)["y"].shape, (32, 512))
        self.assertEqual((b.stats().done, b.stats().cancelled), (1, 6))


class Refusals(unittest.TestCase):
    """One sentence each, and the next request is answered."""

    def test_inputs(self):
        a, b2 = np.float32([1]), np.float32([1, 2])
        with batcher("two", max_rows=4) as b:
            for kind, message, inputs in (
                (llmc.InvalidArgumentError, "there is no input 'z'; there is 'a', 'b'", {"z": a}),
                (llmc.InvalidArgumentError, "input 'b' is missing", {"a": a}),
                (llmc.InvalidArgumentError, "1 inputs are given; the model takes 'a', 'b'", (a,)),
                (llmc.ShapeError, "input 'b' has type F64, expected F32", (a, np.float64([1]))),
                (llmc.ShapeError, "input 'b' has rank 2, expected 1", (a, a[None])),
                (llmc.ShapeError, "inputs 'a' and 'b' disagree on 'N': 1 and 2", (a, b2)),
                (llmc.ShapeError, "the request has 0 rows", (a[:0], a[:0])),
                (llmc.InvalidArgumentError, "the request has 5 rows, more than the 4 of a batch", request(1, 5)[0]),
                (llmc.InvalidArgumentError, "input 'a' is a str, which neither DLPack nor the buffer protocol can read; expected an array", ("text", a))):
                self.refused(kind, message, b.submit, *(inputs if isinstance(inputs, tuple) else (inputs,)))
                self.assertEqual(b.submit(request(1)[0]).result(60)["sum"].tolist(), request(1)[1])
        self.assertEqual(b.stats().admitted, 9)

    def test_the_rest_of_a_request(self):
        with batcher("two", classes=[llmc.BatchClass(), llmc.BatchClass()]) as b:
            for message, options in (
                ("priority 3 is not within 1 and 2", {"priority": 3}),
                ("priority -1 is not within 1 and 2", {"priority": -1}),
                ("option 'priority' is 'high', which does not fit it", {"priority": "high"}),
                ("option 'deadline' is -1 seconds, expected 0 or more", {"deadline": -1}),
                ("option 'deadline' is nan seconds, expected 0 or more", {"deadline": math.nan}),
                ("option 'queue_timeout' is -0.5 seconds, expected 0 or more", {"queue_timeout": -0.5}),
                ("option 'queue_timeout' is inf seconds, expected 0 or more", {"queue_timeout": math.inf}),
                ("option 'stream' is -1, which does not fit it", {"stream": -1})):
                self.refused(llmc.InvalidArgumentError, message, b.submit, request(1)[0], **options)
                self.assertEqual(b.submit(request(1)[0], priority=2).result(60)["sum"].tolist(), request(1)[1])
            self.refused(llmc.InvalidArgumentError, "option 'timeout' is nan seconds, expected 0 or more", b.drain, math.nan)
            self.assertEqual(b.submit(request(1)[0]).result(60)["sum"].tolist(), request(1)[1])

    def test_options(self):
        two = [llmc.BatchClass(queue_timeout=0.001), llmc.BatchClass()]
        for message, options in (
            ("model 'main': no input has a dim 'M'; there is 'N'", {"batch_dim": "M"}),
            ("model 'main': the plan does not say which dim is batched: compile it with --batch-dim, or name one of 'N'", {"batch_dim": None}),
            ("option 'pad' is 'sideways', expected one of min_cost, up, down", {"pad": "sideways"}),
            ("option 'mix' is 'all', expected one of fill, merge, isolate", {"mix": "all"}),
            ("option 'order' is 'any', expected one of none, stream, model", {"order": "any"}),
            ("option 'delay' is -1 seconds, expected 0 or more", {"delay": -1}),
            ("option 'delay' is nan seconds, expected 0 or more", {"delay": math.nan}),
            ("option 'aging' is -1 seconds, expected 0 or more", {"aging": -1}),
            ("option 'slo_p99' is inf seconds, expected 0 or more", {"slo_p99": math.inf}),
            ("option 'queue_timeout' is nan seconds, expected 0 or more", {"classes": [llmc.BatchClass(queue_timeout=math.nan)]}),
            ("model 'main': the delay of 50000000 ns is over the deadline of the SLO, 20000000 ns", {"delay": 0.05, "slo_p99": 0.02}),
            ("model 'main': the delay of 2000000 ns is over a queue timeout of 1000000 ns", {"delay": 0.002, "classes": two}),
            ("model 'main': default priority 3 is not within 1 and 2", {"default_priority": 3, "classes": two}),
            ("model 'main': 17 priority classes, which is not within 1 and 16", {"classes": two[1:] * 17}),
            ("option 'max_rows' is 'many', which does not fit it", {"max_rows": "many"}),
            (f"option 'max_rows' is {1 << 40}, which does not fit it", {"max_rows": 1 << 40}),
            ("model 'main': max_rows is -1", {"max_rows": -1}),
            ("model 'main': preferred size 8 is over the cap of 4 rows", {"preferred": [8], "max_rows": 4}),
            ("model 'main': the variants are not positive row counts in ascending order", {"sizes": [4, 2]}),
            ("model 'main': answers of a model with state can not be kept", {"cache_bytes": 1, "stateful": True}),
            ("max_requests is -1", {"max_requests": -1})):
            self.refused(llmc.InvalidArgumentError, message, batcher, "two", **options)
        sized = llmc.load(artifact("two", batch_dim="N", batch_sizes="1,2,4", dim="N=1..4"), threads=1)
        self.refused(llmc.InvalidArgumentError, "model 'main': max_rows is 8, but 'N' is in 1..4", llmc.Batcher, sized, max_rows=8)

    def test_too_many_requests(self):
        with batcher("rows", max_rows=32, max_requests=1) as b:
            first = b.submit(rows(1, 32))
            self.refused(llmc.RejectedError, "there are 1 requests that have not been released, max_requests allows no more", b.submit, rows(2))
            self.assertEqual(first.result(60)["y"].shape, (32, 512))

    def refused(self, kind, message, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertEqual(str(caught.exception), message)

    def test_one_bad_row_fails_alone(self):
        with batcher("lookup", delay=0.05) as b:
            futures = {i: b.submit(np.int64([i])) for i in (0, 1, 9, 2)}
            with self.assertRaisesRegex(llmc.DataError, "pick"):
                futures.pop(9).result(60)
            for i, future in futures.items():
                self.assertEqual(future.result(60)["row"].tolist(), [[2 * i, 2 * i + 1]])

    def test_full(self):
        with batcher("rows", max_rows=32, max_queued_requests=2) as b:
            futures = []
            with self.assertRaises(llmc.RejectedError) as caught:
                for i in range(200):
                    futures.append(b.submit(rows(i, 32)))
            self.assertIs(caught.exception.status, llmc.Status.REJECTED)
            self.assertEqual([f.result(60)["y"].shape for f in futures], [(32, 512)] * len(futures))
        self.assertGreater(b.count("queue_full"), 0)
        self.assertEqual(b.count("no such reason"), -1)

    def test_deadlines(self):
        with batcher("rows", max_rows=32) as b:
            futures = [b.submit(rows(i, 32), deadline=0.0001) for i in range(8)]
            errors = [future.exception(60) for future in futures[1:]]
            self.assertTrue(any(isinstance(error, llmc.DeadlineError) for error in errors), errors)
            late = next(error for error in errors if isinstance(error, llmc.DeadlineError))
            self.assertIsInstance(late, TimeoutError)
            self.assertTrue(late.reason)


class Ends(unittest.TestCase):
    def test_close_rejects_what_waits(self):
        b = batcher("rows", max_rows=32)
        futures = [b.submit(rows(i, 32)) for i in range(20)]
        b.close()
        b.close()
        ends = [future.exception(0) for future in futures]
        self.assertTrue(all(end is None or isinstance(end, llmc.RejectedError) for end in ends), ends)
        self.assertTrue(any(isinstance(end, llmc.RejectedError) for end in ends))
        with self.assertRaisesRegex(llmc.RejectedError, "closed"):
            b.submit(rows(0))

    def test_drain_waits(self):
        b = batcher("two")
        futures = [b.submit(request(i)[0]) for i in range(200)]
        b.drain()
        self.assertTrue(all(future.done() for future in futures))
        b.close()

    def test_nobody_holds_it(self):
        futures = [batcher("two").submit(request(i)[0]) for i in range(10)]
        gc.collect()
        for i, future in enumerate(futures):
            end = future.exception(60)
            self.assertTrue(isinstance(end, llmc.RejectedError) or future.result()["sum"].tolist() == request(i)[1])

    def test_a_forked_child_gets_errors(self):
        done = run_script("""
            import os, sys, llmc, numpy as np
            model = llmc.load(sys.argv[1], threads=1)
            batcher = llmc.Batcher(model, batch_dim="N", max_rows=32)
            x = np.ones((32, 512), np.float32)
            pending = [batcher.submit(x) for _ in range(20)]
            child = os.fork()
            if child == 0:
                for call in (lambda: batcher.submit(x), lambda: pending[-1].result(30), pending[-1].cancel):
                    try:
                        call()
                        os._exit(1)
                    except llmc.InvalidArgumentError as error:
                        assert "forked" in str(error), error
                batcher.close()
                del batcher, pending
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            assert all(future.result(60)["y"].shape == (32, 512) for future in pending)
            print("good")
        """, artifact("rows"))
        self.assertEqual(done.stdout.strip(), "good", done.stderr)

    def test_the_process_ends_while_requests_run(self):
        done = run_script("""
            import sys, threading, llmc, numpy as np
            model = llmc.load(sys.argv[1], threads=1)
            batcher = llmc.Batcher(model, batch_dim="N", max_rows=8)
            x = np.ones((1, 512), np.float32)
            def ask():
                try:
                    return batcher.submit(x)
                except llmc.RejectedError:  # all of max_requests are under way
                    return None
            def feed():
                while True:
                    if future := ask():
                        future.add_done_callback(lambda future: future.exception())
            for _ in range(2):
                threading.Thread(target=feed, daemon=True).start()
            futures = [ask() for _ in range(20)]
            print("end")
        """, artifact("rows"))
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "end"), done.stderr)


class Numbers(unittest.TestCase):
    def test_stats(self):
        with batcher("two") as b:
            for i in range(30):
                b.submit(request(i)[0]).result(60)
            stats, columns = b.stats(), b.histogram()
        self.assertEqual(sum(count for _, count in columns), 30)
        self.assertLessEqual(stats.total.p50, stats.total.p99)
        self.assertLess(0, stats.total.p50)
        self.assertLessEqual(stats.executed_rows, 30)
        self.assertEqual((stats.queued_requests, stats.failed, stats.late), (0, 0, 0))

    def test_answers_that_are_kept(self):
        with batcher("two", cache_bytes=1 << 20) as b:
            for _ in range(5):
                self.assertEqual(b.submit(request(3)[0]).result(60)["sum"].tolist(), request(3)[1])
            stats = b.stats()
        self.assertEqual((stats.cache_hits, stats.cache_misses, stats.done), (4, 1, 5))

    def test_nothing_refers_to_arrays_afterwards(self):
        with batcher("two") as b:
            inputs, _ = request(1)
            before = sys.getrefcount(inputs["a"])
            future = b.submit(inputs)
            future.result(60)
            deadline = time.monotonic() + 10
            while sys.getrefcount(inputs["a"]) != before and time.monotonic() < deadline:
                time.sleep(0.001)
            self.assertEqual(sys.getrefcount(inputs["a"]), before)

    def test_memory_stays(self):
        with batcher("two") as b:
            inputs, _ = request(1, 8)

            def many(count):
                for _ in range(count // 100):
                    for future in [b.submit(inputs) for _ in range(100)]:
                        future.result(60)

            many(3000)
            gc.collect()
            before = resident_kib()
            many(20000)
            gc.collect()
            self.assertLess(resident_kib() - before, 4000)


if __name__ == "__main__":
    unittest.main()
