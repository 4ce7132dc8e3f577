"""How callers see the types: mypy --strict must accept this file."""
from pathlib import Path

import numpy

import llmc


def run(path: Path, x: numpy.ndarray) -> numpy.ndarray:
    with llmc.load(path, threads=2) as model:
        names: list[str] = [info.name for info in model.inputs]
        sizes: list[int | None] = [dim.size for dim in model.outputs[0].dims]
        print(names, sizes, model.threads + 1, llmc.host_cpu_level().upper())
        try:
            return model({"x": x})["y"]
        except llmc.DataError as error:
            print(error.status.name)
            raise


def build(path: Path) -> llmc.Model:
    return llmc.load(llmc.compile(path, dim={"N": 4}))


async def serve(model: llmc.Model, x: numpy.ndarray) -> float:
    with llmc.Batcher(model, batch_dim="N", delay=0.001, pad="up", classes=[llmc.BatchClass(queue_timeout=1)]) as batcher:
        future: llmc.Future = batcher.submit({"x": x}, deadline=0.5, priority=1)
        future.add_done_callback(lambda ended: print(ended.result()["y"].shape))
        first = (await batcher.run_async(x))["y"]
        print(first.shape, (await model.run_async(x))["y"].shape, future.result(timeout=1)["y"].shape)
        return batcher.stats().total.p99


def share(large: llmc.Model, small: llmc.Model, x: numpy.ndarray) -> int:
    settings: llmc.ModelSettings = {"delay": 0.001, "pad": "up", "batch_dim": "N"}
    models = {"large": llmc.BatchModel(large, fallback=["small"], weight=3), "small": llmc.BatchModel(small)}
    with llmc.Batcher(models, max_requests=100, **settings) as batcher:
        names: tuple[str, ...] = batcher.models
        print(names, batcher.submit(x, model="large", version=1).result()["y"].shape, batcher.version("small"))
        return batcher.swap(small, model="large") + batcher.count("queue_full", "small") + len(batcher.histogram("run", "large"))
