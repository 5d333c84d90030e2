#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of device_image_traffic.py, with a program that says what it is told, and writes the counts that CUPTI would."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import device_image_traffic as traffic  # noqa: E402

IMAGE = 4 * 256**3
# In its folder, answers.json holds {where: {"status", "bytes": [up, down] or None, "images": [up, down], "error", "lost"}}.
FAKE_PROGRAM = """\
#!{python}
import json, os, pathlib, sys
between = sys.argv[sys.argv.index("--between") + 1]
answer = json.loads((pathlib.Path(__file__).resolve().parent / "answers.json").read_text())[between]
if answer.get("status"):
    print("no luck", file=sys.stderr)
    sys.exit(answer["status"])
images = 5 if between == "host" else 1
size = images * {image}
if answer["bytes"] and "CUDA_INJECTION64_PATH" in os.environ:
    up, down = ({{"bytes": count, "copies": 1}} for count in answer["bytes"])
    counts = dict(host_to_device=up, device_to_host=down, error=answer.get("error", ""), lost_records=answer.get("lost", 0))
    pathlib.Path(os.environ["CUDA_TRAFFIC_FILE"]).write_text(json.dumps(counts))
uploads, downloads = answer["images"]
bytes_down = size // 4 if between == "rescaled" else size
sizes = dict(expected_bytes_up=size, expected_bytes_down=bytes_down)
print(json.dumps(dict(expected_images_each_way=images, uploads=uploads, downloads=downloads, **sizes)))
"""


def answer(images, extra=(0, 0), counts=True, **others):
    return {"bytes": [images * IMAGE + more for more in extra] if counts else None, "images": [images, images], **others}


RESCALED = {"bytes": [IMAGE, IMAGE // 4], "images": [1, 1]}


class TrafficTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bundle = pathlib.Path(folder.name)
        (self.bundle / "bin").mkdir()
        (self.bundle / "lib").mkdir()
        (self.bundle / "lib/libcuda_traffic.so").touch()
        program = self.bundle / "bin/device_image_traffic"
        program.write_text(FAKE_PROGRAM.format(python=sys.executable, image=IMAGE))
        program.chmod(0o755)

    def call(self, device, host=None, rescaled=None):
        """Exit status, output and record."""
        answers = {"device": device, "host": host or answer(5), "rescaled": rescaled or RESCALED}
        (self.bundle / "bin/answers.json").write_text(json.dumps(answers))
        output = self.bundle / "record.json"
        command = ["device_image_traffic.py", "--bundle", str(self.bundle), "--output", str(output)]
        text, status = io.StringIO(), None
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            try:
                status = traffic.main()
            except SystemExit as end:
                status = end.code
        return status, text.getvalue(), json.loads(output.read_text()) if output.exists() else None

    def test_one_image_each_way(self):
        status, text, record = self.call(answer(1, (traffic.ALLOWANCE, 0)))
        self.assertEqual(status, 0, text)
        self.assertTrue(record["right"])
        self.assertIn("by CUPTI", text)
        self.assertNotIn("module's own", text)

    def test_one_byte_too_many_or_too_few(self):
        for extra in ((traffic.ALLOWANCE + 1, 0), (0, traffic.ALLOWANCE + 1), (-1, 0), (0, -1)):
            status, text, record = self.call(answer(1, extra))
            self.assertEqual(status, 1, f"{extra}: {text}")
            self.assertEqual(text.count("FAILED"), 1, text)
            self.assertFalse(record["right"])

    def test_rescaled_image_that_comes_back_as_floats(self):
        status, text, _ = self.call(answer(1), rescaled=answer(1))
        self.assertEqual(status, 1, text)
        self.assertIn("FAILED smoothed, rescaled, to unsigned char, down", text)

    def test_counter_that_counts_nothing_is_found_by_the_control(self):
        status, text, _ = self.call(answer(1), answer(1))
        self.assertEqual(status, 1, text)
        self.assertIn("FAILED images on the host between the filters, up", text)

    def test_without_cupti_the_modules_counters_stand_in(self):
        for device, why in (
            (answer(1, counts=False), "did not load"),
            (answer(1, error="cuptiActivityEnable: no"), "cuptiActivityEnable: no"),
            (answer(1, lost=3), "lost 3 records"),
        ):
            status, text, _ = self.call(device)
            self.assertEqual(status, 0, text)
            self.assertIn(why, text)
            self.assertIn("1 images by the module's own counters", text)
        status, text, _ = self.call(answer(2, counts=False))
        self.assertEqual(status, 1, text)

    def test_bundle_without_the_library(self):
        (self.bundle / "lib/libcuda_traffic.so").unlink()
        with mock.patch.dict(os.environ):
            os.environ.pop("CUDA_INJECTION64_PATH", None)
            status, text, _ = self.call(answer(1))
        self.assertEqual(status, 0, text)
        self.assertIn("built without CUPTI", text)

    def test_program_that_fails_or_skips(self):
        status, text, record = self.call({"status": 3})
        self.assertEqual(status, 2)
        self.assertIn("no luck", text)
        self.assertIsNone(record)
        self.assertEqual(self.call({"status": traffic.SKIPPED})[0], traffic.SKIPPED)


if __name__ == "__main__":
    unittest.main()
