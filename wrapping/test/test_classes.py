# SPDX-License-Identifier: Apache-2.0
"""The wrapped classes: which there are, their superclasses, and every setter and getter."""
import inspect

import itk
import pytest
from images import DIMENSIONS, DTYPES, image_type, random_image

FILTERS = {
    "CudaRecursiveGaussianImageFilter": "RecursiveGaussianImageFilter",
    "CudaSmoothingRecursiveGaussianImageFilter": "SmoothingRecursiveGaussianImageFilter",
}
OTHERS = {"CudaFiltersConfiguration", "CudaFiltersEnums"}
BACKEND = itk.CudaFiltersEnums
ORDER = itk.RecursiveGaussianImageFilterEnums

# Name and some values that differ from the default.
COMMON_PARAMETERS = {
    "Backend": (BACKEND.Backend_Host, BACKEND.Backend_Cuda, BACKEND.Backend_Automatic),
    "DeviceIndex": (0, 1, -1),
    "NormalizeAcrossScale": (True, False),
    "Sigma": (2.5, 0.25),
}
PARAMETERS = {
    "CudaRecursiveGaussianImageFilter": {
        **COMMON_PARAMETERS,
        "Direction": (1, 0),
        "Order": (ORDER.GaussianOrder_FirstOrder, ORDER.GaussianOrder_SecondOrder, ORDER.GaussianOrder_ZeroOrder),
    },
    "CudaSmoothingRecursiveGaussianImageFilter": {**COMMON_PARAMETERS, "SigmaArray": ([1.5, 2.5], [4.0, 0.5])},
}
ORDER_SETTERS = {
    "SetZeroOrder": ORDER.GaussianOrder_ZeroOrder,
    "SetFirstOrder": ORDER.GaussianOrder_FirstOrder,
    "SetSecondOrder": ORDER.GaussianOrder_SecondOrder,
}
# Set by the methods above or by the pipeline, and tested there.
OTHER_SETTERS = {
    "CudaRecursiveGaussianImageFilter": {*ORDER_SETTERS, "SetInputImage"},
    "CudaSmoothingRecursiveGaussianImageFilter": set(),
}
OTHER_GETTERS = {
    "CudaRecursiveGaussianImageFilter": {"GetBackendUsed", "GetBackendReason", "GetInputImage"},
    "CudaSmoothingRecursiveGaussianImageFilter": {"GetBackendUsed", "GetBackendReason"},
}


def instantiate(name, pixel_type=itk.F, dimension=2):
    image = image_type(pixel_type, dimension)
    return getattr(itk, name)[image, image].New()


def own_methods(name, prefix):
    """Methods that ITK's ImageToImageFilter or InPlaceImageFilter does not have."""
    image = image_type(itk.F, 2)
    inherited = set(dir(itk.ImageToImageFilter[image, image])) | set(dir(itk.InPlaceImageFilter[image, image]))
    return {method for method in dir(instantiate(name)) if method.startswith(prefix)} - inherited


def same(value, expected):
    return list(value) == expected if isinstance(expected, list) else value == expected


def test_every_class_is_in_these_tests():
    names = {name for name in dir(itk) if name.startswith("Cuda") and name != "CudaFilters"}  # the module itself
    assert names == set(FILTERS) | OTHERS


@pytest.mark.parametrize("name", FILTERS)
def test_keys_are_those_of_the_superclass(name):
    keys = set(getattr(itk, name).keys())
    assert keys == set(getattr(itk, FILTERS[name]).keys())
    assert keys == {(image_type(t, d), image_type(t, d)) for t in DTYPES for d in DIMENSIONS}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("pixel_type", DTYPES, ids=str)
def test_is_an_instance_of_the_superclass_of_the_itk_wheel(name, pixel_type, dimension):
    image = image_type(pixel_type, dimension)
    instance = instantiate(name, pixel_type, dimension)
    assert isinstance(instance, getattr(itk, FILTERS[name])[image, image])
    assert isinstance(instance, itk.ImageToImageFilter[image, image])
    assert instance.GetNameOfClass() == name


@pytest.mark.parametrize("name", FILTERS)
def test_every_setter_has_a_value_here(name):
    expected = {f"Set{parameter}" for parameter in PARAMETERS[name]} | OTHER_SETTERS[name]
    assert own_methods(name, "Set") == expected


@pytest.mark.parametrize("name", FILTERS)
def test_every_getter_has_a_value_here(name):
    assert own_methods(name, "Get") == {f"Get{parameter}" for parameter in PARAMETERS[name]} | OTHER_GETTERS[name]


@pytest.mark.parametrize("name, parameter", [(name, parameter) for name in FILTERS for parameter in PARAMETERS[name]])
def test_setter_and_getter(name, parameter):
    instance = instantiate(name)
    for value in PARAMETERS[name][parameter]:
        before = instance.GetMTime()
        getattr(instance, f"Set{parameter}")(value)
        assert same(getattr(instance, f"Get{parameter}")(), value)
        assert instance.GetMTime() > before, f"Set{parameter}({value}) did not call Modified()"
        if parameter in ("Backend", "DeviceIndex"):  # the others are the superclass's
            after = instance.GetMTime()
            getattr(instance, f"Set{parameter}")(value)
            assert instance.GetMTime() == after, f"Set{parameter}({value}) called Modified() for the value it had"


@pytest.mark.parametrize("name", FILTERS)
def test_parameters_of_the_constructor(name):
    instance = getattr(itk, name).New(random_image(itk.F, 2), Sigma=2.5, Backend="Host", DeviceIndex=3)
    assert instance.GetSigma() == 2.5
    assert instance.GetBackend() == BACKEND.Backend_Host
    assert instance.GetDeviceIndex() == 3


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("text", ["automatic", "Cuda", "HOST"])
def test_backend_by_name(name, text):
    instance = instantiate(name)
    instance.SetBackend(text)
    assert instance.GetBackend() == getattr(BACKEND, f"Backend_{text.capitalize()}")


@pytest.mark.parametrize("setter", ORDER_SETTERS)
def test_orders_by_method(setter):
    instance = instantiate("CudaRecursiveGaussianImageFilter")
    getattr(instance, setter)()
    assert instance.GetOrder() == ORDER_SETTERS[setter]


@pytest.mark.parametrize("name", FILTERS)
def test_backend_used_is_known_after_update(name, on_gpu):
    instance = getattr(itk, name).New(random_image(itk.F, 2))
    assert instance.GetBackendUsed() == BACKEND.Backend_Automatic
    assert instance.GetBackendReason() == "not run yet"
    instance.Update()
    assert instance.GetBackendUsed() == (BACKEND.Backend_Cuda if on_gpu else BACKEND.Backend_Host)
    assert instance.GetBackendReason() not in ("", "not run yet")


@pytest.mark.parametrize("name", FILTERS)
def test_parameters_are_printed(name):
    text = str(instantiate(name))
    for parameter in ("Backend", "DeviceIndex", "BackendUsed", "BackendReason"):
        assert f"{parameter}: " in text


@pytest.mark.parametrize("name", FILTERS)
def test_documentation(name):
    instance = instantiate(name)
    assert "NVIDIA GPU" in inspect.getdoc(instance)
    assert "GetBackendReason" in inspect.getdoc(instance) or "CudaRecursiveGaussianImageFilter" in inspect.getdoc(instance)
