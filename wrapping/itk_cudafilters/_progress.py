# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


from ._itk import itk
from ._parameters import switch


@contextmanager
def progress_bar(description: str, shown: bool) -> Iterator[Callable[[float], None] | None]:
    """Shows the progress of a run within the block, if `shown` is True. Returns a function that takes the share that is
    done, or None. Needs the package tqdm."""
    if not switch(shown, "progress"):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("progress=True needs the package tqdm: pip install tqdm", name="tqdm") from missing

    with tqdm(total=100, unit="%", desc=description, bar_format="{l_bar}{bar}| {elapsed}") as bar:
        yield lambda share: bar.update(int(100 * share) - bar.n)
        # ITK sums the progress of threads and steps in float, so that the last value may be just below 1.
        bar.update(bar.total - bar.n)


@contextmanager
def progress_of(process: Any, description: str, shown: bool) -> Iterator[None]:
    """Shows the progress of an ITK filter that runs within the block, as progress_bar() does."""
    with progress_bar(description, shown) as update:
        if update is None:
            yield
            return
        observer = process.AddObserver(itk.ProgressEvent(), lambda: update(process.GetProgress()))
        try:
            yield
        finally:
            # Break the reference cycle of filter and observer.
            process.RemoveObserver(observer)
