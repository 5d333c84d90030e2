# SPDX-License-Identifier: Apache-2.0
"""Device images in Python. Where there is no GPU, memory of the host stands for one (exporters.py); what runs kernels or crosses
the link is tested on a GPU."""
import copy
import ctypes
import gc
import pickle
import threading

import exporters
import itk
import numpy as np
import pytest
from exporters import FakeArray, Imported
from interpreter import path_with, run_python

import itk_cudafilters
from itk_cudafilters import _library, from_dlpack, to_device, to_host

PIXELS = {"uint8": itk.UC, "uint16": itk.US, "int16": itk.SS, "float32": itk.F, "float64": itk.D}


@pytest.fixture
def host_as_device():
    _library.core().use_host_as_device(True)
    yield
    _library.core().use_host_as_device(False)
    if exporters.alive:
        gc.collect()  # exceptions hold frames
    assert not exporters.alive


@pytest.fixture
def gpu(on_gpu):
    if not on_gpu:
        pytest.skip("needs a GPU")


def random_array(rng, shape, pixel="float32"):
    return (rng.standard_normal(shape) * 50 + 100).astype(pixel)


def imported(image, **parameters):
    return Imported(image.__dlpack__(**{"stream": 1, "max_version": (1, 3), **parameters}))


@pytest.mark.parametrize("dimension", [2, 3, 4])
@pytest.mark.parametrize("pixel", PIXELS)
def test_pixels_come_through_unchanged(host_as_device, pixel, dimension):
    rng = np.random.default_rng(dimension)
    array = random_array(rng, rng.integers(1, 7, dimension), pixel)
    image = from_dlpack(FakeArray(array))
    assert isinstance(image, itk.CudaDeviceImage[PIXELS[pixel], dimension])
    assert image.shape == array.shape and image.ndim == dimension and image.dtype == array.dtype
    assert tuple(itk.size(image)) == array.shape[::-1]
    for version in (None, (0, 8), (1, 0), (1, 3), (2, 0)):
        seen = imported(image, max_version=version)
        assert seen.is_versioned == (version is not None and version[0] >= 1)
        assert seen.address == array.ctypes.data and seen.device == (2, 0)
        np.testing.assert_array_equal(seen.pixels(), array)
        assert seen.dtype == array.dtype
        seen.release()


def test_random_layouts(host_as_device):
    """Strides of any size, offsets, exporters without strides or versions: 200 arrays from one seed."""
    rng = np.random.default_rng(20260)
    for _ in range(200):
        dimension = int(rng.integers(2, 5))
        whole = random_array(rng, rng.integers(3, 9, dimension))
        cut = tuple(slice(int(rng.integers(0, 2)), None, int(rng.integers(1, 3))) for _ in range(dimension - 1))
        array = whole[(*cut, slice(int(rng.integers(0, 3)), None))]
        is_compact = array.flags.c_contiguous
        exporter = FakeArray(
            array,
            version=None if rng.random() < 0.3 else (1, int(rng.integers(0, 9))),
            offset=4 * int(rng.integers(0, 100)),
            without_strides=is_compact and rng.random() < 0.5,
        )
        seen = imported(from_dlpack(exporter))
        np.testing.assert_array_equal(seen.pixels(), array)
        seen.release()
        assert exporter.deleted == 1


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (2, 0, 4)])
def test_empty_arrays(host_as_device, shape):
    exporter = FakeArray(np.zeros(shape, np.float32))
    seen = imported(from_dlpack(exporter))
    assert seen.shape == shape and seen.address == 0
    seen.release()
    assert exporter.deleted == 1


def test_axes_of_one_pixel_may_have_any_stride(host_as_device):
    array = np.lib.stride_tricks.as_strided(np.arange(6, dtype="f"), (1, 6, 1), (-400, 4, 77 * 4))
    seen = imported(from_dlpack(FakeArray(array)))
    np.testing.assert_array_equal(seen.pixels(), array)
    seen.release()


def test_memory_lives_as_long_as_its_last_user(host_as_device):
    exporter = FakeArray(np.arange(12, dtype="f").reshape(3, 4))
    image = from_dlpack(exporter)
    graft = itk.CudaDeviceImage[itk.F, 2].New()
    graft.Graft(image)
    capsule = image.__dlpack__(stream=1, max_version=(1, 0))
    seen = imported(graft)
    for holder in ("image", "graft", "capsule"):
        assert exporter.deleted == 0
        if holder == "image":
            del image
        elif holder == "graft":
            del graft
        else:
            del capsule  # not consumed: its destructor gives the memory back
    assert exporter.deleted == 0
    np.testing.assert_array_equal(seen.pixels(), exporter.array)
    seen.release()
    assert exporter.deleted == 1


def test_released_data_goes_back(host_as_device):
    exporter = FakeArray(np.zeros((3, 4), "f"))
    image = from_dlpack(exporter)
    image.ReleaseData()
    assert exporter.deleted == 1 and not image.IsAllocated()
    with pytest.raises(BufferError, match="holds no pixels"):
        image.__dlpack_device__()
    with pytest.raises(RuntimeError, match="holds? no pixels|has no pixels"):
        image.__dlpack__(stream=1)
    assert not hasattr(image, "__cuda_array_interface__")


def test_memory_may_go_back_in_another_thread(host_as_device):
    exporter = FakeArray(np.zeros((30, 40), "f"))
    images = [from_dlpack(exporter) for _ in range(20)]
    thread = threading.Thread(target=images.clear)
    thread.start()
    thread.join()
    assert exporter.deleted == 20


def test_consumers_give_back_in_threads_that_python_does_not_know(host_as_device):
    """Such a thread has not the interpreter's lock."""
    libc = ctypes.CDLL(None)
    exporter = FakeArray(np.zeros((30, 40), "f"))
    for _ in range(20):
        seen = imported(from_dlpack(exporter))
        thread = ctypes.c_ulong()
        deleter, managed = ctypes.cast(seen.managed.deleter, ctypes.c_void_p), ctypes.byref(seen.managed)
        assert libc.pthread_create(ctypes.byref(thread), None, deleter, managed) == 0
        assert libc.pthread_join(thread, None) == 0
    assert exporter.deleted == 20


def test_threads(host_as_device):
    """Eight threads import and export at the same time."""
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            array = random_array(rng, (5, 6))
            seen = imported(from_dlpack(FakeArray(array)))
            if not np.array_equal(seen.pixels(), array):
                failures.append(seed)
            seen.release()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_capsules_are_consumed_once(host_as_device):
    exporter = FakeArray(np.zeros((3, 4), "f"))
    capsule = exporter.make_capsule(True)
    opened = _library.core().open_dlpack(capsule)
    with pytest.raises(BufferError, match="has been used"):
        _library.core().open_dlpack(capsule)
    del capsule
    assert exporter.deleted == 0
    del opened
    assert exporter.deleted == 1
    with pytest.raises(BufferError, match="no capsule"):
        _library.core().open_dlpack(3)


def test_other_major_versions_are_given_back_untouched(host_as_device):
    exporter = FakeArray(np.zeros((3, 4), "f"), version=(2, 0))
    with pytest.raises(BufferError, match="is of DLPack 2.0; version 1 is understood"):
        from_dlpack(exporter)
    assert exporter.deleted == 1


def test_exporters_before_version_one(host_as_device):
    class Old(FakeArray):
        def __dlpack__(self, stream=None):
            return self.make_capsule(False)

    exporter = Old(np.arange(6, dtype="f").reshape(2, 3))
    seen = imported(from_dlpack(exporter))
    np.testing.assert_array_equal(seen.pixels(), exporter.array)
    seen.release()


def test_streams(host_as_device):
    exporter = FakeArray(np.zeros((3, 4), "f"))
    image = from_dlpack(exporter)
    assert exporter.streams == [1]
    for stream in (None, 1, 2, 12345678, -1, np.int64(7)):
        imported(image, stream=stream).release()
    for stream in (0, -2):
        with pytest.raises(ValueError, match=f"stream is {stream}; it must be"):
            image.__dlpack__(stream=stream)
    with pytest.raises(TypeError):
        image.__dlpack__(stream="default")


def test_demands_that_cannot_be_met(host_as_device):
    image = from_dlpack(FakeArray(np.zeros((3, 4), "f")))
    with pytest.raises(BufferError, match="copy is True"):
        image.__dlpack__(copy=True)
    for device in ((1, 0), (2, 1)):
        with pytest.raises(BufferError, match=r"on the GPU 0, .*itk_cudafilters.to_host\(\) copies them"):
            image.__dlpack__(dl_device=device)
    imported(image, dl_device=(2, 0), copy=False).release()


def test_cuda_array_interface(host_as_device):
    array = np.arange(60, dtype="f").reshape(3, 4, 5)[:, ::2]
    found = from_dlpack(FakeArray(array)).__cuda_array_interface__
    assert found == {
        "version": 3,
        "shape": (3, 2, 5),
        "typestr": "<f4",
        "data": (array.ctypes.data, False),
        "strides": array.strides,
        "stream": None,
    }


def test_geometry_of_another_image(host_as_device):
    like = itk.image_from_array(np.zeros((3, 4, 5), np.uint8))
    like.SetSpacing([0.5, 2.0, 3.0])
    like.SetOrigin([1.0, -2.0, 7.0])
    like.SetDirection(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]]))
    image = from_dlpack(FakeArray(np.zeros((3, 4, 5), "f")), like=like)
    assert list(image.GetSpacing()) == [0.5, 2.0, 3.0] and list(image.GetOrigin()) == [1.0, -2.0, 7.0]
    np.testing.assert_array_equal(np.asarray(image.GetDirection()), np.asarray(like.GetDirection()))
    np.testing.assert_array_equal(image["spacing"], [3.0, 2.0, 0.5])
    with pytest.raises(ValueError, match=r"like has the size \(5, 4, 3\); it must be that of the array, \(5, 3, 3\)"):
        from_dlpack(FakeArray(np.zeros((3, 3, 5), "f")), like=like)
    with pytest.raises(TypeError, match="like is of type numpy.ndarray"):
        from_dlpack(FakeArray(np.zeros((3, 3, 5), "f")), like=np.zeros((3, 3, 5)))


WRONG_ARRAYS = [
    (lambda: np.zeros((3, 4), "f"), TypeError, r"numpy.ndarray; .*: call itk_cudafilters.to_device\(array\)"),
    (lambda: "image.png", TypeError, "array is of type str; it must be an array in the memory of a GPU"),
    (lambda: FakeArray(np.zeros((3, 4), "f"), device=(1, 0)), TypeError, "must be an array in the memory of a GPU"),
    (lambda: FakeArray(np.zeros(4, "f")), ValueError, "array has 1 axes; a device image has two, three or four"),
    (lambda: FakeArray(np.zeros((1, 2, 3, 4, 5), "f")), ValueError, "array has 5 axes"),
    (lambda: FakeArray(np.zeros((3, 4), "i8")), TypeError, "pixels of type int64; .*: convert it to float32 first"),
    (lambda: FakeArray(np.zeros((3, 4), "f2")), TypeError, "pixels of type float16"),
    (lambda: FakeArray(np.zeros((3, 4), "c8")), TypeError, "pixels of type complex64"),
    (lambda: FakeArray(np.zeros((3, 4), "f").T), BufferError, r"strides \(1, 4\).*contiguous copy"),
    (lambda: FakeArray(np.zeros((3, 4), "f")[:, ::2]), BufferError, r"strides \(4, 2\)"),
    (lambda: FakeArray(np.zeros((3, 4), "f")[::-1]), BufferError, r"strides \(-4, 1\)"),
]


@pytest.mark.parametrize("make, error, message", WRONG_ARRAYS, ids=[str(i) for i in range(len(WRONG_ARRAYS))])
def test_wrong_arrays(host_as_device, make, error, message):
    with pytest.raises(error, match=message):
        from_dlpack(make())


def test_gradients(host_as_device):
    exporter = FakeArray(np.zeros((3, 4), "f"))
    exporter.requires_grad = True
    with pytest.raises(BufferError, match=r"call array.detach\(\)"):
        from_dlpack(exporter)


USES_OF_THE_HOST = {
    "asarray": np.asarray,
    "array of a type": lambda image: np.array(image, dtype="f"),
    "sum": np.sum,
    "pixel": lambda image: image[0, 0],
    "row": lambda image: image[0],
    "slice": lambda image: image[:, 1:],
    "list": list,
    "astype": lambda image: image.astype(np.float64),
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("use", USES_OF_THE_HOST.values(), ids=USES_OF_THE_HOST)
def test_pixels_are_not_for_the_host(host_as_device, use):
    image = from_dlpack(FakeArray(np.zeros((3, 4), "f")))
    with pytest.raises(TypeError, match=r"are on a GPU; itk_cudafilters.to_host\(\) copies them"):
        use(image)


def test_no_pixel_can_be_set(host_as_device):
    image = from_dlpack(FakeArray(np.zeros((3, 4), "f")))
    with pytest.raises(TypeError, match="are on a GPU"):
        image[0, 0] = 1.0
    image["spacing"] = [2.0, 3.0]
    assert list(image.GetSpacing()) == [3.0, 2.0]


def test_filters_of_itk_refuse_device_images(host_as_device):
    image = from_dlpack(FakeArray(np.zeros((8, 8), "f")))
    for use in (itk.median_image_filter, itk.cast_image_filter, lambda given: itk.imwrite(given, "no.mha")):
        with pytest.raises((TypeError, itk.TemplateTypeError, KeyError)):
            use(image)


def test_foreign_arrays_in_functions_of_itk(host_as_device):
    with pytest.raises(TypeError, match=r"in the memory of a GPU: call itk_cudafilters.gaussian_filter\(\).*from_dlpack\(image\)"):
        itk.cuda_smoothing_recursive_gaussian_image_filter(FakeArray(np.zeros((8, 8), "f")), sigma=1.0)


PROGRAM_WITH_LIVE_CAPSULES = """
import exporters, itk_cudafilters, numpy
from itk_cudafilters import _library
_library.core().use_host_as_device(True)
image = itk_cudafilters.from_dlpack(exporters.FakeArray(numpy.zeros((3, 4), "f")))
capsule = image.__dlpack__(stream=1)
print(image.shape)
"""


def test_exit_with_live_capsules():
    folder = exporters.__file__.rsplit("/", 1)[0]
    assert run_python(PROGRAM_WITH_LIVE_CAPSULES, PYTHONPATH=path_with(folder)) == "(3, 4)\n"


PROGRAM_WITH_CONSUMERS_AFTER_THE_INTERPRETER = """
import ctypes, exporters, numpy
from itk_cudafilters import _device, _dlpack, _library
_library.core().use_host_as_device(True)
given = _dlpack.open_array(exporters.FakeArray(numpy.zeros((3, 4), "f")), "given", 1)
image = _device.image_of(_dlpack.new_array((3, 4), given), None)
for version in (None, (1, 3)):
    seen = exporters.Imported(image.__dlpack__(stream=1, max_version=version))
    # The process calls these functions when it ends, after the interpreter.
    ctypes.CDLL(None).__cxa_atexit(ctypes.cast(seen.managed.deleter, ctypes.c_void_p), ctypes.byref(seen.managed), None)
print(seen.shape)
"""


def test_consumers_that_outlive_the_interpreter():
    folder = exporters.__file__.rsplit("/", 1)[0]
    assert run_python(PROGRAM_WITH_CONSUMERS_AFTER_THE_INTERPRETER, PYTHONPATH=path_with(folder)) == "(3, 4)\n"


def test_without_a_gpu_the_reason_is_said(on_gpu):
    if itk_cudafilters.info().gpu_usable:
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="built without CUDA|driver|no .*device"):
        to_device(np.zeros((8, 8), "f"))
    with pytest.raises(RuntimeError, match="built without CUDA|driver|no .*device"):
        from_dlpack(FakeArray(np.zeros((8, 8), "f")))
    gc.collect()
    assert not exporters.alive


def test_wrong_uploads_and_downloads():
    with pytest.raises(TypeError, match="image is of type str"):
        to_device("image.png")
    with pytest.raises(TypeError, match="image has pixels of type int64"):
        to_device(np.zeros((8, 8), "i8"))
    with pytest.raises(ValueError, match="image has 1 axes"):
        to_device(np.zeros(8, "f"))
    with pytest.raises(TypeError, match=r"call itk_cudafilters.from_dlpack\(image\)"):
        to_device(FakeArray(np.zeros((8, 8), "f")))
    for image in (np.zeros((8, 8), "f"), itk.Image[itk.F, 2].New()):
        with pytest.raises(TypeError, match="must be an itk.CudaDeviceImage"):
            to_host(image)


@pytest.mark.parametrize("dimension", [2, 3, 4])
@pytest.mark.parametrize("pixel", PIXELS)
def test_round_trip(gpu, pixel, dimension):
    array = random_array(np.random.default_rng(5), (7, 9, 11, 5)[:dimension], pixel)
    host = itk.image_from_array(array)
    host.SetSpacing([0.5, 2.0, 3.0, 4.0][:dimension])
    device = to_device(host)
    with pytest.raises(TypeError, match="on a GPU already"):
        to_device(device)
    back = to_host(device)
    np.testing.assert_array_equal(itk.array_from_image(back), array)
    assert list(back.GetSpacing()) == list(host.GetSpacing())


FILTERS = [
    itk.CudaSmoothingRecursiveGaussianImageFilter,
    itk.CudaGradientMagnitudeRecursiveGaussianImageFilter,
    itk.CudaLaplacianRecursiveGaussianImageFilter,
    itk.CudaRecursiveGaussianImageFilter,
]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("pixel", PIXELS)
@pytest.mark.parametrize("kind", FILTERS, ids=lambda kind: kind.__name__)
def test_filters_give_the_bits_of_host_images(gpu, kind, pixel, dimension):
    array = random_array(np.random.default_rng(6), (33, 47, 21)[:dimension], pixel)
    expected = kind.New(itk.image_from_array(array), Sigma=2.5, Backend="cuda")
    expected.Update()
    found = kind.New(to_device(array), Sigma=2.5)
    found.Update()
    np.testing.assert_array_equal(itk.array_from_image(to_host(found.GetOutput())), itk.array_from_image(expected.GetOutput()))


def test_downloads_have_the_parameters_of_their_superclass():
    types = itk.CudaDeviceImage[itk.F, 3], itk.Image[itk.F, 3]
    download = itk.CudaDownloadImageFilter[types].New(Shift=2.0, Scale=3.0, UseSigmoid=True, Alpha=-4.0, Beta=5.0)
    assert isinstance(download, itk.CudaPixelMappingImageFilter[types])
    found = download.GetShift(), download.GetScale(), download.GetUseSigmoid(), download.GetAlpha(), download.GetBeta()
    assert found == (2.0, 3.0, True, -4.0, 5.0)
    assert "UseSigmoid: On" in str(download)


def real_to(pixel, dimension=3):
    """The mapping of float32 images to images of a pixel type, and ITK's window and threshold of these types."""
    mapping = itk.CudaPixelMappingImageFilter[itk.CudaDeviceImage[itk.F, dimension], itk.CudaDeviceImage[pixel, dimension]]
    types = itk.Image[itk.F, dimension], itk.Image[pixel, dimension]
    return mapping, itk.IntensityWindowingImageFilter[types], itk.BinaryThresholdImageFilter[types]


def test_windows_and_thresholds_have_the_parameters_and_defaults_of_itks():
    mapping, window, threshold = (kind.New() for kind in real_to(itk.UC))
    assert not mapping.GetUseWindow() and not mapping.GetUseThreshold()
    parameters = {
        window: {"WindowMinimum": -2.5, "WindowMaximum": 7.25, "OutputMinimum": 3, "OutputMaximum": 250},
        threshold: {"LowerThreshold": -1.5, "UpperThreshold": 8.0, "InsideValue": 7, "OutsideValue": 255},
    }
    for other, values in parameters.items():
        for name, value in values.items():
            assert getattr(mapping, "Get" + name)() == getattr(other, "Get" + name)(), name
            getattr(mapping, "Set" + name)(value)
            assert getattr(mapping, "Get" + name)() == value, name
    mapping.UseWindowOn()
    assert mapping.GetUseWindow() and "WindowMinimum: -2.5" in str(mapping)


def test_parameters_of_mappings_have_the_types_of_the_pixels():
    mapping = real_to(itk.UC)[0].New(OutputMinimum=3, InsideValue=4)
    for wrong in (-1, 256, 2**40):
        with pytest.raises(OverflowError, match="unsigned char"):
            mapping.SetOutputMinimum(wrong)
    for wrong in ("3", 2.5, None):
        with pytest.raises(TypeError, match="unsigned char"):
            mapping.SetInsideValue(wrong)
    with pytest.raises(TypeError, match="float"):
        mapping.SetWindowMinimum("0")
    assert mapping.GetOutputMinimum() == 3 and mapping.GetInsideValue() == 4


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("pixel", [itk.UC, itk.SS], ids=["uint8", "int16"])
def test_images_are_converted_between_float_and_integers(pixel, dimension):
    real, integer = itk.CudaDeviceImage[itk.F, dimension], itk.CudaDeviceImage[pixel, dimension]
    for types in ((real, integer), (integer, real)):
        assert isinstance(itk.CudaPixelMappingImageFilter[types].New().GetOutput(), types[1])


@pytest.mark.parametrize("dimension", [2, 3, 4])
@pytest.mark.parametrize("pixel", PIXELS)
def test_mapping_keeps_type_and_place_by_default(gpu, pixel, dimension):
    array = random_array(np.random.default_rng(8), (7, 9, 11, 5)[:dimension], pixel)
    volume = to_device(array)
    mapping = itk.CudaPixelMappingImageFilter.New(volume)
    mapping.Update()
    assert type(mapping.GetOutput()) is type(volume)
    np.testing.assert_array_equal(itk.array_from_image(to_host(mapping.GetOutput())), array)


def test_mapping(gpu):
    array = np.random.default_rng(9).uniform(-50.0, 300.0, (20, 30, 40)).astype(np.float32)
    kind = itk.CudaPixelMappingImageFilter[itk.CudaDeviceImage[itk.F, 3], itk.CudaDeviceImage[itk.UC, 3]]
    volume = to_device(array)
    scaled = kind.New(volume, Shift=8.0, Scale=0.5)
    scaled.Update()
    expected = np.clip((array + np.float32(8.0)) * np.float32(0.5), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(itk.array_from_image(to_host(scaled.GetOutput())), expected)
    sigmoid = kind.New(volume, UseSigmoid=True, Alpha=-20.0, Beta=100.0)
    sigmoid.Update()
    exact = 255.0 / (1.0 + np.exp((array.astype(float) - 100.0) / 20.0))
    np.testing.assert_allclose(itk.array_from_image(to_host(sigmoid.GetOutput())), np.floor(exact), atol=1)
    sigmoid.SetAlpha(0.0)
    with pytest.raises(RuntimeError, match="Alpha is 0; it must be finite and not 0"):
        sigmoid.Update()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("pixel", [itk.UC, itk.SS], ids=["uint8", "int16"])
def test_windows_and_thresholds_give_the_bits_of_itks(gpu, pixel, dimension):
    rng = np.random.default_rng(10 + dimension)
    array = random_array(rng, (40, 30, 20)[:dimension])
    image, volume = itk.image_from_array(array), to_device(array)
    mapping, window, threshold = real_to(pixel, dimension)
    for _ in range(10):
        low, high = sorted(rng.uniform(50.0, 150.0, 2))
        first, second = (int(value) for value in rng.integers(0, 255, 2))
        ranges = {"WindowMinimum": low, "WindowMaximum": high, "OutputMinimum": first, "OutputMaximum": second}
        values = {"LowerThreshold": low, "UpperThreshold": high, "InsideValue": first, "OutsideValue": second}
        for switch, kind, parameters in (("UseWindow", window, ranges), ("UseThreshold", threshold, values)):
            expected = kind.New(image, **parameters)
            expected.Update()
            found = mapping.New(volume, **{switch: True}, **parameters)
            found.Update()
            np.testing.assert_array_equal(
                itk.array_from_image(to_host(found.GetOutput())), itk.array_from_image(expected.GetOutput()), str(parameters)
            )


def test_sigmoid_between_the_given_ends(gpu):
    array = np.random.default_rng(13).uniform(-50.0, 300.0, (20, 30, 40)).astype(np.float32)
    sigmoid = itk.CudaPixelMappingImageFilter.New(
        to_device(array), UseSigmoid=True, Alpha=-20.0, Beta=100.0, OutputMinimum=-1.0, OutputMaximum=3.0
    )
    sigmoid.Update()
    exact = 4.0 / (1.0 + np.exp((array.astype(float) - 100.0) / 20.0)) - 1.0
    np.testing.assert_allclose(itk.array_from_image(to_host(sigmoid.GetOutput())), exact, atol=1e-6)


def test_pipeline(gpu):
    """A chain of filters, as functions and as a pipeline, runs again when a parameter changes."""
    array = random_array(np.random.default_rng(7), (40, 50, 60))
    volume = to_device(array)
    smoother = itk.CudaSmoothingRecursiveGaussianImageFilter.New(volume, Sigma=2.0)
    edges = itk.CudaGradientMagnitudeRecursiveGaussianImageFilter.New(smoother.GetOutput(), Sigma=1.0)
    first = itk.array_from_image(to_host(edges.GetOutput()))
    function = itk.cuda_gradient_magnitude_recursive_gaussian_image_filter(
        itk.cuda_smoothing_recursive_gaussian_image_filter(volume, sigma=2.0), sigma=1.0
    )
    np.testing.assert_array_equal(itk.array_from_image(to_host(function)), first)
    smoother.SetSigma(4.0)
    edges.Update()
    assert not np.array_equal(itk.array_from_image(to_host(edges.GetOutput())), first)


def test_cupy_shares_the_pixels(gpu):
    cupy = pytest.importorskip("cupy")
    array = random_array(np.random.default_rng(8), (20, 30, 40))
    given = cupy.asarray(array)
    image = from_dlpack(given)
    seen = cupy.from_dlpack(image)
    assert seen.data.ptr == given.data.ptr
    del given, image
    np.testing.assert_array_equal(cupy.asnumpy(seen), array)
    made = to_device(array)
    view = cupy.from_dlpack(made)
    interface = cupy.asarray(made)
    del made
    np.testing.assert_array_equal(cupy.asnumpy(view), array)
    np.testing.assert_array_equal(cupy.asnumpy(interface), array)


def test_torch_shares_the_pixels(gpu):
    torch = pytest.importorskip("torch")
    array = random_array(np.random.default_rng(9), (20, 30, 40))
    given = torch.from_numpy(array).cuda()
    image = from_dlpack(given)
    seen = torch.from_dlpack(image)
    assert seen.data_ptr() == given.data_ptr()
    smoothed = torch.from_dlpack(itk.cuda_smoothing_recursive_gaussian_image_filter(image, sigma=2.0))
    expected = itk.cuda_smoothing_recursive_gaussian_image_filter(array, sigma=2.0)
    del given, image
    np.testing.assert_array_equal(smoothed.cpu().numpy(), expected)
    with pytest.raises(BufferError, match="detach"):
        from_dlpack(torch.zeros((8, 8), device="cuda", requires_grad=True))


def test_image_that_is_dropped_while_it_is_read(gpu):
    """A copy that is held back by a kernel of 0.2 s reads the pixels, although the image is gone and others fill the GPU."""
    torch = pytest.importorskip("torch")
    array = random_array(np.random.default_rng(11), (128, 128, 128))
    others = np.full(array.shape, np.nan, "f")
    to_device(others)
    image = to_device(array)
    with torch.cuda.stream(torch.cuda.Stream()):
        view = torch.from_dlpack(image)
        torch.cuda._sleep(200_000_000)
        seen = view.clone()
        del image, view
        images = [to_device(others) for _ in range(100)]
    torch.cuda.synchronize()
    np.testing.assert_array_equal(seen.cpu().numpy(), array)
    assert all(each.IsAllocated() for each in images)


def test_order_of_streams(gpu):
    """A producer held back by a kernel of 0.2 s: the filter's work waits for it, whatever the stream."""
    torch = pytest.importorskip("torch")
    expected = itk.cuda_smoothing_recursive_gaussian_image_filter(np.full((64, 64), 3.0, "f"), sigma=2.0)
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            tensor = torch.full((64, 64), float("nan"), device="cuda")
            torch.cuda._sleep(200_000_000)
            tensor.fill_(3.0)
            smoothed = itk.cuda_smoothing_recursive_gaussian_image_filter(from_dlpack(tensor), sigma=2.0)
            seen = torch.from_dlpack(smoothed).clone()
        stream.synchronize()
        np.testing.assert_array_equal(seen.cpu().numpy(), expected)


def test_jax_and_numba_see_the_pixels(gpu):
    # JAX takes arrays without gaps between rows; those of device images begin at multiples of 16 bytes.
    array = random_array(np.random.default_rng(10), (20, 32))
    image = to_device(array)
    jax = pytest.importorskip("jax")
    if any(device.platform == "gpu" for device in jax.devices()):
        np.testing.assert_array_equal(np.asarray(jax.numpy.from_dlpack(image)), array)
    cuda = pytest.importorskip("numba.cuda")
    np.testing.assert_array_equal(cuda.as_cuda_array(image).copy_to_host(), array)
