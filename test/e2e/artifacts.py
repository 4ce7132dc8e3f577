#!/usr/bin/env python3
"""What an artifact promises: the same bytes each time, code for the levels asked for and no other, a runtime that needs little, and
results that do not depend on how the model was written or compiled. Needs LLMC_BIN, or build/release/bin.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from artifact_file import Artifact
from checks import BIN, Checks, ROOT, run_tool
from runtime import Plan
from small_models import add_model, convnet

sys.path.insert(0, str(ROOT / "tools/models"))
from get import provide  # noqa: E402

SMALL_LEVELS = ["x86-64-v2", "x86-64-v3"]  # those that llmc's own host has
LEVELS = [*SMALL_LEVELS, "x86-64-v4"]
CPUS = {"Nehalem": "x86-64-v2", "Haswell": "x86-64-v3"}  # of qemu -> the level to pick
LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


class Workshop:
    """Compiles into a folder of its own, once per name."""

    def __init__(self, folder, checks):
        self.folder, self.checks = Path(folder), checks

    def save(self, model, name):
        onnx.save(model, self.folder / name)
        return self.folder / name

    def compile(self, model, name, *flags):
        done = run_tool("llmc", model, "-o", self.folder / name, *flags)
        self.checks.check(done.returncode == 0, f"{name} compiles with {' '.join(flags) or 'default options'}: {done.stderr.strip()[-600:]}")
        return self.folder / name


def image(batch=2, height=20, width=28):
    return {"x": np.random.default_rng(3).standard_normal((batch, 3, height, width), dtype=np.float32)}


def text(batch=2, length=12):
    rng = np.random.default_rng(4)
    return {"input_ids": rng.integers(1, 200, (batch, length)), "attention_mask": np.ones((batch, length), np.int64),
            "token_type_ids": np.zeros((batch, length), np.int64)}


def difference(expected, actual):
    """The greatest one, relative to the greatest magnitude of its output."""
    errors = [np.abs(expected[name] - actual[name]).max() / np.abs(expected[name]).max() for name in expected]
    return max(errors) if all(expected[n].shape == actual[n].shape for n in expected) else np.inf


def outputs(artifact, inputs, level=None):
    plan = Plan(artifact, level=level)
    results = plan(inputs)
    plan.close()
    return results


def onnxruntime_outputs(model, inputs):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def same_bytes(shop, net, bert):
    for name, model in (("net", net), ("bert", bert)):
        flags = ["--cpu", ",".join(LEVELS)]
        first = shop.compile(model, f"{name}-1.llmc", "-j1", *flags).read_bytes()
        for variant in (["-j1"], ["-j2"]):
            again = shop.compile(model, f"{name}-2.llmc", *variant, *flags).read_bytes()
            shop.checks.check(first == again, f"{name} for {len(LEVELS)} levels with {variant[0]} is the same {len(first)} bytes again")
    turned = shop.compile(net, "turned.llmc", "--cpu", ",".join(reversed(LEVELS))).read_bytes()
    shop.checks.check(turned == (shop.folder / "net-1.llmc").read_bytes(), "levels in another order give the same bytes")


def instructions(code, folder):
    """The disassembly of an ELF image."""
    path = folder / "code.elf"
    path.write_bytes(code)
    done = subprocess.run(["llvm-objdump-22", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    return done.stdout


def levels(shop, net, bert):
    checks = shop.checks
    for name, model, inputs in (("net", net, image()), ("bert", bert, text())):
        artifact = Artifact(shop.folder / f"{name}-1.llmc")
        checks.check(artifact.levels() == LEVELS, f"{name} holds {artifact.levels()}")
        expected = onnxruntime_outputs(model, inputs)
        for level in SMALL_LEVELS:
            error = difference(expected, outputs(artifact.path, inputs, level))
            checks.check(error <= 1e-4, f"{name} at {level} differs from ONNX Runtime by {error:.1e} of its scale")
        listing = {level: instructions(artifact.code(level), shop.folder) for level in LEVELS}
        found = {level: [r for r in ("xmm", "ymm", "zmm") if f"%{r}" in listing[level]] for level in LEVELS}
        checks.check(found["x86-64-v2"] == ["xmm"], f"{name} at x86-64-v2 uses registers {found['x86-64-v2']}")
        checks.check("ymm" in found["x86-64-v3"] and "zmm" not in found["x86-64-v3"], f"{name} at x86-64-v3 uses {found['x86-64-v3']}")
        checks.check(not re.search(r"%k[0-7]\b|%[xy]mm(1[6-9]|2\d|3[01])", listing["x86-64-v3"]), f"{name} at x86-64-v3 has no AVX-512 state")
        checks.check("zmm" in found["x86-64-v4"], f"{name} at x86-64-v4 uses {found['x86-64-v4']}")


def host_level():
    flags = set(re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M).group(1).split())
    v4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
    return "x86-64-v4" if v4 <= flags else "x86-64-v3"  # llmc itself needs v3


def pick_level(shop):
    """llmc-run takes the best level that the machine, real or emulated, has."""
    run = ["net-1.llmc", "--random", "1", "--dim", "H=9", "--dim", "W=11"]
    done = run_tool("llmc-run", *run, cwd=shop.folder)
    shop.checks.check(f"cpu level {host_level()}," in done.stderr, f"this machine runs {host_level()}: {done.stderr.strip()}")
    if not shutil.which("qemu-x86_64"):
        return shop.checks.skip("other machines", "no qemu-x86_64")
    for cpu, level in CPUS.items():
        here = run_tool("llmc-run", *run, "--cpu", level, cwd=shop.folder).stdout
        done = subprocess.run(["qemu-x86_64", "-cpu", cpu, BIN / "llmc-run", *run], cwd=shop.folder, capture_output=True, text=True)
        shop.checks.check(done.returncode == 0 and f"cpu level {level}," in done.stderr, f"on {cpu} level {level} runs: {done.stderr.strip()[-300:]}")
        shop.checks.check(done.stdout == here != "", f"on {cpu} the result is that of {level} here")


def bare_root(shop):
    """A C program in a root that holds only itself, the runtime, libraries of libc6, libstdc++6 and libgcc-s1, and the artifact."""
    if os.geteuid() != 0:
        return shop.checks.skip("a bare root", "only root may change it")
    artifact = shop.compile(shop.save(add_model(), "add.onnx"), "add.llmc")
    root, library = shop.folder / "root", BIN.parent / "lib/libllmc-runtime.so"
    root.mkdir()
    program = root / "program"
    subprocess.run(["clang-22", f"-I{ROOT}/runtime/include", Path(__file__).parent / "bare_root.c", library, "-o", program], check=True)
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True, env=os.environ | {"LD_LIBRARY_PATH": str(library.parent)}).stdout
    found = [Path(path) for path in re.findall(r"(/\S+) \(0x", listing)]
    foreign = {path.name for path in found} - LIBRARIES - {"libllmc-runtime.so.0"}
    shop.checks.check(not foreign, f"a program needs only libc6, libstdc++6 and libgcc-s1 beside the runtime (found {foreign})")
    for path in found:
        place = "lib64" if path.name.startswith("ld-linux") else "lib"
        (root / place).mkdir(exist_ok=True)
        shutil.copy(path, root / place / path.name)
    shutil.copy(artifact, root)
    command = ["chroot", root, "/program", "/add.llmc"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LD_LIBRARY_PATH": "/lib"})
    shop.checks.check(done.stdout == "11 22 33 44\n", f"it runs in a bare root: {done.stdout.strip()} {done.stderr.strip()}")


def optimisation_agrees(shop, net, bert):
    for name, model, inputs in (("net", net, image()), ("bert", bert, text())):
        artifacts = [Artifact(shop.compile(model, f"{name}-O{level}.llmc", f"-O{level}")) for level in range(4)]
        found = [outputs(artifact.path, inputs) for artifact in artifacts]
        for level in (1, 2, 3):
            error = difference(found[0], found[level])
            shop.checks.check(error <= 1e-5, f"{name}: -O0 and -O{level} differ by {error:.1e} of its scale")
        same = all(value.tobytes() == found[3][output].tobytes() for output, value in found[2].items())
        shop.checks.check(same, f"{name}: -O2 and -O3 give the same bits")
        recorded = [artifact.plan["options"]["optimisation"] for artifact in artifacts]
        shop.checks.check(recorded == ["0", "1", "2", "3"], f"{name} records the level (found {recorded})")
        steps = [sum(len(block["steps"]) for block in artifact.plan["entries"][0]["bodies"][0]["blocks"]) for artifact in artifacts]
        shop.checks.check(steps[0] > steps[1] > steps[2] == steps[3], f"{name} has fewer steps at higher levels (found {steps})")


def symbolic_dims_agree(shop, net, bert):
    static = {"net": ["--shape", "x=2x3x20x28"], "bert": ["--dim", "N=2", "--dim", "S=12"]}
    for name, model, inputs in (("net", net, image()), ("bert", bert, text())):
        fixed = outputs(shop.compile(model, f"{name}-static.llmc", *static[name]), inputs)
        symbolic = outputs(shop.folder / f"{name}-O2.llmc", inputs)
        for output, value in fixed.items():
            same = value.shape == symbolic[output].shape and value.tobytes() == symbolic[output].tobytes()
            error = difference({output: value}, symbolic)
            shop.checks.check(same, f"{name}: static and symbolic dims give the same bits of {output} (differ by {error:.1e} of its scale)")


def weights_may_be_inputs(shop):
    model, weights = convnet(weights_are_inputs=True)
    given = outputs(shop.compile(shop.save(model, "given.onnx"), "given.llmc"), image() | weights)
    error = difference(outputs(shop.folder / "net-O2.llmc", image()), given)
    shop.checks.check(error <= 1e-6, f"net: constant and run-time weights differ by {error:.1e} of its scale")


def dims_keep_their_names(shop):
    """Also those that expressions have to quote."""
    model = add_model()
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch-size"
    artifact = shop.compile(shop.save(model, "named.onnx"), "named.llmc", "--dim", "batch-size=1..8", "--batch-dim", "batch-size")
    done = run_tool("llmc-run", artifact, "--random", "1", "--dim", "batch-size=3")
    shop.checks.check("y: f32[3,4]" in done.stdout, f"--dim batch-size=3: {done.stdout.strip()} {done.stderr.strip()}")
    batching = Artifact(artifact).plan["entries"][0]["batching"]
    shop.checks.check(batching["dim"] == "batch-size", f"rows are of {batching['dim']}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(folder, checks)
        net, bert = shop.save(convnet()[0], "net.onnx"), provide("bert_tiny")
        for group, arguments in ((same_bytes, (net, bert)), (levels, (net, bert)), (pick_level, ()), (bare_root, ()),
                                 (optimisation_agrees, (net, bert)), (symbolic_dims_agree, (net, bert)), (weights_may_be_inputs, ()),
                                 (dims_keep_their_names, ())):
            print(group.__name__.replace("_", " "), flush=True)
            group(shop, *arguments)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
