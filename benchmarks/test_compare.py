#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of compare.py, with programs that print given times in the format of Google Benchmark."""
import contextlib
import io
import json
import os
import pathlib
import random
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare  # noqa: E402

SEED = 7
# In the folder of a bundle, times.json holds {row: [ms of each round, ...]}; the last one is repeated. A time of null
# ends the program, a text is an error of the row. Every start adds a line to calls.txt.
FAKE_PROGRAM = """\
    #!{python}
    import json, pathlib, re, sys, time
    bundle = pathlib.Path(__file__).resolve().parent.parent
    options = dict(argument.lstrip("-").split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    times = json.loads((bundle / "times.json").read_text())
    if "--benchmark_list_tests" in sys.argv:
        print("\\n".join(times))
        sys.exit(0)
    calls = bundle / "calls.txt"
    number = len(calls.read_text().splitlines()) if calls.exists() else 0
    names = [name for name in times if re.search(options["benchmark_filter"], name)]
    with calls.open("a") as file:
        file.write(" ".join([options["benchmark_min_time"], *names]) + "\\n")
    time.sleep({seconds})
    rows = []
    for name in names:
        ms = times[name][min(number, len(times[name]) - 1)]
        if ms is None:
            print("out of luck")
            sys.exit(3)
        row = dict(name=name, run_type="iteration", time_unit="us", real_time=0.0 if isinstance(ms, str) else 1e3 * ms)
        if isinstance(ms, str):
            row.update(error_occurred=True, error_message=ms)
        rows.append(row)
    pathlib.Path(options["benchmark_out"]).write_text(json.dumps(dict(benchmarks=rows)))
    """
NAME = "host_to_host/smoothing/2d/side:1024/sigma_percent:400"
OTHER = "resident/hessian/side:256/sigma_percent:400"


class CompareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "comparison.json"

    def make_bundle(self, side, times, seconds=0, suffix="/min_time:0.100/real_time"):
        bundle = self.folder / side
        (bundle / "bin").mkdir(parents=True, exist_ok=True)
        (bundle / "data").mkdir(exist_ok=True)
        (bundle / "data/source.json").write_text(json.dumps({"commit": side * 10}))
        (bundle / "times.json").write_text(json.dumps({name + suffix: ms for name, ms in times.items()}))
        program = bundle / "bin/fake_benchmark"
        program.write_text(textwrap.dedent(FAKE_PROGRAM).format(python=sys.executable, seconds=seconds))
        program.chmod(0o755)

    def compare(self, *options):
        """Returns (exit status, the record, the table)."""
        command = ["compare.py", str(self.folder / "base"), str(self.folder / "head"), "--output", str(self.output), *options]
        table = io.StringIO()
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(table), contextlib.redirect_stderr(io.StringIO()):
            status = compare.main()
        return status, json.loads(self.output.read_text()), table.getvalue()

    def calls(self, side):
        path = self.folder / side / "calls.txt"
        return path.read_text().splitlines() if path.exists() else []

    def row(self, record, name=NAME):
        row = next(row for row in record["rows"] if row["name"] == name)
        self.assertEqual(len(row["base"]), len(row["head"]))
        return {**row, "rounds": len(row["base"])}

    def test_no_change(self):
        times = {NAME: [1.00, 1.01, 0.99, 1.00, 1.01], OTHER: [2.0]}
        self.make_bundle("base", times)
        self.make_bundle("head", times)
        status, record, table = self.compare()
        self.assertEqual(status, 0)
        self.assertEqual([row["verdict"] for row in record["rows"]], ["same", "same"])
        self.assertEqual([len(row["base"]) for row in record["rows"]], [5, 5])
        self.assertIn("0 slower, 0 faster, 2 same, 0 not judged", table)
        self.assertEqual(len(self.calls("base")), 5)  # one start a round for all rows

    def test_slow_down_is_found(self):
        self.make_bundle("base", {NAME: [1.00, 1.01, 0.99], OTHER: [2.0]})
        self.make_bundle("head", {NAME: [1.05, 1.06, 1.04], OTHER: [1.9]})
        status, record, table = self.compare()
        self.assertEqual(status, 1)
        row = self.row(record)
        self.assertEqual(row["verdict"], "slower")
        self.assertAlmostEqual(row["change"], 0.05, delta=0.011)
        self.assertEqual(row["rounds"], 15)  # said after more rounds only
        self.assertEqual(self.row(record, OTHER)["verdict"], "faster")
        self.assertRegex(table, rf"\| {NAME} \|.*\| slower \|")
        # The further rounds are of that row alone, in both bundles.
        for side in ("base", "head"):
            self.assertEqual(len(self.calls(side)), 15)
            self.assertNotIn(OTHER, "".join(self.calls(side)[5:]))

    def test_change_within_two_per_cent_is_none(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.015]})
        self.assertEqual(self.compare()[0], 0)

    def test_change_within_the_scatter_is_none(self):
        self.make_bundle("base", {NAME: [1.0, 1.3, 0.8, 1.2, 0.9] * 3})
        self.make_bundle("head", {NAME: [1.1, 1.4, 0.9, 1.2, 1.0] * 3})
        status, record, table = self.compare()
        row = self.row(record)
        self.assertEqual((status, row["verdict"]), (0, "same"))
        self.assertGreater(row["scatter"], 0.1)
        self.assertEqual(row["rounds"], 15)
        self.assertIn("scatter too large", table)

    def test_short_rows_get_no_more_rounds_for_their_scatter(self):
        self.make_bundle("base", {NAME: [0.010, 0.013, 0.008, 0.012, 0.009]})
        self.make_bundle("head", {NAME: [0.010, 0.013, 0.008, 0.012, 0.009]})
        status, record, _ = self.compare()
        self.assertEqual((status, self.row(record)["rounds"]), (0, 5))

    def test_equal_programs_are_rarely_called_different(self):
        print(f"seed {SEED}")
        random.seed(SEED)
        verdicts = []
        for _ in range(400):
            times = {side: [random.gauss(1.0, 0.05) for _ in range(5)] for side in compare.SIDES}
            verdicts.append(compare.Row("row", times).verdict())
        # 1 in 20 by the level of the scatter, were five rounds enough to know it; and the largest of two is taken.
        self.assertLess(verdicts.count("slower") + verdicts.count("faster"), 40)

    def test_scatter(self):
        self.assertEqual(compare.scatter_of([2.0, 2.0, 2.0]), 0.0)
        for count in (1, 2, 5, 6, 15):
            self.assertAlmostEqual(sum(compare.probabilities_of_medians(count)), 1.0)
        # The median of three draws from three values: the middle one in 13 of 27 cases.
        self.assertAlmostEqual(compare.probabilities_of_medians(3)[1], 13 / 27)
        values = [1.00, 1.01, 1.02, 0.98, 0.99]
        self.assertLess(compare.scatter_of(values * 3), compare.scatter_of(values))

    def test_missing_rows_are_listed(self):
        self.make_bundle("base", {NAME: [1.0], OTHER: [1.0]})
        new = "resident/magnitude/2d/side:256/sigma_percent:400"
        self.make_bundle("head", {NAME: [1.0], new: [1.0]})
        status, record, table = self.compare()
        self.assertEqual(status, 0)
        self.assertEqual(record["only_in"], {"base": [OTHER], "head": [new]})
        self.assertIn(f"Only in head: {new}", table)
        self.assertEqual(set(self.calls("head")), {"0.02 " + NAME + "/min_time:0.100/real_time"})

    def test_missing_program(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0]})
        os.rename(self.folder / "base/bin/fake_benchmark", self.folder / "base/bin/old_benchmark")
        status, record, _ = self.compare()
        self.assertEqual(status, 2)  # no row in common
        self.assertEqual(record["only_in"], {"base": [NAME], "head": [NAME]})

    def test_crashing_program(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0, 1.0, 1.0, None]})
        status, record, table = self.compare()
        self.assertEqual(status, 2)
        self.assertEqual(self.row(record)["rounds"], 3)
        self.assertIn("exit status 3", record["failures"][0]["reason"])
        self.assertIn("out of luck", record["failures"][0]["reason"])
        self.assertIn("Failed: head: fake_benchmark", table)

    def test_row_with_an_error_is_left_out(self):
        self.make_bundle("base", {NAME: [1.0], OTHER: [1.0]})
        self.make_bundle("head", {NAME: [1.0], OTHER: ["no device"]})
        status, record, _ = self.compare()
        self.assertEqual(status, 2)
        self.assertEqual(record["left_out"], {OTHER: "no device"})
        self.assertEqual(self.row(record)["verdict"], "same")

    def test_time_limit_and_append(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0]})

        class Clock:
            questions = 10  # two for each start of a program, so that the third round has no time for the second program

            def __init__(self, seconds):
                pass

            def left(self):
                self.questions -= 1
                return 60.0 if self.questions >= 0 else 0.0

        with mock.patch.object(compare, "Clock", Clock):
            status, record, table = self.compare()
        self.assertEqual((status, self.row(record)["rounds"]), (2, 2))
        self.assertEqual(self.row(record)["verdict"], "not judged")
        self.assertEqual(record["unfinished"], [NAME])
        self.assertIn("No time was left", table)
        status, record, _ = self.compare("--append")
        self.assertEqual((status, self.row(record)["rounds"]), (0, 5))
        self.assertEqual(record["unfinished"], [])

    def test_program_that_hangs_is_ended_by_the_time_limit(self):
        self.make_bundle("base", {NAME: [1.0]}, seconds=600)
        self.make_bundle("head", {NAME: [1.0]})
        status, record, _ = self.compare("--time-limit", "3")
        self.assertEqual((status, record["rows"], record["unfinished"]), (2, [], [NAME]))

    def test_call_that_is_cut_short_leaves_its_rounds(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0]})
        measure = compare.Pair.measure

        def interrupted(pair, *arguments):
            if len(self.calls("head")) == 2:
                raise KeyboardInterrupt
            return measure(pair, *arguments)

        with mock.patch.object(compare.Pair, "measure", interrupted), self.assertRaises(KeyboardInterrupt):
            self.compare()
        self.assertEqual(self.row(json.loads(self.output.read_text()))["rounds"], 2)

    def test_append_of_another_program_is_refused(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0]})
        self.compare()
        (self.folder / "head/data/source.json").write_text('{"commit": "another"}')
        with self.assertRaisesRegex(SystemExit, "another 'sources'"):
            self.compare("--append")

    def test_both_take_the_time_that_one_fixes(self):
        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0]}, suffix="/real_time")
        status, record, _ = self.compare()
        self.assertEqual((status, self.row(record)["rounds"]), (0, 5))
        self.assertEqual(set(self.calls("head")), {"0.1 " + NAME + "/real_time"})

    def test_filter(self):
        self.make_bundle("base", {NAME: [1.0], OTHER: [1.0]})
        self.make_bundle("head", {NAME: [1.0], OTHER: [1.0]})
        _, record, _ = self.compare("--filter", "hessian", "--rounds", "3")
        self.assertEqual([(row["name"], len(row["base"])) for row in record["rows"]], [(OTHER, 3)])

    def test_order_alternates(self):
        order = []
        run = compare.Program.measure

        def measure(program, *arguments):
            order.append(program.path.parent.parent.name)
            return run(program, *arguments)

        self.make_bundle("base", {NAME: [1.0]})
        self.make_bundle("head", {NAME: [1.0]})
        with mock.patch.object(compare.Program, "measure", measure):
            self.compare("--rounds", "3")
        self.assertEqual(order, ["base", "head", "head", "base", "base", "head"])


if __name__ == "__main__":
    unittest.main()
