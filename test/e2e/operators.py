#!/usr/bin/env python3
"""docs/operators.md says what llmc does with each operator. --update writes the page. Needs LLMC_BIN, or build/release/bin.

Versions are those that llmc lists; whether there is generated code, and where not, is what it reports for the ONNX node tests of
the operator.
"""
import json
import sys
import tempfile
from pathlib import Path

import onnx

from checks import ROOT, Checks, run_tool

from node_tests import FLOORS

sys.path.insert(0, str(ROOT / "tools/models"))
from get import node_tests  # noqa: E402

PAGE = ROOT / "docs/operators.md"
MOST_TESTS = 4  # of an operator; more take long and say the same
HEAD = """# Operators

What `llmc` does with each operator of ONNX's default domain, and with those of other domains, which have it in front. Made by
`test/e2e/operators.py --update` from `llmc --list-operators` and from what the compiler reports for the node tests of ONNX: do not edit
it by hand.

## ONNX's own node tests

Of the 1,765 node tests of onnx 1.22.0 pass, with what was given, with every dim of every input open, and with constant inputs. What llmc does not
pass it refuses, with the operator and the reason, but for ten tests that draw random numbers: no answer is wrong. `test/e2e/node_tests.py` counts again. The
peers were measured in the same way, each test with the tolerance of its type; those with *wrong* answers gave them without an error.

| | as given | dims open | constant inputs | wrong, as given |
|---|---|---|---|---|
| llmc | {static} | {symbolic} | {constant} | 0 |
| ONNX Runtime 1.32 | 1681 | 1647 | 1677 | 21 |
| OpenVINO | 1428 | 1177 | 1417 | 55 |
| IREE | 1034 | 815 | | 24 |
| TVM | 739 | | | 115 |

## Each operator

*Code* says whether kernels are generated; where they are not, the scalar reference kernel of the op computes, which is right and slow.
"Folded" ops are gone before run time: they are shapes, constants or views. `llmc --remarks-filter=codegen` says the same of a model.

| operator | opset versions | code | reference kernel where |
|---|---|---|---|
""".format(**FLOORS)


def single_node_tests():
    """operator -> models of the node tests that have one node, of that operator, in order."""
    tests = {}
    for folder in sorted(node_tests().iterdir()):
        model = onnx.load(folder / "model.onnx")
        node = model.graph.node[0]
        if len(model.graph.node) == 1:
            tests.setdefault(".".join(filter(None, (node.domain, node.op_type))), []).append(folder / "model.onnx")
    return tests


def compile_report(model, folder):
    """The report of a compilation; nothing if llmc refuses the model."""
    report = folder / "report.json"
    done = run_tool("llmc", model, "-O0", "-o", folder / "model.llmc", "--report", report)
    return json.loads(report.read_text()) if done.returncode == 0 else None


def row(name, versions, models, folder):
    reasons, generated = set(), False
    reports = [report for report in (compile_report(model, folder) for model in models[:MOST_TESTS]) if report]
    for kernel in (kernel for report in reports for kernel in report["kernels"]):
        generated |= not kernel["fallback_reason"]
        if kernel["fallback_reason"]:
            reasons.add(kernel["fallback_reason"].split(": ", 1)[1])
    code = "generated" if generated else "reference kernel" if reasons else "folded" if reports else "no node test compiles"
    return f"| {name} | {versions.replace('..', ' to ')} | {code} | {'; '.join(sorted(reasons))} |\n"


def main():
    tests, page = single_node_tests(), HEAD
    with tempfile.TemporaryDirectory() as folder:
        for line in run_tool("llmc", "--list-operators").stdout.splitlines():
            name, versions = line.split()
            page += row(name, versions, tests.get(name, []), Path(folder))
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(page)
    checks = Checks()
    checks.check(page == PAGE.read_text(), "docs/operators.md is what test/e2e/operators.py --update writes")
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
