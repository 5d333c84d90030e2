#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures chains of filters on device images, and prints each goal with the measured value.

usage: device_image_goals.py [--program PATH/TO/gaussian_benchmark] [--output goals.json]

All rows are measured in one run of gaussian_benchmark, including the same filters with host images between them. A
value is the median of the repetitions. A unit test of the bundle checks whether Update() queries the device's free
memory.

Exit status: 0 if all goals are met, 1 if one is missed, 2 if one could not be measured. Needs Python 3.8.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

BUNDLE = pathlib.Path(__file__).resolve().parent
UNITS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}  # in milliseconds
NUMBER_OF_FILTERS = 5
TOLERANCE = 1.1  # of the resident passes in the chain
# Rows of gaussian_benchmark, without what Google Benchmark adds to their names.
ONE_FILTER = "host_to_host/smoothing/3d/side:512/sigma_percent:400"
RESIDENT = "resident/x:512/y:512/z:512/sigma_percent:400"
CHAIN = f"device_images/smoothings/3d/side:512/filters:{NUMBER_OF_FILTERS}"
CHAIN_TODAY = f"host_to_host/smoothings/3d/side:512/filters:{NUMBER_OF_FILTERS}"
EDGES = "device_images/edges/3d/side:512"
EDGES_TODAY = "host_to_host/edges/3d/side:512"
UPDATES = "device_images/updates/2d/side:256"
SNAKE_RECTANGLE = "resident/snake/device_image/margin_rectangle/side:10000"
SNAKE_AUTOMATIC = "resident/snake/device_image/automatic/side:10000"
SNAKE_TODAY = "host_to_host/snake/side:10000"
ROWS = (
    ONE_FILTER,
    RESIDENT,
    CHAIN,
    CHAIN_TODAY,
    EDGES,
    EDGES_TODAY,
    UPDATES,
    SNAKE_RECTANGLE,
    SNAKE_AUTOMATIC,
    SNAKE_TODAY,
)
NO_QUESTION = "CudaDevicePipelineGpu.Filter_records_no_event_and_asks_for_no_memory_information"

Goal = collections.namedtuple("Goal", "text unit limit stretch measured today")


class Missing(Exception):
    """Raised for a row that the benchmarks did not report, with the reason."""


class Rows:
    """The repetitions of each row."""

    def __init__(self, report):
        self.repetitions = collections.defaultdict(list)
        self.errors = {}
        for row in report["benchmarks"]:
            name = next((name for name in ROWS if row["name"] == name or row["name"].startswith(name + "/")), None)
            if name is None or row.get("run_type", "iteration") != "iteration":
                continue
            if row.get("error_occurred"):
                self.errors[name] = row.get("error_message", "no reason given")
            else:
                self.repetitions[name].append(row)

    def median(self, name, figure):
        if name in self.errors:
            raise Missing(f"{name}: {self.errors[name]}")
        if name not in self.repetitions:
            raise Missing(f"{name}: the program has no such row")
        return statistics.median(figure(row) for row in self.repetitions[name])

    def ms(self, name):
        return self.median(name, lambda row: row["real_time"] * UNITS[row["time_unit"]])

    def counter(self, name, counter):
        return self.median(name, lambda row: row[counter])


def chain_goal(rows):
    one, resident = rows.ms(ONE_FILTER), rows.ms(RESIDENT)
    more = NUMBER_OF_FILTERS - 1
    text = (
        f"{NUMBER_OF_FILTERS} smoothings of 512^3 float, sigma 4: one filter's Update() ({one:.2f} ms) and {more} x {TOLERANCE} x "
        f"the resident passes ({resident:.3f} ms)"
    )
    return Goal(text, "ms", one + more * TOLERANCE * resident, None, rows.ms(CHAIN), rows.ms(CHAIN_TODAY))


def edges_goal(rows):
    return Goal("smoothing, magnitude, to unsigned char, 512^3", "ms", 18.0, 17.0, rows.ms(EDGES), rows.ms(EDGES_TODAY))


def updates_goal(rows):
    text = "mean of 1,000 Update() at 256^2, sigma in turns, less the same resident runs"
    return Goal(text, "us", 20.0, 10.0, rows.counter(UPDATES, "overhead_us"), None)


def snake_goal(rows, row, start, limit):
    text = f"snake on 100 MP of unsigned short, image and labels on the device, {start}"
    return Goal(text, "ms", limit, None, rows.ms(row), rows.ms(SNAKE_TODAY))


GOALS = (
    chain_goal,
    edges_goal,
    updates_goal,
    lambda rows: snake_goal(rows, SNAKE_RECTANGLE, "from the margin rectangle", 2.7),
    lambda rows: snake_goal(rows, SNAKE_AUTOMATIC, "automatic start", 2.9),
)


def verdict_of(goal):
    if goal.measured > goal.limit:
        return "missed"
    return "met" if goal.stretch is None or goal.measured > goal.stretch else "met, stretch too"


def format_time(value, unit):
    return "-" if value is None else f"{value:.2f} {unit}"


def table(rows):
    """Returns the table as Markdown, and the verdicts of the goals. A goal that could not be measured has the reason
    instead."""
    lines = ["| goal | at most | stretch | measured | today | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    records = []
    for make in GOALS:
        try:
            goal = make(rows)
        except Missing as reason:
            lines.append(f"| {reason} | - | - | - | - | not measured |")
            records.append({"goal": str(reason), "verdict": "not measured"})
            continue
        verdict = verdict_of(goal)
        times = (format_time(value, goal.unit) for value in (goal.limit, goal.stretch, goal.measured, goal.today))
        lines.append(f"| {goal.text} | {' | '.join(times)} | {verdict} |")
        record = goal._asdict()
        record["goal"] = record.pop("text")
        records.append({**record, "verdict": verdict})
    return "\n".join(lines), records


def run_benchmarks(program, repetitions, limit):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [
            str(program),
            "--benchmark_filter=^(" + "|".join(ROWS) + ")(/|$)",
            f"--benchmark_repetitions={repetitions}",
            f"--benchmark_out={report}",
            "--benchmark_out_format=json",
        ]
        try:
            status = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=limit, check=False).returncode
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SystemExit(f"error: {error}") from error
        if status or not report.exists():
            raise SystemExit(f"error: {program} ended with exit status {status}")
        return json.loads(report.read_text())


def judge_question(driver, limit):
    """Returns whether Update() queries the device's free memory, according to the unit test."""
    goal = "no cudaMemGetInfo in Update() of a filter of device images"
    if not driver.exists():
        return {"goal": f"{goal}: there is no {driver.name} beside the benchmarks", "verdict": "not measured"}
    try:
        process = subprocess.run(
            [str(driver), f"--gtest_filter={NO_QUESTION}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"goal": f"{goal}: the unit was not done after {limit:.0f} s", "verdict": "not measured"}
    output = process.stdout.decode(errors="replace")
    if re.search(r"^\[ +OK +\] " + re.escape(NO_QUESTION), output, re.MULTILINE) and process.returncode == 0:
        return {"goal": goal, "verdict": "met"}
    if re.search(r"^\[ +FAILED +\]", output, re.MULTILINE):
        return {"goal": goal, "verdict": "missed"}
    return {"goal": f"{goal}: the unit did not run", "verdict": "not measured"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = BUNDLE / "bin/gaussian_benchmark"
    parser.add_argument("--program", type=pathlib.Path, default=program, help="the benchmarks (default: of this bundle)")
    parser.add_argument("--output", type=pathlib.Path, help="the report, which records.py adds to benchmarks/records/GPU/device_images.json")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="of each row (default: %(default)s)")
    parser.add_argument("--time-limit", type=float, default=400, metavar="S", help="of the benchmarks (default: %(default)s)")
    arguments = parser.parse_args()
    report = run_benchmarks(arguments.program, arguments.repetitions, arguments.time_limit)
    text, records = table(Rows(report))
    records.append(judge_question(arguments.program.parent / "CudaFiltersCudaGTestDriver", 60))
    print(text)
    print(f"| {records[-1]['goal']} | | | | | {records[-1]['verdict']} |")
    if arguments.output:
        record = {"context": report.get("context", {}), "goals": records, "benchmarks": report["benchmarks"]}
        record["context"].pop("executable", None)  # records are published: no path of the machine
        record["context"].pop("host_name", None)
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    verdicts = [record["verdict"] for record in records]
    return 2 if "not measured" in verdicts else 1 if "missed" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
