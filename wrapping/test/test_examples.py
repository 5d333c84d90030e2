# SPDX-License-Identifier: Apache-2.0
"""The scripts in examples/python run as a user runs them, and write their figures."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from itk_cudafilters import read_image

pytest.importorskip("matplotlib")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"
SAR = EXAMPLES.parent / "data" / "sar_fields_1000x500.png"
BRAIN = EXAMPLES.parent / "data" / "BrainProtonDensitySlice.png"
PHANTOM = EXAMPLES.parent / "data" / "VesselPhantom.nii.gz"


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / script), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


def test_smooth_volume(tmp_path, backend):
    figure = tmp_path / "head.png"
    done = run("smooth_volume.py", EXAMPLES.parent / "data" / "HeadT1Volume.nii.gz", figure, "--backend", backend)
    assert done.returncode == 0, done.stderr
    assert "Smoothed in " in done.stdout
    picture = read_image(figure).array
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


def test_vesselness(tmp_path, backend):
    figure = tmp_path / "vessels.png"
    done = run("vesselness.py", PHANTOM, figure, "--measure", "frangi", "--backend", backend)
    assert done.returncode == 0, done.stderr
    assert "Enhanced in " in done.stdout and "[0.5, 1.0, 2.0]" in done.stdout
    picture = read_image(figure).array
    assert picture.shape[:2] == (400, 1200)
    # The ground of the phantom is grey, that of the response black.
    before, after = (picture[60:360, begin : begin + 300, 0] for begin in (40, 430))
    assert (after < 30).mean() > (before < 30).mean() + 0.1


def test_vesselness_refuses_a_picture(tmp_path):
    done = run("vesselness.py", BRAIN, tmp_path / "out.png")
    assert done.returncode == 1
    assert "has 2 dimensions; a volume has three" in done.stderr


def orange(picture):
    """Where the contour is drawn."""
    red, green, blue = (picture[..., channel].astype(int) for channel in range(3))
    return (red > 200) & (abs(green - 140) < 40) & (blue < 80)


def test_segment_sar(tmp_path, backend):
    figure, contour = tmp_path / "fields.png", tmp_path / "fields.geojson"
    done = run("segment_sar.py", SAR, figure, "--contour", contour, "--backend", backend)
    assert done.returncode == 0, done.stderr
    assert "Segmented on the " in done.stdout and "<Segmentation by the law gamma: " in done.stdout
    ring = np.array(json.loads(contour.read_text())["features"][0]["geometry"]["coordinates"][0])
    # One target: around the rectangle of the start, and no larger than it.
    assert len(ring) > 4
    assert (ring.min(axis=0) > [690 - 10, 130 - 10]).all() and (ring.max(axis=0) < [740 + 10, 245 + 30]).all()
    picture = read_image(figure).array
    assert picture.shape[0] > 500 and picture.shape[1] == 1000
    assert 200 < orange(picture).sum() < 5000


def test_segment_sar_refuses_a_volume(tmp_path):
    done = run("segment_sar.py", EXAMPLES.parent / "data" / "HeadT1Volume.nii.gz", tmp_path / "out.png")
    assert done.returncode == 1
    assert "has 3 dimensions; a SAR image has two" in done.stderr


def test_partition_sar(tmp_path):
    figure, polygons = tmp_path / "fields.png", tmp_path / "fields.geojson"
    done = run("partition_sar.py", SAR, figure, "--polygons", polygons, "--nats", 50)
    assert done.returncode == 0, done.stderr
    assert "independent looks per pixel" in done.stdout
    before, after = (int(line.split(": ")[1].split()[0]) for line in done.stdout.splitlines() if line.startswith("<Partition"))
    assert 20 < after < before < 500
    assert len(json.loads(polygons.read_text())["features"]) == after
    picture = read_image(figure).array
    assert picture.shape[1] == 2000
    assert orange(picture[:, :1000]).sum() > 2000 and orange(picture[:, 1000:]).sum() == 0


def test_partition_sar_refuses_a_volume(tmp_path):
    done = run("partition_sar.py", EXAMPLES.parent / "data" / "HeadT1Volume.nii.gz", tmp_path / "out.png")
    assert done.returncode == 1
    assert "has 3 dimensions; a SAR image has two" in done.stderr


def test_segment_mr(tmp_path, backend):
    figure, svg = tmp_path / "brain.png", tmp_path / "brain.svg"
    done = run("segment_mr.py", BRAIN, figure, "--svg", svg, "--backend", backend)
    assert done.returncode == 0, done.stderr
    assert "Segmented on the " in done.stdout
    picture = read_image(figure).array
    assert picture.shape[:2] == (560, 1100)
    assert orange(picture[:, :550]).sum() > 500 and orange(picture[:, 550:]).sum() > 500
    assert "<polygon" in svg.read_text()


def test_segment_mr_names_the_laws(tmp_path):
    done = run("segment_mr.py", BRAIN, tmp_path / "out.png", "--law", "weibull")
    assert done.returncode != 0
    assert '"weibull"' in done.stderr and "rayleigh" in done.stderr
