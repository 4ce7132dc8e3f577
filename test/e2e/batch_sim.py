#!/usr/bin/env python3
"""llmc-batch-sim as its users call it: scenarios with known hashes (batch_sim.txt; --update writes them), so that any change of what the
batcher decides is seen; what it prints, recommends and draws; what it says of bad input; the examples of docs/batching.md."""
import json
import re
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from checks import ROOT, Checks, run_tool

GOLDEN = Path(__file__).with_suffix(".txt")
HEAD = "# ARGUMENTS => hash of all that was done and when. Written by batch_sim.py --update.\n"
MANY = "--requests 3000"
SCENARIOS = [f"{MANY} {arguments}" for arguments in (
    "--rate 50", "--rate 400", "--rate 800", "--rate 1300", "--rate 2000 --queue-rows 32", "--rate 2000 --slo-ms 50 --deadlines",
    "--rate 600 --delay-ms 5", "--rate 300 --delay-ms 20 --preferred 4,8", "--rate 700 --pad pad-up", "--rate 700 --pad batch-down",
    "--rate 700 --max-rows 8", "--rate 300 --rows-per-request 5", "--rate 1500 --classes 3 --queue-rows 64",
    "--rate 1500 --classes 3 --aging-ms 20 --mix merge --queue-rows 64", "--rate 1000 --classes 2 --mix isolate",
    "--rate 800 --instances 2", "--rate 800 --instances 3 --delay-ms 2", "--rate 500 --jitter lognormal --sigma 0.5",
    "--rate 500 --jitter exponential", "--arrivals gamma --cv 3 --rate 500", "--arrivals mmpp --peak 10 --rate 500",
    "--arrivals bursts --peak 20 --rate 300", "--arrivals diurnal --period 2 --rate 600", "--arrivals closed --clients 40",
    "--arrivals closed --clients 40 --think-ms 30 --jitter lognormal", "--rate 400 --also 100:2:0.2", "--rate 900 --also 900:4:0.5:3",
    "--rate 800 --poison-percent 0.5", "--rate 800 --fail-percent 5", "--rate 800 --fail-percent 80",
    "--rate 1200 --cancel-percent 30 --cancel-after-ms 5", "--rate 1200 --cancel-percent 100 --slo-ms 40 --deadlines",
    "--policy none --rate 200", "--policy fixed --rate 600 --delay-ms 5", "--policy triton --rate 600 --delay-ms 5 --preferred 4",
    "--policy tf --rate 600 --delay-ms 5", "--policy aimd --rate 600")]
BAD = [
    ("--policy triton --fail-percent 1", "only the policy 'ours' knows failures and cancels"),
    ("--also 1:2", "expected RATE:FIXED_MS:ROW_MS[:WEIGHT]"),
    ("--recommend", "--recommend needs --slo-ms, one model and the policy 'ours'"),
    ("--max-rows 64", "a batch may have 64 rows, more than the largest size that runs, 16"),
    ("--preferred 32", "preferred size 32 is not among the variants"),
    ("--sizes 4,2", "not positive row counts in ascending order"),
    ("--costs /nowhere", "/nowhere"),
    ("--arrivals closed --plot x.svg", "a chart needs arrivals that have a rate"),
    ("--arrivals sometimes", "sometimes"),
]


def simulate(arguments):
    done = run_tool("llmc-batch-sim", "--json", *arguments.split())
    return json.loads(done.stdout) if done.returncode == 0 else {"hash": done.stderr.strip()}


def golden(checks):
    if sys.argv[1:] == ["--update"]:
        GOLDEN.write_text(HEAD + "".join(f"{scenario} => {simulate(scenario)['hash']}\n" for scenario in SCENARIOS))
    known = dict(line.split(" => ") for line in GOLDEN.read_text().splitlines() if not line.startswith("#"))
    checks.check(list(known) == SCENARIOS, "batch_sim.txt has all scenarios")
    for scenario in SCENARIOS:
        report = simulate(scenario)
        checks.check(report["hash"] == known.get(scenario), f"{scenario}: {report['hash']}")
        checks.check(report["done"] + sum(report.get("drops", {}).values()) == report["requests"], f"{scenario}: each request has one outcome")


def trace(checks, folder):
    (folder / "trace.txt").write_text("# microseconds, rows\n0 3\n100\n5000 2\n")
    (folder / "costs.txt").write_text("1 2\n4 3.5\n")
    report = simulate(f"--arrivals trace --trace {folder / 'trace.txt'} --costs {folder / 'costs.txt'}")
    # At 0 three rows start as four, 3.5 ms; the request at 0.1 ms starts then and takes 2 ms; that at 5 ms waits for it till 5.5.
    checks.check((report["runs"], report["done"], report["p50_ms"], round(report["max_ms"], 9)) == (3, 3, 4.0, 5.4), f"a trace: {report}")


def recommend(checks, folder):
    plot = folder / "plot.svg"
    done = run_tool("llmc-batch-sim", *f"--rate 1600 --slo-ms 50 --requests 5000 --recommend --measure goodput --plot {plot}".split())
    checks.check(re.match(r"--max-rows \d+ --delay-ms \S+ --queue-rows \d+\n(- .+\n){3,}", done.stdout), "--recommend gives settings and reasons")
    names = [element.tag.split("}")[1] for element in ElementTree.parse(plot).iter()]
    checks.check(names[0] == "svg" and names.count("polyline") + names.count("path") >= 2, "--plot draws lines")
    settings = done.stdout.splitlines()[0]
    load = "--rate 1600 --slo-ms 50 --requests 5000 --seed"
    for seed in range(101, 106):  # loads that the search did not see
        chosen, default = simulate(f"{load} {seed} {settings}"), simulate(f"{load} {seed}")
        checks.check(chosen["within_slo"] >= default["within_slo"],
                     f"what was recommended on another load: {chosen['within_slo']} within the SLO, {default['within_slo']} without")


def page(checks):
    text = (ROOT / "docs/batching.md").read_text()
    for command, output in re.findall(r"^\$ llmc-batch-sim (.*)\n((?:.+\n)*?)```", text, re.M):
        printed = run_tool("llmc-batch-sim", *command.split()).stdout
        checks.check(printed == output, f"docs/batching.md: llmc-batch-sim {command}")


def bad(checks):
    for arguments, message in BAD:
        done = run_tool("llmc-batch-sim", *arguments.split())
        error = done.stderr.strip()
        checks.check(done.returncode in (1, 2) and message in error and not done.stdout, f"{arguments}: {error.splitlines()[0] if error else 'nothing'}")


def main():
    checks = Checks()
    golden(checks)
    with tempfile.TemporaryDirectory() as folder:
        trace(checks, Path(folder))
        recommend(checks, Path(folder))
    page(checks)
    bad(checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
