# SPDX-License-Identifier: Apache-2.0
"""Image files without the package itk: formats, damaged files, files that cannot be written, the class Image, and the
command."""
import bz2
import errno
import gzip
import json
import os
import pathlib
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pytest

import itk_cudafilters
from itk_cudafilters import Image, _command, _image_files, _output, _pictures, read_image, write_image

DATA = pathlib.Path(__file__).parents[2] / "examples" / "data"
EXTENSIONS = (".png", ".tif", ".mha", ".mhd", ".nrrd", ".nhdr", ".nii", ".nii.gz", ".hdr", ".img.gz")
TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64")
TURNED = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def random_image(dtype="int16", shape=(6, 8, 10), seed=1, **geometry):
    values = np.random.default_rng(seed).random(shape) * 100.0
    return Image(values.astype(dtype), **geometry)


def in_space(dtype="int16"):
    return random_image(dtype, spacing=(0.5, 2.0, 1.25), origin=(3.0, -4.0, 10.0), direction=TURNED)


def write(image, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_image(image, path)
    return path


def run(*arguments):
    """The exit status of the command in this process."""
    try:
        return _command.main([str(argument) for argument in arguments])
    except SystemExit as end:
        return end.code


def files_in(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def expect_refused(capsys, folder, message, *arguments, status=1):
    """The command fails with this message, and no file is written or changed."""
    before = files_in(folder)
    assert run(*arguments) == status
    said = capsys.readouterr()
    assert message in said.err and said.out == ""
    assert files_in(folder) == before


# Formats


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_round_trips(tmp_path, extension, dtype):
    if extension == ".png" and dtype not in ("uint8", "uint16"):
        with pytest.raises(OSError, match="PNG holds no"):
            write_image(random_image(dtype, (4, 5)), tmp_path / "x.png")
        return
    for shape, has_components in (((4, 5), False), ((4, 5, 3), True), ((4, 5, 4), True), ((3, 4, 5), False), ((3, 4, 5, 2), True)):
        dimension = len(shape) - has_components
        if extension == ".png" and dimension == 3:
            continue
        given = random_image(
            dtype, shape, spacing=(0.5, 2.0, 1.25)[:dimension], origin=(3.0, -4.0, 10.0)[:dimension], has_components=has_components
        )
        found = read_image(write(given, tmp_path / f"x{extension}"))
        assert found.dtype == given.dtype and found.has_components == has_components
        np.testing.assert_array_equal(found.array, given.array)
        if extension != ".png":
            np.testing.assert_allclose(found.spacing[:2], given.spacing[:2], rtol=1e-6)
        if extension not in (".png", ".tif"):
            np.testing.assert_allclose(found.spacing, given.spacing, rtol=1e-6)
            np.testing.assert_allclose(found.origin, given.origin, rtol=1e-6)


@pytest.mark.parametrize("extension", EXTENSIONS[2:])
def test_directions(tmp_path, extension):
    given = in_space()
    found = read_image(write(given, tmp_path / f"x{extension}"))
    np.testing.assert_allclose(found.direction, TURNED, atol=1e-6)
    np.testing.assert_allclose(found.to_physical([[1, 2, 3]]), given.to_physical([[1, 2, 3]]), rtol=1e-6)


@pytest.mark.parametrize("extension", [".tif", ".mha", ".mhd", ".nrrd", ".nhdr", ".nii"])
def test_compressed_files(tmp_path, extension):
    given = random_image("int16", (20, 30, 40))
    given.array[5:] = 7
    write_image(given, tmp_path / f"x{extension}", compress=True)
    np.testing.assert_array_equal(read_image(tmp_path / f"x{extension}").array, given.array)
    if extension != ".nii":
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) < given.array.nbytes / 2


def test_types_that_no_format_has(tmp_path):
    flags = np.random.default_rng(1).random((5, 6)) < 0.5
    np.testing.assert_array_equal(read_image(write(flags, tmp_path / "x.png")).array, flags)
    halves = np.linspace(0, 1, 30, dtype=np.float16).reshape(5, 6)
    np.testing.assert_array_equal(read_image(write(halves, tmp_path / "x.tif")).array, halves.astype(np.float32))
    with pytest.raises(OSError, match="of type longdouble|of type float128"):
        write_image(np.zeros((5, 6), np.longdouble), tmp_path / "x.mha")
    with pytest.raises(OSError, match="belongs to none of the known formats"):
        write_image(flags, tmp_path / "x.jpg")
    with pytest.raises(OSError, match="TIFF holds no images of 4 dimensions"):
        write_image(np.zeros((2, 2, 2, 2)), tmp_path / "x.tif")
    with pytest.raises(TypeError, match="call read_image"):
        write_image("x.mha", tmp_path / "y.mha")


@pytest.mark.parametrize("name", ["Schädel.mha", "a%s.mha", "two words.nii.gz", "line\nend.png", "no utf-8 \udcff.nrrd", "UPPER.NII.GZ", "UPPER.MHD"])
def test_names(tmp_path, name):
    given = random_image("uint8", (4, 5))
    np.testing.assert_array_equal(read_image(write(given, tmp_path / name)).array, given.array)


def test_metadata_stay_in_their_format(tmp_path):
    header = (
        "NRRD0005\ntype: float\ndimension: 4\nspace: right-anterior-superior\nsizes: 3 4 3 2\nspace directions: none (1,0,0) (0,1,0) (0,0,1)\n"
        "kinds: vector domain domain domain\nendian: little\nencoding: raw\nmeasurement frame: (1,0,0) (0,1,0) (0,0,1)\nscanner:=old\n\n"
    )
    (tmp_path / "x.nrrd").write_bytes(header.encode() + np.arange(72, dtype="<f4").tobytes())
    found = read_image(tmp_path / "x.nrrd")
    assert found.shape == (2, 3, 4, 3) and found.has_components and found.metadata["scanner"] == "old"
    again = read_image(write(found, tmp_path / "y.nrrd"))
    assert {key: again.metadata[key] for key in found.metadata if "frame" in key} == {
        key: value for key, value in found.metadata.items() if "frame" in key
    }


# Damaged and misleading files. The first words of the tests' comments say what was done with them.


def test_brain_nii_beside_brain_nii_gz(tmp_path, capsys):
    """The pixels are those of the file that was named."""
    sevens, hundreds = (Image(np.full((8, 9, 10), value, np.int16)) for value in (7, 500))
    write_image(sevens, tmp_path / "brain.nii")
    write_image(hundreds, tmp_path / "brain.nii.gz")
    assert (read_image(tmp_path / "brain.nii.gz").array == 500).all() and (read_image(tmp_path / "brain.nii").array == 7).all()
    assert run("smooth", tmp_path / "brain.nii.gz", tmp_path / "o.mha", "--sigma", 1) == 0
    assert (read_image(tmp_path / "o.mha").array >= 499).all()
    noise = random_image("float32", (20, 21, 22))
    write_image(noise, tmp_path / "scan.nii")
    assert run("smooth", tmp_path / "scan.nii", tmp_path / "scan.nii.gz", "--sigma", 3) == 0
    assert read_image(tmp_path / "scan.nii.gz").array.std() < 0.2 * noise.array.std()
    for name in ("brain.hdr", "brain.img.gz"):
        write_image(random_image("uint8"), tmp_path / name)
    assert (read_image(tmp_path / "brain.nii").array == 7).all()


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_outputs_without_a_folder(tmp_path, capsys, extension):
    kind = "uint8" if extension == ".png" else "int16"
    shape = (20, 30) if extension in (".png", ".tif") else (8, 9, 10)
    write(random_image(kind, shape), tmp_path / "in.mha")
    (tmp_path / f"folder{extension}").mkdir()
    (tmp_path / "in.bin").write_bytes(b"")
    for target, message in (
        (tmp_path / "missing" / f"out{extension}", "could not be written: there is no folder"),
        (tmp_path / f"folder{extension}", "could not be written: it is a folder"),
        (tmp_path / "in.bin" / f"out{extension}", "could not be written: there is no folder"),
    ):
        expect_refused(capsys, tmp_path, message, "smooth", tmp_path / "in.mha", target, "--sigma", 2)
        with pytest.raises(OSError, match=message):
            write_image(random_image(kind, shape), target)


def test_other_outputs_without_a_folder(tmp_path, capsys):
    write(random_image("float32", (40, 50)), tmp_path / "in.mha")
    for option in ("--label l.nii", "--contour c.geojson", "--overlay o.png", "--report r.json"):
        name, file = option.split()
        arguments = ("segment", tmp_path / "in.mha", "--law", "gaussian", name, tmp_path / "missing" / file)
        expect_refused(capsys, tmp_path, "there is no folder", *arguments)
    for option in ("--labels l.nii", "--means m.hdr", "--overlay o.png", "--polygons p.geojson", "--table t.csv", "--report r.json"):
        name, file = option.split()
        arguments = ("partition", tmp_path / "in.mha", "--law", "gaussian", name, tmp_path / "missing" / file)
        expect_refused(capsys, tmp_path, "there is no folder", *arguments)
    for names in (("missing/o.nii",), ("o.nii", "--scale-image", "missing/s.nii"), ("o.nii", "--mip", "missing/m.png")):
        names = [tmp_path / name if "." in name else name for name in names]
        expect_refused(capsys, tmp_path, "there is no folder", "vesselness", tmp_path / "in.mha", *names, "--sigmas", 1)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_full_disk(tmp_path, extension):
    """Files that may not grow beyond a limit are as on a full disk. The file that was there before is kept."""
    dtype = "uint8" if extension == ".png" else "int16"
    shape = (500, 600) if extension in (".png", ".tif") else (20, 100, 100)
    large = random_image(dtype, shape)
    large.array[...] = np.random.default_rng(2).integers(0, 255, shape)
    for name in _image_files.paths_of(tmp_path / f"o{extension}"):
        name.write_bytes(b"before")
    before = files_in(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50000, limits[1]))
    try:
        with pytest.raises(OSError, match="could not be written"):
            write_image(large, tmp_path / f"o{extension}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert files_in(tmp_path) == before
    write(large, tmp_path / f"o{extension}")
    np.testing.assert_array_equal(read_image(tmp_path / f"o{extension}").array, large.array)


@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.999])
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_files_that_are_cut_short(tmp_path, capsys, extension, part):
    dtype, shape = ("uint8", (60, 70)) if extension == ".png" else ("int16", (20, 30)) if extension == ".tif" else ("int16", (8, 9, 10))
    write(random_image(dtype, shape), tmp_path / f"t{extension}")
    paths = _image_files.paths_of(tmp_path / f"t{extension}")
    for path in paths:
        data = path.read_bytes()
        if part > 0.9 and path != paths[-1]:
            continue  # what ends a header says nothing
        path.write_bytes(data[: int(part * len(data))])
        for arguments in (("smooth", tmp_path / f"t{extension}", tmp_path / "o.mha", "--sigma", 1),):
            before = files_in(tmp_path)
            assert run(*arguments) == 1
            said = capsys.readouterr()
            assert f"'{tmp_path}" in said.err and said.out == "" and files_in(tmp_path) == before
        path.write_bytes(data)
    read_image(tmp_path / f"t{extension}")


def test_the_missing_bytes_are_counted(tmp_path):
    write(random_image("int16", (8, 9, 10)), tmp_path / "t.nii")
    data = (tmp_path / "t.nii").read_bytes()
    (tmp_path / "t.nii").write_bytes(data[:1000])
    with pytest.raises(OSError, match=f"'.*t.nii' ends after 1000 of {len(data)} bytes"):
        read_image(tmp_path / "t.nii")
    packed = gzip.compress(data)
    (tmp_path / "t.nii.gz").write_bytes(packed[:-100])
    with pytest.raises(OSError, match=f"'.*t.nii.gz' ends after {len(packed) - 100} bytes, before its compressed pixels do"):
        read_image(tmp_path / "t.nii.gz")
    (tmp_path / "t.nii.gz").write_bytes(gzip.compress(data[:900]))
    with pytest.raises(OSError, match=f"ends after 900 of {len(data)} bytes"):
        read_image(tmp_path / "t.nii.gz")


@pytest.mark.parametrize("extension", [".nii.gz", ".img.gz", ".mha", ".mhd", ".nrrd", ".nhdr", ".png"])
def test_flipped_bytes_of_compressed_files(tmp_path, extension):
    dtype, shape = ("uint8", (60, 70)) if extension == ".png" else ("int16", (8, 9, 10))
    path = tmp_path / f"t{extension}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_image(random_image(dtype, shape), path, compress=True)
    pixels = _image_files.paths_of(path, compress=not extension.endswith(".gz"))[-1]
    data = pixels.read_bytes()
    for place in (len(data) // 2, len(data) - 40):
        pixels.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with pytest.raises(OSError, match="damaged|in its compressed pixels|ends after"):
            read_image(path)
    pixels.write_bytes(data)
    read_image(path)


def test_the_checksum_of_gzip(tmp_path):
    write(random_image("int16", (8, 9, 10)), tmp_path / "t.nii.gz")
    data = (tmp_path / "t.nii.gz").read_bytes()
    (tmp_path / "t.nii.gz").write_bytes(data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])
    with pytest.raises(OSError, match="damaged: .*incorrect data check"):
        read_image(tmp_path / "t.nii.gz")
    # Several members are one file, as pigz and cat make them, and zeros behind the end are padding.
    whole = gzip.decompress(data)
    (tmp_path / "t.nii.gz").write_bytes(gzip.compress(whole[:500]) + gzip.compress(whole[500:]) + bytes(100))
    read_image(tmp_path / "t.nii.gz")


def test_pixels_behind_the_end(tmp_path):
    write(random_image("int16", (8, 9, 10)), tmp_path / "t.nii")
    data = bytearray((tmp_path / "t.nii").read_bytes())
    data[108:112] = struct.pack("<f", 1e6)
    (tmp_path / "t.nii").write_bytes(data)
    with pytest.raises(OSError, match="ends after .* of 1001440 bytes"):
        read_image(tmp_path / "t.nii")


@pytest.mark.parametrize("size", [0, 100])
def test_a_short_file_of_pixels_beside_its_header(tmp_path, size):
    write(random_image("int16", (8, 9, 10)), tmp_path / "t.mhd")
    (tmp_path / "t.raw").write_bytes(bytes(size))
    with pytest.raises(OSError, match=f"'.*t.raw' ends after {size} of 1440 bytes"):
        read_image(tmp_path / "t.mhd")
    (tmp_path / "t.raw").unlink()
    with pytest.raises(OSError, match="'.*t.raw' does not exist or cannot be opened"):
        read_image(tmp_path / "t.mhd")


@pytest.mark.parametrize(
    "options, arguments",
    [
        ({"tile": (16, 16)}, {}),
        ({"tile": (16, 16), "bigtiff": True, "compression": "zlib"}, {}),
        ({"planarconfig": "separate", "photometric": "rgb"}, {"shape": (3, 50, 70), "moved": True}),
        ({"planarconfig": "separate", "photometric": "rgb", "tile": (32, 32)}, {"shape": (3, 50, 70), "moved": True}),
        ({"photometric": "miniswhite"}, {"inverted": True}),
        ({"byteorder": ">"}, {}),
        ({"rowsperstrip": 7, "compression": "zlib", "predictor": True}, {}),
        ({}, {"shape": (5, 50, 70)}),
    ],
    ids=lambda value: "-".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else None,
)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_tiff_files_of_other_programs(tmp_path, dtype, options, arguments):
    tifffile = pytest.importorskip("tifffile")
    shape = arguments.get("shape", (50, 70))
    pixels = (np.random.default_rng(3).random(shape) * (200 if dtype == "uint8" else 1730)).astype(dtype)
    if np.dtype(dtype).kind == "f" and options.get("predictor"):
        options = {**options, "predictor": False}
    try:
        tifffile.imwrite(tmp_path / "x.tif", pixels, **options)
    except (ImportError, ValueError) as error:
        pytest.skip(str(error))
    found = read_image(tmp_path / "x.tif")
    expected = np.moveaxis(pixels, 0, -1) if arguments.get("moved") else pixels
    if arguments.get("inverted") and np.dtype(dtype).kind == "u":
        expected = np.iinfo(dtype).max - expected
    assert found.dtype == pixels.dtype and found.has_components == bool(arguments.get("moved"))
    np.testing.assert_array_equal(found.array, expected)
    if not arguments.get("moved") and len(shape) == 2:
        assert run("smooth", tmp_path / "x.tif", tmp_path / "o.tif", "--sigma", 1e-3) == 0
        rounding = 0 if np.dtype(dtype).kind == "u" else 1730 * 2.0**-23
        np.testing.assert_allclose(read_image(tmp_path / "o.tif").array, expected, rtol=0, atol=rounding)


def test_tiff_files_of_one_bit(tmp_path):
    picture = pytest.importorskip("PIL.Image")
    flags = np.random.default_rng(4).random((21, 37)) < 0.5
    picture.fromarray(flags).save(tmp_path / "x.tif")
    np.testing.assert_array_equal(read_image(tmp_path / "x.tif").array, flags)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_tiff_files_that_are_turned(tmp_path, orientation):
    tifffile = pytest.importorskip("tifffile")
    pixels = np.arange(12, dtype=np.uint16).reshape(3, 4) * 100
    tifffile.imwrite(tmp_path / "x.tif", pixels, extratags=[(274, "H", 1, orientation, True)])
    upright = (pixels, pixels[:, ::-1], pixels[::-1, ::-1], pixels[::-1], pixels.T, np.rot90(pixels, -1), np.rot90(pixels.T, 2), np.rot90(pixels))
    np.testing.assert_array_equal(read_image(tmp_path / "x.tif").array, upright[orientation - 1])


def test_tiff_files_with_a_palette(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    indices = np.random.default_rng(5).integers(0, 256, (20, 30), np.uint8)
    colours = np.random.default_rng(6).integers(0, 256, (3, 256), np.uint16)
    tifffile.imwrite(tmp_path / "x.tif", indices, photometric="palette", colormap=colours * np.uint16(257))
    np.testing.assert_array_equal(read_image(tmp_path / "x.tif").array, np.moveaxis(colours[:, indices], 0, -1))


def test_stacks_of_imagej(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    pixels = np.random.default_rng(7).integers(0, 2000, (5, 2, 20, 30), np.uint16)  # z, channel, y, x
    tifffile.imwrite(tmp_path / "x.tif", pixels, imagej=True, resolution=(2, 2), metadata={"axes": "ZCYX", "spacing": 3.0, "unit": "um"})
    found = read_image(tmp_path / "x.tif")
    assert found.has_components and found.spacing == (0.5, 0.5, 3.0) and found.metadata["unit"] == "um"
    np.testing.assert_array_equal(found.array, np.moveaxis(pixels, 1, -1))


def test_tiff_files_that_are_refused(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    with tifffile.TiffWriter(tmp_path / "x.tif") as file:
        file.write(np.zeros((20, 30), np.uint8))
        file.write(np.zeros((20, 31), np.uint8))
    with pytest.raises(OSError, match="pages of different sizes"):
        read_image(tmp_path / "x.tif")
    tifffile.imwrite(tmp_path / "y.tif", np.zeros((20, 30), np.complex64))
    with pytest.raises(OSError, match="samples of 64 bits of complex numbers, whose amplitude or intensity .*: give quantity"):
        read_image(tmp_path / "y.tif")
    # Smaller copies of the image and masks are no slices of it.
    with tifffile.TiffWriter(tmp_path / "z.tif") as file:
        file.write(np.full((20, 30), 9, np.uint8), subifds=0)
        file.write(np.zeros((10, 15), np.uint8), subfiletype=1)
    assert read_image(tmp_path / "z.tif").shape == (20, 30)


def test_masks(tmp_path, capsys):
    """Pixels whose mask is not 0 count, whatever the value."""
    rng = np.random.default_rng(8)
    pixels = rng.gamma(1.0, 10.0, (60, 70)).astype(np.float32) + np.float32(1e-3)
    write_image(pixels, tmp_path / "m.mha")
    inside = np.zeros((60, 70), bool)
    inside[10:50, 5:60] = True
    masks = {
        "256.mha": np.where(inside, 256, 0).astype(np.uint16),
        "half.mha": np.where(inside, 0.5, 0.0).astype(np.float32),
        "blue.png": Image(np.where(inside[..., None], [0, 0, 1], 0).astype(np.uint8), has_components=True),
        "nan.mha": np.where(inside, np.nan, 0.0).astype(np.float32),
        "one.png": inside,
    }
    for name, mask in masks.items():
        write_image(mask, tmp_path / name)
        assert (np.asarray(_image_files.read_mask(str(tmp_path / name), like=read_image(tmp_path / "m.mha"))) != 0).tolist() == inside.tolist()
    for name in masks:
        options = ("--law", "gamma", "--looks", 1, "--valid-mask", tmp_path / name, "--report", tmp_path / "r.json")
        assert run("segment", tmp_path / "m.mha", *options) == 0
        report = json.loads((tmp_path / "r.json").read_text())
        assert report["inside"]["pixels"] + report["outside"]["pixels"] == inside.sum(), name


def test_masks_of_two_slices(tmp_path, capsys):
    write(random_image("float32", (40, 50)), tmp_path / "in.mha")
    write(random_image("uint8", (2, 40, 50)), tmp_path / "two.mha")
    for command, option in (("segment", "--valid-mask"), ("segment", "--initial-mask"), ("partition", "--valid-mask"), ("partition", "--initial-labels")):
        arguments = (command, tmp_path / "in.mha", "--law", "gaussian", option, tmp_path / "two.mha")
        expect_refused(capsys, tmp_path, "two.mha' has 50 x 40 x 2 pixels; it must be an image of 2 dimensions", *arguments)


# Checks before the work


def test_one_file_for_two_purposes(tmp_path, capsys):
    write(random_image("uint8", (40, 50)), tmp_path / "in.png")
    os.symlink("in.png", tmp_path / "link.png")
    os.link(tmp_path / "in.png", tmp_path / "hard.png")
    source = tmp_path / "in.png"
    for arguments in (
        ("smooth", source, tmp_path / "o.png", "--sigma", 2, "--report", source),
        ("smooth", source, tmp_path / "o.png", "--sigma", 2, "--report", tmp_path / "o.png"),
        ("segment", source, "--law", "gaussian", "--label", tmp_path / "x.png", "--overlay", tmp_path / "x.png"),
        ("segment", source, "--law", "gaussian", "--contour", tmp_path / "c", "--report", tmp_path / "c"),
        ("segment", source, "--law", "gaussian", "--contour", tmp_path / "link.png"),
        ("segment", source, "--law", "gaussian", "--contour", tmp_path / "hard.png"),
        ("partition", source, "--law", "gaussian", "--table", tmp_path / "t", "--polygons", tmp_path / "t"),
        ("vesselness", source, tmp_path / "o.tif", "--sigmas", 1, "--scale-image", tmp_path / "o.tif"),
        ("vesselness", source, tmp_path / "o.tif", "--sigmas", 1, "--mip", source),
    ):
        expect_refused(capsys, tmp_path, ": name another file", *arguments, status=2)


def test_formats_are_checked_before_the_work(tmp_path, capsys):
    write(random_image("float32", (40, 50)), tmp_path / "in.mha")
    outputs = ("--means", tmp_path / "m.png", "--polygons", tmp_path / "p.geojson", "--table", tmp_path / "t.csv")
    expect_refused(capsys, tmp_path, "PNG holds no floating-point numbers", "partition", tmp_path / "in.mha", "--law", "gaussian", *outputs)
    write(random_image("int16", (40, 50)), tmp_path / "i.nii.gz")
    expect_refused(capsys, tmp_path, "PNG holds no pixels of type int16", "smooth", tmp_path / "i.nii.gz", tmp_path / "o.png", "--sigma", 1)
    write(random_image("uint8", (4, 5, 6)), tmp_path / "v.mha")
    expect_refused(capsys, tmp_path, "PNG holds no images of 3 dimensions", "smooth", tmp_path / "v.mha", tmp_path / "o.png", "--sigma", 1)


def test_other_outputs_are_written_if_one_cannot_be(tmp_path, monkeypatch, capsys):
    write(random_image("float32", (40, 50)), tmp_path / "in.mha")

    def fail(*_):
        raise OSError("no place for it")

    monkeypatch.setattr(_image_files, "write_checked", fail)
    outputs = ("--labels", tmp_path / "l.png", "--polygons", tmp_path / "p.geojson", "--table", tmp_path / "t.csv")
    assert run("partition", tmp_path / "in.mha", "--law", "gaussian", *outputs) == 1
    assert "no place for it" in capsys.readouterr().err
    assert (tmp_path / "p.geojson").exists() and (tmp_path / "t.csv").exists()


# Files that are written


@pytest.mark.parametrize("memory", [(), ("--memory", "1G")], ids=["whole", "parts"])
def test_links_are_followed_and_permissions_kept(tmp_path, memory):
    write(random_image("float32", (200, 8, 10)), tmp_path / "v.mha")
    (tmp_path / "real.mha").write_bytes(b"before")
    os.chmod(tmp_path / "real.mha", 0o640)
    os.symlink("real.mha", tmp_path / "link.mha")
    assert run("smooth", tmp_path / "v.mha", tmp_path / "link.mha", "--sigma", 1, *memory) == 0
    assert (tmp_path / "link.mha").is_symlink() and stat.S_IMODE((tmp_path / "real.mha").stat().st_mode) == 0o640
    assert read_image(tmp_path / "real.mha").shape == (200, 8, 10)


@pytest.mark.parametrize("memory", [(), ("--memory", "1G")], ids=["whole", "parts"])
def test_files_without_permission_are_refused(tmp_path, capsys, monkeypatch, memory):
    write(random_image("float32", (200, 8, 10)), tmp_path / "v.mha")
    (tmp_path / "kept.mha").write_bytes(b"before")
    os.chmod(tmp_path / "kept.mha", 0o444)
    access = os.access  # the administrator may write all files
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path / "kept.mha") and access(path, mode))
    expect_refused(capsys, tmp_path, "no permission to write", "smooth", tmp_path / "v.mha", tmp_path / "kept.mha", "--sigma", 1, *memory)


def test_new_files_have_the_permissions_of_others(tmp_path):
    (tmp_path / "other").touch()
    write(random_image(), tmp_path / "x.mha")
    assert (tmp_path / "x.mha").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
def test_interrupted_writing_leaves_no_file(tmp_path, monkeypatch, named):
    """Also where the file system has no files without a name."""
    if named:
        monkeypatch.delattr(os, "O_TMPFILE")
    (tmp_path / "x.txt").write_text("before")
    for error in (KeyboardInterrupt, SystemExit, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))):
        with pytest.raises(type(error) if isinstance(error, OSError) else error):
            with _output.replacing(tmp_path / "x.txt") as file:
                file.write(b"half")
                file.flush()
                assert len(list(tmp_path.iterdir())) == (2 if named else 1)
                raise error
        assert files_in(tmp_path) == {"x.txt": b"before"}
    with _output.replacing(tmp_path / "x.txt") as file:
        file.write(b"after")
        assert (tmp_path / "x.txt").read_text() == "before"
    assert files_in(tmp_path) == {"x.txt": b"after"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("output", ["o.mha", "o.nii.gz", "o.png"])
def test_signals_leave_no_file(tmp_path, output, number):
    shape, dtype = ((1200, 1200), "uint8") if output == "o.png" else ((96, 128, 128), "int16")
    write(random_image(dtype, shape), tmp_path / "in.mha")
    before = set(os.listdir(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "itk_cudafilters", "smooth", tmp_path / "in.mha", tmp_path / output, "--sigma", "3"]
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=100)
    whole = time.perf_counter() - start
    (tmp_path / output).unlink()
    for part in (0.5, 0.8):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(part * whole)
        process.send_signal(number)
        status = process.wait(100)
        if (tmp_path / output).exists():
            read_image(tmp_path / output)  # it was faster, and the file is complete
            (tmp_path / output).unlink()
        assert set(os.listdir(tmp_path)) - {"temporary"} == before
        if number is not signal.SIGKILL:
            assert os.listdir(tmp_path / "temporary") == [] and status in (0, 128 + number, -number)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # interruptions of finalizers
def test_interrupted_scratch_is_removed(tmp_path, monkeypatch):
    # The handler of a signal may raise its exception at any line.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "image").write_bytes(b"pixels")

    def use():
        with _output.Scratch() as scratch:
            with scratch.create("a.nii") as file:
                file.write(b"header")
            scratch.link("b.nii", tmp_path / "image")
            assert sorted(os.listdir(pathlib.Path(scratch.path("a.nii")).parent)) == ["a.nii", "b.nii"]

    def interrupted_at(number):
        """Returns whether an interruption at that line has ended the use."""
        left = number

        def trace(frame, event, _):
            nonlocal left
            if event == "line" and frame.f_code.co_filename == _output.__file__:
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            use()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    number = 1
    while interrupted_at(number):
        _output.remove_scratch()
        assert os.listdir(tmp_path) == ["image"] and not _output._scratch, number
        number += 1
    assert number > 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_interrupted_trial_of_the_temporary_folder_leaves_no_file(tmp_path, monkeypatch, number):
    # The first call of tempfile.gettempdir() in a process opens, writes and removes a file.
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    opened, open_file = [], os.open

    def interrupted_open(path, *arguments, **options):
        file = open_file(path, *arguments, **options)
        opened.append(path)
        signal.raise_signal(number)
        return file

    def end(number, _):
        raise SystemExit(128 + number)

    before = signal.signal(number, end)
    try:
        monkeypatch.setattr(os, "open", interrupted_open)
        with pytest.raises(SystemExit) as raised:
            _output.Scratch()
    finally:
        monkeypatch.setattr(os, "open", open_file)
        assert signal.signal(number, before) is end
    assert raised.value.code == 128 + number
    assert len(opened) == 1 and os.listdir(tmp_path) == []
    with _output.Scratch() as scratch:
        assert os.path.dirname(scratch.path("a")).startswith(str(tmp_path))


# Maps


def geotiff(path, pixels, *, point=False, transformation=False, no_data=None, crs=32632):
    tifffile = pytest.importorskip("tifffile")
    keys = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2 if point else 1, 3072, 0, 1, crs)
    tags = [(34735, "H", len(keys), keys, True)]
    if transformation:
        matrix = (3.0, 4.0, 0.0, 500000.0, 4.0, -3.0, 0.0, 5400000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        tags.append((34264, "d", 16, matrix, True))
    else:
        tags += [(33550, "d", 3, (10.0, 20.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 5400000.0, 0.0), True)]
    if no_data is not None:
        tags.append((42113, "s", len(no_data) + 1, no_data, True))
    tifffile.imwrite(path, pixels, extratags=tags, tile=(16, 16))


@pytest.mark.parametrize("point", [False, True], ids=["area", "point"])
def test_places_on_maps(tmp_path, capfd, point):
    pixels = np.random.default_rng(9).random((30, 40)).astype(np.float32)
    geotiff(tmp_path / "geo.tif", pixels, point=point)
    found = read_image(tmp_path / "geo.tif")
    assert found.spacing == (10.0, 20.0) and found.metadata["crs"] == "EPSG:32632"
    assert found.origin == ((500000.0, 5400000.0) if point else (500005.0, 5399990.0))
    assert found.direction.tolist() == [[1.0, 0.0], [0.0, -1.0]]
    assert run("smooth", tmp_path / "geo.tif", tmp_path / "o.tif", "--sigma", 20) == 0
    said = capfd.readouterr()
    assert said.err == "" and "sigma 20 = 2 x 1 pixels" in said.out
    again = read_image(tmp_path / "o.tif")
    assert (again.spacing, again.origin, again.metadata["crs"]) == (found.spacing, found.origin, "EPSG:32632")
    assert again.direction.tolist() == found.direction.tolist() and again.array.std() < found.array.std()
    assert run("smooth", tmp_path / "geo.tif", tmp_path / "o.mha", "--sigma", 20) == 0
    assert "MetaImage files keep no reference system: EPSG:32632 is lost" in capfd.readouterr().err
    with pytest.warns(UserWarning, match="keep no reference system"):
        write_image(found, tmp_path / "o.nrrd")


# What GDAL tells libtiff of the tags of maps when it first opens a file, where both use the libtiff of the system.
DESCRIBE_TAGS_AS_GDAL_DOES = """
import ctypes, sys
from itk_cudafilters import read_image, write_image

class Field(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_uint32), ("read", ctypes.c_short), ("write", ctypes.c_short), ("type", ctypes.c_int),
                ("bit", ctypes.c_ushort), ("may_change", ctypes.c_ubyte), ("has_count", ctypes.c_ubyte), ("name", ctypes.c_char_p)]

before = read_image(sys.argv[1])
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "/libtiff.so" in line}
if not libraries:
    sys.exit("libtiff is a part of this package")
tiff = ctypes.CDLL(libraries.pop())
kinds = {33550: 12, 33922: 12, 34264: 12, 34735: 3, 34736: 12, 34737: 2, 42112: 2, 42113: 2}  # 12: double, 3: short, 2: text
fields = (Field * len(kinds))(*(Field(tag, -1, -1, kind, 65, 1, kind != 2, b"name") for tag, kind in kinds.items()))

@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def describe(file):
    tiff.TIFFMergeFieldInfo(ctypes.c_void_p(file), fields, len(fields))

tiff.TIFFSetTagExtender(describe)
for _ in range(2):
    after = read_image(sys.argv[1])
    assert after.metadata == before.metadata, (before.metadata, after.metadata)
    assert (after.crs, after.transform, after.no_data) == (before.crs, before.transform, before.no_data)
    write_image(after, sys.argv[1])
print(after.crs)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_maps_where_gdal_describes_their_tags(tmp_path):
    place = {"spacing": (10.0, 10.0), "origin": (700005.0, 5399995.0), "direction": [[1, 0], [0, -1]]}
    metadata = {"crs": "EPSG:32632", "GDAL_METADATA": '<GDALMetadata><Item name="A">b</Item></GDALMetadata>'}
    write_image(Image(np.arange(30, dtype=np.float32).reshape(5, 6), **place, no_data=3, metadata=metadata), tmp_path / "map.tif")
    command = [sys.executable, "-c", DESCRIBE_TAGS_AS_GDAL_DOES, str(tmp_path / "map.tif")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    if "libtiff is a part" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0 and done.stdout == "EPSG:32632\n", done.stderr


def test_turned_maps(tmp_path):
    pixels = np.random.default_rng(10).random((30, 40)).astype(np.float32)
    geotiff(tmp_path / "geo.tif", pixels, transformation=True)
    found = read_image(tmp_path / "geo.tif")
    assert found.spacing == (5.0, 5.0)
    np.testing.assert_allclose(found.to_physical([[-0.5, -0.5], [9.5, 0.5]]), [[500000, 5400000], [500034, 5400037]])
    again = read_image(write(found, tmp_path / "o.tif"))
    np.testing.assert_allclose(again.to_physical([[3, 7]]), found.to_physical([[3, 7]]), rtol=1e-12)


def test_pixels_without_data(tmp_path, capsys):
    pixels = np.random.default_rng(11).random((60, 70)).astype(np.float32)
    hidden = np.zeros(pixels.shape, bool)
    hidden[20:30, 40:50] = True
    pixels[hidden] = np.float32(-3.4028234663852886e38)
    geotiff(tmp_path / "geo.tif", pixels, no_data="-3.4028234663852886e+38")
    found = read_image(tmp_path / "geo.tif")
    assert found.no_data == -3.4028234663852886e38 and (found.valid == ~hidden).all()
    assert run("smooth", tmp_path / "geo.tif", tmp_path / "o.tif", "--sigma", 30) == 0
    smoothed = read_image(tmp_path / "o.tif")
    assert smoothed.no_data == found.no_data and (smoothed.valid == ~hidden).all()
    assert 0.0 < smoothed.array[~hidden].min() and smoothed.array[~hidden].max() < 1.0
    result = itk_cudafilters.gaussian_filter(found, 3.0)
    assert isinstance(result, Image) and (result.valid == ~hidden).all() and 0.0 < result.array[~hidden].min()
    expected = itk_cudafilters.gaussian_filter(np.where(hidden, np.nan, pixels), 3.0)
    np.testing.assert_array_equal(result.array[~hidden], expected[~hidden])
    assert run("smooth", tmp_path / "geo.tif", tmp_path / "o.nrrd", "--sigma", 30) == 0
    assert "NRRD files keep no value for no data" in capsys.readouterr().err
    assert run("vesselness", tmp_path / "geo.tif", tmp_path / "v.tif", "--sigmas", 20) == 0
    assert (read_image(tmp_path / "v.tif").valid == ~hidden).all() and 0.0 < read_image(tmp_path / "v.tif").array[~hidden].max() < 1.0


def test_integers_without_data():
    hidden = np.zeros((60, 70), bool)
    hidden[20:30, 40:50] = True
    whole = Image(np.where(hidden, -9999, 100).astype(np.int16), no_data=-9999)
    result = itk_cudafilters.gaussian_filter(whole, 3.0, dtype="int16")
    assert set(np.unique(result.array)) <= {-9999, 99, 100} and (result.valid == ~hidden).all()


# NIfTI's two places in space


def test_both_places_of_nifti_stay(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    pixels = np.random.default_rng(12).random((10, 11, 12)).astype(np.float32)
    scanner = np.diag([2.0, 2.0, 3.0, 1.0])
    scanner[:3, 3] = -10, -20, -30
    standard = np.diag([2.0, 2.0, 3.0, 1.0])
    standard[:3, 3] = 40, -20, -30
    image = nibabel.Nifti1Image(pixels, scanner)
    image.set_qform(scanner, 1)
    image.set_sform(standard, 4)
    image.header.set_xyzt_units("mm", "sec")
    for name in ("x.nii", "x.nii.gz"):
        nibabel.save(image, tmp_path / name)
        assert run("smooth", tmp_path / name, tmp_path / f"o{name[1:]}", "--sigma", 2) == 0
        found = nibabel.load(tmp_path / f"o{name[1:]}")
        np.testing.assert_allclose(found.get_qform(), scanner, atol=1e-5)
        np.testing.assert_allclose(found.get_sform(), standard, atol=1e-5)
        assert (found.header["qform_code"], found.header["sform_code"]) == (1, 4) and found.header.get_xyzt_units() == ("mm", "sec")
    # An orientation that nobody has stated is not made up.
    image.set_qform(None, 0)
    image.set_sform(None, 0)
    nibabel.save(image, tmp_path / "none.nii")
    assert run("smooth", tmp_path / "none.nii", tmp_path / "o.nii", "--sigma", 2) == 0
    found = nibabel.load(tmp_path / "o.nii")
    assert (found.header["qform_code"], found.header["sform_code"]) == (0, 0)
    # An image that has moved since has one place.
    moved = read_image(tmp_path / "x.nii")
    moved.origin = (1.0, 2.0, 3.0)
    write_image(moved, tmp_path / "moved.nii")
    np.testing.assert_allclose(read_image(tmp_path / "moved.nii").origin, moved.origin)


@pytest.mark.parametrize("order", "<>")
def test_nifti_files_of_nibabel(tmp_path, order):
    nibabel = pytest.importorskip("nibabel")
    pixels = np.random.default_rng(13).integers(-500, 500, (10, 11, 12)).astype(np.int16)
    affine = np.array([[0, -2, 0, 5], [1, 0, 0, 6], [0, 0, 3, 7], [0, 0, 0, 1.0]])
    header = nibabel.Nifti1Header(endianness=order)
    header.set_data_dtype(np.int16)
    nibabel.save(nibabel.Nifti1Image(pixels, affine, header), tmp_path / "x.nii.gz")
    found = read_image(tmp_path / "x.nii.gz")
    np.testing.assert_array_equal(found.array, pixels.T)
    np.testing.assert_allclose(found.to_nibabel().affine, affine, atol=1e-5)
    image = nibabel.Nifti1Image(pixels, affine, header)
    image.header.set_slope_inter(0.5, 10)
    nibabel.save(image, tmp_path / "scaled.nii")
    np.testing.assert_allclose(read_image(tmp_path / "scaled.nii").array.T, nibabel.load(tmp_path / "scaled.nii").get_fdata(), atol=1e-3)


@pytest.mark.parametrize("extension", (".nii", ".nii.gz", ".img"))
@pytest.mark.parametrize("components", (2, 3, 6))
def test_vectors_of_integers_with_a_slope_are_refused(tmp_path, extension, components):
    """ITK's reader writes beyond the array of such pixels."""
    image = Image(np.ones((5, 6, components), np.uint16), has_components=True)
    path = tmp_path / f"x{extension}"
    write_image(image, path)
    header = tmp_path / "x.hdr" if extension == ".img" else path
    open_ = gzip.open if extension == ".nii.gz" else open
    with open_(header, "rb") as file:
        data = bytearray(file.read())
    data[112:120] = struct.pack("<2f", 0.5, 10.0)
    with open_(header, "wb") as file:
        file.write(data)
    with pytest.raises(OSError, match=f"has {components} components of integers with a slope and an intercept, which are not read"):
        read_image(path)
    write_image(Image(np.ones((5, 6, components), np.float32), has_components=True), path)
    assert read_image(path).array.shape == (5, 6, components)


# Files that end or hang programs


FIELDS = {"ObjectType": "Image", "NDims": "2", "BinaryData": "True", "DimSize": "3 3", "ElementType": "MET_UCHAR"}


def meta_image(path, **fields):
    """Writes a MetaImage of nine bytes of pixels."""
    fields = {**FIELDS, "ElementDataFile": "LOCAL", **fields}
    last = fields.pop("ElementDataFile")
    text = "".join(f"{name} = {each}\n" for name, each in fields.items()) + f"ElementDataFile = {last}\n"
    path.write_bytes(text.encode() + bytes(9))
    return path


@pytest.mark.parametrize("size", ("-1", "1e300", "nan", "4611686018427387904", "100"))
def test_sizes_of_compressed_pixels(tmp_path, size):
    path = meta_image(tmp_path / "x.mha", CompressedData="True", CompressedDataSize=size)
    with pytest.raises(OSError, match=f"CompressedDataSize is '{size}'|ends after [0-9]+ of [0-9]+ bytes"):
        read_image(path)


@pytest.mark.parametrize(
    "pattern", ("s%s.raw 1 3 1", "s%n.raw 1 3 1", "s%d%d.raw 1 3 1", "s%9999d.raw 1 3 1", "s%d.raw 0 99999999999 1", "s%d.raw 1 3 0", "s%d.raw 3 1 1",
                "s%d.raw x 3 1"),
)
def test_patterns_of_names_of_slices(tmp_path, pattern):
    with pytest.raises(OSError, match="is damaged: ElementDataFile"):
        read_image(meta_image(tmp_path / "x.mha", ElementDataFile=pattern))


def test_slices_in_files_of_their_own(tmp_path):
    for i in range(3):
        (tmp_path / f"s{2 * i + 1:02}.raw").write_bytes(bytes(range(9 * i, 9 * i + 9)))
    path = meta_image(tmp_path / "x.mha", NDims="3", DimSize="3 3 3", ElementDataFile="s%02d.raw 1 5 2")
    np.testing.assert_array_equal(read_image(path).array.ravel(), np.arange(27))


def test_names_of_files_that_no_file_can_have(tmp_path):
    with pytest.raises(OSError, match="is no name of a file"):
        read_image(meta_image(tmp_path / "x.mha", ElementDataFile="a\0b.raw"))
    with pytest.raises(OSError, match="is no name of a file"):
        read_image("a\0b.png")


NRRD = "NRRD0004\ntype: unsigned char\ndimension: 2\nsizes: 3 3\nencoding: raw\n"


@pytest.mark.parametrize("line", ("{}", "unknown: {}", "kinds: {}", "space: {}", "thicknesses: {}", "old min: {}", 'space units: "{}" "mm"'))
@pytest.mark.parametrize("length", (100, 900, 2000, 100000))
def test_long_lines_of_nrrd(tmp_path, line, length):
    """ITK's reader has a buffer of 1024 bytes for the message about a line that it does not understand."""
    path = tmp_path / "x.nrrd"
    path.write_bytes((NRRD + line.format("x" * length) + "\n\n").encode() + bytes(9))
    with pytest.raises(OSError, match="is damaged: its header has a line of [0-9]+ bytes that begins with" if length > 800 else "could not be read"):
        read_image(path)
    for kept in ("# {}", "key:={}", "content: {}"):
        path.write_bytes((NRRD + kept.format("x" * length) + "\n\n").encode() + bytes(9))
        assert read_image(path).array.shape == (3, 3)


@pytest.mark.parametrize(
    "line", ("line skip: many", "byte skip: -2", "byte skip: 1e3", "space dimension: 2\nspace directions: (nan,0) (0,1)", "space dimension: 2\nspace origin: (inf,0)")
)
def test_wrong_headers_of_nrrd(tmp_path, line):
    path = tmp_path / "x.nrrd"
    path.write_bytes((NRRD + line + "\n\n").encode() + bytes(9))
    with pytest.raises(OSError, match="is damaged: |could not be read"):
        read_image(path)


@pytest.mark.parametrize("extension", (".nii.gz", ".nrrd"))
def test_more_compressed_bytes_than_the_header_promises(tmp_path, extension):
    """They are read for their checksum, and take no memory."""
    path, zeros = tmp_path / f"x{extension}", bytes(1 << 20)
    if extension == ".nrrd":
        with open(path, "wb") as file:
            file.write(NRRD.replace("raw", "bzip2").encode() + b"\n")
            with bz2.open(file, "w") as packed:
                for _ in range(256):
                    packed.write(zeros)
    else:
        write_image(random_image("uint8", (4, 5)), tmp_path / "x.nii")
        with gzip.open(path, "wb", compresslevel=1) as packed:
            packed.write((tmp_path / "x.nii").read_bytes())
            for _ in range(256):
                packed.write(zeros)
    program = "import sys, resource, itk_cudafilters as c; from itk_cudafilters._library import core; core(); peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; before = peak(); "
    program += "\ntry: c.read_image(sys.argv[1])\nexcept OSError: pass\nprint(peak() - before)"
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) < 100 << 10, f"{done.stdout} KiB for a small image"


def test_files_with_which_fuzzing_failed():
    """The files of the corpus, and some hundred with random damages, in a process of their own."""
    fuzzer = pathlib.Path(__file__).parents[2] / "test" / "fuzz" / "fuzz_image_files.py"
    if not fuzzer.exists():
        pytest.skip("the tests run without the repository")
    files = sorted((fuzzer.parent / "corpus" / "Files").iterdir())
    assert len(files) >= 5
    done = subprocess.run([sys.executable, fuzzer, *files], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([sys.executable, fuzzer, "--seconds", "3", "--seed", "2"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and int(done.stdout.split()[1]) > 20, done.stdout + done.stderr


@pytest.mark.parametrize("line", ["NDims = -3", "NDims = 0", "NDims = 11", "NDims = x", "DimSize = -50 8 8", "DimSize = 8 8", "DimSize = 0 8 8", "HeaderSize = -5"])
def test_wrong_headers_of_meta_images(tmp_path, capsys, line):
    header = {"ObjectType": "Image", "NDims": "3", "BinaryData": "True", "DimSize": "8 8 8", "ElementType": "MET_UCHAR"}
    key, value = line.split(" = ")
    header[key] = value
    text = "".join(f"{name} = {each}\n" for name, each in header.items()) + "ElementDataFile = LOCAL\n"
    (tmp_path / "x.mha").write_bytes(text.encode() + bytes(512))
    expect_refused(capsys, tmp_path, "x.mha' is damaged: ", "smooth", tmp_path / "x.mha", tmp_path / "o.mha", "--sigma", 1)


def test_absurd_sizes_are_refused(tmp_path, capsys):
    text = "ObjectType = Image\nNDims = 3\nBinaryData = True\nDimSize = 100000 100000 100000\nElementType = MET_DOUBLE\nElementDataFile = LOCAL\n"
    (tmp_path / "x.mha").write_bytes(text.encode() + bytes(512))
    expect_refused(capsys, tmp_path, "ends after", "smooth", tmp_path / "x.mha", tmp_path / "o.mha", "--sigma", 1)


def test_files_that_are_no_regular_ones(tmp_path):
    os.mkfifo(tmp_path / "f.png")
    for name in (tmp_path / "f.png", "/dev/null", tmp_path):
        with pytest.raises(OSError, match="is no regular file"):
            read_image(name)
    with pytest.raises(OSError, match="it is no regular file"):
        write_image(np.zeros((4, 5), np.uint8), tmp_path / "f.png")
    with pytest.raises(OSError, match="does not exist or cannot be opened"):
        read_image(tmp_path / "none.png")
    done = subprocess.run(
        [sys.executable, "-m", "itk_cudafilters", "smooth", "/dev/stdin", tmp_path / "o.png", "--sigma", "1"],
        input=b"abc", capture_output=True, timeout=60,
    )
    assert done.returncode == 1 and b"'/dev/stdin' is no regular file" in done.stderr


def test_little_memory(tmp_path):
    """The command ends with a message, not by a signal."""
    write(random_image("float32", (64, 64, 64)), tmp_path / "in.mha")
    program = "import sys, resource; from itk_cudafilters._command import main; import itk_cudafilters._library as l; l.core(); "
    program += "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize(); "
    program += "resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv.pop(1)),) * 2); sys.exit(main())"
    for more in (1 << 18, 1 << 20, 3 << 20, 9 << 20):
        done = subprocess.run(
            [sys.executable, "-c", program, str(more), "smooth", tmp_path / "in.mha", tmp_path / "o.mha", "--sigma", "1", "--backend", "host"],
            capture_output=True, text=True, timeout=100,
        )
        assert done.returncode == 1 and "not enough memory" in done.stderr, (more, done.stderr)
        assert not (tmp_path / "o.mha").exists()


def test_text_that_is_no_image(tmp_path):
    for name, data in (("x.txt", b"no image"), ("x.nii", b""), ("x.mha", b"NDims"), ("x.tif", b"II*\0"), ("x.png", b"\x89PNG\r\n\x1a\n"), ("x.nrrd", b"NRRD0004\n")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(OSError, match=name):
            read_image(tmp_path / name)


# The class Image


def test_images_of_other_packages():
    given = in_space("float32")
    for package, convert in (("itk", given.to_itk), ("SimpleITK", given.to_simpleitk), ("nibabel", given.to_nibabel), ("xarray", given.to_xarray)):
        try:
            __import__(package)
        except ModuleNotFoundError:
            continue
        found = Image.of(convert())
        np.testing.assert_array_equal(found.array, given.array)
        for name in ("spacing", "origin", "direction"):
            np.testing.assert_allclose(getattr(found, name), getattr(given, name), atol=1e-6, err_msg=f"{package}: {name}")


def test_places_in_other_packages():
    simple = pytest.importorskip("SimpleITK")
    given = in_space("float32")
    image = given.to_simpleitk()
    np.testing.assert_allclose(image.TransformIndexToPhysicalPoint((1, 2, 3)), given.to_physical([[1, 2, 3]])[0])
    assert image[1, 2, 3] == given.array[3, 2, 1]
    colours = random_image("uint8", (4, 5, 3), has_components=True)
    found = Image.of(colours.to_simpleitk())
    assert found.has_components and (found.array == colours.array).all()
    assert simple.GetArrayFromImage(colours.to_simpleitk()).shape == (4, 5, 3)


def test_coordinates_of_xarray():
    xarray = pytest.importorskip("xarray")
    given = random_image("float32", (6, 8), spacing=(10.0, 20.0), origin=(500.0, 900.0), direction=[[1.0, 0.0], [0.0, -1.0]], no_data=-1.0)
    array = given.to_xarray()
    assert array.dims == ("y", "x") and array.y[1] == 880.0 and array.x[1] == 510.0
    found = Image.of(array)
    assert (found.spacing, found.origin, found.no_data) == (given.spacing, given.origin, -1.0)
    assert found.direction.tolist() == given.direction.tolist()
    assert Image.of(xarray.DataArray(given.array.T, dims=("x", "y"))).shape == (6, 8)


def test_wrong_images():
    for arguments, message in (
        ({"spacing": (1.0,)}, "spacing is .*; it must be 2 finite numbers"),
        ({"spacing": (1.0, -1.0)}, "it must be above 0"),
        ({"spacing": (1.0, float("nan"))}, "it must be 2 finite numbers"),
        ({"origin": (1.0, 2.0, 3.0)}, "origin is .*; it must be 2 finite numbers"),
        ({"direction": np.eye(3)}, "direction has the shape"),
    ):
        with pytest.raises(ValueError, match=message):
            Image(np.zeros((4, 5)), **arguments)
    with pytest.raises(TypeError, match="it must be an image or an array of numbers"):
        Image.of(object())


def test_filters_take_and_return_images():
    image = random_image("float32", (20, 30, 40), spacing=(0.5, 2.0, 1.25))
    result = itk_cudafilters.gaussian_filter(image, 2.0, spacing="image")
    assert isinstance(result, Image) and result.spacing == image.spacing
    np.testing.assert_array_equal(result.array, itk_cudafilters.gaussian_filter(image.array, 2.0, spacing=(1.25, 2.0, 0.5)))
    np.testing.assert_array_equal(itk_cudafilters.gaussian_filter(image, 2.0).array, itk_cudafilters.gaussian_filter(image.array, 2.0))
    gradient = itk_cudafilters.gaussian_gradient(image, 1.0)
    assert gradient.has_components and gradient.shape == (20, 30, 40, 3)
    colours = random_image("uint8", (20, 30, 3), has_components=True)
    result = itk_cudafilters.gaussian_filter(colours, 2.0)
    assert result.has_components
    np.testing.assert_array_equal(result.array, itk_cudafilters.gaussian_filter(colours.array, 2.0, channel_axis=-1))
    with pytest.raises(ValueError, match="two axes of them"):
        itk_cudafilters.gaussian_gradient(colours, 2.0)
    mask = Image(image.array > 50, image.spacing)
    expected = itk_cudafilters.gaussian_filter(image.array, 2.0, valid_mask=mask.array)
    np.testing.assert_array_equal(itk_cudafilters.gaussian_filter(image, 2.0, valid_mask=mask).array, expected)
    with pytest.raises(ValueError, match="valid_mask has the origin"):
        itk_cudafilters.gaussian_filter(image, 2.0, valid_mask=Image(mask.array, image.spacing, (1.0, 0.0, 0.0)))
    scipy = pytest.importorskip("scipy.ndimage")
    found = itk_cudafilters.ndimage.gaussian_filter(image, 1.0)
    np.testing.assert_allclose(found.array, scipy.gaussian_filter(image.array, 1.0, truncate=8.0), atol=1e-3)


def test_regions_of_images():
    rng = np.random.default_rng(14)
    mean = np.ones((60, 80))
    mean[20:40, 30:60] = 4.0
    pixels = rng.exponential(mean).astype(np.float32)
    image = Image(pixels, (10.0, 20.0), (500.0, 900.0), [[1.0, 0.0], [0.0, -1.0]])
    found = itk_cudafilters.segment_region(image, "gamma", looks=1)
    plain = itk_cudafilters.segment_region(pixels, "gamma", looks=1)
    assert isinstance(found.label, Image) and found.label.spacing == image.spacing
    np.testing.assert_array_equal(found.label.array, plain.label)
    assert found.contour[:, 0].min() > 500.0 and found.contour[:, 1].max() < 900.0
    parts = itk_cudafilters.partition_image(image, "gamma", looks=1)
    assert isinstance(parts.labels, Image) and isinstance(parts.means, Image) and parts.means.origin == image.origin
    pixels[:, :5] = -9999.0
    hidden = itk_cudafilters.partition_image(Image(pixels, no_data=-9999.0), "gamma", looks=1)
    assert (np.asarray(hidden.labels)[:, :5] == 0).all() and hidden.table["pixels"].sum() == 60 * 75


# Without the package itk


def test_itk_is_not_loaded(tmp_path):
    write(in_space("int16"), tmp_path / "a.nii.gz")
    program = f"""
import sys
import tempfile
from itk_cudafilters import Image, gaussian_filter, read_image, write_image
from itk_cudafilters._command import main
image = read_image({str(tmp_path / 'a.nii.gz')!r})
for end in {EXTENSIONS[1:]!r}:
    write_image(gaussian_filter(image, 1.0, spacing="image"), {str(tmp_path)!r} + "/b" + end)
    assert main(["smooth", {str(tmp_path / 'a.nii.gz')!r}, {str(tmp_path)!r} + "/c" + end, "--sigma", "1"]) == 0
others = ("itk", "SimpleITK", "nibabel", "xarray", "tifffile")
print([name for name in sys.modules if name.partition(".")[0] in others])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n[]\n")


def test_pictures_are_written_without_itk(tmp_path):
    picture = np.random.default_rng(15).integers(0, 256, (20, 30, 3), np.uint8)
    (tmp_path / "x.png").write_bytes(_pictures.encode_png(picture))
    np.testing.assert_array_equal(read_image(tmp_path / "x.png").array, picture)


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir() if path.suffix in (".png", ".gz", ".tif")))
def test_example_data(name):
    found = read_image(DATA / name)
    itk = pytest.importorskip("itk")
    expected = itk.imread(str(DATA / name))
    np.testing.assert_array_equal(found.array.squeeze(), itk.array_from_image(expected).squeeze())
    np.testing.assert_allclose(found.spacing, itk.spacing(expected), rtol=1e-6)
    np.testing.assert_allclose(found.origin, itk.origin(expected), rtol=1e-5, atol=1e-5)
