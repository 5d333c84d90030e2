# SPDX-License-Identifier: Apache-2.0
"""The part vesselness of the command itk-cudafilters."""
import json

import numpy as np
import pytest
from command import DATA, expect_failure, keys_of_report, run

import itk_cudafilters
from itk_cudafilters import Image, read_image, write_image


@pytest.mark.parametrize("measure", ["objectness", "jerman"])
def test_vesselness(capsys, tmp_path, backend, measure):
    names = {name: tmp_path / f"{name}{end}" for name, end in {"out": ".mha", "scale": ".nrrd", "mip": ".png", "report": ".json"}.items()}
    outputs = ["--scale-image", names["scale"], "--mip", names["mip"], "--report", names["report"], "--backend", backend]
    phantom = DATA / "VesselPhantom.nii.gz"
    assert run("vesselness", phantom, names["out"], "--sigmas", "0.6,1.2", "--measure", measure.upper(), *outputs) == 0
    printed = capsys.readouterr()
    assert "vessels enhanced with backend" in printed.out and printed.err == ""
    given, found = read_image(phantom), read_image(names["out"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.spacing, given.spacing, rtol=1e-6)
    expected, scale = itk_cudafilters.vesselness(
        given, (0.6, 1.2), measure, spacing="image", mode="nearest", approximation="deriche", backend=backend, return_scale=True
    )
    response = found.array
    np.testing.assert_array_equal(response, expected.array)
    np.testing.assert_array_equal(read_image(names["scale"]).array, scale.array)
    picture = read_image(names["mip"]).array
    assert picture.dtype == np.uint8 and picture.shape == response.shape[1:]
    largest = response.max(axis=0)
    brighter = np.argsort(largest, axis=None)
    assert (np.diff(picture.ravel()[brighter].astype(int)) >= 0).all() and picture.max() == 255
    report = json.loads(names["report"].read_text())
    assert set(report) == set(keys_of_report("vesselness"))
    assert report["sigmas"] == [0.6, 1.2] and report["measure"] == measure and report["gamma"] is None and report["bright"] is True
    assert report["largest_response"] == pytest.approx(float(response.max()))


def test_vesselness_of_dark_lines_of_an_image(tmp_path):
    pixels = np.random.default_rng(6).integers(-1000, 1000, (30, 40)).astype("f8")
    write_image(pixels, tmp_path / "in.mha")
    options = ("--sigmas", "1.5", "--dark", "--no-normalize", "--gamma", "3", "--boundary-mode", "mirror", "--object-dimension", "0")
    assert run("vesselness", tmp_path / "in.mha", tmp_path / "out.mha", *options) == 0
    found = read_image(tmp_path / "out.mha").array
    expected = itk_cudafilters.vesselness(
        pixels, 1.5, object_dimension=0, bright=False, normalize=False, gamma=3.0, mode="mirror", approximation="deriche"
    )
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


def test_images_whose_vessels_cannot_be_enhanced(capsys):
    brain = DATA / "BrainProtonDensitySlice.png"
    assert "PNG holds no floating-point numbers" in expect_failure(capsys, "vesselness", brain, "out.png", "--sigmas", 1)
    assert "2 components per pixel" not in expect_failure(capsys, "vesselness", brain, "out.txt", "--sigmas", 1)


def line(**geometry):
    """A bright line of sigma 2 on a dark ground."""
    across = np.arange(-30.0, 30.0)
    return Image((50.0 * np.exp(-(across**2) / 8.0))[:, None] * np.ones(80, np.float32), **geometry)


def test_vesselness_of_an_image(capsys, tmp_path):
    """sigma^2 / (1 + sigma^2) times the contrast's second derivative, where the line is: at sigma 2 pixels 50 / 2^1.5."""
    write_image(Image(line().array.astype(np.float32), (0.5, 0.5)), tmp_path / "in.mha")
    options = ("--approximation", "accurate", "--boundary-mode", "reflect", "--gamma", 1e-3, "--measure", "objectness")
    report = tmp_path / "r.json"
    assert run("vesselness", tmp_path / "in.mha", tmp_path / "o.mha", "--sigmas", 1, *options, "--mip", tmp_path / "m.png", "--report", report) == 0
    text = capsys.readouterr().out
    assert "vessels enhanced with backend " in text and "; sigma 1 = 2 x 2 pixels\nlargest response 17.6" in text
    found = json.loads(report.read_text())
    assert found["gamma"] == 1e-3 and found["boundary_mode"] == "reflect" and found["largest_response"] == pytest.approx(50 / 2**1.5, rel=1e-3)
    response = read_image(tmp_path / "o.mha").array
    assert response[30, 40] == pytest.approx(50 / 2**1.5, rel=1e-3) and response[5, 40] < 1e-3
    assert (read_image(tmp_path / "m.png").array.argmax(axis=0) == 30).all()


def test_vesselness_of_a_slice_of_a_volume(tmp_path):
    """The slice is the image, and its file the response's."""
    write_image(Image(line().array[None].astype(np.float32), (1.0, 2.0, 5.0)), tmp_path / "slice.mha")
    write_image(Image(line().array.astype(np.float32), (1.0, 2.0)), tmp_path / "plane.mha")
    for name in ("slice", "plane"):
        options = ("--sigmas", "2,4", "--report", tmp_path / f"{name}.json")
        assert run("vesselness", tmp_path / f"{name}.mha", tmp_path / f"{name}_out.mha", *options) == 0
    found = json.loads((tmp_path / "slice.json").read_text())
    assert found["size"] == [80, 60] and found["spacing"] == [1.0, 2.0] and found["gamma"] is None
    np.testing.assert_array_equal(read_image(tmp_path / "slice_out.mha").array, read_image(tmp_path / "plane_out.mha").array)


def test_pixels_that_do_not_count(tmp_path):
    """They change no response far from them, and are NaN if they are so in the image, 0 where the mask is 0."""
    pixels = line().array.astype(np.float32)
    write_image(pixels, tmp_path / "in.mha")
    hidden = np.zeros(pixels.shape, bool)
    hidden[2:6, 2:6] = True
    damaged = pixels.copy()
    damaged[hidden] = np.inf
    damaged[3, 3] = np.nan
    write_image(damaged, tmp_path / "nan.mha")
    write_image(np.where(hidden, np.float32(1e30), pixels), tmp_path / "huge.mha")
    write_image((~hidden).astype(np.float32) * np.float32(0.5), tmp_path / "mask.mha")
    write_image(Image((~hidden)[None].astype(np.uint8)), tmp_path / "slice.mha")
    options = ("--sigmas", "1,2", "--gamma", 0.1)
    assert run("vesselness", tmp_path / "in.mha", tmp_path / "all.mha", *options) == 0
    assert run("vesselness", tmp_path / "nan.mha", tmp_path / "o.mha", *options, "--mip", tmp_path / "m.png") == 0
    expected, found = (read_image(tmp_path / name).array for name in ("all.mha", "o.mha"))
    np.testing.assert_array_equal(np.isnan(found), hidden)
    np.testing.assert_allclose(found[:, 30:], expected[:, 30:], atol=1e-5 * expected.max())
    assert read_image(tmp_path / "m.png").array.max() == 255
    for mask in ("mask.mha", "slice.mha"):
        assert run("vesselness", tmp_path / "huge.mha", tmp_path / "o.mha", *options, "--valid-mask", tmp_path / mask) == 0
        found = read_image(tmp_path / "o.mha").array
        assert (found[hidden] == 0.0).all()
        np.testing.assert_allclose(found[:, 30:], expected[:, 30:], atol=1e-5 * expected.max())
