# SPDX-License-Identifier: Apache-2.0
"""Gaussian filters with the conventions of NumPy and scipy.ndimage: axes in the order of the array, lengths in
pixels."""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import Given, Items, Target, axes_to_filter, axis_of, number, per_axis, read_mask, spacings_of
from ._derivatives import Axis, Derivatives, DerivativesOfAll, DerivativesOfMasked, Masked
from ._exporters import SHAPES, filter_foreign, is_foreign, open_foreign, shape_of
from ._image import Image
from ._images import is_dask, valid_pixels_of
from ._info import Backend
from ._library import empty, takes, takes_type
from ._line_passes import Combination, DeviceLineFilter, DevicePasses, HostLineFilter, HostPasses, Pass, Term
from ._operations import Operations, current_device_of, operations_of
from ._parameters import known_name, library_errors, switch
from ._repeated import run_repeated

Mode = Literal["reflect", "nearest", "mirror", "wrap", "constant", "grid-mirror", "grid-wrap", "grid-constant"]
Approximation = Literal["accurate", "deriche"]

# scipy's second names.
_SAME_MODES = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}
# Full width at half maximum of a Gaussian of sigma 1.
_WIDTH_OF_SIGMA = 2.0 * math.sqrt(2.0 * math.log(2.0))

_Parameters = ParamSpec("_Parameters")


def _on_device_of_input(function: Callable[_Parameters, Any]) -> Callable[_Parameters, Any]:
    """Decorates a function so that the GPU of its input is the current device of the input's package during the
    call."""

    @functools.wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> Any:
        with current_device_of(args[0] if args else kwargs.get("input")):
            return function(*args, **kwargs)

    return call


@library_errors
def gaussian_filter(
    input: Any,
    sigma: float | Sequence[float] | None = None,
    order: int | Sequence[int] = 0,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Smooths an array with a Gaussian, or takes a derivative of the smoothed array.

    The result is G * x with G(r) = exp(-r^2 / (2 sigma^2)) / (sqrt(2 pi) sigma) along each axis, or a derivative of G.

    Parameters
    ----------
    input
        NumPy array, list, xarray.DataArray, itk.Image or Image, of any number of axes; or a CuPy array or torch tensor in GPU
        memory, which is filtered there. gaussian_filter() alone also accepts arrays in GPU memory of JAX, Numba and
        other packages with `__dlpack__` or the CUDA Array Interface. Axes count in the order of the array; for an
        itk.Image this is the order of its array, with x last.
    sigma
        Standard deviation of the Gaussian: one value for all axes, or one for each axis.

        It is in pixels unless `spacing` is given. Several values are in the order of `axes`. An axis with sigma 0 is
        not filtered.
    order
        Order of the derivative along each axis: 0 (default, no derivative), 1 or 2.
    output
        Array that receives the result, or the type of the result.
    mode
        How lines continue beyond their ends, by scipy's names: reflect (d c b a | a b c d | d c b a), nearest
        (a a a | a b c d | d d d), mirror (d c b | a b c d | c b a), wrap (b c d | a b c d | a b c), or constant.

        One for all axes, or one for each axis.
    cval
        The value beyond the ends of lines in the mode constant.

        As in scipy it holds for the filter along each axis, even if the filter along an axis before it has computed a
        derivative.
    fwhm
        Full width at half maximum, 2.3548 sigma. It may be given instead of sigma.
    spacing
        Distance between pixels along each axis: one value for all axes, or one for each. sigma then has its unit, and
        derivatives are per that unit. "image" takes the spacing of the itk.Image, or of the DataArray's coordinates,
        which may descend. Axes that are not filtered need no spacing.
    axes
        Axes to filter along, in this order. Default: all but `channel_axis`, in the order of the array. The other axes
        count the items of a batch. The result of an item does not depend on the other items, bit for bit.
    channel_axis
        Axis of channels, which are filtered separately.
    valid_mask
        Image of the same size: pixels where it is 0 do not count, regardless of their values.

        An array, or an image of the input's kind. It may also have the shape of the input without the channels. The result is G(m x) / G(m) for the mask m, and
        NaN where the weight G(m) is below 1e-3 (1e-2 with deriche). A DataArray is aligned with the input by its coordinates, and refused if that is not
        possible. The geometry of an itk.Image must equal that of the input within ITK's tolerances; an image of origin
        0, spacing 1 and no rotation is taken to have the input's geometry.
    preserve_nan
        Whether pixels that are NaN or infinite do not count either, and are NaN in the result. With False they spread
        along their lines, to the ends because the filter is recursive; in scipy they spread as far as the window.
    dtype
        Type of the result. Default: the type of the input, or float32 for integers and bool. Results of integer types
        are truncated towards 0. Integers of 32 and 64 bits are computed in float64, which is exact for integers up to
        2^53.
    approximation
        accurate: within 1e-5 of the Gaussian. deriche: the approximation of ITK's filters.
    backend
        automatic: the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.

    Returns
    -------
    The result as the kind of the input, or `output` if that is an array. For arrays in GPU memory of packages other than
    CuPy, torch and JAX that do not give their stream (`__dlpack_c_exchange_api__`), an itk.CudaDeviceImage.

    Raises
    ------
    TypeError, ValueError
        The kind or type of the input or of a parameter is not supported, or a value or shape is wrong.
    RuntimeError
        The GPU was requested and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> impulse = np.zeros((5, 31), np.float32)
    >>> impulse[:, 15] = 1
    >>> smoothed = gaussian_filter(impulse, sigma=(0, 2))
    >>> float(abs(smoothed[3, 15] - 1 / (2 * np.sqrt(2 * np.pi)))) < 1e-4
    True
    """
    if is_dask(input):
        from ._dask import lazy_gaussian

        return lazy_gaussian(
            "filter", input, sigma, order, output, mode, cval, fwhm, spacing, axes, channel_axis,
            valid_mask, preserve_nan, dtype, approximation, backend,
        )
    if output is None and valid_mask is None:
        result = run_repeated(
            input,
            preserve_nan,
            (sigma, order, mode, cval, fwhm, spacing, axes, channel_axis, dtype, approximation, backend),
            lambda: _passes_of(
                input, sigma, order, mode, cval, fwhm, spacing, axes, channel_axis, dtype, approximation, backend
            ),
        )
        if result is not None:
            return result
    return _filter_any(
        input, sigma, order, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend,
    )


@_on_device_of_input
def _filter_any(
    input: Any,
    sigma: Any,
    order: Any,
    output: Any,
    mode: Any,
    cval: float,
    fwhm: Any,
    spacing: Any,
    axes: Any,
    channel_axis: int | None,
    valid_mask: Any,
    preserve_nan: bool,
    dtype: Any,
    approximation: str,
    backend: str,
) -> Any:
    """Runs gaussian_filter() for any kind of input, without the cache of repeated calls."""
    if is_foreign(input):
        is_array = is_foreign(output) or operations_of(output) is not None
        opened = open_foreign(input, "input", {"valid_mask": valid_mask, "output": output if is_array else None})
        call = _Call(
            Given(input, shape_of(opened), "input", SHAPES), sigma, None if is_array else output, mode, cval, fwhm, spacing,
            axes, channel_axis, None, False, dtype, approximation, backend,
        )
        return filter_foreign(
            input, opened, call.plain_passes(call.orders_of(order)), output if is_array else None,
            valid_mask, preserve_nan, call.cval, approximation,
        )
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend,
    )
    return call.store("components", [call.derivative(call.orders_of(order))])


@_on_device_of_input
def _passes_of(
    input: Any,
    sigma: Any,
    order: Any,
    mode: Any,
    cval: float,
    fwhm: Any,
    spacing: Any,
    axes: Any,
    channel_axis: int | None,
    dtype: Any,
    approximation: str,
    backend: str,
) -> DevicePasses | HostPasses | None:
    """Returns the passes of gaussian_filter() over an array as it lies in memory; None if passes alone do not
    suffice."""
    call = _Call(
        input, sigma, None, mode, cval, fwhm, spacing, axes, channel_axis, None, False, dtype, approximation, backend
    )
    return call.passes(call.orders_of(order))


@library_errors
def gaussian_filter1d(
    input: Any,
    sigma: float | None = None,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | None = None,
    spacing: float | Literal["image"] | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Smooths or differentiates an array along one axis: y[n] = sum_k G(k) x[n - k] for each line of the array.

    `axis` is the last one by default. The other parameters, the result and the errors are those of gaussian_filter().

    Examples
    --------
    >>> import numpy as np
    >>> ramp = np.arange(200, dtype=np.float32)
    >>> slope = gaussian_filter1d(ramp, sigma=2, order=1)
    >>> bool(abs(slope[100] - 1) < 1e-5)
    True
    """
    try:
        operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}; it must be a whole number") from None
    return gaussian_filter(
        input,
        sigma,
        order,
        output,
        mode,
        cval,
        fwhm=fwhm,
        spacing=spacing,
        axes=axis,
        valid_mask=valid_mask,
        preserve_nan=preserve_nan,
        dtype=dtype,
        approximation=approximation,
        backend=backend,
    )


@_on_device_of_input
@library_errors
def gaussian_gradient_magnitude(
    input: Any,
    sigma: float | Sequence[float] | None = None,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Computes the gradient magnitude of the smoothed array: sqrt(sum_i (G_i * x)^2) with the derivatives G_i along the
    axes.

    The parameters are those of gaussian_filter(). As in scipy, if there are several modes, mode i belongs to the
    derivative along axis i, and lines are always filtered along the axes in the order of the array, not in the order of
    `axes`.

    Examples
    --------
    >>> import numpy as np
    >>> ramp = np.add.outer(3 * np.arange(60.0), 4 * np.arange(60.0))
    >>> bool(abs(gaussian_gradient_magnitude(ramp, sigma=1.5)[30, 30] - 5) < 1e-4)
    True
    """
    if is_dask(input):
        from ._dask import lazy_gaussian

        return lazy_gaussian(
            "gradient_magnitude", input, sigma, 0, output, mode, cval, fwhm, spacing, axes, channel_axis,
            valid_mask, preserve_nan, dtype, approximation, backend,
        )
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, in_array_order=True,
    )
    return call.store("length", call.along_each_axis(1))


@_on_device_of_input
@library_errors
def gaussian_laplace(
    input: Any,
    sigma: float | Sequence[float] | None = None,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Computes the Laplacian of the smoothed array: sum_i G_ii * x with the second derivatives G_ii along the axes.

    The parameters are those of gaussian_filter(). As in scipy, if there are several modes, mode i belongs to the
    derivative along axis i, and lines are always filtered along the axes in the order of the array, not in the order of
    `axes`.

    Examples
    --------
    >>> import numpy as np
    >>> parabola = np.add.outer(np.arange(-30.0, 31.0) ** 2, 2 * np.arange(-30.0, 31.0) ** 2)
    >>> bool(abs(gaussian_laplace(parabola, sigma=2)[30, 30] - 6) < 1e-2)
    True
    """
    if is_dask(input):
        from ._dask import lazy_gaussian

        return lazy_gaussian(
            "laplace", input, sigma, 0, output, mode, cval, fwhm, spacing, axes, channel_axis,
            valid_mask, preserve_nan, dtype, approximation, backend,
        )
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, in_array_order=True,
    )
    return call.store("sum", call.along_each_axis(2))


@_on_device_of_input
@library_errors
def gaussian_gradient(
    input: Any,
    sigma: float | Sequence[float] | None = None,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Computes the gradient of the smoothed array: the components G_i * x in the order of `axes`.

    The parameters are those of gaussian_filter(). Lines are filtered along the axes in the order of the array. The
    components form the last axis of the result or, with `channel_axis`, the axis after the channel axis. For an
    itk.Image the result is an itk.VectorImage, whose components follow the axes of the array in order and direction.

    Examples
    --------
    >>> import numpy as np
    >>> ramp = np.add.outer(3 * np.arange(60.0), 4 * np.arange(60.0))
    >>> gradient = gaussian_gradient(ramp, sigma=1.5)
    >>> gradient.shape, bool(np.allclose(gradient[30, 30], (3, 4), atol=1e-4))
    ((60, 60, 2), True)
    """
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, in_array_order=True,
    )
    return call.store("components", call.along_each_axis(1), has_axis=True)


@_on_device_of_input
@library_errors
def gaussian_hessian(
    input: Any,
    sigma: float | Sequence[float] | None = None,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Computes the Hessian of the smoothed array: G_ij * x for j >= i, the upper triangle of the matrix row by row.

    For three axes the components are 00, 01, 02, 11, 12, 22. They form the same axis as the components of
    gaussian_gradient(). The parameters are those of gaussian_filter().

    Examples
    --------
    >>> import numpy as np
    >>> saddle = np.multiply.outer(np.arange(-30.0, 31.0), np.arange(-30.0, 31.0))
    >>> hessian = gaussian_hessian(saddle, sigma=2)
    >>> hessian.shape, bool(np.allclose(hessian[30, 30], (0, 1, 0), atol=1e-2))
    ((61, 61, 3), True)
    """
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, in_array_order=True,
    )
    call.require_derivatives()
    pairs = [(i, j) for i in range(call.dimension) for j in range(i, call.dimension)]
    orders = [tuple(int(axis == i) + int(axis == j) for axis in range(call.dimension)) for i, j in pairs]
    return call.store("components", [call.derivative(each) for each in orders], has_axis=True)


@_on_device_of_input
@library_errors
def difference_of_gaussians(
    input: Any,
    low_sigma: float | Sequence[float],
    high_sigma: float | Sequence[float] | None = None,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Applies a band-pass filter: (G_low - G_high) * x, the array smoothed with `low_sigma` minus that with
    `high_sigma`.

    Noise finer than `low_sigma` and grounds coarser than `high_sigma` fade; the result is negative beside bright objects.
    `high_sigma` is 1.6 times `low_sigma` by default. It must not be below `low_sigma` along any axis, or ValueError is
    raised. The other parameters are those of gaussian_filter(). Integers are not scaled to the range from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.full((20, 30), 7.0)
    >>> bool((difference_of_gaussians(flat, 1, 3) == 0).all())
    True
    """
    low = _Call(
        input, low_sigma, output, mode, cval, None, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, name_of_sigma="low_sigma",
    )
    if high_sigma is None:
        high_sigma = (1.6 * np.asarray(low_sigma, dtype=np.float64)).tolist()
    high = _Call(
        input, high_sigma, output, mode, cval, None, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, name_of_sigma="high_sigma",
    )
    if any(fine > coarse for fine, coarse in zip(low.sigma, high.sigma, strict=True)):
        raise ValueError(f"high_sigma is {high_sigma} and low_sigma {low_sigma}; high_sigma may not be less along any axis")
    smoothed = [call.smoothed() for call in (low, high)]
    return low.store_array(smoothed[0] - smoothed[1])


@_on_device_of_input
@library_errors
def unsharp_mask(
    input: Any,
    radius: float | Sequence[float] = 1.0,
    amount: float = 1.0,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Sharpens an array: x + amount (x - G * x), where `radius` is the sigma of G.

    The values are neither scaled nor clipped, as with skimage's preserve_range=True. Pixels where `valid_mask` is 0
    have no value to sharpen, and become NaN. The other parameters are those of gaussian_filter().

    Examples
    --------
    >>> import numpy as np
    >>> step = np.repeat([0.0, 1.0], 20)
    >>> sharp = unsharp_mask(step, radius=2, amount=0.5)
    >>> bool(sharp.max() > 1.2 and abs(sharp[0]) < 1e-6)
    True
    """
    call = _Call(
        input, radius, output, mode, cval, None, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, name_of_sigma="radius",
    )
    factor = number(amount, "amount")
    if not math.isfinite(factor):
        raise ValueError(f"amount is {amount}; it must be finite")
    smoothed = call.smoothed()
    ops = call.given.ops
    values = ops.contiguous(call.given.array, ops.type_of(smoothed))
    sharp = values + factor * (values - smoothed)
    if call.valid is not None:
        sharp = ops.where(call.valid, sharp, math.nan)
    return call.store_array(sharp)


def _combine(combination: Combination, arrays: Sequence[Any], ops: Operations) -> Any:
    """Returns the sum of arrays or the length of their components, by operations of their package."""
    if combination == "length":
        return _length(arrays, ops)
    return functools.reduce(operator.add, arrays)


# A sum of squares between these limits has full precision, because squares that underflow are below its rounding error.
_SQUARES_WITH_DIGITS = {"float32": (2.0**-100, 2.0**126), "float64": (2.0**-960, 2.0**1022)}


def _length(components: Sequence[Any], ops: Operations) -> Any:
    """Returns the root of the sum of squares, also where squares overflow or underflow.

    Where the range of the type suffices, the result is that of the plain formula, bit for bit, on the host and on a
    GPU. On a GPU both formulas are always computed, so that the host need not wait for the information whether one
    suffices."""
    least, most = _SQUARES_WITH_DIGITS[ops.type_of(components[0])]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = functools.reduce(operator.add, (component * component for component in components))
        has_digits = (squares >= least) & (squares <= most)
        length = ops.sqrt(squares)
        if not ops.is_on_gpu and has_digits.all():
            return length
        return ops.where(has_digits, length, functools.reduce(ops.hypot, components[1:], abs(components[0])))


def sigmas_of(sigma: Any, fwhm: Any, count: int, name: str = "sigma") -> list[float]:
    """Returns a sigma for each of `count` axes. `name` is the name of the sigma parameter in the calling function."""
    if name != "sigma":
        return per_axis(sigma, name, count, lambda value: _width(value, name))
    if (sigma is None) == (fwhm is None):
        raise TypeError("sigma or fwhm must be given" if sigma is None else "sigma and fwhm are given; one of them says it all")
    if fwhm is None:
        return per_axis(sigma, "sigma", count, lambda value: _width(value, "sigma"))
    return [width / _WIDTH_OF_SIGMA for width in per_axis(fwhm, "fwhm", count, lambda value: _width(value, "fwhm"))]


def _order(order: Any) -> int:
    if order not in (0, 1, 2):
        raise ValueError(f"order is {order!r}; it must be 0, 1 or 2")
    return int(order)


def _mode(mode: Any) -> str:
    known = known_name("mode", mode, get_args(Mode))
    return _SAME_MODES.get(known, known)


def _width(value: Any, name: str) -> float:
    width = number(value, name)
    if not (math.isfinite(width) and width >= 0.0):
        raise ValueError(f"{name} is {width}; it must be finite, and 0 or more")
    return width


class _Call:
    """One call of a function: its checked parameters, the filter and the target of the result."""

    def __init__(
        self,
        input: Any,
        sigma: Any,
        output: Any,
        mode: Any,
        cval: float,
        fwhm: Any,
        spacing: Any,
        axes: Any,
        channel_axis: int | None,
        valid_mask: Any,
        preserve_nan: bool,
        dtype: Any,
        approximation: str,
        backend: str,
        *,
        name_of_sigma: str = "sigma",
        in_array_order: bool = False,
    ) -> None:
        self.given = input if isinstance(input, Given) else Given.read(input, "input", takes_components=True)
        array = self.given.array
        if channel_axis is None and isinstance(self.given.image, Image) and self.given.image.has_components:
            channel_axis = -1
        valid_mask = valid_pixels_of(self.given.image, valid_mask, "input")
        self._channel_axis = None if channel_axis is None else axis_of(channel_axis, array.ndim, "channel_axis")
        self._axes = axes_to_filter(axes, self._channel_axis, array.ndim)
        self.dimension = len(self._axes)
        self.sigma = sigmas_of(sigma, fwhm, self.dimension, name_of_sigma)
        filtered = [axis if sigma > 0.0 else None for axis, sigma in zip(self._axes, self.sigma, strict=True)]
        self._spacing = spacings_of(spacing, self.given, filtered)
        self._modes = per_axis(mode, "mode", self.dimension, _mode)
        self.cval = number(cval, "cval")
        if "constant" in self._modes and not math.isfinite(self.cval):
            raise ValueError(f"cval is {cval}; it must be finite")
        self._filter_lines = self._make_line_filter(
            known_name("approximation", approximation, get_args(Approximation)),
            known_name("backend", backend, get_args(Backend)),
        )
        self._target = Target.of(self.given, output, dtype)
        # Axes of sigma 0 are batch axes.
        self._steps = [i for i in range(self.dimension) if self.sigma[i] > 0.0]
        if in_array_order:
            # The order of the axes matters in the mode constant, because also a derivative is continued by cval.
            self._steps.sort(key=lambda i: self._axes[i])
        self._items = Items(array.shape, tuple(self._axes[i] for i in self._steps))
        self.valid = None if valid_mask is None else read_mask(valid_mask, self.given, self._channel_axis)
        # Integers have neither NaN nor infinite values.
        self._preserves_nan = switch(preserve_nan, "preserve_nan") and bool(self._steps) and not self.given.is_integer

    def _make_line_filter(self, approximation: str, backend: str) -> HostLineFilter | DeviceLineFilter:
        if not self.given.ops.is_on_gpu:
            return HostLineFilter(approximation, backend)
        if backend == "host":
            raise ValueError("backend is host, and input is in the memory of a GPU; it must be automatic or cuda")
        return DeviceLineFilter(approximation, self.given.ops)

    @functools.cached_property
    def _keeps_nan(self) -> bool:
        """Whether the input may have pixels that are NaN or infinite, which do not count. For a masked input on a GPU it
        is True without a look at the pixels: the masked filter checks them on the GPU, and the host need not wait."""
        is_masked_on_gpu = self.given.ops.is_on_gpu and self.valid is not None
        return self._preserves_nan and (is_masked_on_gpu or not self.given.ops.is_finite(self.given.array))

    @functools.cached_property
    def _batch(self) -> Any:
        """The items in the type of the computation."""
        return self._items.take(self.given.array, self._target.compute_type(self.given), self.given.ops)

    @functools.cached_property
    def _make(self) -> Derivatives:
        axes = [Axis(self.sigma[i] / abs(self._spacing[i]), self._spacing[i], self._modes[i]) for i in self._steps]
        ops, items = self.given.ops, self._batch
        if self.valid is None and not self._keeps_nan:
            return DerivativesOfAll(items, axes, self.cval, self._filter_lines)
        valid = None if self.valid is None else self._items.take(self.valid, "bool", ops)
        return DerivativesOfMasked(Masked(items, valid, self._keeps_nan), axes, self.cval, self._filter_lines)

    def orders_of(self, order: Any) -> list[int]:
        """Returns the order along each axis. Raises ValueError for a derivative along an axis of sigma 0."""
        orders = per_axis(order, "order", self.dimension, _order)
        for axis, sigma, each in zip(self._axes, self.sigma, orders, strict=True):
            if each > 0 and sigma == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0 and its order {each}; a derivative needs a sigma above 0")
        return orders

    def require_derivatives(self) -> None:
        """Raises ValueError unless there is an axis to filter along, and sigma is above 0 along each such axis."""
        if self.dimension == 0:
            raise ValueError("there is no axis to filter along; derivatives need one")
        for axis, sigma in zip(self._axes, self.sigma, strict=True):
            if sigma == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0; leave the axis out by axes=, or give it a sigma above 0")

    def derivative(self, orders: Sequence[int], mode: str | None = None) -> Term:
        """Returns a derivative per unit of the spacing. `mode`, if given, replaces the modes of all axes."""
        return Term(
            tuple((self.sigma[i] / abs(self._spacing[i]), orders[i], mode or self._modes[i]) for i in self._steps),
            math.prod(self._spacing[i] ** -orders[i] for i in self._steps),
        )

    def passes(self, orders: Sequence[int]) -> DevicePasses | HostPasses | None:
        """Returns the passes for arrays of the shape and type of the input, if the filter takes them as they lie in
        memory: for a GPU plain_passes()."""
        given, lines = self.given, self._filter_lines
        shape, axes = tuple(given.array.shape), self._items.filtered
        if isinstance(lines, HostLineFilter):
            term = self.derivative(orders)
            is_taken = takes(given.array) and takes_type(self._target.type) and lines.can_filter(shape, axes, [term])
            can_mask = lines.can_mask(shape, axes, [term])
            return HostPasses(lines, axes, term, self._target.type, self.cval, can_mask) if is_taken else None
        passes = self.plain_passes(orders)
        if passes is None or 0 in shape:
            return None
        return DevicePasses(passes, tuple(given.array.shape), given.type, self.cval, self._filter_lines.approximation)

    def plain_passes(self, orders: Sequence[int]) -> list[Pass] | None:
        """Returns the passes that compute this derivative of a contiguous array in GPU memory; None if passes alone do
        not suffice, for example because the type must be converted or short lines padded."""
        ops, shape = self.given.ops, tuple(self.given.array.shape)
        dtype = self._target.compute_type(self.given)
        filtered = self._items.filtered
        passes = [
            Pass(axis, self.sigma[i] / abs(self._spacing[i]), orders[i], self._modes[i])
            for i, axis in zip(self._steps, filtered, strict=True)
        ]
        scale = math.prod(self._spacing[i] ** -orders[i] for i in self._steps)
        is_plain = (
            ops.is_on_gpu
            and {self.given.type, self._target.type} == {dtype}
            and passes
            and scale == 1.0
            and filtered == tuple(range(len(shape) - len(filtered), len(shape)))
            and not any(each.needs_padding(shape) for each in passes)
        )
        return passes if is_plain else None

    def along_each_axis(self, order: int, *, leaves_axes: bool = False) -> list[Term]:
        """Returns the derivatives of one order along each axis. As in scipy, each uses the mode of its axis for all
        axes.

        With `leaves_axes` an axis of sigma 0 is not filtered, not even by the derivative along it.
        """
        if not leaves_axes:
            self.require_derivatives()
        return [
            self.derivative([order if i == axis else 0 for i in range(self.dimension)], self._modes[axis])
            for axis in range(self.dimension)
        ]

    def store(self, combination: Combination, terms: Sequence[Term], *, has_axis: bool = False) -> Any:
        """Returns the combination of the terms as the kind of the input, or stores it in the target's array. With
        `has_axis` it has an axis of components."""
        array = self.given.array
        shape, axis = list(array.shape), None
        if has_axis:
            axis = array.ndim
            if self._channel_axis is not None and not self.given.is_itk_image:
                axis = self._channel_axis + 1
            shape.insert(axis, len(terms))
        if not self.given.ops.is_on_gpu and takes_type(self._target.type):
            output = self._target.array
            if output is None:
                result = empty(tuple(shape), self._target.type)
                if self._filter_into(result, axis, combination, terms):
                    return self.given.like(result, axis)
            elif self._may_write_to(output, shape) and self._filter_into(output, axis, combination, terms):
                return output
        return self.store_array(self._compute(combination, terms, axis), axis)

    def store_array(self, array: Any, component_axis: int | None = None) -> Any:
        return self._target.store(array, self.given, component_axis)

    def smoothed(self) -> Any:
        """Returns the smoothed array in the type in which it is computed."""
        return self._compute("components", [self.derivative(self.orders_of(0))], None)

    def _compute(self, combination: Combination, terms: Sequence[Term], axis: int | None) -> Any:
        """Returns the combination of the terms in the type in which they are computed. `axis` is that of components."""
        given, ops = self.given, self.given.ops
        if not ops.is_on_gpu:
            shape = list(given.array.shape)
            if axis is not None:
                shape.insert(axis, len(terms))
            result = empty(tuple(shape), self._target.compute_type(given))
            if self._filter_into(result, axis, combination, terms):
                return result
        lines = self._filter_lines
        if isinstance(lines, DeviceLineFilter) and self.valid is None and not self._keeps_nan:
            combined = lines.combine(self._batch, terms, combination, self.cval)
            if combined is not None:
                return self._items.give(combined, ops)
        derivatives = [
            self._make([order for _, order, _ in term.passes], [mode for _, _, mode in term.passes]) for term in terms
        ]
        if axis is not None:
            array = self._items.give(ops.stack_last(derivatives), ops)
            order = list(range(array.ndim - 1))
            order.insert(axis, array.ndim - 1)
            return ops.transpose(array, order)
        single = len(derivatives) == 1 and combination == "components"
        return self._items.give(derivatives[0] if single else _combine(combination, derivatives, ops), ops)

    def _may_write_to(self, output: Any, shape: Sequence[int]) -> bool:
        """Returns whether the filter may write its result directly to the user's array."""
        return (
            isinstance(output, np.ndarray)
            and output.shape == tuple(shape)
            and takes(output)
            and not np.may_share_memory(output, self.given.array)
            and (self.valid is None or not np.may_share_memory(output, self.valid))
        )

    def _filter_into(
        self, result: npt.NDArray[Any], axis: int | None, combination: Combination, terms: Sequence[Term]
    ) -> bool:
        """Filters a host array in one call, and writes to `result`. Returns False if the operations of the package must
        do it: for lines that are padded, for derivatives of masked pixels and for many masked items."""
        array, lines = self.given.array, self._filter_lines
        axes = self._items.filtered
        if not isinstance(lines, HostLineFilter) or not lines.can_filter(array.shape, axes, terms):
            return False
        can_mask = lines.can_mask(array.shape, axes, terms)
        if self.valid is not None and not can_mask:
            return False
        return lines.filter(
            array if takes(array) else self.given.ops.contiguous(array, self._target.compute_type(self.given)),
            result if axis is None else np.moveaxis(result, axis, -1),
            axes,
            terms,
            combination,
            self.cval,
            valid=None if self.valid is None else np.ascontiguousarray(self.valid),
            keeps_nan=self._preserves_nan,
            can_mask=can_mask,
        )
