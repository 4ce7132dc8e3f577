#!/usr/bin/env python3
"""Bad input to llmc and llmc-run: each kind has its exit code and a message that names the fault. Needs LLMC_BIN, or build/release/bin."""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from artifact_file import Artifact
from checks import BIN, Checks, run_tool
from small_models import add_model, convnet, parse

CRASHES = re.compile("Sanitizer|runtime error|Stack dump|terminate called")


class Refusals:
    """Runs tools that must refuse, in a folder of their own."""

    def __init__(self, folder, checks):
        self.folder, self.checks = Path(folder), checks

    def save(self, model, name):
        onnx.save(model, self.folder / name)

    def expect(self, code, words, tool, *arguments, **options):
        """The tool ends with `code`, its message on stderr holds each of `words`, and nothing is on stdout."""
        done = run_tool(tool, *arguments, cwd=self.folder, **options)
        words = [words] if isinstance(words, str) else words
        missing = [word for word in words if word not in done.stderr]
        good = done.returncode == code and not missing and not done.stdout and not CRASHES.search(done.stderr)
        what = f"{tool} {' '.join(map(str, arguments))}: exit {code}, '{words[0]}'"
        self.checks.check(good, what if good else f"{what}; found exit {done.returncode}, without {missing}:\n{done.stdout}{done.stderr}")

    def refuse_model(self, words, name, *flags):
        """llmc refuses the model and leaves nothing behind."""
        before = sorted(os.listdir(self.folder))
        self.expect(1, words, "llmc", name, "-o", "out.llmc", *flags)
        after = sorted(os.listdir(self.folder))
        self.checks.check(before == after, f"{name}: no file is left behind (found {set(after) - set(before)})")


def bad_files(test):
    (test.folder / "folder.onnx").mkdir()
    (test.folder / "text.onnx").write_text("This is a letter, not a model. " * 20)
    (test.folder / "empty.onnx").write_bytes(b"")
    (test.folder / "random.onnx").write_bytes(np.random.default_rng(5).bytes(5000))
    whole = convnet()[0].SerializeToString()
    (test.folder / "cut.onnx").write_bytes(whole[:len(whole) // 2])
    test.refuse_model(['can not open "nowhere.onnx": no such file'], "nowhere.onnx")
    test.refuse_model(['"folder.onnx" is a folder, expected a file'], "folder.onnx")
    test.refuse_model(['can not read "text.onnx"', "not an ONNX model"], "text.onnx")
    test.refuse_model(['"empty.onnx" is empty'], "empty.onnx")
    test.refuse_model(['can not read "random.onnx"', "not an ONNX model"], "random.onnx")
    test.refuse_model(['can not read "cut.onnx"', "damaged or truncated", "are left"], "cut.onnx")


def bad_versions(test):
    model = add_model()
    model.ir_version = 99
    test.save(model, "ir.onnx")
    test.refuse_model("IR version 99 is not supported, expected 3 to 14", "ir.onnx")
    model = add_model()
    model.opset_import[0].version = 99
    test.save(model, "opset.onnx")
    test.refuse_model("the model imports opset 99, expected 1 to 28", "opset.onnx")


def bad_graphs(test):
    test.save(parse("g (float[2] x) => (float[2] y) { [one] a = Add (x, b) [two] b = Relu (a) [three] y = Relu (x) }"), "cycle.onnx")
    test.refuse_model('loc("one"): error: the graph has a cycle', "cycle.onnx")
    test.save(parse("g (float[2] x) => (float[2] y) { [one] y = Add (x, weight) }"), "missing.onnx")
    test.refuse_model("loc(\"one\"): error: uses value 'weight', which nothing defines", "missing.onnx")
    test.save(parse("g (float[2] x) => (float[2] y, float[2] z) { [one] y = Relu (x) }"), "output.onnx")
    test.refuse_model('loc("z"): error: nothing defines this output', "output.onnx")
    test.save(parse("g (float[2,3] x) => (float[2,3] y) { [product] y = MatMul (x, x) }"), "shapes.onnx")
    test.refuse_model('loc("product"): error: MatMul of opset 17', "shapes.onnx")
    test.save(parse("""g (float[8] x) => (float[8] y) {
      [draw] a = Multinomial (x) [fast] b = NoSuchOp (x) [slope] c = LeakyRelu <alpha = 0.5, beta = 2.0> (x) [good] y = Relu (x) }"""),
              "problems.onnx")
    test.refuse_model(['loc("draw"): error: Multinomial of opset 17 is not supported', 'loc("fast"): error: NoSuchOp of opset 17 is not supported',
                       "loc(\"slope\"): error: LeakyRelu of opset 17: attribute 'beta' is not supported", "the model has 3 problems"],
                      "problems.onnx")
    custom = parse("g (float[8] x) => (float[8] y) { [own] y = Relu (x) }")
    custom.graph.node[0].domain = "my.domain"
    custom.opset_import.append(helper.make_opsetid("my.domain", 3))
    test.save(custom, "domain.onnx")
    test.refuse_model('loc("own"): error: my.domain.Relu of opset 3 is not supported', "domain.onnx")


def bad_sizes(test):
    """Sizes that no memory holds, or that are no sizes, in the model itself."""
    huge, many = 1 << 62, "more elements than memory can hold"
    cases = {"input": (f"g (float[{huge},4] x) => (float[{huge},4] y) {{ [node] y = Relu (x) }}", "x", f"the input has {many}"),
             "result": (f"g (float[2] x) => (float[P,Q] y) <int64[3] s = {{{huge}, 4, 2}}> {{ [node] y = Expand (x, s) }}", "node", many),
             "negative": ("g (float[2] x) => (float[P] y) <int64[1] s = {-3}> { [node] y = Expand (x, s) }", "node", "-3"),
             "weight": (f"g (float[2] x) => (float[2] y) <float[{huge},4] w = {{1}}> {{ [node] y = Add (x, w) }}", "w", "has too many elements"),
             "window": ("g (float[1,1,3,3] x) => (float[1,1,P,Q] y) { [node] y = MaxPool <kernel_shape = [5, 5]> (x) }", "node", "window of 5 (dilation 1) exceeds the padded input of 3"),
             "pad": ("g (float[2] x) => (float[P] y) <int64[2] p = {-2, -1}> { [node] y = Pad (x, p) }", "node", "-1")}
    for name, (text, place, words) in cases.items():
        test.save(parse(text), f"{name}.onnx")
        test.refuse_model([f'loc("{place}"): error: ', words], f"{name}.onnx")
    test.save(parse("g (float[N,M] x) => (float[N,M] y) { y = Relu (x) }"), "open.onnx")
    test.refuse_model(many, "open.onnx", "--dim", f"N={huge}", "--dim", "M=4")


def bad_names(test):
    """Names that come twice, that are empty, and that fill the screen."""
    test.save(parse("g (float[2] x, float[2] x) => (float[2] y) { [one] y = Relu (x) }"), "inputs.onnx")
    test.refuse_model(['loc("x"): error: ', "two inputs have this name"], "inputs.onnx")
    double = parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [one] y = Add (x, w) }")
    double.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    test.save(double, "initializers.onnx")
    test.refuse_model(['loc("w"): error: ', "two initializers have this name"], "initializers.onnx")
    unnamed = parse("g (float[2] x) => (float[2] y) { y = Relu (x) }")
    unnamed.graph.input[0].name = unnamed.graph.node[0].input[0] = ""
    test.save(unnamed, "unnamed.onnx")
    test.refuse_model("the input has no name", "unnamed.onnx")
    long = "a" * 100_000
    for name, text in (("equation", f'g (float[2] x) => (float[2] y) {{ [one] y = Einsum <equation = "{long}"> (x) }}'),
                       ("node", f"g (float[2] x) => (float[2] y) {{ [{long}] y = NoSuchOp (x) }}"),
                       ("operator", f"g (float[2] x) => (float[2] y) {{ [one] y = {long} (x) }}")):
        test.save(parse(text), f"{name}.onnx")
        done = run_tool("llmc", f"{name}.onnx", cwd=test.folder)
        test.checks.check(done.returncode == 1 and "error: " in done.stderr and len(done.stderr) < 5000,
                          f"a long name of {name} gives a message of {len(done.stderr)} bytes")


# Models with the inputs of one good run, and inputs that must be refused, with what is said then.
RUN_TIME = {
    "gather": ("g (float[N] x, int64[2] i) => (float[2] y) { [node] y = Gather (x, i) }", ["x=1,2,3", "i=2,-3"],
               {"i=3,0": "index out of range: value 3", "i=0,-4": "index out of range: value -4"}),
    "gather_nd": ("g (float[N] x, int64[2,1] i) => (float[2] y) { [node] y = GatherND (x, i) }", ["x=1,2,3", "i=2,-3"],
                  {"i=3,0": "index out of range: value 3", "i=0,-4": "index out of range: value -4"}),
    "gather_elements": ("g (float[N] x, int64[2] i) => (float[2] y) { [node] y = GatherElements (x, i) }", ["x=1,2,3", "i=2,-3"],
                        {"i=3,0": "index out of range: value 3", "i=0,-4": "index out of range: value -4"}),
    "scatter_nd": ("g (float[N] x, int64[2,1] i, float[2] u) => (float[N] y) { [node] y = ScatterND (x, i, u) }", ["x=1,2,3", "u=4", "i=2,-3"],
                   {"i=3,0": "index out of range: value 3", "i=0,-4": "index out of range: value -4"}),
    "scatter_elements": ("g (float[N] x, int64[2] i, float[2] u) => (float[N] y) { [node] y = ScatterElements (x, i, u) }",
                         ["x=1,2,3", "u=4", "i=2,-2"], {"i=3,0": "index out of range: value 3", "i=0,-4": "index out of range: value -4"}),
    "expand": ("g (float[1] x, int64[2] s) => (float[P,Q] z) { [node] y = Expand (x, s) z = Relu (y) }", ["x=1", "s=2,3"],
               {"s=-2,-3": "is not negative (found -2", "s=4611686018427387904,4": "has no value",
                "s=3037000500,3037000500": "has no value", "s=1048576,1048576": "bytes"}),
    "fill": ("g (int64[2] s) => (float z) { [node] y = ConstantOfShape (s) z = ReduceSum <keepdims = 0> (y) }", ["s=2,3"],
             {"s=-2,-3": "is not negative (found -2", "s=4611686018427387904,4": "has no value"}),
    "tile": ("g (float[2] x, int64[1] s) => (float[P] y) { [node] y = Tile (x, s) }", ["x=1", "s=3"],
             {"s=-3": "is not negative (found -3", "s=9223372036854775807": "has no value"}),
    "range": ("g (int64 a, int64 b) => (int64[P] y) <int64 one = {1}> { [node] y = Range (a, b, one) }", ["a=0", "b=3"],
              {"b=1000000000000000": "bytes", "b=9223372036854775807": "has no value"}),
    "top_k": ("g (float[N] x, int64[1] k) => (float[K] v, int64[K] i) { [node] v, i = TopK (x, k) }", ["x=1,2,3", "k=2"],
              {"k=4": "value 4", "k=-1": "is not negative (found -1"}),
    "slice": ("g (float[N] x, int64[1] s, int64[1] e) => (float[P] y) { [node] y = Slice (x, s, e) }",
              ["x=1,2,3", "s=-9223372036854775807", "e=9223372036854775807"], {}),  # is cut to what there is
}


def bad_numbers_at_run_time(test):
    for name, (text, good, bad) in RUN_TIME.items():
        artifact = compiled(test, name, parse(text))
        inputs = {given.split("=")[0]: given for given in good}

        def arguments(changes=()):
            given = inputs | {change.split("=")[0]: change for change in changes}
            dims = ["--dim", "N=3"] if "[N]" in text else []
            return dims + [word for value in given.values() for word in ("--input", value)]

        done = run_tool("llmc-run", artifact, *arguments())
        test.checks.check(done.returncode == 0, f"{name} with {good} runs {done.stderr if done.returncode else ''}")
        for change, words in bad.items():
            test.expect(1, [words, "node"], "llmc-run", artifact, *arguments([change]))


def bad_dims_at_run_time(test):
    """Sizes that become negative: two of them have a product like any other."""
    kernel = ", ".join(["1"] * 16)
    for name, text in (("conv", f"g (float[1,1,N,M] x) => (float[1,1,1,1] z) <float[1,1,4,4] w = {{{kernel}}}> {{ [node] y = Conv (x, w) z = ReduceSum (y) }}"),
                       ("pool", "g (float[1,1,N,M] x) => (float[1,1,1,1] z) { [node] y = MaxPool <kernel_shape = [4, 4]> (x) z = ReduceSum (y) }"),
                       ("pad", "g (float[N,M] x) => (float z) <int64[4] p = {-2, -2, -2, -2}> { [node] y = Pad (x, p) z = ReduceSum <keepdims = 0> (y) }")):
        artifact = compiled(test, name, parse(text))
        good = run_tool("llmc-run", artifact, "--random", "1", "--dim", "N=5", "--dim", "M=5")
        test.checks.check(good.returncode == 0, f"{name} of 5 by 5 runs {good.stderr if good.returncode else ''}")
        for n, m in ((1, 1), (1, 5), (5, 1)):
            test.expect(1, ["is not negative (found -", "node"], "llmc-run", artifact, "--random", "1", "--dim", f"N={n}", "--dim", f"M={m}")


def external_model(location, offset=0):
    """y = x + w, with the 16 bytes of w in another file."""
    model = parse("g (float[4] x) => (float[4] y) { [sum] y = Add (x, w) }")
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    return model


def bad_external_data(test):
    outside = test.folder / "secret.bin"
    outside.write_bytes(bytes(64))
    inside = Refusals(test.folder / "inside", test.checks)
    inside.folder.mkdir()
    (inside.folder / "short.bin").write_bytes(bytes(20))
    (inside.folder / "link.bin").symlink_to(outside)
    leads_out = "the path leads out of the model's folder"
    for name, location, offset, words in (("parent", "../secret.bin", 0, leads_out), ("absolute", str(outside), 0, leads_out),
                                          ("link", "link.bin", 0, "link.bin"), ("gone", "gone.bin", 0, "no such file"),
                                          ("end", "short.bin", 8, '"short.bin" has 20 bytes, the tensor lies at 8 and needs 16')):
        inside.save(external_model(location, offset), f"{name}.onnx")
        inside.refuse_model(['tensor "w"', words], f"{name}.onnx")
    inside.save(external_model("short.bin", 4), "good.onnx")
    test.checks.check(run_tool("llmc", "good.onnx", "--stop-after=import", cwd=inside.folder).returncode == 0,
                      "external data inside the folder is read")


def bad_compile_commands(test):
    test.save(add_model(), "add.onnx")
    test.expect(1, ["no/such/folder/a.llmc", "No such file or directory"], "llmc", "add.onnx", "-o", "no/such/folder/a.llmc")
    test.expect(1, ["no/such/report.json", "No such file or directory"], "llmc", "add.onnx", "-o", "r.llmc", "--report", "no/such/report.json")
    for words, arguments in (("model is required", []), ("--bogus", ["add.onnx", "--bogus"]), ("-O", ["add.onnx", "-O7"]),
                             ("unknown CPU level 'pdp-11'", ["add.onnx", "--cpu", "pdp-11"]),
                             ("'N=8..1' is not NAME=VALUE", ["add.onnx", "--dim", "N=8..1"]), ("'N' is not NAME=VALUE", ["add.onnx", "--dim", "N"]),
                             ("'x' is not INPUT=", ["add.onnx", "--shape", "x"]),
                             ("dim 1 of input 'x' is 4, which can not be called 'b'", ["add.onnx", "--shape", "x=axb"]),
                             ("the model has no symbolic dim 'batch'", ["add.onnx", "--dim", "batch=4"]),
                             ("the model has no input 'z'", ["add.onnx", "--shape", "z=2x4"]),
                             ("has 3 dims, the model says 2", ["add.onnx", "--shape", "x=2x4x1"]),
                             ("dim 1 of input 'x' is 4, not 5", ["add.onnx", "--shape", "x=2x5"]),
                             ("unknown pass 'no-such-pass', expected one of graph-infer-shapes, ", ["add.onnx", "--print-ir-after=no-such-pass"]),
                             ("--stop-after", ["add.onnx", "--stop-after=lunch"]), ("--jobs", ["add.onnx", "-j0"]),
                             ("extra.onnx", ["add.onnx", "extra.onnx"])):
        test.expect(2, words, "llmc", *arguments)


def bad_places(test):
    """What an artifact or a report must not replace, and where none can be made."""
    test.save(add_model(), "add.onnx")
    (test.folder / "folder").mkdir()
    (test.folder / "file").write_text("kept")
    os.mkfifo(test.folder / "pipe")
    null = os.stat("/dev/null")
    for place, reason in (("/dev/null", "is a device, pipe or socket"), ("pipe", "is a device, pipe or socket"), ("folder", "is a folder")):
        for flags in (["-o", place], ["-o", "out.llmc", "--report", place]):
            test.expect(1, [place, reason, "expected a file or nothing there"], "llmc", "add.onnx", *flags)
    now = os.stat("/dev/null")
    test.checks.check((now.st_mode, now.st_rdev, now.st_ino) == (null.st_mode, null.st_rdev, null.st_ino), "/dev/null is still what it was")
    test.expect(1, ["file/out.llmc", "Not a directory"], "llmc", "add.onnx", "-o", "file/out.llmc")
    test.checks.check((test.folder / "file").read_text() == "kept" and not (test.folder / "out.llmc").exists(), "no file is changed or made")
    (test.folder / "link").symlink_to("file")
    done = run_tool("llmc", "add.onnx", "-o", "link", cwd=test.folder)
    test.checks.check(done.returncode == 0 and os.readlink(test.folder / "link") == "file" and (test.folder / "file").stat().st_size > 1000,
                      f"through a link, the file that it names is replaced {done.stderr}")
    if os.geteuid() != 0:
        return test.checks.skip("a folder without permission", "only root may become another user")
    test.folder.chmod(0o755)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    if run_tool("llmc", "add.onnx", "--stop-after=import", cwd=test.folder, **nobody).returncode:
        return test.checks.skip("a folder without permission", "another user can not run llmc here")
    test.expect(1, ["out.llmc: can not create the file: Permission denied"], "llmc", "add.onnx", "-o", "out.llmc", **nobody)


def stopped_by_signals(test):
    """Half an artifact is not left behind."""
    model = parse("g (float[1,1024] x) => (float[1,8192] y) { y = MatMul (x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((1024, 8192), np.float32), "w"))
    test.save(model, "big.onnx")
    output, temporary = test.folder / "output", test.folder / "temporary"
    output.mkdir(), temporary.mkdir()
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([BIN / "llmc", "big.onnx", "-o", output / "a.llmc"], cwd=test.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=os.environ | {"TMPDIR": str(temporary)},
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # jobs of a shell ignore it
        while process.poll() is None and not os.listdir(output):
            pass
        process.send_signal(number)
        code, left = process.wait(), os.listdir(output) + os.listdir(temporary)
        test.checks.check(code == -number and not left, f"{number.name} while the artifact is written: ends by it, leaves nothing (found {code}, {left})")


def expect_no_half_file(test, what, reason, folder, **options):
    done = run_tool("llmc", "big.onnx", "-o", folder / "a.llmc", cwd=test.folder, **options)
    test.checks.check(done.returncode == 1 and f"{folder}/a.llmc: can not write the file: {reason}" in done.stderr,
                      f"{what}: exit 1 with a message (found {done.returncode}: {done.stderr.strip()})")
    test.checks.check(not os.listdir(folder), f"{what}: no half file is left (found {os.listdir(folder)})")


def full_disk(test):
    """Writing fails part of the way: at a limit on the size of a file, and on a small file system where we may mount one."""
    weight = np.ones((512, 1024), np.float32)  # 2 MiB, more than its code has
    model = parse("g (float[1,512] x) => (float[1,1024] y) { y = MatMul (x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    test.save(model, "big.onnx")
    folder = test.folder / "full"
    folder.mkdir()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    # Python ignores SIGXFSZ, and so does its child here: the write fails instead.
    expect_no_half_file(test, "a file that grows too large", "File too large", folder, preexec_fn=limit, restore_signals=False)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True).returncode:
        return test.checks.skip("a full disk", "mounting a small file system is not permitted")
    try:
        expect_no_half_file(test, "a full disk", "No space left on device", folder)
    finally:
        subprocess.run(["umount", folder], check=True)


def compiled(test, name, model, *flags):
    """Compiles a good model; the tests of llmc-run start from it."""
    test.save(model, f"{name}.onnx")
    done = run_tool("llmc", f"{name}.onnx", *flags, cwd=test.folder)
    test.checks.check(done.returncode == 0, f"{name}.onnx compiles: {done.stderr.strip()}")
    return test.folder / f"{name}.llmc"


def bad_inputs(test):
    compiled(test, "pair", add_model(), "--dim", "N=1..8")
    for name, array in (("2x4", np.ones((2, 4), np.float32)), ("3x4", np.ones((3, 4), np.float32)), ("9x4", np.ones((9, 4), np.float32)),
                        ("2x5", np.ones((2, 5), np.float32)), ("2x4x1", np.ones((2, 4, 1), np.float32)), ("double", np.ones((2, 4)))):
        np.save(test.folder / f"{name}.npy", array)
    np.savez(test.folder / "others.npz", p=np.ones(2), q=np.ones(2))
    (test.folder / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00 nothing")

    def refuse(code, words, *arguments):
        test.expect(code, words, "llmc-run", "pair.llmc", *arguments)

    for words, arguments in (("input 'b', f32[N 1..8,4], is missing", ["--input", "x=2x4.npy"]),
                             ("the artifact has no input 'z'; it has 'x', 'b'", ["--input", "z=2x4.npy"]), ("--input 'x' is not NAME=", ["--input", "x"]),
                             ("no input has a dim 'Q'", ["--random", "1", "--dim", "Q=2"]),
                             ("the artifact has no entry 'other'", ["--random", "1", "--entry", "other"]),
                             ("--input x='some words' is neither a .npy, .npz or .pb file nor a list of numbers", ["--input", "x=some words", "--random", "1"])):
        for tool in ("llmc-run", "llmc-bench"):
            test.expect(2, words, tool, "pair.llmc", *arguments)
    refuse(1, ["input 'x'", "rank 3", "2"], "--input", "x=2x4x1.npy", "--input", "b=2x4.npy")
    refuse(1, "input 'x' has type F64, expected F32", "--input", "x=double.npy", "--input", "b=2x4.npy")
    refuse(1, ["input 'x'", "5 in dim 1", "4"], "--input", "x=2x5.npy", "--input", "b=2x4.npy")
    refuse(1, "input 'x' has 9 in dim 0, but 'N' is in 1..8", "--input", "x=9x4.npy", "--input", "b=9x4.npy")
    refuse(1, ["'N'", "'x'", "'b'", "2", "3"], "--input", "x=2x4.npy", "--input", "b=3x4.npy")
    refuse(1, "can not open 'nowhere.npy'", "--input", "x=nowhere.npy", "--input", "b=2x4.npy")
    refuse(1, "broken.npy", "--input", "x=broken.npy", "--input", "b=2x4.npy")
    refuse(1, "'others.npz' holds no array 'x'", "--input", "x=others.npz", "--input", "b=2x4.npy")
    

def bad_artifacts(test):
    path = compiled(test, "net", convnet()[0])
    whole, artifact = path.read_bytes(), Artifact(path)
    middles = {kind: offset + size // 2 for kind in ("CODE", "CONSTANTS") for offset, size in artifact.segments(kind)}
    inputs = ["--random", "1", "--dim", "H=8", "--dim", "W=8"]

    def refuse(words, name, content, *flags):
        (test.folder / name).write_bytes(content)
        test.expect(1, [name, words], "llmc-run", name, *inputs, *flags)

    def flipped(position):
        return whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1:]

    refuse("container version", "version.llmc", whole[:8] + b"\x63" + whole[9:])
    refuse("changed after it was written", "plan.llmc", flipped(64 + 300))
    refuse("CODE segment", "code.llmc", flipped(middles["CODE"]))
    refuse("CONSTANTS segment", "constants.llmc", flipped(middles["CONSTANTS"]), "--verify")
    for size in (0, 10, 63, 64, 1000, len(whole) // 2, len(whole) - 1):
        refuse("[header-size] the file has" if size < 64 else f"[file-size] the file has {size} bytes", f"cut{size}.llmc", whole[:size])
    refuse("[magic] not a plan", "model.llmc", (test.folder / "net.onnx").read_bytes())


def other_cpus(test):
    compiled(test, "both", add_model(), "--cpu=x86-64-v2,x86-64-v3")
    test.expect(1, ["no code in the plan runs on this machine", "is not the level asked for, 'x86-64-v4'"], "llmc-run", "both.llmc",
                "--random", "1", "--cpu", "x86-64-v4")
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        return test.checks.skip("an artifact for another CPU", "this machine has AVX-512")
    compiled(test, "v4", add_model(), "--cpu=x86-64-v4")
    test.expect(1, ["v4.llmc", "no code in the plan runs on this machine", "'x86-64-v4' needs avx512", "which this machine lacks"],
                "llmc-run", "v4.llmc", "--random", "1")


def main():
    checks = Checks()
    for group in (bad_files, bad_versions, bad_graphs, bad_sizes, bad_names, bad_numbers_at_run_time, bad_dims_at_run_time, bad_external_data, bad_compile_commands, bad_places, stopped_by_signals, full_disk, bad_inputs, bad_artifacts, other_cpus):
        print(group.__name__.replace("_", " "), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            group(Refusals(folder, checks))
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
