# SPDX-License-Identifier: Apache-2.0
"""The wrapped classes: which there are, their superclasses, and every setter and getter."""
import importlib
import inspect
import itertools
import math
import re

import itk
import numpy as np
import pytest
from filters import (
    ALL_FILTERS,
    ALL_INPUTS,
    DISCRETE,
    FILTERS,
    GRADIENT,
    HESSIAN,
    LAPLACIAN,
    MAGNITUDE,
    OF_ITK,
    PARTITION,
    PARTITIONED,
    RECURSIVE,
    REGION_FILTERS,
    SMOOTHING,
    SNAKE,
    some_image,
)
from images import DIMENSIONS, DTYPES, image_type

OTHERS = {
    "CudaDeviceImage",
    "CudaDownloadImageFilter",
    "CudaFiltersConfiguration",
    "CudaFiltersEnums",
    "CudaGaussianImageFilterFactory",
    "CudaPixelMappingImageFilter",
    "CudaRegionPartition",
    "CudaUploadImageFilter",
    # test_vesselness.py has the tests of its results.
    "CudaVesselnessEnums",
    "CudaVesselnessImageFilter",
}
ENUMS = itk.CudaFiltersEnums
camel_to_snake_case = itk.support.helpers.camel_to_snake_case
ORDER = itk.RecursiveGaussianImageFilterEnums
LAWS = tuple(law["name"] for law in SNAKE.new().GetNoiseLaws())
IMAGE = image_type(itk.F, 2)


def path():
    result = itk.PolyLineParametricPath[2].New()
    for vertex in ([5.0, 5.0], [20.0, 5.0], [20.0, 20.0]):
        result.AddVertex(vertex)
    return result


def mask():
    return itk.image_from_array(np.ones((37, 53), np.uint8))


def labels():
    return itk.image_from_array(np.ones((37, 53), np.uint32))


# Name and some values that differ from the default and from each other.
COMMON = {
    "Backend": (ENUMS.Backend_Host, ENUMS.Backend_Cuda, ENUMS.Backend_Automatic),
    "DeviceIndex": (0, 1, -1),
    "DeviceMemoryLimit": (1 << 33, 0),
}
# Of the filters that are cut into slabs.
STREAMING = {
    "Devices": ((0, 1), (0, 0), ()),
    "Streaming": (ENUMS.Streaming_On, ENUMS.Streaming_Off, ENUMS.Streaming_Automatic),
}
SIGMA_ARRAY = {"SigmaArray": ([1.5, 2.5], [4.0, 0.5])}
DERIVATIVES = {
    "NormalizeAcrossScale": (True, False),
    "Sigma": (2.5, 0.25),
    "Approximation": (ENUMS.Approximation_Accurate, ENUMS.Approximation_Deriche),
    "BoundaryMode": (ENUMS.BoundaryMode_Wrap, ENUMS.BoundaryMode_Constant, ENUMS.BoundaryMode_Nearest),
    "BoundaryValue": (2.5, -1.0),
    **STREAMING,
}
# Of filters that have other parameters than DERIVATIVES.
OTHER_PARAMETERS = {
    RECURSIVE: {
        **DERIVATIVES,
        "Direction": (1, 0),
        "Order": (ORDER.GaussianOrder_FirstOrder, ORDER.GaussianOrder_SecondOrder, ORDER.GaussianOrder_ZeroOrder),
    },
    SMOOTHING: {**DERIVATIVES, **SIGMA_ARRAY, "ValidMask": (mask(), mask()), "FillValue": (7.0, -1.0)},
    GRADIENT: {**DERIVATIVES, **SIGMA_ARRAY, "UseImageDirection": (False, True)},
    DISCRETE: {
        **STREAMING,
        "Variance": ([1.5, 2.5], [4.0, 0.5]),
        "Sigma": (2.0, 0.5),
        "SigmaArray": ([1.5, 2.5], [4.0, 0.5]),
        "MaximumError": ([0.05, 0.02], [0.1, 0.2]),
        "MaximumKernelWidth": (12, 64),
        "FilterDimensionality": (1, 2),
        "UseImageSpacing": (False, True),
        "InputBoundaryCondition": (itk.ZeroFluxNeumannBoundaryCondition[IMAGE](), itk.ConstantBoundaryCondition[IMAGE]()),
        "RealBoundaryCondition": (itk.ZeroFluxNeumannBoundaryCondition[IMAGE](), itk.ConstantBoundaryCondition[IMAGE]()),
    },
    PARTITIONED: {
        "Sigma": (2.5, 0.75),
        "FilterWindow": (9.0, 5.0),
        "WindowToSigmaRatio": (3.0, 1.5),
        "Partition": (ENUMS.Partition_OneWay, ENUMS.Partition_TwoWay, ENUMS.Partition_Exact),
        "LineBorders": (ENUMS.LineBorders_AsPublished, ENUMS.LineBorders_Exact),
        "IntermediateStorage": (ENUMS.IntermediateStorage_Global, ENUMS.IntermediateStorage_Local),
        "NumberOfBlocks": (4, 2),
        "AutomaticNumberOfBlocks": (False, True),
        "LinesPerBlock": (8, 64),
    },
    SNAKE: {
        "InitialPath": (path(), path()),
        "InitialMask": (mask(), mask()),
        "ValidMask": (mask(), mask()),
        "InitialRegion": (itk.ImageRegion[2]([1, 2], [3, 4]), itk.ImageRegion[2]([0, 0], [0, 0])),
        "Start": (ENUMS.Start_MarginRectangle, ENUMS.Start_Automatic),
        "NoiseLaw": tuple(getattr(ENUMS, f"NoiseLaw_{name}") for name in (*LAWS[1:], LAWS[0])),
        "NumberOfLooks": (3.5, 1.0),
        "ForegroundThreshold": (17.0, 3.0),
        "Schedule": (ENUMS.Schedule_AsPublished, ENUMS.Schedule_CoarseToFine),
        "MaximumStep": (8, 16),
        "MinimumEdgeLength": (8.0, 16.0),
        "MinimumGain": (0.5, 1e-6),
        "UseDescriptionLength": (False, True),
        "MaximumNumberOfNodes": (100, 4096),
        "MaximumNumberOfIterations": (50, 10000),
        "MinimumRegionSize": (1 << 40, 4),
        "InsideValue": (200, 1),
        "OutsideValue": (7, 0),
        "MakeLabelImage": (False, True),
    },
    PARTITION: {
        "ValidMask": (mask(), mask()),
        "InitialLabels": (labels(), labels()),
        "NoiseLaw": tuple(getattr(ENUMS, f"NoiseLaw_{name}") for name in (*LAWS[1:], LAWS[0])),
        "NumberOfLooks": (3.5, 0.0),
        "ForegroundThreshold": (17.0, 3.0),
        "SegmentCost": (13.0, 9.0),
        "BlockSize": (2, 4),
        "MinimumNumberOfPixels": (1 << 40, 8),
        "MaximumNumberOfIterations": (1, 12),
        "AllowMerging": (False, True),
        "LabelsOnly": (True, False),
    },
}
PARAMETERS = {tested: {**COMMON, **OTHER_PARAMETERS.get(tested, DERIVATIVES)} for tested in FILTERS}
ORDER_SETTERS = {
    "SetZeroOrder": ORDER.GaussianOrder_ZeroOrder,
    "SetFirstOrder": ORDER.GaussianOrder_FirstOrder,
    "SetSecondOrder": ORDER.GaussianOrder_SecondOrder,
}
# Set by the methods above or by the pipeline, and tested there.
OTHER_SETTERS = {
    RECURSIVE: {*ORDER_SETTERS, "SetInputImage"},
    DISCRETE: {"SetUseImageSpacingOn", "SetUseImageSpacingOff"},
}
RESULTS_OF_SNAKE = {
    *("GetContour", "GetContourPoint", "GetNumberOfContourPoints", "GetConverged", "GetStop", "GetResult", "GetRecord"),
    *("GetCriterion", "GetCriterionOfOneRegion", "GetDescriptionLength", "GetSignificantBoundary", "GetNumberOfIterations"),
    *(f"Get{side}{what}" for side in ("Inside", "Outside") for what in ("Statistics", "NumberOfPixels", "Mean", "Variance")),
    *("GetCurrentStep", "GetCurrentPolygon", "GetNoiseLaws"),
}
RESULTS_OF_PARTITION = {
    *("GetPartition", "GetNumberOfRegions", "GetDescription", "GetDescriptionOfOneRegion", "GetNumberOfLooksUsed"),
    *("GetNumberOfIterations", "GetConverged", "GetStop", "GetNoiseLaws"),
    *("GetCurrentIteration", "GetCurrentNumberOfRegions", "GetCurrentDescription"),
}
OTHER_GETTERS = {
    RECURSIVE: {"GetInputImage"},
    DISCRETE: {"GetKernelRadius", "GetKernelSize"},
    PARTITIONED: {"GetUseFilterWindow"},
    SNAKE: RESULTS_OF_SNAKE,
    PARTITION: RESULTS_OF_PARTITION,
}
# Booleans with methods On and Off.
SWITCHES = {
    RECURSIVE: {"NormalizeAcrossScale"},
    SMOOTHING: {"NormalizeAcrossScale"},
    GRADIENT: {"UseImageDirection"},
    MAGNITUDE: {"NormalizeAcrossScale"},
    HESSIAN: {"NormalizeAcrossScale"},
    DISCRETE: {"UseImageSpacing"},
    PARTITIONED: {"AutomaticNumberOfBlocks"},
    SNAKE: {"UseDescriptionLength", "MakeLabelImage"},
    PARTITION: {"AllowMerging", "LabelsOnly"},
}
# Enumerations, and names of their values as the user may write them.
NAMES = {
    "Backend": ("automatic", "Cuda", "HOST"),
    "Approximation": ("deriche", "ACCURATE"),
    "BoundaryMode": ("nearest", "Reflect", "MIRROR", "wrap", "constant"),
    "Partition": ("oneway", "TwoWay", "EXACT"),
    "LineBorders": ("aspublished", "Exact"),
    "IntermediateStorage": ("local", "GLOBAL"),
    "NoiseLaw": tuple(write(name) for name, write in zip(LAWS, itertools.cycle((str, str.lower, str.upper)))),
    "Schedule": ("coarsetofine", "AsPublished"),
    "Start": ("automatic", "MarginRectangle"),
}


def own_methods(tested, accepted):
    """Methods that ITK's ImageToImageFilter or InPlaceImageFilter does not have."""
    inherited = set(dir(itk.ImageToImageFilter[IMAGE, IMAGE])) | set(dir(itk.InPlaceImageFilter[IMAGE, IMAGE]))
    return {method for method in dir(tested.new()) if accepted(method)} - inherited


def same(value, expected):
    if isinstance(expected, list):
        return list(value) == pytest.approx(expected, rel=1e-12)
    if isinstance(expected, float):
        return value == pytest.approx(expected, rel=1e-12)
    # Two wrapped pointers to one object are equal.
    return value == expected or getattr(value, "this", None) == getattr(expected, "this", ())


DEVICE_IMAGES = tuple(itk.CudaDeviceImage[t, d] for t in DTYPES for d in DIMENSIONS)


def test_every_class_is_in_these_tests():
    names = {name for name in dir(itk) if name.startswith("Cuda") and name != "CudaFilters"}  # the module itself
    assert names == {tested.name for tested in FILTERS} | OTHERS


def bare_pointers(value):
    """The pointers of SWIG without methods in what Python gets of a type of this module that it does not know. ITK's own getters
    give some of ITK's types."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in values if type(each).__name__ == "SwigPyObject" and "Cuda" in repr(each)]


@pytest.mark.parametrize("name", sorted({tested.name for tested in FILTERS} | OTHERS))
def test_no_getter_gives_a_bare_pointer(name):
    kinds = getattr(itk, name)
    kind = next(iter(kinds.values())) if hasattr(kinds, "values") else kinds
    instance = kind.New() if hasattr(kind, "New") else kind
    for getter in (method for method in dir(instance) if method.startswith("Get")):
        try:
            found = getattr(instance, getter)()
        except (RuntimeError, TypeError, ValueError, NotImplementedError):
            continue  # it takes arguments, or has nothing to give yet
        assert not bare_pointers(found), getter


def test_device_images_have_no_views_of_cpp():
    assert not {"GetDeviceView", "SetDeviceView"} & set(dir(itk.CudaDeviceImage[itk.F, 2]))


@pytest.mark.parametrize("name", ["CudaPixelMappingImageFilter", "CudaDownloadImageFilter"])
def test_a_rounding_is_its_name(name):
    mapping = next(iter(getattr(itk, name).values())).New()
    assert mapping.GetRounding() == "Truncate"
    mapping.SetRounding("nearest")
    assert mapping.GetRounding() == "Nearest"
    mapping.SetRounding(mapping.GetRounding())
    assert mapping.GetRounding() == "Nearest"


def test_functions_are_those_of_the_classes():
    config = importlib.import_module("itk.Configuration.CudaFiltersConfig")
    functions = importlib.import_module("itk.Configuration.CudaFilters_snake_case").snake_case_functions
    filters = {template[0] for template in config.templates if template[0].endswith("Filter")}
    assert set(functions) == {camel_to_snake_case(name) for name in filters}


@pytest.mark.parametrize("name", ["gradient_recursive_gaussian_image_filter", "image_source", "image_to_image_filter"])
def test_functions_of_itk_are_those_of_itk(name):
    modules = itk.support.base.itk_base_global_lazy_attributes[name]
    assert modules and "CudaFilters" not in modules


def test_function_of_a_superclass_has_its_class():
    function = itk.gradient_recursive_gaussian_image_filter
    assert function.__module__ == "itk.itkGradientRecursiveGaussianImageFilterPython"
    assert function.process_object is itk.GradientRecursiveGaussianImageFilter


@pytest.mark.parametrize("tested", [f for f in OF_ITK if f is not GRADIENT], ids=str)
def test_keys_are_those_of_the_superclass(tested):
    of_device_images = {key for key in tested.wrapped.keys() if issubclass(key[0], DEVICE_IMAGES)}
    keys = set(tested.wrapped.keys()) - of_device_images
    assert keys == set(getattr(itk, tested.superclass).keys())
    assert keys == {tested.key(t, d) for t in DTYPES for d in DIMENSIONS}
    takes_device_images = tested in (RECURSIVE, SMOOTHING, MAGNITUDE, LAPLACIAN)
    expected = {(itk.CudaDeviceImage[t, d],) * 2 for t in DTYPES for d in (2, 3)} if takes_device_images else set()
    assert of_device_images == expected


def test_keys_of_the_gradient():
    # The superclass's in two dimensions. In others ITK wraps pixels of two components, where the gradient has as many as
    # there are dimensions.
    keys, itk_keys = (set(c.keys()) for c in (GRADIENT.wrapped, itk.GradientRecursiveGaussianImageFilter))
    vector = itk.Image[itk.Vector[itk.F, 2], 2], itk.Image[itk.CovariantVector[itk.F, 4], 2]
    assert keys == {GRADIENT.key(t, d) for t in DTYPES for d in DIMENSIONS} | {vector}
    assert {key for key in keys if key[0].GetImageDimension() == 2} == {
        key for key in itk_keys if key[0].GetImageDimension() == 2
    }


def test_keys_of_the_partitioned_filter():
    assert set(PARTITIONED.wrapped.keys()) == {PARTITIONED.key(t, d) for t in DTYPES for d in DIMENSIONS}


def test_keys_of_the_snake():
    inputs = [image_type(t, 2) for t, _ in SNAKE.inputs]
    labels = [image_type(t, 2) for t in (itk.UC, itk.US)]
    assert set(SNAKE.wrapped.keys()) == {(i, label) for i in inputs for label in labels}


@pytest.mark.parametrize("pixel_type, dimension", SNAKE.inputs, ids=str)
def test_labels_of_the_snake_are_bytes_unless_asked_for(pixel_type, dimension):
    assert type(SNAKE.run(some_image(SNAKE, pixel_type)).GetOutput()) is SNAKE.output(pixel_type, 2)
    key = image_type(pixel_type, 2), image_type(itk.US, 2)
    assert isinstance(SNAKE.wrapped[key].New().GetOutput(), image_type(itk.US, 2))


def test_keys_of_the_partition():
    inputs = [image_type(t, 2) for t, _ in PARTITION.inputs]
    assert set(PARTITION.wrapped.keys()) == {(i, image_type(t, 2)) for i in inputs for t in (itk.UI, itk.US)}


@pytest.mark.parametrize("tested, pixel_type", [(PARTITION, t) for t, _ in PARTITION.inputs], ids=str)
def test_labels_of_the_partition(tested, pixel_type):
    assert type(tested.run(some_image(tested, pixel_type)).GetOutput()) is tested.output(pixel_type, 2)


@ALL_INPUTS
def test_is_an_instance_of_the_superclass_of_the_itk_wheel(tested, pixel_type, dimension):
    instance = tested.new(pixel_type, dimension)
    base = itk.ImageToImageFilter[image_type(pixel_type, dimension), tested.output(pixel_type, dimension)]
    assert isinstance(instance, base)
    assert instance.GetNameOfClass() == tested.name
    superclass = getattr(itk, tested.superclass)
    key = tested.key(pixel_type, dimension)
    if key in set(superclass.keys()):
        assert isinstance(instance, superclass[key])
    elif tested is GRADIENT:
        assert dimension != 2
        assert set(dir(superclass[GRADIENT.key(itk.F, 2)])) <= set(dir(instance))
    else:
        assert tested in REGION_FILTERS


@ALL_FILTERS
def test_every_setter_has_a_value_here(tested):
    expected = {f"Set{parameter}" for parameter in PARAMETERS[tested]} | OTHER_SETTERS.get(tested, set())
    assert own_methods(tested, lambda method: method.startswith("Set")) == expected


@ALL_FILTERS
def test_every_getter_has_a_value_here(tested):
    expected = {f"Get{parameter}" for parameter in PARAMETERS[tested]} | OTHER_GETTERS.get(tested, set())
    expected |= {"GetBackendUsed", "GetBackendReason"}
    expected |= {"GetSlabReport"} if "Streaming" in PARAMETERS[tested] else set()
    assert own_methods(tested, lambda method: method.startswith("Get")) == expected


@ALL_FILTERS
def test_every_switch_has_its_parameter_here(tested):
    expected = {f"{name}{state}" for name in SWITCHES.get(tested, set()) for state in ("On", "Off")}
    methods = own_methods(tested, lambda method: method.endswith(("On", "Off")) and method[0].isupper())
    assert {method for method in methods if not method.startswith("Set")} == expected


@pytest.mark.parametrize(
    "tested, parameter", [(f, parameter) for f in FILTERS for parameter in PARAMETERS[f]], ids=lambda value: str(value)
)
def test_setter_and_getter(tested, parameter):
    instance = tested.new()
    # The superclasses of the module's filters call Modified() as they like.
    own = parameter in {**COMMON, **STREAMING} or tested in (PARTITIONED, *REGION_FILTERS)
    for value in PARAMETERS[tested][parameter]:
        before = instance.GetMTime()
        getattr(instance, f"Set{parameter}")(value)
        assert same(getattr(instance, f"Get{parameter}")(), value)
        assert instance.GetMTime() > before, f"Set{parameter}({value}) did not call Modified()"
        if own:
            after = instance.GetMTime()
            getattr(instance, f"Set{parameter}")(value)
            assert instance.GetMTime() == after, f"Set{parameter}({value}) called Modified() for the value it had"


@pytest.mark.parametrize("tested, name", [(f, name) for f in SWITCHES for name in sorted(SWITCHES[f])], ids=str)
def test_switch(tested, name):
    instance = tested.new()
    for state in ("On", "Off", "On"):
        getattr(instance, name + state)()
        assert getattr(instance, f"Get{name}")() == (state == "On")


@ALL_FILTERS
def test_parameters_of_the_constructor(tested):
    instance = tested.wrapped.New(some_image(tested, dimension=2), Backend="Host", DeviceIndex=3, **tested.parameters)
    assert instance.GetBackend() == ENUMS.Backend_Host
    assert instance.GetDeviceIndex() == 3
    for name, value in tested.parameters.items():
        assert same(getattr(instance, f"Get{name}")(), value)


@pytest.mark.parametrize(
    "tested, parameter, text",
    [(f, parameter, text) for f in FILTERS for parameter in PARAMETERS[f] if parameter in NAMES for text in NAMES[parameter]],
    ids=str,
)
def test_enumerations_by_name(tested, parameter, text):
    instance = tested.new()
    getattr(instance, f"Set{parameter}")(text)
    values = {name.lower(): getattr(ENUMS, name) for name in dir(ENUMS) if name.startswith(f"{parameter}_")}
    assert len(values) == len(NAMES[parameter])
    assert getattr(instance, f"Get{parameter}")() == values[f"{parameter}_{text}".lower()]


@pytest.mark.parametrize("setter", ORDER_SETTERS)
def test_orders_by_method(setter):
    instance = RECURSIVE.new()
    getattr(instance, setter)()
    assert instance.GetOrder() == ORDER_SETTERS[setter]


def test_image_spacing_of_the_discrete_filter_by_method():
    instance = DISCRETE.new()
    for setter, expected in (("SetUseImageSpacingOff", False), ("SetUseImageSpacingOn", True)):
        getattr(instance, setter)()
        assert instance.GetUseImageSpacing() is expected


def test_kernel_of_the_discrete_filter():
    instance = DISCRETE.run(itk.image_from_array(np.ones((40, 50), np.float32)), Variance=4.0)
    radius = instance.GetKernelRadius()
    assert radius[0] == radius[1] == instance.GetKernelRadius(0) > 3
    assert list(instance.GetKernelSize()) == [2 * radius[0] + 1] * 2


def test_number_of_blocks_and_window_switch_what_they_replace_off():
    instance = PARTITIONED.new()
    instance.SetNumberOfBlocks(3)
    assert not instance.GetAutomaticNumberOfBlocks()
    assert not instance.GetUseFilterWindow()
    instance.SetFilterWindow(8.0)
    assert instance.GetUseFilterWindow()
    instance.SetSigma(2.0)
    assert not instance.GetUseFilterWindow()


@pytest.mark.parametrize("tested", REGION_FILTERS, ids=str)
def test_foreground_threshold_is_not_a_number_by_default(tested):
    assert math.isnan(tested.new().GetForegroundThreshold())


@ALL_FILTERS
def test_backend_used_is_known_after_update(tested, on_gpu):
    instance = tested.wrapped.New(some_image(tested), **tested.parameters)
    assert instance.GetBackendUsed() == ENUMS.Backend_Automatic
    assert instance.GetBackendReason() == "not run yet"
    instance.Update()
    assert instance.GetBackendUsed() == (ENUMS.Backend_Cuda if on_gpu else ENUMS.Backend_Host)
    assert instance.GetBackendReason() not in ("", "not run yet")


@ALL_FILTERS
def test_parameters_are_printed(tested):
    text = str(tested.new())
    for parameter in ("Backend", "DeviceIndex", "BackendUsed", "BackendReason"):
        assert f"{parameter}: " in text


@ALL_FILTERS
def test_documentation(tested):
    text = inspect.getdoc(tested.new())
    assert len(text) > 400
    assert not re.search(r"\\(brief|class|code|endcode|ingroup|sa|tparam|f\[)", text)
    assert "Backend" in text or "polygon" in text
    assert inspect.getdoc(getattr(tested.function, "func", tested.function)).startswith(text.split("\n")[0])
