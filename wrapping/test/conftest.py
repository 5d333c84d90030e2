# SPDX-License-Identifier: Apache-2.0
"""Tests of the installed package: pytest wrapping/test [--backend cuda]. Without the package itk, or in an installation
without the wrapped classes, everything is skipped that asks for something of itk: tests, and files whose first lines do."""
import importlib.util
import os
import sys
import types

import pytest

from itk_cudafilters import _library


class Missing(types.ModuleType):
    """Stands for the package itk."""

    __file__ = "the package itk is missing"

    def __getattr__(self, name):
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        skip()


def skip():
    pytest.skip("needs the package itk", allow_module_level=True)


def has_classes():
    """Whether the wrapped classes and the package itk are installed. Without the latter, the folder with the classes is
    a package without a file."""
    found = importlib.util.find_spec("itk")
    return found is not None and found.origin is not None and _library.has_wrapped_classes()


HAS_CLASSES = has_classes()
if not HAS_CLASSES:
    sys.modules["itk"] = Missing("itk")
    _library.require_wrapped_classes = skip

import itk  # noqa: E402
from gpu_arrays import Array, ArrayOperations  # noqa: E402

import itk_cudafilters  # noqa: E402
from itk_cudafilters import _operations  # noqa: E402


def register_profiles():
    """Registers the profiles of hypothesis, of which --hypothesis-profile may name another one than the first. Files of examples are not kept."""
    try:
        from hypothesis import HealthCheck, settings
    except ImportError:
        return
    common = dict(deadline=None, suppress_health_check=list(HealthCheck), database=None)
    settings.register_profile("few", max_examples=60, derandomize=True, **common)
    settings.register_profile("long", max_examples=100_000, **common)
    settings.load_profile("few")


register_profiles()


def pytest_addoption(parser):
    parser.addoption(
        "--backend",
        choices=("automatic", "cuda", "host"),
        default="automatic",
        help="where the filters run; cuda fails without a GPU (default: automatic)",
    )


def pytest_configure(config):
    if not HAS_CLASSES:
        os.environ["ITK_CUDAFILTERS_BACKEND"] = config.getoption("--backend")


def pytest_report_header(config):
    return [f"backend: {config.getoption('--backend')}", *str(itk_cudafilters.info()).splitlines()]


@pytest.fixture(scope="session", autouse=True)
def backend(request):
    name = request.config.getoption("--backend")
    if HAS_CLASSES:
        itk.CudaFiltersConfiguration.SetBackend(name)
    return name


@pytest.fixture
def host_allowed(backend):
    """What the GPU cannot do runs on the host, even if the other tests demand the GPU."""
    if not HAS_CLASSES:
        yield
        return
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
