"""run.py [NAME]: runs the test_NAME.py of this folder, or all, with the llmc that this Python imports. Ends with the counts."""
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
suite = unittest.defaultTestLoader.discover(str(HERE), f"test_{sys.argv[1] if len(sys.argv) > 1 else '*'}.py")
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
failed = len({case.id().split(" ")[0] for case, _ in result.failures + result.errors})
print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
sys.exit(failed > 0)
