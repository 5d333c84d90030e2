# SPDX-License-Identifier: Apache-2.0
"""Derivatives of smoothed arrays, computed from all pixels or from the valid pixels of a mask."""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ._line_passes import SMALLEST_WEIGHT, LineFilter, Pass
from ._operations import Operations


@dataclass(frozen=True)
class Axis:
    """The parameters of the filter along one axis. sigma is in pixels."""

    sigma: float
    spacing: float
    mode: str


class Derivatives(Protocol):
    """Returns the derivative of the smoothed items with these orders along the axes, per unit of their spacings."""

    def __call__(self, orders: Sequence[int], modes: Sequence[str] | None = None) -> Any: ...


class DerivativesOfAll:
    """Derivatives of items without a mask. Derivatives with the same leading orders share the passes along the first
    axes."""

    def __init__(self, items: Any, axes: Sequence[Axis], cval: float, filter_lines: LineFilter) -> None:
        self._axes = axes
        self._cval = cval
        self._filter_lines = filter_lines
        self._found: dict[tuple[tuple[int, str], ...], Any] = {(): items}

    def __call__(self, orders: Sequence[int], modes: Sequence[str] | None = None) -> Any:
        steps = tuple(zip(orders, modes or [axis.mode for axis in self._axes], strict=True))
        derivative = self._filter(steps)
        scale = math.prod(axis.spacing**-order for axis, order in zip(self._axes, orders, strict=True))
        return derivative if scale == 1.0 else derivative * scale

    def _filter(self, steps: tuple[tuple[int, str], ...]) -> Any:
        """Returns the items filtered along the first len(steps) axes with these orders and modes."""
        if steps not in self._found:
            source = self._filter(steps[:-1])
            (order, mode), axis = steps[-1], self._axes[len(steps) - 1]
            self._found[steps] = self._filter_lines.run(source, len(steps), axis.sigma, order, mode, self._cval)
        return self._found[steps]


class DerivativesOfValid:
    """Derivatives of the quotient N / D = G(m x) / G(m) for a mask m of valid pixels.

    With subscripts for derivatives: (N/D)_i = (N_i - Q D_i) / D and (N/D)_ij = (N_ij - Q_i D_j - Q_j D_i - Q D_ij) / D,
    where Q = N / D. Where D is below SMALLEST_WEIGHT the result is NaN. A reference value is subtracted from each item
    first, so that a large offset of the pixels costs no accuracy: the first valid, finite pixel of the item or, in the
    mode constant, `cval`.
    """

    def __init__(
        self,
        items: Any,
        valid: Any,
        axes: Sequence[Axis],
        cval: float,
        filter_lines: LineFilter,
    ) -> None:
        ops = self._ops = filter_lines.ops
        if any(axis.mode == "constant" for axis in axes):
            self._offset: Any = cval
        else:
            self._offset = _first_of_each(items, valid & ops.isfinite(items), ops)
        # Select the valid pixels instead of multiplying with the mask, because NaN times 0 is NaN.
        values = ops.where(valid, items - self._offset, 0.0)
        self._values = DerivativesOfAll(values, axes, 0.0, filter_lines)
        self._weights = DerivativesOfAll(ops.contiguous(valid, ops.type_of(items)), axes, 1.0, filter_lines)
        self._smallest_weight = SMALLEST_WEIGHT[filter_lines.approximation]

    def __call__(self, orders: Sequence[int], modes: Sequence[str] | None = None) -> Any:
        zero = (0,) * len(orders)
        weight = self._weights(zero, modes)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            result = self._quotient(tuple(orders), zero, modes)
        if tuple(orders) == zero:
            result = result + self._offset
        return self._ops.where(weight >= self._smallest_weight, result, math.nan)

    def _quotient(self, orders: tuple[int, ...], zero: tuple[int, ...], modes: Sequence[str] | None) -> Any:
        weight = self._weights(zero, modes)
        result = self._values(orders, modes)
        axes = [axis for axis, order in enumerate(orders) for _ in range(order)]
        if len(axes) > 2:
            raise ValueError(f"order is {orders}; with a mask or NaN the orders may add up to 2")
        if axes:
            result = result - self._quotient(zero, zero, modes) * self._weights(orders, modes)
        if len(axes) == 2:
            first, second = (tuple(int(i == axis) for i in range(len(orders))) for axis in axes)
            result = result - self._quotient(first, zero, modes) * self._weights(second, modes)
            result = result - self._quotient(second, zero, modes) * self._weights(first, modes)
        return result / weight


@dataclass(frozen=True)
class Masked:
    """A batch of items, and the pixels of them that count."""

    items: Any
    valid: Any
    """None: all pixels count."""
    keeps_nan: bool
    """Pixels that are NaN or infinite do not count, and are NaN in the result."""

    def counted(self, ops: Operations) -> Any:
        if not self.keeps_nan:
            return self.valid
        numbers = ops.isfinite(self.items)
        return numbers if self.valid is None else self.valid & numbers


class DerivativesOfMasked:
    """Derivatives of items with masks. Items whose pixels all count have the results of DerivativesOfAll, bit for bit,
    and do not depend on the masks of the other items. With Masked.keeps_nan, valid pixels that are NaN or infinite are
    NaN in the result."""

    def __init__(self, masked: Masked, axes: Sequence[Axis], cval: float, filter_lines: LineFilter) -> None:
        self._masked = masked
        self._axes = axes
        self._cval = cval
        self._filter_lines = filter_lines

    def __call__(self, orders: Sequence[int], modes: Sequence[str] | None = None) -> Any:
        passes = [
            Pass(i, axis.sigma, orders[i], modes[i] if modes else axis.mode) for i, axis in enumerate(self._axes)
        ]
        masked = self._masked
        smooth = self._filter_lines.smooth_valid(masked.items, masked.valid, masked.keeps_nan, passes, self._cval)
        if smooth is not None:
            return smooth
        result = self._by_operations(orders, modes)
        return result if self._nan is None else self._filter_lines.ops.where(self._nan, math.nan, result)

    @functools.cached_property
    def _nan(self) -> Any:
        """The pixels that are NaN in the result, regardless of their neighbours. None unless Masked.keeps_nan is
        set."""
        masked, ops = self._masked, self._filter_lines.ops
        if not masked.keeps_nan:
            return None
        nan = ~ops.isfinite(masked.items)
        return nan if masked.valid is None else masked.valid & nan

    @functools.cached_property
    def _by_operations(self) -> Derivatives:
        ops = self._filter_lines.ops
        items, valid = self._masked.items, self._masked.counted(ops)
        complete = valid.reshape((len(valid), math.prod(valid.shape[1:]))).all(1)
        if bool(complete.all()):
            return DerivativesOfAll(items, self._axes, self._cval, self._filter_lines)
        if not bool(complete.any()):
            return DerivativesOfValid(items, valid, self._axes, self._cval, self._filter_lines)
        return _DerivativesOfItems(items, valid, complete, self._axes, self._cval, self._filter_lines)


class _DerivativesOfItems:
    """Derivatives of a batch in which the pixels of some items all count, and those of the others do not."""

    def __init__(
        self,
        items: Any,
        valid: Any,
        complete: Any,
        axes: Sequence[Axis],
        cval: float,
        filter_lines: LineFilter,
    ) -> None:
        self._items = items
        self._ops = filter_lines.ops
        self._complete = complete
        self._of_all = DerivativesOfAll(items[self._complete], axes, cval, filter_lines)
        self._of_valid = DerivativesOfValid(items[~self._complete], valid[~self._complete], axes, cval, filter_lines)

    def __call__(self, orders: Sequence[int], modes: Sequence[str] | None = None) -> Any:
        result = self._ops.empty_like(self._items)
        result[self._complete] = self._of_all(orders, modes)
        result[~self._complete] = self._of_valid(orders, modes)
        return result


def _first_of_each(items: Any, eligible: Any, ops: Operations) -> Any:
    """Returns the first eligible pixel of each item, or 0 if the item has no eligible pixel."""
    shape = tuple(items.shape)
    if 0 in shape:
        return 0.0
    pixels, flags = (array.reshape((shape[0], math.prod(shape[1:]))) for array in (items, eligible))
    first = ops.first_true(flags)
    rows = list(range(shape[0]))
    found = ops.where(flags[rows, first], pixels[rows, first], 0.0)
    return found.reshape((shape[0],) + (1,) * (len(shape) - 1))
