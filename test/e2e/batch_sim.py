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
    ("--replay /nowhere", "can not open '/nowhere'"),
    ("--replay /dev/null", "'/dev/null' is not a record of a batcher"),
    ("--replay /dev/null --costs /dev/null", "--costs excludes --replay"),
    ("--arrivals trace", "--arrivals trace needs --trace"),
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


RECORD = """# llmc-record 1
batcher 1
model 4 - 0.000 - 0.000 1 some 1,2,4 a model
cost 0 1 1000.000 a model
cost 0 2 1000.000 a model
cost 0 4 1000.000 a model
cost 1 1 3000.000 a model
cost 1 2 4000.000 a model
cost 1 4 8000.000 a model
request 0.000 1 0 0 - 2000.000 done none a model
run 0.000 0 1 1 2000.000 a model
request 5000.000 6 1 1 90000.000 18000.000 done none a model
run 5000.000 1 4 4 8000.000 a model
run 13000.000 1 2 2 4000.000 a model
request 6000.000 1 0 0 - 500.000 cancelled cancelled a model
request 7000.000 1 0 0 - 0.000 kept none a model
request 8000.000 1 0 0 - 0.000 rejected queue_full a model
"""


def replay(checks, folder):
    file = folder / "record.txt"
    file.write_text(RECORD)
    report = simulate(f"--replay {file}")
    # The first takes 2 ms. Six rows are two runs of 8 and 4 ms, from 5 on; one is cancelled before its turn, and one that was refused waits
    # till 17, then runs as the only run of its size did. Answers that were kept are no requests.
    seen = report["requests"], report["done"], report.get("drops"), report["runs"], round(report["p50_ms"], 6), round(report["max_ms"], 6)
    checks.check(seen == (5, 4, {"cancelled": 1}, 4, 8, 12), f"--replay: {seen}")
    checks.check(report["recorded"] == {"done": 2, "p50_ms": 2.0, "p99_ms": 18.0}, f"--replay: {report['recorded']}")
    shown = run_tool("llmc-batch-sim", "--replay", str(file)).stdout
    checks.check(shown.endswith("recorded: 2 answered by runs, latency ms: p50 2.000, p99 18.000\n"), "--replay says what was recorded")
    rare = simulate(f"--replay {file} --rate 0.1 --requests 10")
    checks.check((rare["requests"], rare["runs"], rare["max_ms"]) == (10, 10, 8), f"--replay at another rate: {rare}")
    delayed = simulate(f"--replay {file} --delay-ms 1")
    checks.check(round(delayed["mean_ms"] - report["mean_ms"], 6) == 0.25, "--replay with another setting: the first waits for the delay")
    for line, number in (("run 0 0 1 2000.000 a model", 4), ("model 0 - 0 - 0 1 some 1 b", 4), ("cost 0 3 5 a model", 5), ("jump 1", 4), ("request 0 1 0 0 - 1 done none nobody", 4),
                         ("request -5 1 0 0 - 1 done none a model", 4), ("request 0 1 0 17 - 1 done none a model", 4)):
        lines = RECORD.splitlines()
        lines.insert(number - 1, line)
        file.write_text("\n".join(lines) + "\n")
        done = run_tool("llmc-batch-sim", "--replay", str(file))
        checks.check(done.returncode == 1 and done.stderr.strip().endswith(f"record.txt:{number}: not a line of a record: '{line}'"), f"{line}: {done.stderr.strip()}")


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
        replay(checks, Path(folder))
        recommend(checks, Path(folder))
    page(checks)
    bad(checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
