# SPDX-License-Identifier: Apache-2.0
"""The transforms for MONAI: values against scipy and MONAI's own, metadata, kinds of arrays, and wrong use."""
import doctest
import pickle

import numpy as np
import pytest
from scipy import ndimage

torch = pytest.importorskip("torch")
monai = pytest.importorskip("monai")
from monai.data import MetaTensor  # noqa: E402

import itk_cudafilters  # noqa: E402
from itk_cudafilters import monai as transforms  # noqa: E402

AFFINE = np.array([[0.0, -2.0, 0.0, 5.0], [0.5, 0.0, 0.0, 6.0], [0.0, 0.0, 4.0, 7.0], [0.0, 0.0, 0.0, 1.0]])
"""Axes of pixels with spacings 0.5, 2 and 4, turned."""


def volume(channels=2, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).random((channels, 24, 20, 16), dtype=np.float32))


def test_smoothing_is_that_of_scipy_in_each_channel():
    image = volume()
    for sigma in (1.5, (0.0, 1.0, 2.5)):
        axes = np.broadcast_to(sigma, 3)
        expected = ndimage.gaussian_filter(image.numpy(), (0.0, *axes), mode="constant", truncate=8)
        found = transforms.GaussianSmooth(sigma)(image)
        assert found.dtype == torch.float32
        np.testing.assert_allclose(found.numpy(), expected, atol=2e-4)
    found = transforms.GaussianSmooth(1.5, mode="reflect")(image)
    np.testing.assert_allclose(found.numpy(), ndimage.gaussian_filter(image.numpy(), (0.0, 1.5, 1.5, 1.5), truncate=8), atol=2e-4)


@pytest.mark.parametrize("shape", [(1, 50), (3, 40, 30), (1, 20, 24, 28)])
def test_smoothing_takes_the_place_of_monais(shape):
    image = torch.from_numpy(np.random.default_rng(2).random(shape, dtype=np.float32))
    theirs = monai.transforms.GaussianSmooth(1.5)(image)
    ours = transforms.GaussianSmooth(1.5)(image)
    assert type(ours) is type(theirs) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    # MONAI's default kernel, "erf", has a variance that is larger by 1/12.
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=0.02)


def test_a_meta_tensor_keeps_affine_metadata_and_operations():
    image = MetaTensor(volume(), affine=torch.from_numpy(AFFINE), meta={"patient": "A"})
    flip = monai.transforms.Flip(spatial_axis=0)
    image = flip(image)
    for transform in (transforms.GaussianSmooth(1.0), transforms.Vesselness(1.0)):
        found = transform(image)
        assert isinstance(found, MetaTensor) and found.meta["patient"] == "A"
        assert torch.equal(found.affine, image.affine) and found.applied_operations == image.applied_operations
        assert torch.equal(flip.inverse(found).affine, torch.from_numpy(AFFINE))


def test_the_spacing_is_that_of_the_affine():
    image = MetaTensor(volume(), affine=torch.from_numpy(AFFINE))
    found = transforms.GaussianSmooth(2.0, use_spacing=True)(image)
    np.testing.assert_allclose(found.numpy(), transforms.GaussianSmooth((4.0, 1.0, 0.5))(image).numpy(), atol=1e-6)
    found = transforms.GaussianSmooth((2.0, 0.0, 8.0), use_spacing=True)(image)
    np.testing.assert_allclose(found.numpy(), transforms.GaussianSmooth((4.0, 0.0, 2.0))(image).numpy(), atol=1e-6)
    found = transforms.Vesselness((2.0, 4.0), "sato", use_spacing=True)(image)
    for channel, pixels in zip(found, image):
        expected = itk_cudafilters.vesselness(pixels.numpy(), (2.0, 4.0), "sato", spacing=(0.5, 2.0, 4.0))
        np.testing.assert_allclose(channel.numpy(), expected, rtol=1e-5)
    plane = MetaTensor(volume()[:, :, :, 3], affine=torch.from_numpy(AFFINE))
    found = transforms.GaussianSmooth(2.0, use_spacing=True)(plane)
    np.testing.assert_allclose(found.numpy(), transforms.GaussianSmooth((4.0, 1.0))(plane).numpy(), atol=1e-6)
    with pytest.raises(TypeError, match="MetaTensor"):
        monai.data.set_track_meta(False)
        try:
            transforms.GaussianSmooth(2.0, use_spacing=True)(volume())
        finally:
            monai.data.set_track_meta(True)


def test_vesselness_is_that_of_each_channel():
    image = volume()
    found = transforms.Vesselness((1.0, 2.0), "frangi", False, gamma=0.3)(image)
    for channel, pixels in zip(found, image):
        expected = itk_cudafilters.vesselness(pixels.numpy(), (1.0, 2.0), "frangi", bright=False, gamma=0.3)
        np.testing.assert_array_equal(channel.numpy(), expected)
    assert found.shape == image.shape and found.dtype == torch.float32


@pytest.mark.parametrize("kind", ["uint8", "int16", "int64", "bool", "float16", "bfloat16", "float64"])
def test_types_of_pixels(kind):
    image = (volume(1) * 100.0).to(getattr(torch, kind))
    for transform in (transforms.GaussianSmooth(1.0), transforms.Vesselness(1.0)):
        found = transform(image)
        assert found.dtype == torch.float32
        np.testing.assert_allclose(found.numpy(), transform(image.float()).numpy(), rtol=1e-4, atol=1e-3)


def test_kinds_of_images():
    image = volume(1)
    expected = transforms.GaussianSmooth(1.0)(image)
    needs_gradient = image.clone().requires_grad_()
    strided = torch.flip(image, (1,)).permute(0, 3, 2, 1).contiguous().permute(0, 3, 2, 1)
    assert torch.equal(transforms.GaussianSmooth(1.0)(image.numpy()), expected)
    found = transforms.GaussianSmooth(1.0)(needs_gradient)
    assert torch.equal(found, expected) and not found.requires_grad
    np.testing.assert_allclose(torch.flip(transforms.GaussianSmooth(1.0)(strided), (1,)).numpy(), expected.numpy(), atol=1e-6)
    assert torch.equal(image, volume(1))


def test_dictionaries_and_chains():
    data = {"image": MetaTensor(volume(), affine=torch.from_numpy(AFFINE)), "label": torch.ones(1, 3), "name": "A"}
    chain = monai.transforms.Compose(
        [transforms.GaussianSmoothd("image", 1.0, mode="nearest"), transforms.Vesselnessd(["image", "other"], 1.0, allow_missing_keys=True)]
    )
    found = pickle.loads(pickle.dumps(chain))(data)
    expected = transforms.Vesselness(1.0)(transforms.GaussianSmooth(1.0, mode="nearest")(data["image"]))
    assert torch.equal(found["image"], expected) and torch.equal(found["image"].affine, data["image"].affine)
    assert found["label"] is data["label"] and found["name"] == "A" and torch.equal(data["image"].as_tensor(), volume())
    with pytest.raises(KeyError, match="other"):
        transforms.GaussianSmoothd(["other"])(data)


def test_a_cached_data_set_keeps_the_results():
    transform = transforms.GaussianSmoothd("image", 1.0)
    cached = monai.data.CacheDataset([{"image": volume()}], transform, progress=False)
    assert torch.equal(cached._cache[0]["image"], transform({"image": volume()})["image"])


def test_wrong_use():
    for call, names in [
        (lambda: transforms.GaussianSmooth(-1.0)(volume()), "sigma"),
        (lambda: transforms.GaussianSmooth((1.0, 2.0))(volume()), "sigma"),
        (lambda: transforms.GaussianSmooth(1.0, mode="around")(volume()), "mode"),
        (lambda: transforms.Vesselness(1.0, "frange")(volume()), "measure"),
        (lambda: transforms.GaussianSmooth(1.0)(torch.zeros(5)), "img has the shape"),
    ]:
        with pytest.raises(ValueError, match=names):
            call()
    with pytest.raises((TypeError, ValueError), match="use_spacing"):
        transforms.GaussianSmooth(1.0, use_spacing="yes")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")
def test_tensors_stay_on_their_gpu():
    image = MetaTensor(volume(), affine=torch.from_numpy(AFFINE)).cuda()
    for transform in (transforms.GaussianSmooth(1.0), transforms.Vesselness(1.0)):
        found = transform(image)
        assert isinstance(found, MetaTensor) and found.device == image.device
        np.testing.assert_allclose(found.cpu().numpy(), transform(image.cpu()).numpy(), rtol=1e-4, atol=1e-5)


def test_examples():
    found = doctest.testmod(transforms)
    assert found.attempted >= 8 and found.failed == 0
