#!/usr/bin/env python3
"""Real models: compiled static and with symbolic dims, compared with ONNX Runtime, run on one and two threads, alone and in a batch.

    models.py [MODEL ...]        default: all. Needs LLMC_BIN, or build/release/bin. The last line counts the checks.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from checks import BIN, Checks, ROOT
from runtime import Plan

sys.path.insert(0, str(ROOT / "tools/models"))
from get import provide  # noqa: E402
from imagenet import load_picture, top_classes  # noqa: E402

LIMIT = 1e-4  # greatest difference from ONNX Runtime, relative to an output's greatest magnitude

# The classes that ONNX Runtime gives EfficientNet-Lite0 on these photographs.
PHOTOS = {"chelsea": 282, "coffee": 967, "rocket": 657, "motorcycle": 665, "china": 698, "flower": 985}


def image_inputs(name, batch, height=224, width=224):
    return {name: np.random.default_rng(0).standard_normal((batch, 3, height, width), dtype=np.float32)}


def text_inputs(batch, length):
    rng = np.random.default_rng(0)
    mask = np.ones((batch, length), np.int64)
    mask[0, length // 2 + 1:] = 0  # one row is shorter
    return {"input_ids": rng.integers(1, 200, (batch, length)), "attention_mask": mask,
            "token_type_ids": np.zeros((batch, length), np.int64)}


# Per model: the flags and inputs of the static case, the flags of the symbolic one and the inputs it runs on, the same artifact for all.
MODELS = {
    "mobilenet_v2": (["--dim", "N=1"], image_inputs("input", 1), [], [image_inputs("input", n) for n in (1, 4)]),
    "resnet50": (["--dim", "N=1"], image_inputs("gpu_0/data_0", 1), [], [image_inputs("gpu_0/data_0", n) for n in (1, 4)]),
    "efficientnet_l0": (["--shape", "image=1x3x224x224"], image_inputs("image", 1), [],
                        [image_inputs("image", *sizes) for sizes in ((1, 224, 224), (4, 224, 224), (1, 161, 200), (2, 96, 131))]),
    "minilm_l6": (["--dim", "N=1", "--dim", "S=32"], text_inputs(1, 32), ["--dim", "N=1..8", "--dim", "S=4..128"],
                  [text_inputs(*sizes) for sizes in ((1, 4), (4, 32), (8, 128), (3, 17))]),
    "bert_base": (["--dim", "N=1", "--dim", "S=128"], text_inputs(1, 128), ["--dim", "S=1..512"],
                  [text_inputs(*sizes) for sizes in ((1, 128), (4, 9))]),
}


def compile_model(model, flags, folder, checks):
    artifact, report = folder / "model.llmc", folder / "report.json"
    done = subprocess.run([BIN / "llmc", model, "-o", artifact, "--report", report, *flags], capture_output=True, text=True)
    checks.check(done.returncode == 0, f"compiles with {' '.join(flags) or 'default options'}: {(done.stdout + done.stderr).strip()[-600:]}")
    if done.returncode:
        return None
    fallbacks = json.loads(report.read_text())["fallbacks"]
    checks.check(not fallbacks, f"no reference kernel runs (found {fallbacks})")
    return artifact


def compare(expected, actual, what, checks):
    for name, value in expected.items():
        scale = max(float(np.abs(value).max(initial=0)), 1e-30)
        same_shape = value.shape == actual[name].shape
        error = float(np.abs(value - actual[name]).max(initial=0)) / scale if same_shape else np.inf
        checks.check(error <= LIMIT, f"{what}: {name} differs by {error:.1e} of its scale")


def run_case(artifact, session, inputs, checks):
    what = "x".join(map(str, next(iter(inputs.values())).shape))
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, inputs)))
    plans = [Plan(artifact, threads) for threads in (1, 2)]
    one, two = (plan(inputs) for plan in plans)
    compare(expected, one, what, checks)
    checks.check(all(one[n].tobytes() == two[n].tobytes() for n in names), f"{what}: one and two threads give the same bits")
    batch = len(next(iter(inputs.values())))
    if batch > 1:
        alone = [plans[0]({name: array[i:i + 1] for name, array in inputs.items()}) for i in range(batch)]
        same = all(one[n][i:i + 1].tobytes() == alone[i][n].tobytes() for n in names for i in range(batch))
        checks.check(same, f"{what}: a row of the batch has the bits of that row alone")
    for plan in plans:
        plan.close()


def check_photos(artifact, checks):
    plan = Plan(artifact)
    for photo, expected in PHOTOS.items():
        logits = plan({"image": load_picture(provide(photo))})["logits"]
        found = top_classes(logits)[0][0]
        checks.check(found == expected, f"{photo} is class {found}, expected {expected}")
    plan.close()


def check_model(name, checks):
    static_flags, static_inputs, symbolic_flags, symbolic_inputs = MODELS[name]
    path = provide(name)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as folder:
        print(f"{name}, static", flush=True)
        if artifact := compile_model(path, static_flags, Path(folder), checks):
            run_case(artifact, session, static_inputs, checks)
            if name == "efficientnet_l0":
                check_photos(artifact, checks)
        print(f"{name}, symbolic", flush=True)
        if artifact := compile_model(path, symbolic_flags, Path(folder), checks):
            for inputs in symbolic_inputs:
                run_case(artifact, session, inputs, checks)


def main():
    checks = Checks()
    for name in sys.argv[1:] or MODELS:
        check_model(name, checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
