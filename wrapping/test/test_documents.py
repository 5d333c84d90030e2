# SPDX-License-Identifier: Apache-2.0
"""What README.md and the pages in docs/user tell users to run in Python and as a command, runs."""
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
PAGES = [ROOT / "README.md", *(ROOT / "docs" / "user" / f"{name}.md" for name in ("start", "python", "detection", "existing_programs"))]
# The pages with commands in blocks of sh, and the files that they write.
COMMANDS = {
    "README.md": ("smoothed.nii.gz", "vessels.nii.gz", "vessels.png", "fields.geojson", "fields.csv", "fields.png"),
    "docs/user/start.md": ("smoothed.nii.gz",),
    "docs/user/segmentation.md": ("contour.geojson", "overlay.png", "fields.geojson", "fields.csv", "means.png"),
}
ALL_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
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


def write_series(folder):
    """Writes a DICOM series: a bright block in air."""
    pixels = np.full((12, 24, 32), -1000, np.int16)
    pixels[4:8, 8:16, 8:24] = 1200
    folder.mkdir()
    writer = itk.ImageSeriesWriter[itk.Image[itk.SS, 3], itk.Image[itk.SS, 2]].New(itk.image_from_array(pixels))
    writer.SetImageIO(itk.GDCMImageIO.New())
    writer.SetFileNames([str(folder / f"{index:02d}.dcm") for index in range(len(pixels))])
    writer.Update()


def python_blocks(page):
    """Code and the number of its first line."""
    text = page.read_text(encoding="utf-8")
    return [(match[1], text.count("\n", 0, match.start(1)) + 1) for match in re.finditer(r"(?ms)^```python\n(.*?)^```", text)]


@ALL_PAGES
def test_python_of_a_page(folder, page, host_allowed):
    blocks = python_blocks(page)
    assert blocks, f"{page} has no block of Python"
    namespace = {}
    if page.name == "start.md":
        write_series(folder / "ct")
    for code, line in blocks:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    if page.name == "README.md":
        # Smoothing lowers the noise; the difference of Gaussians has no background.
        assert namespace["smoothed"].shape == namespace["stack"].shape
        assert np.median(namespace["stack"]) > 10.0 > abs(np.median(namespace["nuclei"]))
    if page.name == "start.md":
        assert (folder / "smoothed.nii.gz").is_file()
        # Beside the block is air: its value by rounding, not less.
        assert itk.array_from_image(namespace["smoothed"]).min() > -1000.01
        assert (folder / "fields.geojson").is_file() and (folder / "means.mha").is_file()
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
    assert {line.split()[0] for line in lines} == {"smooth", "segment", "partition", "detect", "vesselness", "compare", "info"}
    for line in lines:
        assert _command.main(shlex.split(line)) == 0, line
    assert all((folder / name).is_file() for name in ("smoothed.nii.gz", "overlay.png", "regions.geojson", "regions.csv", "vessels.png"))


@pytest.mark.parametrize("page", COMMANDS)
def test_commands_in_blocks(folder, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", text)
    lines = [line for block in blocks for line in block.splitlines()]
    assert lines
    for line in lines:
        name, *arguments = shlex.split(line)
        assert name == "itk-cudafilters", line
        assert _command.main(arguments) == 0, line
    for name in COMMANDS[page]:
        assert (folder / name).is_file(), name


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
    "module",
    [
        "_features", "_files", "_gaussian", "_image", "_image_files", "_override", "_partition", "_radar", "_segmentation",
        "_structure_tensor", "_vesselness", "ndimage",
    ],
)
def test_examples_of_docstrings(module, host_allowed):
    try:
        result = doctest.testmod(importlib.import_module(f"itk_cudafilters.{module}"), raise_on_error=True)
    except doctest.UnexpectedException as error:
        raise error.exc_info[1]
    assert result.failed == 0 and result.attempted > 0
