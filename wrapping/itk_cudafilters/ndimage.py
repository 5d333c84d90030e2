# SPDX-License-Identifier: Apache-2.0
"""The Gaussian filters of scipy.ndimage with its signatures and defaults, computed by the filters of this package.

    from itk_cudafilters import ndimage  # instead of: from scipy import ndimage

Results have the type of the input unless `output` gives another one. Results of integer types are truncated once, at
the end; those of bool are, as in scipy, True where the result is 1 or more. int64 and uint64 are computed in float64,
which is exact up to 2^53. Lists are converted to arrays.

`truncate` and `radius` have no effect, because a recursive filter has no window. `order` may be 0, 1 or 2. An axis with
sigma 0 is not filtered, for any order. Pixels that are NaN or infinite do not count and are NaN in the result, while
scipy makes all pixels around them NaN or infinite. docs/user/python.md lists all differences.
"""
from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _gaussian
from ._arrays import array_of
from ._gaussian import Mode
from ._image import Image
from ._images import is_xarray, pixels_of
from ._itk import is_itk_object
from ._line_passes import Combination

__all__ = ["gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace"]


def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: Mode = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """Computes scipy.ndimage.gaussian_filter1d(): sum_k G(k) x[n - k] along an axis, for G or its derivative.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_filter1d(np.array([1.0, 1.0, 1.0, 1.0]), 4)
    array([1., 1., 1., 1.])
    """
    _require_radius(radius)
    if _is_complex(input):
        return _of_parts(
            input, output, cval, lambda part, value: gaussian_filter1d(part, sigma, axis, order, None, mode, value)
        )
    return _gaussian.gaussian_filter1d(input, sigma, axis, order, _output(input, output), mode, cval)


def gaussian_filter(
    input: Any,
    sigma: float | Sequence[float],
    order: int | Sequence[int] = 0,
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
) -> Any:
    """Computes scipy.ndimage.gaussian_filter(): G * x, or with `order` a derivative of it.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_filter(np.full((2, 2), 7, np.uint8), 1)
    array([[7, 7],
           [7, 7]], dtype=uint8)
    """
    _require_radius(radius)
    if _is_complex(input):
        return _of_parts(
            input, output, cval, lambda part, value: gaussian_filter(part, sigma, order, None, mode, value, axes=axes)
        )
    sigma = _sigma(sigma)
    return _gaussian.gaussian_filter(
        input, sigma, _order(order, sigma), _output(input, output), mode, cval, axes=axes
    )


def gaussian_gradient_magnitude(
    input: Any,
    sigma: float | Sequence[float],
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    axes: int | Sequence[int] | None = None,
    truncate: float = 4.0,
    radius: int | Sequence[int] | None = None,
) -> Any:
    """Computes scipy.ndimage.gaussian_gradient_magnitude(): sqrt(sum_i (G_i * x)^2), with derivatives G_i along the
    axes.

    Examples
    --------
    >>> import numpy as np
    >>> bool(abs(gaussian_gradient_magnitude(np.arange(80.0), 2)[40] - 1) < 1e-5)
    True
    """
    _require_radius(radius)
    if _is_complex(input):
        return _of_parts(
            input,
            output,
            cval,
            lambda part, value: _combine(part, "components", 1, sigma, None, mode, value, axes),
            lambda gradient: np.sqrt((gradient * gradient).sum(axis=-1)),
        )
    return _combine(input, "length", 1, sigma, _output(input, output), mode, cval, axes)


def gaussian_laplace(
    input: Any,
    sigma: float | Sequence[float],
    output: Any = None,
    mode: Mode | Sequence[Mode] = "reflect",
    cval: float = 0.0,
    *,
    axes: int | Sequence[int] | None = None,
    truncate: float = 4.0,
    radius: int | Sequence[int] | None = None,
) -> Any:
    """Computes scipy.ndimage.gaussian_laplace(): sum_i G_ii * x, with the second derivatives G_ii along the axes.

    Examples
    --------
    >>> import numpy as np
    >>> bool(abs(gaussian_laplace(np.arange(-40.0, 41.0) ** 2, 2)[40] - 2) < 1e-2)
    True
    """
    _require_radius(radius)
    if _is_complex(input):
        return _of_parts(
            input, output, cval, lambda part, value: gaussian_laplace(part, sigma, None, mode, value, axes=axes)
        )
    return _combine(input, "sum", 2, sigma, _output(input, output), mode, cval, axes)


def _output(input: Any, output: Any) -> Any:
    """Returns `output`, or by default the type of the input, which is the type of the result in scipy.

    A type whose bytes are in the other order becomes an array of it, because results of the filters have the order of the machine."""
    input = array_of(input, "input")
    if isinstance(output, (str, np.dtype)) and isinstance(input, np.ndarray):
        with contextlib.suppress(TypeError):  # the filter refuses what is no type
            return output if np.dtype(output).isnative else np.empty(input.shape, output)
    if output is not None or not (isinstance(input, (np.ndarray, Image)) or is_itk_object(input) or is_xarray(input)):
        return output
    return pixels_of(input).dtype


# scipy does not filter along an axis whose sigma is not above this one.
_LARGEST_SIGMA_OF_NO_FILTER = 1e-15


def _sigma(sigma: Any) -> Any:
    """Replaces sigmas that scipy treats as 0 by 0. Values that are not numbers are returned, and the filter refuses
    them."""
    try:
        sigmas = np.asarray(sigma, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return sigma
    is_tiny = (sigmas > 0.0) & (sigmas <= _LARGEST_SIGMA_OF_NO_FILTER)
    return np.where(is_tiny, 0.0, sigmas).tolist() if is_tiny.any() else sigma


def _order(order: Any, sigma: Any) -> Any:
    """Sets the order to 0 where sigma is 0, because scipy does not filter along such an axis. Orders of a wrong length
    are returned, and the filter refuses them."""
    try:
        is_left = np.asarray(sigma, dtype=np.float64) == 0.0
        return np.where(is_left, 0, order).tolist() if is_left.any() else order
    except (TypeError, ValueError, OverflowError):
        return order


def _require_radius(radius: Any) -> None:
    """Raises ValueError for an invalid radius, as scipy does, although the radius has no effect."""
    for each in [radius] if radius is None or np.ndim(radius) == 0 else radius:
        try:
            if each is not None and operator.index(each) < 0:
                raise ValueError(f"radius is {radius}; it must be None, or whole numbers of 0 or more")
        except TypeError:
            raise ValueError(f"radius is {radius!r}; it must be None, or whole numbers of 0 or more") from None


@_gaussian._on_device_of_input
def _combine(
    input: Any,
    combination: Combination,
    order: int,
    sigma: Any,
    output: Any,
    mode: Any,
    cval: Any,
    axes: Any,
) -> Any:
    """Combines the derivatives of one order along all axes. As in scipy, the derivative along an axis of
    sigma 0 is the array smoothed along the other axes, and without axes the result is the input."""
    call = _gaussian._Call(
        input, _sigma(sigma), output, mode, cval, None, None, axes, None, None, True, None, "accurate", "automatic",
        in_array_order=True,
    )
    terms = call.along_each_axis(order, leaves_axes=True)
    if not terms:
        return call.store("components", [call.derivative([])])
    return call.store(combination, terms, has_axis=combination == "components")


def _is_complex(input: Any) -> bool:
    return isinstance(input, (np.ndarray, list, tuple)) and np.iscomplexobj(input)


def _of_parts(
    input: Any,
    output: Any,
    cval: complex,
    function: Callable[[Any, float], Any],
    finish: Callable[[Any], Any] = lambda result: result,
) -> Any:
    """Applies `function`, which takes an array and its value beyond the ends, to the real and the imaginary part of
    complex numbers, as scipy does."""
    array, value = np.asarray(input), complex(cval)
    if output is None or isinstance(output, (str, type, np.dtype)):
        output = np.empty(array.shape, array.dtype if output is None else output)
    if not np.iscomplexobj(output):
        raise TypeError(f"output is {np.asarray(output).dtype}; for an input of complex numbers it must be complex")
    output[...] = finish(function(array.real, value.real) + 1j * function(array.imag, value.imag))
    return output
