#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-sources.py: it accepts the repository, and complains of stale names, circles and CUDA's headers."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = REPOSITORY / "scripts/check-sources.py"
GOOD = {
    "src/CMakeLists.txt": "set(CudaFilters_SRCS\n    gaussian/plan/Plan.cxx)\nset(CudaFilters_CUDA_SRCS\n    gaussian/device/Pass.cxx)\n",
    "src/gaussian/plan/Plan.h": """\
        /** Sums pixels. \\param count how many */
        int Sum(const int * pixels, int count);
        """,
    "src/gaussian/plan/Plan.cxx": '#include "gaussian/plan/Plan.h"\n',
    "src/gaussian/device/Pass.h": """\
        #include <cuda_runtime.h>
        #include "gaussian/plan/Plan.h"
        /** Calls function(begin, end) for the rows from `begin` to `end` of `rows` rows while `isLeft` is true. See
         * Run() for `stream`.
         * \\tparam TFunction what is called */
        template <typename TFunction>
        void ForRows(int rows, const TFunction & function)
        {
          bool isLeft = true;
        }
        void Run(int stream);
        """,
    "src/gaussian/device/Pass.cxx": '#include "gaussian/device/Pass.h"\n',
}


class CheckSources(unittest.TestCase):
    def check(self, *changes):
        """Returns the lines of the check of GOOD, in which each (path, old, new) is replaced."""
        files = dict(GOOD)
        for path, old, new in changes:
            self.assertIn(old, files[path])
            files[path] = files[path].replace(old, new)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
            run = subprocess.run([sys.executable, "-B", SCRIPT, name], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1 if run.stdout else 0, run.stderr)
        return run.stdout.splitlines()

    def test_repository(self):
        run = subprocess.run([sys.executable, "-B", SCRIPT], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    def test_good(self):
        self.assertEqual(self.check(), [])

    def test_stale_param(self):
        found = self.check(("src/gaussian/plan/Plan.h", "int count)", "int number)"))
        self.assertEqual(found, ["src/gaussian/plan/Plan.h:1: 'count' is no parameter of the declaration below"])

    def test_stale_tparam(self):
        found = self.check(("src/gaussian/device/Pass.h", "\\tparam TFunction", "\\tparam TCall"))
        self.assertEqual(found, ["src/gaussian/device/Pass.h:3: 'TCall' is no parameter of the declaration below"])

    def test_stale_quoted_name(self):
        for old, new, name in (("int rows", "int count", "rows"), ("bool isLeft", "bool any", "isLeft"), ("See\n         * Run()", "See", "stream")):
            found = self.check(("src/gaussian/device/Pass.h", old, new))
            self.assertEqual(found, [f"src/gaussian/device/Pass.h:3: '{name}' is no parameter of the declaration below"], old)

    def test_circle(self):
        GOOD["src/gaussian/device/Shape.h"] = ""
        self.addCleanup(GOOD.pop, "src/gaussian/device/Shape.h")
        found = self.check(("src/gaussian/plan/Plan.h", "/** Sums", '#include "gaussian/device/Shape.h"\n/** Sums'))
        self.assertEqual(found, ["src/gaussian: the folders device and plan include each other"])

    def test_header_of_cuda(self):
        found = self.check(("src/CMakeLists.txt", "gaussian/plan/Plan.cxx", "gaussian/device/Pass.cxx"))
        way = "src/gaussian/device/Pass.cxx > src/gaussian/device/Pass.h > cuda_runtime.h"
        self.assertEqual(found, ["a build without CUDA includes a header of CUDA's: " + way])


if __name__ == "__main__":
    unittest.main()
