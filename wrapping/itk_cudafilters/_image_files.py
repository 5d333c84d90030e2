# SPDX-License-Identifier: Apache-2.0
"""Image files: what their headers promise is compared with the file before it is read, and what is written is complete."""
from __future__ import annotations

import bz2
import errno
import math
import os
import re
import resource
import stat
import struct
import time
import warnings
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ._image import Image, quantity_of
from ._library import core, empty
from ._map_tags import GDAL, MAP, crs_of, is_on_map, is_scaled, names_no_code, place_of, tags_at
from ._output import Scratch, path_of, replacing, require_writable
from ._rasters import RasterFile, geo_keys, is_remote

FORMATS = "PNG, TIFF, MetaImage, NRRD, NIfTI"
_EXTENSIONS = {
    ".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".mha": "MetaImage", ".mhd": "MetaImage", ".nrrd": "NRRD", ".nhdr": "NRRD",
    ".nii": "NIfTI", ".nii.gz": "NIfTI", ".hdr": "NIfTI", ".img": "NIfTI", ".img.gz": "NIfTI",
}
_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64")
_TYPES_OF = {"PNG": ("uint8", "uint16")}
_ADVICE = {"PNG": "write TIFF, MetaImage, NRRD or NIfTI"}
# Types that no format has, and those that they are written as.
_WRITTEN_AS = {"bool": "uint8", "float16": "float32", "complex64": "float32", "complex128": "float64"}
_BLOCK = 1 << 20


def read_image(
    path: str | os.PathLike[str],
    *,
    band: int | Sequence[int] | None = None,
    window: Sequence[int] | None = None,
    bounds: Sequence[float] | None = None,
    quantity: str | None = None,
) -> Image:
    """Reads an image file: PNG, TIFF, MetaImage, NRRD or NIfTI, and by the package rasterio whatever GDAL reads.

    A file that is shorter than its header says, whose checksum is wrong, or whose pixels are of a kind that would be
    changed by reading them, is refused. The georeference of a GeoTIFF becomes the image's spacing, origin and direction,
    and its reference system `image.crs`. Its value for no data and its mask are the image's. A MetaImage, NRRD or NIfTI
    file with components has them as the last axis.

    The five formats need no other package. rasterio (pip install rasterio) reads other ones, names that begin with https://
    or /vsi, files whose pixels have a scale or an offset, which becomes float32, and all files if a band or a part is
    asked for. It loads only the tiles of that part from a tiled file, such as a cloud-optimized GeoTIFF. It converts complex
    pixels, such as those of single-look complex products, to the amplitude or the intensity that `quantity` names.

    Parameters
    ----------
    path
        File to read.
    band
        Number of the band to read, from 1, or several, which become components. By default all are read.
    window
        Part to read: x, y, width and height in pixels.
    bounds
        Part to read: left, bottom, right and top in coordinates of the map. All pixels that the rectangle meets are read.
    quantity
        What the pixels of a radar image are: intensity, amplitude, or db for decibels. The image keeps the word, and
        segment_region(), partition_image() and estimate_looks() convert the pixels to what they need.

    Returns
    -------
    An Image, in the pixel type of the file. NIfTI files with a slope and an intercept are float.

    Raises
    ------
    OSError
        The file cannot be read, is not complete, or its format or a feature of it is not supported.
    TypeError, ValueError
        A parameter is wrong, or the part lies outside of the image.
    ModuleNotFoundError
        rasterio is needed and not installed.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = os.path.join(folder.name, "decibels.tif")
    >>> write_image(np.full((2, 3), -7.0, np.float32), name)
    >>> read_image(name, quantity="db").quantity
    'db'
    """
    quantity = quantity_of(quantity)
    image = open_file(path, band, window, bounds, quantity).read()
    image.quantity = quantity
    return image


def open_file(
    path: str | os.PathLike[str],
    band: int | Sequence[int] | None = None,
    window: Sequence[int] | None = None,
    bounds: Sequence[float] | None = None,
    quantity: str | None = None,
) -> ImageFile | RasterFile:
    """Opens an image file. The package rasterio reads those that this module does not, and the parts of all."""
    path_of(path)
    if any(part is not None for part in (band, window, bounds)) or is_remote(path):
        return RasterFile(path, band, window, bounds, quantity)
    has_rasterio = find_spec("rasterio") is not None
    try:
        file = ImageFile(path)
    except UnknownKind:
        if has_rasterio:
            with suppress(OSError):
                return RasterFile(path, quantity=quantity)
        raise
    needs_rasterio = is_scaled(file.metadata) or (has_rasterio and names_no_code(file.metadata))
    return RasterFile(path) if needs_rasterio else file


def write_image(image: Any, path: str | os.PathLike[str], *, compress: bool | None = None) -> None:
    """Writes an image file. Its extension says the format: PNG, TIFF, MetaImage, NRRD or NIfTI.

    The file is written beside its place and put there when it is complete and on the disk. If it cannot be finished, there
    is no file, and one that was there before is kept.

    Parameters
    ----------
    image
        An Image, an image of itk, SimpleITK, nibabel or xarray, or an array.
    path
        File to write. An existing file is replaced; a symbolic link is followed.
    compress
        Whether the pixels are compressed without loss. By default only those of PNG and .nii.gz are.

    Raises
    ------
    OSError
        The file cannot be written, or its format does not hold such pixels.

    Warns
    -----
    UserWarning
        The format has no place for a part of the image's geometry, its reference system or its value for no data.
    """
    checked = Image.of(image)
    path_of(path)
    if not isinstance(compress, (bool, np.bool_, type(None))):
        raise TypeError(f"compress is {compress!r}; it must be True, False or None")
    require_format(path, checked.dtype.name, checked.dimension, checked.shape[-1] if checked.has_components else 1)
    for loss in losses_of(checked, path):
        warnings.warn(loss, stacklevel=2)
    write_checked(checked, path, compress)


def read_slice(file: ImageFile | RasterFile) -> Image:
    """Reads an image without trailing axes of one pixel. Colours become luminance."""
    image = file.read()
    if file.components > 1:
        red, green, blue = (image.array[..., i].astype(np.float64) for i in range(3))
        grey = (2125.0 * red + 7154.0 * green + 721.0 * blue) / 10000.0  # as ITK's readers
        image = image.with_array(grey.astype(image.dtype), has_components=False)
    return _without_trailing_axes(image, file.axes)


def read_mask(source: str | ImageFile | RasterFile, *, like: Image, axes: int = 2, is_label: bool = False) -> Image:
    """Reads an image of labels, or a mask, and gives it the axes in space of the image `like`, which has more than one
    pixel along `axes` of them. A mask is 1 where any of its components is not 0."""
    file = ImageFile(source) if isinstance(source, str) else source
    name = file.name
    if file.axes != axes:
        or_slice = ", or a single slice" if axes == 2 else ""
        raise OSError(f"'{name}' has {' x '.join(map(str, file.size))} pixels; it must be an image of {axes} dimensions{or_slice}")
    if file.components > 1 and is_label:
        raise OSError(f"'{name}' has {file.components} components per pixel; labels have one")
    image = file.read()
    if not is_label:
        # The fourth colour is how opaque a pixel is.
        pixels = (image.array[..., :3] != 0).any(axis=-1) if file.components > 1 else image.array != 0
        image = image.with_array(pixels.astype(np.uint8), has_components=False)
    mask = _without_trailing_axes(image, axes)
    return mask if like.dimension == axes else Image(mask.array.reshape((1,) * (like.dimension - axes) + mask.shape))


def _without_trailing_axes(image: Image, axes: int) -> Image:
    """Returns an image with its first axes in space. The others have one pixel."""
    direction = image.direction[:axes, :axes]
    if abs(np.linalg.det(direction)) < 1e-6:
        direction = np.eye(axes)  # of a slice that is turned in space
    return Image(
        image.array.reshape(image.shape[image.ndim - axes :]), image.spacing[:axes], image.origin[:axes], direction,
        no_data=image.no_data, quantity=image.quantity, metadata=image.metadata,
        valid_mask=None if image.valid_mask is None else image.valid_mask.reshape(image.shape[image.ndim - axes :]),
    )


def format_of(path: str | os.PathLike[str]) -> str:
    """Returns the format that a file's extension says."""
    return _EXTENSIONS[extension_of(path)]


def extension_of(path: str | os.PathLike[str]) -> str:
    name = os.path.basename(os.fspath(path)).lower()
    found = [extension for extension in _EXTENSIONS if name.endswith(extension) and name != extension]
    if not found:
        raise OSError(f"the extension of '{path}' belongs to none of the known formats ({FORMATS})")
    return max(found, key=len)


def paths_of(path: str | os.PathLike[str], compress: bool = False) -> list[Path]:
    """Returns the files that are written for an image, the header first."""
    extension = extension_of(path)
    stem = os.fspath(path)[: -len(extension)]
    ends = {
        ".mhd": (".mhd", ".zraw" if compress else ".raw"),
        ".nhdr": (".nhdr", ".raw.gz" if compress else ".raw"),
        ".img": (".hdr", ".img"),
        ".hdr": (".hdr", ".img"),
        ".img.gz": (".hdr", ".img.gz"),
    }.get(extension, (extension,))
    return [Path(path if end == extension else stem + end) for end in ends]


def require_format(path: str | os.PathLike[str], dtype: str, dimension: int, components: int = 1) -> None:
    """Raises OSError unless an image of this kind can be written to the file: its format, its folder and its name."""
    format = format_of(path)
    for each in paths_of(path):
        require_writable(each)
    written = _WRITTEN_AS.get(dtype, dtype)
    known = _TYPES_OF.get(format, _TYPES)
    if written not in known or (format in ("PNG", "TIFF") and dtype.startswith("complex")):
        kind = "no floating-point numbers" if written in _TYPES[-2:] and format == "PNG" else f"no pixels of type {dtype}"
        raise OSError(f"'{path}' could not be written: {format} holds {kind}; {_ADVICE.get(format, 'convert them to float32')}")
    most = {"PNG": 2, "TIFF": 3, "NIfTI": 4}.get(format, 16)
    if not 1 <= dimension <= most or (format in ("PNG", "TIFF") and dimension < 2):
        raise OSError(f"'{path}' could not be written: {format} holds no images of {dimension} dimensions")
    if format == "PNG" and components > 4:
        raise OSError(f"'{path}' could not be written: PNG holds 1 to 4 components, not {components}")


def losses_of(image: Image, path: str | os.PathLike[str]) -> list[str]:
    """Returns a sentence for each part of an image's geometry and meaning that the format has no place for."""
    format = format_of(path)
    lost = []
    on_map = format == "TIFF" and _is_map(image) and image.dimension == 2
    crs = image.crs or ("reference system" if _is_map(image) else None)
    if crs and not on_map:
        lost.append(f"'{path}': {format} files keep no reference system: {crs} is lost")
    if image.no_data is not None and format != "TIFF":
        lost.append(f"'{path}': {format} files keep no value for no data: {image.no_data:g} is an ordinary value there")
    if image.valid_mask is not None and not image.valid_mask.all():
        lost.append(f"'{path}': the mask of pixels without data is not written: give no_data a value that they have")
    if format in ("PNG", "TIFF") and not on_map:
        kept = 0 if format == "PNG" else 2
        parts = {
            "spacing": set(image.spacing[kept:]) <= {1.0},
            "origin": not any(image.origin),
            "direction": (image.direction == np.eye(image.dimension)).all(),
        }
        names = [name if name != "spacing" or kept == 0 else "spacing between slices" for name, is_plain in parts.items() if not is_plain]
        if names:
            lost.append(f"'{path}': {format} files keep no {' and no '.join(names)}")
    return lost


class UnknownKind(OSError):
    """Raised for a file of another format, or of pixels that this module does not read."""


class ImageFile:
    """An image file that has been compared with its header. Its pixels are read when they are asked for."""

    def __init__(self, name: str | os.PathLike[str]) -> None:
        start_time = time.perf_counter()
        self.name = os.fspath(name)
        self.paths = [Path(self.name)]
        """The file and, if it is a header, the file of pixels that it names."""
        self._path = self.name
        self._is_copy = False
        self._no_data: float | None = None
        with _open(self.name) as file:
            start = file.read(352)
            self.format = _format_by(start, self.name)
            if self.format == "NIfTI":
                self._open_nifti(start)
            elif self.format == "PNG":
                _check_png(file, self.name)
            elif self.format == "MetaImage":
                self.paths += _check_meta(file, self.name)
            elif self.format == "NRRD":
                self.paths += _check_nrrd(file, self.name)
        with _naming(self.name, "read"):
            if self.format == "TIFF":
                self._tiff = TiffFile(self.name)
                found = self._tiff.header
                self._no_data = found["no_data"]
            else:
                found = core().read_image_header(self._path, self.format)
        self.size: list[int] = list(found["size"])
        self.spacing: list[float] = list(found["spacing"])
        self.dtype: np.dtype[Any] = np.dtype(found["type"])
        self.components: int = found["components"]
        self.pixel_type: str = found["pixel_type"]
        self.metadata: dict[str, Any] = found["metadata"]
        if not np.isfinite([*self.spacing, *found["origin"], *np.ravel(found["direction"])]).all():
            raise OSError(f"'{self.name}' is damaged: its header has no place in space")
        spacing = tuple(abs(step) or 1.0 for step in self.spacing)
        self.place = [spacing, tuple(found["origin"]), np.array(found["direction"], np.float64).T.tolist()]
        # A file that was decompressed to memory is not read in parts, although its copy could be.
        self._reads_parts = bool(found["reads_parts"]) and not self._is_copy
        if self.format == "NIfTI":
            self.metadata["nifti"] = (self._nifti_header, *self.place)
            if self.components > 1 and self.dtype.kind == "f" and not _is_nifti_of_floats(self._nifti_header):
                # ITK's reader would write beyond the pixels.
                raise OSError(f"'{self.name}' has {self.components} components of integers with a slope and an intercept, which are not read")
        if self.components > 1 and self.pixel_type != "vector":
            self.metadata["pixel_type"] = self.pixel_type
        self.seconds = time.perf_counter() - start_time
        """How long the comparison took, which decompresses NIfTI files."""

    def _open_nifti(self, start: bytes) -> None:
        """Prepares that exactly the named file is read. The library takes name.nii where name.nii.gz was asked for, if
        both exist; it is therefore given names in a folder of its own."""
        names = _nifti_names(self.name)
        self.paths = [Path(name) for name in names]
        is_compressed = [start[:2] == b"\x1f\x8b"]
        if len(names) == 2:
            is_compressed = []
            for name in names:
                with _open(name) as file:
                    is_compressed.append(file.read(2) == b"\x1f\x8b")
        scratch = Scratch()
        ends = (".nii",) if len(names) == 1 else (".hdr", ".img")
        sizes = []
        try:
            for name, end, compressed in zip(names, ends, is_compressed):
                if compressed:
                    copy = scratch.create("image" + end)
                    with _open(name) as file:
                        if end != ".img":
                            _inflate(file, name, 31, copy, 348)
                            copy.flush()
                        header = _start_of(scratch.path("image" + ends[0]))
                        # No more than the header promises is kept.
                        needed = 348 if end == ".hdr" else _size_of_nifti(header, self.name, len(names) == 1)
                        file.seek(0)
                        copy.seek(0)
                        sizes.append(_inflate(file, name, 31, copy, needed))
                    copy.flush()
                else:
                    scratch.link("image" + end, name)
                    sizes.append(os.path.getsize(name))
            self._path = scratch.path("image" + ends[0])
            self._nifti_header = _start_of(self._path)
            _require_size(names[-1], sizes[-1], _size_of_nifti(self._nifti_header, self.name, len(names) == 1))
        except BaseException:
            scratch.close()
            raise
        self._scratch = scratch  # as long as the file may be read
        self._is_copy = any(is_compressed)

    @property
    def axes(self) -> int:
        """Number of axes without trailing axes of one pixel; 2 at least for files of two or more axes."""
        axes = len(self.size)
        while axes > 2 and self.size[axes - 1] == 1:
            axes -= 1
        return axes

    @property
    def size_in_bytes(self) -> int:
        """Size of the pixels in bytes, without the header."""
        return math.prod(self.size) * self.components * self.dtype.itemsize

    @property
    def reads_parts(self) -> bool:
        """Whether a single plane of the last axis can be read instead of the whole file."""
        return self._reads_parts and self.size[self.axes - 1] > 1

    def read(self) -> Image:
        """Reads the file as an image."""
        return self.image_of(self._read(0, 0))

    def read_planes(self, first: int, count: int) -> npt.NDArray[Any]:
        """Reads `count` planes from `first` on. They are planes of the last axis that has more than one pixel. The array
        is indexed [..., y, x, component]."""
        return self._read(first, count)

    def _read(self, first: int, count: int) -> npt.NDArray[Any]:
        shape = [*reversed(self.size), self.components]
        if count:
            shape[len(self.size) - self.axes] = count
        with _naming(self.name, "read"):
            if self.format == "TIFF":
                return self._tiff.read().reshape(shape)
            pixels = empty(tuple(shape), self.dtype.name)
            core().read_image_pixels(self._path, self.format, pixels, first, count)
        return pixels

    def image_of(self, pixels: npt.NDArray[Any]) -> Image:
        """Returns pixels, indexed [..., y, x, component], as an image in the place of this one, with its metadata."""
        shape = (*reversed(self.size), self.components)
        array = pixels.reshape(shape if self.components > 1 else shape[:-1])
        with _naming(self.name, "read"):
            valid = self._tiff.read_mask() if self.format == "TIFF" else None
        return Image(
            array, *self.place, has_components=self.components > 1, no_data=self._no_data, valid_mask=valid, metadata=self.metadata
        )


# Comparison of files with their headers


def _open(name: str | os.PathLike[str]) -> BinaryIO:
    """Opens a regular file to read."""
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise OSError(f"'{name}' is no regular file")
        return open(name, "rb")
    except ValueError as error:  # a name from a header
        raise OSError(f"{os.fspath(name)!r} is no name of a file: {error}") from None
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(f"'{name}' does not exist or cannot be opened: {error.strerror}") from None


def _format_by(start: bytes, name: str) -> str:
    """Returns the format of a file that begins with these bytes."""
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "TIFF"
    if start.startswith(b"NRRD0"):
        return "NRRD"
    if re.search(rb"^(ObjectType|NDims) *=", start, re.MULTILINE):
        return "MetaImage"
    lower = name.lower()
    if start[344:348] in (b"n+1\0", b"ni1\0") or lower.endswith((".hdr", ".img", ".img.gz")):
        return "NIfTI"
    if start[:2] == b"\x1f\x8b" and lower.endswith(".gz"):
        return "NIfTI"
    if start[4:8] in (b"n+2\0", b"ni2\0"):
        raise OSError(f"'{name}' is a NIfTI-2 file, which is not read: convert it to NIfTI-1, for example with nibabel")
    raise UnknownKind(f"'{name}' is in none of the known formats ({FORMATS})")


def _require_size(name: str | os.PathLike[str], size: int, needed: int) -> None:
    if size < needed:
        raise OSError(f"'{name}' ends after {size} of {needed} bytes")


def _inflate(
    file: BinaryIO, name: str | os.PathLike[str], window: int, copy: BinaryIO | None = None, most: int = 0
) -> int:
    """Decompresses the rest of a file in blocks, checks its checksums, and returns the number of bytes. It writes the first
    `most` bytes to a copy, because the header promises no more. `window` is zlib's, which says whether the data are those of gzip."""
    decoder = zlib.decompressobj(window)
    size = 0
    while block := file.read(_BLOCK):
        is_full = False
        while block or is_full:
            if decoder.eof:
                block = block.lstrip(b"\0")
                if not block or window < 16:
                    break  # zeros behind the end are padding; behind zlib's data the rest of the file follows
                decoder = zlib.decompressobj(window)
            try:
                data = decoder.decompress(block, _BLOCK)
            except zlib.error as error:
                raise OSError(f"'{name}' is damaged: {error}") from None
            if copy is not None and size < most:
                copy.write(data[: most - size])
            size += len(data)
            is_full = len(data) == _BLOCK and not decoder.eof
            block = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
    if not decoder.eof:
        raise OSError(f"'{name}' ends after {os.fstat(file.fileno()).st_size} bytes, before its compressed pixels do")
    return size


def _check_png(file: BinaryIO, name: str) -> None:
    """Checks the lengths and checksums of a PNG file's chunks, to the last one."""
    file.seek(8)
    kind = b""
    while kind != b"IEND":
        head = file.read(8)
        length, kind = struct.unpack(">I4s", head) if len(head) == 8 else (0, b"")
        rest = file.read(length + 4) if kind else b""
        if len(rest) != length + 4:
            raise OSError(f"'{name}' ends after {file.tell()} bytes, before its last chunk")
        if zlib.crc32(rest[:-4], zlib.crc32(kind)) != int.from_bytes(rest[-4:], "big"):
            raise OSError(f"'{name}' is damaged: the checksum of a chunk is wrong")


_META_SIZES = {"CHAR": 1, "UCHAR": 1, "SHORT": 2, "USHORT": 2, "INT": 4, "UINT": 4, "LONG": 4, "ULONG": 4, "FLOAT": 4,
               "LONG_LONG": 8, "ULONG_LONG": 8, "DOUBLE": 8}


def _check_meta(file: BinaryIO, name: str) -> list[Path]:
    """Compares a MetaImage with its header. Returns the files beside it that hold its pixels."""
    file.seek(0)
    fields: dict[str, str] = {}
    while "ElementDataFile" not in fields:
        line = file.readline(1 << 16)
        if not line or b"=" not in line:
            if line.strip():
                raise OSError(f"'{name}' is damaged: its header has a line without '='")
            if not line:
                raise OSError(f"'{name}' ends within its header, before ElementDataFile")
            continue
        key, _, value = line.decode("utf-8", "surrogateescape").partition("=")
        fields[key.strip()] = value.strip()
    dimension = _whole(fields.get("NDims"), "NDims", name, 1, 10)
    size = [_whole(text, "DimSize", name, 1) for text in fields.get("DimSize", "").split()]
    if len(size) != dimension:
        raise OSError(f"'{name}' is damaged: DimSize has {len(size)} numbers, and NDims is {dimension}")
    kind = fields.get("ElementType", "").removeprefix("MET_").removesuffix("_ARRAY")
    components = _whole(fields.get("ElementNumberOfChannels", "1"), "ElementNumberOfChannels", name, 1)
    needed = math.prod(size) * components * _META_SIZES.get(kind, 0)
    skipped = _whole(fields.get("HeaderSize", "0"), "HeaderSize", name, -1)
    place, data = file.tell(), fields["ElementDataFile"]
    is_compressed = fields.get("CompressedData", "").lower() in ("true", "t", "1")
    packed = _whole_or_float(fields.get("CompressedDataSize", "0"), "CompressedDataSize", name) if is_compressed else 0
    if fields.get("BinaryData", "True").lower() not in ("true", "t", "1"):
        return []  # numbers as text; ITK counts them
    if data.upper() == "LOCAL":
        _require_size(name, os.fstat(file.fileno()).st_size, place + packed)
        _check_pixels(file, name, place + max(skipped, 0), needed, 15 if is_compressed else None)
        return []
    if data.upper().startswith("LIST") or "%" in data:
        names = _names_of_slices(data, [line.decode("utf-8", "surrogateescape").strip() for line in file], name, math.prod(size))
        count = max(1, len(names))
    else:
        names, count = [data], 1
    paths = [Path(os.path.join(os.path.dirname(name), each)) for each in names]
    for path in paths:
        with _open(path) as pixels:
            _require_size(path, os.fstat(pixels.fileno()).st_size, packed)
            _check_pixels(pixels, path, max(skipped, 0), needed // count, 15 if is_compressed else None)
    return paths


def _names_of_slices(data: str, lines: list[str], name: str, most: int) -> list[str]:
    """Returns the names of the files of slices, at most one for each pixel: the lines of a list, or those of a pattern with
    its first and last number and step."""
    if data.upper().startswith("LIST"):
        return [line for line in lines if line]
    pattern, *numbers = data.split()
    # The library gives the pattern to printf().
    is_pattern = re.fullmatch(r"[^%]*%0?\d{0,2}d[^%]*", pattern) is not None
    first, last, step = [*(_whole(number, "ElementDataFile", name, -most) for number in numbers), *(1, 1, 1)[len(numbers) :]][:3]
    if not is_pattern or step < 1 or not 0 <= last - first <= step * most:
        raise OSError(f"'{name}' is damaged: ElementDataFile is '{data}'; it must be a name with %d, and the first, the last and the step")
    return [pattern % number for number in range(first, last + 1, step)]


def _check_pixels(file: BinaryIO, name: str | os.PathLike[str], place: int, needed: int, window: int | None) -> None:
    """Checks that a file has the pixels that begin at `place`, raw or compressed."""
    if window is None:
        _require_size(name, os.fstat(file.fileno()).st_size, place + needed)
        return
    file.seek(place)
    size = _inflate(file, name, window)
    if size < needed:
        raise OSError(f"'{name}' has {size} of {needed} bytes in its compressed pixels")


def _whole(text: str | None, key: str, name: str, least: int, most: int = 1 << 62) -> int:
    """Returns the whole number of a header's field. Raises OSError if it is missing, or not from `least` to `most`."""
    try:
        value = int(text or "")
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise OSError(f"'{name}' is damaged: {key} is '{text or ''}' in its header")
    return value


def _whole_or_float(text: str, key: str, name: str) -> int:
    """Returns a number of bytes, which some programs write as 1.5e+06."""
    value = _float_or_none(text)
    if value is None or not 0.0 <= value < 2**62:
        raise OSError(f"'{name}' is damaged: {key} is '{text}' in its header")
    return int(value)


_NRRD_SIZES = {"char": 1, "int8": 1, "short": 2, "int16": 2, "int": 4, "int32": 4, "longlong": 8, "int64": 8, "float": 4, "double": 8}


# Longer lines that it does not understand overflow the buffer in which ITK's reader tells so.
_LONGEST_NRRD_LINE = 800


def _check_nrrd(file: BinaryIO, name: str) -> list[Path]:
    """Compares a NRRD file with its header. Returns the file beside it that holds its pixels."""
    file.seek(0)
    fields = {}
    lines = iter(file.readline, b"")
    for line in lines:
        text = line.decode("utf-8", "surrogateescape").strip()
        if not text or text.startswith("data file: LIST"):
            break
        key, colon, value = text.partition(":")
        if len(line) > _LONGEST_NRRD_LINE and not (text.startswith("#") or value.startswith("=") or key in ("content", "labels")):
            raise OSError(f"'{name}' is damaged: its header has a line of {len(line)} bytes that begins with '{text[:20]}'")
        if colon and not text.startswith("#") and not value.startswith("="):
            fields[key.strip().lower().replace(" ", "")] = value.strip()
    kind = re.sub(r"^u|unsigned|signed|_t$|[ ]", "", fields.get("type", ""))
    needed = math.prod(_whole(size, "sizes", name, 1) for size in fields.get("sizes", "").split()) * _NRRD_SIZES.get(kind, 0)
    place, data = file.tell(), fields.get("datafile")
    encoding = fields.get("encoding", "raw").lower()
    if data is not None and (len(data.split()) > 1 or data.upper().startswith("LIST")):
        return []  # several files, whose lengths the library checks
    if _whole(fields.get("lineskip", "0"), "lineskip", name, 0) > 0 or _whole(fields.get("byteskip", "0"), "byteskip", name, -1) != 0:
        needed = place = 0
    path = name if data is None else os.path.join(os.path.dirname(name), data)
    with _open(path) as pixels:
        start = place if data is None else 0
        if encoding == "raw":
            _check_pixels(pixels, path, start, needed, None)
        elif encoding in ("gz", "gzip") and needed:
            _check_pixels(pixels, path, start, needed, 31)
        elif encoding in ("bz2", "bzip2") and needed:
            pixels.seek(start)
            size = 0
            try:
                with bz2.open(pixels) as unpacked:
                    while block := unpacked.read(_BLOCK):
                        size += len(block)
            except (OSError, ValueError, EOFError) as error:
                raise OSError(f"'{path}' is damaged: {error}") from None
            _require_size(path, size, needed)
    return [] if data is None else [Path(path)]


def _nifti_names(name: str) -> list[str]:
    """Returns the file, or those of a pair: the header and the pixels."""
    match = re.search(r"(\.hdr|\.img)(\.gz)?$", name, re.IGNORECASE)
    if match is None:
        return [name]
    stem = name[: match.start()]
    pair = []
    for end in (".hdr", ".img"):
        choices = [stem + each for each in (end, end + ".gz", end.upper())]
        own = [choice for choice in choices if choice == name]
        pair.append(next((choice for choice in own + choices if os.path.exists(choice)), choices[0]))
    return pair


def _size_of_nifti(header: bytes, name: str, is_single: bool) -> int:
    """Returns the bytes that the file of the pixels needs."""
    if len(header) < 348:
        raise OSError(f"'{name}' ends within its header, after {len(header)} of 348 bytes")
    order = _order_of_nifti(header)
    dims = struct.unpack(f"{order}8h", header[40:56])
    bits, place = struct.unpack(f"{order}h", header[72:74])[0], struct.unpack(f"{order}f", header[108:112])[0]
    if not 1 <= dims[0] <= 7 or dims[1] < 1 or bits < 0 or not 0.0 <= place < 2**53:
        raise OSError(f"'{name}' is damaged: its header has the sizes {dims}, {bits} bits and its pixels at {place:g}")
    places = (*struct.unpack(f"{order}8f", header[76:108]), *struct.unpack(f"{order}18f", header[256:328]))
    if not all(abs(value) < 1e15 for value in places):
        raise OSError(f"'{name}' is damaged: its header has no place in space")  # for which ITK would search for ever
    pixels = math.prod(max(1, length) for length in dims[1 : dims[0] + 1])
    first: int = max(348, int(place)) if is_single else int(place)
    size: int = (pixels * bits + 7) // 8
    return first + size


def _start_of(path: str) -> bytes:
    """Returns the header of a NIfTI file."""
    with open(path, "rb") as file:
        return file.read(348)


def _is_nifti_of_floats(header: bytes) -> bool:
    """Returns whether the file's own numbers, without slope and intercept, are floating-point or complex ones."""
    return struct.unpack(f"{_order_of_nifti(header)}h", header[70:72])[0] in (16, 32, 64, 1536, 1792, 2048)


def _order_of_nifti(header: bytes) -> str:
    return "<" if struct.unpack("<i", header[:4])[0] == 348 else ">"


# TIFF


class TiffFile:
    """The pages of a TIFF file. They are the slices of a volume if there are several."""

    def __init__(self, name: str) -> None:
        self.name = name
        pages = core().read_tiff_pages(name)
        _require_tiff_end(name, pages[-1]["offset"])
        # Pages of fewer pixels and masks belong to others.
        self._pages = [page for page in pages if not page["kind"] & 5] or pages[:1]
        self._first = first = self._pages[0]
        sides = (first["width"], first["height"])
        masks = [page for page in pages if page["kind"] & 5 == 4 and (page["width"], page["height"]) == sides and page["bits"] in (1, 8)]
        self._mask = masks[0] if masks and len(self._pages) == 1 else None
        for page in [*self._pages, *masks]:
            if not page["is_decoded"]:
                raise UnknownKind(
                    f"'{name}' is compressed by the scheme {page['compression']}, which needs the package rasterio: install it, or "
                    "compress the file by deflate or LZW"
                )
        same = ("width", "height", "bits", "samples", "sample_format", "planes", "photometric")
        if any(page[key] != first[key] for page in self._pages for key in same):
            raise OSError(f"'{name}' has pages of different sizes or types, which are not read as one image: split it, for example with tiffsplit")
        bits, kind = first["bits"], {1: "u", 2: "i", 3: "f", 4: "u"}.get(first["sample_format"], "")
        is_known = bits in (8, 16, 32, 64) and kind and not (kind == "f" and bits == 8)
        if not is_known and not (bits == 1 and first["samples"] == 1):
            if not kind:
                raise UnknownKind(
                    f"'{name}' has samples of {bits} bits of complex numbers, whose amplitude or intensity is read by the package rasterio: "
                    "give quantity"
                )
            raise UnknownKind(f"'{name}' has samples of {bits} bits, which are not read: convert it to 8, 16 or 32 bits")
        if first["photometric"] == 6 and first["samples"] > 1 and not self._is_jpeg() or first["photometric"] in (32844, 32845):
            raise OSError(f"'{name}' has colours that are not red, green and blue, which are not read: convert it to RGB")
        self._stored = np.dtype("u1" if bits == 1 else f"{kind}{bits // 8}")
        self._is_turned = first["orientation"] > 4 and not self._on_map()
        self.header = self._make_header()

    def _is_jpeg(self) -> bool:
        return bool(self._first.get("compression", 7) == 7)

    def _on_map(self) -> bool:
        return is_on_map(self._first)

    def _make_header(self) -> dict[str, Any]:
        first = self._first
        channels, slices, frames, metadata = self._stack()
        sides = [first["width"], first["height"]][:: -1 if self._is_turned else 1]
        size = [*sides, *([slices] if slices > 1 or frames > 1 else []), *([frames] if frames > 1 else [])]
        spacing, origin, direction = self._place(len(size), metadata)
        components = first["samples"] * channels if "palette" not in first else 3
        dtype = self._stored
        if "palette" in first:
            dtype = np.dtype("u1" if self._is_dark_palette() else "u2")
        elif dtype == np.float16:
            dtype = np.dtype("f4")
        no_data = first.get("GDAL_NODATA")
        return {
            "size": size, "spacing": spacing, "origin": origin, "direction": direction, "type": dtype.str[1:],
            "components": components, "metadata": metadata, "reads_parts": False,
            "pixel_type": "rgb" if components == 3 else "vector" if components > 1 else "scalar",
            "no_data": _float_or_none(no_data),
        }

    def _stack(self) -> tuple[int, int, int, dict[str, Any]]:
        """Returns the numbers of channels, slices and frames of the pages, and the metadata. ImageJ counts channels first."""
        first, pages = self._first, len(self._pages)
        metadata = {name: first[name] for name in ("description", *MAP, *GDAL) if name in first}
        text = first.get("description", "")
        if text.startswith("ImageJ="):
            says = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
            channels, frames = (int(says.get(key, 1)) for key in ("channels", "frames"))
            if channels * frames > 1 and pages % (channels * frames) == 0:
                return channels, pages // (channels * frames), frames, metadata
        return 1, pages, 1, metadata

    def _place(self, axes: int, metadata: dict[str, Any]) -> tuple[list[float], list[float], list[list[float]]]:
        """Returns spacing, origin and the columns of the direction, of the map's tags, of ImageJ's text or of the
        resolution."""
        first = self._first
        spacing, origin, direction = [1.0] * axes, [0.0] * axes, np.eye(axes)
        crs = crs_of(first)
        if crs is not None:
            metadata["crs"] = crs
        if self._on_map():
            place = place_of(first)
            if place is not None:
                spacing[:2], origin[:2], direction[:2, :2] = place
            return spacing, origin, direction.T.tolist()
        text = first.get("description", "")
        unit = {2: 25.4, 3: 10.0}.get(first["resolution_unit"], 0.0)
        if text.startswith("ImageJ="):
            step = re.search(r"^spacing=(.*)$", text, re.MULTILINE)
            if step is not None and axes > 2:
                spacing[2] = abs(_float_or_none(step[1]) or 1.0)
            found = re.search(r"^unit=(.*)$", text, re.MULTILINE)
            if found is not None:
                metadata["unit"], unit = found[1], 1.0
        resolution = first["resolution"][:: -1 if self._is_turned else 1]
        if unit and all(value > 0.0 for value in resolution):
            spacing[:2] = [unit / value for value in resolution]
        return spacing, origin, direction.tolist()

    def _is_dark_palette(self) -> bool:
        """Returns whether 8 bits hold the palette's colours, which are 257 times as large."""
        colours = np.frombuffer(b"".join(self._first["palette"]), np.uint16)
        return bool((colours % 257 == 0).all())

    def read(self) -> npt.NDArray[Any]:
        """Reads all pages. The array is indexed [frame, slice, y, x, component], with some axes of one element."""
        first, pages = self._first, len(self._pages)
        width, height, samples = first["width"], first["height"], first["samples"]
        is_separate = first["planes"] == 2 and samples > 1
        if first["bits"] == 1:
            shape: tuple[int, ...] = (pages, height, (width + 7) // 8)
        else:
            shape = (pages, samples, height, width) if is_separate else (pages, height, width, samples)
        pixels = empty(shape, self._stored.name)
        core().read_tiff_pixels(self.name, tuple(page["offset"] for page in self._pages), pixels)
        if first["bits"] == 1:
            pixels = np.unpackbits(pixels, axis=-1)[..., :width, None]
        elif is_separate:
            pixels = np.moveaxis(pixels, 1, -1)
        if "palette" in first:
            colours = np.stack([np.frombuffer(colour, np.uint16) for colour in first["palette"]], axis=-1)
            pixels = (colours // 257 if self._is_dark_palette() else colours).astype(self.header["type"])[pixels[..., 0]]
        elif first["photometric"] == 0 and self._stored.kind == "u":
            pixels = (1 if first["bits"] == 1 else np.iinfo(self._stored).max) - pixels  # 0 is white
        if not self._on_map():
            pixels = _turned(pixels, first["orientation"])
        channels, slices, frames, _ = self._stack()
        if channels > 1:
            pixels = np.moveaxis(pixels.reshape((frames, slices, channels, *pixels.shape[1:])), 2, -1)
        return np.ascontiguousarray(pixels, self.header["type"])


    def read_mask(self) -> npt.NDArray[np.uint8] | None:
        """Reads the page of a map that says which of its pixels hold data; None if there is none."""
        if self._mask is None:
            return None
        width, height = self._first["width"], self._first["height"]
        bits = self._mask["bits"]
        valid = empty((1, height, (width + 7) // 8 if bits == 1 else width), "uint8")
        core().read_tiff_pixels(self.name, (self._mask["offset"],), valid)
        return np.unpackbits(valid[0], axis=-1)[:, :width] if bits == 1 else valid[0]


def _require_tiff_end(name: str, offset: int) -> None:
    """Checks that the last page's tags are in the file, with the place of the next page, which the library takes for none
    where the file ends before it."""
    with open(name, "rb") as file:
        start = file.read(4)
        order = "<" if start[:2] == b"II" else ">"
        is_big = start[2:4] in (b"+\0", b"\0+")
        file.seek(offset)
        (count,) = struct.unpack(f"{order}{'Q' if is_big else 'H'}", file.read(8 if is_big else 2))
        needed = offset + (8 + 20 * count + 8 if is_big else 2 + 12 * count + 4)
        _require_size(name, os.fstat(file.fileno()).st_size, needed)


def _turned(pixels: npt.NDArray[Any], orientation: int) -> npt.NDArray[Any]:
    """Turns pages, indexed [page, y, x, sample], so that the first row is at the top and the first column on the left."""
    if orientation > 4:
        pixels = np.swapaxes(pixels, 1, 2)
    down = -1 if orientation in (3, 4, 7, 8) else 1
    right = -1 if orientation in (2, 3, 6, 7) else 1
    return pixels[:, ::down, ::right]


def _float_or_none(text: Any) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _is_map(image: Image) -> bool:
    return any(name in image.metadata for name in MAP) or (image.crs is not None and find_spec("rasterio") is not None)


def _tags_of(image: Image) -> dict[str, Any]:
    """Returns the tags of GeoTIFF and GDAL for the place of an image, if it is one of a map, and for its value for no
    data."""
    tags = {name: image.metadata[name] for name in ("GDAL_METADATA",) if name in image.metadata}
    if image.no_data is not None:
        tags["GDAL_NODATA"] = repr(image.no_data).removesuffix(".0")
    if _is_map(image) and image.dimension == 2:
        known = image.metadata
        if image.crs not in (None, crs_of(known)) and find_spec("rasterio") is not None:
            known = {**known, **geo_keys(image.crs)}
        tags |= tags_at((image.spacing, image.origin, image.direction), known)
    return tags


# Writing


def write_checked(image: Image, path: str | os.PathLike[str], compress: bool | None) -> None:
    """Writes an image to memory, compares the file with its header, and puts it in its place."""
    extension, format = extension_of(path), format_of(path)
    is_compressed = compress is True and format != "NIfTI"
    targets = paths_of(path, is_compressed)
    with Scratch() as scratch, ExitStack() as stack:
        # A header names the file of pixels beside it, so that the files have their own names there. .gz is made here.
        names = [target.name for target in targets]
        names[0] = names[0][: -len(extension)] + extension if len(names) == 1 or extension in (".mhd", ".nhdr") else names[0]
        if format == "NIfTI":
            names = [name.removesuffix(".gz") for name in names]
        files = [scratch.create(name) for name in names]
        with _naming(path, "written"):
            _encode(image, scratch.path(names[0]), is_compressed)
            if format == "NIfTI":
                _restore_nifti(image, files[0])
            try:
                made = ImageFile(scratch.path(names[0]))
            except OSError as error:
                raise OSError(f"'{path}' could not be written: its copy in memory was not complete") from error
            _require_same(image, made, path)
        outputs = [stack.enter_context(replacing(target)) for target in targets]
        for target, name, file, output in zip(targets, names, files, outputs):
            file.seek(0)
            is_packed = format == "NIfTI" and target.name.lower().endswith(".gz")
            for block in _gzip(file) if is_packed else iter(lambda: file.read(_BLOCK), b""):
                output.write(block)


def begin_like(file: ImageFile, path: str) -> None:
    """Writes a raw MetaImage of a file's size, type and place, of which only the first plane takes space on the disk."""
    plane = np.zeros(file.size_in_bytes // file.size[file.axes - 1], np.uint8)
    spacing, origin, direction = file.place
    columns = tuple(zip(*direction))
    kind = file.pixel_type if file.components > 1 else "scalar"
    metadata: dict[str, Any] = {}
    header = (tuple(file.size), spacing, origin, columns, file.dtype.str[1:], file.components, kind, metadata)
    with _naming(path, "written"):
        core().write_image(path, "MetaImage", header, plane, 1, False)


def _require_same(image: Image, file: ImageFile, path: str | os.PathLike[str]) -> None:
    """Raises OSError unless the written file has the size and the type of an image's pixels."""
    pixels, components, _ = _plain_pixels(image, file.format)
    sides = image.array.shape[: image.dimension][::-1]
    if (tuple(file.size), file.dtype, file.components) != (sides, pixels.dtype, components):
        raise OSError(
            f"'{path}' could not be written: of pixels of type {pixels.dtype} with {components} components, {file.format} made "
            f"{file.dtype} with {file.components}"
        )


def _encode(image: Image, path: str, compress: bool) -> None:
    """Writes an image by the library of its format."""
    format = format_of(path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if format == "PNG" and limit != resource.RLIM_INFINITY and image.array.nbytes >= limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))  # ITK's writer of PNG may end the process if it cannot go on
    pixels, components, pixel_type = _plain_pixels(image, format)
    sides = image.array.shape[: image.dimension][::-1]
    if format == "TIFF":
        width, height, *others = sides
        number = {"u": 1, "i": 2, "f": 3}[pixels.dtype.kind]
        tags = _tags_of(image)
        resolution = (0.0, 0.0)
        if any(step != 1.0 for step in image.spacing[:2]) and "ModelPixelScale" not in tags and "ModelTransformation" not in tags:
            resolution = (10.0 / image.spacing[0], 10.0 / image.spacing[1])
        description = "" if "ImageJ=" in image.metadata.get("description", "") else image.metadata.get("description", "")
        is_rgb = components in (3, 4) and pixels.dtype.kind == "u"
        pages = math.prod(others)
        kind = (width, height, pages, components, 8 * pixels.itemsize, number, is_rgb, compress, resolution, description, tags)
        core().write_tiff(path, kind, pixels)
        return
    known = {name: value for name, value in image.metadata.items() if name.startswith("NRRD_")} if format == "NRRD" else {}
    columns = tuple(tuple(column) for column in image.direction.T.tolist())
    header = (sides, image.spacing, image.origin, columns, pixels.dtype.str[1:], components, pixel_type, known)
    core().write_image(path, format, header, pixels, 0, compress)


def _plain_pixels(image: Image, format: str) -> tuple[npt.NDArray[Any], int, str]:
    """Returns contiguous pixels of a type that formats have, the number of components, and ITK's name for the kind of
    pixels."""
    array, components = image.array, image.shape[-1] if image.has_components else 1
    kind = "scalar" if components == 1 else image.metadata.get("pixel_type", "vector")
    if components in (3, 4) and kind in ("vector", "rgb", "rgba"):
        # NIfTI has colours of 8 bits only, and vectors of the other types.
        has_colours = array.dtype.name == "uint8" or (format == "PNG" and array.dtype.name == "uint16")
        kind = ("rgb" if components == 3 else "rgba") if has_colours else "vector"
    dtype = np.dtype(_WRITTEN_AS.get(array.dtype.name, array.dtype.name))
    if array.dtype.kind == "c":
        array, components, kind = np.ascontiguousarray(array).view(dtype), 2, "complex"
    return np.ascontiguousarray(array, dtype), components, kind


def _restore_nifti(image: Image, file: BinaryIO) -> None:
    """Gives a NIfTI file both places in space, their meaning and the units of the file that the image was read from, if the
    image is still in its place. ITK knows one place only."""
    found: Sequence[Any] = image.metadata.get("nifti", ())
    if not found or list(found[1:]) != _place_of(image):
        return
    header = found[0]
    order = _order_of_nifti(header)
    file.seek(0)
    own = bytearray(file.read(348))
    own[76:80] = struct.pack("<f", *struct.unpack(f"{order}f", header[76:80]))  # the side of the third axis
    own[123] = header[123]
    own[252:328] = struct.pack("<2h18f", *struct.unpack(f"{order}2h18f", header[252:328]))
    file.seek(0)
    file.write(own)
    file.flush()


def _place_of(image: Image) -> list[Any]:
    return [image.spacing, image.origin, image.direction.tolist()]


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    """Yields a file as one of gzip. Blocks are compressed at the same time, at the level that nibabel uses."""

    def compress(block: bytes) -> bytes:
        encoder = zlib.compressobj(1, zlib.DEFLATED, -15)
        return encoder.compress(block) + encoder.flush(zlib.Z_SYNC_FLUSH)

    yield b"\x1f\x8b\x08\0\0\0\0\0\x04\xff"
    checksum = size = 0
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Any] = deque()
        while block := file.read(_BLOCK):
            checksum, size = zlib.crc32(block, checksum), size + len(block)
            waiting.append(pool.submit(compress, block))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        for each in waiting:
            yield each.result()
    yield b"\x03\0" + struct.pack("<2I", checksum, size & 0xFFFFFFFF)  # an empty last block


@contextmanager
def _naming(name: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Converts exceptions of the libraries within the block to OSError with the name of the file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(f"'{name}' could not be {what}: {error.strerror}") from error
    except RuntimeError as error:
        raise OSError(f"'{name}' could not be {what}: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """Returns an exception's message without the location in ITK's sources that threw it."""
    return " ".join(re.sub(r"^\S+:\d+:\n(ITK ERROR: (\w+\(0x[0-9a-f]+\): )?)?", "", str(error)).split())
