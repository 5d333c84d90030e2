# SPDX-License-Identifier: Apache-2.0
"""Structure tensors, which measure the directions of textures, with the conventions of NumPy."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import Given, Target, positive, spacings_of
from ._gaussian import Approximation
from ._images import _require_no_bands, is_dask, is_xarray
from ._info import Backend
from ._library import core, empty, takes
from ._operations import current_device_of, image_on_gpu
from ._parameters import known_name, library_errors

_SHORTEST_LINE = 4


def components_of(dimension: int) -> list[tuple[int, int]]:
    """Returns the axes of the components of a tensor: its upper triangle, row by row."""
    return [(i, j) for i in range(dimension) for j in range(i, dimension)]


def require_long_lines(shape: tuple[int, ...], name: str) -> None:
    if min(shape) < _SHORTEST_LINE:
        raise ValueError(f"{name} has the shape {shape}; each axis must have {_SHORTEST_LINE} pixels or more")


@library_errors
def structure_tensor(
    image: Any,
    sigma: float = 1.0,
    integration_sigma: float = 2.0,
    *,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Computes structure tensors, the smoothed products of derivatives: G_rho * (grad(G_sigma * I) grad(G_sigma *
    I)^T).

    Lines continue beyond their ends with the values of the ends. A pixel that is NaN or infinite affects all tensors on
    its lines and on the lines through these, because the filters are recursive. Fill such pixels first.

    Parameters
    ----------
    image
        NumPy array, xarray.DataArray or itk.Image of two or three axes, each of four pixels or more; or an array of
        CuPy or PyTorch in GPU memory, which is processed there; or an array of Dask, whose result is lazy, and computed in slabs
        of planes as stream.structure_tensor() does.
    sigma
        Standard deviation of the Gaussian of the derivatives, in pixels unless `spacing` is given.
    integration_sigma
        Standard deviation rho of the Gaussian that averages the products, in the unit of `sigma`.
    spacing
        Distance between pixels along each axis, as in gaussian_filter(). Sigmas and derivatives then have its unit.
    dtype
        Type of the result. Default: the type of the image, or float32 for integers and bool. Integers of 32 and 64 bits
        are computed in float64, which is exact for integers up to 2^53.
    approximation
        Approximation of both Gaussians. accurate: within 1e-5 of the Gaussian. deriche: the one of ITK's filters.
    backend
        automatic: the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.

    Returns
    -------
    The upper triangle of each pixel's tensor, row by row, as the last axis. Components are in the order of the array's
    axes, as in gaussian_hessian(): for the axes z, y, x they are zz, zy, zx, yy, yx, xx.

    Raises
    ------
    TypeError, ValueError
        The kind or type of the image or of a parameter is not supported, or a value or shape is wrong.
    RuntimeError
        The GPU was requested and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.sin(np.arange(60) / 3) * np.ones((50, 1))
    >>> tensor = structure_tensor(stripes)
    >>> tensor.shape, bool(tensor[25, 30, 2] > 1e3 * abs(tensor[25, 30, 0]))
    ((50, 60, 3), True)
    """
    if is_dask(image):
        from ._dask import lazy_structure_tensor

        return lazy_structure_tensor(image, sigma, integration_sigma, False, spacing, dtype, approximation, backend)
    with current_device_of(image):
        return _TensorCall(image, sigma, integration_sigma, spacing, dtype, approximation, backend).components()


@library_errors
def structure_tensor_eigenvalues(
    image: Any,
    sigma: float = 1.0,
    integration_sigma: float = 2.0,
    *,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Computes the eigenvalues of structure tensors without storing the tensors.

    The eigenvalues form the last axis, in ascending order as from numpy.linalg.eigvalsh(). The parameters and the
    errors are those of structure_tensor().

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.sin(np.arange(60) / 3) * np.ones((50, 1))
    >>> least, largest = structure_tensor_eigenvalues(stripes)[25, 30]
    >>> bool(largest > 1e3 * abs(least))
    True
    """
    if is_dask(image):
        from ._dask import lazy_structure_tensor

        return lazy_structure_tensor(image, sigma, integration_sigma, True, spacing, dtype, approximation, backend)
    with current_device_of(image):
        return _TensorCall(image, sigma, integration_sigma, spacing, dtype, approximation, backend).eigenvalues()


class _TensorCall:
    """One call of a function: the image and its checked parameters."""

    def __init__(
        self,
        image: Any,
        sigma: Any,
        integration_sigma: Any,
        spacing: Any,
        dtype: Any,
        approximation: str,
        backend: str,
    ) -> None:
        self._given = Given.read(image, "image")
        if is_xarray(image):
            _require_no_bands(image, "image")
        self._shape = tuple(self._given.array.shape)
        if len(self._shape) not in (2, 3):
            raise ValueError(f"image has {len(self._shape)} axes; it must have 2 or 3")
        require_long_lines(self._shape, "image")
        self._sigmas = [positive(sigma, "sigma"), positive(integration_sigma, "integration_sigma")]
        self._spacing = spacings_of(spacing, self._given, range(len(self._shape)))
        self._steps = tuple(abs(step) for step in reversed(self._spacing))
        self._approximation = known_name("approximation", approximation, get_args(Approximation))
        self._backend = known_name("backend", backend, get_args(Backend))
        if self._given.ops.is_on_gpu and backend == "host":
            raise ValueError("backend is host, and image is in the memory of a GPU; it must be automatic or cuda")
        self._target = Target.of(self._given, None, dtype)
        self._real = self._target.compute_type(self._given)

    def components(self) -> Any:
        dimension = len(self._shape)
        pairs = components_of(dimension)
        # On a GPU the library stores the upper triangle with x first.
        tensors = self._run(False, [pairs.index((dimension - 1 - j, dimension - 1 - i)) for i, j in pairs])
        signs = np.sign(self._spacing)  # negative where coordinates descend
        if (signs < 0.0).any():
            tensors *= np.array([signs[i] * signs[j] for i, j in pairs])
        return self._target.store(tensors, self._given, dimension)

    def eigenvalues(self) -> Any:
        dimension = len(self._shape)
        return self._target.store(self._run(True, range(dimension)), self._given, dimension)

    def _run(self, with_eigenvalues: bool, order: Sequence[int]) -> Any:
        """Runs the library and returns its result with the components as the last axis. On a GPU `order` are the
        library's components in the order of the result."""
        ops, array = self._given.ops, self._given.array
        plan = (self._steps, *self._sigmas, with_eigenvalues, self._approximation)
        if not ops.is_on_gpu:
            pixels = array if takes(array) else ops.contiguous(array, self._real)
            tensors = empty((*self._shape, len(order)), self._real)
            core().structure_tensor(pixels, tensors, plan, self._backend)
            return tensors
        pixels = ops.contiguous(array, self._real)
        planes = ops.empty((len(order), *self._shape), pixels)
        core().queue_structure_tensor(image_on_gpu(pixels, self._shape, self._real, ops), ops.pointer(planes), plan)
        return ops.stack_last([planes[component] for component in order])
