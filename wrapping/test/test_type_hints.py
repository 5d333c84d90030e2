# SPDX-License-Identifier: Apache-2.0
"""The annotations of the package, also beside packages that bring their own, such as Dask."""
import importlib.resources
import pathlib
import shutil
import subprocess
import sys

import pytest

import itk_cudafilters


def test_type_hints_are_installed():
    assert importlib.resources.files("itk_cudafilters").joinpath("py.typed").is_file()


def test_type_hints_are_strict(tmp_path):
    pytest.importorskip("mypy")
    # A copy: mypy does not check packages where they are installed.
    shutil.copytree(pathlib.Path(itk_cudafilters.__file__).parent, tmp_path / "itk_cudafilters")
    options = ["--strict", "--ignore-missing-imports", "itk_cudafilters"]
    done = subprocess.run([sys.executable, "-m", "mypy", *options], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
