#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of device_image_goals.py, with programs that print given times in the formats of Google Benchmark and
GoogleTest."""
import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import device_image_goals as goals  # noqa: E402

# In its folder, times.json holds {row: {"ms": [of each repetition], counter: [...]}}, or {row: "what is wrong"}.
FAKE_PROGRAM = """\
#!{python}
import json, pathlib, re, sys
folder = pathlib.Path(__file__).resolve().parent
options = dict(argument.lstrip("-").split("=", 1) for argument in sys.argv[1:])
rows = []
for name, times in json.loads((folder / "times.json").read_text()).items():
    name += "/real_time"
    if not re.search(options["benchmark_filter"], name):
        continue
    if isinstance(times, str):
        rows.append(dict(name=name, run_type="iteration", error_occurred=True, error_message=times))
        continue
    for i in range(int(options["benchmark_repetitions"])):
        counters = {{key: values[i] for key, values in times.items() if key != "ms"}}
        rows.append(dict(name=name, run_type="iteration", real_time=1e3 * times["ms"][i], time_unit="us", **counters))
    rows.append(dict(name=name + "_mean", run_type="aggregate", real_time=1e9, time_unit="us"))
report = dict(context=dict(executable=sys.argv[0], host_name="somewhere", num_cpus=16), benchmarks=rows)
pathlib.Path(options["benchmark_out"]).write_text(json.dumps(report))
"""
FAKE_UNITS = """\
#!{python}
import sys
name = sys.argv[1].split("=", 1)[1]
outcome = "{outcome}"
print("[ RUN      ] " + name)
print({{"OK": "[       OK ] ", "FAILED": "[  FAILED  ] ", "SKIPPED": "[  SKIPPED ] "}}[outcome] + name + " (1 ms)")
sys.exit(outcome == "FAILED")
"""


def same(ms):
    return {"ms": [ms] * 5}


def all_met():
    return {
        goals.ONE_FILTER: same(22.0),
        goals.RESIDENT: same(1.0),
        goals.CHAIN: {"ms": [25.0, 26.0, 90.0, 26.5, 24.0]},  # the median is 26
        goals.CHAIN_TODAY: same(113.0),
        goals.EDGES: same(17.5),
        goals.EDGES_TODAY: same(46.0),
        goals.UPDATES: {"ms": [30.0] * 5, "overhead_us": [9.0, 8.0, 50.0, 9.5, 40.0]},
        goals.SNAKE_RECTANGLE: same(2.5),
        goals.SNAKE_AUTOMATIC: same(2.8),
        goals.SNAKE_TODAY: same(7.0),
        "device_images/smoothings/3d/side:5120/filters:5": same(1.0),  # the name of another row goes on
        "resident/x:512/y:512/z:512/sigma_percent:4000": same(50.0),
    }


class GoalsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("gaussian_benchmark", FAKE_PROGRAM.format(python=sys.executable))
        self.write_units("OK")

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        file.chmod(0o755)

    def write_units(self, outcome):
        self.write("CudaFiltersCudaGTestDriver", FAKE_UNITS.format(python=sys.executable, outcome=outcome))

    def call(self, times):
        """Returns (exit status, table, record)."""
        (self.folder / "times.json").write_text(json.dumps(times))
        output = self.folder / "goals.json"
        command = ["device_image_goals.py", "--program", str(self.folder / "gaussian_benchmark"), "--output", str(output)]
        text = io.StringIO()
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(text):
            status = goals.main()
        return status, text.getvalue(), json.loads(output.read_text())

    def test_all_goals_are_met(self):
        status, text, record = self.call(all_met())
        self.assertEqual(status, 0, text)
        # 22 + 4 x 1.1 x 1, and the median of the repetitions.
        self.assertIn("| 26.40 ms | - | 26.00 ms | 113.00 ms | met |", text)
        self.assertIn("| 18.00 ms | 17.00 ms | 17.50 ms | 46.00 ms | met |", text)
        self.assertIn("| 20.00 us | 10.00 us | 9.50 us | - | met, stretch too |", text)
        self.assertIn("| 2.70 ms | - | 2.50 ms | 7.00 ms | met |", text)
        self.assertIn("| 2.90 ms | - | 2.80 ms | 7.00 ms | met |", text)
        self.assertEqual([goal["verdict"] for goal in record["goals"]].count("met"), 5)
        self.assertEqual(set(record["context"]), {"num_cpus"})

    def test_each_goal_can_be_missed(self):
        for row, times in (
            (goals.CHAIN, same(26.41)),
            (goals.RESIDENT, same(0.9)),  # the chain may take 25.96 then
            (goals.EDGES, same(18.01)),
            (goals.UPDATES, {"ms": [30.0] * 5, "overhead_us": [20.01] * 5}),
            (goals.SNAKE_RECTANGLE, same(2.71)),
            (goals.SNAKE_AUTOMATIC, same(2.91)),
        ):
            status, text, _ = self.call({**all_met(), row: times})
            self.assertEqual(status, 1, text)
            self.assertEqual(text.count("| missed |"), 1, text)

    def test_row_that_is_missing_or_has_an_error(self):
        for row in goals.ROWS:
            times = all_met()
            del times[row]
            status, text, _ = self.call(times)
            self.assertEqual(status, 2, text)
            self.assertIn(f"{row}: the program has no such row", text)
            status, text, _ = self.call({**all_met(), row: "no usable GPU"})
            self.assertEqual(status, 2, text)
            self.assertIn(f"{row}: no usable GPU", text)

    def test_question_for_free_memory(self):
        self.write_units("FAILED")
        self.assertEqual(self.call(all_met())[0], 1)
        self.write_units("SKIPPED")
        self.assertEqual(self.call(all_met())[0], 2)
        (self.folder / "CudaFiltersCudaGTestDriver").unlink()
        self.assertEqual(self.call(all_met())[0], 2)

    def test_program_that_is_missing(self):
        (self.folder / "gaussian_benchmark").unlink()
        with self.assertRaisesRegex(SystemExit, "gaussian_benchmark"):
            self.call(all_met())

    def test_rows_and_the_unit_are_in_the_sources(self):
        """The beginnings of the rows' names occur in the benchmarks, and the unit in a test."""
        folder = pathlib.Path(__file__).resolve().parent
        sources = "".join(file.read_text() for file in folder.glob("*.cxx"))
        for row in (goals.CHAIN, goals.CHAIN_TODAY, goals.EDGES, goals.EDGES_TODAY, goals.UPDATES):
            self.assertIn('"' + row.split("/side:")[0] + '"', sources)
        for row in (goals.SNAKE_RECTANGLE, goals.SNAKE_AUTOMATIC, goals.SNAKE_TODAY):
            self.assertIn('"' + row.split("/side:")[0] + '"', sources)
        suite, unit = goals.NO_QUESTION.split(".")
        tests = "".join(file.read_text() for file in (folder.parent / "test").rglob("*.cxx"))
        self.assertTrue(re.search(rf"TEST_F\({suite}, {unit}\)", tests))


if __name__ == "__main__":
    unittest.main()
