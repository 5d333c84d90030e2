# SPDX-License-Identifier: Apache-2.0
"""Image files in their native pixel type, and pictures of segmentations."""
from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._files import stretch
from ._images import image_of, pixels_of, plane_of, with_geometry_of
from ._itk import itk
from ._segmentation import Segmentation

FORMATS = "PNG, TIFF, MetaImage, NRRD, NIfTI"
_COMPONENTS = {
    "unsigned_char": "u1",
    "char": "i1",
    "unsigned_short": "u2",
    "short": "i2",
    "unsigned_int": "u4",
    "int": "i4",
    "float": "f4",
    "double": "f8",
}
_BOUNDARY, _NODE, _NODE_RIM = (255, 150, 30), (255, 255, 255), (0, 0, 0)
_LONGER_SIDE = 1000
"""Pixels of an overlay, about."""


class ImageFile:
    """An image file: its header, and its pixels in their native type.

    The readers that the itk package wraps support fewer pixel types than files have. Pixels are therefore read and
    written as bytes through the ImageIO of the format.
    """

    def __init__(self, name: str) -> None:
        if not Path(name).is_file():
            raise OSError(f"'{name}' does not exist or cannot be opened")
        self._io: Any = itk.ImageIOFactory.CreateImageIO(name, itk.CommonEnums.IOFileMode_ReadMode)
        if self._io is None:
            raise OSError(f"'{name}' is in none of the known formats ({FORMATS})")
        self.name = name
        self._io.SetFileName(name)
        with _naming(name, "read"):
            self._io.ReadImageInformation()
        axes = range(self._io.GetNumberOfDimensions())
        self.size = [int(self._io.GetDimensions(axis)) for axis in axes]
        self.spacing = [float(self._io.GetSpacing(axis)) for axis in axes]
        self.components = int(self._io.GetNumberOfComponents())
        self.component_type = str(self._io.GetComponentTypeAsString(self._io.GetComponentType()))
        self.pixel_type = str(self._io.GetPixelTypeAsString(self._io.GetPixelType()))

    @property
    def axes(self) -> int:
        """Number of axes without trailing axes of one pixel; 2 at least for files of two or more axes."""
        axes = len(self.size)
        while axes > 2 and self.size[axes - 1] == 1:
            axes -= 1
        return axes

    @property
    def dtype(self) -> np.dtype[Any]:
        if self.component_type not in _COMPONENTS:
            raise OSError(
                f"'{self.name}' has pixels of type {self.component_type}, which are not supported; convert the image to "
                "integers of at most 32 bits, float or double"
            )
        return np.dtype(_COMPONENTS[self.component_type])

    @property
    def paths(self) -> list[Path]:
        """The file and, if it is the header of a MetaImage, the file of pixels that it names."""
        path = Path(self.name)
        with path.open("rb") as file:
            header = file.read(1 << 16) if path.suffix == ".mhd" else b""
        named = re.search(rb"^ElementDataFile *= *(\S.*?)\s*$", header, re.MULTILINE)
        return [path, *([] if named is None else [path.parent / os.fsdecode(named[1])])]

    @property
    def size_in_bytes(self) -> int:
        """Size of the pixels in bytes, without the header."""
        return int(self._io.GetImageSizeInBytes())

    @property
    def format(self) -> str:
        """Class name of the ImageIO that reads the file."""
        return str(self._io.GetNameOfClass())

    def read(self) -> npt.NDArray[Any]:
        """Reads all pixels. The array is indexed [..., y, x, component]."""
        return self._read(self._region())

    def reads_parts(self) -> bool:
        """Returns whether the ImageIO can read a single plane of the last axis instead of the whole file."""
        plane = self._region(0, 1)
        self._io.SetUseStreamedReading(True)
        given = self._io.GenerateStreamableReadRegionFromRequestedRegion(plane)
        return self.size[self.axes - 1] > 1 and all(
            given.GetSize(axis) == plane.GetSize(axis) for axis in range(len(self.size))
        )

    def read_planes(self, first: int, count: int) -> npt.NDArray[Any]:
        """Reads `count` planes from `first` on. They are planes of the last axis that has more than one pixel."""
        return self._read(self._region(first, count))

    def _read(self, region: Any) -> npt.NDArray[Any]:
        shape = [int(region.GetSize(axis)) for axis in reversed(range(len(self.size)))] + [self.components]
        buffer = _Bytes(math.prod(shape) * self.dtype.itemsize)
        self._io.SetIORegion(region)
        with _naming(self.name, "read"):
            self._io.Read(buffer.pointer)
        return buffer.bytes.view(self.dtype).reshape(shape)

    def write_like(self, name: str, pixels: npt.NDArray[Any]) -> None:
        """Writes pixels of this file's type and shape to another file, with the geometry and metadata of this one."""
        self._write(self._writer(name), name, self._region(), pixels)

    def begin_like(self, name: str) -> None:
        """Writes the header of such a file and a first plane of zeros, by which the file gets its final length."""
        io = self._writer(name)
        io.SetUseStreamedWriting(True)
        plane = self.size_in_bytes // self.size[self.axes - 1]
        self._write(io, name, self._region(0, 1), np.zeros(plane, np.uint8))

    def _writer(self, name: str) -> Any:
        io = writer_of(name)
        io.SetNumberOfDimensions(len(self.size))
        for axis in range(len(self.size)):
            io.SetDimensions(axis, self.size[axis])
            io.SetSpacing(axis, self._io.GetSpacing(axis))
            io.SetOrigin(axis, self._io.GetOrigin(axis))
            io.SetDirection(axis, self._io.GetDirection(axis))
        io.SetPixelType(self._io.GetPixelType())
        io.SetComponentType(self._io.GetComponentType())
        io.SetNumberOfComponents(self.components)
        if io.GetNameOfClass() == self._io.GetNameOfClass():
            # Metadata have names that only the same format understands.
            io.SetMetaDataDictionary(self._io.GetMetaDataDictionary())
        return io

    def _write(self, io: Any, name: str, region: Any, pixels: npt.NDArray[Any]) -> None:
        buffer = _Bytes(pixels.nbytes)
        buffer.bytes[:] = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8)
        io.SetFileName(name)
        io.SetIORegion(region)
        with _written(name):
            io.WriteImageInformation()
            io.Write(buffer.pointer)

    def _region(self, first: int = 0, count: int | None = None) -> Any:
        """Returns the region of the whole image, or of `count` planes of its last axis that has more than one pixel."""
        region = itk.ImageIORegion(len(self.size))
        for axis, length in enumerate(self.size):
            region.SetIndex(axis, 0)
            region.SetSize(axis, length)
        if count is not None:
            region.SetIndex(self.axes - 1, first)
            region.SetSize(self.axes - 1, count)
        return region


class _Bytes:
    """Memory that both ITK's ImageIO classes and NumPy can access."""

    def __init__(self, length: int) -> None:
        self._image: Any = itk.Image[itk.UC, 2].New()
        self._image.SetRegions([length, 1])
        self._image.Allocate()
        self.pointer: Any = self._image.GetBufferPointer()
        self.bytes: npt.NDArray[np.uint8] = itk.array_view_from_image(self._image).reshape(-1)


def writer_of(name: str) -> Any:
    """Returns the ImageIO that writes the format of a file's extension. Raises OSError if the extension is unknown."""
    writer = itk.ImageIOFactory.CreateImageIO(name, itk.CommonEnums.IOFileMode_WriteMode)
    if writer is None:
        raise OSError(f"the extension of '{name}' belongs to none of the known formats ({FORMATS})")
    return writer


def read_slice(name: str, pixel_type: Any) -> Any:
    """Reads an image of two dimensions, or the only slice of a volume. Colours become luminance."""
    return read_axes(name, pixel_type, 2)


def read_axes(name: str, pixel_type: Any, axes: int) -> Any:
    """Reads an image of two or three dimensions; see read_slice()."""
    reader = itk.ImageFileReader[itk.Image[pixel_type, axes]].New(FileName=name)
    with _naming(name, "read"):
        reader.Update()
    return reader.GetOutput()


def draw_overlay(image: Any, segmentation: Segmentation[Any]) -> npt.NDArray[np.uint8]:
    """Draws the boundary of the label and the nodes over the image, enlarged by an integer factor.

    Returns an array of rows, columns and RGB. docs/user/parameters.md defines the picture.
    """
    picture = draw_boundaries(image, segmentation.label)
    if not segmentation.statistics.significant_boundary:
        return picture
    scale = _scale_of(pixels_of(segmentation.label))
    nodes = np.round(scale * (segmentation.contour_in_pixels + 0.5)).astype(int)
    for half, colour in ((3, _NODE_RIM), (2, _NODE)):
        for x, y in nodes.tolist():
            picture[max(0, y - half) : y + half, max(0, x - half) : x + half] = colour
    return picture


def _scale_of(pixels: npt.NDArray[Any]) -> int:
    longer = int(max(pixels.shape))
    return max(1, (2 * _LONGER_SIDE // longer + 1) // 2)


def draw_boundaries(image: Any, labels: Any) -> npt.NDArray[np.uint8]:
    """Draws the boundaries of labels over the image, as draw_overlay() does, but without nodes."""
    grey = stretch(plane_of(image, "image"))
    scale = _scale_of(grey)
    picture = np.repeat(np.kron(grey, np.ones((scale, scale), np.uint8))[..., None], 3, axis=2)
    label = np.kron(pixels_of(labels), np.ones((scale, scale), np.uint8))
    down, right = label[1:] != label[:-1], label[:, 1:] != label[:, :-1]
    for part, steps in ((picture[1:], down), (picture[:-1], down), (picture[:, 1:], right), (picture[:, :-1], right)):
        part[steps] = _BOUNDARY
    return picture


def with_pixels_of_16_bits(labels: Any) -> Any:
    """Converts labels to unsigned short if their values fit, because many formats cannot store 32-bit integers."""
    pixels = pixels_of(labels)
    if pixels.max(initial=0) > np.iinfo(np.uint16).max:
        return labels
    return with_geometry_of(labels, pixels.astype(np.uint16))


def with_pixels_like(means: Any, image: Any) -> Any:
    """Converts means to the pixel type of an image. For integer types they are rounded, halves up, and NaN becomes
    0."""
    values, dtype = pixels_of(means).astype(np.float64), pixels_of(image).dtype
    if dtype.kind != "f":
        values = np.floor(np.nan_to_num(values) + 0.5)
    return with_geometry_of(means, values.astype(dtype))


def write_picture(name: str, picture: npt.NDArray[np.uint8]) -> None:
    write_image(name, itk.image_from_array(np.ascontiguousarray(picture), ttype=itk.Image[itk.RGBPixel[itk.UC], 2]))


def write_grey(name: str, pixels: npt.NDArray[Any]) -> None:
    """Writes pixels as grey values that are stretched between the 0.5 and the 99.5 percentile."""
    write_image(name, image_of(stretch(pixels)))


def write_image(name: str, image: Any) -> None:
    with _written(name):
        itk.imwrite(image, name, compression=True)


@contextmanager
def _naming(name: str, what: str) -> Iterator[None]:
    """Converts exceptions of ITK within the block to OSError with the name of the file."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(f"'{name}' could not be {what}: {reason_of(error)}") from error


@contextmanager
def _written(name: str) -> Iterator[None]:
    """Removes the file if the block raises an exception after it has begun to write it."""
    before = _state_of(name)
    try:
        with _naming(name, "written"):
            yield
    except BaseException:
        if _state_of(name) not in (None, before):
            os.unlink(name)
        raise


def _state_of(name: str) -> tuple[int, int, int] | None:
    """Returns the inode, size and time of a regular file, which change when it is written; None if there is no such
    file."""
    if not os.path.isfile(name):
        return None
    found = os.stat(name)
    return found.st_ino, found.st_size, found.st_mtime_ns


def reason_of(error: Exception) -> str:
    """Returns an exception's message without the location in ITK's sources that threw it."""
    return " ".join(re.sub(r"^\S+:\d+:\n(ITK ERROR: (\w+\(0x[0-9a-f]+\): )?)?", "", str(error)).split())
