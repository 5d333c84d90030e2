# SPDX-License-Identifier: Apache-2.0
"""The part smooth of the command itk-cudafilters: files, whole and in parts."""
import errno
import json
import os
import re
import resource
import signal
from pathlib import Path

import itk
import numpy as np
import pytest
from command import DATA, META_TYPES, expect_failure, expect_wrong_arguments, keys_of_report, read_meta_image, run, run_process
from command import write_meta_image

from itk_cudafilters import Image, read_image, write_image
from itk_cudafilters._arrays import truncate


def expected_smoothing(pixels, sigma, spacing=(0.5, 2.0, 1.25), **how):
    """Of each component, by scipy: a Gaussian that is cut off where it is below 1e-14. sigma and spacing begin with x."""
    ndimage = pytest.importorskip("scipy.ndimage")
    widths = [sigma_of / step for sigma_of, step in zip(sigma, spacing)][::-1]
    result = np.empty(pixels.shape)
    for component in range(pixels.shape[-1]):
        values = pixels[..., component].astype(np.float64)
        axes = [axis for axis in range(values.ndim) if values.shape[axis] > 1][-len(widths) :]
        result[..., component] = ndimage.gaussian_filter(values, widths, axes=axes, truncate=8.0, **{"mode": "nearest", **how})
    return result


def expect_near(found, expected, tolerance):
    """Floats are within the tolerance; integers are the truncated numbers, or their neighbours where these are near a step."""
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)
    else:
        limits = np.iinfo(found.dtype)
        low, high = (np.clip(np.trunc(expected + step), limits.min, limits.max) for step in (-tolerance, tolerance))
        assert ((found >= low) & (found <= high)).all()


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("pixel", META_TYPES)
def test_smooth_keeps_the_pixel_type_and_the_geometry(tmp_path, backend, pixel, components):
    dtype = np.dtype(pixel)
    scale = 120.0 if dtype.itemsize == 1 else 30000.0
    offset = -60.0 if dtype.kind != "u" else 0.0
    pixels = (np.random.default_rng(2).random((6, 9, 12, components)) * scale + offset).astype(dtype)
    write_meta_image(tmp_path / "in.mha", pixels, components)
    report = tmp_path / "report.json"
    options = ("--sigma", "1,3,2", "--approximation", "accurate", "--backend", backend, "--report", report)
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", *options) == 0
    given = read_meta_image(tmp_path / "in.mha", pixels)[0]
    header, found = read_meta_image(tmp_path / "out.mha", pixels)
    assert header["ElementType"] == META_TYPES[pixel] and header.get("ElementNumberOfChannels", "1") == str(components)
    for name in ("ElementSpacing", "Offset", "TransformMatrix", "DimSize"):
        np.testing.assert_allclose(*(np.array(h[name].split(), float) for h in (header, given)))
    expect_near(found, expected_smoothing(pixels, [1.0, 3.0, 2.0]), 2e-5 * scale)
    written = json.loads(report.read_text())
    assert set(written) == set(keys_of_report("smooth"))
    assert written["sigma"] == [1.0, 3.0, 2.0] and written["size"] == [12, 9, 6] and written["components_per_pixel"] == components
    assert set(written["seconds"]) == {"read", "filter", "write"}


ITK_CASES = {
    "png": ((1, 60, 80, 1), "u1", "4", (1.0, 1.0, 1.0)),
    "nrrd": ((4, 5, 6, 1), "f4", "1", (1.0, 1.0, 2.0)),
    "nii": ((4, 5, 6, 1), "f4", "1,2,3", (1.0, 1.0, 2.0)),
    "tif": ((1, 5, 6, 3), "u1", "1", (1.0, 1.0, 1.0)),
    "mha": ((1, 6, 8, 1), "i2", "1.5", (1.0, 2.0, 5.0)),
}


@pytest.mark.parametrize("extension", ITK_CASES)
def test_smooth_gives_the_pixels_of_the_filter_of_itk(tmp_path, extension):
    """With the default approximation and boundary, of an image of float that ITK's own filter smooths."""
    shape, pixel, sigma, spacing = ITK_CASES[extension]
    pixels = (np.random.default_rng(9).random(shape) * 250.0).astype(pixel)
    is_slice = shape[0] == 1
    image = Image(pixels[..., 0] if shape[-1] == 1 else pixels, spacing, has_components=shape[-1] > 1)
    if is_slice and extension != "mha":
        image = Image(image.array[0], spacing[:2], has_components=shape[-1] > 1)
    write_image(image, tmp_path / f"in.{extension}")
    assert run("smooth", tmp_path / f"in.{extension}", tmp_path / f"out.{extension}", "--sigma", sigma) == 0
    found = read_image(tmp_path / f"out.{extension}").array.reshape(shape)
    widths = [float(width) for width in sigma.split(",")]
    dimension = 2 if is_slice else 3
    for component in range(shape[-1]):
        given = itk.image_from_array(pixels[..., component].astype(np.float32).reshape(shape[3 - dimension : 3]))
        given.SetSpacing(spacing[:dimension])
        expected = itk.smoothing_recursive_gaussian_image_filter(given, sigma_array=widths * (dimension // len(widths)))
        expect_near(found[..., component].reshape(shape[3 - dimension : 3]), itk.array_from_image(expected), 1e-4)


def test_smooth_never_wraps_around(tmp_path):
    """ITK's approximation is negative beside the kernel's main part, so that it leaves the range of the pixels."""
    pixels = np.zeros((8, 24), np.uint16)
    pixels[:, 8:16] = 65535
    for dtype in (np.uint16, np.float32):
        write_image(pixels.astype(dtype), tmp_path / f"{np.dtype(dtype)}.mha")
        assert run("smooth", tmp_path / f"{np.dtype(dtype)}.mha", tmp_path / f"out_{np.dtype(dtype)}.mha", "--sigma", 1) == 0
    exact, found = (read_image(tmp_path / f"out_{name}.mha").array for name in ("float32", "uint16"))
    assert exact.min() < -1.0 or exact.max() > 65536.0
    np.testing.assert_array_equal(found, np.clip(np.trunc(exact), 0, 65535))


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
    write_image(Image(pixels, has_components=True), tmp_path / "in.png")
    assert run("smooth", tmp_path / "in.png", tmp_path / "out.png", "--sigma", "1.5", "--approximation", "ACCURATE") == 0
    found = read_image(tmp_path / "out.png").array
    expect_near(found, expected_smoothing(pixels, [1.5, 1.5], (1.0, 1.0)), 1e-3)


def test_smooth_beyond_the_ends(tmp_path):
    pixels = np.random.default_rng(5).random((7, 3)).astype("f4")
    write_image(pixels, tmp_path / "in.mha")
    options = ("--sigma", "4", "--approximation", "accurate", "--boundary-mode", "CONSTANT", "--boundary-value", "0.25")
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", *options) == 0
    found = read_image(tmp_path / "out.mha").array
    expected = expected_smoothing(pixels[..., None], [4.0, 4.0], (1.0, 1.0), mode="constant", cval=0.25)
    np.testing.assert_allclose(found, expected[..., 0], rtol=0.0, atol=2e-5)
    assert np.abs(found - 0.25).max() < 0.1 < np.abs(pixels - 0.25).max()


def test_smooth_a_single_slice(tmp_path):
    pixels = np.random.default_rng(4).random((1, 9, 12, 1)).astype("f4")
    write_meta_image(tmp_path / "in.mha", pixels)
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", "-s", "1,3", "--approximation", "accurate") == 0
    header, found = read_meta_image(tmp_path / "out.mha", pixels)
    assert header["DimSize"].split() == ["12", "9", "1"]
    expect_near(found, expected_smoothing(pixels, [1.0, 3.0]), 2e-5)


def test_smooth_into_another_format(tmp_path):
    assert run("smooth", DATA / "HeadT1Volume.nii.gz", tmp_path / "out.nrrd", "--sigma", "3") == 0
    given, found = read_image(DATA / "HeadT1Volume.nii.gz"), read_image(tmp_path / "out.nrrd")
    assert found.dtype == given.dtype
    np.testing.assert_allclose(found.spacing, given.spacing, rtol=1e-6)
    np.testing.assert_allclose(found.origin, given.origin, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.direction, given.direction, atol=1e-6)
    assert 0 < found.array.std() < given.array.std()


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


def test_pixels_that_do_not_count(tmp_path):
    """Those that are NaN or infinite are NaN in the result, and those where the mask is 0 get values from around them. Neither
    spreads: far from them the result is that of the whole image."""
    pixels = np.random.default_rng(10).random((40, 90)).astype(np.float32)
    hidden = np.zeros(pixels.shape, bool)
    hidden[10:14, 5:9] = True
    damaged = np.where(hidden, np.nan, pixels)
    damaged[12, 7] = -np.inf
    write_image(pixels, tmp_path / "in.mha")
    write_image(damaged, tmp_path / "nan.mha")
    write_image(np.where(hidden, np.float32(1e30), pixels), tmp_path / "huge.mha")
    write_image((~hidden).astype(np.uint16) * np.uint16(256), tmp_path / "mask.png")
    write_image(Image((~hidden)[None].astype(np.uint8)), tmp_path / "slice.mha")
    for name, options in {
        "in": (),
        "nan": (),
        "huge": ("--valid-mask", tmp_path / "mask.png"),
        "slice": ("--valid-mask", tmp_path / "slice.mha"),
    }.items():
        source = tmp_path / f"{name if name != 'slice' else 'huge'}.mha"
        assert run("smooth", source, tmp_path / f"{name}_out.mha", "--sigma", 2, "--approximation", "accurate", *options) == 0
    whole, nan, huge, of_slice = (read_image(tmp_path / f"{name}_out.mha").array for name in ("in", "nan", "huge", "slice"))
    ndimage = pytest.importorskip("scipy.ndimage")
    weights, sums = (
        ndimage.gaussian_filter(values.astype(np.float64), 2.0, mode="nearest", truncate=8.0) for values in (~hidden, np.where(hidden, 0.0, pixels))
    )
    np.testing.assert_array_equal(np.isnan(nan), hidden)
    np.testing.assert_allclose(huge, sums / weights, rtol=0.0, atol=5e-5)
    np.testing.assert_array_equal(nan[~hidden], huge[~hidden])
    np.testing.assert_array_equal(huge, of_slice)
    np.testing.assert_allclose(huge[:, 40:], whole[:, 40:], rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 5, 30), (1, 12, 30), (8, 9, 30)])
def test_masks_of_volumes_and_colours(tmp_path, shape):
    """A mask of one value per pixel holds for all components, also of few planes."""
    pixels = (np.random.default_rng(11).random((*shape, 3)) * 200.0).astype(np.uint8)
    hidden = np.zeros(shape, bool)
    hidden[:, 2:4, 5:9] = True
    write_image(Image(np.where(hidden[..., None], np.uint8(255), pixels), has_components=True), tmp_path / "in.mha")
    write_image((~hidden).astype(np.uint8), tmp_path / "mask.mha")
    options = ("--sigma", "1.5", "--approximation", "accurate", "--valid-mask", tmp_path / "mask.mha")
    assert run("smooth", tmp_path / "in.mha", tmp_path / "out.mha", *options) == 0
    valid = np.where(hidden[..., None], 0, pixels)
    axes = 3 if shape[0] > 1 else 2
    weights = expected_smoothing((~hidden)[..., None], [1.5] * axes, (1.0, 1.0, 1.0))
    expect_near(read_image(tmp_path / "out.mha").array, expected_smoothing(valid, [1.5] * axes, (1.0, 1.0, 1.0)) / weights, 2e-2)


def test_masks_that_do_not_fit(capsys, tmp_path):
    write_image(Image(np.ones((20, 30), np.float32), (0.5, 2.0)), tmp_path / "in.mha")
    write_image(np.ones((20, 31), np.uint8), tmp_path / "wide.png")
    write_image(np.ones((2, 20, 30), np.uint8), tmp_path / "two.mha")
    write_image(Image(np.ones((20, 30), np.uint8), (0.7, 2.0)), tmp_path / "place.mha")
    arguments = ("smooth", tmp_path / "in.mha", tmp_path / "out.mha", "--sigma", 1, "--valid-mask")
    assert "--valid-mask has the shape (20, 31); it must be" in expect_wrong_arguments(capsys, *arguments, tmp_path / "wide.png")
    assert "two.mha' has 30 x 20 x 2 pixels; it must be an image of 2 dimensions" in expect_failure(capsys, *arguments, tmp_path / "two.mha")
    assert "--valid-mask has the spacing [0.7, 2.0]; it must be that of" in expect_wrong_arguments(capsys, *arguments, tmp_path / "place.mha")
    assert not (tmp_path / "out.mha").exists()


def test_pixels_that_are_no_numbers_are_not_smoothed_in_parts(capsys, tmp_path):
    pixels = np.ones((300, 9, 12, 1), "f4")
    pixels[200, 3, 4] = np.nan
    write_meta_image(tmp_path / "in.mha", pixels)
    text = expect_failure(capsys, "smooth", tmp_path / "in.mha", tmp_path / "out.mha", "--sigma", "2", "--memory", "1G")
    assert re.search(r"in.mha' has pixels that are NaN or infinite in the planes from \d+ to \d+, .* smooth it without --memory", text)
    assert not (tmp_path / "out.mha").exists()


def test_what_smooth_says(capsys, tmp_path):
    """Sigma in pixels, and in the report the names of values as the functions have them."""
    pixels = np.random.default_rng(12).random((30, 40)).astype(np.float32)
    write_image(Image(pixels, (25.4 / 300.0, 25.4 / 300.0)), tmp_path / "photo.mha")
    write_image(Image(pixels, (1.0, 2.0)), tmp_path / "flat.mha")
    write_image((255 * pixels).astype(np.uint8), tmp_path / "in.png")
    report = tmp_path / "r.json"
    names = ("--boundary-mode", "Wrap", "--streaming", "On", "--approximation", "ACCURATE", "--backend", "Host")
    assert run("smooth", tmp_path / "photo.mha", tmp_path / "o.mha", "--sigma", 2, *names, "--report", report) == 0
    assert re.search(r"o.mha: smoothed with backend host in [\d.e-]+ s \(.*\); sigma 2 = 23.62 x 23.62 pixels\n", capsys.readouterr().out)
    found = json.loads(report.read_text())
    chosen = ("boundary_mode", "streaming", "approximation", "backend_asked", "backend_used")
    assert [found[name] for name in chosen] == ["wrap", "on", "accurate", "host", "host"]
    assert run("smooth", tmp_path / "flat.mha", tmp_path / "o.mha", "--sigma", "1,5") == 0
    assert "; sigma 1 x 5 = 1 x 2.5 pixels\n" in capsys.readouterr().out
    assert run("smooth", tmp_path / "in.png", tmp_path / "o.mha", "--sigma", 2, "--memory", "1G") == 0
    assert "smoothed with backend " in capsys.readouterr().out
    text = expect_failure(capsys, "smooth", tmp_path / "in.png", tmp_path / "o.mha", "--sigma", 2, "--memory", "1K")
    assert "in.png', PNG, is not read in parts; the whole image takes" in text
    write_meta_image(tmp_path / "in.mha", np.ones((300, 9, 12, 1), "f4"))
    assert run("smooth", tmp_path / "in.mha", tmp_path / "o.mha", "--sigma", 2, "--memory", "1G") == 0
    assert re.search(r"; 3 slabs, [\d.e-]+ GB/s read and written\n", capsys.readouterr().out)


def test_parts_on_a_disk_without_room(tmp_path):
    """The limit of the size of a file stands for the disk."""
    write_meta_image(tmp_path / "in.mha", np.ones((300, 9, 12, 1), "f4"))
    limited = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)))  # noqa: E731
    options = ("--sigma", "2", "--memory", "1G")
    done = run_process("smooth", tmp_path / "in.mha", tmp_path / "full.mha", *options, text=True, preexec_fn=limited)
    assert done.returncode == 1 and "full.mha' could not be written" in done.stderr and not (tmp_path / "full.mha").exists()
