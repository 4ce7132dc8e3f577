"""The script that measures what batching gains, on a small model for a moment: it works, and what it prints fits together."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

import onnx
from support import FOLDER, model_proto

SCRIPT = Path(__file__).resolve().parent.parent.parent / "tools/bench/serving.py"
ENGINES = {"one by one", "batched", "ort"}
ROWS = 8


class Serving(unittest.TestCase):
    def test_what_it_prints(self):
        text = ", ".join(["0.01", "-0.01"] * 2048)
        layer = f"layer (float[N, 64] x) => (float[N, 64] y) <float[64, 64] w = {{{text}}}> {{ p = MatMul(x, w)  y = Relu(p) }}"
        onnx.save(model_proto(layer), FOLDER / "layer.onnx")
        done = subprocess.run([sys.executable, SCRIPT, FOLDER / "layer.onnx", "--threads", "1", "--max-rows", str(ROWS), "--seconds", "0.2",
                               "--rounds", "1", "--ladder", "0.01", "--slo-ms", "10000", "--json", FOLDER / "serving.json"],
                              capture_output=True, text=True, timeout=120)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line[:22].strip(): line[22:].split() for line in done.stdout.splitlines() if line[22:]}
        (said,) = json.loads((FOLDER / "serving.json").read_text())
        self.assertEqual(set(said["answers"]), ENGINES)
        self.assertEqual([int(count) for count in lines["answers, in all"]], list(said["answers"].values()))
        alone, batched, other = (float(rows) for rows in lines["rows a run, in all"])
        self.assertEqual(alone, 1)
        self.assertTrue(1 <= batched <= ROWS and 1 <= other <= ROWS, lines)
        (at,) = said["rates"]
        self.assertAlmostEqual(at["rate"], 0.01 * max(said["saturated"].values()))
        for engine in ENGINES:
            p50, p99 = at[engine]
            self.assertTrue(0 < p50 <= p99 <= said["slo_ms"] == 10000, at)
            self.assertEqual(said["within_slo"][engine], at["rate"])
            self.assertTrue(0 < said["single_ms"][engine] < 1000, said)
            # 64 to compare, 30 alone, three times a tenth of a second saturated, and at least 50 at the rate
            self.assertGreater(said["answers"][engine], 64 + 30 + 0.2 * said["saturated"][engine] + 50)


if __name__ == "__main__":
    unittest.main()
