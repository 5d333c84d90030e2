# SPDX-License-Identifier: Apache-2.0
"""Images of other packages and pixels of other types are refused with the name of the type and what to call."""
import re

import itk
import numpy as np
import pytest
from filters import ALL_FILTERS, SMOOTHING, SNAKE
from scenes import draw

from itk_cudafilters import segment_region

# First part of the module, class, and what the message says to call.
FOREIGN = [
    ("SimpleITK.SimpleITK", "Image", "call itk_cudafilters.Image.of(image)"),
    ("vtkmodules.vtkCommonDataModel", "vtkImageData", "call itk.image_from_vtk_image(image)"),
    ("torch", "Tensor", "call image.detach().cpu().numpy()"),
    ("cupy", "ndarray", "call image.get()"),
    ("jaxlib._jax", "ArrayImpl", "call numpy.asarray(image)"),
    ("tensorflow.python.framework.ops", "EagerTensor", "call image.numpy()"),
    ("PIL.PngImagePlugin", "PngImageFile", "call numpy.asarray(image)"),
    ("rasterio.io", "DatasetReader", "call image.read(1)"),
    ("nibabel.nifti1", "Nifti1Image", "call itk_cudafilters.Image.of(image)"),
    ("pandas.core.frame", "DataFrame", "call image.to_numpy()"),
    ("dask.array.core", "Array", "call image.compute()"),
    ("xarray.core.dataset", "Dataset", "call image[VARIABLE], one of its variables"),
    ("zarr.core", "Array", "call image[...]"),
]
ENTRANCES = {
    "segment_region": lambda image: segment_region(image, "gamma"),
    "smoothing": lambda image: SMOOTHING.function(image, sigma=2.0),
    "keyword": lambda image: SMOOTHING.function(input=image, sigma=2.0),
}
ALL_ENTRANCES = pytest.mark.parametrize("entrance", ENTRANCES.values(), ids=ENTRANCES)


def foreign_image(module, name, **members):
    """An object of a class of that name that is in no other way what it seems."""
    return type(name, (), {"__module__": module, **members})()


@ALL_ENTRANCES
@pytest.mark.parametrize("module, name, advice", FOREIGN, ids=[f"{m.split('.')[0]}.{n}" for m, n, _ in FOREIGN])
def test_foreign_types(entrance, module, name, advice):
    array = {"shape": (10, 10), "ndim": 2, "dtype": np.dtype("f"), "__array__": lambda self, *_: np.zeros((10, 10), "f")}
    kinds = f"image is of type {module.split('.')[0]}.{name}; it must be an itk.Image, a NumPy array or an xarray.DataArray"
    for members in ({}, array):
        with pytest.raises(TypeError, match=re.escape(f"{kinds}: {advice}")):
            entrance(foreign_image(module, name, **members))


def test_subclass_of_a_foreign_type():
    tensor = type(foreign_image("torch", "Tensor"))
    with pytest.raises(TypeError, match=r"image is of type program.Batch; .*: call image\.detach\(\)\.cpu\(\)\.numpy\(\)"):
        segment_region(type("Batch", (tensor,), {"__module__": "program"})(), "gamma")


@ALL_ENTRANCES
def test_types_of_unknown_packages(entrance):
    with pytest.raises(TypeError, match="image is of type program.Picture; it must be an itk.Image.*xarray.DataArray$"):
        entrance(foreign_image("program", "Picture"))
    with pytest.raises(TypeError, match=r"image is of type program.Picture; .*: call numpy.asarray\(image\)"):
        entrance(foreign_image("program", "Picture", __array__=lambda self, *_: np.zeros((10, 10), "f")))


@ALL_ENTRANCES
@pytest.mark.parametrize(
    "image, message",
    [
        ([[1.0, 2.0], [3.0, 4.0]], 'image is of type list; .*: call numpy.asarray(image, dtype="float32")'),
        (((1.0, 2.0), (3.0, 4.0)), 'image is of type tuple; .*: call numpy.asarray(image, dtype="float32")'),
        ("image.png", "image is of type str; .*: call itk_cudafilters.read_image(image)"),
        (None, "image is of type NoneType; it must be an itk.Image"),
    ],
    ids=["list", "tuple", "name", "None"],
)
def test_types_of_python(entrance, image, message):
    with pytest.raises(TypeError, match=re.escape(message).replace(r"\.\*", ".*")):
        entrance(image)


@ALL_ENTRANCES
@pytest.mark.parametrize("pixel", ["int8", "int32", "uint32", "int64", "uint64", "float16", "complex64", "complex128", "object"])
def test_pixels_of_other_types(entrance, pixel):
    array = np.ones((20, 20), pixel)
    advice = 'numpy.abs(image).astype("float32")' if pixel.startswith("complex") else 'image.astype("float32")'
    message = f"image has pixels of type {pixel}; they must be of uint8, .*: convert to float32 by {re.escape(advice)}"
    with pytest.raises(TypeError, match=message):
        entrance(array)


def test_masked_arrays():
    masked = np.ma.masked_array(draw("gamma"), mask=np.eye(160, 200) > 0)
    with pytest.raises(TypeError, match=r"mask would be lost: give image.data, and valid_mask=~numpy.ma.getmaskarray\(image\)"):
        segment_region(masked, "gamma")
    found = segment_region(masked.data, "gamma", valid_mask=~np.ma.getmaskarray(masked))
    assert found.statistics.inside.number_of_pixels + found.statistics.outside.number_of_pixels == masked.count()
    with pytest.raises(TypeError, match=r"mask would be lost: fill its gaps first, by image.filled\(VALUE\)"):
        SMOOTHING.function(masked, sigma=2.0)


def test_masks_are_named():
    with pytest.raises(TypeError, match=r"valid_mask is of type torch.Tensor; .*: call valid_mask.detach\(\)"):
        segment_region(draw("gamma"), "gamma", valid_mask=foreign_image("torch", "Tensor"))
    with pytest.raises(TypeError, match="initial_mask has pixels of type complex64; they must be numbers or truth values"):
        segment_region(draw("gamma"), "gamma", initial_mask=np.ones((160, 200), np.complex64))


def test_filters_are_answered_with_their_outputs():
    median = itk.MedianImageFilter.New(itk.image_from_array(draw("gamma")))
    with pytest.raises(TypeError, match=r"image is an itk.MedianImageFilter; .*: call image.GetOutput\(\)"):
        segment_region(median, "gamma")
    # ITK's functions take filters.
    assert SMOOTHING.function(median, sigma=2.0).GetLargestPossibleRegion() == median.GetOutput().GetLargestPossibleRegion()


@ALL_FILTERS
def test_every_function_checks_its_input(tested):
    with pytest.raises(TypeError, match=r"image is of type torch.Tensor; .*: call image.detach\(\)"):
        tested.function(foreign_image("torch", "Tensor"))


@pytest.mark.parametrize("array", [np.ones((20, 20), ">f4"), np.ones((40, 40), "f")[::2, ::2], np.ones((20, 20), "f", order="F")])
def test_other_layouts_of_known_pixels(array, recwarn):
    np.testing.assert_allclose(SMOOTHING.function(array, sigma=2.0), 1.0, rtol=1e-6)
    assert not recwarn.list
    result = SNAKE.function(np.ascontiguousarray(array, "f"), noise_law="gaussian")
    assert np.asarray(result[0] if isinstance(result, tuple) else result).shape == array.shape
    assert segment_region(array, "gaussian").label.shape == array.shape


@pytest.mark.parametrize("package", ["SimpleITK", "vtk", "torch", "PIL", "nibabel", "pandas", "dask", "jax"])
def test_types_of_packages_that_are_installed(package):
    pixels = np.ones((20, 20), np.float32)
    make = {
        "SimpleITK": lambda: pytest.importorskip("SimpleITK").GetImageFromArray(pixels),
        "vtk": lambda: pytest.importorskip("vtkmodules.vtkCommonDataModel").vtkImageData(),
        "torch": lambda: pytest.importorskip("torch").from_numpy(pixels),
        "PIL": lambda: pytest.importorskip("PIL.Image").fromarray(pixels),
        "nibabel": lambda: pytest.importorskip("nibabel").Nifti1Image(pixels, np.eye(4)),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(pixels),
        "dask": lambda: pytest.importorskip("dask.array").from_array(pixels),
        "jax": lambda: pytest.importorskip("jax.numpy").asarray(pixels),
    }[package]
    image = make()
    for entrance in ENTRANCES.values():
        with pytest.raises(TypeError, match=f"image is of type ({package}|{package}modules|{package}lib).*: call .*image"):
            entrance(image)
