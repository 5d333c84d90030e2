# SPDX-License-Identifier: Apache-2.0
"""The command itk-cudafilters: files, exit status, messages, reports."""
import csv
import errno
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
from pathlib import Path

import itk
import numpy as np
import pytest
from filters import SMOOTHING
from interpreter import run_python
from scenes import ORIGIN, SHAPE, SPACING, draw, draw_image, inside, overlap

import itk_cudafilters
from itk_cudafilters import _command, _library, partition_image, segment_region
from itk_cudafilters._arrays import truncate

ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "examples" / "data"
TURNED = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
META_TYPES = {
    "u1": "MET_UCHAR",
    "i1": "MET_CHAR",
    "u2": "MET_USHORT",
    "i2": "MET_SHORT",
    "u4": "MET_UINT",
    "i4": "MET_INT",
    "f4": "MET_FLOAT",
    "f8": "MET_DOUBLE",
}


def run(*arguments):
    return _command.main([str(argument) for argument in arguments])


def expect_wrong_arguments(capsys, *arguments):
    """Returns the message of a call with wrong arguments."""
    with pytest.raises(SystemExit) as end:
        run(*arguments)
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "Traceback" not in captured.err
    return captured.err


def expect_failure(capsys, *arguments):
    assert run(*arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "Traceback" not in captured.err and len(captured.err.splitlines()) == 1
    assert captured.err.startswith(f"itk-cudafilters {arguments[0]}: ")
    return captured.err


def keys_of_report(part):
    """Those that docs/user/parameters.md names, without those of the objects in it."""
    (row,) = re.findall(rf"(?m)^\| `{part}` \| (`input`.*) \|$", (ROOT / "docs" / "user" / "parameters.md").read_text(encoding="utf-8"))
    return re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", row))


def write_meta_image(path, pixels, components=1):
    """A MetaImage of these pixels, indexed [z, y, x, component]."""
    size = pixels.shape[:3][::-1]
    header = (
        f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n"
        f"TransformMatrix = {' '.join(str(TURNED[row][axis]) for axis in range(3) for row in range(3))}\nOffset = 3 -4 10\n"
        f"ElementSpacing = 0.5 2 1.25\nDimSize = {' '.join(map(str, size))}\nElementNumberOfChannels = {components}\n"
        f"ElementType = {META_TYPES[pixels.dtype.str[1:]]}\nElementDataFile = LOCAL\n"
    )
    path.write_bytes(header.encode() + pixels.tobytes())


def read_meta_image(path, like):
    """Header as a dictionary, and the pixels."""
    data = path.read_bytes()
    end = data.index(b"ElementDataFile = LOCAL\n") + len(b"ElementDataFile = LOCAL\n")
    header = dict(line.split(" = ", 1) for line in data[:end].decode().splitlines())
    return header, np.frombuffer(data[end:], like.dtype).reshape(like.shape)


def expected_smoothing(pixels, sigma, real, spacing=(0.5, 2.0, 1.25)):
    result = np.empty(pixels.shape, real)
    for component in range(pixels.shape[-1]):
        image = itk.image_from_array(np.squeeze(pixels[..., component].astype(real)))
        image.SetSpacing(spacing[: image.GetImageDimension()])
        filtered = itk.array_from_image(SMOOTHING.function(image, sigma_array=sigma))
        result[..., component] = filtered.reshape(pixels.shape[:-1])
    return result


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("pixel", META_TYPES)
def test_smooth_keeps_the_pixel_type_and_the_geometry(tmp_path, backend, pixel, components):
    dtype = np.dtype(pixel)
    scale = 120.0 if dtype.itemsize == 1 else 30000.0
    offset = -60.0 if dtype.kind != "u" else 0.0
    pixels = (np.random.default_rng(2).random((6, 9, 12, components)) * scale + offset).astype(dtype)
    write_meta_image(tmp_path / "in.mha", pixels, components)
    report = tmp_path / "report.json"
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", "--sigma", "1,3,2", "--backend", backend, "--report", report) == 0
    given = read_meta_image(tmp_path / "in.mha", pixels)[0]
    header, found = read_meta_image(tmp_path / "out.mha", pixels)
    assert header["ElementType"] == META_TYPES[pixel] and header.get("ElementNumberOfChannels", "1") == str(components)
    for name in ("ElementSpacing", "Offset", "TransformMatrix", "DimSize"):
        np.testing.assert_allclose(*(np.array(h[name].split(), float) for h in (header, given)))
    real = np.float64 if pixel in ("i4", "u4", "f8") else np.float32
    expected = expected_smoothing(pixels, [1.0, 3.0, 2.0], real)
    if real == np.float32:
        np.testing.assert_array_equal(found, np.trunc(expected) if dtype.kind != "f" else expected)
    else:
        # ITK's filter stores float between the axes.
        np.testing.assert_allclose(found, expected, rtol=2e-7, atol=1.0 if dtype.kind != "f" else 1e-4)
    written = json.loads(report.read_text())
    assert set(written) == set(keys_of_report("smooth"))
    assert written["sigma"] == [1.0, 3.0, 2.0] and written["size"] == [12, 9, 6] and written["components_per_pixel"] == components
    assert set(written["seconds"]) == {"read", "filter", "write"}


@pytest.mark.parametrize("pixel, components", [("f4", 1), ("i2", 1), ("u1", 3)])
def test_smooth_in_parts_gives_the_file_of_the_whole_image(tmp_path, pixel, components):
    pixels = (np.random.default_rng(6).random((300, 9, 12, components)) * 100).astype(pixel)
    write_meta_image(tmp_path / "in.mha", pixels, components)
    report = tmp_path / "report.json"
    options = ("--sigma", "1,3,2", "--backend", "host")
    assert run("smooth", tmp_path / "in.mha", tmp_path / "parts.mha", *options, "--memory", "1G", "--report", report) == 0
    assert run("smooth", tmp_path / "in.mha", tmp_path / "whole.mha", *options) == 0
    header, found = read_meta_image(tmp_path / "parts.mha", pixels)
    given, expected = read_meta_image(tmp_path / "whole.mha", pixels)
    assert header == given
    # The host's slabs are computed in double: integers may fall on either side of a step.
    assert abs(found.astype(float) - expected).max() <= (1e-4 if pixel == "f4" else 1)
    written = json.loads(report.read_text())
    assert written["slabs"]["used"] == "one_sweep" and written["slabs"]["number_of_slabs"] == 3 and written["bytes_per_second"] > 0
    assert written["memory"] == 1 << 30


@pytest.mark.parametrize("name, pixels", [("out.mha", "out.mha"), ("out.mhd", "out.raw")])
def test_smooth_in_parts_leaves_no_file_if_the_disk_fills_up_at_any_write(tmp_path, capfd, monkeypatch, name, pixels):
    write_meta_image(tmp_path / "in.mha", np.ones((300, 9, 12, 1), "f4"))
    arguments = ("smooth", tmp_path / "in.mha", tmp_path / name, "--sigma", "2", "--memory", "1G")
    write = os.pwrite
    room = -1
    status = 1
    while status == 1:
        room += 1
        left = iter([write] * room)

        def write_if_there_is_room(file, data, place, left=left):
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(file, data[: len(data) // 2 + 1], place)  # a system may write less than it is given

        monkeypatch.setattr(os, "pwrite", write_if_there_is_room)
        status = run(*arguments)
        message = capfd.readouterr().err
        assert status == 0 or f"{pixels}' could not be written: No space left on device" in message
        assert (tmp_path / name).exists() == (tmp_path / pixels).exists() == (status == 0)
        assert room < 200
    assert room > 3
    monkeypatch.undo()
    found = (tmp_path / pixels).read_bytes()
    assert run(*arguments) == 0 and (tmp_path / pixels).read_bytes() == found


def test_smooth_in_parts_says_what_it_cannot(tmp_path, capfd):
    write_meta_image(tmp_path / "in.mha", np.zeros((300, 9, 12, 1), "f4"))
    for output, memory, message in (
        ("out.mha", "1M", "--memory allows .*; this sigma needs .* for the planes of '.*in.mha'"),
        ("out.nrrd", "100K", "the format of '.*out.nrrd', NRRD, is not written in parts; the whole image takes"),
        ("nowhere/out.mha", "1G", "out.mha' could not be written: there is no folder"),
    ):
        assert run("smooth", tmp_path / "in.mha", tmp_path / output, "--sigma", "2", "--memory", memory) == 1
        assert re.search(message, capfd.readouterr().err) and not (tmp_path / output).exists()
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.nrrd", "--sigma", "2", "--memory", "1G") == 0
    with pytest.raises(SystemExit, match="2"):
        run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", "--sigma", "2", "--memory", "8Q")
    assert "'8Q' is not a number of bytes above 0" in capfd.readouterr().err


def test_a_file_that_cannot_be_finished_does_not_remain(tmp_path, capfd):
    write_meta_image(tmp_path / "in.mha", np.ones((6, 9, 12, 1), "f4"))
    for exists in (False, True):
        if exists:
            (tmp_path / "out.png").write_bytes(b"what was there before")
        assert run("smooth", tmp_path / "in.mha", tmp_path / "out.png", "--sigma", "2") == 1
        assert "out.png' could not be written: PNG holds no floating-point numbers" in capfd.readouterr().err
        assert (tmp_path / "out.png").exists() == exists
    assert (tmp_path / "out.png").read_bytes() == b"what was there before"
    (tmp_path / "kept.mha").mkdir()
    assert run("smooth", tmp_path / "in.mha", tmp_path / "kept.mha", "--sigma", "2") == 1
    assert (tmp_path / "kept.mha").is_dir()


def test_smooth_does_not_write_over_the_pixels_of_another_header(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_meta_image(tmp_path / "in.mha", np.ones((300, 9, 12, 1), "f4"))
    header, pixels = (tmp_path / "in.mha").read_bytes().split(b"ElementDataFile = LOCAL\n")
    (tmp_path / "apart.mhd").write_bytes(header + b"ElementDataFile = other.raw\n")
    (tmp_path / "other.raw").write_bytes(pixels)
    os.link("in.mha", "link.mha")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for memory in ((), ("--memory", "1G")):
        with pytest.raises(SystemExit, match="2"):
            run("smooth", "apart.mhd", "other.mhd", "--sigma", "2", *memory)
        assert "'other.raw' of OUT is the input 'other.raw' too" in capfd.readouterr().err
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert run("smooth", "apart.mhd", "new.mhd", "--sigma", "2", "--memory", "1G") == 0
    expected = Path("new.raw").read_bytes()
    # A file may take the place of the one that it is made of, which is complete until then.
    assert run("smooth", "in.mha", "in.mha", "--sigma", "2", "--memory", "1G") == 0
    assert Path("in.mha").read_bytes().endswith(expected)
    assert run("smooth", "apart.mhd", "apart.mhd", "--sigma", "2", "--memory", "1G") == 0
    assert Path("apart.raw").read_bytes() == expected and Path("other.raw").read_bytes() == pixels
    assert Path("link.mha").read_bytes() == before["link.mha"]
    assert run("smooth", "link.mha", "link.mha", "--sigma", "2") == 0


def test_smooth_limits_values_to_the_range_of_the_type():
    values = np.array([-3.7, -0.9, 0.9, 254.9, 300.0, np.nan, np.inf])
    np.testing.assert_array_equal(truncate(values, np.dtype("u1")), [0, 0, 0, 254, 255, 0, 255])
    np.testing.assert_array_equal(truncate(values, np.dtype("i2")), [-3, 0, 0, 254, 300, 0, 32767])


def test_smooth_colours(tmp_path):
    pixels = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)
    itk.imwrite(itk.image_from_array(pixels, ttype=itk.Image[itk.RGBPixel[itk.UC], 2]), str(tmp_path / "in.png"))
    assert run("smooth", tmp_path / "in.png", tmp_path / "out.png", "--sigma", "1.5", "--approximation", "ACCURATE") == 0
    found = itk.array_from_image(itk.imread(str(tmp_path / "out.png")))
    expected = np.empty(pixels.shape)
    for channel in range(3):
        expected[..., channel] = SMOOTHING.function(pixels[..., channel].astype(np.float32), sigma=1.5, approximation="accurate")
    np.testing.assert_array_equal(found, np.clip(np.trunc(expected), 0, 255))


def test_smooth_beyond_the_ends(tmp_path):
    pixels = np.random.default_rng(5).random((7, 3)).astype("f4")
    itk.imwrite(itk.image_from_array(pixels), str(tmp_path / "in.mha"))
    options = ("--sigma", "4", "--boundary-mode", "CONSTANT", "--boundary-value", "0.25", "--backend", "host")
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", *options) == 0
    found = itk.array_from_image(itk.imread(str(tmp_path / "out.mha")))
    expected = SMOOTHING.function(pixels, sigma=4.0, boundary_mode="constant", boundary_value=0.25, backend="host")
    np.testing.assert_array_equal(found, expected)
    assert np.abs(found - 0.25).max() < 0.1 < np.abs(pixels - 0.25).max()


def test_smooth_a_single_slice(tmp_path):
    pixels = np.random.default_rng(4).random((1, 9, 12, 1)).astype("f4")
    write_meta_image(tmp_path / "in.mha", pixels)
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", "-s", "1,3") == 0
    header, found = read_meta_image(tmp_path / "out.mha", pixels)
    assert header["DimSize"].split() == ["12", "9", "1"]
    np.testing.assert_array_equal(found, expected_smoothing(pixels, [1.0, 3.0], np.float32))


def test_smooth_into_another_format(tmp_path):
    assert run("smooth", DATA / "HeadT1Volume.nii.gz", tmp_path / "out.nrrd", "--sigma", "3") == 0
    given, found = itk.imread(str(DATA / "HeadT1Volume.nii.gz")), itk.imread(str(tmp_path / "out.nrrd"))
    assert type(found) is type(given)
    np.testing.assert_allclose(itk.spacing(found), itk.spacing(given), rtol=1e-6)
    np.testing.assert_allclose(itk.origin(found), itk.origin(given), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(itk.array_from_matrix(found.GetDirection()), itk.array_from_matrix(given.GetDirection()), atol=1e-6)
    assert 0 < itk.array_from_image(found).std() < itk.array_from_image(given).std()


def test_images_that_cannot_be_smoothed(capsys, tmp_path):
    assert "'none.png' does not exist or cannot be opened" in expect_failure(capsys, "smooth", "none.png", "out.png", "--sigma", 1)
    (tmp_path / "text.txt").write_text("no image")
    assert "text.txt' is in none of the known formats" in expect_failure(capsys, "smooth", tmp_path / "text.txt", "out.png", "-s", 1)
    brain = DATA / "BrainProtonDensitySlice.png"
    assert "'out.foo' belongs to none" in expect_failure(capsys, "smooth", brain, "out.foo", "--sigma", 1)
    nowhere = tmp_path / "nowhere" / "out.png"
    assert str(nowhere) in expect_failure(capsys, "smooth", brain, nowhere, "--sigma", 1)


def test_smooth_few_planes(tmp_path):
    """Beyond its ends a line goes on as its first and last pixel do, however short it is."""
    pixels = np.random.default_rng(7).random((2, 9, 12, 1)).astype("f4")
    write_meta_image(tmp_path / "thin.mha", pixels)
    write_meta_image(tmp_path / "thick.mha", np.repeat(pixels, [20, 20], axis=0))
    for name in ("thin", "thick"):
        assert run("smooth", tmp_path / f"{name}.mha", tmp_path / f"{name}_out.mha", "--sigma", 1) == 0
    thin = read_meta_image(tmp_path / "thin_out.mha", pixels)[1]
    thick = read_meta_image(tmp_path / "thick_out.mha", np.empty((40, 9, 12, 1), "f4"))[1]
    np.testing.assert_allclose(thin, thick[19:21], atol=1e-6)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "the following arguments are required: COMMAND"),
        (("sharpen",), "invalid choice: 'sharpen'"),
        (("smooth",), "the following arguments are required: IN, OUT, -s/--sigma"),
        (("smooth", "in.png", "out.png", "--sigma", "two"), "'two' is not a list of numbers"),
        (("smooth", "in.png", "out.png", "--sigma", "0"), "'0' is not a number greater than 0"),
        (("smooth", "in.png", "out.png", "--sigma", "1,nan"), "is not a number greater than 0"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--backend", "gpu"), '"gpu"; it must be one of automatic, cuda, host'),
        (("smooth", "in.png", "out.png", "--sig", "1"), "required: -s/--sigma"),
        (("smooth", DATA / "HeadT1Volume.nii.gz", "out.mha", "--sigma", "1,2"), "one for each of the 3 axes of the image"),
        (("segment", "in.png"), "the following arguments are required: --law"),
        (("segment", "in.png", "--law", "weibull"), '"weibull"; it must be one of gaussian'),
        (("segment", "in.png", "--law", "gamma", "--initial-region", "1,2,3"), "'1,2,3' is not X,Y,WIDTH,HEIGHT"),
        (("segment", "in.png", "--law", "gamma", "--initial-region", "1,2,3,4", "--initial-mask", "m.png"), "not allowed with"),
        (("segment", "in.png", "--law", "gamma", "--overlay", "picture.svg"), "'picture.svg' does not end in .png"),
        (("segment", "in.png", "--law", "gamma", "--inside-value", "256"), "'256' is not a whole number from 0 to 255"),
        (("segment", "in.png", "--law", "gamma", "--schedule", "random"), "coarse_to_fine, as_published"),
        (("segment", "in.png", "--law", "gamma", "--no-mdl"), "unrecognized arguments: --no-mdl"),
        (("partition", "in.png"), "the following arguments are required: --law"),
        (("partition", "in.png", "--law", "gamma", "--block-size", "-1"), "'-1' is not a whole number of 0 or more"),
        (("partition", "in.png", "--law", "gamma", "--block-size", "four"), "'four' is not a whole number of 0 or more"),
        (("partition", "in.png", "--law", "gamma", "--polygons", "p.json", "--labels-only"), "not allowed with"),
        (("partition", "in.png", "--law", "gamma", "--overlay", "picture.svg"), "'picture.svg' does not end in .png"),
        (("vesselness", "in.png", "out.mha"), "the following arguments are required: --sigmas"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1,0"), "'1,0' is not a number greater than 0"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1", "--measure", "ridge"), "objectness, frangi, sato, jerman, meijering"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1", "--mip", "picture.svg"), "'picture.svg' does not end in .png"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1", "--object-dimension", "-1"), "'-1' is not a whole number"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1", "--tau", "2"), "'2' is not a number from 0 to 1"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1", "--tau", "nan"), "'nan' is not a number from 0 to 1"),
        *(
            (("vesselness", "in.png", "out.mha", "--sigmas", "1", f"--{name}", value), f"'{value}' is not a number greater than 0")
            for name in ("alpha", "beta", "gamma")
            for value in ("nan", "inf", "0", "-1", "much")
        ),
        (("compare", "--runs", "0"), "'0' is not a whole number of 1 or more"),
        (("info", "--overides"), "unrecognized arguments: --overides"),
    ],
    ids=lambda value: " ".join(map(str, value))[-40:] if isinstance(value, tuple) else "",
)
def test_wrong_arguments(capsys, arguments, message):
    text = expect_wrong_arguments(capsys, *arguments)
    assert message in text and "--help' lists the arguments" in text


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    itk.imwrite(draw_image("gamma"), str(folder / "in.mha"))
    return folder / "in.mha"


@pytest.mark.parametrize("measure", ["objectness", "jerman"])
def test_vesselness(capsys, tmp_path, backend, measure):
    names = {name: tmp_path / f"{name}{end}" for name, end in {"out": ".mha", "scale": ".nrrd", "mip": ".png", "report": ".json"}.items()}
    outputs = ["--scale-image", names["scale"], "--mip", names["mip"], "--report", names["report"], "--backend", backend]
    phantom = DATA / "VesselPhantom.nii.gz"
    assert run("vesselness", phantom, names["out"], "--sigmas", "0.6,1.2", "--measure", measure.upper(), *outputs) == 0
    printed = capsys.readouterr()
    assert "vessels enhanced with backend" in printed.out and printed.err == ""
    given, found = itk.imread(str(phantom), itk.F), itk.imread(str(names["out"]))
    assert itk.array_view_from_image(found).dtype == np.float32
    np.testing.assert_allclose(itk.spacing(found), itk.spacing(given), rtol=1e-6)
    expected, scale = itk_cudafilters.vesselness(
        given, (0.6, 1.2), measure, spacing="image", mode="nearest", approximation="deriche", backend=backend, return_scale=True
    )
    response = itk.array_from_image(found)
    np.testing.assert_array_equal(response, itk.array_from_image(expected))
    np.testing.assert_array_equal(itk.array_from_image(itk.imread(str(names["scale"]))), itk.array_from_image(scale))
    picture = itk.array_from_image(itk.imread(str(names["mip"])))
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
    itk.imwrite(itk.image_from_array(pixels), str(tmp_path / "in.mha"))
    options = ("--sigmas", "1.5", "--dark", "--no-normalize", "--gamma", "3", "--boundary-mode", "mirror", "--object-dimension", "0")
    assert run("vesselness", tmp_path / "in.mha", tmp_path / "out.mha", *options) == 0
    found = itk.array_from_image(itk.imread(str(tmp_path / "out.mha")))
    expected = itk_cudafilters.vesselness(
        pixels, 1.5, object_dimension=0, bright=False, normalize=False, gamma=3.0, mode="mirror", approximation="deriche"
    )
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


def test_images_whose_vessels_cannot_be_enhanced(capsys, tmp_path):
    brain = DATA / "BrainProtonDensitySlice.png"
    assert "PNG holds no floating-point numbers" in expect_failure(capsys, "vesselness", brain, "out.png", "--sigmas", 1)
    out = tmp_path / "out.mha"
    assert "ObjectDimension is 2" in expect_failure(capsys, "vesselness", brain, out, "--sigmas", 1, "--object-dimension", 2)
    assert "'none.png' does not exist" in expect_failure(capsys, "vesselness", "none.png", out, "--sigmas", 1)


def test_partition(capsys, tmp_path, scene):
    ends = {"labels": "tif", "polygons": "geojson", "table": "csv", "means": "mha", "overlay": "png", "report": "json"}
    names = {name: tmp_path / f"{name}.{end}" for name, end in ends.items()}
    outputs = [word for name, path in names.items() for word in (f"--{name}", path)]
    assert run("partition", scene, "--law", "GAMMA", "--looks", 1, "--segment-cost", 12, *outputs) == 0
    printed = capsys.readouterr()
    expected = partition_image(draw_image("gamma"), "gamma", looks=1, segment_cost=12)
    assert f"divided with backend {expected.statistics.backend}" in printed.out
    assert printed.err.endswith("labels.tif': TIFF files keep no origin\n")
    assert f"\n{len(expected)} regions, " in printed.out
    labels = itk.array_from_image(itk.imread(str(names["labels"])))
    assert labels.dtype == np.uint16
    np.testing.assert_array_equal(labels, itk.array_from_image(expected.labels))
    means = itk.imread(str(names["means"]))
    np.testing.assert_array_equal(itk.array_from_image(means), itk.array_from_image(expected.means))
    assert list(itk.spacing(means)) == list(SPACING) and list(itk.origin(means)) == list(ORIGIN)
    lines = list(csv.DictReader(names["table"].open(encoding="utf-8")))
    assert list(lines[0]) == [*expected.table, "neighbours"]
    for name in ("region", "pixels", "mean", "area"):
        np.testing.assert_array_equal([float(line[name]) for line in lines], expected.table[name])
    assert [[int(word) for word in line["neighbours"].split()] for line in lines] == expected.neighbours
    collection = json.loads(names["polygons"].read_text())
    for feature, rings in zip(collection["features"], expected.polygons, strict=True):
        np.testing.assert_array_equal(feature["geometry"]["coordinates"][0][:-1], rings[0])
        assert set(feature["properties"]) == {*lines[0], "coordinates", "input"}
    report = json.loads(names["report"].read_text())
    keys = keys_of_report("partition")
    assert set(report) == set(keys) and report["regions"] == len(expected) and set(report["seconds"]) == {"read", "filter"}
    assert set(collection["partition"]) == set(keys[keys.index("law") : keys.index("description_of_one_region") + 1])
    picture = itk.array_from_image(itk.imread(str(names["overlay"])))
    scale = picture.shape[0] // SHAPE[0]
    boundary = (picture == (255, 150, 30)).all(axis=-1)
    inner = labels[:, 1:] != labels[:, :-1]
    np.testing.assert_array_equal(boundary[scale // 2 :: scale, scale::scale][:, : inner.shape[1]] >= inner, True)


def test_partition_from_labels_and_masks(tmp_path, scene):
    parts, valid = np.zeros(SHAPE, np.uint16), np.ones(SHAPE, np.uint8)
    parts[:, 100:], valid[:40] = 300, 0
    for name, pixels in (("parts", parts), ("valid", valid)):
        image = itk.image_from_array(pixels)
        image.CopyInformation(draw_image("gamma"))
        itk.imwrite(image, str(tmp_path / f"{name}.mha"))
    given = ["--initial-labels", tmp_path / "parts.mha", "--valid-mask", tmp_path / "valid.mha", "--no-allow-merging"]
    given += ["--maximum-number-of-iterations", 1, "--labels", tmp_path / "labels.mha"]
    assert run("partition", scene, "--law", "gamma", *given) == 0
    labels = itk.array_from_image(itk.imread(str(tmp_path / "labels.mha")))
    assert (labels[:40] == 0).all() and set(np.unique(labels)) == {0, 1, 2}


def test_segment(capsys, tmp_path, scene, backend):
    names = {name: tmp_path / f"out.{end}" for name, end in {"label": "mha", "contour": "geojson", "report": "json"}.items()}
    outputs = [word for name, path in names.items() for word in (f"--{name}", path)]
    assert run("segment", scene, "--law", "GAMMA", "--inside-value", 200, "--backend", backend, *outputs) == 0
    printed = capsys.readouterr()
    assert "segmented with backend " in printed.out and printed.err == ""
    expected = segment_region(draw_image("gamma"), "gamma", inside_value=200)
    label = itk.imread(str(names["label"]))
    assert type(label) is itk.Image[itk.UC, 2]
    np.testing.assert_array_equal(itk.array_from_image(label), itk.array_from_image(expected.label))
    assert list(itk.spacing(label)) == list(SPACING) and list(itk.origin(label)) == list(ORIGIN)
    (feature,) = json.loads(names["contour"].read_text())["features"]
    np.testing.assert_array_equal(feature["geometry"]["coordinates"][0][:-1], expected.contour)
    report = json.loads(names["report"].read_text())
    assert set(report) == set(keys_of_report("segment"))
    first = keys_of_report("segment")
    assert set(feature["properties"]) == {*first[: first.index("description_length") + 1], "coordinates"}
    assert report["law"] == "gamma" and report["stop"] == "converged" and report["converged"] is True
    assert report["inside"] == {"pixels": expected.statistics.inside.number_of_pixels, "mean": pytest.approx(60, rel=0.1), "variance": None}
    assert set(report["record"][0]) == {"what", "block_side", "step", "nodes", "pixels_inside", "criterion", "change"}
    assert set(report["seconds"]) == {"read", "filter", "samples", "sums", "start", "moves", "removal"}


def test_segment_from_files(tmp_path, scene):
    expected = segment_region(draw_image("gamma"), "gamma", looks=1, initial_region=(70, 60, 50, 40))
    mask = np.zeros(SHAPE, np.uint16)
    mask[60:100, 70:120] = 256
    itk.imwrite(itk.image_from_array(mask), str(tmp_path / "mask.png"))
    mask_image = itk.image_from_array(mask)
    mask_image.CopyInformation(draw_image("gamma"))
    itk.imwrite(mask_image, str(tmp_path / "mask.mha"))
    ring = [[x * SPACING[0] + ORIGIN[0], y * SPACING[1] + ORIGIN[1]] for x, y in ((69.5, 59.5), (119.5, 59.5), (119.5, 99.5), (69.5, 99.5))]
    polygon = {"type": "Polygon", "coordinates": [ring + ring[:1]]}
    (tmp_path / "physical.geojson").write_text(json.dumps(polygon))
    pixel = {"type": "Polygon", "coordinates": [[[69.5, 59.5], [119.5, 59.5], [119.5, 99.5], [69.5, 99.5], [69.5, 59.5]]]}
    feature = {"type": "Feature", "properties": {"coordinates": "pixel"}, "geometry": pixel}
    (tmp_path / "pixel.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    starts = {
        "--initial-region": "70,60,50,40",
        "--initial-mask": tmp_path / "mask.mha",
        "--initial-contour": tmp_path / "physical.geojson",
    }
    for option, value in [*starts.items(), ("--initial-contour", tmp_path / "pixel.geojson")]:
        assert run("segment", scene, "--law", "gamma", option, value, "--label", tmp_path / "label.png") == 0
        np.testing.assert_array_equal(itk.array_from_image(itk.imread(str(tmp_path / "label.png"))), itk.array_from_image(expected.label))


def test_segment_with_a_mask_of_valid_pixels(tmp_path, scene):
    valid = np.ones(SHAPE, np.uint8)
    valid[:, :30] = 0
    image = itk.image_from_array(valid)
    image.CopyInformation(draw_image("gamma"))
    itk.imwrite(image, str(tmp_path / "valid.mha"))
    report = tmp_path / "report.json"
    assert run("segment", scene, "--law", "gamma", "--valid-mask", tmp_path / "valid.mha", "--report", report) == 0
    found = json.loads(report.read_text())
    assert found["inside"]["pixels"] + found["outside"]["pixels"] == valid.sum()


def test_parameters_of_segment_reach_the_filter(tmp_path, scene):
    parameters = ["--schedule", "AsPublished", "--maximum-step", 16, "--minimum-edge-length", 8, "--minimum-gain", 1e-3]
    parameters += ["--no-use-description-length", "--maximum-number-of-iterations", 40, "--maximum-number-of-nodes", 100]
    parameters += ["--minimum-region-size", 100, "--start", "margin-rectangle", "--looks", 2.5]
    assert run("segment", scene, "--law", "gamma", *parameters, "--report", tmp_path / "report.json") == 0
    expected = segment_region(
        draw_image("gamma"),
        "gamma",
        schedule="as_published",
        maximum_step=16,
        minimum_edge_length=8.0,
        minimum_gain=1e-3,
        use_description_length=False,
        maximum_number_of_iterations=40,
        maximum_number_of_nodes=100,
        minimum_region_size=100,
        start="margin_rectangle",
        number_of_looks=2.5,
    ).statistics
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["criterion"] == pytest.approx(expected.criterion, rel=1e-12)
    assert report["stop"] == expected.stop and len(report["record"]) == len(expected.record)


def test_segment_takes_the_luminance_of_colours_and_single_slices(tmp_path):
    grey = draw("poisson", np.uint8)
    colours = np.repeat(grey[..., None], 3, axis=2)
    itk.imwrite(itk.image_from_array(colours, ttype=itk.Image[itk.RGBPixel[itk.UC], 2]), str(tmp_path / "colour.png"))
    itk.imwrite(itk.image_from_array(grey[None]), str(tmp_path / "slice.mha"))
    for name in ("colour.png", "slice.mha"):
        assert run("segment", tmp_path / name, "--law", "poisson", "--label", tmp_path / "label.png") == 0
        assert overlap(itk.array_from_image(itk.imread(str(tmp_path / "label.png")))) > 0.95


def test_images_that_cannot_be_segmented(capsys, tmp_path, scene):
    assert "has 3 dimensions" in expect_failure(capsys, "segment", DATA / "HeadT1Volume.nii.gz", "--law", "gamma")
    write_meta_image(tmp_path / "int.mha", np.ones((1, 20, 20, 1), "i4"))
    assert "pixels of type int, which are not supported" in expect_failure(capsys, "segment", tmp_path / "int.mha", "--law", "gamma")
    write_meta_image(tmp_path / "vector.mha", np.ones((1, 20, 20, 2), "f4"), 2)
    assert "has 2 components per pixel" in expect_failure(capsys, "segment", tmp_path / "vector.mha", "--law", "gamma")
    text = expect_failure(capsys, "segment", scene, "--law", "gamma", "--initial-region", "1,2,1000,3")
    assert "initial_region is (1, 2, 1000, 3)" in text and "in the image of 200 x 160 pixels" in text
    for option in ("--minimum-gain", "--maximum-step", "--minimum-region-size"):
        setter = option.title().replace("-", "")
        assert setter in expect_failure(capsys, "segment", scene, "--law", "gamma", option, "0")
    assert "'none.mha' does not exist" in expect_failure(capsys, "segment", scene, "--law", "gamma", "--valid-mask", "none.mha")
    for text in ("{", "[]", '{"type": "Point", "coordinates": [1, 2]}', '{"type": "FeatureCollection", "features": []}'):
        (tmp_path / "bad.geojson").write_text(text)
        assert "is no GeoJSON file with a polygon" in expect_failure(
            capsys, "segment", scene, "--law", "gamma", "--initial-contour", tmp_path / "bad.geojson"
        )


def test_overlay(tmp_path, scene):
    assert run("segment", scene, "--law", "gamma", "--overlay", tmp_path / "overlay.png") == 0
    picture = itk.array_from_image(itk.imread(str(tmp_path / "overlay.png")))
    scale = 5  # 1000 / 200
    assert picture.shape == (SHAPE[0] * scale, SHAPE[1] * scale, 3) and picture.dtype == np.uint8
    found = segment_region(draw_image("gamma"), "gamma")
    label = np.kron(itk.array_from_image(found.label), np.ones((scale, scale), np.uint8))
    pixels = draw("gamma").astype(np.float64)
    low, high = np.percentile(pixels, [0.5, 99.5])
    grey = np.floor(np.clip(255.0 * (pixels - low) / (high - low), 0.0, 255.0) + 0.5).astype(np.uint8)
    expected = np.repeat(np.kron(grey, np.ones((scale, scale), np.uint8))[..., None], 3, axis=2)
    padded = np.pad(label, 1, mode="edge")
    edge = np.zeros(label.shape, bool)
    for down, right in ((0, 1), (2, 1), (1, 0), (1, 2)):
        edge |= padded[down : down + label.shape[0], right : right + label.shape[1]] != label
    expected[edge] = (255, 150, 30)
    corners = np.round(scale * (found.contour_in_pixels + 0.5)).astype(int)
    for x, y in corners:
        expected[y - 3 : y + 3, x - 3 : x + 3] = 0
    for x, y in corners:
        expected[y - 2 : y + 2, x - 2 : x + 2] = 255
    np.testing.assert_array_equal(picture, expected)
    np.testing.assert_array_equal(inside(found.contour_in_pixels + 0.5, SHAPE), itk.array_from_image(found.label) != 0)


def test_overlay_without_a_significant_boundary(tmp_path, capsys):
    noise = np.random.default_rng(1).exponential(5.0, (400, 1300)).astype(np.float32)
    noise[0, 0] = 1e-3
    itk.imwrite(itk.image_from_array(noise), str(tmp_path / "noise.mha"))
    assert run("segment", tmp_path / "noise.mha", "--law", "gamma", "--overlay", tmp_path / "overlay.png") == 0
    assert "no significant boundary" in capsys.readouterr().out
    picture = itk.array_from_image(itk.imread(str(tmp_path / "overlay.png")))
    assert picture.shape == (400, 1300, 3)
    assert (picture[..., 0] == picture[..., 1]).all() and (picture[..., 0] == picture[..., 2]).all()


def test_overlay_of_one_value():
    found = segment_region(draw("gaussian"), "gaussian")
    picture = _command.draw_overlay(np.ones(SHAPE, np.float32), found)
    assert set(np.unique(picture.reshape(-1, 3), axis=0).ravel()) == {0, 30, 150, 255}


def test_compare(capsys, tmp_path, scene, on_gpu):
    report, prefix = tmp_path / "report.json", tmp_path / "raw-"
    assert run("compare", scene, "--sigma", "2,4", "--runs", 2, "--report", report, "--raw", prefix) == 0
    printed = capsys.readouterr().out
    assert "200 x 160 pixels" in printed and "ms" in printed
    found = json.loads(report.read_text())
    assert set(found) == set(keys_of_report("compare"))
    assert found["sigma"] == [2.0, 4.0] and found["size"] == [200, 160] and found["runs"] == 2
    assert found["milliseconds"] > 0.0 and found["itk_milliseconds"] > 0.0
    assert bool(found["device"]) == on_gpu
    largest = float(draw("gamma").max())
    assert found["largest_difference_from_float32"] <= (2e-6 * largest if on_gpu else 0.0)
    assert 0.0 < found["largest_difference_from_float64"] <= 2e-6 * largest
    raw = {name: np.fromfile(f"{prefix}{name}.raw", np.float32).reshape(SHAPE) for name in ("input", "result", "difference")}
    np.testing.assert_array_equal(raw["input"], draw("gamma"))
    np.testing.assert_array_equal(raw["result"], itk.array_from_image(SMOOTHING.function(draw_image("gamma"), sigma_array=[2.0, 4.0])))
    assert np.abs(raw["difference"]).max() == pytest.approx(found["largest_difference_from_float64"], rel=1e-6)


def test_compare_without_an_image(capsys, tmp_path):
    assert run("compare", "--size", 32, "--runs", 1, "--report", tmp_path / "report.json") == 0
    assert "32 x 32 x 32 pixels" in capsys.readouterr().out
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["input"] is None and found["sigma"] == [4.0, 4.0, 4.0] and found["spacing"] == [1.0, 1.0, 1.0]


def test_info(capsys):
    assert run("info") == 0
    text = capsys.readouterr().out
    assert text.startswith(str(itk_cudafilters.info())) and "CudaGaussianImageFilterFactory is not registered" in text
    assert run("info", "--overrides") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 200 and lines == sorted(lines)
    assert "SmoothingRecursiveGaussianImageFilter<Image<float, 3>, Image<float, 3>>" in lines


@pytest.mark.parametrize("arguments", [("--version",), ("smooth", "--version"), ("segment", "--version")])
def test_version(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        run(*arguments)
    assert end.value.code == 0
    expected = f"itk-cudafilters {itk_cudafilters.__version__}, ITK {_library.core().itk_version}\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("part", ["smooth", "segment", "compare", "info"])
def test_help(capsys, part):
    with pytest.raises(SystemExit) as end:
        run(part, "--help")
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"usage: itk-cudafilters {part}")
    if part != "info":
        assert "physical units" in text.lower() and "millimetres" in text and "(default: automatic)" in text
    if part == "segment":
        assert all(law in text for law in itk_cudafilters.noise_laws())
        assert "(default: coarse_to_fine)" in text and "in nats (default: 1e-06)" in text and "in pixels (default: 32)" in text


def test_progress(capfd, monkeypatch, tmp_path, scene):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(_command, "_progress_is_shown", lambda: True)
    assert run("smooth", scene, tmp_path / "out.mha", "--sigma", 2) == 0
    assert re.search(r"smoothing: +100%", capfd.readouterr().err)
    assert run("segment", scene, "--law", "gamma") == 0
    assert re.search(r"segment_region: +100%", capfd.readouterr().err)


def test_progress_is_for_terminals(monkeypatch):
    assert not _command._progress_is_shown()
    monkeypatch.setattr(sys, "stderr", type("Terminal", (), {"isatty": lambda self: True})())
    monkeypatch.setattr(_command.importlib.util, "find_spec", lambda name: None)
    assert not _command._progress_is_shown()
    monkeypatch.setattr(_command.importlib.util, "find_spec", lambda name: name)
    assert _command._progress_is_shown()


def test_names_that_are_not_utf8(tmp_path):
    name = tmp_path / "Schädel".encode("latin-1").decode("utf-8", "surrogateescape")
    _command._write_report(str(tmp_path / "report.json"), {"input": str(name), "variance": float("nan")})
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert found == {"input": str(tmp_path / "Sch\ufffddel"), "variance": None}


def test_module_runs_the_command(tmp_path):
    brain = DATA / "BrainProtonDensitySlice.png"
    done = subprocess.run(
        [sys.executable, "-m", "itk_cudafilters", "smooth", brain, tmp_path / "out.png", "--sigma", "2"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "smoothed with backend " in done.stdout and (tmp_path / "out.png").is_file()


def test_entry_point():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="itk-cudafilters")
    assert entry.load() is _command.main


def test_package_does_not_load_the_command():
    code = "import sys, itk_cudafilters; print([name for name in sys.modules if name in ('itk_cudafilters._command', 'argparse')])"
    with_command, without = run_python(code), run_python("import sys, itk; print('argparse' in sys.modules)")
    assert "_command" not in with_command
    assert ("argparse" in with_command) <= (without == "True\n")
