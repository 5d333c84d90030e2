# SPDX-License-Identifier: Apache-2.0
"""Arrays in files of a folder that the user has named, for images that may be larger than the memory."""
from __future__ import annotations

import math
import mmap
import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

# Smaller arrays are ordinary memory: ScratchMemory::MinimumBytesOfFile of the library.
_IN_FILE = 64 << 20


def scratch_folder() -> str | None:
    """Returns the folder for large arrays; None if the user has named none."""
    return os.environ.get("ITK_CUDAFILTERS_SCRATCH") or None


def scratch_array(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any] | None:
    """Returns an uninitialized array in a file without a name, which vanishes with the array, as the library's ScratchMemory
    does. Returns None for small arrays, and if the user has named no folder. Raises OSError if the folder cannot take it."""
    kind = np.dtype(dtype)
    bytes = math.prod(shape) * kind.itemsize
    folder = scratch_folder()
    if folder is None or bytes < _IN_FILE:
        return None
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, bytes)  # a full disk would otherwise end the process when a page is written
            return np.ndarray(shape, kind, mmap.mmap(file.fileno(), bytes))
    except OSError as error:
        raise OSError(
            f'The environment variable ITK_CUDAFILTERS_SCRATCH is "{folder}"; it must be a folder that can take a file of '
            f"{bytes / 2**20:.0f} MiB: {error.strerror}"
        ) from None


def empty_or_scratch(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    """Returns an uninitialized array, a large one in the user's folder if there is one."""
    array = scratch_array(shape, dtype)
    return np.empty(shape, dtype) if array is None else array
