"""The Python half of the examples, run as a user would."""
import subprocess
import sys
import unittest
from pathlib import Path

from support import artifact

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


class DynamicBatching(unittest.TestCase):
    def test_callers(self):
        model = artifact("rows", batch_dim="N", dim="N=1..16")
        done = subprocess.run([sys.executable, EXAMPLES / "04-dynamic-batching/callers.py", model, "--requests", "400"],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        print(done.stdout)
        _, alone, batched, said = done.stdout.splitlines()
        self.assertEqual(float(alone.split()[-1]), 1)
        self.assertGreater(float(batched.split()[-1]), 2)
        self.assertIn("equal, to the bit", said)


if __name__ == "__main__":
    unittest.main()
