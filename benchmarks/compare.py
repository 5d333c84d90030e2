#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the benchmarks of two unpacked bundles on one machine, and reports which rows changed.

usage: compare.py BASE HEAD [--output comparison.json]

Each round runs all rows of every benchmark program once from both bundles, in alternating order. The value of a row is
the median of its rounds, and its change is HEAD's median divided by BASE's. Its scatter is the difference between two
sets of rounds of the same program (an A/A comparison): of all pairs of medians of rounds resampled from the measured
ones, 95 in 100 differ by less. The larger one of both bundles counts. A row is slower or faster if its change exceeds
both its scatter and 2 %. Rows above 0.1 ms with a scatter of more than 3 %, and rows that seem slower, get up to three
times as many rounds before they are reported.

A later call with --append adds its rounds to the ones in the file, so that a comparison can be split by --filter or
over time. The table is printed as Markdown. Exit status: 1 if a row became slower; 2 if a program failed or a row has
no verdict; otherwise 0. Needs Python 3.8 and peers.py in the same folder.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import peers

SIDES = ("base", "head")
# All filters, resident and host to host, at the sizes that a change is held to, with one sigma each, smoothing with
# two.
ROWS = "|".join(
    (
        r"^resident/x:(128|256|512|1024|2048|4096|8192|8191)/y:\d+/z:1/sigma_percent:(400|6400)$",
        r"^resident/x:(32|64|128|256|512|511)/y:\d+/z:([2-9]|\d{2,})/sigma_percent:(400|6400)$",
        r"^(resident|host_to_host)/(?!x:|partitioned/|.*3d/side:1024/).*side:(\d{2,3}|1024|2048|4096|8192)/sigma_percent:400$",
        r"^(resident|host_to_host)/partitioned/.*sigma_percent:1500$",
        r"^(resident|host_to_host)/snake/",
    )
)
LEAST_ROUNDS = 3  # for a verdict
LEAST_CHANGE = 0.02
LARGEST_SCATTER = 0.03
SHORT_MS = 0.1  # rows below are as long as a launch takes; their scatter is what it is
EXTENSION = 3  # times the rounds, for rows whose scatter is too large
LEAST_SECONDS = 0.02  # of a row; rounds take the place of long rows


# --- statistics -------------------------------------------------------------------------------------------------------


def probabilities_of_medians(count):
    """That each of `count` sorted values is the median of as many drawn from them, of one fewer if they are even in
    number."""
    draws = count if count % 2 else count - 1

    def at_most(rank):  # more than half of the draws are among the `rank` lowest
        p = rank / count
        return sum(math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(draws // 2 + 1, draws + 1))

    return [at_most(rank + 1) - at_most(rank) for rank in range(count)]


def scatter_of(values, level=0.95):
    """The relative difference that two medians of as many rounds of the same program stay below at this level of
    probability."""
    values = sorted(values)
    weights = probabilities_of_medians(len(values))
    pairs = sorted((abs(a / b - 1), p * q) for a, p in zip(values, weights) for b, q in zip(values, weights))
    total = 0.0
    for difference, weight in pairs:
        total += weight
        if total >= level:
            return difference
    return pairs[-1][0]


class Row:
    """The times of one row in both bundles, in milliseconds, and the verdict."""

    def __init__(self, name, times):
        self.name, self.times = name, times
        self.rounds = min(len(times[side]) for side in SIDES)
        self.base, self.head = (statistics.median(times[side]) if times[side] else None for side in SIDES)
        self.is_judged = self.rounds >= LEAST_ROUNDS
        if self.is_judged:
            self.change = self.head / self.base - 1
            self.scatter = max(scatter_of(times[side]) for side in SIDES)

    def verdict(self):
        if not self.is_judged:
            return "not judged"
        if abs(self.change) <= max(self.scatter, LEAST_CHANGE):
            return "same"
        return "slower" if self.change > 0 else "faster"

    def is_noisy(self):
        return self.is_judged and self.scatter > LARGEST_SCATTER and min(self.base, self.head) > SHORT_MS

    def needs_more(self, rounds):
        wanted = EXTENSION * rounds if self.is_noisy() or self.verdict() == "slower" else rounds
        return self.rounds < wanted

    def describe(self):
        entry = {"name": self.name, "verdict": self.verdict()}
        if self.is_judged:
            entry.update(change=round(self.change, 5), scatter=round(self.scatter, 5))
        return {**entry, **{side: [float(f"{ms:.5g}") for ms in self.times[side]] for side in SIDES}}


# --- programs ---------------------------------------------------------------------------------------------------------


class ProgramFailed(Exception):
    pass


class Program:
    """A benchmark program of one bundle."""

    def __init__(self, path):
        self.path = path
        self.longest = 0.0  # seconds of a call for a row

    def run(self, options, limit):
        try:
            process = subprocess.run(
                [str(self.path), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, check=False
            )
        except OSError as error:
            raise ProgramFailed(str(error)) from error
        output = process.stdout.decode(errors="replace")
        if process.returncode != 0:
            raise ProgramFailed(f"exit status {process.returncode}\n{output[-1000:]}")
        return output

    def list_rows(self):
        """Names as in a report, without what peers.compact() leaves out, and as the program knows them."""
        names = (line.strip() for line in self.run(["--benchmark_list_tests"], 60).splitlines())
        return {peers.plain_name(name): name for name in names if name}

    def measure(self, names, least_seconds, limit):
        """{plain name: ms}, or the reason why a row was left out instead of ms."""
        pattern = "|".join(re.sub(r"([\\.\[\](){}*+?|^$])", r"\\\1", name) for name in names)
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            begin = time.monotonic()
            options = [f"--benchmark_filter=^({pattern})$", f"--benchmark_min_time={least_seconds}", f"--benchmark_out={report}"]
            self.run([*options, "--benchmark_out_format=json"], limit)
            self.longest = max(self.longest, (time.monotonic() - begin) / len(names))
            try:
                rows = json.loads(report.read_text(encoding="utf-8"))["benchmarks"]
                return {peers.plain_name(row["name"]): peers.milliseconds(row) for row in rows if is_single(row)}
            except (OSError, ValueError, KeyError) as error:
                raise ProgramFailed(f"its report cannot be read: {type(error).__name__}: {error}") from error


def is_single(row):
    return row.get("run_type", "iteration") == "iteration"


class Pair:
    """A benchmark program in both bundles, and the rows that both have."""

    def __init__(self, name, bundles):
        self.name = name
        self.programs = {side: Program(bundles[side] / "bin" / name) for side in SIDES}
        self.names = {side: {} for side in SIDES}
        self.failure = None
        self.least_seconds = LEAST_SECONDS

    def list_rows(self, wanted, comparison):
        for side in SIDES:
            if not self.programs[side].path.exists():
                continue
            try:
                rows = self.programs[side].list_rows()
            except (ProgramFailed, subprocess.TimeoutExpired) as error:
                self.fail(side, error, comparison)
                return
            self.names[side] = {plain: name for plain, name in rows.items() if re.search(wanted, plain)}
        for side, other in (SIDES, SIDES[::-1]):
            comparison.add_one_sided(side, self.names[side].keys() - self.names[other].keys())
        # The first runs of a row may be slower. Where one program fixes the time of a row and the other does not, both
        # take that time.
        base, head = (self.names[side] for side in SIDES)
        unequal = (f"{base[row]} {head[row]}" for row in self.rows() if base[row] != head[row])
        fixed = (float(seconds) for names in unequal for seconds in re.findall(r"/min_time:([\d.]+)", names))
        self.least_seconds = max([LEAST_SECONDS, *fixed])

    def rows(self):
        return [name for name in self.names["base"] if name in self.names["head"]] if not self.failure else []

    def fail(self, side, error, comparison):
        self.failure = str(error)
        comparison.add_failure(f"{side}: {self.name}", self.failure)

    def measure(self, rows, order, clock, comparison):
        """One round of these rows. Returns False if there was no time for it: what it has measured is dropped."""
        times = {}
        for side in order:
            program = self.programs[side]
            if clock.left() <= program.longest * len(rows):
                return False
            try:
                times[side] = program.measure([self.names[side][row] for row in rows], self.least_seconds, clock.left())
            except subprocess.TimeoutExpired:
                return False
            except ProgramFailed as error:
                self.fail(side, error, comparison)
                return True
        comparison.add_round(times, rows)
        return True


class Clock:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()


# --- the comparison ---------------------------------------------------------------------------------------------------


def read_source(bundle):
    path = bundle / "data/source.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


class Comparison:
    """The content of the output file: the rounds of all calls, and the verdicts."""

    def __init__(self, bundles, machine, rounds):
        self.machine = machine
        self.sources = {side: read_source(bundles[side]) for side in SIDES}
        self.rounds = rounds
        self.times = {}  # row: side: ms of its rounds
        self.one_sided = {side: set() for side in SIDES}
        self.left_out = {}
        self.failures = []
        self.unfinished = []  # rows with fewer rounds than requested

    def append_to(self, path):
        """Adds the rounds of an earlier call, which must be of the same programs on the same kind of machine."""
        earlier = json.loads(path.read_text(encoding="utf-8"))
        for what, ours in (("machine", self.machine), ("sources", self.sources)):
            if earlier[what] != ours:
                raise SystemExit(f"error: {path} was measured with another '{what}': {earlier[what]}, here {ours}")
        self.times = {row["name"]: {side: row[side] for side in SIDES} for row in earlier["rows"]}
        for side in SIDES:
            self.one_sided[side] = set(earlier["only_in"][side])

    def add_one_sided(self, side, rows):
        self.one_sided[side].update(rows)

    def add_failure(self, what, reason):
        self.failures.append({"program": what, "reason": reason})
        report(f"{what} failed: {reason}")

    def add_round(self, times, rows):
        for row in rows:
            both = [times[side].get(row, "no result") for side in SIDES]
            reasons = [entry for entry in both if isinstance(entry, str)]
            if reasons:
                self.left_out[row] = reasons[0]
                continue
            for side, ms in zip(SIDES, both):
                self.times.setdefault(row, {side: [] for side in SIDES})[side].append(ms)

    def find_unfinished(self, pairs):
        names = (name for pair in pairs for name in pair.rows() if name not in self.left_out)
        self.unfinished = [name for name in names if self.row(name).rounds < self.rounds]

    def row(self, name):
        return Row(name, self.times.get(name, {side: [] for side in SIDES}))

    def describe(self):
        return {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": self.machine,
            "sources": self.sources,
            "rounds": self.rounds,
            "rows": [self.row(name).describe() for name in self.times],
            "only_in": {side: sorted(self.one_sided[side]) for side in SIDES},
            "left_out": self.left_out,
            "failures": self.failures,
            "unfinished": self.unfinished,
        }

    def status(self):
        verdicts = {self.row(name).verdict() for name in self.times}
        if "slower" in verdicts:
            return 1
        return 2 if self.failures or self.left_out or self.unfinished or not self.times else 0


def run_rounds(pairs, comparison, rounds, clock, save):
    """Rounds until every row has as many as it needs, or the time is over. Those of earlier calls count. Each round is
    saved."""
    number = 0
    while True:
        begin, number_of_rows = time.monotonic(), 0
        for pair in pairs:
            rows = [name for name in pair.rows() if name not in comparison.left_out and comparison.row(name).needs_more(rounds)]
            if not rows:
                continue
            if not pair.measure(rows, SIDES if number % 2 == 0 else SIDES[::-1], clock, comparison):
                report(f"no time left for {len(rows)} rows of {pair.name}")
                comparison.find_unfinished(pairs)
                return
            number_of_rows += len(rows)
        if not number_of_rows:
            return
        number += 1
        save()
        report(f"round {number}: {number_of_rows} rows in {time.monotonic() - begin:.1f} s")


def report(text):
    print(text, file=sys.stderr, flush=True)


# --- the table --------------------------------------------------------------------------------------------------------


def describe_source(source):
    return f"`{source.get('commit', 'unknown')[:12]}`" + (" with uncommitted changes" if source.get("uncommitted_changes") else "")


def write_table(comparison):
    rows = [comparison.row(name) for name in comparison.times]
    lines = [
        f"{describe_source(comparison.sources['base'])} (base) and {describe_source(comparison.sources['head'])} (head), "
        f"{comparison.machine['device'] or comparison.machine['processor']}",
        "",
    ]
    counts = {verdict: sum(row.verdict() == verdict for row in rows) for verdict in ("slower", "faster", "same", "not judged")}
    lines += [", ".join(f"{count} {verdict}" for verdict, count in counts.items()), ""]
    lines += ["| row | base, ms | head, ms | change | scatter | rounds | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    order = list(counts)
    for row in sorted(rows, key=lambda row: (order.index(row.verdict()), row.name)):
        figures = (
            f"{row.base:.4g} | {row.head:.4g} | {100 * row.change:+.1f} % | {100 * row.scatter:.1f} %" if row.is_judged else " | | | "
        )
        noisy = " (scatter too large)" if row.is_noisy() else ""
        lines.append(f"| {row.name} | {figures} | {row.rounds} | {row.verdict()}{noisy} |")
    for side in SIDES:
        if comparison.one_sided[side]:
            lines += ["", f"Only in {side}: " + ", ".join(sorted(comparison.one_sided[side]))]
    lines += ["", *(f"Left out: {name}: {reason}" for name, reason in comparison.left_out.items())]
    lines += [f"Failed: {failure['program']}: {failure['reason']}" for failure in comparison.failures]
    if comparison.unfinished:
        lines.append(f"No time was left for all rounds of {len(comparison.unfinished)} rows.")
    return "\n".join(lines).rstrip() + "\n"


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=pathlib.Path, metavar="BASE", help="the unpacked bundle to compare with")
    parser.add_argument("head", type=pathlib.Path, metavar="HEAD", help="the unpacked bundle that may have changed")
    parser.add_argument("--filter", default=ROWS, metavar="REGEX", help="only rows whose name has a match (default: all filters)")
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="of each row (default: %(default)s)")
    parser.add_argument("--time-limit", type=float, default=480, metavar="S", help="of all (default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="write the comparison as JSON; records.py takes the times of HEAD from it")
    parser.add_argument("--append", action="store_true", help="add to the rounds in --output, if there are any")
    arguments = parser.parse_args()
    if arguments.append and not arguments.output:
        parser.error("--append needs --output")

    clock = Clock(arguments.time_limit)
    bundles = {"base": arguments.base.resolve(), "head": arguments.head.resolve()}
    comparison = Comparison(bundles, peers.describe_machine(), arguments.rounds)
    if arguments.append and arguments.output.exists():
        comparison.append_to(arguments.output)
    names = sorted({path.name for bundle in bundles.values() for path in bundle.glob("bin/*benchmark") if os.access(path, os.X_OK)})
    if not names:
        raise SystemExit(f"error: there is no program bin/*benchmark in {arguments.base} and {arguments.head}")
    pairs = [Pair(name, bundles) for name in names]
    for pair in pairs:
        pair.list_rows(arguments.filter, comparison)

    def save():
        if arguments.output:
            peers.write_record(arguments.output, comparison.describe())

    run_rounds(pairs, comparison, arguments.rounds, clock, save)
    save()
    print(write_table(comparison), end="")
    return comparison.status()


if __name__ == "__main__":
    sys.exit(main())
