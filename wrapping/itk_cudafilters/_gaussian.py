# SPDX-License-Identifier: Apache-2.0
"""Gaussian filters with the conventions of NumPy and scipy.ndimage: axes in the order of the array, lengths in pixels."""
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
from ._info import Backend
from ._line_passes import DeviceLineFilter, DevicePasses, HostLineFilter, LineFilter, Pass
from ._operations import Operations, current_device_of, operations_of
from ._parameters import library_errors, switch
from ._repeated import run_repeated
from ._segmentation import known_name

Mode = Literal["reflect", "nearest", "mirror", "wrap", "constant", "grid-mirror", "grid-wrap", "grid-constant"]
Approximation = Literal["accurate", "deriche"]

# scipy's second names.
_SAME_MODES = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}
# Full width at half maximum of a Gaussian of sigma 1.
_WIDTH_OF_SIGMA = 2.0 * math.sqrt(2.0 * math.log(2.0))

_Parameters = ParamSpec("_Parameters")


def _on_device_of_input(function: Callable[_Parameters, Any]) -> Callable[_Parameters, Any]:
    """Makes the GPU of the input the current one of the input's package during a call."""

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
        NumPy array, list, xarray.DataArray or itk.Image, of any number of axes; or an array of CuPy or a tensor of torch in the
        memory of a GPU; or, for gaussian_filter() alone, an array there of JAX, of Numba or of another package with `__dlpack__` or
        the CUDA Array Interface. Axes count in the order of the array; those of an itk.Image as its array has them, x last.
    sigma
        Standard deviation, in pixels unless `spacing` is given: one for all axes, or one for each axis in the order of `axes`.
        0 leaves an axis as it is.
    order
        Of the derivative along each axis: 0, 1 or 2.
    output
        Array that takes the result, or its type.
    mode
        How lines continue beyond their ends, with scipy's names: reflect (d c b a | a b c d | d c b a), nearest, mirror
        (d c b | a b c d | c b a), wrap, or constant. One for all axes, or one for each.
    cval
        What lies beyond the ends in the mode constant; as in scipy, for the filter of each axis, even if an axis before it has
        made a derivative.
    fwhm
        In the place of sigma: full width at half maximum, 2.3548 sigma.
    spacing
        Distance of pixels along each axis. Then sigma has its unit, and derivatives are per that unit. "image": that of the
        itk.Image or of the coordinates of the DataArray, which may fall. Axes that are not filtered need none.
    axes
        Axes to filter along, in this order; default all but `channel_axis`, in the order of the array. The others count items of
        a batch. Items have the results that they have alone, to the bit.
    channel_axis
        Axis of channels, each of which is filtered by itself.
    valid_mask
        Array of the input's shape, or of its shape without channels: pixels where it is 0 do not count, whatever they hold. The
        result is G(m x) / G(m) for the mask m. NaN where this weight G(m) is less than 1e-3 (1e-2 with deriche). A DataArray
        is aligned with the input's by coordinates, or refused. The geometry of an itk.Image must be that of the input within
        ITK's tolerances; an image of origin 0, spacing 1 and no rotation takes the input's.
    preserve_nan
        Whether pixels that are NaN or infinite do not count either, and are NaN in the result. With False they spread along
        their lines: as the filter is recursive, to the ends, while scipy's reach as far as its window.
    dtype
        Type of the result. Default that of the input, for integers and bool float32. Results of integer types are truncated
        towards 0. Integers of 32 and 64 bits are computed in float64, whose integers are exact up to 2^53.
    approximation
        accurate: within 1e-5 of the Gaussian. deriche: that of ITK's filters.
    backend
        automatic: the GPU if there is one, else the host. cuda: the GPU or an error. host: the host.

    Returns
    -------
    Of the kind of the input, or `output` where it is an array. For arrays of other packages than CuPy, torch and JAX in the
    memory of a GPU, an itk.CudaDeviceImage.

    Raises
    ------
    TypeError, ValueError
        The input or a parameter is of a kind or a type that is not known, or has a wrong value or shape.
    RuntimeError
        The GPU was demanded and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> impulse = np.zeros((5, 31), np.float32)
    >>> impulse[:, 15] = 1
    >>> smoothed = gaussian_filter(impulse, sigma=(0, 2))
    >>> float(abs(smoothed[3, 15] - 1 / (2 * np.sqrt(2 * np.pi)))) < 1e-4
    True
    """
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
    """gaussian_filter(), whatever its input."""
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
    return call.store(call.derivatives(call.orders_of(order)))


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
) -> DevicePasses | None:
    """The passes of gaussian_filter() over an array as it lies in memory; None where the call needs more."""
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
    """gaussian_filter() along one axis: its result y[n] = sum_k G(k) x[n - k] for each line of the array.

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
    """The length of the gradient of the smoothed array, sqrt(sum_i (G_i * x)^2) with the derivatives G_i along the axes.

    The parameters are those of gaussian_filter(). As in scipy, mode i of several belongs to the derivative along axis i, and
    lines are filtered along the axes in the order of the array, whatever the order of `axes`.

    Examples
    --------
    >>> import numpy as np
    >>> ramp = np.add.outer(3 * np.arange(60.0), 4 * np.arange(60.0))
    >>> bool(abs(gaussian_gradient_magnitude(ramp, sigma=1.5)[30, 30] - 5) < 1e-4)
    True
    """
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, in_array_order=True,
    )
    return call.store(_length(call.along_each_axis(1), call.given.ops))


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
    """The Laplacian of the smoothed array, sum_i G_ii * x with the second derivatives G_ii along the axes.

    The parameters are those of gaussian_filter(). As in scipy, mode i of several belongs to the derivative along axis i, and
    lines are filtered along the axes in the order of the array, whatever the order of `axes`.

    Examples
    --------
    >>> import numpy as np
    >>> parabola = np.add.outer(np.arange(-30.0, 31.0) ** 2, 2 * np.arange(-30.0, 31.0) ** 2)
    >>> bool(abs(gaussian_laplace(parabola, sigma=2)[30, 30] - 6) < 1e-2)
    True
    """
    call = _Call(
        input, sigma, output, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, in_array_order=True,
    )
    return call.store(_sum(call.along_each_axis(2)))


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
    """The gradient of the smoothed array, components G_i * x in the order of `axes`.

    The parameters are those of gaussian_filter(). Lines are filtered along the axes in the order of the array. The components
    are the last axis of the result or, with `channel_axis`, the axis behind that of the channels. An itk.Image gives an
    itk.VectorImage, whose components are in the order of the array's axes, and along them.

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
    return call.store_components(call.along_each_axis(1))


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
    """The second derivatives of the smoothed array, G_ij * x for j >= i: the upper triangle of their matrix, row after row.

    For three axes the components are 00, 01, 02, 11, 12, 22. They lie as those of gaussian_gradient() do. The parameters are
    those of gaussian_filter().

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
    return call.store_components([call.derivatives(each) for each in orders])


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
    """A band-pass: the array smoothed with `low_sigma` less the array smoothed with `high_sigma`, (G_low - G_high) * x.

    `high_sigma` is 1.6 `low_sigma` by default, and no less than it along any axis. The other parameters are those of
    gaussian_filter(). Integers are not scaled to 0 to 1.

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
    smoothed = [call.as_array(call.derivatives(call.orders_of(0))) for call in (low, high)]
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
    """Sharpens an array: x + amount (x - G * x), with the sigma `radius`.

    The values are neither scaled nor limited, as with skimage's preserve_range=True. Pixels that `valid_mask` leaves out have
    no value to sharpen, and become NaN. The other parameters are those of gaussian_filter().

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
    smoothed = call.as_array(call.derivatives(call.orders_of(0)))
    ops = call.given.ops
    values = ops.contiguous(call.given.array, ops.type_of(smoothed))
    sharp = values + factor * (values - smoothed)
    if call.valid is not None:
        sharp = ops.where(call.valid, sharp, math.nan)
    return call.store_array(sharp)


def _sum(arrays: Any) -> Any:
    total: Any = None
    for array in arrays:
        total = array if total is None else total + array
    return total


# Between these a sum of squares has all its digits: squares that vanish beside it are below its rounding.
_SQUARES_WITH_DIGITS = {"float32": (2.0**-100, 2.0**126), "float64": (2.0**-960, 2.0**1022)}


def _length(components: Sequence[Any], ops: Operations) -> Any:
    """The root of the sum of squares, also where these leave the range of their type. Where the range is enough, the bits are those of
    the plain formula, on the host and on a GPU. The host does not wait to learn whether a GPU needs the other formula at all."""
    least, most = _SQUARES_WITH_DIGITS[ops.type_of(components[0])]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = _sum(component * component for component in components)
        has_digits = (squares >= least) & (squares <= most)
        length = ops.sqrt(squares)
        if not ops.is_on_gpu and has_digits.all():
            return length
        return ops.where(has_digits, length, functools.reduce(ops.hypot, components[1:], abs(components[0])))


def sigmas_of(sigma: Any, fwhm: Any, count: int, name: str = "sigma") -> list[float]:
    """One for each of `count` axes. `name` is what the function calls sigma."""
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
    """One call of a function: what of the input is filtered and how, and what becomes of the result."""

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
        self.given = input if isinstance(input, Given) else Given.read(input, "input")
        array = self.given.array
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
            # The order counts in the mode constant: lines of a derivative continue with cval again.
            self._steps.sort(key=lambda i: self._axes[i])
        self._items = Items(array.shape, tuple(self._axes[i] for i in self._steps))
        self.valid = None if valid_mask is None else read_mask(valid_mask, self.given, self._channel_axis)
        self._keeps_nan = switch(preserve_nan, "preserve_nan") and bool(self._steps) and self._may_not_be_finite()

    def _make_line_filter(self, approximation: str, backend: str) -> LineFilter:
        if not self.given.ops.is_on_gpu:
            return HostLineFilter(approximation, backend)
        if backend == "host":
            raise ValueError("backend is host, and input is in the memory of a GPU; it must be automatic or cuda")
        return DeviceLineFilter(approximation, self.given.ops)

    def _may_not_be_finite(self) -> bool:
        """Beside a mask the GPU looks by itself; nothing waits for what it finds."""
        if self.given.is_integer:
            return False
        is_masked_on_gpu = self.given.ops.is_on_gpu and self.valid is not None
        return is_masked_on_gpu or not self.given.ops.is_finite(self.given.array)

    @functools.cached_property
    def _make(self) -> Derivatives:
        axes = [Axis(self.sigma[i] / abs(self._spacing[i]), self._spacing[i], self._modes[i]) for i in self._steps]
        ops = self.given.ops
        items = self._items.take(self.given.array, self._target.compute_type(self.given), ops)
        if self.valid is None and not self._keeps_nan:
            return DerivativesOfAll(items, axes, self.cval, self._filter_lines)
        valid = None if self.valid is None else self._items.take(self.valid, "bool", ops)
        return DerivativesOfMasked(Masked(items, valid, self._keeps_nan), axes, self.cval, self._filter_lines)

    def orders_of(self, order: Any) -> list[int]:
        """The order along each axis."""
        orders = per_axis(order, "order", self.dimension, _order)
        for axis, sigma, each in zip(self._axes, self.sigma, orders, strict=True):
            if each > 0 and sigma == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0 and its order {each}; a derivative needs a sigma above 0")
        return orders

    def require_derivatives(self) -> None:
        """Raises ValueError unless there can be a derivative along each axis, of which there must be one."""
        if self.dimension == 0:
            raise ValueError("there is no axis to filter along; derivatives need one")
        for axis, sigma in zip(self._axes, self.sigma, strict=True):
            if sigma == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0; leave the axis out by axes=, or give it a sigma above 0")

    def derivatives(self, orders: Sequence[int], mode: str | None = None) -> Any:
        """The items of a derivative; with `mode` along all axes where it is given."""
        modes = None if mode is None else [mode] * len(self._steps)
        return self._make([orders[i] for i in self._steps], modes)

    def passes(self, orders: Sequence[int]) -> DevicePasses | None:
        """plain_passes() made ready for an array of the input's shape and type."""
        passes, given = self.plain_passes(orders), self.given
        if passes is None or 0 in given.array.shape:
            return None
        return DevicePasses(passes, tuple(given.array.shape), given.type, self.cval, self._filter_lines.approximation)

    def plain_passes(self, orders: Sequence[int]) -> list[Pass] | None:
        """The passes that make this derivative of a contiguous array in the memory of a GPU; None if they are not all it takes."""
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

    def along_each_axis(self, order: int, *, leaves_axes: bool = False) -> list[Any]:
        """The derivatives of that order along each of the axes, each with the mode of its axis, as in scipy.

        With `leaves_axes` an axis of sigma 0 is left as it is, also by the derivative along it.
        """
        if not leaves_axes:
            self.require_derivatives()
        return [
            self.derivatives([order if i == axis else 0 for i in range(self.dimension)], self._modes[axis])
            for axis in range(self.dimension)
        ]

    def as_array(self, items: Any) -> Any:
        """Items as an array with the axes of the input, and one behind them if the items have it."""
        return self._items.give(items, self.given.ops)

    def store(self, items: Any) -> Any:
        return self.store_array(self.as_array(items))

    def store_array(self, array: Any) -> Any:
        return self._target.store(array, self.given, None)

    def store_components(self, components: list[Any]) -> Any:
        ops = self.given.ops
        array = self.as_array(ops.stack_last(components))
        axis = array.ndim - 1
        if self._channel_axis is not None and not self.given.is_itk_image:
            axis = self._channel_axis + 1
        order = list(range(array.ndim - 1))
        order.insert(axis, array.ndim - 1)
        return self._target.store(ops.transpose(array, order), self.given, axis)
