"""Threads, forks, and what stays in memory."""
import gc
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from support import artifact, load, resident_kib, run_script

import llmc


class Threads(unittest.TestCase):
    def test_answers_go_to_their_callers(self):
        model = load("two", threads=2)

        def call(i):
            size = 1 + i % 7
            outputs = model(np.full(size, i, np.float32), np.ones(size, np.float32))
            return outputs["sum"].tolist() == [i + 1] * size and outputs["difference"].tolist() == [i - 1] * size

        with ThreadPoolExecutor(16) as pool:
            self.assertTrue(all(pool.map(call, range(4000))))

    def test_other_threads_run_meanwhile(self):
        model, x, ticks, done = load("slow"), np.ones((256, 512), np.float32), 0, threading.Event()

        def tick():
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        before, begin = ticks, time.perf_counter()
        model(x)
        during, seconds = ticks - before, time.perf_counter() - begin
        done.set()
        thread.join()
        self.assertGreater(during, 3, f"ticks in {seconds} s")

    def test_closing_while_others_run(self):
        model = load("slow")
        expected, results = model(np.ones((8, 512), np.float32))["y"], []

        def run():
            try:
                results.append(model(np.ones((8, 512), np.float32))["y"])
            except llmc.InvalidArgumentError as error:  # closed before it began
                results.append(error)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 30
        while sys.getrefcount(model._runner) < 4 and time.monotonic() < deadline:
            time.sleep(0.001)
        model.close()
        for thread in threads:
            thread.join()
        answers = [result for result in results if isinstance(result, np.ndarray)]
        self.assertEqual((len(results), len(answers) > 0), (4, True), results)
        for answer in answers:
            np.testing.assert_array_equal(answer, expected)


class Forks(unittest.TestCase):
    SCRIPT = """
        import os, sys, llmc, numpy as np
        a, b = np.float32([1]), np.float32([2])
        model = llmc.load(sys.argv[1], threads=2)
        before = model(a, b)["sum"]
        child = os.fork()
        if child == 0:
            try:
                model(a, b)
            except llmc.InvalidArgumentError as error:
                assert "forked" in str(error), error
                assert before[0] == 3
                del model
                model = llmc.load(sys.argv[1], threads=2)
                os._exit(7 if model(a, b)["sum"][0] == 3 else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert model(a, b)["sum"][0] == 3
        print("good")
    """

    def test_a_child_gets_an_error_and_may_load_again(self):
        done = run_script(self.SCRIPT, artifact("two"))
        self.assertEqual(done.stdout.strip(), "good", done.stderr)


class Memory(unittest.TestCase):
    def test_nothing_refers_to_arrays_after_a_call(self):
        model, x = load("two"), np.float32([1, 2])
        before = sys.getrefcount(x)
        y = model(x, x)["sum"]
        self.assertEqual(sys.getrefcount(x), before)
        base = sys.getrefcount(y.base)
        del model
        self.assertEqual(sys.getrefcount(y.base), base)

    def grows(self, call, warm, count):
        """KiB that `count` calls add after `warm` ones."""
        for _ in range(warm):
            call()
        gc.collect()
        before = resident_kib()
        for _ in range(count):
            call()
        gc.collect()
        return resident_kib() - before

    def test_calls(self):
        model, x = load("large"), np.ones((1024, 1024), np.float32)
        self.assertLess(self.grows(lambda: model(x), 25, 100), 16000)  # 100 results have 400 MiB
        self.assertLess(self.grows(lambda: model(np.asfortranarray(x)), 25, 100), 16000)

    def test_refusals(self):
        model, x = load("two"), np.ones(1 << 18, np.float64)

        def call():
            with self.assertRaises(llmc.ShapeError):
                model(x.copy(), x.copy())

        self.assertLess(self.grows(call, 3, 100), 9000)

    def test_loads(self):
        self.assertLess(self.grows(lambda: load("two", threads=2)(np.float32([1]), np.float32([1])), 20, 300), 4000)


class End(unittest.TestCase):
    def test_the_process_ends_while_threads_run(self):
        done = run_script("""
            import sys, threading, time, llmc, numpy as np
            model = llmc.load(sys.argv[1], threads=1)
            def run():
                while True:
                    model(np.ones((8, 512), np.float32))
            for _ in range(3):
                threading.Thread(target=run, daemon=True).start()
            time.sleep(0.2)
            print("end")
        """, artifact("slow"))
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "end"), done.stderr)


if __name__ == "__main__":
    unittest.main()
