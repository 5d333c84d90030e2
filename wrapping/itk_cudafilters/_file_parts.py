# SPDX-License-Identifier: Apache-2.0
"""Smoothing of image files that are read, filtered and written in parts."""
from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from . import stream
from ._image_files import ImageFile, begin_like, format_of, paths_of
from ._output import Scratch, replacing

_CHUNK = 128
_MARGIN = 64 << 20
"""Bytes that are no planes."""


def can_smooth(file: ImageFile, output: str, memory: int) -> bool:
    """Returns whether `file` can be read, and `output` written, in parts.

    Raises OSError if not and the whole image needs more than `memory` bytes."""
    reads = file.reads_parts
    if reads and format_of(output) == "MetaImage":
        return True
    # Memory holds the pixels three times (input, result and file), and one component with its smoothed copy, in float.
    needed = 3 * file.size_in_bytes + 8 * (file.size_in_bytes // (file.dtype.itemsize * file.components))
    if needed > memory:
        name, format, verb = (output, format_of(output), "written") if reads else (file.name, file.format, "read")
        raise OSError(
            f"the format of '{name}', {format}, is not {verb} in parts; the whole image takes {_gigabytes(needed)}, more than "
            "--memory allows. Raw MetaImages (.mha, .mhd) are"
        )
    return False


def smooth(
    file: ImageFile, output: str, sigma: list[float], memory: int, progress: Any, **parameters: Any
) -> tuple[dict[str, Any], float, float]:
    """Smooths `file` into `output`. Returns the report of stream.gaussian_filter(), and the seconds of reading and
    writing."""
    source = _Source(file)
    _require_memory(file, sigma, parameters["approximation"], memory)
    with _Target.open(file, output) as target:
        done = stream.gaussian_filter(
            source,
            target,
            tuple(reversed(sigma)),
            spacing=tuple(abs(spacing) for spacing in reversed(file.spacing[: file.axes])),
            channel_axis=None if file.components == 1 else -1,
            preserve_nan=False,
            progress=progress,
            **parameters,
        )
    return done, source.seconds, target.seconds


def _require_memory(file: ImageFile, sigma: list[float], approximation: str, memory: int) -> None:
    """Raises OSError if the planes that are held at the same time need more than `memory` bytes."""
    real = "float64" if file.dtype in (np.int32, np.uint32, np.float64) else "float32"
    window = {"float32": {"deriche": 12.0, "accurate": 9.0}, "float64": {"deriche": 22.5, "accurate": 15.5}}[real][approximation]
    last = file.axes - 1
    planes = file.size[last]
    ahead = -(-window * sigma[last] / abs(file.spacing[last]) // _CHUNK)
    chunks = 4 + (ahead if ahead <= 3 else 0)
    needed = min(int(chunks) * _CHUNK, planes + 2 * _CHUNK) * (file.size_in_bytes // planes) + _MARGIN
    if ahead > 3:
        needed += file.size_in_bytes // file.dtype.itemsize // 2  # the states of all chunks, in double
    if needed > memory:
        raise OSError(
            f"--memory allows {_gigabytes(memory)}; this sigma needs {_gigabytes(needed)} for the planes of '{file.name}' that it "
            "holds at a time"
        )


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.3g} GB"


class _Planes:
    """The shape and type of a file's pixels, with a last axis of components if there are several."""

    def __init__(self, file: ImageFile) -> None:
        self._file = file
        self.shape = (*reversed(file.size[: file.axes]), *([] if file.components == 1 else [file.components]))
        self.dtype = file.dtype
        self.seconds = 0.0


class _Source(_Planes):
    def __getitem__(self, planes: slice) -> npt.NDArray[Any]:
        start = time.perf_counter()
        pixels = self._file.read_planes(planes.start, planes.stop - planes.start)
        self.seconds += time.perf_counter() - start
        if self.dtype.kind == "f" and not np.isfinite(pixels).all():
            raise OSError(
                f"'{self._file.name}' has pixels that are NaN or infinite in the planes from {planes.start} to {planes.stop - 1}, which "
                "are not left out in parts: smooth it without --memory"
            )
        return pixels.reshape((planes.stop - planes.start, *self.shape[1:]))


class _Target(_Planes):
    """A raw MetaImage. ITK writes the header. The pixels are written here, because ITK does not report a full disk."""

    def __init__(self, file: ImageFile, data: Any, offset: int) -> None:
        super().__init__(file)
        self._data = data
        self._offset = offset

    @classmethod
    @contextlib.contextmanager
    def open(cls, file: ImageFile, name: str) -> Iterator[_Target]:
        """Opens the target, which takes its place when the block ends without an exception."""
        with Scratch() as scratch, contextlib.ExitStack() as stack:
            paths = paths_of(name)
            files = [stack.enter_context(replacing(path)) for path in paths]
            begin_like(file, scratch.path(paths[0].name))
            for path, each in zip(paths, files):
                size = os.path.getsize(scratch.path(path.name))
                offset = size - file.size_in_bytes if path is paths[-1] else size
                if offset < 0:
                    raise OSError(f"'{name}' could not be written: {os.strerror(errno.EFBIG)}")  # this process may not write larger files
                with open(scratch.path(path.name), "rb") as header:
                    each.write(header.read(offset))
                each.flush()
            yield cls(file, files[-1], offset)

    def __getitem__(self, planes: slice) -> npt.NDArray[Any]:
        raise TypeError("a file that is written is not read")

    def __setitem__(self, planes: slice, pixels: npt.NDArray[Any]) -> None:
        start = time.perf_counter()
        left = np.ascontiguousarray(pixels, self.dtype).data.cast("B")
        place = self._offset + planes.start * (self._file.size_in_bytes // self.shape[0])
        while left:
            written = os.pwrite(self._data.fileno(), left, place)
            left = left[written:]
            place += written
        self.seconds += time.perf_counter() - start
