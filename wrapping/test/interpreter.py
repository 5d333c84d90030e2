# SPDX-License-Identifier: Apache-2.0
"""Programs run in an interpreter of their own."""
import os
import re
import subprocess
import sys

import itk


def path_with(folder):
    """PYTHONPATH with one more folder."""
    return os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))


def run_python(code, **environment):
    """Runs code in a new interpreter and returns what it prints."""
    if re.search(r"\bimport\b.*\bitk\b", code):
        itk.__version__  # skips the test where the package is missing
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
