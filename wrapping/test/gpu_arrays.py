# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a GPU for tests. Where there is no GPU, NumPy arrays of a class of their own stand for them, and the
work is done on the host."""
import threading

import numpy as np
import pytest
from exporters import Imported

from itk_cudafilters._operations import NumpyOperations


class Array(np.ndarray):
    """Says that it lies on a GPU; not even NumPy gets its pixels unasked."""

    def __dlpack_device__(self):
        return (2, 0)


class ArrayOperations(NumpyOperations):
    is_on_gpu = True

    def __init__(self):
        super().__init__()
        self.streams = 0

    def contiguous(self, array, dtype):
        return on_gpu(super().contiguous(array, dtype))

    def where(self, condition, a, b):
        return on_gpu(super().where(condition, a, b))

    def truncate(self, values, dtype):
        return on_gpu(super().truncate(values, dtype))

    def stack_last(self, arrays):
        return on_gpu(super().stack_last(arrays))

    def empty(self, shape, array):
        return on_gpu(super().empty(shape, array))

    def stream(self, array):
        self.streams += 1
        return 4711


def on_gpu(array):
    return np.asarray(array).view(Array)


def require_same(found, expected):
    assert type(found) is Array and found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)


def run_in_threads(function, seeds):
    """Calls function(seed) in a thread for each seed, and raises the first of what they raise."""
    failures = []

    def run(seed):
        try:
            function(seed)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=run, args=(seed,)) for seed in seeds]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


def pixels_of(image):
    """Those of a device image in the memory of the host."""
    imported = Imported(image.__dlpack__(max_version=(1, 3)))
    try:
        return imported.pixels()
    finally:
        imported.release()


def make_libraries():
    def cupy_pair(array):
        cupy = pytest.importorskip("cupy")
        return cupy.asarray(array), cupy.asnumpy

    def torch_pair(array):
        torch = pytest.importorskip("torch")
        return torch.from_numpy(np.ascontiguousarray(array)).cuda(), lambda found: found.cpu().numpy()

    return {"cupy": cupy_pair, "torch": torch_pair}


LIBRARIES = pytest.mark.parametrize("library", make_libraries().values(), ids=make_libraries())


def stream_of(library):
    """A stream of the package beside the default one."""
    if library.__name__ == "torch_pair":
        torch = pytest.importorskip("torch")
        return torch.cuda.stream(torch.cuda.Stream())
    return pytest.importorskip("cupy").cuda.Stream(non_blocking=True)
