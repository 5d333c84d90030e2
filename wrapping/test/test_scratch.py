# SPDX-License-Identifier: Apache-2.0
"""Images larger than the memory: large arrays in files of the folder ITK_CUDAFILTERS_SCRATCH. Children may have little memory of
their own, which files that are mapped into memory do not count as."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itk_cudafilters

SIDE = 12000  # 144 MB of bytes; the sums of the rows take as much, and the labels

_CHILD = """
import json, resource, sys
import numpy as np
import itk_cudafilters

itk_cudafilters.noise_laws()
settings = json.loads(sys.argv[1])
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) for line in status if line.startswith("VmData")) << 10
resource.setrlimit(resource.RLIMIT_DATA, (used + (settings.pop("free_mib") << 20),) * 2)
image = np.memmap(settings.pop("file"), np.uint8, "r", shape=tuple(settings.pop("shape")))
if "store" in settings:
    import zarr
    image = zarr.open_array(settings.pop("store"), mode="r")
found = itk_cudafilters.segment_region(image, "gamma", 1.0, backend="host", **settings)
label = found.label
print(json.dumps([found.contour.tolist(), found.statistics.criterion, int(label[::7, ::7].sum()), type(label).__name__, str(label.dtype)]))
"""


def run_child(folder: Path | None, **settings: Any) -> Any:
    """Returns the answer of segment_region() in a process of little memory, or the last line of its error."""
    environment = {**os.environ, "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "2"}
    environment.pop("ITK_CUDAFILTERS_SCRATCH", None)
    if folder is not None:
        environment["ITK_CUDAFILTERS_SCRATCH"] = str(folder)
    arguments = [sys.executable, "-c", _CHILD, json.dumps(settings)]
    child = subprocess.run(arguments, env=environment, capture_output=True, text=True)
    return child.stderr.strip().splitlines()[-1] if child.returncode else json.loads(child.stdout)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene on the disk: an ellipse in speckle."""
    path = tmp_path_factory.mktemp("scene") / "scene.raw"
    rng = np.random.default_rng(5)
    pixels = np.memmap(path, np.uint8, "w+", shape=(SIDE, SIDE))
    x = np.arange(SIDE)
    for first in range(0, SIDE, 500):
        y = np.arange(first, first + 500)[:, None]
        is_target = ((x - 5000) / 3000) ** 2 + ((y - 7000) / 2000) ** 2 < 1
        pixels[first : first + 500] = np.minimum(rng.exponential(np.where(is_target, 40.0, 15.0)), 255)
    pixels.flush()
    return path


def test_a_scene_beyond_the_memory_has_the_polygon_of_one_within(scene: Path, tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("limits of data are those of Linux")
    shape = [SIDE, SIDE]
    expected = run_child(None, file=str(scene), shape=shape, free_mib=1000)
    assert isinstance(expected, list), expected
    refused = run_child(None, file=str(scene), shape=shape, free_mib=100)
    assert isinstance(refused, str) and ("ITK_CUDAFILTERS_SCRATCH" in refused or "MemoryError" in refused), refused
    found = run_child(tmp_path, file=str(scene), shape=shape, free_mib=100)
    assert found == expected
    area = np.pi * 3000 * 2000
    corners = np.array(found[0])
    after = np.roll(corners, -1, axis=0)
    assert abs(abs((corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]).sum()) / 2 / area - 1) < 0.01
    assert list(tmp_path.iterdir()) == [], "the files have no names"


def test_a_window_around_the_start_as_well(scene: Path, tmp_path: Path) -> None:
    settings = dict(file=str(scene), shape=[SIDE, SIDE], initial_region=[4000, 6000, 2000, 2000], local_background=True, margin=2500)
    expected = run_child(None, free_mib=3000, **settings)
    assert isinstance(expected, list), expected
    assert run_child(tmp_path, free_mib=250, **settings) == expected


def test_a_store_is_copied_to_the_folder(scene: Path, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    store = zarr.create_array(tmp_path / "scene.zarr", shape=(SIDE, SIDE), chunks=(1024, 1024), dtype="uint8")
    store[...] = np.memmap(scene, np.uint8, "r", shape=(SIDE, SIDE))
    settings = dict(file=str(scene), shape=[SIDE, SIDE], store=str(tmp_path / "scene.zarr"))
    folder = tmp_path / "scratch"
    folder.mkdir()
    expected = run_child(None, file=str(scene), shape=[SIDE, SIDE], free_mib=1000)
    assert run_child(folder, free_mib=500, **settings) == expected
    assert "image[...]" in run_child(None, free_mib=500, **settings)


def test_pixels_that_are_converted_and_masked_have_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    image = rng.normal(100.0, 10.0, (4300, 4100)).astype(np.float32)  # 70 MB of samples
    image[1000:3000, 800:2900] += 15
    valid = rng.random(image.shape) > 0.1
    expected = itk_cudafilters.segment_region(image, "gaussian", valid_mask=valid, backend="host")
    monkeypatch.setenv("ITK_CUDAFILTERS_SCRATCH", str(tmp_path))
    found = itk_cudafilters.segment_region(image, "gaussian", valid_mask=valid, backend="host")
    assert np.array_equal(found.contour, expected.contour)
    assert found.statistics.criterion == expected.statistics.criterion
    assert np.array_equal(found.label, expected.label)


def test_a_folder_that_cannot_be_used_is_named(scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.memmap(scene, np.uint8, "r", shape=(SIDE, SIDE))
    missing = tmp_path / "missing"
    monkeypatch.setenv("ITK_CUDAFILTERS_SCRATCH", str(missing))
    with pytest.raises(OSError, match="ITK_CUDAFILTERS_SCRATCH is .*missing.*that can take a file of 137 MiB: No such file"):
        itk_cudafilters.segment_region(image, "gamma", 1.0, backend="host")
    # Small images need no folder, and the variable may be empty.
    found = itk_cudafilters.segment_region(image[6000:7000, 1500:3500], "gamma", 1.0, backend="host")
    monkeypatch.setenv("ITK_CUDAFILTERS_SCRATCH", "")
    again = itk_cudafilters.segment_region(image[6000:7000, 1500:3500], "gamma", 1.0, backend="host")
    assert np.array_equal(found.contour, again.contour)
