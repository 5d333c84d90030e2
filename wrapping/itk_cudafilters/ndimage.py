# SPDX-License-Identifier: Apache-2.0
"""The Gaussian filters of scipy.ndimage, with its signatures and defaults, on the filters of this package.

    from itk_cudafilters import ndimage  # in the place of: from scipy import ndimage

Results have the type of the input unless `output` says otherwise; those of integers are truncated once, in the end. `truncate`
and `radius` have no effect, because a recursive filter has no window. Orders are 0, 1 and 2. Pixels that are NaN remain NaN and
do not count; in scipy they make all pixels around them NaN.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import itk
import numpy as np

from . import _gaussian
from ._gaussian import Mode
from ._images import is_xarray, pixels_of

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
    """scipy.ndimage.gaussian_filter1d() by itk_cudafilters.gaussian_filter1d(): sum_k G(k) x[n - k] along an axis.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_filter1d(np.array([1.0, 1.0, 1.0, 1.0]), 4)
    array([1., 1., 1., 1.])
    """
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
    """scipy.ndimage.gaussian_filter() by itk_cudafilters.gaussian_filter(): G * x, or a derivative of G along axes.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_filter(np.full((2, 2), 7, np.uint8), 1)
    array([[7, 7],
           [7, 7]], dtype=uint8)
    """
    return _gaussian.gaussian_filter(input, sigma, order, _output(input, output), mode, cval, axes=axes)


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
    """scipy.ndimage.gaussian_gradient_magnitude(): sqrt(sum_i (G_i * x)^2) with the derivatives G_i along the axes.

    Examples
    --------
    >>> import numpy as np
    >>> bool(abs(gaussian_gradient_magnitude(np.arange(80.0), 2)[40] - 1) < 1e-5)
    True
    """
    return _gaussian.gaussian_gradient_magnitude(input, sigma, _output(input, output), mode, cval, axes=axes)


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
    """scipy.ndimage.gaussian_laplace(): sum_i G_ii * x with the second derivatives G_ii along the axes.

    Examples
    --------
    >>> import numpy as np
    >>> bool(abs(gaussian_laplace(np.arange(-40.0, 41.0) ** 2, 2)[40] - 2) < 1e-2)
    True
    """
    return _gaussian.gaussian_laplace(input, sigma, _output(input, output), mode, cval, axes=axes)


def _output(input: Any, output: Any) -> Any:
    """In scipy results have the type of the input."""
    if output is not None or not (isinstance(input, (np.ndarray, itk.Object)) or is_xarray(input)):
        return output
    return pixels_of(input).dtype
