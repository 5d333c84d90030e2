# SPDX-License-Identifier: Apache-2.0
"""Vessels and other lines by the Hessians of several scales, with the conventions of NumPy and scikit-image."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import itk
import numpy as np
import numpy.typing as npt

from ._arrays import Given, Target, number, read_mask, spacings_of
from ._gaussian import Approximation, Mode, _mode, gaussian_filter
from ._images import _require_no_bands, is_xarray
from ._info import Backend
from ._segmentation import known_name, plain_name

Measure = Literal["objectness", "frangi", "sato", "jerman", "meijering"]

# Pixels that the filter takes as they are; others become those of the response.
_INPUTS = {"uint8": itk.UC, "uint16": itk.US, "int16": itk.SS, "float32": itk.F, "float64": itk.D}
_REALS = {"float32": itk.F, "float64": itk.D}
# Pixels whose directions are computed at once.
_CHUNK = 1 << 18


def vesselness(
    image: Any,
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
    spacing: float | Sequence[float] | Literal["image"] | None = None,
    valid_mask: Any = None,
    preserve_nan: bool = True,
    return_scale: bool = False,
    return_directions: bool = False,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
) -> Any:
    """Enhances vessels and other lines: the largest measure of the Hessians of several scales.

    The Hessian of each pixel holds the second derivatives of the image smoothed with a Gaussian. Across a bright line it has
    large negative eigenvalues, along it a small one. docs/objectness.md has the formulas of the measures and their sources.

    Parameters
    ----------
    image
        NumPy array, xarray.DataArray or itk.Image of two or three axes.
    sigmas
        Standard deviations of the scales, in pixels unless `spacing` is given. A line of radius r responds most at about r.
    measure
        objectness: lines, blobs or plates, by their contrast. frangi: lines, from 0 to 1. sato: lines, by their contrast.
        jerman: lines and blobs, from 0 to 1, nearly the same within each. meijering: neurites, by their contrast.
    object_dimension
        Of objectness: 0 finds blobs, 1 lines, 2 plates.
    bright
        Bright objects on dark ground, or dark ones on bright ground.
    normalize
        Whether second derivatives are multiplied by sigma^2: thick and thin lines respond alike.
    alpha, beta
        Of objectness and frangi: smaller values of alpha keep lines that are nearly plates, smaller ones of beta suppress blobs.
    gamma
        Of objectness and frangi: norms of Hessians below it fade. None: half of the largest norm of each scale.
    tau
        Of jerman, from 0 to 1: eigenvalues below tau times the largest one of each scale fade.
    mode, cval
        How lines continue beyond their ends, as in gaussian_filter().
    spacing
        Distance of pixels along each axis, as in gaussian_filter(). Then sigmas have its unit.
    valid_mask
        Array of the image's shape: pixels where it is 0 do not count, whatever they hold. They are filled with what the valid
        ones around them make by the largest sigma, and their response is 0.
    preserve_nan
        Whether pixels that are NaN do not count either, and remain NaN. Otherwise the responses of their lines are 0.
    return_scale
        Whether to return the sigma that gave each response too; 0 where there is none.
    return_directions
        Whether to return unit vectors along the lines too: components in the order of the array's axes, as its last axis, 0
        where there is no response. Vectors of opposite signs are the same direction.
    dtype
        Type of the response. Default that of the image, for integers float32.
    approximation
        As in gaussian_filter(). deriche: the Hessians of ITK's filters.
    backend
        automatic: the GPU if there is one, else the host. cuda: the GPU or an error. host: the host.

    Returns
    -------
    The response, of the kind of the image; 0 where nothing is found. With `return_scale` or `return_directions` a tuple of the
    response and those.

    Raises
    ------
    TypeError, ValueError
        The image or a parameter is of a kind or a type that is not known, or has a wrong value or shape.
    RuntimeError
        The filter refuses a value, or the GPU was demanded and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> across = np.arange(-20, 21)
    >>> line = np.exp(-across**2 / (2 * 3.0**2))[:, np.newaxis] * np.ones(60)
    >>> response, scale = vesselness(line, (1, 3, 9), measure="sato", return_scale=True)
    >>> bool(response[20, 30] > 10 * response[8, 30]), float(scale[20, 30])
    (True, 3.0)
    """
    call = _Call(image, sigmas, mode, cval, spacing, valid_mask, preserve_nan, dtype, approximation, backend)
    found = call.run(
        HessianMeasure=plain_name(known_name("measure", measure, get_args(Measure))),
        ObjectDimension=_object_dimension(object_dimension, call.dimension),
        BrightObject=bool(bright),
        NormalizeAcrossScale=bool(normalize),
        Alpha=number(alpha, "alpha"),
        Beta=number(beta, "beta"),
        Gamma=math.nan if gamma is None else number(gamma, "gamma"),
        Tau=number(tau, "tau"),
        GenerateScaleOutput=bool(return_scale),
        GenerateHessianOutput=bool(return_directions),
    )
    results = [call.response(found)]
    if return_scale:
        results.append(call.scale(found))
    if return_directions:
        results.append(call.directions(found))
    return tuple(results) if len(results) > 1 else results[0]


def frangi(
    image: Any,
    sigmas: Sequence[float] = range(1, 10, 2),
    scale_range: None = None,
    scale_step: None = None,
    alpha: float = 0.5,
    beta: float = 0.5,
    gamma: float | None = None,
    black_ridges: bool = True,
    mode: Mode = "reflect",
    cval: float = 0.0,
    **others: Any,
) -> Any:
    """skimage.filters.frangi(): vesselness() of Frangi's measure, from 0 to 1.

    Second derivatives are multiplied by sigma^2, as in Frangi's paper and in scikit-image up to 0.19.3. `others` are keywords of
    vesselness(), for example spacing or valid_mask. `scale_range` and `scale_step` are scikit-image's; here they must be None.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((40, 60), np.float32)
    >>> line[19:22] = 1
    >>> response = frangi(line, sigmas=(1, 2), black_ridges=False)
    >>> bool(response[20, 30] > 0.5), bool(frangi(line, sigmas=(1, 2))[20, 30] == 0)
    (True, True)
    """
    if scale_range is not None or scale_step is not None:
        raise ValueError("scale_range and scale_step are not known here: give sigmas=range(FIRST, END, STEP)")
    return vesselness(
        image, sigmas, "frangi", bright=not black_ridges, alpha=alpha, beta=beta, gamma=gamma, mode=mode, cval=cval, **others
    )


def sato(
    image: Any,
    sigmas: Sequence[float] = range(1, 10, 2),
    black_ridges: bool = True,
    mode: Mode = "reflect",
    cval: float = 0.0,
    **others: Any,
) -> Any:
    """skimage.filters.sato(): vesselness() of Sato's measure, in the unit of the image.

    In two dimensions the values are those of scikit-image's formula. In three dimensions it leaves out the factor of the
    eigenvalue along the line. `others` are keywords of vesselness().

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((40, 60), np.float32)
    >>> line[19:22] = 1
    >>> response = sato(line, sigmas=(1, 2), black_ridges=False)
    >>> bool(response[20, 30] > 5 * response[26, 30])
    True
    """
    return vesselness(image, sigmas, "sato", bright=not black_ridges, mode=mode, cval=cval, **others)


def meijering(
    image: Any,
    sigmas: Sequence[float] = range(1, 10, 2),
    alpha: float | None = None,
    black_ridges: bool = True,
    mode: Mode = "reflect",
    cval: float = 0.0,
    **others: Any,
) -> Any:
    """skimage.filters.meijering(): vesselness() of Meijering's measure, in the unit of the image.

    scikit-image divides the response of each scale by its largest value; here scales are compared as they are. `alpha` is
    None or 1 / (axes + 1), with which the filter is maximally flat along a line. `others` are keywords of vesselness().

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((40, 60), np.float32)
    >>> line[19:22] = 1
    >>> response = meijering(line, sigmas=(1, 2), black_ridges=False)
    >>> bool(response[20, 30] > 5 * response[26, 30])
    True
    """
    flattest = 1.0 / (np.ndim(image) + 1) if isinstance(image, np.ndarray) or is_xarray(image) else None
    if alpha is not None and not (flattest is not None and math.isclose(abs(number(alpha, "alpha")), flattest)):
        raise ValueError(f"alpha is {alpha}; it must be None, which is 1 / (axes + 1)")
    return vesselness(image, sigmas, "meijering", bright=not black_ridges, mode=mode, cval=cval, **others)


def _object_dimension(value: Any, dimension: int) -> int:
    if value not in range(dimension):
        raise ValueError(f"object_dimension is {value!r}; it must be a whole number from 0 to {dimension - 1}")
    return int(value)


def _sigmas(sigmas: Any) -> list[float]:
    values = [number(sigma, "sigmas") for sigma in ([sigmas] if np.ndim(sigmas) == 0 else sigmas)]
    if not values or not all(math.isfinite(value) and value > 0.0 for value in values):
        raise ValueError(f"sigmas is {sigmas}; it must be one number or several, each finite and above 0")
    return values


class _Call:
    """One call of a function: the image and how it is filtered, and what becomes of the outputs."""

    def __init__(
        self,
        image: Any,
        sigmas: Any,
        mode: Any,
        cval: Any,
        spacing: Any,
        valid_mask: Any,
        preserve_nan: bool,
        dtype: Any,
        approximation: str,
        backend: str,
    ) -> None:
        self._given = Given.read(image, "image")
        if not isinstance(self._given.array, np.ndarray):
            raise TypeError(f"image is a {type(image).__name__} in the memory of a GPU; vesselness() takes arrays in the memory of the host")
        if is_xarray(image):
            _require_no_bands(image, "image")
        self.dimension = self._given.array.ndim
        if self.dimension not in (2, 3):
            raise ValueError(f"image has {self.dimension} axes; it must have 2 or 3")
        self._sigmas = _sigmas(sigmas)
        self._spacing = spacings_of(spacing, self._given, range(self.dimension))
        self._mode: Any = _mode(mode)
        self._cval = number(cval, "cval")
        self._approximation: Any = known_name("approximation", approximation, get_args(Approximation))
        self._backend: Any = known_name("backend", backend, get_args(Backend))
        self._target = Target.of(self._given, None, dtype)
        self._real = np.dtype(self._target.compute_type(self._given))
        self._nan = np.isnan(self._given.array) if preserve_nan and self._given.array.dtype.kind not in "iu" else None
        self._valid = self._read_mask(valid_mask)

    def _read_mask(self, mask: Any) -> npt.NDArray[np.bool_] | None:
        """The pixels that count; None for all."""
        valid = None if mask is None else read_mask(mask, self._given, None)
        if self._nan is not None and self._nan.any():
            valid = ~self._nan if valid is None else valid & ~self._nan
        return None if valid is None or valid.all() else valid

    def run(self, **parameters: Any) -> Any:
        """The filter, which has run."""
        pixels = self._pixels()
        if min(pixels.shape, default=0) == 0:
            raise ValueError(f"image has the shape {pixels.shape}; each axis must have pixels")
        image = itk.image_view_from_array(pixels)
        # ITK takes an array whose first axis has the smallest stride, such as a column, in the order of Fortran: x first.
        self._to_axes = slice(None) if pixels.strides[0] == pixels.itemsize else slice(None, None, -1)
        image.SetSpacing([abs(step) for step in self._spacing][self._to_axes])
        types = (itk.Image[_INPUTS[pixels.dtype.name], self.dimension], itk.Image[_REALS[self._real.name], self.dimension])
        enhancer: Any = itk.CudaVesselnessImageFilter[types].New(
            image,
            Approximation=self._approximation,
            BoundaryMode=self._mode,
            BoundaryValue=self._cval,
            Backend=self._backend,
            **parameters,
        )
        for sigma in self._sigmas:
            enhancer.AddSigma(sigma)
        enhancer.Update()
        return enhancer

    def _pixels(self) -> npt.NDArray[Any]:
        array = self._given.array
        if self._valid is not None:
            return np.ascontiguousarray(self._filled(self._valid))
        is_known = array.dtype.kind in "iu" and array.dtype.name in _INPUTS
        # ITK's classes of integers give float.
        dtype = array.dtype.newbyteorder("=") if is_known and self._real == np.float32 else self._real
        return np.ascontiguousarray(array, dtype=dtype)

    def _filled(self, valid: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        """Pixels that do not count become the mean of the valid ones around them, those far from all valid ones their mean."""
        pixels = self._given.array.astype(self._real)
        if not valid.any():
            return np.zeros_like(pixels)
        around = gaussian_filter(
            pixels,
            max(self._sigmas),
            mode=self._mode,
            cval=self._cval,
            spacing=[abs(step) for step in self._spacing],
            valid_mask=valid,
            approximation=self._approximation,
            backend=self._backend,
        )
        # In float64: the mean of many pixels of float32.
        mean = pixels.dtype.type(pixels[valid].mean(dtype=np.float64))
        return np.asarray(np.where(valid, pixels, np.where(np.isnan(around), mean, around)))

    def _array_of(self, image: Any) -> npt.NDArray[Any]:
        return np.asarray(itk.array_from_image(image).reshape(self._given.array.shape))

    def response(self, enhancer: Any) -> Any:
        response = self._array_of(enhancer.GetOutput())
        if self._valid is not None:
            response[~self._valid] = 0
        if self._nan is not None:
            response[self._nan] = np.nan
        return self._target.store(response, self._given, None)

    def scale(self, enhancer: Any) -> Any:
        scale = self._array_of(enhancer.GetScaleOutput())
        if self._valid is not None:
            scale[~self._valid] = 0
        return Target(self._real.name, None).store(scale, self._given, None)

    def directions(self, enhancer: Any) -> Any:
        response = self._array_of(enhancer.GetOutput())
        found = response > 0 if self._valid is None else (response > 0) & self._valid
        hessians = itk.array_view_from_image(enhancer.GetHessianOutput()).reshape((*response.shape, -1))[found]
        vectors = np.zeros((*found.shape, self.dimension), self._real)
        chunks = [_along(hessians[begin : begin + _CHUNK], self.dimension) for begin in range(0, len(hessians), _CHUNK)]
        if chunks:
            # Coordinates that fall.
            vectors[found] = np.concatenate(chunks)[:, self._to_axes] * np.sign(self._spacing)
        return Target(self._real.name, None).store(vectors, self._given, self.dimension)


def _along(hessians: npt.NDArray[Any], dimension: int) -> npt.NDArray[np.float64]:
    """The unit vectors x, y, z of the eigenvalues of the smallest magnitude.

    Hessians are upper triangles row after row, of x, y, z. The largest component of each vector is positive.
    """
    matrices = np.empty((len(hessians), dimension, dimension))
    rows, columns = np.triu_indices(dimension)
    matrices[:, rows, columns] = hessians
    matrices[:, columns, rows] = hessians
    values, vectors = np.linalg.eigh(matrices)
    smallest = np.argmin(np.abs(values), axis=1)
    along = np.take_along_axis(vectors, smallest[:, np.newaxis, np.newaxis], axis=2)[..., 0]
    largest = np.take_along_axis(along, np.argmax(np.abs(along), axis=1)[:, np.newaxis], axis=1)
    return np.asarray(along * np.sign(largest))
