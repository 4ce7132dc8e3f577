"""Prints the ```mlir examples of op or pass documentation as functions.

Standard input is what mlir-tblgen -gen-op-doc or -gen-pass-doc prints. Every op and pass must have an example; what stands before and
after a line "// becomes .." are two. An example may use values that it does not define: they become arguments, with the types that
the op's own type list gives. Lines that declare functions go before the function.

With --plan, the examples are the contents of a plan's body, in which %x, %y, %flag and %count are inputs and an output, or whole entries.
"""
import argparse
import re
import sys

VALUE = re.compile(r"%\w+")


def split_top_level(text):
    """Splits at the commas outside of all brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<([{") - (char in ">)]}" and text[i - 1 : i + 1] != "->")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def operand_types(statement):
    """Types of the operands, from `: type -> ...`, `: (types) -> ...` at the end of a statement."""
    types = re.split(r"\s:\s(?![^{]*\})", statement)[-1].rsplit("->", 1)[0].strip()
    return split_top_level(types[1:-1] if types.startswith("(") else types)


def statements(example):
    """Joins each statement with the lines that continue it."""
    joined = []
    for line in example.strip().splitlines():
        if re.match(r"\s*(%|func\.func)", line) or not joined:
            joined.append(line.strip())
        else:
            joined[-1] += " " + line.strip()
    return joined


def as_function(name, example):
    declarations, body, arguments, defined = [], [], {}, set()
    for statement in statements(example):
        if statement.startswith("func.func"):
            declarations.append(statement)
            continue
        result, _, expression = statement.partition(" = ")
        defined.update([result.partition(":")[0], *re.findall(r"(%\w+): ", statement)])
        for value, kind in zip(VALUE.findall(expression), operand_types(expression)):
            if value not in defined:
                arguments[value] = kind
        body.append("  " + statement)
    signature = ", ".join(f"{value}: {kind}" for value, kind in arguments.items())
    return "\n".join([*declarations, f"func.func @{name}({signature}) {{", *body, "  return", "}"])


def as_body(name, example):
    """An entry around buffers and steps; entries as they are, under a name of their own."""
    if example.lstrip().startswith("plan.entry"):
        return re.sub(r"plan.entry @\w+", f"plan.entry @{name}", example)
    boundary = [
        '%x = plan.input 0 "x" : f32 [#graph.expr<"N">]',
        '%flag = plan.input 1 "flag" : i1 []',
        '%count = plan.input 2 "count" : i64 []',
        '%y = plan.output 0 "y" : f32 [#graph.expr<"N">]',
    ]
    head = [f"plan.entry @{name} symbols {{N = array<i64: 0, 64>}} {{", 'plan.body "cpu" devices [#plan.device<"cpu", cpu>] {']
    return "\n".join([*head, *boundary, example, "}", "}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plan", action="store_true")
    frame = as_body if parser.parse_args().plan else as_function
    sections = re.split(r"^### `", sys.stdin.read(), flags=re.M)[1:]
    if not sections:
        sys.exit("no documentation on standard input")
    for section in sections:
        name = section.partition("`")[0]
        examples = re.findall(r"```mlir\n(.*?)```", section, re.S)
        if not examples:
            sys.exit(f"{name} has no example")
        parts = [part for example in examples for part in re.split(r"^ *// becomes.*\n", example, flags=re.M)]
        for i, part in enumerate(parts):
            print(frame(f"{re.sub(r'[^a-z]', '_', name)}_{i}", part))


main()
