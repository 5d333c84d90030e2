# SPDX-License-Identifier: Apache-2.0
"""The scripts in examples/python run as a user runs them, and write their figures."""
import pathlib
import subprocess
import sys

import itk
import numpy as np
import pytest

pytest.importorskip("matplotlib")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / script), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


def test_smooth_volume(tmp_path, backend):
    figure = tmp_path / "head.png"
    done = run("smooth_volume.py", EXAMPLES.parent / "data" / "HeadT1Volume.nii.gz", figure, "--backend", backend)
    assert done.returncode == 0, done.stderr
    assert "Smoothed on the " in done.stdout
    picture = itk.array_from_image(itk.imread(str(figure)))
    height, width = picture.shape[:2]
    assert height > 500 and width > 1000
    # The rows of the figure: the smoothed slices have smaller steps than the slices before.
    upper, lower = (part[..., 0].astype(float) for part in (picture[: height // 2], picture[height // 2 :]))
    steps = [np.abs(np.diff(part[:, width // 3 : 2 * width // 3], axis=0)).mean() for part in (upper, lower)]
    assert 0.0 < steps[1] < 0.8 * steps[0]


def test_smooth_volume_refuses_a_picture(tmp_path):
    done = run("smooth_volume.py", EXAMPLES.parent / "data" / "BrainProtonDensitySlice.png", tmp_path / "out.png")
    assert done.returncode == 1
    assert "has 2 dimensions; a volume has three" in done.stderr


def test_smooth_volume_names_the_backends(tmp_path):
    done = run("smooth_volume.py", EXAMPLES.parent / "data" / "HeadT1Volume.nii.gz", tmp_path / "out.png", "--backend", "gpu")
    assert done.returncode != 0
    assert '"gpu"' in done.stderr and "automatic" in done.stderr
