#!/usr/bin/env python3
"""Damaged models through `llmc --stop-after=import`: read or refused with a reason, never a crash. Runs the debug build, with its sanitizers.

    hostile_models.py [SEED]     default: a new seed, which is printed. LLMC_DEBUG_BIN: the folder of another debug build
"""
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import Checks, ROOT
from small_models import add_model, convnet

LLMC = Path(os.environ.get("LLMC_DEBUG_BIN", ROOT / "build/debug/bin")) / "llmc"
MODELS = 200
# As in test.sh: type storage of ours lies in memory of libraries that are built without the sanitizer.
ENVIRONMENT = {"ASAN_OPTIONS": "allow_user_poisoning=0", "UBSAN_OPTIONS": "halt_on_error=1"}


def mutated(data, rng):
    """A few bytes changed, inserted or taken out, or the end cut off."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        kind = rng.randrange(5)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 8))
        elif kind == 3:
            del data[at:at + rng.randint(1, 8)]
        elif at > 0:
            del data[at:]
        if not data:
            break
    return bytes(data)


def main():
    checks = Checks()
    if not LLMC.exists():
        checks.skip("damaged models", f"no {LLMC}")
        sys.exit(checks.finish())
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    sources = [add_model().SerializeToString(), convnet()[0].SerializeToString(), convnet(weights_are_inputs=True)[0].SerializeToString()]
    counts = {0: 0, 1: 0}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.onnx"
        for number in range(MODELS):
            model.write_bytes(mutated(rng.choice(sources), rng))
            done = subprocess.run([LLMC, model, "--stop-after=import"], capture_output=True, env=os.environ | ENVIRONMENT)
            said = done.returncode == 0 or b"error: " in done.stderr
            if done.returncode in counts and said:
                counts[done.returncode] += 1
            else:
                text = done.stderr.decode(errors="replace")[-3000:]
                checks.check(False, f"model {number} of seed {seed}: exit {done.returncode}\n{text}")
    checks.check(counts[0] > 0 and counts[1] > 0, f"{counts[0]} models were read and {counts[1]} refused")
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
