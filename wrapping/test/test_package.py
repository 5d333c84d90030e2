# SPDX-License-Identifier: Apache-2.0
"""The installed package: what it loads and when, info(), the process-wide configuration, its environment variables."""
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import itk
import numpy as np
import pytest
from interpreter import run_python

import itk_cudafilters

CONFIGURATION = itk.CudaFiltersConfiguration
MODULE = "itk._CudaFiltersPython"


def test_nothing_is_loaded_before_it_is_used():
    assert run_python(f"import sys, itk; print({MODULE!r} in sys.modules)") == "False\n"
    assert run_python(f"import sys, itk; itk.CudaFiltersConfiguration; print({MODULE!r} in sys.modules)") == "True\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_host_backend_loads_no_library_of_cuda_and_no_tbb_of_the_system():
    libraries = run_python(
        # ITK loads torch where it is installed, which loads CUDA.
        "import sys, types\n"
        "sys.modules['torch'] = types.SimpleNamespace(Tensor=type('Tensor', (), {}))\n"
        "import itk, numpy\n"
        "itk.cuda_smoothing_recursive_gaussian_image_filter(numpy.ones((8, 8), 'f'), sigma=2.0)\n"
        "print(*sorted({line.split()[-1] for line in open('/proc/self/maps') if '/' in line}), sep='\\n')",
        ITK_CUDAFILTERS_BACKEND="host",
    ).split()
    assert any("_CudaFiltersPython" in library for library in libraries)
    assert not [library for library in libraries if "libcuda" in library or "libnvidia" in library]
    packages = str(pathlib.Path(itk.__file__).parent.parent)
    assert all(library.startswith(packages) for library in libraries if "libtbb" in library)


def test_info():
    found = itk_cudafilters.info()
    assert found.version == itk_cudafilters.__version__ == importlib.metadata.version("itk-cudafilters")
    assert found.itk_version == itk.Version.GetITKVersion()
    assert found.status == CONFIGURATION.GetStatus()
    assert found.built_with_cuda == CONFIGURATION.GetBuiltWithCuda()
    assert (found.required_driver_version is not None) == found.built_with_cuda
    assert found.gpu_usable == (found.reason == "")
    assert len(found.devices) == len(CONFIGURATION.GetDevices())
    for index, device in enumerate(found.devices):
        assert device.index == index
        assert device.name and device.compute_capability >= (5, 0)
        assert device.total_memory >= device.free_memory >= 0
        assert device.usable == (device.reason == "")
    if found.gpu_usable:
        assert found.devices[found.device_index].usable
        assert found.driver_version >= found.required_driver_version


def test_info_as_a_program(backend):
    done = subprocess.run(
        [sys.executable, "-m", "itk_cudafilters"],
        env={**os.environ, "ITK_CUDAFILTERS_BACKEND": "host"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"itk-cudafilters {itk_cudafilters.__version__}, itk {itk.Version.GetITKVersion()}\n")
    assert "run on the host: backend Host is set" in done.stdout


def test_licences_of_what_is_inside():
    """A wheel with the wrapped classes holds ITK with its libraries and oneTBB, and the CUDA runtime if it has GPU code."""
    distribution = importlib.metadata.distribution("itk-cudafilters")
    named = distribution.metadata.get_all("License-File")
    texts = {name: (distribution.read_text(f"licenses/{name}") or "") for name in named}
    assert {"LICENSE", "ITK.txt", "Eigen.txt", "VXL.txt", "tiff.txt", "png.txt", "zlib-ng.txt"} <= texts.keys()
    assert ("CUDA.txt" in texts) == ("CCCL.txt" in texts) == itk_cudafilters.info().built_with_cuda
    assert ("oneTBB.txt" in texts) == any("libtbb" in file.name for file in distribution.files)
    assert all(len(text) > 100 for text in texts.values())
    for name in ("MPL-2.0", "libtiff", "Zlib", "BSD-3-Clause"):
        assert name in distribution.metadata["License-Expression"].split(" AND ")


@pytest.mark.parametrize(
    "parameter, values",
    [
        ("Backend", (itk.CudaFiltersEnums.Backend_Host, itk.CudaFiltersEnums.Backend_Cuda)),
        ("DeviceIndex", (1, 0)),
        ("DeviceMemoryLimit", (1 << 33, 0)),
        ("KeepOnDevice", (True, False)),
        ("HostCacheLimit", (1 << 33, 1 << 20)),
        ("NumberOfTransferThreads", (1, 3)),
        ("Streaming", (itk.CudaFiltersEnums.Streaming_On, itk.CudaFiltersEnums.Streaming_Automatic)),
    ],
)
def test_setter_and_getter_of_the_configuration(parameter, values):
    get, set_ = (getattr(CONFIGURATION, f"{verb}{parameter}") for verb in ("Get", "Set"))
    before = get()
    try:
        for value in values:
            set_(value)
            assert get() == value
    finally:
        set_(before)


def test_devices_of_the_configuration():
    before = CONFIGURATION.GetDeviceIndex()
    try:
        CONFIGURATION.SetDevices([1, 0])
        assert CONFIGURATION.GetDeviceIndices() == (1, 0) and CONFIGURATION.GetDeviceIndex() == 1
        CONFIGURATION.SetDevices([])
        assert CONFIGURATION.GetDeviceIndices() == (CONFIGURATION.GetDeviceIndex(),)
        with pytest.raises(RuntimeError, match="Devices contain -1; they must be indices of devices"):
            CONFIGURATION.SetDevices([0, -1])
    finally:
        CONFIGURATION.SetDeviceIndex(before)


def test_every_method_of_the_configuration_is_in_these_tests():
    parameters = ("Backend", "DeviceIndex", "DeviceMemoryLimit", "HostCacheLimit", "KeepOnDevice", "NumberOfTransferThreads", "Streaming")
    getters = ("BuiltWithCuda", "DriverVersion", "RequiredDriverVersion", "Devices", "Status")
    memory = ("GetDeviceBytesInUse", "GetPinnedBytesInUse", "ReleaseMemory")
    expected = {f"{verb}{name}" for name in parameters for verb in ("Get", "Set")} | {f"Get{name}" for name in getters}
    methods = {name for name in dir(CONFIGURATION) if name[0].isupper()}
    assert methods == expected | {*memory, "IsDeviceUsable", "SetDevices", "GetDeviceIndices"}


def test_memory_in_use():
    smoother = itk.CudaSmoothingRecursiveGaussianImageFilter.New(itk.image_from_array(np.ones((64, 64), "f")))
    smoother.Update()
    del smoother
    CONFIGURATION.ReleaseMemory()
    assert CONFIGURATION.GetDeviceBytesInUse() == 0
    assert CONFIGURATION.GetPinnedBytesInUse() == 0


def test_whether_a_device_can_be_used():
    usable, reason = CONFIGURATION.IsDeviceUsable(99, "")
    assert not usable and reason
    usable, reason = CONFIGURATION.IsDeviceUsable(-1, "")
    assert usable == (reason == "")


def test_environment_variables():
    code = "import itk_cudafilters; found = itk_cudafilters.info(); print(found.backend, found.device_index)"
    assert run_python(code, ITK_CUDAFILTERS_BACKEND="host", ITK_CUDAFILTERS_DEVICE="3") == "host 3\n"


def test_wrong_environment_variable():
    code = (
        "import itk_cudafilters\n"
        "try:\n"
        "    itk_cudafilters.info()\n"
        "except RuntimeError as failure:\n"
        "    print(failure)"
    )
    text = run_python(code, ITK_CUDAFILTERS_BACKEND="gpu")
    assert "ITK_CUDAFILTERS_BACKEND" in text and '"gpu"' in text and "automatic" in text
