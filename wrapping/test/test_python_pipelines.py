# SPDX-License-Identifier: Apache-2.0
"""Filters in Python, observers and threads in pipelines with ours: Python has the interpreter's lock, others have it while we work."""
import os
import random

import pytest
from interpreter import path_with, run_python


def run_pipelines(call, backend):
    """A crash is an exit status, and the standard error says where."""
    run_python(
        "import faulthandler, itk; faulthandler.enable()\n"
        f"itk.CudaFiltersConfiguration.SetBackend({backend!r})\n"
        f"import python_pipelines; python_pipelines.{call}",
        PYTHONPATH=path_with(os.path.dirname(os.path.abspath(__file__))),
    )


@pytest.mark.parametrize(
    "scene",
    [
        "above_each_filter",
        "observers",
        "exceptions",
        "interrupted_by_the_keyboard",
        "others_run_meanwhile",
        "streaming",
        "sources_of_stream",
        "partitions",
        "second_interpreter",
    ],
)
def test_python_in_pipelines(scene, backend):
    run_pipelines(f"{scene}()", backend)


def test_random_pipelines_in_threads(backend):
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")  # python_pipelines.random_pipelines(seed) repeats it
    run_pipelines(f"random_pipelines({seed})", backend)
