# SPDX-License-Identifier: Apache-2.0
"""Substitution of this module's filters where a program creates ITK's."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from ._itk import itk


_lock = Lock()
# Number of open blocks of override(), and whether the filters were enabled before the first of them was opened.
_open_blocks = 0
_enabled_before = False


def enable() -> None:
    """Substitutes this module's filters for ITK's Gaussian filters that are created from this call on.

    The call registers itk.CudaGaussianImageFilterFactory. It provides the filters that
    `itk.SmoothingRecursiveGaussianImageFilter.New()` and `itk.smoothing_recursive_gaussian_image_filter()` create, and
    the Gaussian filters inside other filters of ITK. Existing filters do not change. Calling it twice has the same
    effect as once.

    ITK has a single list of factories per process. Other threads therefore get this module's filters, too.
    """
    itk.CudaGaussianImageFilterFactory.RegisterFactories()


def disable() -> None:
    """Ends the substitution: Gaussian filters that are created from this call on are ITK's own, in all threads.

    A single call ends any number of calls of enable(), ITK_CUDAFILTERS_OVERRIDE=1, and open blocks of override(). It
    has no effect if nothing was enabled.
    """
    itk.CudaGaussianImageFilterFactory.UnRegisterFactories()


@contextmanager
def override() -> Iterator[None]:
    """Substitutes this module's filters for ITK's Gaussian filters that are created within a `with` block.

    When the last open block ends, normally or by an exception, the state before the first one is restored.

    The list of factories belongs to the process. Other threads therefore get this module's filters as long as any
    thread is in such a block.

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
