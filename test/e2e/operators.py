#!/usr/bin/env python3
"""docs/operators.md says what llmc does with each operator. --update writes the page. Needs LLMC_BIN, or build/release/bin.

Versions are those that llmc lists; whether there is generated code, and where not, is what it reports for the ONNX node tests of
the operator.
"""
import copy
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx

from checks import ROOT, Checks, run_tool

from node_tests import FLOORS

sys.path.insert(0, str(ROOT / "tools/models"))
from get import node_tests  # noqa: E402

PAGE = ROOT / "docs/operators.md"
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

*Types*: the element types of the operator's first input (of its output, if it has none) that a node of it compiles with, tried with a node test; a `-`
where no node test has that one node alone. *ints* are i8 to i64 and u8 to u64, *floats* are f16, bf16, f32 and f64. 4-bit, 2-bit, complex and
8-bit floating-point elements are not supported.
*Code* says whether kernels are generated; where they are not, the scalar reference kernel of the op computes, which is right and slow.
"Folded" ops are gone before run time: they are shapes, constants or views. Nothing stands where there is no node test to ask. `llmc --remarks-filter=codegen` says the same of a model.
*Limits*: why node tests are refused.

| operator | opset versions | types | code | reference kernel where | limits |
|---|---|---|---|---|---|
""".format(**FLOORS)

TYPES = {"BOOL": "bool", "INT8": "i8", "INT16": "i16", "INT32": "i32", "INT64": "i64", "UINT8": "u8", "UINT16": "u16", "UINT32": "u32",
         "UINT64": "u64", "FLOAT16": "f16", "BFLOAT16": "bf16", "FLOAT": "f32", "DOUBLE": "f64", "STRING": "string"}
GROUPS = {"ints": {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}, "floats": {"f16", "bf16", "f32", "f64"}}


def single_node_tests():
    """operator -> models of the node tests that have one node, of that operator, in order."""
    tests = {}
    for folder in sorted(node_tests().iterdir()):
        model = onnx.load(folder / "model.onnx")
        node = model.graph.node[0]
        if len(model.graph.node) == 1:
            tests.setdefault(".".join(filter(None, (node.domain, node.op_type))), []).append(folder / "model.onnx")
    return tests


def compile_model(model, folder):
    """Its report, or the reason why llmc refuses it."""
    report, artifact = folder / f"{model.parent.name}.json", folder / f"{model.parent.name}.llmc"
    done = run_tool("llmc", model, "-O0", "-o", artifact, "--report", report)
    if done.returncode == 0:
        return json.loads(report.read_text()), None
    return None, re.sub(r"^loc\(.*?\): error: ", "", done.stderr.splitlines()[0])


def formal_values(model):
    """Of the model's node: the name of each input, then of each output, and the types that the operator allows there."""
    node = model.graph.node[0]
    version = next(o.version for o in model.opset_import if o.domain == node.domain)
    schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    allowed = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    for formals, actual in ((schema.inputs, node.input), (schema.outputs, node.output)):
        for index, name in enumerate(actual):
            text = formals[min(index, len(formals) - 1)].type_str
            yield name, allowed.get(text, {text})


def with_type(model, element):
    """The model with elements of another type in its node's first value, and in all that had the type of that one; None if the operator
    says that the first one can not have it."""
    model = copy.deepcopy(model)
    values = {v.name: v.type.tensor_type for v in [*model.graph.input, *model.graph.output] if v.type.HasField("tensor_type")}
    formals = [(name, f"tensor({element.lower()})" in allowed) for name, allowed in formal_values(model) if name in values]
    if not formals or not formals[0][1]:
        return None
    before = values[formals[0][0]].elem_type
    for name, is_allowed in formals:
        if is_allowed and values[name].elem_type == before:
            values[name].elem_type = onnx.TensorProto.DataType.Value(element)
    return model


def supported_types(models, folder):
    """The types of the first input that the operator compiles with, as the page writes them."""
    supported = set()
    for path in models:
        model = onnx.load(path)
        for element, name in TYPES.items():
            retyped = with_type(model, element)
            if retyped:
                saved = folder / f"{path.parent.name}-{name}" / "model.onnx"
                saved.parent.mkdir(exist_ok=True)
                onnx.save(retyped, saved)
                if compile_model(saved, folder)[0]:
                    supported.add(name)
        if supported:
            break  # the others say the same
    for group, members in GROUPS.items():
        if members <= supported:
            supported = supported - members | {group}
    order = ["bool", "ints", *list(TYPES.values())[1:9], "floats", "f16", "bf16", "f32", "f64", "string"]
    return " ".join(name for name in order if name in supported) or "-"


def limits(refusals):
    """Reasons without repetition; those that differ by the element type are one."""
    types = {}
    for reason in refusals:
        reason = re.sub(r"^\S+ of opset \d+(: | is )", lambda match: match[1].replace(": ", ""), reason)
        named = re.search(r"\b(FLOAT\d\w+|U?INT[24]|STRING)\b", reason)
        types.setdefault(reason.replace(named[0], "{}") if named else reason.strip(), set()).update([named[0]] if named else [])
    return "; ".join(sorted(reason.format(", ".join(sorted(names))) for reason, names in types.items()))


def row(name, versions, models, folder):
    results = [compile_model(model, folder) for model in models]
    reports = [report for report, _ in results if report]
    kernels = [kernel for report in reports for kernel in report["kernels"]]
    reasons = {kernel["fallback_reason"].split(": ", 1)[1] for kernel in kernels if kernel["fallback_reason"]}
    generated = any(not kernel["fallback_reason"] for kernel in kernels)
    code = "generated" if generated else "reference kernel" if reasons else "folded" if reports else ""
    return (f"| {name} | {versions.replace('..', ' to ')} | {supported_types(models, folder)} | {code} | {'; '.join(sorted(reasons))} "
            f"| {limits([reason for _, reason in results if reason])} |\n")


def main():
    tests, page = single_node_tests(), HEAD
    with tempfile.TemporaryDirectory() as folder:
        operators = [line.split() for line in run_tool("llmc", "--list-operators").stdout.splitlines()]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            page += "".join(pool.map(lambda o: row(o[0], o[1], tests.get(o[0], []), Path(folder)), operators))
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(page)
    checks = Checks()
    checks.check(page == PAGE.read_text(), "docs/operators.md is what test/e2e/operators.py --update writes")
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
