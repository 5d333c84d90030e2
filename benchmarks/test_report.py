#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of records.py and report.py: what a record takes over from a report, which of its rows count, what is computed from them, and
where it is written."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import records  # noqa: E402
import report  # noqa: E402

MACHINE = {"device": "NVIDIA H200", "driver": "580", "cores": 16, "processor": "a processor"}
RESIDENT = "resident/x:512/y:512/z:512/sigma_percent:400"
WHOLE = "host_to_host/smoothing/3d/side:512/sigma_percent:400"
# 512^3 float pixels: 0.537 GB. Kernels in 1 ms, and 20 ms from ordinary memory.
ROWS = [{"name": RESIDENT, "ms": 1.0, "copy_fraction": 0.5}, {"name": WHOLE, "ms": 20.0}]


def run_of(date, **rows):
    return {"date": date, "commit": "c" * 40, "machine": MACHINE, **rows}


def google_benchmark(*times):
    rows = [{"name": "a/b/real_time", "run_type": "iteration", "real_time": time, "time_unit": "us", "iterations": 3} for time in times]
    rows.append({"name": "a/b/real_time_mean", "run_type": "aggregate", "real_time": 1e9, "time_unit": "us"})
    return {"context": {"date": "2026-01-02T03:04:05+00:00", "num_cpus": 16, "host_name": "secret"}, "benchmarks": rows}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("h200/peers.json", run_of("2026-01-01", module=ROWS, peers=[], versions={}))

    def write(self, name, *runs):
        (self.folder / name).parent.mkdir(exist_ok=True)
        records.write_record(self.folder / name, {"what": "rows", "runs": list(runs)})

    def read(self):
        return report.Records(self.folder)


class RecordsTest(Folder):
    def test_row_of_google_benchmark_is_the_median_of_its_repetitions(self):
        run = records.read_report(google_benchmark(3000, 1000, 2000), commit="c0ffee", device="NVIDIA H200")
        self.assertEqual(run["rows"], [{"name": "a/b", "ms": 2.0, "repetitions": 3}])
        self.assertEqual((run["date"], run["commit"]), ("2026-01-02T03:04:05+00:00", "c0ffee"))
        self.assertEqual(run["machine"], {"device": "NVIDIA H200", "cores": 16})

    def test_times_of_gpu_check_name_its_commit_and_its_gpu(self):
        rows = google_benchmark(1000)["benchmarks"]
        machine = {"cores": 16, "gpus": [{"name": "NVIDIA H100"}], "kernel": "6.18"}
        results = {"date": "2026-01-02", "machine": machine, "source": {"commit": "c0ffee"}, "tests": {"passed": 3}, "benchmarks": rows}
        run = records.read_report(results)
        self.assertEqual((run["commit"], run["machine"]), ("c0ffee", {"device": "NVIDIA H100", "cores": 16}))
        self.assertEqual((run["rows"], "tests" in run), ([{"name": "a/b", "ms": 1.0}], False))

    def test_report_that_does_not_say_its_commit_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "does not say its commit nor its device: give --commit and --device"):
            records.read_report(google_benchmark(1000))

    def test_rows_of_a_comparison_are_the_medians_of_its_head(self):
        rows = [{"name": "a", "verdict": "same", "base": [9.0], "head": [3.0, 1.0, 2.0]}]
        comparison = {"date": "2026-01-02", "machine": MACHINE, "sources": {"base": "b", "head": "c0ffee"}, "rounds": 3, "rows": rows}
        run = records.read_report(comparison)
        self.assertEqual((run["commit"], run["rows"]), ("c0ffee", [{"name": "a", "ms": 2.0}]))

    def test_lines_of_slab_times_are_cases(self):
        report = records.parse_report('{"case": "float:1", "slabs_ms": 2}\n{"case": "float:2", "slabs_ms": 3}\n')
        run = records.read_report(report, commit="c0ffee", device="NVIDIA H200", date="2026-01-02")
        self.assertEqual([row["case"] for row in run["cases"]], ["float:1", "float:2"])

    def test_new_run_replaces_the_rows_that_it_measured(self):
        record = {"what": "rows", "runs": [run_of("1", rows=[{"name": "a", "ms": 1}, {"name": "b", "ms": 2}])]}
        records.add_run(record, run_of("2", rows=[{"name": "a", "ms": 3}]))
        self.assertEqual([run["rows"] for run in record["runs"]], [[{"name": "b", "ms": 2}], [{"name": "a", "ms": 3}]])
        records.add_run(record, run_of("3", rows=[{"name": "b", "ms": 4}]))
        self.assertEqual([run["date"] for run in record["runs"]], ["2", "3"])  # the first run has no rows left

    def test_row_keeps_a_figure_that_the_new_run_lacks(self):
        record = {"what": "rows", "runs": [run_of("1", rows=[{"name": "a", "ms": 1, "copy_fraction": 0.5}])]}
        records.add_run(record, run_of("2", rows=[{"name": "a", "ms": 3}]))
        self.assertEqual(len(record["runs"]), 2)

    def test_runs_of_other_machines_stand_beside_each_other(self):
        record = {"what": "rows", "runs": [run_of("1", rows=[{"name": "a", "ms": 1}])]}
        records.add_run(record, run_of("1", rows=[{"name": "a", "ms": 3}]), beside=True)
        self.assertEqual(len(record["runs"]), 2)

    def test_program_adds_a_report(self):
        path = self.folder / "report.json"
        path.write_text(json.dumps(google_benchmark(1000)))
        command = [sys.executable, "-B", str(HERE / "records.py"), str(self.folder / "h100/new.json"), str(path)]
        options = ["--what", "a row", "--commit", "c0ffee", "--device", "NVIDIA H100"]
        self.assertIn(b"say with --what", subprocess.run(command, stderr=subprocess.PIPE, check=False).stderr)
        subprocess.run([*command, *options], check=True)
        record = records.read_record(self.folder / "h100/new.json")
        self.assertEqual((record["what"], record["runs"][0]["rows"]), ("a row", [{"name": "a/b", "ms": 1.0}]))
        self.assertNotIn("secret", (self.folder / "h100/new.json").read_text())


class ReportTest(Folder):
    def test_newest_figures_of_a_row_count(self):
        new = run_of("2026-01-02", module=[{"name": RESIDENT, "ms": 0.9}], peers=[])
        self.write("h200/peers.json", run_of("2026-01-01", module=ROWS, peers=[], versions={}), new)
        r = self.read()
        self.assertEqual((r.resident("512^3", 4.0), r.resident("512^3", 4.0, "copy_fraction"), r.get(WHOLE)), (0.9, 0.5, 20.0))

    def test_times_of_slabs_count_for_images_of_ordinary_memory(self):
        self.write("h200/slabs.json", run_of("2026-01-02", rows=[{"name": WHOLE, "ms": 18.0, "medians_ms": [18.0]}]))
        self.assertEqual(self.read().get(WHOLE), 18.0)

    def test_fractions_of_the_bandwidths(self):
        of_memory, of_link = report.measured_fractions(self.read())
        gigabytes = 4 * 512**3 / 1e9
        self.assertAlmostEqual(of_memory, 6 * gigabytes / 1e-3 / 4800)
        self.assertAlmostEqual(of_link, 2 * gigabytes / 20e-3 / 64)

    def test_expected_times(self):
        text = report.table_of_expected(self.read())
        self.assertIn("| H200 | 4800 | 64 | 1 ms | 20 ms | measured |", text)
        # Half of the link, and 4800/864 of the kernels' time, which is hidden behind the transfers.
        self.assertIn("| L40S | 864 | 32 | 5.6 ms | 40 ms | computed |", text)

    def test_first_call(self):
        times = {"first": 500.0, "again": 3.5, "new_sigma": 250.0, "new_sigma_again": 3.6}
        self.write("h200/first_call.json", run_of("2026-01-01", side=256, sigmas=[4.0, 6.0], rows=[{"library": "CuPy", **times}]))
        self.assertIn("| CuPy | 500 | 3.5 | 250 | 3.6 |", report.table_of_first_calls(self.read()))

    def test_what_stands_between_the_comments_is_written_anew(self):
        page = "Before.\n\n<!-- expected -->\nold\n<!-- end expected -->\n\nAfter.\n"
        text = report.fill(page, self.read(), pathlib.Path("docs/user"))
        self.assertTrue(text.startswith("Before.\n\n<!-- expected -->\n\n") and text.endswith("\n\n<!-- end expected -->\n\nAfter.\n"))
        self.assertIn("](../../benchmarks/records/h200/slabs.json)", text)
        self.assertNotIn("old", text)
        self.assertEqual(report.fill(text, self.read(), pathlib.Path("docs/user")), text)
        self.assertIn("](benchmarks/records/h200/slabs.json)", report.fill(page, self.read(), pathlib.Path(".")))

    def test_names_of_no_table_and_single_comments_are_errors(self):
        with self.assertRaisesRegex(SystemExit, "no table 'nothing'; known are: speed, "):
            report.fill("<!-- nothing -->\n<!-- end nothing -->\n", self.read(), pathlib.Path("."))
        with self.assertRaisesRegex(SystemExit, "'<!-- end speed -->' has no '<!-- speed -->'"):
            report.fill("<!-- end speed -->\n", self.read(), pathlib.Path("."))


if __name__ == "__main__":
    unittest.main()
