# SPDX-License-Identifier: Apache-2.0
"""Pictures of images and of what was found in them, as PNG files."""
from __future__ import annotations

import os
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._images import pixels_of, plane_of
from ._output import replacing

if TYPE_CHECKING:
    from ._segmentation import Segmentation

# Values below the first percentile are black, and values above the second one are white.
_BLACK, _WHITE = 0.5, 99.5
_BOUNDARY, _NODE, _NODE_RIM = (255, 150, 30), (255, 255, 255), (0, 0, 0)
_LONGER_SIDE = 1000
"""Pixels of an overlay, about."""


def stretch(pixels: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Maps pixels to grey values: the 0.5 percentile to black (0) and the 99.5 percentile to white (255). Pixels that
    are not finite are black."""
    values = pixels.astype(np.float64)
    finite = values[np.isfinite(values)]
    black, white = np.percentile(finite, [_BLACK, _WHITE]) if finite.size else (0.0, 0.0)
    if not white > black:
        return np.zeros(values.shape, np.uint8)
    grey = np.where(np.isfinite(values), 255.0 * (values - black) / (white - black), 0.0)
    rounded: npt.NDArray[np.float64] = np.floor(np.clip(grey, 0.0, 255.0) + 0.5)
    return rounded.astype(np.uint8)


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Returns a PNG file of grey values, or of red, green and blue along the last axis."""
    height, width = pixels.shape[:2]
    rows = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # in front of each row the number of its filter, 0 for none
    header = struct.pack(">2I5B", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    parts = (struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


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


def write_picture(path: str | os.PathLike[str], picture: npt.NDArray[np.uint8]) -> None:
    """Writes grey values or colours as a PNG file."""
    with replacing(path) as file:
        file.write(encode_png(picture))
