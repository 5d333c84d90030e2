# SPDX-License-Identifier: Apache-2.0
"""Filters for images that are larger than memory: a few planes at a time are read from a source, filtered, and written
to a target, in this process or in tasks of a scheduler of Dask.

A source is a NumPy array, a memory map, or any object with `shape`, `dtype` and slices of whole planes, such as a
dataset of h5py, an array of zarr, or one of tifffile that is opened by zarr. A target is such an object that can be
written. A plane is the part of the image with one index along the first axis that is filtered. The result does not
depend, bit for bit, on the amount of memory, on the grouping of planes, or on the number of processes.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ._arrays import positive
from ._gaussian import Approximation, Mode
from ._images import describe
from ._info import Backend
from ._parameters import Devices, library_errors, whole_number
from ._planes import require_planes, require_writable, share_pixels
from ._slabs import Progress, SlabFilter, gaussian_slabs
from ._structure_tensor_slabs import structure_tensor_slabs
from ._vesselness import Measure
from ._vesselness_slabs import vesselness_slabs

__all__ = [
    "gaussian_filter",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "structure_tensor",
    "structure_tensor_eigenvalues",
    "vesselness",
]


@library_errors
def gaussian_filter(
    source: Any,
    target: Any,
    sigma: float | Sequence[float] | None = None,
    order: int | Sequence[int] = 0,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    devices: Devices | None = None,
    progress: Progress | None = None,
    scheduler: Any = None,
    slab_planes: int | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.gaussian_filter() from a source to a target, in slabs of planes.

    On the GPU each plane is downloaded once. It is uploaded once for a sigma up to about 32 pixels along the first axis
    (46 with accurate, 17 for float64), because the planes that the next results need are kept in device memory, and
    twice for a larger sigma. The source is read as often, in the order of its planes.

    Parameters
    ----------
    source
        Image to filter, of 2 to 4 axes and possibly a channel axis, of real numbers. It is read by source[first:last].
        It may have further axes in front of the first one that is filtered, as t and c of an image t, c, z, y, x with
        `axes=(2, 3, 4)`. Each of their items is filtered by itself and read by source[t, c, first:last]. Of a store of
        zarr or h5py each chunk is read once in a sweep, by a thread beside the filter.
    target
        Destination, of the shape of the source. It is written by target[first:last] = planes, to a store in whole
        layers of its chunks or shards. Integers are truncated towards 0; int64 and uint64 are computed in float64, which is exact for integers up to 2^53. The target must not
        be the source, nor share pixels with it.
    sigma, order, mode, cval, fwhm, spacing, axes, approximation, backend
        As in itk_cudafilters.gaussian_filter(), with these limits. One mode holds for all axes. The mode wrap is not
        possible, because it needs the last plane before the first. spacing "image" is not possible. For derivatives in
        the mode constant, cval must be 0 unless only one axis is filtered: slabs are filtered along their planes first,
        so that other values would give other results than for arrays.
    channel_axis
        None, or the last axis.
    valid_mask
        Must be None. Masks are supported for arrays in memory.
    preserve_nan
        With True (default) all pixels of the source must be finite, or ValueError is raised, because slabs cannot leave
        pixels out. With False, pixels that are NaN or infinite spread along their lines.
    dtype
        None, or the type of the target.
    memory_limit
        Largest number of bytes of device memory to use, or text such as "8G". None: the free memory, within the limit
        of the configuration. With several GPUs it holds for each.
    devices
        Indices of the GPUs to which slabs of 128 planes or more are dealt in turn, for example [0, 1], or "all" for all usable
        ones of the compute capability of the first. The result has the bits of a run on one of them. A GPU that is named
        several times has several queues. They read one source in the order of its planes, and write in order, so that
        several GPUs pay where the links to the GPUs are slower than source and target. None: the configuration's, which are
        those of ITK_CUDAFILTERS_DEVICES, or one. With a scheduler it must be None: each worker takes the GPUs of its
        environment.
    progress
        Function that is called with the fraction of the work that is done, from 0 to 1. An exception that it raises
        ends the run.
    scheduler
        None: this process. Otherwise slabs are tasks of Dask: "threads", "processes", "synchronous", a client of
        distributed, or the address of a scheduler, such as "tcp://HOST:8786". Each task reads its slab and, where sigma
        is above 0 along the first axis, the chunks of 128 planes on either side that the window reaches, and writes its
        slab. For other processes source and target must be stores, or memory maps of whole files. Workers that end are
        replaced by others, which write the same planes again.
    slab_planes
        Planes of a task, a multiple of 128 and of the planes of the target's chunks, so that no two tasks write one
        chunk. None: about four tasks for each thread of the scheduler, and fewer, but one at least, where a task would read more
        than a quarter of its planes for its neighbours' sake.
    timeout
        For clusters: seconds after which TimeoutError is raised if no slab was done meanwhile. None: no limit.

    Returns
    -------
    dict
        used (OneSweep, TwoSweeps, ...), on_host, number_of_slabs, devices, bytes_up, bytes_down, bytes_between and other entries of
        GetSlabReport(), and backend_used and backend_reason.

    Raises
    ------
    TypeError, ValueError
        The kind or type of the source, of the target or of a parameter is not supported, or a value or shape is wrong.
    RuntimeError
        The GPU was requested and cannot be used, or the cluster has no workers.
    OSError
        Planes of a store could not be read or written.

    Notes
    -----
    If an exception is raised during the run, a part of the target has been written.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.ones((300, 8, 9), np.uint16)
    >>> smoothed = np.empty((300, 8, 9), np.float32)
    >>> report = gaussian_filter(volume, smoothed, sigma=2, mode="nearest", backend="host")
    >>> report["used"], bool((smoothed == 1).all())
    ('OneSweep', True)
    """
    return _run(
        "filter", source, target, sigma, order, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, memory_limit, devices, progress, scheduler, slab_planes, timeout,
    )


@library_errors
def gaussian_gradient_magnitude(
    source: Any,
    target: Any,
    sigma: float | Sequence[float] | None = None,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    devices: Devices | None = None,
    progress: Progress | None = None,
    scheduler: Any = None,
    slab_planes: int | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.gaussian_gradient_magnitude() from a source to a target, in slabs of planes.

    The parameters, the result and the errors are those of gaussian_filter() of this module, except `order`. The last
    axis before the channel axis must be one of `axes`.
    """
    return _run(
        "gradient_magnitude", source, target, sigma, 0, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, memory_limit, devices, progress, scheduler, slab_planes, timeout,
    )


@library_errors
def gaussian_laplace(
    source: Any,
    target: Any,
    sigma: float | Sequence[float] | None = None,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    devices: Devices | None = None,
    progress: Progress | None = None,
    scheduler: Any = None,
    slab_planes: int | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.gaussian_laplace() from a source to a target, in slabs of planes.

    The parameters, the result and the errors are those of gaussian_filter() of this module, except `order`. The last
    axis before the channel axis must be one of `axes`.
    """
    return _run(
        "laplace", source, target, sigma, 0, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, memory_limit, devices, progress, scheduler, slab_planes, timeout,
    )


@library_errors
def vesselness(
    source: Any,
    target: Any,
    sigmas: float | Sequence[float],
    measure: Measure = "objectness",
    object_dimension: int = 1,
    bright: bool = True,
    normalize: bool = True,
    *,
    alpha: float = 0.5,
    beta: float = 0.5,
    gamma: float | None = None,
    tau: float = 0.5,
    mode: Mode = "reflect",
    cval: float = 0.0,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    devices: Devices | None = None,
    progress: Progress | None = None,
    scheduler: Any = None,
    slab_planes: int | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.vesselness() from a source to a target, in slabs of planes.

    The Hessians of a group of planes are computed scale after scale, and only the largest response is kept. The host
    holds planes of the source, with the look-ahead of the largest scale, and the responses of 128 planes or of 256 MiB.
    A GPU computes the Hessians, and the host the measure. Where the measure has a parameter that follows from all
    Hessians (objectness and frangi without `gamma`, jerman), they are computed twice.

    Parameters
    ----------
    sigmas, measure, object_dimension, bright, normalize, alpha, beta, gamma, tau
        As in itk_cudafilters.vesselness(). In tasks of a scheduler the window of each sigma must reach no further than
        three chunks of planes: 42 planes of float pixels with accurate.
    axes
        The last two or three axes, which are filtered; those in front of them count items. None: all axes, two or three.
    source, target, mode, cval, spacing, preserve_nan, dtype, approximation, backend, memory_limit, devices, progress, scheduler, \
slab_planes, timeout
        As in gaussian_filter() of this module.

    Returns
    -------
    dict
        As of gaussian_filter(), summed over the scales.

    Raises
    ------
    TypeError, ValueError, RuntimeError, OSError
        As of gaussian_filter().

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.zeros((140, 20, 20), np.float32)
    >>> volume[:, 9:12, 9:12] = 1
    >>> response = np.empty_like(volume)
    >>> report = vesselness(volume, response, (1, 2), measure="frangi", backend="host")
    >>> bool(response[70, 10, 10] > 0.5), bool(response[70, 2, 2] < 0.01)
    (True, True)
    """
    filter = vesselness_slabs(
        *_ends(source, target, dtype), sigmas, measure, object_dimension, bright, normalize, alpha, beta, gamma, tau, mode, cval,
        spacing, axes, preserve_nan, approximation, backend, memory_limit, devices=devices,
    )
    return _filter_by(filter, source, target, progress, scheduler, slab_planes, timeout)


@library_errors
def structure_tensor(
    source: Any,
    target: Any,
    sigma: float = 1.0,
    integration_sigma: float = 2.0,
    *,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    devices: Devices | None = None,
    progress: Progress | None = None,
    scheduler: Any = None,
    slab_planes: int | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.structure_tensor() from a source to a target, in slabs of planes.

    The products of derivatives are computed chunk after chunk of 128 planes, and smoothed. The host holds those of a chunk, or of
    256 MiB, and of the chunks on either side that the window of `integration_sigma` reaches; for each pixel of three axes they
    are six numbers. A GPU computes the derivatives and smooths, and the host multiplies. On the host the result has the bits of
    the function for arrays in memory.

    Parameters
    ----------
    source
        Image, as in gaussian_filter() of this module. Its pixels must be finite.
    target
        Destination, with the components as one more axis behind those of the source: three for two axes, six for three.
    sigma, integration_sigma
        As in itk_cudafilters.structure_tensor(). The window of each must reach no further than three chunks of planes: 42 planes
        of float pixels with accurate.
    axes
        The last two or three axes, which are filtered; those in front of them count items. None: all axes, two or three.
    spacing, dtype, approximation, backend, memory_limit, devices, progress, scheduler, slab_planes, timeout
        As in gaussian_filter() of this module.

    Returns
    -------
    dict
        As of gaussian_filter(), summed over both filters.

    Raises
    ------
    TypeError, ValueError, RuntimeError, OSError
        As of gaussian_filter().

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.sin(np.arange(20) / 3) * np.ones((300, 10, 1))
    >>> tensors = np.empty((*stripes.shape, 6))
    >>> report = structure_tensor(stripes, tensors, backend="host")
    >>> bool(tensors[150, 5, 10, 5] > 1e3 * abs(tensors[150, 5, 10, :5]).max())
    True
    """
    return _run_tensor(
        False, source, target, sigma, integration_sigma, spacing, axes, dtype, approximation, backend, memory_limit, devices, progress,
        scheduler, slab_planes, timeout,
    )


@library_errors
def structure_tensor_eigenvalues(
    source: Any,
    target: Any,
    sigma: float = 1.0,
    integration_sigma: float = 2.0,
    *,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    devices: Devices | None = None,
    progress: Progress | None = None,
    scheduler: Any = None,
    slab_planes: int | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.structure_tensor_eigenvalues() from a source to a target, in slabs of planes.

    The target has the eigenvalues as one more axis behind those of the source, two or three. The parameters, the result and the
    errors are otherwise those of structure_tensor() of this module.
    """
    return _run_tensor(
        True, source, target, sigma, integration_sigma, spacing, axes, dtype, approximation, backend, memory_limit, devices, progress,
        scheduler, slab_planes, timeout,
    )


def _run_tensor(
    with_eigenvalues: bool,
    source: Any,
    target: Any,
    sigma: Any,
    integration_sigma: Any,
    spacing: Any,
    axes: Any,
    dtype: Any,
    approximation: str,
    backend: str,
    memory_limit: int | str | None,
    devices: Any,
    progress: Progress | None,
    scheduler: Any,
    slab_planes: int | None,
    timeout: float | None,
) -> dict[str, Any]:
    require_planes(source, "source")
    filter = structure_tensor_slabs(
        tuple(int(length) for length in source.shape), np.dtype(source.dtype), np.dtype(getattr(target, "dtype", np.float32)), sigma,
        integration_sigma, with_eigenvalues, spacing, axes, approximation, backend, memory_limit, devices=devices,
    )
    _ends(source, target, dtype, filter.components)
    return _filter_by(filter, source, target, progress, scheduler, slab_planes, timeout)


def _run(
    kind: Literal["filter", "gradient_magnitude", "laplace"],
    source: Any,
    target: Any,
    sigma: Any,
    order: Any,
    mode: Any,
    cval: Any,
    fwhm: Any,
    spacing: Any,
    axes: Any,
    channel_axis: int | None,
    valid_mask: Any,
    preserve_nan: Any,
    dtype: Any,
    approximation: str,
    backend: str,
    memory_limit: int | str | None,
    devices: Any,
    progress: Progress | None,
    scheduler: Any,
    slab_planes: int | None,
    timeout: float | None,
) -> dict[str, Any]:
    filter = gaussian_slabs(
        kind, *_ends(source, target, dtype), sigma, order, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, approximation, backend, memory_limit, devices=devices,
    )
    return _filter_by(filter, source, target, progress, scheduler, slab_planes, timeout)


def _ends(
    source: Any, target: Any, dtype: Any, components: tuple[int, ...] = ()
) -> tuple[tuple[int, ...], np.dtype[Any], np.dtype[Any]]:
    """Checks source and target, and returns the source's shape and their types. The target may have one more axis."""
    require_planes(source, "source")
    require_planes(target, "target")
    require_writable(target)
    shape = tuple(int(length) for length in source.shape)
    if tuple(target.shape) != (*shape, *components):
        behind = f", followed by {components[0]} components" if components else ""
        raise ValueError(f"target has the shape {tuple(target.shape)}; it must be that of source{behind}: {(*shape, *components)}")
    if share_pixels(source, target):
        raise ValueError("target and source have the same memory; planes of the source are needed after results are written")
    if dtype is not None and _type_of(dtype) != target.dtype:
        raise ValueError(f"dtype is {np.dtype(dtype)}; it must be that of target, {target.dtype}")
    return shape, np.dtype(source.dtype), np.dtype(target.dtype)


def _filter_by(
    filter: SlabFilter,
    source: Any,
    target: Any,
    progress: Progress | None,
    scheduler: Any,
    slab_planes: int | None,
    timeout: float | None,
) -> dict[str, Any]:
    """Runs a filter in this process, or in tasks of a scheduler."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is {describe(progress)}; it must be None, or a function of the share that is done")
    if slab_planes is not None:
        slab_planes = whole_number(slab_planes, "slab_planes", 1, 2**63 - 1)
    if timeout is not None:
        timeout = positive(timeout, "timeout")
    if scheduler is not None and filter.devices:
        raise ValueError(f"devices is {list(filter.devices)}, and scheduler is given, whose workers take the GPUs of their environment")
    if scheduler is None:
        if slab_planes is not None or timeout is not None:
            name, value = ("slab_planes", slab_planes) if slab_planes is not None else ("timeout", timeout)
            raise ValueError(f"{name} is {value}, and scheduler is not given; only its tasks have {name}")
        return filter.filter_all(source, target, progress)
    try:
        import dask.array  # noqa: F401
    except ImportError:
        raise ImportError("scheduler needs the package dask: pip install 'itk-cudafilters[dask]'") from None
    from ._dask import run

    return run(filter, source, target, scheduler, slab_planes, timeout, progress)


def _type_of(dtype: Any) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.dtype(dtype)
        return found
    except (TypeError, ValueError):
        raise TypeError(f"dtype is {describe(dtype)}; it must be None, or the type of target") from None
