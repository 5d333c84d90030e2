# SPDX-License-Identifier: Apache-2.0
"""Enhancement of vessels and other lines by Hessians at several scales, with the conventions of NumPy and
scikit-image."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from . import _dlpack
from ._arrays import Given, Target, is_single, number, positive, read_mask, spacings_of
from ._device import is_device_image
from ._exporters import SHAPES, is_foreign, open_on_default_stream, result_for, shape_of
from ._gaussian import Approximation, Mode, _mode, gaussian_filter
from ._images import _require_no_bands, describe, is_column, is_dask, is_xarray, valid_pixels_of
from ._info import Backend
from ._library import core, empty, settings_of_run, takes
from ._operations import current_device_of, image_on_gpu
from ._parameters import known_name, library_errors, switch

Measure = Literal["objectness", "frangi", "sato", "jerman", "meijering"]

_REALS = ("float32", "float64")


@library_errors
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
    """Enhances vessels and other lines by the largest response of a Hessian measure over several scales.

    The Hessian of a pixel holds the second derivatives of the image, smoothed with a Gaussian. On a bright line its
    eigenvalues across the line are large and negative, and the one along the line is small. docs/user/vesselness.md has
    the formulas of the measures and their sources.

    Parameters
    ----------
    image
        NumPy array, xarray.DataArray or itk.Image of two or three axes; or an array of CuPy or PyTorch in GPU memory,
        which is processed there. With `preserve_nan=False` and without `valid_mask` also an itk.CudaDeviceImage or an
        array in GPU memory of another package with `__dlpack__`.
    sigmas
        Standard deviations of the scales, each above 0. A line of radius r has its largest response at a sigma of
        about r.

        They are in pixels unless `spacing` is given.
    measure
        objectness: lines, blobs or plates, in the unit of the contrast. frangi: lines, from 0 to 1. sato:
        lines, in the unit of the contrast. jerman: lines and blobs, from 0 to 1, nearly uniform within an object.
        meijering: neurites, in the unit of the contrast.
    object_dimension
        For objectness: 0 finds blobs, 1 lines, 2 plates.
    bright
        Whether bright objects on dark ground are looked for, or dark objects on bright ground.
    normalize
        Whether second derivatives are multiplied by sigma^2, so that thick and thin lines have similar responses.
    alpha
        For objectness and frangi, finite and above 0: smaller values keep lines that are nearly plates.
    beta
        For objectness and frangi, finite and above 0: smaller values suppress blobs.
    gamma
        For objectness and frangi, finite and above 0: responses fade where the norm of the Hessian is below it. By
        default it is half of the largest norm at each scale.
    tau
        For jerman, from 0 to 1: eigenvalues below tau times the largest one at each scale fade.
    mode
        How lines continue beyond their ends: reflect, nearest, mirror, wrap or constant.

        As in gaussian_filter().
    cval
        The value beyond the ends of lines in the mode constant.
    spacing
        Distance between pixels along each axis, as in gaussian_filter(). Sigmas then have its unit. An itk.Image needs
        "image" for sigmas in millimetres.
    valid_mask
        Image of the same size: pixels where it is 0 do not count, regardless of their values, and their response is 0.

        An array, or an image of the same kind. Pixels that do not count are replaced by an average of the valid pixels around them, weighted with a Gaussian of the largest sigma.
        DataArrays and itk.Images must have the geometry of the image, as in gaussian_filter().
    preserve_nan
        Whether pixels that are NaN or infinite do not count either, and are NaN in the response, except where
        `valid_mask` is 0. With False they set the responses on their lines, and on the lines through these, to 0.
    return_scale
        Whether to return also the sigma of each response; 0 where there is no response.
    return_directions
        Whether to return also unit vectors along the lines, as the last axis, with components in the order of the
        array's axes; 0 where there is no response. Opposite vectors are the same direction.
    dtype
        Type of the response. Default: the type of the image, or float32 for integers and bool. Integers of 32 and 64
        bits are computed in float64, which is exact for integers up to 2^53.
    approximation
        accurate: within 1e-5 of the Gaussian. deriche: the Hessians of ITK's filters.
    backend
        automatic: the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.

    Returns
    -------
    The response as the kind of the image; 0 where nothing is found. With `return_scale` or `return_directions`, a tuple
    of the response and these, in this order.

    Raises
    ------
    TypeError, ValueError
        The kind or type of the image or of a parameter is not supported, or a value or shape is wrong.
    RuntimeError
        The GPU was requested and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> across = np.arange(-20, 21)
    >>> line = np.exp(-across**2 / (2 * 3.0**2))[:, np.newaxis] * np.ones(60)
    >>> response, scale = vesselness(line, (1, 3, 9), measure="sato", return_scale=True)
    >>> bool(response[20, 30] > 10 * response[8, 30]), float(scale[20, 30])
    (True, 3.0)
    """
    if is_dask(image):
        from ._dask import lazy_vesselness

        if return_scale or return_directions:
            raise ValueError("return_scale and return_directions are not for arrays of Dask: call .compute() first")
        return lazy_vesselness(
            image, sigmas, measure, object_dimension, bright, normalize, alpha, beta, gamma, tau, mode, cval, spacing,
            valid_mask, preserve_nan, dtype, approximation, backend,
        )
    with current_device_of(image):
        make = _ExportedCall if is_foreign(image) or is_device_image(image) else _Call
        call = make(image, sigmas, mode, cval, spacing, valid_mask, preserve_nan, dtype, approximation, backend)
        found = call.run(
            switch(return_scale, "return_scale"),
            switch(return_directions, "return_directions"),
            known_name("measure", measure, get_args(Measure)),
            _object_dimension(object_dimension, call.dimension),
            switch(bright, "bright"),
            switch(normalize, "normalize"),
            positive(alpha, "alpha"),
            positive(beta, "beta"),
            math.nan if gamma is None else positive(gamma, "gamma"),
            _tau(tau),
            getattr(measure, "parameters", _SATO),
        )
        results = [call.store_response(found.response)]
        if return_scale:
            results.append(call.store_scale(found.scale))
        if return_directions:
            results.append(call.store_directions(found.directions))
    return tuple(results) if len(results) > 1 else results[0]


class _MeasureWith(str):
    """The name of a measure, with Sato's parameters, which vesselness() does not have."""

    parameters: tuple[float, float, float]


# Alpha, gamma12 and gamma23 of Sato's paper, and of scikit-image.
_SATO = (0.25, 1.0, 1.0)
_SATO_OF_SKIMAGE = _MeasureWith("sato")
_SATO_OF_SKIMAGE.parameters = (0.0, 0.0, 0.5)


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
    """Computes vesselness() with Frangi's measure, from 0 to 1, with the signature of skimage.filters.frangi().

    Second derivatives are multiplied by sigma^2, as in Frangi's paper and in scikit-image up to 0.19.3. `others` are
    keywords of vesselness(), for example spacing or valid_mask. `scale_range` and `scale_step` are parameters of
    scikit-image; they must be None here, or ValueError is raised.

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
    bright = not switch(black_ridges, "black_ridges")
    return vesselness(image, sigmas, "frangi", bright=bright, alpha=alpha, beta=beta, gamma=gamma, mode=mode, cval=cval, **others)


def sato(
    image: Any,
    sigmas: Sequence[float] = range(1, 10, 2),
    black_ridges: bool = True,
    mode: Mode = "reflect",
    cval: float = 0.0,
    **others: Any,
) -> Any:
    """Computes the geometric mean of the Hessian's eigenvalues across a line, in the unit of the image, with the
    signature of skimage.filters.sato().

    In two dimensions it is the magnitude of the eigenvalue of the largest magnitude, in three the root of the product
    of both eigenvalues across the line, times sigma^2. It is 0 where one of them does not have the sign of a line. This
    is scikit-image's formula. Sato's paper and vesselness() with `measure="sato"` have an additional factor of the
    eigenvalue along the line, which reduces the response of blobs, ends and crossings, and use the smaller one of the
    eigenvalues across the line in three dimensions. `others` are keywords of vesselness().

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((40, 60), np.float32)
    >>> line[19:22] = 1
    >>> response = sato(line, sigmas=(1, 2), black_ridges=False)
    >>> bool(response[20, 30] > 5 * response[26, 30])
    True
    """
    measure: Any = _SATO_OF_SKIMAGE
    bright = not switch(black_ridges, "black_ridges")
    return vesselness(image, sigmas, measure, bright=bright, mode=mode, cval=cval, **others)


def meijering(
    image: Any,
    sigmas: Sequence[float] = range(1, 10, 2),
    alpha: float | None = None,
    black_ridges: bool = True,
    mode: Mode = "reflect",
    cval: float = 0.0,
    **others: Any,
) -> Any:
    """Computes vesselness() with Meijering's measure, in the unit of the image, with the signature of
    skimage.filters.meijering().

    scikit-image divides the response of each scale by its largest value; here the responses of the scales are compared
    without that. `alpha` must be None or 1 / (axes + 1), which makes the filter maximally flat along a line; ValueError
    is raised otherwise. `others` are keywords of vesselness().

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((40, 60), np.float32)
    >>> line[19:22] = 1
    >>> response = meijering(line, sigmas=(1, 2), black_ridges=False)
    >>> bool(response[20, 30] > 5 * response[26, 30])
    True
    """
    axes = getattr(image, "ndim", None)
    flattest = None if axes is None else 1.0 / (axes + 1)
    if alpha is not None and not (flattest is not None and math.isclose(abs(number(alpha, "alpha")), flattest)):
        raise ValueError(f"alpha is {alpha}; it must be None, which is 1 / (axes + 1)")
    return vesselness(image, sigmas, "meijering", bright=not switch(black_ridges, "black_ridges"), mode=mode, cval=cval, **others)


def _object_dimension(value: Any, dimension: int) -> int:
    if value not in range(dimension):
        raise ValueError(f"object_dimension is {value!r}; it must be a whole number from 0 to {dimension - 1}")
    return int(value)


def _tau(value: Any) -> float:
    tau = number(value, "tau")
    if not 0.0 <= tau <= 1.0:
        raise ValueError(f"tau is {value}; it must be from 0 to 1")
    return tau


def _sigmas(sigmas: Any) -> list[float]:
    values = [number(sigma, "sigmas") for sigma in ([sigmas] if is_single(sigmas) else sigmas)]
    if not values or not all(math.isfinite(value) and value > 0.0 for value in values):
        raise ValueError(f"sigmas is {sigmas}; it must be one number or several, each finite and above 0")
    return values


@dataclass(frozen=True)
class _Found:
    """The outputs as arrays of the image's kind, or as new arrays on a GPU. Pixels that do not count are still to be
    cleared."""

    response: Any
    scale: Any
    directions: Any


class _Call:
    """One call of a function: the image, its checked parameters and the conversion of the outputs."""

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
        self._given = self._read(image, valid_mask, switch(preserve_nan, "preserve_nan"))
        valid_mask = valid_pixels_of(image, valid_mask)
        if is_xarray(image):
            _require_no_bands(image, "image")
        self.dimension = self._given.array.ndim
        if self.dimension not in (2, 3):
            raise ValueError(f"image has {self.dimension} axes; it must have 2 or 3")
        self._sigmas = _sigmas(sigmas)
        self._spacing = spacings_of(spacing, self._given, range(self.dimension))
        self._mode: Any = _mode(mode)
        self._cval = number(cval, "cval")
        if self._mode == "constant" and not math.isfinite(self._cval):
            raise ValueError(f"cval is {cval}; it must be finite")
        self._approximation: Any = known_name("approximation", approximation, get_args(Approximation))
        self._backend: Any = known_name("backend", backend, get_args(Backend))
        if self._given.ops.is_on_gpu and backend == "host":
            raise ValueError("backend is host, and image is in the memory of a GPU; it must be automatic or cuda")
        self._target = Target.of(self._given, None, dtype)
        self._real = self._target.compute_type(self._given)
        self._valid = None if valid_mask is None else read_mask(valid_mask, self._given, None)
        self._nan = None
        finite = self._find_finite() if preserve_nan and not self._given.is_integer else None
        if finite is not None:
            # Pixels where the mask is 0 have the response 0, even if they are NaN.
            self._nan = ~finite if self._valid is None else self._valid & ~finite
            self._valid = finite if self._valid is None else self._valid & finite
        # Drop a mask that is True everywhere, except on a GPU, where the host would have to wait for its values.
        if self._valid is not None and not self._given.ops.is_on_gpu and self._valid.all():
            self._valid = None

    def _read(self, image: Any, valid_mask: Any, preserve_nan: bool) -> Given:
        return Given.read(image, "image")

    def _find_finite(self) -> Any:
        """Returns which pixels are finite, or None if all are. With a mask on a GPU it always returns an array, so that
        the host need not wait for the answer."""
        ops, array = self._given.ops, self._given.array
        is_masked_on_gpu = ops.is_on_gpu and self._valid is not None
        return ops.isfinite(array) if is_masked_on_gpu or not ops.is_finite(array) else None

    def run(self, with_scale: bool, with_directions: bool, *measure: Any) -> _Found:
        """Runs the library. `measure` is its name and its parameters, in the order of `_core`."""
        shape = tuple(self._given.array.shape)
        if 0 in shape:
            raise ValueError(f"image has the shape {shape}; each axis must have pixels")
        steps = tuple(abs(step) for step in self._spacing)
        name, object_dimension, bright, normalize, alpha, beta, gamma, tau, sato = measure
        plan = (
            name, object_dimension, bright, normalize, alpha, beta, gamma, tau, tuple(self._sigmas), sato,
            steps if self._is_x_first else steps[::-1], self._approximation, self._mode, self._cval,
        )
        run = self._run_on_gpu if self._given.ops.is_on_gpu else self._run_on_host
        return run(with_scale, with_directions, plan)

    def _run_on_host(self, with_scale: bool, with_directions: bool, plan: tuple[Any, ...]) -> _Found:
        array, ops = self._given.array, self._given.ops
        if self._valid is not None:
            array = self._filled(self._valid)
        elif not takes(array):
            array = ops.contiguous(array, self._real)
        found = _Found(
            empty(array.shape, self._real),
            empty(array.shape, self._real) if with_scale else None,
            empty((*array.shape, self.dimension), self._real) if with_directions else None,
        )
        axes = tuple(range(self.dimension))
        axes = axes[::-1] if self._is_x_first else axes
        core().vesselness(array, found.response, found.scale, found.directions, axes, plan, self._backend, *settings_of_run())
        if found.directions is not None and min(self._spacing) < 0.0:
            np.multiply(found.directions, np.sign(self._spacing), out=found.directions)  # where coordinates descend
        return found

    def _run_on_gpu(self, with_scale: bool, with_directions: bool, plan: tuple[Any, ...]) -> _Found:
        """Queues the work on the stream of the array's package. The host does not wait."""
        ops, array = self._given.ops, self._given.array
        shape = tuple(array.shape)
        pixels = ops.contiguous(array, self._real) if self._valid is None else self._filled(self._valid)
        found = _Found(
            ops.empty_like(pixels),
            ops.empty_like(pixels) if with_scale else None,
            ops.empty((*shape, self.dimension), pixels) if with_directions else None,
        )
        outputs = (0 if each is None else ops.pointer(each) for each in (found.response, found.scale, found.directions))
        image = image_on_gpu(pixels, shape[::-1] if self._is_x_first else shape, self._real, ops)
        core().queue_vesselness(image, *outputs, not self._is_x_first, plan)
        return found

    @property
    def _is_x_first(self) -> bool:
        return is_column(tuple(self._given.array.shape))

    def _filled(self, valid: Any) -> Any:
        """Returns the pixels with those that do not count replaced: by the Gaussian average of the valid pixels around
        them, or far from all valid pixels by the mean of these."""
        ops = self._given.ops
        pixels = ops.contiguous(self._given.array, self._real)
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
        far = ops.where(ops.isnan(around), ops.mean(pixels, valid), around)
        return ops.contiguous(ops.where(valid, pixels, far), self._real)

    def store_response(self, response: Any) -> Any:
        response = self._only_valid(response)
        if self._nan is not None:
            response = self._given.ops.where(self._nan, math.nan, response)
        return self._target.store(response, self._given, None)

    def store_scale(self, scale: Any) -> Any:
        return Target(self._real, None).store(self._only_valid(scale), self._given, None)

    def store_directions(self, directions: Any) -> Any:
        return Target(self._real, None).store(self._only_valid(directions), self._given, self.dimension)

    def _only_valid(self, result: Any) -> Any:
        """Returns the result with 0 where pixels do not count."""
        if self._valid is None:
            return result
        valid = self._valid if result.ndim == self.dimension else self._valid[..., None]
        return self._given.ops.where(valid, result, 0.0)


class _ExportedCall(_Call):
    """The call for a device image, or for an array of a package whose operations are not known. The results are device
    images, or arrays of JAX for an array of JAX. The work runs on CUDA's default stream, and the host waits for it."""

    def _read(self, image: Any, valid_mask: Any, preserve_nan: bool) -> Given:
        if preserve_nan or valid_mask is not None:
            raise ValueError(
                f"image is {describe(image)}; masks and preserve_nan are for other arrays: give preserve_nan=False and no "
                "valid_mask, or call cupy.from_dlpack(image) or torch.from_dlpack(image)"
            )
        if is_device_image(image):
            # The rows of a device image need not be adjacent.
            self._opened = _dlpack.open_array(image, "image", _dlpack.DEFAULT_STREAM)
            if self._opened.type not in _REALS:
                raise TypeError(f"image is {describe(image)} with pixels of type {self._opened.type}; they must be float32 or float64")
        else:
            self._opened = open_on_default_stream(image, "image")
        return Given(image, shape_of(self._opened), "image", SHAPES)

    def _run_on_gpu(self, with_scale: bool, with_directions: bool, plan: tuple[Any, ...]) -> _Found:
        opened, image = self._opened, self._given.image
        if self._real != opened.type or self._target.type != opened.type:
            raise ValueError(f"dtype is {self._target.type}; of {describe(image)} it must be {opened.type}, the type of its pixels")
        shape = opened.shape
        found = _Found(
            _dlpack.new_array(shape, opened),
            _dlpack.new_array(shape, opened) if with_scale else None,
            _dlpack.new_array((*shape, self.dimension), opened) if with_directions else None,
        )
        results = (found.response, found.scale, found.directions)
        given = (opened.pointer, self._real == "float64", shape, opened.strides, opened.device, _dlpack.DEFAULT_STREAM)
        with _dlpack.writing(*results):
            core().queue_vesselness(given, *(0 if each is None else each.pointer for each in results), True, plan)
        return found

    @property
    def _is_x_first(self) -> bool:
        return False

    def store_response(self, response: Any) -> Any:
        return self._as_given(response)

    def store_scale(self, scale: Any) -> Any:
        return self._as_given(scale)

    def store_directions(self, directions: Any) -> Any:
        return result_for(self._given.image, directions)

    def _as_given(self, result: Any) -> Any:
        image = self._given.image
        return result_for(image, result, image if is_device_image(image) else None)
