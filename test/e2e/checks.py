"""What the end-to-end tests share: counting, and running the tools."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ.get("LLMC_BIN", ROOT / "build/release/bin"))


class Checks:
    """Counts what holds and prints what does not."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, holds, what):
        self.passed += bool(holds)
        self.failed += not holds
        print(f"  {'ok  ' if holds else 'FAIL'} {what}", flush=True)

    def skip(self, what, reason):
        self.skipped += 1
        print(f"  skip {what}: {reason}", flush=True)

    def finish(self):
        """Prints the line that test.sh reads. Returns the exit code."""
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0


def run_tool(tool, *arguments, **options):
    """The finished process of a tool, with its streams as text."""
    return subprocess.run([BIN / tool, *arguments], capture_output=True, text=True, errors="replace", **{"timeout": 300} | options)
