#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps records of measurements: benchmarks/records/GPU/TABLE.json, one for each table of the pages and each kind of
GPU.

usage: records.py RECORD REPORT [--commit COMMIT] [--device NAME] [--date DATE] [--note TEXT] [--beside]

Adds REPORT to RECORD: the JSON of Google Benchmark (--benchmark_out) or of a program in this folder, or the lines of
slab_times. A record says what it holds, and has the runs that its rows are of, the oldest first. Each run names its
date, its commit and its machine. Where several runs have a row, the newest one counts. Adding a run removes the rows of
earlier runs that it measured again, unless --beside says that the machines are to be compared. Then
benchmarks/report.py writes the pages.
"""

import argparse
import datetime
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402

# What a row has in these keys says which row it is. All other keys are figures.
IDENTITY = (
    "name library filter where dimension side sigma axis case goal image what partition storage blocks "
    "lines_per_block borders window window_to_sigma size between looks contrast method"
).split()


def identity(row):
    return tuple((key, row[key]) for key in IDENTITY if row.get(key) is not None)


def row_lists(run):
    """Returns the lists of rows of a run by their names."""
    return {key: value for key, value in run.items() if isinstance(value, list) and value and isinstance(value[0], dict)}


def rows_of_google_benchmark(rows):
    """Returns a row for each benchmark: the medians of its repetitions, and their number."""
    repetitions = {}
    for row in rows:
        if row.get("run_type", "iteration") == "iteration" and "error_occurred" not in row:
            compact = peers.compact({key: value for key, value in row.items() if key != "copies"})
            if "ms" in compact:
                repetitions.setdefault(compact["name"], []).append(compact)
    result = []
    for name, all_rows in repetitions.items():
        figures = {key: statistics.median(row[key] for row in all_rows) for key in all_rows[0] if key != "name"}
        figures = {key: float(f"{value:.4g}") for key, value in figures.items() if not math.isnan(value)}
        result.append({"name": name, **figures, **({"repetitions": len(all_rows)} if len(all_rows) > 1 else {})})
    return result


def read_report(report, commit="", device="", note="", date=""):
    """Returns the run that a program's report describes."""
    machine = report.get("machine") if isinstance(report.get("machine"), dict) else {}
    run = {"date": date, "commit": "", "machine": machine}
    if "sources" in report and "rounds" in report:  # compare.py: the state that was compared with another one
        run.update(date=report["date"], commit=report["sources"]["head"])
        run["rows"] = [{"name": row["name"], "ms": float(f"{statistics.median(row['head']):.4g}")} for row in report["rows"]]
    elif "benchmarks" in report:  # Google Benchmark, device_image_goals.py or gpu-check
        context = report.get("context", {})
        run["date"] = context.get("date") or report.get("date", date)
        cores = context.get("num_cpus") or machine.get("cores")
        run["machine"] = {"device": machine["gpus"][0]["name"]} if machine.get("gpus") else {}
        run["machine"].update({"cores": cores} if cores else {})
        run["rows"] = rows_of_google_benchmark(report["benchmarks"])
    else:
        run.update({key: value for key, value in report.items() if key not in ("machine", "source", "device", "times")})
        if "times" in report:  # two_way_paper_tables
            run["times"] = report["times"]["rows"]
            device = device or report["times"]["device"]
    run["commit"] = commit or run["commit"] or report.get("source", {}).get("commit", "")
    device = device or report.get("device", "")
    if device:
        run["machine"] = {"device": device, **run["machine"]}
    if note:
        run["note"] = note
    missing = [key for key in ("date", "commit") if not run[key]] + ([] if run["machine"].get("device") else ["device"])
    if missing:
        raise SystemExit(f"error: the report does not say its {' nor its '.join(missing)}: give --commit and --device")
    return {key: value for key, value in run.items() if value != [] or key in ("module", "peers")}


def add_run(record, run, beside=False):
    """Adds a run to a record. Removes a row of an earlier run if the new run has the row with all its figures."""
    if not beside:
        new = {identity(row): set(row) for rows in row_lists(run).values() for row in rows}
        for earlier in record["runs"]:
            for name, rows in row_lists(earlier).items():
                earlier[name] = [row for row in rows if not set(row) <= new.get(identity(row), set())]
        record["runs"] = [earlier for earlier in record["runs"] if row_lists(earlier)]
    record["runs"].append(run)


def parse_report(text):
    """Parses the JSON of a program, or the lines of JSON that slab_times prints."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"cases": [json.loads(line) for line in text.splitlines() if line.startswith("{")]}


def read_record(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write_record(path, record):
    """Writes a record with one row per line, so that diffs are readable."""
    runs = []
    for run in record["runs"]:
        parts = []
        for key, value in run.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                text = "[\n  " + ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value) + "\n ]"
            else:
                text = json.dumps(value, ensure_ascii=False)
            parts.append(f" {json.dumps(key)}: {text}")
        runs.append("{\n" + ",\n".join(parts) + "\n}")
    what = json.dumps(record["what"], ensure_ascii=False)
    path.write_text(f'{{"what": {what},\n"runs": [' + ",\n".join(runs) + "]}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--what", default="", help="what a new record holds")
    parser.add_argument("--commit", default="", help="the commit that was measured, if the report does not say it")
    parser.add_argument("--device", default="", help="the GPU, if the report does not say it")
    parser.add_argument("--note", default="", help="how the run differs from others")
    parser.add_argument("--beside", action="store_true", help="keep the rows of earlier runs, which are of other machines")
    parser.add_argument("--date", default="", help="the day, if the report does not say it (default: when its file was written)")
    arguments = parser.parse_args()
    record = read_record(arguments.record) if arguments.record.exists() else {"what": arguments.what, "runs": []}
    if not record["what"]:
        raise SystemExit(f"error: there is no {arguments.record} yet: say with --what what it is to hold")
    report = parse_report(arguments.report.read_text(encoding="utf-8"))
    written = datetime.datetime.fromtimestamp(arguments.report.stat().st_mtime, datetime.timezone.utc).date().isoformat()
    run = read_report(report, arguments.commit, arguments.device, arguments.note, arguments.date or written)
    add_run(record, run, arguments.beside)
    arguments.record.parent.mkdir(parents=True, exist_ok=True)
    write_record(arguments.record, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
