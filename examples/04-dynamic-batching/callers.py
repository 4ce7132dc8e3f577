"""Many callers of one model, each alone and then batched: what they get a second, and how long they wait.

    callers.py MODEL.llmc [--callers 32] [--requests 2000] [--threads 1] [--max-rows 16] [--dim NAME=SIZE ...]

The artifact was compiled with --batch-dim. Each caller is a task that sends its next request when it has the answer to the last one.
"""
import argparse
import asyncio
import time

import numpy as np

import llmc


def one_row(model, sizes, seed):
    """A request of one row with drawn values; `sizes` of open dims by name."""
    rng, sizes = np.random.default_rng(seed), {model.batch_dim: 1} | sizes
    inputs = {}
    for info in model.inputs:
        shape = [dim.size if dim.size is not None else sizes.get(dim.name, max(1, dim.low)) for dim in info.dims]
        drawn = rng.standard_normal(shape) if info.dtype.startswith("float") else rng.integers(0, 2, shape)
        inputs[info.name] = drawn.astype(info.dtype)
    return inputs


async def serve(batcher, requests, callers, total):
    """Answers to `requests`, of which `total` were sent in turn, and the seconds that it took."""
    answers, numbers = {}, iter(range(total))

    async def caller():
        for number in numbers:
            answers[number % len(requests)] = await batcher.run_async(requests[number % len(requests)])

    begin = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return answers, time.perf_counter() - begin


def equal(one, other):
    return all(np.array_equal(value, other[name], equal_nan=value.dtype.kind == "f") for name, value in one.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--callers", type=int, default=32)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-rows", type=int, default=16)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="size of an open dim")
    options = parser.parse_args()

    model = llmc.load(options.model, threads=options.threads)
    sizes = {name: int(size) for name, size in (dim.split("=") for dim in options.dim)}
    requests = [one_row(model, sizes, seed) for seed in range(64)]
    expected = [model(request) for request in requests]
    print(f"{'':<12}{'requests/s':>12}{'p50 ms':>10}{'p99 ms':>10}{'rows a run':>12}")
    for name, settings in (("one by one", {"batch_dim": ""}), ("batched", {"max_rows": options.max_rows})):
        with llmc.Batcher(model, **settings) as batcher:
            answers, seconds = asyncio.run(serve(batcher, requests, options.callers, options.requests))
            stats = batcher.stats()
        print(f"{name:<12}{options.requests / seconds:>12.0f}{stats.total.p50 * 1e3:>10.2f}{stats.total.p99 * 1e3:>10.2f}"
              f"{options.requests / stats.executions:>12.1f}")
        assert all(equal(answers[number], expected[number]) for number in answers), "an answer differs from that of a run alone"
    print(f"all answers equal, to the bit, those of single runs; {options.callers} callers")


if __name__ == "__main__":
    main()
