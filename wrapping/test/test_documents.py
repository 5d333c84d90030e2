# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/user/python.md tell users to run, runs."""
import doctest
import importlib
import pathlib
import re
import shlex
import shutil

import itk
import numpy as np
import pytest

from itk_cudafilters import _command

ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "examples" / "data"
PAGES = [ROOT / "README.md", ROOT / "docs" / "user" / "python.md"]
ALL_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(DATA / "HeadT1Volume.nii.gz", "head.nii.gz")
    shutil.copy(DATA / "VesselPhantom.nii.gz", "angiogram.nii.gz")
    for name in ("fields.png", "amplitude.png", "sar.png"):
        shutil.copy(DATA / "sar_fields_1000x500.png", name)
    for name in ("slice.png", "brain.png"):
        shutil.copy(DATA / "BrainProtonDensitySlice.png", name)
    return tmp_path


@pytest.fixture(autouse=True)
def some_backend(backend):
    """The pages name backends of their own."""
    if backend == "cuda":
        itk.CudaFiltersConfiguration.SetBackend("automatic")
    yield
    itk.CudaFiltersConfiguration.SetBackend(backend)


def python_blocks(page):
    """Code and the number of its first line."""
    text = page.read_text(encoding="utf-8")
    return [(match[1], text.count("\n", 0, match.start(1)) + 1) for match in re.finditer(r"(?ms)^```python\n(.*?)^```", text)]


def variables():
    """What README.md leaves to its reader."""
    intensity = np.random.default_rng(1).exponential(5.0, (100, 120)).astype(np.float32)
    intensity[30:70, 40:80] *= 4.0
    volume = np.random.default_rng(1).random((16, 24, 32), dtype=np.float32)
    return {"array": volume, "volume": volume, "image": itk.image_from_array(volume), "intensity": intensity}


@ALL_PAGES
def test_python_of_a_page(folder, page, host_allowed):
    blocks = python_blocks(page)
    assert blocks, f"{page} has no block of Python"
    namespace = variables() if page.name == "README.md" else {}
    for code, line in blocks:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    if page.name == "python.md":
        assert namespace["smoothed"].GetSpacing() == namespace["image"].GetSpacing()
        assert namespace["anisotropic"].shape == namespace["volume"].shape == (64, 128, 128)
        # The order of sigma_array: x, the last index, is smoothed least.
        steps = [np.abs(np.diff(namespace["anisotropic"], axis=axis)).mean() for axis in range(3)]
        assert steps[0] < 0.5 * steps[1] and steps[1] == pytest.approx(steps[2], rel=0.1)
        assert (folder / "contour.geojson").is_file() and (folder / "contour.svg").is_file()
        assert (namespace["found"].label.sum() - 15000) / 15000 == pytest.approx(0.0, abs=0.05)
    assert not itk.CudaGaussianImageFilterFactory.IsRegistered()


def test_commands_of_the_page(folder):
    lines = re.findall(r"(?m)^    itk-cudafilters (.*)$", (ROOT / "docs" / "user" / "python.md").read_text(encoding="utf-8"))
    assert len(lines) >= 4
    assert {line.split()[0] for line in lines} == {"smooth", "segment", "partition", "vesselness", "compare", "info"}
    for line in lines:
        assert _command.main(shlex.split(line)) == 0, line
    assert all((folder / name).is_file() for name in ("smoothed.nii.gz", "overlay.png", "regions.geojson", "regions.csv", "vessels.png"))


def test_truncation_of_integers():
    """As docs/user/python.md says."""
    ramp = np.arange(400, dtype=np.uint8).reshape(20, 20) % 200
    precise = itk.cuda_smoothing_recursive_gaussian_image_filter(ramp.astype(np.float32), sigma=1.3)
    found = itk.cuda_smoothing_recursive_gaussian_image_filter(ramp, sigma=1.3)
    assert found.dtype == np.uint8
    far_from_steps = np.abs(precise - np.round(precise)) > 1e-3
    np.testing.assert_array_equal(found[far_from_steps], np.trunc(precise)[far_from_steps])
    assert (np.round(precise) != found).any()


def test_links_of_the_page_exist():
    if not (ROOT / "scripts").is_dir():
        pytest.skip("the bundle has not the files of a checkout")
    page = ROOT / "docs" / "user" / "python.md"
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "module", ["_gaussian", "_override", "_segmentation", "ndimage", "_partition", "_structure_tensor", "_vesselness"]
)
def test_examples_of_docstrings(module, host_allowed):
    result = doctest.testmod(importlib.import_module(f"itk_cudafilters.{module}"))
    assert result.failed == 0 and result.attempted > 0
