#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/gpu-pictures.sh and scripts/draw-pictures.py, with a command that writes files as itk-cudafilters does. What is drawn is
tested where matplotlib is installed."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = REPOSITORY / "scripts"
PICTURES = ("segmentation.png", "smooth_volume.png", "snake_limits.png", "vesselness.png")
# Adds its arguments to calls.txt; BACKEND_OF in the environment names the record that another backend made.
FAKE_COMMAND = """\
    #!{python}
    import gzip, json, os, pathlib, sys
    with open({calls!r}, "a") as file:
        file.write(" ".join(sys.argv[1:]) + "\\n")
    options = dict(zip(sys.argv[1:], sys.argv[2:]))
    report = pathlib.Path(options["--report"])
    size = [181, 217] if "Brain" in sys.argv[2] else [1000, 500]
    backend = "host" if report.stem == os.environ.get("BACKEND_OF") else "cuda"
    record = dict(size=size, spacing=[1, 1], backend_used=backend, host_threads=2)
    if sys.argv[1] == "compare":
        record.update(device="Fake GPU", sigma=float(options["--sigma"]), milliseconds=0.5, itk_milliseconds=2.0)
    elif sys.argv[1] == "segment":
        record.update(nodes=4, seconds=dict(filter=0.002))
        ring = [[20, 30], [120, 30], [120, 150], [20, 150], [20, 30]]
        geometry = dict(type="Polygon", coordinates=[ring])
        feature = dict(type="Feature", properties=dict(coordinates="physical"), geometry=geometry)
        pathlib.Path(options["--contour"]).write_text(json.dumps(dict(type="FeatureCollection", features=[feature])))
    else:
        record.update(sigma=[3, 3, 3], sigmas=[0.4, 0.6, 0.9, 1.35, 2.0])
        for output in [sys.argv[3], options.get("--scale-image")]:
            if output:
                pathlib.Path(output).write_bytes(gzip.open(sys.argv[2]).read())
    report.write_text(json.dumps(record))
    """


class PicturesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.records = self.folder / "records"
        self.docs = self.folder / "docs"
        self.docs.mkdir()
        self.calls = self.folder / "calls.txt"
        self.program = self.folder / "itk-cudafilters"
        self.program.write_text(textwrap.dedent(FAKE_COMMAND).format(python=sys.executable, calls=str(self.calls)))
        self.program.chmod(0o755)

    def run_program(self, *command, **environment):
        """Returns (exit status, output)."""
        process = subprocess.run(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **environment),
            check=False,
        )
        return process.returncode, process.stdout.decode()

    def make_records(self, **environment):
        status, output = self.run_program(
            SCRIPTS / "gpu-pictures.sh", self.records, ITK_CUDAFILTERS=str(self.program), **environment
        )
        self.assertEqual(status, 0, output)

    def draw(self):
        return self.run_program(sys.executable, SCRIPTS / "draw-pictures.py", self.records, self.docs)

    def drawn(self):
        return sorted(path.name for path in self.docs.iterdir())

    def test_all_commands_run_on_the_gpu(self):
        self.make_records()
        calls = self.calls.read_text().splitlines()
        self.assertEqual(
            [call.split()[0] for call in calls],
            ["compare"] + ["smooth"] + ["segment"] * 3 + ["vesselness"] * 2,
        )
        for call in calls:
            self.assertIn("--backend cuda", call)
        self.assertIn("--law rayleigh --initial-region 695,140,35,95 --maximum-step 2", calls[2])
        self.assertIn("--law gaussian", calls[3])
        self.assertNotIn("--initial-region", calls[4])

    def test_record_of_the_host_is_refused_by_name(self):
        names = ("sar-compare", "volume-smooth", "sar-segment", "mr-segment", "corridors-segment", "frangi-vesselness")
        for name in names:
            with self.subTest(name):
                self.make_records(BACKEND_OF=name)
                status, output = self.draw()
                self.assertEqual(status, 1, output)
                self.assertIn(f"{name}.json was made with backend_used 'host'", output)
                self.assertEqual(self.drawn(), [])

    def test_missing_record_is_named(self):
        self.make_records()
        (self.records / "mr-segment.json").unlink()
        status, output = self.draw()
        self.assertEqual(status, 1, output)
        self.assertIn("mr-segment.json is missing", output)

    def test_record_without_backend_is_refused(self):
        self.make_records()
        path = self.records / "sar-segment.json"
        record = json.loads(path.read_text())
        del record["backend_used"]
        path.write_text(json.dumps(record))
        self.assertIn("backend_used 'None'", self.draw()[1])
        self.assertEqual(self.drawn(), [])

    def test_script_without_folder(self):
        status, output = self.run_program(SCRIPTS / "gpu-pictures.sh")
        self.assertEqual(status, 2)
        self.assertIn("gpu-pictures.sh FOLDER", output)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_records_of_a_gpu_are_drawn(self):
        self.make_records()
        status, output = self.draw()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.drawn(), sorted(PICTURES))
        for name in PICTURES:
            content = (self.docs / name).read_bytes()
            self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
            width = int.from_bytes(content[16:20], "big")
            self.assertEqual(width, 900, name)


if __name__ == "__main__":
    unittest.main()
