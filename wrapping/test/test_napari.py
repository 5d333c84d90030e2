# SPDX-License-Identifier: Apache-2.0
"""The plugin for napari: its manifest by npe2, what its functions compute of layers, and with napari its layers, widgets and
threads. Without napari plain objects with the attributes of its layers take their place."""
import importlib
import importlib.metadata
import inspect
import os
import sys
import types
import typing

import numpy as np
import pytest
from scipy import ndimage

import itk_cudafilters
from itk_cudafilters import _napari

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
COMMANDS = {"smooth": "Smooth", "vesselness": "Enhance vessels", "partition": "Partition", "detect": "Detect targets"}
PLACE = ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")


def plain_layer(data, *, name="cells", scale=None, translate=None, rgb=False, multiscale=False):
    dimension = (data[0] if multiscale else data).ndim - rgb
    return types.SimpleNamespace(
        data=data, name=name, rgb=rgb, multiscale=multiscale, ndim=dimension, contrast_limits=[0.0, 1.0],
        scale=np.ones(dimension) if scale is None else np.array(scale),
        translate=np.zeros(dimension) if translate is None else np.array(translate),
        rotate=np.eye(dimension), shear=np.zeros(dimension * (dimension - 1) // 2), affine=np.eye(dimension + 1),
        units=("pixel",) * dimension, axis_labels=tuple(f"-{axis}" for axis in range(dimension, 0, -1)),
    )


def napari_layer(data, **keywords):
    return pytest.importorskip("napari").layers.Image(data, **{"name": "cells", **keywords})


LAYERS = pytest.mark.parametrize("layer", [plain_layer, napari_layer])


def compute(name, *arguments, **keywords):
    """Calls the function that a widget runs in a thread, and returns its only layer."""
    ((data, attributes, kind),) = getattr(_napari, name).__wrapped__(*arguments, **keywords)
    return data, attributes, kind


def assert_in_place(attributes, image):
    for key in PLACE:
        assert np.array_equal(np.asarray(attributes[key]), np.asarray(getattr(image, key))), key
    assert attributes["name"].startswith(f"{image.name} ")


def test_the_manifest_is_valid_and_names_functions_and_widgets():
    npe2 = pytest.importorskip("npe2")
    manifest = npe2.PluginManifest.from_file(importlib.resources.files(itk_cudafilters) / "napari.yaml")
    manifest.validate_imports()
    assert {widget.command: widget.display_name for widget in manifest.contributions.widgets} == {
        f"itk-cudafilters.{name}": title for name, title in COMMANDS.items()
    }
    for command in manifest.contributions.commands:
        module, _, name = command.python_name.partition(":")
        assert command.id == f"itk-cudafilters.{name}" and callable(getattr(importlib.import_module(module), name))
    menus = {item.command for items in manifest.contributions.menus.values() for item in items}
    assert menus == {command.id for command in manifest.contributions.commands}


def test_an_installation_tells_napari_where_the_manifest_is():
    try:
        found = importlib.metadata.distribution("itk-cudafilters").entry_points
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")
    (entry,) = found.select(group="napari.manifest")
    assert entry.value == "itk_cudafilters:napari.yaml"


@pytest.mark.parametrize("name", COMMANDS)
def test_functions_import_no_napari_and_say_what_their_parameters_are(name):
    function = getattr(_napari, name)
    signature = inspect.signature(function)
    assert signature.return_annotation == "napari.qt.threading.FunctionWorker[list[napari.types.LayerDataTuple]]"
    for parameter in signature.parameters.values():
        assert f"\n    {parameter.name}\n" in function.__doc__
        # magicgui resolves strings without the names of the module.
        assert not isinstance(parameter.annotation, str) or parameter.annotation == "napari.layers.Image"
        limits = typing.get_args(parameter.annotation)[1:]
        if limits and isinstance(limits[0], dict):
            assert limits[0].get("min", parameter.default) <= parameter.default or parameter.name == "law"


@LAYERS
def test_smooth_takes_sigma_in_the_units_of_the_scale(layer):
    pixels = np.random.default_rng(1).random((12, 30, 40), dtype=np.float32)
    image = layer(pixels, scale=(2.0, 0.5, 0.25), translate=(1.0, 2.0, 3.0))
    data, attributes, kind = compute("smooth", image, sigma=1.0)
    np.testing.assert_allclose(data, ndimage.gaussian_filter(pixels, (0.5, 2.0, 4.0), truncate=8), atol=2e-3)
    assert kind == "image" and data.dtype == np.float32 and attributes["contrast_limits"] == tuple(image.contrast_limits)
    assert_in_place(attributes, image)
    planes = compute("smooth", image, sigma=1.0, extent="planes")[0]
    np.testing.assert_allclose(planes, ndimage.gaussian_filter(pixels, (0.0, 2.0, 4.0), truncate=8), atol=2e-4)


@LAYERS
def test_smooth_keeps_times_and_colours_apart(layer):
    rng = np.random.default_rng(2)
    series = rng.random((3, 8, 20, 24), dtype=np.float32)
    data = compute("smooth", layer(series), sigma=1.5)[0]
    np.testing.assert_allclose(data, ndimage.gaussian_filter(series, (0, 1.5, 1.5, 1.5), truncate=8), atol=2e-4)
    photograph = rng.random((30, 40, 3), dtype=np.float32)
    data, attributes, _ = compute("smooth", layer(photograph, rgb=True), sigma=1.5)
    np.testing.assert_allclose(data, ndimage.gaussian_filter(photograph, (1.5, 1.5, 0), truncate=8), atol=2e-4)
    assert attributes["rgb"]


@LAYERS
def test_levels_of_a_pyramid_give_the_finest(layer):
    pixels = np.random.default_rng(3).random((64, 48), dtype=np.float32)
    pyramid = [pixels, pixels[::2, ::2]]
    data = compute("smooth", layer(pyramid, multiscale=True), sigma=1.0)[0]
    assert np.array_equal(data, compute("smooth", layer(pixels), sigma=1.0)[0])


@LAYERS
def test_vesselness_is_that_of_each_volume_with_the_scale(layer):
    series = np.random.default_rng(4).random((2, 10, 24, 28), dtype=np.float32)
    image = layer(series, scale=(60.0, 2.0, 1.0, 1.0))
    data, attributes, kind = compute("vesselness", image, 1.0, 4.0, 3, "sato", False)
    for found, part in zip(data, series):
        expected = itk_cudafilters.vesselness(part, (1.0, 2.0, 4.0), "sato", bright=False, spacing=(2.0, 1.0, 1.0))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert kind == "image" and data.shape == series.shape
    assert_in_place(attributes, image)
    planes = compute("vesselness", image, 1.0, 1.0, 1, "sato", extent="planes")[0]
    assert np.array_equal(planes[1, 3], itk_cudafilters.vesselness(series[1, 3], 1.0, "sato", spacing=(1.0, 1.0)))


def squares(rng, count):
    """Planes of a dark ground with a bright square each, with noise."""
    pixels = rng.normal(10.0, 1.0, (count, 80, 90)).astype(np.float32)
    for index in range(count):
        pixels[index, 20:50, 10 * index + 15 : 10 * index + 50] += 8.0
    return pixels


@LAYERS
def test_partition_numbers_the_regions_of_all_planes(layer):
    pixels = squares(np.random.default_rng(5), 3)
    image = layer(pixels, scale=(5.0, 0.5, 0.5))
    data, attributes, kind = compute("partition", image)
    features = attributes["features"]
    assert kind == "labels" and data.shape == pixels.shape
    assert np.array_equal(np.unique(data), features["index"]) and len(features["index"]) == 6
    for number, count, mean in zip(features["index"], features["pixels"], features["mean"]):
        inside = data == number
        assert inside.sum() == count and np.flatnonzero(inside.any((1, 2))).size == 1
        assert pixels[inside].mean() == pytest.approx(mean, rel=1e-5)
    assert_in_place(attributes, image)


@LAYERS
def test_detect_puts_points_on_targets(layer):
    rng = np.random.default_rng(6)
    pixels = rng.normal(0.0, 1.0, (2, 120, 130)).astype(np.float32)
    pixels[0, 40:44, 70:75] += 12.0
    pixels[1, 90:93, 20:22] += 15.0
    image = layer(pixels, scale=(1.0, 10.0, 10.0))
    data, attributes, kind = compute("detect", image, false_alarms=9)
    assert kind == "points" and len(attributes["features"]["pixels"]) == 2
    np.testing.assert_allclose(data, [[0, 41.5, 72.0], [1, 91.0, 20.5]], atol=1.0)
    assert_in_place(attributes, image)
    nothing = compute("detect", layer(np.zeros((60, 60), np.float32) + rng.normal(0, 1, (60, 60)).astype(np.float32)), false_alarms=30)
    assert nothing[0].shape == (0, 2)


@pytest.mark.parametrize("name", ["vesselness", "partition", "detect"])
@LAYERS
def test_colours_are_refused_by_the_name_of_the_layer(layer, name):
    with pytest.raises(ValueError, match="'cells' has colours"):
        compute(name, layer(np.zeros((20, 20, 3), np.uint8), rgb=True))


@pytest.mark.parametrize("name", COMMANDS)
def test_napari_makes_layers_of_the_results(name):
    layers = pytest.importorskip("napari").layers
    image = napari_layer(squares(np.random.default_rng(7), 2), scale=(5.0, 0.5, 0.5), translate=(1.0, 2.0, 3.0), rotate=(0, 0, 30))
    made = layers.Layer.create(*compute(name, image))
    assert made.scale.tolist() == [5.0, 0.5, 0.5] and made.translate.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(made.data_to_world((1.0, 7.0, 9.0)), image.data_to_world((1.0, 7.0, 9.0)))


@pytest.fixture
def application():
    pytest.importorskip("napari")
    return pytest.importorskip("qtpy.QtWidgets").QApplication.instance() or sys.modules["qtpy.QtWidgets"].QApplication([])


@pytest.mark.parametrize("name", COMMANDS)
def test_napari_makes_widgets(application, name):
    import magicgui

    widget = magicgui.magic_factory(getattr(_napari, name))()
    assert [part.name for part in widget][:-1] == list(inspect.signature(getattr(_napari, name)).parameters)
    if name in ("partition", "detect"):
        assert set(widget.law.choices) == set(itk_cudafilters.noise_laws())


def test_napari_runs_the_work_in_a_thread_and_shows_errors(application):
    from napari.utils.notifications import notification_manager
    from qtpy import QtCore

    def wait(image):
        """Starts a run from inside of an event loop, as a button does, and returns its result or its exception."""
        found, loop = [], QtCore.QEventLoop()

        def start():
            worker = _napari.partition(image)
            for signal in (worker.returned, worker.errored):
                signal.connect(found.append)
                signal.connect(lambda _: QtCore.QTimer.singleShot(0, loop.quit))

        QtCore.QTimer.singleShot(0, start)
        QtCore.QTimer.singleShot(60_000, loop.quit)
        loop.exec_()
        return found[0]

    with notification_manager:  # as in napari's window
        ((data, _, kind),) = wait(napari_layer(squares(np.random.default_rng(8), 1)[0]))
        assert kind == "labels" and data.max() == 2
        failure = wait(napari_layer(np.zeros((20, 20, 3), np.uint8), rgb=True))
        assert "has colours" in str(failure)
        assert [str(failure)] == [record.message for record in notification_manager.records if "colours" in record.message]
