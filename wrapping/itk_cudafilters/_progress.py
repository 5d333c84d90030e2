# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


from ._itk import itk
from ._parameters import switch


@contextmanager
def progress_bar(process: Any, description: str, shown: bool) -> Iterator[None]:
    """Shows the progress of an ITK filter that runs within the block, if `shown` is True. Needs the package tqdm."""
    if not switch(shown, "progress"):
        yield
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("progress=True needs the package tqdm: pip install tqdm", name="tqdm") from missing

    with tqdm(total=100, unit="%", desc=description, bar_format="{l_bar}{bar}| {elapsed}") as bar:
        observer = process.AddObserver(itk.ProgressEvent(), lambda: bar.update(int(100 * process.GetProgress()) - bar.n))
        try:
            yield
            # ITK sums the progress of threads and steps in float, so that the last value may be just below 1.
            bar.update(bar.total - bar.n)
        finally:
            # Break the reference cycle of filter and observer.
            process.RemoveObserver(observer)
