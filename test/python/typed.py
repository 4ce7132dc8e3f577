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
