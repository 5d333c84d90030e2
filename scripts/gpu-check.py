#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this bundle, and on request its benchmarks, and writes a record of the machine and the results as
JSON.

Needs only Python 3.8. Each program has a time limit. A unit that crashes or hangs counts as failed, and the program is
started again for the units after it.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import time

BUNDLE = pathlib.Path(__file__).resolve().parent
RESTARTS = 8  # largest number of restarts of a program whose units crash


class Results:
    def __init__(self):
        self.rows = []  # program, passed, failed, skipped, seconds
        self.failures = []
        self.skips = []

    def add(self, program, outcomes, seconds):
        """outcomes: list of (test name, "passed" | "failed" | "skipped", message)"""
        counts = {kind: sum(outcome[1] == kind for outcome in outcomes) for kind in ("passed", "failed", "skipped")}
        self.rows.append((program, counts["passed"], counts["failed"], counts["skipped"], seconds))
        for name, kind, message in outcomes:
            if kind == "failed":
                self.failures.append({"test": name, "message": message[-2000:]})
            elif kind == "skipped":
                self.skips.append({"test": name, "message": message[-300:]})

    def total(self, column):
        return sum(row[column] for row in self.rows)


class Clock:
    """Keeps the remaining time of a program and of all programs."""

    def __init__(self, per_program, overall):
        self.per_program = per_program
        self.end = time.monotonic() + overall

    def limit(self):
        return max(1.0, min(self.per_program, self.end - time.monotonic()))

    def is_over(self):
        return time.monotonic() >= self.end


def run(command, limit, **options):
    """Returns (exit status or None if it ran out of time, output)."""
    try:
        process = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, check=False, **options
        )
        return process.returncode, process.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as error:
        return None, (error.stdout or b"").decode(errors="replace")


def list_units(program, limit):
    status, output = run([program, "--gtest_list_tests"], limit)
    if status != 0:
        raise RuntimeError(f"{program.name} --gtest_list_tests: exit status {status}\n{output}")
    suite, names = "", []
    for line in output.splitlines():
        line = line.split("#")[0].rstrip()
        if re.fullmatch(r"\S+\.", line):
            suite = line
        elif line.startswith("  "):
            names.append(suite + line.strip())
    return names


def read_units(report, output):
    """Returns the outcomes in a GoogleTest report. The reasons of skipped units are taken from the output, which alone
    has them."""
    outcomes = []
    reasons = dict(re.findall(r"^\[ RUN +\] (\S+)\n(.*?)^\[ +SKIPPED +\]", output, re.MULTILINE | re.DOTALL))
    for suite in report.get("testsuites", []):
        for unit in suite.get("testsuite", []):
            name = f"{unit['classname']}.{unit['name']}"
            if unit.get("failures"):
                outcomes.append((name, "failed", "\n".join(failure["failure"] for failure in unit["failures"])))
            elif unit.get("result") == "SKIPPED":
                outcomes.append((name, "skipped", reasons.get(name, "").strip()))
            elif unit.get("status") == "RUN":
                outcomes.append((name, "passed", ""))
    return outcomes


def read_output(output, reason):
    """Returns the outcomes of a program that ended before it wrote its report. The unit that was running counts as
    failed."""
    kinds = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    finished = re.findall(r"^\[ RUN +\] (\S+)\n(.*?)^\[ +(OK|FAILED|SKIPPED) +\] \1", output, re.MULTILINE | re.DOTALL)
    outcomes = [(name, kinds[kind], text.strip()) for name, text, kind in finished]
    started = re.findall(r"^\[ RUN +\] (\S+)", output, re.MULTILINE)
    if started and started[-1] not in [outcome[0] for outcome in outcomes]:
        outcomes.append((started[-1], "failed", reason + "\n" + output[-1500:]))
    return outcomes


def run_units(program, wanted, clock, work):
    outcomes, left = [], list(wanted)
    for _ in range(RESTARTS):
        if not left or clock.is_over():
            break
        report = work / f"{program.name}.json"
        if report.exists():
            report.unlink()
        # Pass a flag file, because the names of thousands of units do not fit on a command line.
        flags = work / f"{program.name}.txt"
        flags.write_text("--gtest_filter=" + ":".join(left) + "\n")
        limit = clock.limit()
        status, output = run([program, f"--gtest_flagfile={flags}", f"--gtest_output=json:{report}"], limit, cwd=work)
        if report.exists():
            new = read_units(json.loads(report.read_text()), output)
        else:
            reason = f"not done after {limit:.0f} s" if status is None else f"crashed, exit status {status}"
            new = read_output(output, reason)
        new = [outcome for outcome in new if outcome[0] in left]
        outcomes += new
        seen = {outcome[0] for outcome in new}
        rest = [name for name in left if name not in seen]
        if len(rest) == len(left):
            outcomes += [(name, "failed", f"the program did not start it: exit status {status}\n{output[-500:]}") for name in left]
            left = []
        else:
            left = rest
    return outcomes + [(name, "failed", "not run: no time left, or too many crashes before it") for name in left]


def run_command(test, clock, work):
    if clock.is_over():
        return test["name"], "failed", "not run: no time left"
    places = {"{bundle}": str(BUNDLE), "{work}": str(work)}
    command = test["command"]
    for place, path in places.items():
        command = [argument.replace(place, path) for argument in command]
    environment = dict(os.environ, PATH=f"{BUNDLE}/bin:{os.environ.get('PATH', '')}")
    environment.update((name, value.replace("{bundle}", str(BUNDLE))) for name, value in test["environment"].items())
    limit = clock.limit()
    try:
        status, output = run(command, limit, cwd=work, env=environment)
    except OSError as error:
        return test["name"], "failed", str(error)
    if test["skip_code"] is not None and status == test["skip_code"]:
        return test["name"], "skipped", output
    if status is None:
        return test["name"], "failed", f"not done after {limit:.0f} s\n{output}"
    if status != test.get("code", 0):
        return test["name"], "failed", f"exit status {status}, expected {test.get('code', 0)}\n{output}"
    if "regex" in test and not re.search(test["regex"], output, re.DOTALL):
        return test["name"], "failed", f"the output does not match '{test['regex']}'\n{output}"
    return test["name"], "passed", ""


def run_tests(arguments, clock, work):
    results = Results()

    def is_wanted(name):
        return re.search(arguments.filter, name) and not (arguments.quick and "Slow" in name)

    def run_program(program):
        start = time.monotonic()
        try:
            wanted = [name for name in list_units(program, 60) if is_wanted(name)]
            outcomes = run_units(program, wanted, clock, work)
        except (RuntimeError, OSError) as error:
            outcomes = [(program.name, "failed", str(error))]
        return program.name, outcomes, time.monotonic() - start

    def run_commands():
        start = time.monotonic()
        tests = [test for test in json.loads((BUNDLE / "data/tests.json").read_text()) if is_wanted(test["name"])]
        return "programs", [run_command(test, clock, work) for test in tests], time.monotonic() - start

    # Run the programs concurrently, because the units spend most of their time computing references on the processor.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = [pool.submit(run_program, program) for program in sorted(BUNDLE.glob("bin/*GTestDriver"))]
        jobs.append(pool.submit(run_commands))
        for job in concurrent.futures.as_completed(jobs):
            results.add(*job.result())
            report_row(results.rows[-1])
    return results


def run_benchmarks(arguments, clock, work):
    """Runs all benchmark programs and returns their rows as Google Benchmark reports them."""
    rows = []
    for program in sorted(BUNDLE.glob("bin/*benchmark")):
        report = work / f"{program.name}.json"
        command = [program, f"--benchmark_out={report}", "--benchmark_out_format=json"]
        if arguments.benchmark_filter:
            command.append(f"--benchmark_filter={arguments.benchmark_filter}")
        if arguments.quick:
            command.append("--benchmark_min_time=0.05")
        if clock.is_over():
            rows.append({"program": program.name, "error": "not run: no time left"})
            continue
        status, output = run(command, clock.limit(), cwd=work)
        print(output, flush=True)
        try:
            for row in json.loads(report.read_text())["benchmarks"]:
                kept = {key: value for key, value in row.items() if key not in ("family_index", "per_family_instance_index")}
                rows.append({"program": program.name, **kept})
        except (OSError, ValueError, KeyError):
            rows.append({"program": program.name, "error": f"exit status {status}", "output": output[-2000:]})
    return rows


def describe_gpus():
    keys = ("name", "driver_version", "compute_cap", "memory.total", "clocks.max.sm", "mig.mode.current")
    try:
        status, output = run(["nvidia-smi", f"--query-gpu={','.join(keys)}", "--format=csv,noheader"], 30)
    except OSError:
        return []
    if status != 0:
        return []
    return [dict(zip(keys, (field.strip() for field in line.split(",")))) for line in output.splitlines() if line.strip()]


def describe_machine():
    with tempfile.TemporaryDirectory() as folder:
        volume = BUNDLE / "data/test/Volume.mha"
        _, smoothed = run([BUNDLE / "bin/smooth_image", volume, pathlib.Path(folder) / "out.mha", "1"], 60)
    cpu = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "kernel": platform.release(),
        "processor": cpu.group(1) if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "gpus": describe_gpus(),
        "smooth_image": smoothed.strip(),
    }


def pack_counters(folder, archive):
    """Packs the counters of a coverage build (gcov), under their absolute paths on the machine that built it."""
    counters = sorted(folder.rglob("*.gcda"))
    if not counters:
        raise SystemExit("error: --coverage needs the bundle that bundle.sh --coverage makes: no counters were written")
    with tarfile.open(archive, "w:xz") as packed:
        for counter in counters:
            packed.add(counter, counter.relative_to(folder))


def report_row(row):
    print(f"{row[0]:32} {row[1]:6d} {row[2]:6d} {row[3]:7d} {row[4]:8.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="gpu-record.json", metavar="FILE", help="the results; benchmarks/records.py takes the times from them (default: %(default)s)")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only tests whose name contains a match")
    parser.add_argument("--benchmarks", action="store_true", help="run the benchmarks, after the tests")
    parser.add_argument("--benchmark-filter", default="", metavar="REGEX", help="only benchmarks whose name matches")
    parser.add_argument("--no-tests", action="store_true", help="no tests, for benchmarks alone")
    parser.add_argument("--quick", action="store_true", help="leave out slow tests, shorten benchmarks")
    parser.add_argument("--coverage", metavar="FILE", help="pack which lines ran; for scripts/gpu-coverage.sh")
    parser.add_argument("--time-limit", type=float, default=240, metavar="S", help="of each program (default: %(default)s)")
    parser.add_argument("--total-time", type=float, default=540, metavar="S", help="of the whole run (default: %(default)s)")
    arguments = parser.parse_args()

    clock = Clock(arguments.time_limit, arguments.total_time)
    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "source": json.loads((BUNDLE / "data/source.json").read_text()),
        # Remove the path of the program, because records are published.
        "arguments": {name: value for name, value in vars(arguments).items() if name not in ("output", "coverage")},
    }
    print(record["machine"]["smooth_image"])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        counters = work / "counters"
        os.environ["ITK_CUDAFILTERS_TEST_PICTURES"] = str(BUNDLE / "data/data")
        if arguments.coverage:
            os.environ["GCOV_PREFIX"] = str(counters)
        results = Results()
        if not arguments.no_tests:
            print(f"\n{'program':32} passed failed skipped  seconds")
            results = run_tests(arguments, clock, work)
        record["tests"] = {
            "passed": results.total(1),
            "failed": results.total(2),
            "skipped": results.total(3),
            "failures": results.failures,
            "skips": results.skips,
            "seconds": {row[0]: round(row[4], 1) for row in results.rows},
        }
        record["benchmarks"] = run_benchmarks(arguments, clock, work) if arguments.benchmarks else []
        if arguments.coverage:
            pack_counters(counters, arguments.coverage)
    pathlib.Path(arguments.output).write_text(json.dumps(record, indent=1) + "\n")

    for failure in results.failures:
        print(f"\nFAILED {failure['test']}\n{failure['message']}")
    tests = record["tests"]
    print(f"\nrecord: {arguments.output}")
    print(f"{tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped")
    errors = any("error" in row or row.get("error_occurred") for row in record["benchmarks"])
    return 1 if tests["failed"] or errors else 0


if __name__ == "__main__":
    sys.exit(main())
