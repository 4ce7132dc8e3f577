"""An artifact from the outside: what llmc-plan says of it, and its bytes."""
import json
from pathlib import Path

from checks import run_tool


class Artifact:
    def __init__(self, path):
        self.path = Path(path)
        done = run_tool("llmc-plan", path, "--json")
        assert done.returncode == 0, done.stderr
        self.plan = json.loads(done.stdout)

    def segments(self, kind):
        """(offset, bytes) of each segment of a kind, CODE or CONSTANTS."""
        return [(s["offset"], s["bytes"]) for s in self.plan["segments"] if s["kind"] == kind]

    def levels(self):
        return [variant["level"] for variant in self.plan["executables"][0]["variants"]]

    def code(self, level):
        """The ELF image of a level: each variant has a segment of its own, in the same order."""
        offset, size = self.segments("CODE")[self.levels().index(level)]
        return self.path.read_bytes()[offset:offset + size]
