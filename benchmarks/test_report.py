#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of report.py: which records it takes, and what it computes from them."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report  # noqa: E402

MACHINE = {"device": "NVIDIA H200", "driver": "580", "cores": 16, "processor": "a processor"}
# 512^3 float pixels: 0.537 GB. Kernels in 1 ms, and 20 ms more with the transfers.
ROWS = [
    {"name": "resident/x:512/y:512/z:512/sigma_percent:400", "ms": 1.0},
    {"name": "host_to_host/smoothing/3d/side:512/sigma_percent:400", "ms": 21.0},
]


def snake_rows(milliseconds):
    row = {"image": "15 MP", "what": "CoarseToFine, GPU", "sums_ms": 1, "segmentation_ms": milliseconds, "total_ms": 1 + milliseconds}
    return {"rows": [row]}


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        run = {"date": "2026-01-01", "commit": "c" * 40, "machine": MACHINE, "versions": {}, "module": ROWS, "peers": [], "left_out": []}
        self.write("2026-01-01-h200-peers.json", run)

    def write(self, name, record):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(json.dumps(record))

    def test_record_of_a_comparison_is_none_of_the_snake(self):
        self.write("2026-01-01-h200-snake.json", snake_rows(2.0))
        self.write("2026-01-02-h200-compare-snake.json", {"rows": [{"name": "resident/snake"}]})
        r = report.Records(self.folder)
        self.assertEqual([file.name for file in r.snake_files], ["2026-01-01-h200-snake.json"])
        self.assertEqual([row[3] for row in r.snake], [2.0])

    def test_newest_record_of_the_snake(self):
        self.write("2026-01-01-h200-snake.json", snake_rows(2.0))
        self.write("2026-01-03-h200-snake.json", snake_rows(3.0))
        self.assertEqual([row[3] for row in report.Records(self.folder).snake], [3.0])

    def test_fractions_of_the_bandwidths(self):
        of_memory, of_link = report.measured_fractions(report.Records(self.folder))
        gigabytes = 4 * 512**3 / 1e9
        self.assertAlmostEqual(of_memory, 6 * gigabytes / 1e-3 / 4800)
        self.assertAlmostEqual(of_link, 2 * gigabytes / 20e-3 / 64)

    def test_expected_times(self):
        text = report.table_of_expected(report.Records(self.folder))
        self.assertIn("| H200 | 4800 | 64 | 1 ms | 21 ms | measured |", text)
        # Half of the link, and 4800/864 of the kernels' time.
        self.assertIn("| L40S | 864 | 32 | 5.6 ms | 46 ms | computed |", text)

    def test_first_call(self):
        self.assertIn("Not measured", report.describe_first_call(report.Records(self.folder)))
        times = {"first": 500.0, "again": 3.5, "new_sigma": 250.0, "new_sigma_again": 3.6}
        record = {"device": "NVIDIA H200", "side": 256, "sigmas": [4.0, 6.0], "rows": [{"library": "CuPy", **times}]}
        self.write("h200/first_call.json", record)
        text = report.describe_first_call(report.Records(self.folder))
        self.assertIn("| CuPy | 500 | 3.5 | 250 | 3.6 |", text)
        self.assertNotIn("Not measured", text)

    def test_readme_without_a_place_for_the_tables(self):
        path = self.folder / "README.md"
        path.write_text("# A page\n")
        with self.assertRaisesRegex(SystemExit, "0 places for 'times'"):
            report.write_readme(report.Records(self.folder), path)


if __name__ == "__main__":
    unittest.main()
