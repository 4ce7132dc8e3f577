#!/usr/bin/env python3
"""Real models: compiled static and with symbolic dims, compared with ONNX Runtime, run on one and two threads, alone and in a batch.

    models.py [MODEL ...]        default: all. Needs LLMC_BIN, or build/release/bin. The last line counts the checks.
"""
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

from checks import BIN, Checks, ROOT
from runtime import Plan

sys.path.insert(0, str(ROOT / "tools/models"))
from get import provide  # noqa: E402
from imagenet import load_picture, top_classes  # noqa: E402

LIMIT = 1e-4  # greatest difference from ONNX Runtime, relative to an output's greatest magnitude

FATES = {"step", "fused", "view", "folded", "shape", "constant", "inlined", "removed"}

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


def seeded(**shapes):
    """Normal floats by input name."""
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}


def decoder_inputs(batch, length, cached):
    """Small cached values: on others ONNX Runtime differs from itself, between its levels of optimisation, by more than LIMIT."""
    rng = np.random.default_rng(0)
    caches = {f"past_key_values.{layer}.{kind}": (batch, 3, cached, 64) for layer in range(30) for kind in ("key", "value")}
    return {"input_ids": rng.integers(1, 200, (batch, length)), "attention_mask": np.ones((batch, cached + length), np.int64),
            "position_ids": np.tile(np.arange(cached, cached + length), (batch, 1)), **{name: array * np.float32(0.1) for name, array in seeded(**caches).items()}}


def voice_inputs(batch, samples=576, rate=16000):
    """One chunk of sound, the state of the chunks before it, the rate where the model takes one."""
    inputs = seeded(input=(batch, samples), state=(2, batch, 128))
    return {name: array * np.float32(0.1) for name, array in inputs.items()} | ({"sr": np.array(rate)} if rate else {})


def page_inputs(batch, height, width):
    """A page of text: on noise the detector finds nothing, and its answer is all rounding."""
    page = Image.new("RGB", (width, height), "white")
    for y in range(10, height - 30, 40):
        ImageDraw.Draw(page).text((10, y), "The quick brown fox jumps over", "black", ImageFont.load_default(size=24))
    pixels = (np.asarray(page, np.float32) / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    return {"x": np.repeat(pixels.astype(np.float32).transpose(2, 0, 1)[None], batch, axis=0)}


def letter_inputs(name, batch, length):
    return {name: np.random.default_rng(0).integers(1, 30, (batch, length))}


def vowel_marker(name="input"):
    """LSTMs of integers. Batches of one, since ONNX Runtime quantizes the states of those that one thread has together. A state on the
    border of two of its 255 steps goes to either, by the last bit of a sigmoid, and then the answers are one step apart."""
    return Model(["--shape", f"{name}=1x24"], letter_inputs(name, 1, 24), [], [letter_inputs(name, 1, length) for length in (1, 33)],
                 ("quantized_lstm", "cast", "matmul", "transpose", "arg_max"), rows_alone=False, limit=1 / 255)


def file_inputs(batch):
    return {"bytes": np.random.default_rng(0).integers(0, 257, (batch, 2048)).astype(np.int32)}


@dataclass
class Model:
    """The flags and inputs of the static case; the flags of the symbolic one and the inputs it runs on, the same artifact for all."""
    static_flags: list
    static_inputs: dict
    symbolic_flags: list
    symbolic_inputs: list
    fallbacks: tuple = ()  # reference kernels that may run: the op in front of the kernel's number
    plain: bool = False  # compare with ONNX Runtime without its optimisations, where those change more than LIMIT
    rows_alone: bool = True  # a row of a batch is a run of its own; not where DynamicQuantizeLinear takes the range of all
    limit: float = LIMIT


def classifier(name):
    return Model(["--dim", "N=1"], image_inputs(name, 1), [], [image_inputs(name, n) for n in (1, 3)])


MODELS = {
    "mobilenet_v2": Model(["--dim", "N=1"], image_inputs("input", 1), [], [image_inputs("input", n) for n in (1, 4)]),
    "resnet50": Model(["--dim", "N=1"], image_inputs("gpu_0/data_0", 1), [], [image_inputs("gpu_0/data_0", n) for n in (1, 4)]),
    "efficientnet_l0": Model(["--shape", "image=1x3x224x224"], image_inputs("image", 1), [],
                             [image_inputs("image", *sizes) for sizes in ((1, 224, 224), (4, 224, 224), (1, 161, 200), (2, 96, 131))]),
    "minilm_l6": Model(["--dim", "N=1", "--dim", "S=32"], text_inputs(1, 32), [],
                       [text_inputs(*sizes) for sizes in ((1, 4), (4, 32), (8, 128), (3, 17))]),
    "bert_base": Model(["--dim", "N=1", "--dim", "S=128"], text_inputs(1, 128), ["--dim", "S=1..512"],
                       [text_inputs(*sizes) for sizes in ((1, 128), (4, 9))]),
    "densenet121": classifier("data_0"),
    "inception_v1": classifier("data_0"),
    "inception_v2": classifier("data_0"),
    "vgg19": classifier("data_0"),
    "squeezenet": classifier("data_0"),
    "shufflenet": classifier("gpu_0/data_0"),
    "alexnet": classifier("data_0"),
    "vit_b16": classifier("pixel_values"),
    "ppocr_rec": Model(["--shape", "x=1x3x48x320"], image_inputs("x", 1, 48, 320), [],
                       [image_inputs("x", *sizes) for sizes in ((1, 48, 320), (2, 48, 100))]),
    "ppocr_cls": Model(["--shape", "x=1x3x48x192"], image_inputs("x", 1, 48, 192), [],
                       [image_inputs("x", n, 48, 192) for n in (1, 3)]),
    "magika": Model(["--shape", "bytes=1x2048"], file_inputs(1), [], [file_inputs(n) for n in (1, 3)]),
    "minilm_int8": Model(["--shape", "input_ids=1x32"], text_inputs(1, 32), [],
                         [text_inputs(*sizes) for sizes in ((1, 16), (3, 33))], ("cast", "range", "gather_nd")),
    "basic_pitch": Model(["--shape", "serving_default_input_2:0=1x43844x1"], seeded(**{"serving_default_input_2:0": (1, 43844, 1)}),
                         [], [seeded(**{"serving_default_input_2:0": (n, 43844, 1)}) for n in (1, 2)], ("pad",)),
    "ppocr_det": Model(["--shape", "x=1x3x320x320"], page_inputs(1, 320, 320), [],
                       [page_inputs(*sizes) for sizes in ((1, 320, 320), (2, 96, 64), (1, 736, 960))], ("resize",), plain=True),
    "yolov8n": Model(["--dim", "N=1"], image_inputs("images", 1, 640, 640), [], [image_inputs("images", 2, 640, 640)],
                     ("resize", "softmax")),
    "slanet_plus": Model(["--shape", "x=1x3x488x488"], image_inputs("x", 1, 488, 488), [], [image_inputs("x", 1, 488, 488)],
                         ("softmax", "arg_max", "cast", "range", "scatter_elements", "reduce_max", "reduce_min", "resize")),
    # With a fixed batch the LSTM of a branch that never runs has x of a wrong rank.
    "silero_vad": Model(["--shape", "input=1x576"], voice_inputs(1), [],
                        [voice_inputs(1), voice_inputs(3), voice_inputs(1, 288, 8000)], ("pad", "lstm")),
    "silero_vad_16k_op15": Model(["--shape", "input=1x576"], voice_inputs(1), [], [voice_inputs(3)], ("pad", "lstm")),
    "silero_vad_op18_ifless": Model(["--shape", "input=1x576"], voice_inputs(1), [],
                                    [voice_inputs(3), voice_inputs(1, 288, 8000)], ("pad",)),
    "silero_vad_openvino_16k": Model(["--shape", "input=1x576"], voice_inputs(1, rate=None), [], [voice_inputs(1, rate=None)], ("pad", "lstm")),
    "tashkeel_bilstm": vowel_marker("input_ids"),
    **{f"tashkeel_{name}": vowel_marker() for name in ("rawi", "rawi_v2", "rawi_v3", "rawi_ensemble")},
    "smollm2_135m": Model(["--dim", "N=1", "--dim", "S=1", "--dim", "P=16"], decoder_inputs(1, 1, 16), [],
                          [decoder_inputs(*sizes) for sizes in ((1, 7, 0), (2, 1, 5))], ("cos", "sin", "range")),
}


def count_nodes(model):
    """Those of graphs within nodes too, and a call of a function of the model counts with the nodes inside."""
    functions = {(function.domain, function.name): function for function in model.functions}

    def count(nodes):
        called = (functions.get((node.domain, node.op_type)) for node in nodes)
        inner = (attribute.g.node for node in nodes for attribute in node.attribute if attribute.HasField("g"))
        return len(nodes) + sum(count(function.node) for function in called if function) + sum(map(count, inner))

    return count(model.graph.node)


def compile_model(model, flags, folder, checks, allowed=()):
    artifact, report = folder / "model.llmc", folder / "report.json"
    done = subprocess.run([BIN / "llmc", model, "-o", artifact, "--report", report, *flags], capture_output=True, text=True)
    checks.check(done.returncode == 0, f"compiles with {' '.join(flags) or 'default options'}: {(done.stdout + done.stderr).strip()[-600:]}")
    if done.returncode:
        return None
    facts = json.loads(report.read_text())
    nodes, fallbacks = facts["nodes"], [name for name in facts["fallbacks"] if name.rsplit("_", 1)[0] not in allowed]
    checks.check(not fallbacks, f"no reference kernel runs but for {', '.join(allowed) or 'none'} (found {fallbacks})")
    count = count_nodes(onnx.load(model, load_external_data=False))
    has_fates = len(nodes) == len({node["name"] for node in nodes}) == count and all(node["fate"] in FATES for node in nodes)
    checks.check(has_fates, f"the report has one fate for each of {count} nodes (found {len(nodes)})")
    computed = {name for step in facts["steps"] for name in step["nodes"]}
    for node in nodes:
        if (node["name"] in computed) != (node["fate"] in ("step", "fused")):
            checks.check(False, f"{node['name']} is {node['fate']}, in steps {node['steps']}")
    return artifact


def compare(expected, actual, what, limit, checks):
    for name, value in expected.items():
        scale = max(float(np.abs(value).max(initial=0)), 1e-30)
        same_shape = value.shape == actual[name].shape
        error = float(np.abs(value - actual[name]).max(initial=0)) / scale if same_shape else np.inf
        checks.check(error <= limit, f"{what}: {name} differs by {error:.1e} of its scale")


def run_case(artifact, session, inputs, model, checks):
    what = "x".join(map(str, next(iter(inputs.values())).shape))
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, inputs)))
    plans = [Plan(artifact, threads) for threads in (1, 2)]
    one, two = (plan(inputs) for plan in plans)
    compare(expected, one, what, model.limit, checks)
    checks.check(all(one[n].tobytes() == two[n].tobytes() for n in names), f"{what}: one and two threads give the same bits")
    batch = len(next(iter(inputs.values())))  # of all inputs, or rows are no runs of their own
    if model.rows_alone and batch > 1 and all(array.ndim and len(array) == batch for array in inputs.values()):
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
    model = MODELS[name]
    path = provide(name)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if model.plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as folder:
        print(f"{name}, static", flush=True)
        if artifact := compile_model(path, model.static_flags, Path(folder), checks, model.fallbacks):
            run_case(artifact, session, model.static_inputs, model, checks)
            if name == "efficientnet_l0":
                check_photos(artifact, checks)
        print(f"{name}, symbolic", flush=True)
        if artifact := compile_model(path, model.symbolic_flags, Path(folder), checks, model.fallbacks):
            for inputs in model.symbolic_inputs:
                run_case(artifact, session, inputs, model, checks)


def main():
    checks = Checks()
    for name in sys.argv[1:] or MODELS:
        check_model(name, checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
