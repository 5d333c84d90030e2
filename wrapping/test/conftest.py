# SPDX-License-Identifier: Apache-2.0
"""Tests of the installed package beside the itk wheel: pytest wrapping/test [--backend cuda]."""
import itk
import pytest
from gpu_arrays import Array, ArrayOperations

import itk_cudafilters
from itk_cudafilters import _library, _operations


def pytest_addoption(parser):
    parser.addoption(
        "--backend",
        choices=("automatic", "cuda", "host"),
        default="automatic",
        help="where the filters run; cuda fails without a GPU (default: automatic)",
    )


def pytest_report_header(config):
    return [f"backend: {config.getoption('--backend')}", *str(itk_cudafilters.info()).splitlines()]


@pytest.fixture(scope="session", autouse=True)
def backend(request):
    name = request.config.getoption("--backend")
    itk.CudaFiltersConfiguration.SetBackend(name)
    return name


@pytest.fixture
def host_allowed(backend):
    """What the GPU cannot do runs on the host, even if the other tests demand the GPU."""
    itk.CudaFiltersConfiguration.SetBackend("automatic" if backend == "cuda" else backend)
    yield
    itk.CudaFiltersConfiguration.SetBackend(backend)


@pytest.fixture(scope="session")
def on_gpu(backend):
    """Whether the filters of this run use the GPU."""
    return backend != "host" and itk_cudafilters.info().gpu_usable


@pytest.fixture
def operations():
    """Lets arrays of the class Array count as arrays on a GPU."""
    _library.core().use_host_as_device(True)
    _operations.OF_CLASSES[Array] = ArrayOperations()
    yield _operations.OF_CLASSES[Array]
    del _operations.OF_CLASSES[Array]
    _library.core().use_host_as_device(False)


@pytest.fixture
def gpu(on_gpu):
    if not on_gpu:
        pytest.skip("needs a GPU")
