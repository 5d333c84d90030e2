# SPDX-License-Identifier: Apache-2.0
"""This module's filters where a program asks for ITK's."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import itk

_lock = Lock()
# Blocks of override() that are open, and whether the filters were enabled before the first of them.
_open_blocks = 0
_enabled_before = False


def enable() -> None:
    """From now on, ITK's Gaussian filters that are made are this module's.

    itk.CudaGaussianImageFilterFactory gives this module's filters to `itk.SmoothingRecursiveGaussianImageFilter.New()`, to
    `itk.smoothing_recursive_gaussian_image_filter()`, and to filters of ITK that use them inside. Filters that exist stay what
    they are. To enable twice is to enable once.

    ITK has one list of factories in a process: other threads get this module's filters, too.
    """
    itk.CudaGaussianImageFilterFactory.RegisterFactories()


def disable() -> None:
    """From now on, ITK's Gaussian filters that are made are ITK's own, in all threads.

    It ends enable(), however often that was called, ITK_CUDAFILTERS_OVERRIDE=1, and open blocks of override().
    It is no error if nothing was enabled.
    """
    itk.CudaGaussianImageFilterFactory.UnRegisterFactories()


@contextmanager
def override() -> Iterator[None]:
    """Within a `with` block, ITK's Gaussian filters that are made are this module's.

    When the last open block ends, by an exception or not, the state before the first one comes back.

    The list of factories is the process's: other threads get this module's filters as long as any thread is in such a block.

    Examples
    --------
    >>> import itk
    >>> with override():
    ...     laplacian = itk.LaplacianRecursiveGaussianImageFilter[itk.Image[itk.F, 2], itk.Image[itk.F, 2]].New()
    >>> laplacian.GetNameOfClass()
    'CudaLaplacianRecursiveGaussianImageFilter'
    """
    global _open_blocks, _enabled_before
    with _lock:
        if _open_blocks == 0:
            _enabled_before = itk.CudaGaussianImageFilterFactory.IsRegistered()
        enable()
        _open_blocks += 1
    try:
        yield
    finally:
        with _lock:
            _open_blocks -= 1
            if _open_blocks == 0 and not _enabled_before:
                disable()
