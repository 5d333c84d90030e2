# SPDX-License-Identifier: Apache-2.0
"""Tests of the installed package beside the itk wheel: pytest wrapping/test [--backend cuda]."""
import itk
import pytest

import itk_cudafilters


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
