#!/usr/bin/env python3
"""Seeded random cases of single nodes, compiled and run, compared with ONNX Runtime; what fails is made smaller and printed.

    generate.py [--cases N] [--seed S] [--only OPERATOR,...]    N cases (2000) from seed S (1)
    generate.py --replay NAME [--keep FOLDER]                   one case by its name, as a failure prints it

A case draws an operator's version, types, shapes (rank 0, sizes 0, 1 and odd ones, broadcast), attributes, values (ties, NaN, infinities,
greatest and least), which inputs are constant, given or absent, static or symbolic dims, optimisation level and threads: see draw.py.
"Not supported" is counted as skipped, and so is what ONNX Runtime refuses. Last line: the counts. Needs build/release/test/node-tests.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from case import NoCase, draw_case, replay_case
from choices import simpler, trim
from known import reason_to_skip
from rules import RULES

RUNNER = Path(__file__).resolve().parent.parent.parent / "build/release/test/node-tests"
MOST_SHRUNK = 4  # failures that are made smaller; the rest are likely the same
MOST_ROUNDS = 15
SECONDS_PER_CASE = 2  # far more than one takes, for all that a batch may take


def run_folder(folder, settings, count):
    """Runs the cases of a folder. name -> ("failed" or "skipped", reason) of those that did not pass."""
    level, threads = settings
    command = [RUNNER, folder, "static", "--list", "--level", str(level), "--threads", str(threads)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60 + SECONDS_PER_CASE * count)
    except subprocess.TimeoutExpired:
        return None, "takes too long"
    if not re.search(r"\d+ passed, \d+ failed, \d+ skipped$", done.stdout):
        crashed = re.findall(r"^\d+\.\s+case (\S+)$", done.stderr, re.M)
        return None, f"crashes in {crashed[0]}" if crashed else f"ends with {done.returncode}: {done.stderr[-300:]}"
    lines = re.findall(r"^(FAILED|skipped) (\S+): (.*)$", done.stdout, re.M)
    return {name: (kind.lower(), reason) for kind, name, reason in lines}, ""


def run_batch(folder, settings, names):
    """As run_folder, but a batch that crashes or hangs is halved until the case is alone."""
    outcomes, problem = run_folder(folder, settings, len(names))
    if outcomes is not None:
        return outcomes
    if len(names) == 1:
        return {names[0]: ("failed", problem)}
    outcomes = {}
    for part in (names[:len(names) // 2], names[len(names) // 2:]):
        with tempfile.TemporaryDirectory(dir=folder.parent) as half:
            for name in part:
                os.symlink(folder / name, Path(half) / name)
            outcomes |= run_batch(Path(half), settings, part)
    return outcomes


def run_cases(cases, folder):
    """Outcomes by position: None if it passed, else (kind, reason)."""
    outcomes, batches = [None] * len(cases), collections.defaultdict(list)
    for i, case in enumerate(cases):
        batch = Path(folder) / "O{}-t{}".format(*case.settings)
        try:
            if reason := reason_to_skip(case):
                raise NoCase(reason)
            case.write(batch / str(i))
            batches[batch].append(i)
        except NoCase as reason:
            outcomes[i] = ("no case", str(reason))
    for batch, members in batches.items():
        for name, outcome in run_batch(batch, cases[members[0]].settings, [str(i) for i in members]).items():
            outcomes[int(name)] = outcome
    return outcomes


def shrink(case, reason):
    """The simplest case found that fails too."""
    for _ in range(MOST_ROUNDS):
        lists = list(dict.fromkeys(map(tuple, simpler(case.choices.made))))
        cases = []
        for numbers in lists:
            try:
                cases.append(replay_case(f"{case.op}:{','.join(map(str, numbers))}"))
            except Exception:  # the numbers may ask for what can not be, such as an empty choice
                continue
        with tempfile.TemporaryDirectory() as folder:
            outcomes = run_cases(cases, folder)
        failing = [(smaller, outcome) for smaller, outcome in zip(cases, outcomes) if outcome and outcome[0] == "failed"]
        rank = lambda made: (len(trim(made)), sum(trim(made)))  # noqa: E731
        failing = [(smaller, outcome) for smaller, outcome in failing if rank(smaller.choices.made) < rank(case.choices.made)]
        if not failing:
            break
        case, (_, reason) = min(failing, key=lambda pair: rank(pair[0].choices.made))
    return case, reason


def report(what, case, reason):
    name = f"{case.op}:{','.join(map(str, trim(case.choices.made)))}"
    print(f"{what} {case.describe()}\n  {reason}\n  again: test/generate/generate.py --replay {name}", flush=True)


def draw_cases(count, seed, only):
    """Every operator in turn, in the order of their names."""
    names = sorted(only or RULES)
    return [draw_case(names[i % len(names)], f"{seed}/{i}") for i in range(count)]


def replay(name, keep):
    case = replay_case(name)
    if keep:
        case.write(Path(keep))
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_cases([case], folder)[0]
    print(f"{case.describe()}\n  {': '.join(outcome) if outcome else 'passed'}")
    return bool(outcome and outcome[0] == "failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--replay", metavar="NAME")
    parser.add_argument("--keep", metavar="FOLDER", help="with --replay: write model and data there")
    arguments = parser.parse_args()
    if arguments.replay:
        return replay(arguments.replay, arguments.keep)
    cases = draw_cases(arguments.cases, arguments.seed, arguments.only)
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run_cases(cases, folder)
    failures = [(case, outcome[1]) for case, outcome in zip(cases, outcomes) if outcome and outcome[0] == "failed"]
    for failure in failures:
        report("FAILED", *failure)
    for failure in failures[:MOST_SHRUNK]:
        report("smaller", *shrink(*failure))
    kinds = collections.Counter(outcome[0] for outcome in outcomes if outcome)
    print(f"{kinds['skipped']} are not supported, {kinds['no case']} ONNX Runtime refuses or is known not to answer right")
    print(f"{len(cases) - sum(kinds.values())} passed, {len(failures)} failed, {kinds['skipped'] + kinds['no case']} skipped")
    return bool(failures) or sum(kinds.values()) == len(cases)


if __name__ == "__main__":
    os.environ.setdefault("TMPDIR", "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")
    sys.exit(main())
