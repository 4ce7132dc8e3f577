"""Prints the ```mlir examples of op or pass documentation as functions.

Standard input is what mlir-tblgen -gen-op-doc or -gen-pass-doc prints. Every op and pass must have an example; what stands before and
after a line "// becomes .." are two. An example may use values that it does not define: they become arguments, with the types that
the op's own type list gives. Lines that declare functions go before the function.
"""
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
        for value, kind in zip(VALUE.findall(expression), operand_types(expression)):
            if value not in defined:
                arguments[value] = kind
        defined.add(result)
        body.append("  " + statement)
    signature = ", ".join(f"{value}: {kind}" for value, kind in arguments.items())
    return "\n".join([*declarations, f"func.func @{name}({signature}) {{", *body, "  return", "}"])


def main():
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
            print(as_function(f"{re.sub(r'[^a-z]', '_', name)}_{i}", part))


main()
