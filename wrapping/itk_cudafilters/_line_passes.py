# SPDX-License-Identifier: Apache-2.0
"""Passes of the recursive Gaussian filter along one axis of an array."""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ._library import core, empty, settings_of_run
from ._operations import OF_HOST, Operations, Places

# The recursion of the mode nearest needs lines of four pixels or more, as ITK's filter does. Shorter lines are padded
# with their edge values, which does not change the result because the mode continues them by the same values.
_SHORTEST_LINE = 4
_PADDING = 2

# Below these weights the quotient consists mostly of rounding errors, or of the undershoot of the kernel.
SMALLEST_WEIGHT = {"accurate": 1e-3, "deriche": 1e-2}


class Pass(NamedTuple):
    """A pass along one axis of an array. sigma is in pixels."""

    axis: int
    sigma: float
    order: int
    mode: str

    def needs_padding(self, shape: Sequence[int]) -> bool:
        return self.mode == "nearest" and shape[self.axis] < _SHORTEST_LINE


# The masked passes launch a dozen kernels for each item. Array operations launch about thirty for all items together.
MOST_MASKED_ITEMS = 32


class LineFilter(Protocol):
    """A filter along the lines of any axis."""

    @property
    def approximation(self) -> str: ...

    @property
    def ops(self) -> Operations: ...

    def run(self, items: Any, axis: int, sigma: float, order: int, mode: str, cval: float) -> Any:
        """Filters float32 or float64 pixels along an axis. sigma is in pixels.

        The result of a line depends, bit for bit, only on the line and on whether axes follow its own. Axes before it
        are therefore batch axes.
        """

    def smooth_valid(self, items: Any, valid: Any, keeps_nan: bool, passes: Sequence[Pass], cval: float) -> Any:
        """Computes the quotient G(m x) / G(m) of each item in a single asynchronous call. Returns None if these items
        have no such call. The result is bit-identical to that of run() and the package's operations.

        `valid` is None if all pixels are valid. With `keeps_nan` pixels that are NaN or infinite do not count, and
        valid ones among them become NaN. The axes of `passes` are the axes of an item.
        """


def can_mask(passes: Sequence[Pass], shape: Sequence[int], cval: float) -> bool:
    """Returns whether passes over an array of that shape can be restricted to valid pixels. Beyond the ends, the masked
    passes continue lines by pixels that are valid and 0, so that the mode constant needs cval 0."""
    return (
        bool(passes)
        and 0 not in shape
        and not any(each.order or each.needs_padding(shape) or (each.mode == "constant" and cval) for each in passes)
    )


class DevicePasses:
    """Passes over contiguous arrays of one shape and type in GPU memory, on the stream of their package. No pass may
    need padding."""

    def __init__(self, passes: Sequence[Pass], shape: Sequence[int], dtype: str, cval: float, approximation: str) -> None:
        self._passes = passes
        self._shape = shape
        self._type = dtype
        self._cval = cval
        self._approximation = approximation
        self._handle = core().make_passes(tuple(shape), dtype == "float64", tuple(passes), cval, approximation)
        self._run = core().run_passes

    def run(self, array: Any, ops: Places, result: Any = None) -> Any:
        """Queues the passes and returns the result, which is `result` or a new array. The host does not wait."""
        result = ops.empty_like(array) if result is None else result
        pointers = ops.pointer(array), ops.pointer(result)
        self._run(self._handle, *pointers, ops.device(array), ops.stream(array), False)
        return result

    def run_keeping_nan(self, array: Any, ops: Places, result: Any = None) -> Any:
        """Runs the passes without the pixels that are NaN or infinite, which become NaN in the result.

        The host queues the passes, then waits until the GPU has looked for such pixels. Returns None if there are some
        and the masked passes cannot be run, for example because they compute a derivative."""
        result = ops.empty_like(array) if result is None else result
        pointers = ops.pointer(array), ops.pointer(result)
        if self._run(self._handle, *pointers, ops.device(array), ops.stream(array), True):
            if self.of_items is None:
                return None
            self.of_items.mask(array, None, True, result, self.number_of_items, ops)
        return result

    def run_valid(self, items: Any, valid: Any, keeps_nan: bool, ops: Operations) -> Any:
        """Queues the passes over the valid pixels of each item of a contiguous batch. The host does not wait."""
        result = ops.empty_like(items)
        self.mask(items, valid, keeps_nan, result, len(items), ops)
        return result

    def mask(self, array: Any, valid: Any, keeps_nan: bool, result: Any, items: int, ops: Places) -> None:
        core().run_masked_passes(
            self._handle,
            ops.pointer(array),
            0 if valid is None else ops.pointer(valid),
            keeps_nan,
            ops.pointer(result),
            items,
            SMALLEST_WEIGHT[self._approximation],
            ops.device(array),
            ops.stream(array),
        )

    @property
    def number_of_items(self) -> int:
        return math.prod(self._shape[: len(self._shape) - len(self._passes)])

    @functools.cached_property
    def of_items(self) -> DevicePasses | None:
        """The masked passes over one item: the last axes of the array are filtered, the others count items. None if the
        passes cannot be masked, or there are more than MOST_MASKED_ITEMS items."""
        batch = len(self._shape) - len(self._passes)
        lines = [each._replace(axis=each.axis - batch) for each in self._passes]
        if self.number_of_items > MOST_MASKED_ITEMS or not can_mask(lines, self._shape[batch:], self._cval):
            return None
        return DevicePasses(lines, self._shape[batch:], self._type, self._cval, self._approximation)


class Term(NamedTuple):
    """A derivative of the smoothed array, times a factor: sigma in pixels, order and mode for each filtered axis."""

    passes: tuple[tuple[float, int, str], ...]
    factor: float = 1.0


def _for_core(term: Term) -> tuple[float, tuple[tuple[float, int, str], ...]]:
    """Returns a term for `_core`."""
    return term.factor, term.passes


Combination = Literal["components", "sum", "length"]

_MOST_COMBINED_TERMS = 8


@dataclass(frozen=True)
class DeviceLineFilter:
    """Filters lines of arrays in GPU memory by DevicePasses."""

    approximation: str
    ops: Operations

    def run(self, items: Any, axis: int, sigma: float, order: int, mode: str, cval: float) -> Any:
        shape = tuple(items.shape)
        if 0 in shape:
            return items
        ops, dtype = self.ops, self.ops.type_of(items)
        lines = items.reshape((math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])))
        padding = _PADDING if Pass(axis, sigma, order, mode).needs_padding(shape) else 0
        if padding:
            lines = ops.concatenate([lines[:, :1]] * padding + [lines] + [lines[:, -1:]] * padding, axis=1)
        lines = ops.contiguous(lines, dtype)
        passes = DevicePasses([Pass(1, sigma, order, mode)], tuple(lines.shape), dtype, cval, self.approximation)
        result = passes.run(lines, ops)
        if padding:
            result = result[:, padding:-padding]
        return result.reshape(shape)

    def smooth_valid(self, items: Any, valid: Any, keeps_nan: bool, passes: Sequence[Pass], cval: float) -> Any:
        shape = tuple(items.shape)
        if len(items) > MOST_MASKED_ITEMS or not can_mask(passes, shape[1:], cval):
            return None
        made = DevicePasses(passes, shape[1:], self.ops.type_of(items), cval, self.approximation)
        return made.run_valid(items, valid, keeps_nan, self.ops)

    def combine(self, items: Any, terms: Sequence[Term], combination: Combination, cval: float) -> Any:
        """Queues the terms of a contiguous batch and the sum or the length of their results in a single call. Returns
        None if this batch has no such call. The result is bit-identical to that of run() and the package's operations.
        """
        ops, shape = self.ops, tuple(items.shape)
        passes = [Pass(axis, *each) for term in terms for axis, each in enumerate(term.passes, start=1)]
        is_taken = combination != "components" and passes and 0 not in shape and len(terms) <= _MOST_COMBINED_TERMS
        if not is_taken or any(each.needs_padding(shape) for each in passes):
            return None
        result = ops.empty_like(items)
        image = (ops.pointer(items), ops.type_of(items) == "float64", shape, ops.device(items), ops.stream(items))
        core().run_terms(image, ops.pointer(result), tuple(map(_for_core, terms)), combination, cval, self.approximation)
        return result


@dataclass(frozen=True)
class HostLineFilter:
    """Filters lines of NumPy arrays by the library, on the host, or on a GPU with transfers."""

    approximation: str
    backend: str

    @property
    def ops(self) -> Operations:
        return OF_HOST

    def filter(
        self,
        array: npt.NDArray[Any],
        result: npt.NDArray[Any],
        axes: Sequence[int],
        terms: Sequence[Term],
        combination: Combination,
        cval: float,
        *,
        valid: npt.NDArray[Any] | None = None,
        keeps_nan: bool = False,
        can_mask: bool = False,
    ) -> bool:
        """Filters an array along axes, without a copy of its pixels, and stores the combined terms in other memory. The
        other axes count the items of a batch.

        With `keeps_nan` and `can_mask`, or with `valid`, the only term smooths the valid pixels alone. Returns False if
        `keeps_nan` finds pixels that are NaN or infinite and `can_mask` is not set.
        """
        smallest_weight = SMALLEST_WEIGHT[self.approximation] if can_mask else 0.0
        done: bool = core().filter(
            array,
            result,
            valid,
            tuple(axes),
            tuple(map(_for_core, terms)),
            combination,
            cval,
            self.approximation,
            self.backend,
            keeps_nan,
            smallest_weight,
            *settings_of_run(),
        )
        return done

    def can_filter(self, shape: Sequence[int], axes: Sequence[int], terms: Sequence[Term]) -> bool:
        """Returns whether filter() takes these terms: not without an axis to filter, nor for lines that are padded."""
        passes = [Pass(i, *each) for term in terms for i, each in zip(axes, term.passes, strict=True)]
        return bool(passes) and 0 not in shape and not any(each.needs_padding(shape) for each in passes)

    def can_mask(self, shape: Sequence[int], axes: Sequence[int], terms: Sequence[Term]) -> bool:
        """Returns whether filter() can leave pixels out: not with derivatives, nor of many items."""
        items = math.prod(length for i, length in enumerate(shape) if i not in axes)
        is_smoothing = len(terms) == 1 and terms[0].factor == 1.0 and not any(order for _, order, _ in terms[0].passes)
        return is_smoothing and items <= MOST_MASKED_ITEMS

    def run(
        self, items: npt.NDArray[Any], axis: int, sigma: float, order: int, mode: str, cval: float
    ) -> npt.NDArray[Any]:
        if items.size == 0:
            return items
        padding = _PADDING if Pass(axis, sigma, order, mode).needs_padding(items.shape) else 0
        if padding:
            items = np.pad(items, [(padding, padding) if i == axis else (0, 0) for i in range(items.ndim)], mode="edge")
        # The axes behind this one have sigma 0, which does not filter them, instead of counting items.
        passes = ((sigma, order, mode), *((0.0, 0, "nearest"),) * (items.ndim - axis - 1))
        result = empty(items.shape, items.dtype.name)
        self.filter(items, result, range(axis, items.ndim), [Term(passes)], "components", cval)
        return result[(slice(None),) * axis + (slice(padding, -padding),)] if padding else result

    def smooth_valid(self, items: Any, valid: Any, keeps_nan: bool, passes: Sequence[Pass], cval: float) -> None:
        return None


@dataclass(frozen=True)
class HostPasses:
    """The filter of a term for host arrays of one shape and type, as they lie in memory."""

    lines: HostLineFilter
    axes: Sequence[int]
    term: Term
    result_type: str
    cval: float
    can_mask: bool

    def run(self, array: npt.NDArray[Any], ops: Places, keeps_nan: bool = False) -> Any:
        """Returns the result. With `keeps_nan` it is None if there are pixels that are NaN or infinite, and the filter
        cannot leave them out."""
        result = empty(array.shape, self.result_type)
        done = self.lines.filter(
            array, result, self.axes, [self.term], "components", self.cval, keeps_nan=keeps_nan, can_mask=self.can_mask
        )
        return result if done else None

    def run_keeping_nan(self, array: npt.NDArray[Any], ops: Places) -> Any:
        return self.run(array, ops, keeps_nan=array.dtype.kind == "f")
