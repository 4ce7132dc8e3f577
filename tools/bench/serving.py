#!/usr/bin/env python3
"""What batching gains many callers: llmc one by one, llmc batched, and ONNX Runtime behind a batcher in Python, side by side.

    serving.py [MODEL ...] [--threads 2] [--max-rows 32] [--delay-ms 0] [--seconds 4] [--rounds 3] [--ladder 0.05,0.1] [--slo-ms X]
               [--json OUT]

A MODEL is one of those below, or an ONNX file whose inputs have rows in dim 0, N, and no other dims that are not fixed.

Requests of one row arrive at random times (Poisson) whether or not earlier ones are answered, and a latency counts from the time at
which its request was due. The same generator in this process drives all three, with the same arrivals, inputs, threads, largest batch and
delay. ONNX Runtime runs with all its optimisations; its batcher takes all that waits, up to the largest batch, as soon as it is idle
and the oldest request has waited for the delay: what a careful user writes.

The rates are a ladder up to what the fastest engine answers when it never waits for requests; engines take turns at each rate. Reported:
p50/p99 in ms at each, and the highest rate at which p99 kept the SLO (2.5 single runs and one full batch of the slower engine, if it is
not given). `over`: more was waiting than the SLO allows. All that was asked is answered, or the script fails. The package llmc is installed; LLMC_BIN: folder of the compiler.
"""
import argparse
import collections
import concurrent.futures
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import onnxruntime

import llmc

HERE = Path(__file__).resolve().parent
LADDER = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LENGTH = 16  # of texts
MODELS = {"minilm_l6": {"S": LENGTH}, "alexnet": {}, "mobilenet_v2": {}}


def draw_row(model, seed):
    rng = np.random.default_rng(seed)

    def draw(info):
        shape = [1, *(dim.size for dim in info.dims[1:])]
        if "token_type" in info.name or "mask" in info.name:
            return np.full(shape, "mask" in info.name, info.dtype)
        return (rng.standard_normal(shape) if info.dtype == "float32" else rng.integers(1, 200, shape)).astype(info.dtype)

    return {info.name: draw(info) for info in model.inputs}


class Llmc:
    def __init__(self, model, **options):
        self.batcher = llmc.Batcher(model, **options)
        self.close, self.asked = self.batcher.close, 0

    def submit(self, inputs):
        self.asked += 1
        return self.batcher.submit(inputs)

    def answered(self):
        return self.batcher.stats().done

    def rows_per_run(self):
        stats = self.batcher.stats()
        return stats.rows / max(1, stats.executions)


class OnnxRuntime:
    """One thread that runs all that waits; each future gets its rows."""

    def __init__(self, path, threads, max_rows, delay):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]
        self.max_rows, self.delay, self.runs, self.rows, self.asked = max_rows, delay, 0, 0, 0
        self.waiting, self.changed, self.closed = collections.deque(), threading.Condition(), False
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def submit(self, inputs):
        future = concurrent.futures.Future()
        self.asked += 1
        with self.changed:
            self.waiting.append((time.perf_counter(), inputs, future))
            self.changed.notify()
        return future

    def take(self):
        with self.changed:
            self.changed.wait_for(lambda: self.waiting or self.closed)
            while self.waiting and len(self.waiting) < self.max_rows and not self.closed:
                left = self.waiting[0][0] + self.delay - time.perf_counter()
                if left <= 0 or not self.changed.wait(left):
                    break
            return [self.waiting.popleft() for _ in range(min(len(self.waiting), self.max_rows))]

    def work(self):
        while batch := self.take():
            rows = [inputs for _, inputs, _ in batch]
            feeds = rows[0] if len(rows) == 1 else {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
            results = self.session.run(None, feeds)
            self.runs, self.rows = self.runs + 1, self.rows + len(rows)
            for i, (_, _, future) in enumerate(batch):
                future.set_result({name: value[i:i + 1] for name, value in zip(self.names, results)})

    def answered(self):
        return self.rows

    def rows_per_run(self):
        return self.rows / max(1, self.runs)

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify()
        self.thread.join()


def saturate(engine, requests, seconds, outstanding):
    """Answers a second while `outstanding` requests are always under way."""
    room, count, end = threading.Semaphore(outstanding), 0, time.perf_counter() + seconds
    begin = time.perf_counter()
    while time.perf_counter() < end:
        room.acquire()
        engine.submit(requests[count % len(requests)]).add_done_callback(lambda _: room.release())
        count += 1
    for _ in range(outstanding):
        room.acquire()
    return count / (time.perf_counter() - begin)


def load(engine, requests, rate, seconds, seed, most):
    """Latencies in seconds of requests that arrive at random; None if more than `most` were under way."""
    due = np.cumsum(np.random.default_rng(seed).exponential(1 / rate, max(50, int(rate * seconds))))
    latencies, begin = [], time.perf_counter() + 0.01
    for i, offset in enumerate(due):
        at = begin + offset
        while (left := at - time.perf_counter()) > 0:
            time.sleep(left)
        if i - len(latencies) > most:
            break
        engine.submit(requests[i % len(requests)]).add_done_callback(lambda _, at=at: latencies.append(time.perf_counter() - at))
    sent = i if i - len(latencies) > most else len(due)
    while len(latencies) < sent:
        time.sleep(0.001)
    return latencies if sent == len(due) else None


def check_answers(engines, requests):
    """The engines agree, and a batched answer has the bits of a single one."""
    futures = {name: [engine.submit(request) for request in requests] for name, engine in engines.items()}
    answers = {name: [future.result() for future in given] for name, given in futures.items()}
    for alone, batched, other in zip(*(answers[name] for name in ("one by one", "batched", "ort"))):
        for name, value in alone.items():
            assert np.array_equal(value, batched[name]), f"{name} depends on the batch"
            assert np.abs(value - other[name]).max() <= 1e-4 * max(1e-30, np.abs(value).max()), f"{name} differs from ONNX Runtime"


def single_ms(engine, request, runs=30):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        engine.submit(request).result()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times[runs // 3:])


def take_turns(rounds, engines, measure_one):
    """Medians of what is measured; a shared machine is not the same twice, so engines follow each other closely."""
    measured = {key: [] for key in engines}
    for _ in range(rounds):
        for key, engine in engines.items():
            measured[key].append(measure_one(engine))
    return {key: statistics.median(values) for key, values in measured.items()}


def percentiles(rounds):
    """Medians over rounds of (p50, p99) in ms; None if a round was over."""
    if any(latencies is None for latencies in rounds):
        return None
    return [statistics.median(1e3 * float(np.percentile(latencies, q)) for latencies in rounds) for q in (50, 99)]


def measure(options, name, engines, requests):
    check_answers(engines, requests)
    single = take_turns(options.rounds, engines, lambda engine: single_ms(engine, requests[0]))
    full = take_turns(2 * options.rounds + 1, engines, lambda engine: saturate(engine, requests, options.seconds / 2, 2 * options.max_rows))
    slo = options.slo_ms or 2.5 * max(single.values()) + 1e3 * max(options.max_rows / full[key] for key in ("batched", "ort"))
    print(f"\n{name}: {options.threads} threads, up to {options.max_rows} rows, delay {options.delay_ms:g} ms, SLO {slo:.1f} ms")
    print(f"{'':<22}" + "".join(f"{key:>20}" for key in engines))
    print(f"{'single run, ms':<22}" + "".join(f"{single[key]:>20.2f}" for key in engines))
    print(f"{'saturated, answers/s':<22}" + "".join(f"{full[key]:>20.1f}" for key in engines))
    best, over, table = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0), []
    for rate in (part * max(full.values()) for part in options.ladder):
        rounds = {key: [] for key in engines if over[key] < 2}
        for seed in range(options.rounds):
            for key in list(rounds)[:: 1 if seed % 2 == 0 else -1]:
                rounds[key].append(load(engines[key], requests, rate, options.seconds, seed, max(64, 4 * rate * slo / 1e3)))
        row = {key: percentiles(rounds[key]) if key in rounds else None for key in engines}
        for key, value in row.items():
            kept = value is not None and value[1] <= slo
            best[key], over[key] = (rate, 0) if kept else (best[key], over[key] + 1)
        table.append({"rate": rate, **row})
        print(f"{f'p50 / p99 at {rate:.0f}/s':<22}" + "".join(
            f"{f'{value[0]:.1f} / {value[1]:.1f}' if value else 'over':>20}" for value in row.values()), flush=True)
    print(f"{'rate within the SLO':<22}" + "".join(f"{best[key]:>20.1f}" for key in engines))
    print(f"{'rows a run, in all':<22}" + "".join(f"{engine.rows_per_run():>20.1f}" for engine in engines.values()), flush=True)
    counts = {key: (engine.answered(), engine.asked) for key, engine in engines.items()}
    print(f"{'answers, in all':<22}" + "".join(f"{answered:>20}" for answered, _ in counts.values()), flush=True)
    assert all(answered == asked for answered, asked in counts.values()), f"answers and requests: {counts}"
    return dict(model=name, answers={key: answered for key, (answered, _) in counts.items()}, slo_ms=slo, single_ms=single, saturated=full, within_slo=best, rates=table)


def run_model(options, name):
    path = name
    if name in MODELS:
        get = [sys.executable, HERE.parent / "models/get.py", name]
        path = subprocess.run(get, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    rows = 2 ** np.arange(int(np.log2(options.max_rows)) + 1)
    with tempfile.TemporaryDirectory() as folder:
        artifact = llmc.compile(path, Path(folder) / "model.llmc", batch_dim="N", batch_sizes=",".join(map(str, rows)),
                                dim={"N": f"1..{options.max_rows}", **MODELS.get(name, {})})
        model = llmc.load(artifact, threads=options.threads)
        requests, delay = [draw_row(model, seed) for seed in range(64)], options.delay_ms / 1e3
        engines = {"one by one": Llmc(model, batch_dim=""), "batched": Llmc(model, max_rows=options.max_rows, delay=delay),
                   "ort": OnnxRuntime(path, options.threads, options.max_rows, delay)}
        try:
            return measure(options, name, engines, requests)
        finally:
            for engine in engines.values():
                engine.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}, or an ONNX file; default: those")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-rows", type=int, default=32)
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ladder", type=lambda text: [float(part) for part in text.split(",")], default=LADDER,
                        help="rates, as parts of the highest")
    parser.add_argument("--slo-ms", type=float)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if unknown := {name for name in options.models if name not in MODELS and not name.endswith(".onnx")}:
        parser.error(f"no case for {', '.join(sorted(unknown))}; known: {', '.join(MODELS)}")
    results = [run_model(options, name) for name in options.models or MODELS]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
