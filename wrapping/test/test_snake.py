# SPDX-License-Identifier: Apache-2.0
"""The region snake: label image, contour, statistics; as a filter, and as itk_cudafilters.segment_region()."""
import base64
import importlib.metadata
import json
import math
import re
import sys
import warnings
import xml.etree.ElementTree

import itk
import numpy as np
import pytest
from filters import SNAKE
from scenes import ORIGIN, SHAPE, SPACING, draw, draw_image, inside, overlap, signed_area, truth

import itk_cudafilters
from itk_cudafilters import noise_laws, segment_region, write_geojson, write_svg

ROTATIONS = {
    "straight": [[1.0, 0.0], [0.0, 1.0]],
    "turned": [[0.0, -1.0], [1.0, 0.0]],
    "mirrored": [[-1.0, 0.0], [0.0, 1.0]],
}


def physical(indices, name):
    return np.array(ORIGIN) + (indices * SPACING) @ np.array(ROTATIONS[name]).T


@pytest.fixture(scope="module")
def found(backend):
    return segment_region(draw("gamma"), "gamma")


@pytest.mark.parametrize("law", noise_laws())
def test_every_law_finds_its_region(law):
    result = segment_region(draw(law), law)
    assert overlap(result.label) > 0.93
    assert result.statistics.significant_boundary
    assert result.statistics.law == law


def test_laws_are_described():
    laws = noise_laws()
    assert {"gaussian", "gamma", "rayleigh"} <= set(laws)
    for name, law in laws.items():
        assert law.name == name and law.description
        assert law.parameter in ("", "number_of_looks", "foreground_threshold")
        assert math.isnan(segment_region(draw(name), name).statistics.inside.variance) != law.uses_squares
    assert laws["gamma"].allowed_values == "values of 0 or more"
    assert laws["gamma"].parameter == "number_of_looks" and laws["bernoulli"].parameter == "foreground_threshold"


def test_laws_are_documented():
    text = importlib.metadata.metadata("itk-cudafilters").get_payload()  # docs/user/python.md
    for law in noise_laws().values():
        parameter = f"`{law.parameter}` " if law.parameter else ""
        assert f"\n| `{law.name}` | {law.description} | {law.allowed_values} | {parameter}|\n" in text


@pytest.mark.parametrize("pixel", [np.uint8, np.uint16, np.int16, np.float32])
def test_every_pixel_type_finds_the_region(pixel):
    assert overlap(SNAKE.function(draw("poisson", pixel), noise_law="poisson")) > 0.95


@pytest.mark.parametrize("name", ROTATIONS)
def test_contour_is_the_boundary_of_the_label_image(name):
    image = draw_image("gamma", direction=ROTATIONS[name])
    snake = SNAKE.run(image, NoiseLaw="gamma", MaximumStep=32)
    label = itk.array_from_image(snake.GetOutput())
    assert overlap(label) > 0.93
    contour = snake.GetContour()
    assert type(contour) is itk.PolyLineParametricPath[2]
    vertices = contour.GetVertexList()
    indices = np.array([list(vertices.ElementAt(i)) for i in range(vertices.Size())])
    corners = indices + 0.5
    np.testing.assert_array_equal(corners, np.round(corners))
    np.testing.assert_array_equal(inside(corners, SHAPE), label != 0)
    points = np.array([list(snake.GetContourPoint(i)) for i in range(snake.GetNumberOfContourPoints())])
    np.testing.assert_allclose(points, physical(indices, name), rtol=0.0, atol=1e-9)
    # Slanting edges divide pixels, of which those belong to the region whose centres do.
    area = np.count_nonzero(label) * SPACING[0] * SPACING[1]
    assert signed_area(points) == pytest.approx(area, rel=0.01)


def test_host_and_other_backends_find_the_same_polygon(found):
    host = segment_region(draw("gamma"), "gamma", backend="host")
    np.testing.assert_array_equal(host.label, found.label)
    np.testing.assert_array_equal(host.contour, found.contour)
    assert host.statistics.criterion == pytest.approx(found.statistics.criterion, rel=1e-12)


def test_statistics_are_those_of_the_pixels(found):
    pixels, label, statistics = draw("gamma"), found.label != 0, found.statistics
    for region, mask in ((statistics.inside, label), (statistics.outside, ~label)):
        assert region.number_of_pixels == np.count_nonzero(mask)
        assert region.mean == pytest.approx(pixels[mask].mean(dtype=np.float64), rel=1e-6)
        assert math.isnan(region.variance), "the Gamma law needs no squares"
    assert statistics.criterion < statistics.criterion_of_one_region
    assert statistics.description_length == pytest.approx(
        statistics.criterion + len(found.contour) * math.log(pixels.size), rel=1e-12
    )
    assert statistics.stop == "converged"


def test_variances_of_the_gaussian_law():
    pixels = draw("gaussian")
    found = segment_region(pixels, "gaussian")
    label = found.label != 0
    assert found.statistics.inside.variance == pytest.approx(pixels[label].var(dtype=np.float64), rel=1e-5)
    assert found.statistics.outside.variance == pytest.approx(pixels[~label].var(dtype=np.float64), rel=1e-5)


def test_record_leads_to_the_result(found):
    record = found.statistics.record
    assert record[0].what == "level"
    assert {step.what for step in record} >= {"level", "iteration", "insertion"}
    assert sum(step.what == "iteration" for step in record) == found.statistics.number_of_iterations
    assert record[-1].number_of_nodes == len(found.contour)
    assert record[-1].number_of_pixels == found.statistics.inside.number_of_pixels
    assert record[-1].criterion == pytest.approx(found.statistics.criterion, rel=1e-12)
    assert set(found.statistics.seconds) == {"samples", "sums", "start", "moves", "removal"}
    assert all(time >= 0.0 for time in found.statistics.seconds.values())


def test_results_of_the_filter():
    image = draw_image("gamma")
    snake = SNAKE.run(image, NoiseLaw="gamma", InsideValue=9, OutsideValue=4)
    label = itk.array_from_image(snake.GetOutput())
    assert set(np.unique(label)) == {4, 9}
    result = snake.GetResult()
    assert result["record"] == snake.GetRecord()
    assert result["stop"] == snake.GetStop() == "Converged" and snake.GetConverged()
    for side in ("Inside", "Outside"):
        values = getattr(snake, f"Get{side}Statistics")()
        assert values.keys() == result[side.lower()].keys()
        assert values["number_of_pixels"] == getattr(snake, f"Get{side}NumberOfPixels")()
        assert values["mean"] == getattr(snake, f"Get{side}Mean")()
        assert math.isnan(getattr(snake, f"Get{side}Variance")())
    assert result["criterion"] == snake.GetCriterion()
    assert result["criterion_of_one_region"] == snake.GetCriterionOfOneRegion()
    assert result["description_length"] == snake.GetDescriptionLength()
    assert result["significant_boundary"] == snake.GetSignificantBoundary() is True
    assert result["number_of_iterations"] == snake.GetNumberOfIterations()
    assert len(result["polygon"]) == snake.GetNumberOfContourPoints()
    np.testing.assert_array_equal(inside(np.array(result["polygon"]), SHAPE), label == 9)


def test_contour_and_statistics_without_a_label_image():
    image = draw_image("gamma")
    expected = SNAKE.run(image, NoiseLaw="gamma")
    snake = SNAKE.run(image, NoiseLaw="gamma", MakeLabelImage=False)
    assert list(snake.GetOutput().GetBufferedRegion().GetSize()) == [0, 0]
    assert snake.GetOutput().GetLargestPossibleRegion() == image.GetLargestPossibleRegion()
    assert snake.GetResult()["polygon"] == expected.GetResult()["polygon"]
    assert snake.GetInsideMean() == expected.GetInsideMean()


def test_observer_sees_every_change_and_changes_nothing():
    image = draw_image("gamma")
    expected = SNAKE.run(image, NoiseLaw="gamma")
    observed = SNAKE.wrapped.New(image, **{**SNAKE.parameters, "NoiseLaw": "gamma"})
    steps, sizes = [], []

    def note():
        steps.append(observed.GetCurrentStep())
        sizes.append(len(observed.GetCurrentPolygon()))

    observed.AddObserver(itk.IterationEvent(), note)
    observed.Update()
    assert steps == expected.GetRecord()
    assert sizes == [step["number_of_nodes"] for step in steps]
    np.testing.assert_array_equal(itk.array_from_image(observed.GetOutput()), itk.array_from_image(expected.GetOutput()))
    observed.RemoveAllObservers()


def test_same_kind_out_as_in():
    xarray = pytest.importorskip("xarray")
    image = draw_image("gamma")
    of_image = segment_region(image, "gamma")
    assert type(of_image.label) is itk.Image[itk.UC, 2]
    assert of_image.label.GetSpacing() == image.GetSpacing() and of_image.label.GetOrigin() == image.GetOrigin()
    of_xarray = segment_region(itk.xarray_from_image(image), "gamma")
    assert isinstance(of_xarray.label, xarray.DataArray)
    assert of_xarray.label.dims == ("y", "x")
    np.testing.assert_allclose(of_xarray.label.coords["y"], ORIGIN[1] + SPACING[1] * np.arange(SHAPE[0]))
    np.testing.assert_array_equal(of_xarray.label.values, itk.array_from_image(of_image.label))
    np.testing.assert_allclose(of_xarray.contour, of_image.contour, rtol=0.0, atol=1e-9)
    of_numpy = segment_region(itk.array_from_image(image), "gamma")
    assert type(of_numpy.label) is np.ndarray and of_numpy.label.dtype == np.uint8
    np.testing.assert_allclose(of_numpy.contour * SPACING + ORIGIN, of_image.contour, rtol=0.0, atol=1e-9)
    for result in (of_image, of_xarray, of_numpy):
        assert result.contour.dtype == np.float64 and result.contour.shape[1] == 2


def test_images_of_double_and_bool_are_converted():
    of_double = segment_region(draw("gamma").astype(np.float64), "gamma")
    np.testing.assert_array_equal(of_double.label, segment_region(draw("gamma"), "gamma").label)
    image = draw_image("gamma", np.float64, ROTATIONS["turned"])
    found = segment_region(image, "gamma")
    np.testing.assert_array_equal(itk.array_from_matrix(found.label.GetDirection()), ROTATIONS["turned"])
    assert overlap(segment_region(draw("bernoulli").astype(bool), "bernoulli").label) > 0.93


@pytest.mark.parametrize("start", ["contour", "mask", "region", "margin_rectangle"])
def test_starts(start):
    image = draw_image("gamma", direction=ROTATIONS["turned"])
    mask = np.zeros(SHAPE, np.uint8)
    mask[60:100, 70:120] = 1
    corners = np.array([[69.5, 59.5], [119.5, 59.5], [119.5, 99.5], [69.5, 99.5]])
    parameters = {
        "contour": {"initial_contour": physical(corners, "turned")},
        "mask": {"initial_mask": mask * 200},
        "region": {"initial_region": (70, 60, 50, 40)},
        "margin_rectangle": {"start": "margin_rectangle"},
    }[start]
    found = segment_region(image, "gamma", **parameters)
    assert overlap(itk.array_view_from_image(found.label)) > 0.93
    first = found.statistics.record[0]
    if start != "margin_rectangle":
        # The coarsest level has blocks of pixels, to whose corners the start is rounded.
        assert abs(first.number_of_pixels - mask.sum()) <= 90 * 2 ** (first.level_exponent + 1)


def test_extreme_pixels_are_refused_unless_they_are_masked():
    """Four no-data values would take the digits of all others away; under a mask they are as any other pixels there."""
    pixels, valid = draw("gamma").astype(np.float32), np.ones(SHAPE, bool)
    for y, x in ((3, 5), (3, 6), (40, 50), (SHAPE[0] - 1, SHAPE[1] - 1)):
        pixels[y, x], valid[y, x] = -3.4e38, False
    with pytest.raises(ValueError, match=r"Pixel \[5, 3\] is -3.4e\+38, the first of 4 so far above.* mask of valid pixels"):
        segment_region(pixels, "gaussian")
    found = segment_region(pixels, "gaussian", valid_mask=valid)
    expected = segment_region(np.where(valid, pixels, np.float32(1.0)), "gaussian", valid_mask=valid)
    np.testing.assert_array_equal(found.contour, expected.contour)
    assert found.statistics.inside.mean == expected.statistics.inside.mean


def test_pixels_that_do_not_count():
    pixels = draw("gamma")
    pixels[:, :30] = 1e5
    valid = np.ones(SHAPE, bool)
    valid[:, :30] = False
    found = segment_region(pixels, "gamma", valid_mask=valid)
    label = found.label != 0
    assert found.statistics.inside.number_of_pixels + found.statistics.outside.number_of_pixels == valid.sum()
    assert (label & valid & truth()).sum() / ((label | truth()) & valid).sum() > 0.93


def test_looks_are_estimated_as_a_partition_estimates_them():
    """Means over four independent intensities have four looks. The filter without looks gives what it gives with the estimate."""
    rng = np.random.default_rng(3)
    one_look = rng.exponential(np.where(truth(), 5.0, 1.0), (4, *truth().shape)).astype(np.float32)
    averaged = one_look.mean(axis=0)
    expected = itk_cudafilters.partition_image(averaged, "gamma").statistics.number_of_looks
    assert 3.0 < expected < 5.0
    with pytest.warns(UserWarning, match=f"looks is not given, and {expected:.3g} per pixel are estimated"):
        estimated = segment_region(averaged, "gamma")
    assert estimated.statistics.criterion == segment_region(averaged, "gamma", looks=expected).statistics.criterion
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        segment_region(one_look[0], "gamma")
        segment_region(averaged, "gamma", number_of_looks=expected)
        segment_region(averaged, "gaussian")


def test_properties_of_geojson_may_be_numbers_of_numpy(tmp_path):
    found = segment_region(draw("gamma"), "gamma", looks=1)
    properties = {"sensor": "X", "angle": np.float32(0.5), "orbit": np.int64(7), "day": np.bool_(True), "sizes": np.arange(3)}
    write_geojson(found, tmp_path / "contour.geojson", properties)
    (feature,) = json.loads((tmp_path / "contour.geojson").read_text())["features"]
    expected = {"sensor": "X", "angle": 0.5, "orbit": 7, "day": True, "sizes": [0, 1, 2]}
    assert {name: feature["properties"][name] for name in expected} == expected
    with pytest.raises(TypeError, match="properties holds a value of type complex; it must be a number"):
        write_geojson(found, tmp_path / "contour.geojson", {"phase": 1j})


@pytest.mark.parametrize("function", [segment_region, itk_cudafilters.partition_image])
def test_looks_have_two_names(function):
    pixels = draw("gamma")
    by_one, by_other = function(pixels, "gamma", looks=2.5).statistics, function(pixels, "gamma", number_of_looks=2.5).statistics
    assert (by_one.description_length if function is segment_region else by_one.description) == (
        by_other.description_length if function is segment_region else by_other.description
    )
    with pytest.raises(TypeError, match="looks and number_of_looks are given"):
        function(pixels, "gamma", 2.5, number_of_looks=2.5)


def test_parameters_reach_the_filter():
    pixels = draw("gamma")
    default = segment_region(pixels, "gamma", looks=1)
    assert len(segment_region(pixels, "gamma", use_description_length=False).contour) > len(default.contour)
    assert set(np.unique(segment_region(pixels, "gamma", inside_value=200, outside_value=3).label)) == {3, 200}
    limited = segment_region(pixels, "gamma", maximum_number_of_iterations=3)
    assert limited.statistics.stop == "maximum_number_of_iterations" and limited.statistics.number_of_iterations == 3
    assert len(segment_region(pixels, "gamma", maximum_number_of_nodes=12, use_description_length=False).contour) <= 12
    published = segment_region(pixels, "gamma", schedule="as_published", maximum_step=16)
    assert {step.level_exponent for step in published.statistics.record} == {0}
    assert published.statistics.record != default.statistics.record
    looks = segment_region(pixels, "gamma", looks=2.0)
    assert looks.statistics.criterion_of_one_region == pytest.approx(2.0 * default.statistics.criterion_of_one_region, rel=1e-6)
    threshold = segment_region(pixels, "bernoulli", foreground_threshold=40.0)
    ones = (pixels > 40.0)[threshold.label != 0]
    assert threshold.statistics.inside.mean == pytest.approx(ones.mean(), rel=1e-9)
    assert segment_region(pixels, "gamma", minimum_edge_length=8.0, use_description_length=False).contour.shape > default.contour.shape
    assert segment_region(pixels, "gamma", minimum_gain=20.0).statistics.number_of_iterations < default.statistics.number_of_iterations
    assert default.statistics.inside.number_of_pixels < 10000
    assert segment_region(pixels, "gamma", minimum_region_size=10000).statistics.inside.number_of_pixels >= 10000
    with pytest.raises(ValueError, match="32000 valid pixels; two regions of MinimumRegionSize 20000 need at least 40000"):
        segment_region(pixels, "gamma", minimum_region_size=20000)


@pytest.mark.parametrize("name", ["as_published", "AsPublished", "aspublished", "AS-PUBLISHED"])
def test_names_are_compared_without_case_and_separators(name):
    pixels = draw("log_normal")
    expected = segment_region(pixels, "log_normal", schedule="as_published", start="margin_rectangle")
    found = segment_region(pixels, "LogNormal", schedule=name, start="Margin-Rectangle", backend="Automatic")
    np.testing.assert_array_equal(found.contour, expected.contour)
    assert found.statistics.law == "log_normal"


def test_backend(found, on_gpu):
    assert found.statistics.backend == ("cuda" if on_gpu else "host")
    host = segment_region(draw("gamma"), "gamma", backend="host").statistics
    assert host.backend == "host" and "Host" in host.backend_reason
    with pytest.raises(RuntimeError, match="The backend of the filter is Cuda, but it cannot be used"):
        segment_region(draw("gamma"), "gamma", backend="cuda", device_index=99)


def test_progress(capfd):
    pytest.importorskip("tqdm")
    expected = segment_region(draw("gamma"), "gamma")
    assert capfd.readouterr().err == ""
    shown = segment_region(draw("gamma"), "gamma", progress=True)
    np.testing.assert_array_equal(shown.label, expected.label)
    assert re.search(r"segment_region: +100%", capfd.readouterr().err)


def test_progress_without_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    segment_region(draw("gamma"), "gamma", progress=True)
    assert capsys.readouterr().err.endswith(f"segment_region [{40 * '#'}] 100% \n")


@pytest.mark.parametrize(
    "image, error, message",
    [
        (np.zeros((10, 10, 10), np.float32), ValueError, "image has 3 dimensions; it must have 2"),
        (itk.Image[itk.RGBPixel[itk.UC], 2].New(), TypeError, "image is an itk.Image of more than one number per pixel"),
        (itk.VectorImage[itk.F, 2].New(), TypeError, "image is an itk.VectorImage of more than one number per pixel"),
    ],
    ids=["volume", "colour", "vector"],
)
def test_images_that_cannot_be_segmented(image, error, message):
    with pytest.raises(error, match=message):
        segment_region(image, "gamma")


@pytest.mark.parametrize(
    "parameters, error, message",
    [
        ({"law": "weibull"}, ValueError, 'law is "weibull"; it must be one of gaussian, .*gamma, rayleigh, poisson'),
        ({"law": None}, TypeError, "law is of type NoneType; it must be one of the names gaussian, "),
        ({"schedule": "random"}, ValueError, 'schedule is "random"; it must be one of coarse_to_fine, as_published'),
        ({"start": "middle"}, ValueError, 'start is "middle"; it must be one of automatic, margin_rectangle'),
        ({"backend": "gpu"}, ValueError, 'backend is "gpu"; it must be one of automatic, cuda, host'),
        ({"inside_value": 256}, ValueError, "inside_value is 256; it must be an integer from 0 to 255"),
        ({"looks": "three"}, TypeError, "looks is .three.; it must be a number"),
        ({"looks": -1.0}, ValueError, "NumberOfLooks is -1"),
        ({"initial_contour": [[1.0, 2.0]]}, ValueError, r"initial_contour has the shape \(1, 2\); it must be N x 2"),
        ({"initial_region": (1, 2, 3)}, ValueError, r"initial_region is \(1, 2, 3\); it must be \(x, y, width, height\)"),
        ({"initial_region": (1, 2, 0, 3)}, ValueError, "its width and height 1 or more"),
        ({"initial_region": (1, 2, 1000, 3)}, ValueError, r"initial_region is \(1, 2, 1000, 3\); it must be .* of a rectangle in the image of"),
        ({"initial_region": (1, 2, 3, 4), "initial_mask": np.ones(SHAPE)}, ValueError, "initial_mask and initial_region are given"),
        ({"valid_mask": np.ones((3, 4, 5))}, ValueError, "valid_mask has 3 dimensions"),
        ({"valid_mask": np.ones((3, 4))}, ValueError, r"valid_mask has the shape \(3, 4\); it must be the image's, \(160, 200\)"),
        ({"sigma": 1.0}, TypeError, "sigma"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_wrong_parameters(parameters, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        segment_region(draw("gamma"), **{"law": "gamma", **parameters})


def test_geojson(tmp_path, found):
    write_geojson(found, tmp_path / "contour.geojson", {"name": "an ellipse"})
    collection = json.loads((tmp_path / "contour.geojson").read_text())
    assert collection["type"] == "FeatureCollection"
    (feature,) = collection["features"]
    assert feature["geometry"]["type"] == "Polygon"
    (ring,) = feature["geometry"]["coordinates"]
    assert ring[0] == ring[-1]
    np.testing.assert_array_equal(ring[:-1], found.contour)
    assert signed_area(ring[:-1]) > 0.0, "the outer ring goes counter-clockwise"
    properties = feature["properties"]
    assert properties["law"] == "gamma" and properties["name"] == "an ellipse"
    assert properties["inside"]["pixels"] == found.statistics.inside.number_of_pixels
    assert properties["inside"]["variance"] is None
    assert properties["significant_boundary"] is True
    # A start for the next one.
    again = segment_region(draw("gamma"), "gamma", initial_contour=ring[:-1])
    assert overlap(again.label) > 0.93
    assert properties["coordinates"] == "physical" and "physical units" in collection["description"]


@pytest.mark.parametrize("name", ROTATIONS)
def test_geojson_in_pixels(tmp_path, name):
    found = segment_region(draw_image("gamma", direction=ROTATIONS[name]), "gamma")
    write_geojson(found, tmp_path / "contour.geojson", coordinates="pixel")
    collection = json.loads((tmp_path / "contour.geojson").read_text())
    assert collection["features"][0]["properties"]["coordinates"] == "pixel" and "in pixels" in collection["description"]
    (ring,) = collection["features"][0]["geometry"]["coordinates"]
    assert ring[0] == ring[-1]
    assert signed_area(ring[:-1]) > 0.0, "the outer ring goes counter-clockwise"
    assert {tuple(point) for point in ring} == {tuple(point) for point in found.contour_in_pixels}
    np.testing.assert_array_equal(inside(np.array(ring[:-1]) + 0.5, SHAPE), itk.array_from_image(found.label) != 0)


def test_geojson_in_other_coordinates(tmp_path, found):
    with pytest.raises(ValueError, match='coordinates is "degrees"; it must be one of physical, pixel'):
        write_geojson(found, tmp_path / "contour.geojson", coordinates="degrees")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ROTATIONS)
def test_contour_in_rows_and_columns(name):
    image = draw_image("gamma", direction=ROTATIONS[name])
    found = segment_region(image, "gamma")
    assert found.contour_rc.shape == found.contour.shape
    np.testing.assert_allclose(physical(found.contour_rc[:, ::-1], name), found.contour, rtol=0.0, atol=1e-9)
    # The centre of the first pixel is [0, 0], and its outer corner [-0.5, -0.5].
    corners = found.contour_rc[:, ::-1] + 0.5
    np.testing.assert_array_equal(corners, np.round(corners))
    np.testing.assert_array_equal(inside(corners, SHAPE), itk.array_from_image(found.label) != 0)


def test_rows_and_columns_of_an_image_that_begins_elsewhere():
    image = draw_image("gamma")
    region = itk.ImageRegion[2]([20, 10], [SHAPE[1] - 20, SHAPE[0] - 10])
    part = itk.region_of_interest_image_filter(image, region_of_interest=region)
    moved = itk.image_from_array(itk.array_from_image(part))
    moved.SetRegions(region)
    moved.SetSpacing(SPACING)
    moved.SetOrigin(ORIGIN)
    np.testing.assert_array_equal(segment_region(moved, "gamma").contour_rc, segment_region(part, "gamma").contour_rc)


def test_geo_interface(found):
    feature = found.__geo_interface__
    assert feature["type"] == "Feature" and feature["properties"]["law"] == "gamma"
    (ring,) = feature["geometry"]["coordinates"]
    assert ring[0] == ring[-1] and len(ring) == len(found.contour) + 1
    json.dumps(feature, allow_nan=False)
    shapely = pytest.importorskip("shapely.geometry")
    polygon = shapely.shape(found)
    assert polygon.is_valid and polygon.exterior.is_ccw
    assert polygon.area == pytest.approx(signed_area(found.contour), rel=1e-12)


def test_representation_is_one_line(found):
    text = repr(found)
    assert "\n" not in text and len(text) < 120
    assert "gamma" in text and f"{len(found.contour)} nodes" in text
    assert f"{found.statistics.inside.number_of_pixels} of 32000 pixels inside" in text
    assert "no significant boundary" not in text
    noise = segment_region(np.random.default_rng(1).exponential(5.0, SHAPE).astype(np.float32), "gamma")
    assert "no significant boundary" in repr(noise)
    assert "record" not in repr(found.statistics)


@pytest.mark.parametrize("name", ROTATIONS)
@pytest.mark.parametrize("with_image", [True, False])
def test_svg(tmp_path, name, with_image):
    image = draw_image("gamma", direction=ROTATIONS[name])
    found = segment_region(image, "gamma")
    write_svg(found, tmp_path / "contour.svg", image if with_image else None, title="a < b")
    svg = xml.etree.ElementTree.parse(tmp_path / "contour.svg").getroot()
    names = {"svg": "http://www.w3.org/2000/svg"}
    assert svg.get("viewBox") == f"0 0 {SHAPE[1]} {SHAPE[0]}"
    assert svg.find("svg:title", names).text == "a < b"
    points = svg.find("svg:polygon", names).get("points").split()
    corners = np.array([[float(number) for number in point.split(",")] for point in points])
    np.testing.assert_array_equal(inside(corners, SHAPE), itk.array_from_image(found.label) != 0)
    assert len(svg.findall(".//svg:circle", names)) == len(corners)
    picture = svg.find("svg:image", names)
    assert (picture is not None) == with_image
    if with_image:
        data = picture.get("{http://www.w3.org/1999/xlink}href").removeprefix("data:image/png;base64,")
        (tmp_path / "image.png").write_bytes(base64.b64decode(data))
        grey = itk.array_from_image(itk.imread(str(tmp_path / "image.png")))
        assert grey.shape == SHAPE and grey.dtype == np.uint8
        assert grey[truth()].mean() > 2.0 * grey[~truth()].mean()


def test_svg_of_another_image(tmp_path, found):
    with pytest.raises(ValueError, match=r"image has the shape \(3, 4\); the segmentation's is \(160, 200\)"):
        write_svg(found, tmp_path / "contour.svg", np.zeros((3, 4)))


