# SPDX-License-Identifier: Apache-2.0
"""Targets with a constant rate of false alarms: decisions, rates, components, masks, refusals."""
import copy
import json
import math
import pickle
import re

import numpy as np
import pytest
from scipy import ndimage, stats

from itk_cudafilters import Detections, Image, Segmentations, detect_targets, estimate_looks, noise_laws, partition_image, partition_images
from itk_cudafilters import segment_region, segment_regions, segment_volume, track_region, write_geojson

LAWS = ("gaussian", "gaussian_common_variance", "gamma", "rayleigh", "poisson", "bernoulli", "log_normal")


def signed_area(ring):
    x, y = ring.T
    return 0.5 * np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])


def draw(law, looks, mean, rng):
    """Noise of a law, whose mean (of intensities for rayleigh) is an array. Ones of bernoulli have the probability `mean`."""
    if law == "gamma":
        return rng.gamma(looks, mean / looks).astype(np.float32)
    if law == "rayleigh":
        return np.sqrt(rng.gamma(looks, mean / looks)).astype(np.float32)
    if law == "poisson":
        return rng.poisson(mean).astype(np.uint16)
    if law == "bernoulli":
        return (rng.random(mean.shape) < mean).astype(np.uint8)
    noise = rng.normal(mean, 1.0)
    return (np.exp(noise) if law == "log_normal" else noise).astype(np.float32)


def window_sums(values, window):
    """Sums over windows that are cut at the image's border, by a table of sums over rectangles."""
    height, width = values.shape
    table = np.zeros((height + 1, width + 1), values.dtype)
    table[1:, 1:] = values.cumsum(0).cumsum(1)
    y, x = np.arange(height), np.arange(width)
    top, bottom = np.maximum(y - window[1] // 2, 0), np.minimum(y + window[1] // 2 + 1, height)
    left, right = np.maximum(x - window[0] // 2, 0), np.minimum(x + window[0] // 2 + 1, width)
    rows = table[bottom] - table[top]
    return rows[:, right] - rows[:, left]


def log_probabilities(pixels, law, looks, target, guard, background, valid):
    """A plain CFAR detector in NumPy and SciPy: the logarithm of the probability of each window by noise alone; 0 where the target
    is not brighter than its ring."""
    values = np.where(valid, pixels, 0).astype(np.float64)
    if law == "log_normal":
        logarithms = np.log(np.where(valid, pixels, pixels[valid][0]).astype(np.float64))
        step = np.ptp(logarithms) / 65535.0  # the library's grid of logarithms has 16 bits
        values = np.where(valid, np.rint((logarithms - logarithms.min()) / step), 0)
    values = values**2 if law == "rayleigh" else values

    def target_and_ring(terms):
        return window_sums(terms, target), window_sums(terms, background) - window_sums(terms, guard)

    n, m = target_and_ring(valid.astype(np.int64))
    a, b = target_and_ring(values)
    is_tested = valid & (m > 0)
    with np.errstate(all="ignore"):
        is_brighter = is_tested & (a / n > b / m)
        if law in ("gamma", "rayleigh"):
            logs = stats.f.logsf(a / n / (b / m), 2 * looks * n, 2 * looks * m)
        elif law == "poisson":
            arguments = (a, a + b, n / (n + m))
            logs = np.logaddexp(stats.binom.logsf(*arguments), stats.binom.logpmf(*arguments) - math.log(2.0))
        elif law == "bernoulli":
            arguments = (a, n + m, a + b, n)
            logs = np.logaddexp(stats.hypergeom.logsf(*arguments), stats.hypergeom.logpmf(*arguments) - math.log(2.0))
        else:
            squares = target_and_ring(values**2)
            freedom = m - 1
            deviations = squares[1] - b**2 / m
            if law == "gaussian_common_variance":
                freedom = n + m - 2
                deviations = deviations + squares[0] - a**2 / n
            t = (a / n - b / m) / np.sqrt(deviations / freedom * (1 / n + 1 / m))
            logs = stats.t.logsf(t, freedom)
    return np.where(is_brighter, logs, 0.0), is_tested


def mean_of(law, level):
    """The mean of a field whose level is 0 for the background, as draw() takes it."""
    return {"poisson": 40.0 * 1.5**level, "bernoulli": 0.15 + 0.2 * level, "gamma": 100.0 * 2.0**level,
            "rayleigh": 100.0 * 2.0**level}.get(law, 3.0 + level)


def draw_scene(law, looks, rng, shape=(120, 150)):
    """Noise with targets of several sizes and levels, some of them on the border."""
    levels = np.zeros(shape)
    for _ in range(12):
        y, x = rng.integers(0, shape[0]), rng.integers(0, shape[1])
        height, width = rng.integers(1, 9, 2)
        levels[y : y + height, x : x + width] = rng.integers(1, 4)
    return draw(law, looks, mean_of(law, levels), rng)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_decisions_are_those_of_a_plain_detector(law, masked):
    rng = np.random.default_rng(20 + LAWS.index(law) + 7 * masked)
    for looks, target, guard, background in ((1.0, (1, 1), (3, 3), (9, 7)), (4.4, (5, 3), (9, 9), (21, 19))):
        pixels = draw_scene(law, looks, rng)
        valid = np.ones(pixels.shape, bool)
        if masked:
            valid = rng.random(pixels.shape) > 0.1
            valid[30:70, :60] = False
        for probability in (1e-6, 1e-3, 0.0437):  # no probability that steps of ones and zeros reach exactly
            logs, is_tested = log_probabilities(pixels, law, looks, target, guard, background, valid)
            found = detect_targets(
                pixels, law, looks, probability_of_false_alarm=probability, target_window=target, guard_window=guard,
                background_window=background, valid_mask=valid if masked else None, backend="host",
            )
            above = logs <= math.log(probability)
            expected, number = ndimage.label(above, np.ones((3, 3)))
            np.testing.assert_array_equal(found.labels, expected)
            assert len(found) == number and found.statistics.number_of_pixels_above_threshold == above.sum()
            assert found.statistics.number_of_tested_pixels == is_tested.sum()
            for detection in found:
                inside = found.labels == detection.number
                x, y = detection.peak
                assert inside[y, x]
                if logs[inside].min() > -700.0:  # SciPy has no logarithms of smaller tails of steps
                    assert logs[y, x] == pytest.approx(logs[inside].min(), rel=1e-5)
                    assert detection.significance == pytest.approx(-logs[y, x] / math.log(10.0), rel=1e-5)


RATES = [(law, 1.0) for law in LAWS if law not in ("gamma", "rayleigh")]
RATES += [(law, looks) for law in ("gamma", "rayleigh") for looks in (1.0, 2.0, 4.4, 16.0)]


@pytest.mark.parametrize("law, looks", RATES)
def test_rate_of_false_alarms_on_noise_alone(law, looks):
    """Of n nearly independent windows, a share of 1e-4 is n / 1e4 with a standard deviation of the root of this. Target windows of
    one pixel are independent, but for the ring; 3 million of them give 300 +- 17, which a factor of 1.5 leaves by more than five
    deviations. A window of ones and zeros needs more pixels for its steps to be small; there, neighbouring windows share most of
    their pixels, so that more are taken."""
    rng = np.random.default_rng(100 + RATES.index((law, looks)))
    windows = (1, 3, 9)
    rows = 1500
    if law == "bernoulli":
        windows, rows = (7, 9, 17), 4000
    mean = np.full((rows, 2000), {"bernoulli": 0.4, "poisson": 50.0}.get(law, 3.0))
    found = detect_targets(
        draw(law, looks, mean, rng), law, looks, probability_of_false_alarm=1e-4, target_window=windows[0], guard_window=windows[1],
        background_window=windows[2], backend="host",
    )
    rate = found.statistics.number_of_pixels_above_threshold / found.statistics.number_of_tested_pixels
    assert 1e-4 / 1.5 < rate < 1.5e-4


def test_rate_of_false_alarms_at_borders_and_in_masks():
    """The threshold is that of the numbers of pixels that are there, so that the rate is the same with half of the windows cut."""
    rng = np.random.default_rng(31)
    above = tested = 0
    for _ in range(60):
        pixels = rng.gamma(2.0, 1.0, (40, 2000)).astype(np.float32)  # all pixels are within 20 of a border
        valid = rng.random(pixels.shape) > 0.5
        found = detect_targets(pixels, "gamma", 2, probability_of_false_alarm=1e-4, target_window=1, guard_window=25,
                               background_window=39, valid_mask=valid, backend="host")
        above += found.statistics.number_of_pixels_above_threshold
        tested += found.statistics.number_of_tested_pixels
    assert 1e-4 / 1.5 < above / tested < 1.5e-4 and tested > 2e6


def test_targets_of_nine_pixels_are_found():
    """Intensity ratio 3, 4 looks, probability 1e-6: at least 95 % of 1,600 targets, and hardly anything else."""
    rng = np.random.default_rng(41)
    mean = np.full((2000, 2000), 10.0)
    corners = [(y, x) for y in range(20, 2000, 50) for x in range(20, 2000, 50)]
    for y, x in corners:
        mean[y : y + 9, x : x + 9] = 30.0
    pixels = rng.gamma(4.0, mean / 4.0).astype(np.float32)
    found = detect_targets(pixels, "gamma", 4, target_window=9, guard_window=21, background_window=41)
    hit = sum(found.labels[y + 4, x + 4] > 0 for y, x in corners)
    assert hit >= 0.95 * len(corners)
    near = ndimage.binary_dilation(mean > 10.0, np.ones((3, 3)), iterations=5)
    outside = [each for each in found if not near[each.peak[1], each.peak[0]]]
    assert len(outside) <= 10 and len(found) <= len(corners) + len(outside) + 5


@pytest.fixture(scope="module")
def scene():
    rng = np.random.default_rng(51)
    mean = np.full((90, 140), 10.0)
    mean[20:25, 30:42] = mean[60:66, 100:104] = 200.0
    return rng.gamma(4.0, mean / 4.0).astype(np.float32)


def test_the_table_is_that_of_the_pixels(scene):
    found = detect_targets(scene, "gamma", 4)
    assert isinstance(found, Detections) and len(found) == 2 and [each.number for each in found] == [1, 2]
    assert found[-1] is found[1] and len(found[:1]) == 1
    table = found.table
    for index, detection in enumerate(found):
        rows, columns = np.nonzero(found.labels == detection.number)
        assert table["pixels"][index] == len(rows) == detection.number_of_pixels
        assert table["row"][index] == pytest.approx(rows.mean()) and table["column"][index] == pytest.approx(columns.mean())
        assert detection.centroid_in_pixels == detection.centroid == (table["x"][index], table["y"][index])
        box = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
        assert tuple(table[name][index] for name in ("x_min", "y_min", "x_max", "y_max")) == box
        assert detection.region == (box[0], box[1], box[2] - box[0], box[3] - box[1]) == tuple(found.regions[index])
        x, y = detection.peak
        assert detection.target.mean == pytest.approx(scene[y - 1 : y + 2, x - 1 : x + 2].mean(), rel=1e-5)
        assert detection.target.number_of_pixels == 9 and detection.background.number_of_pixels == 31**2 - 15**2
        assert detection.significance > 6.0 and detection.statistic > 0.0
    assert {len(column) for column in table.values()} == {2}
    assert "2 targets" in repr(found) and "gamma" in repr(found)
    none = detect_targets(scene, "gamma", 4, minimum_size=10000)
    assert len(none) == 0 and not none.labels.any() and none.regions.shape == (0, 4)
    assert {len(column) for column in none.table.values()} == {0} and none.table.keys() == table.keys()
    assert none.statistics.number_of_pixels_above_threshold == found.statistics.number_of_pixels_above_threshold


def test_sizes_choose_targets(scene):
    sizes = sorted(each.number_of_pixels for each in detect_targets(scene, "gamma", 4))
    assert [each.number_of_pixels for each in detect_targets(scene, "gamma", 4, minimum_size=sizes[1])] == [sizes[1]]
    assert [each.number_of_pixels for each in detect_targets(scene, "gamma", 4, maximum_size=sizes[0])] == [sizes[0]]


def test_a_target_starts_a_segmentation(scene):
    target = detect_targets(scene, "gamma", 4)[0]
    found = segment_region(scene[:60], "gamma", 4, initial_region=target.region)
    assert found.label[20:25, 30:42].mean() > 0.95 and found.label.sum() < 80


def test_outlines_are_those_of_segment_regions(scene):
    found = detect_targets(scene, "gamma", 4, outlines=True)
    expected = segment_regions(scene, "gamma", found.regions, 4, minimum_region_size=4)
    truth = np.zeros(scene.shape, bool)
    truth[20:25, 30:42] = truth[60:66, 100:104] = True
    for target, region in zip(found, expected):
        np.testing.assert_array_equal(target.outline.contour, region.contour)
        assert target.outline.statistics.criterion == region.statistics.criterion and target.outline.significant_boundary
        feature = target.__geo_interface__
        np.testing.assert_array_equal(feature["geometry"]["coordinates"][0][:-1], region.contour)
        assert feature["properties"]["outline_area"] == pytest.approx(truth[expected.labels == region.number].sum(), abs=6)
    assert (truth & (expected.labels > 0)).sum() / (truth | (expected.labels > 0)).sum() > 0.85
    assert all(target.outline is None for target in detect_targets(scene, "gamma", 4))
    none = detect_targets(scene, "gamma", 4, outlines=True, minimum_size=10000)
    assert len(none) == 0
    with pytest.raises(TypeError, match="outlines is 1; it must be True or False"):
        detect_targets(scene, "gamma", 4, outlines=1)


def test_outlines_leave_land_out(scene):
    land = np.zeros(scene.shape, bool)
    land[:, 36:60] = True
    bright = scene.copy()
    bright[land] = 1e4  # a coast through the first target
    found = detect_targets(bright, "gamma", 4, outlines=True, land_mask=land)
    assert len(found) == 2 and found[0].outline.contour[:, 0].max() <= 36.5
    assert found[0].outline.statistics.inside.mean < 1000.0


def test_faint_targets_keep_their_rectangles(scene):
    rng = np.random.default_rng(71)
    noise = rng.gamma(4.0, 1.0, (300, 300)).astype(np.float32)
    found = detect_targets(noise, "gamma", 4, probability_of_false_alarm=1e-3, outlines=True)
    kinds = [target.outline.significant_boundary for target in found]
    assert len(found) > 20 and not all(kinds)
    for target, feature in zip(found, found.__geo_interface__["features"]):
        if not target.outline.significant_boundary:
            left, top, width, height = target.region
            ring = np.array(feature["geometry"]["coordinates"][0])
            assert tuple(ring.min(axis=0)) == (left - 0.5, top - 0.5) and tuple(np.ptp(ring, axis=0)) == (width, height)


@pytest.mark.parametrize("outlines", [False, True])
def test_files_hold_the_targets(scene, tmp_path, outlines):
    array = draw_data_array(scene)
    found = detect_targets(array, "gamma", 4, outlines=outlines)
    for coordinates in ("physical", "pixel"):
        write_geojson(found, tmp_path / "targets.geojson", coordinates=coordinates)
        features = json.loads((tmp_path / "targets.geojson").read_text())["features"]
        assert [feature["properties"]["target"] for feature in features] == [1, 2]
        for feature, target in zip(features, found):
            x, y = np.array(feature["geometry"]["coordinates"][0]).mean(axis=0)
            place = target.centroid if coordinates == "physical" else target.centroid_in_pixels
            assert (x, y) == pytest.approx(place, abs=40.0 if coordinates == "physical" else 4.0)
            ring = np.array(feature["geometry"]["coordinates"][0])
            assert signed_area(ring) > 0.0
            assert feature["properties"]["significance"] == target.significance
    geopandas = pytest.importorskip("geopandas")
    frame = found.to_geodataframe("EPSG:32632")
    assert isinstance(frame, geopandas.GeoDataFrame) and list(frame["target"]) == [1, 2] and frame.crs == "EPSG:32632"


def test_decibels_and_amplitudes_are_converted(scene):
    expected = detect_targets(scene, "gamma", 4)
    for pixels, quantity in ((10.0 * np.log10(scene), "db"), (np.sqrt(scene), "amplitude")):
        found = detect_targets(pixels, "gamma", 4, quantity=quantity)
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.statistics.quantity == "intensity"
        assert found[0].target.mean == pytest.approx(expected[0].target.mean, rel=1e-4)
    as_amplitude = detect_targets(np.sqrt(scene), "rayleigh", 4)
    np.testing.assert_array_equal(as_amplitude.labels, expected.labels)


def test_polygons_of_another_reference_system_are_refused(scene):
    geopandas = pytest.importorskip("geopandas")
    from shapely.geometry import Polygon

    corners = [(79.5, 49.5), (400, 49.5), (400, 400), (79.5, 400)]
    image = Image(scene, metadata={"crs": "EPSG:32632"})
    here = geopandas.GeoSeries([Polygon(corners)], crs="EPSG:32632")
    assert len(detect_targets(image, "gamma", 4, land_mask=here)) == 1
    with pytest.raises(ValueError, match=r"land_mask has the reference system EPSG:4326; it must be that of the image, EPSG:32632"):
        detect_targets(image, "gamma", 4, land_mask=here.set_crs("EPSG:4326", allow_override=True))


def test_looks_are_estimated(scene):
    with pytest.warns(UserWarning, match="looks is not given"):
        found = detect_targets(scene, "gamma")
    assert 2.0 < found.statistics.number_of_looks < 6.0 and len(found) == 2


def test_detections_can_be_pickled(scene):
    found = detect_targets(scene, "gamma", 4)
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert [repr(each) for each in other] == [repr(each) for each in found] and other.statistics == found.statistics
        np.testing.assert_array_equal(other.labels, found.labels)


def draw_data_array(pixels, dims=("y", "x")):
    """Pixels of 20 x 10 metres, north up."""
    xarray = pytest.importorskip("xarray")
    coordinates = {"x": 500000.0 + 10.0 * np.arange(pixels.shape[1]), "y": 7000000.0 - 20.0 * np.arange(pixels.shape[0])}
    return xarray.DataArray(pixels, dims=("y", "x"), coords=coordinates).transpose(*dims)


@pytest.mark.parametrize("dims", [("y", "x"), ("x", "y")])
def test_places_are_those_of_the_map(scene, dims):
    found = detect_targets(draw_data_array(scene, dims), "gamma", 4)
    in_pixels = detect_targets(scene, "gamma", 4)
    assert found.labels.dims == dims
    np.testing.assert_array_equal(found.labels.transpose("y", "x").values, in_pixels.labels)
    for one, other in zip(found, in_pixels):
        column, row = other.centroid_in_pixels
        assert one.centroid == pytest.approx((500000.0 + 10.0 * column, 7000000.0 - 20.0 * row))
        feature = one.__geo_interface__
        ring = np.array(feature["geometry"]["coordinates"][0])
        x, y = ring.T
        assert signed_area(ring) > 0.0  # RFC 7946: counter-clockwise
        left, top, width, height = other.region
        assert (x.min(), x.max()) == (500000.0 + 10.0 * (left - 0.5), 500000.0 + 10.0 * (left + width - 0.5))
        assert (y.max(), y.min()) == (7000000.0 - 20.0 * (top - 0.5), 7000000.0 - 20.0 * (top + height - 0.5))
        assert feature["properties"]["pixels"] == one.number_of_pixels
    assert len(found.__geo_interface__["features"]) == len(found)


def test_images_of_itk_keep_their_geometry(scene):
    import itk

    image = itk.image_from_array(scene)
    image.SetSpacing((0.5, 2.0))
    image.SetOrigin((3.0, -4.0))
    image.SetDirection(itk.matrix_from_array(np.array([[0.0, -1.0], [1.0, 0.0]])))
    land = np.zeros(scene.shape, bool)
    land[50:, 80:] = True
    for parameters in ({}, {"outlines": True}, {"land_mask": land}):
        found, expected = detect_targets(image, "gamma", 4, **parameters), detect_targets(scene, "gamma", 4, **parameters)
        np.testing.assert_array_equal(itk.array_view_from_image(found.labels), expected.labels)
        assert tuple(found.labels.GetSpacing()) == (0.5, 2.0) and len(found) == len(expected)
        for one, other in zip(found, expected):
            column, row = other.centroid
            assert one.centroid == pytest.approx((3.0 - 2.0 * row, -4.0 + 0.5 * column))
            assert one.centroid_in_pixels == other.centroid


def test_windows_in_metres_are_odd_numbers_of_pixels(scene):
    array = draw_data_array(scene)
    found = detect_targets(array, "gamma", 4, target_window=60, guard_window=(150, 300), background_window=620,
                           window_units="physical")
    assert found.statistics.target_window == (7, 3)
    assert found.statistics.guard_window == (15, 15)
    assert found.statistics.background_window == (63, 31)
    in_pixels = detect_targets(array, "gamma", 4, target_window=(7, 3), background_window=(63, 31))
    np.testing.assert_array_equal(found.labels, in_pixels.labels)


def square(x, y, side):
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]


def is_in_ring(points, ring):
    """Whether points are inside a ring, by the number of edges on their right."""
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (x0, y0), (x1, y1) in zip(ring, ring[1:] + ring[:1]):
        if y0 != y1:
            crosses = (min(y0, y1) <= y) & (y < max(y0, y1))
            inside ^= crosses & (x0 + (y - y0) * (x1 - x0) / (y1 - y0) <= x)
    return inside


def test_polygons_hold_the_pixels_whose_centres_are_inside(scene):
    rng = np.random.default_rng(61)
    y, x = np.mgrid[: scene.shape[0], : scene.shape[1]]
    centres = np.column_stack([x.ravel(), y.ravel()]).astype(float)
    for number in range(12):
        rings = [rng.uniform(-30, 170, (rng.integers(3, 12), 2)).tolist() for _ in range(rng.integers(1, 4))]
        if number % 3 == 0:
            rings = np.round(rings[0]).tolist(), square(20.0, 10.0, 50.0), square(30.5, 20.5, 7.0)  # through centres and corners
        expected = np.zeros(len(centres), bool)
        for ring in rings:
            expected ^= is_in_ring(centres, ring)
        polygon = {"type": "Polygon", "coordinates": list(rings)}
        found = detect_targets(scene, "gamma", 4, valid_mask=polygon, target_window=1, guard_window=1, background_window=41)
        mask = expected.reshape(scene.shape)
        direct = detect_targets(scene, "gamma", 4, valid_mask=mask, target_window=1, guard_window=1, background_window=41)
        assert found.statistics == direct.statistics and mask.any()
        np.testing.assert_array_equal(found.labels, direct.labels)


def test_land_is_searched_neither_as_pixels_nor_as_polygons(scene):
    land = np.zeros(scene.shape, bool)
    land[50:, 80:] = True
    polygon = {"type": "Polygon", "coordinates": [[[79.5, 49.5], [400, 49.5], [400, 400], [79.5, 400], [79.5, 49.5]]]}
    pixels = detect_targets(scene, "gamma", 4, land_mask=land)
    assert len(pixels) == 1 and pixels.statistics.number_of_tested_pixels == (~land).sum()
    feature = {"type": "Feature", "properties": {}, "geometry": {"type": "MultiPolygon", "coordinates": [polygon["coordinates"]]}}
    nothing = {"type": "Feature", "properties": {}, "geometry": None}
    shapely = pytest.importorskip("shapely.geometry")
    for polygons in (polygon, feature, {"type": "FeatureCollection", "features": [nothing, feature]}, shapely.shape(polygon),
                     [polygon, feature]):
        found = detect_targets(scene, "gamma", 4, land_mask=polygons)
        assert found.statistics == pixels.statistics
        np.testing.assert_array_equal(found.labels, pixels.labels)
    both = detect_targets(scene, "gamma", 4, land_mask=polygon, valid_mask=~land)
    np.testing.assert_array_equal(both.labels, pixels.labels)
    on_map = draw_data_array(scene, ("x", "y"))
    ring = [[500000.0 + 10.0 * x, 7000000.0 - 20.0 * y] for x, y in polygon["coordinates"][0]]
    on_map = detect_targets(on_map, "gamma", 4, land_mask={"type": "Polygon", "coordinates": [ring]})
    np.testing.assert_array_equal(on_map.labels.transpose("y", "x").values, pixels.labels)


def refuse(scene, message, kind=ValueError, **parameters):
    arguments = {"law": "gamma", "looks": 4.0, **parameters}
    with pytest.raises(kind, match=message):
        detect_targets(scene, **arguments)


def test_wrong_parameters_are_refused_in_words(scene):
    for probability in (0.0, -1e-6, 1.0, 0.2, math.nan):
        refuse(scene, "ProbabilityOfFalseAlarm is .*; it must be above 0 and at most 0.1", probability_of_false_alarm=probability)
    refuse(scene, "probability_of_false_alarm", TypeError, probability_of_false_alarm="small")
    refuse(scene, "TargetWindow is 4 x 4; it must be of odd numbers", target_window=4)
    refuse(scene, "GuardWindow is 15 x 15; it must be at least as large as TargetWindow, which is 17 x 17", target_window=17)
    refuse(scene, "BackgroundWindow is 31 x 15; it must be larger than GuardWindow", background_window=(31, 15))
    refuse(scene, "BackgroundWindow is 91 x 91; it must be at most as large as the image, which has 140 x 90", background_window=91)
    refuse(scene, "guard_window is 2.5; it must be an integer", TypeError, guard_window=2.5)
    refuse(scene, "guard_window is 0; it must be an integer from 1", guard_window=0)
    refuse(scene, "guard_window is .*; it must be a number, or a width and a height", guard_window=(3, 5, 7))
    refuse(scene, "guard_window is -1.0; it must be a length above 0", guard_window=-1.0, window_units="physical")
    refuse(scene, 'window_units is "feet"; it must be one of pixels, physical', window_units="feet")
    refuse(scene, "minimum_size is 0", minimum_size=0)
    refuse(scene, "MaximumNumberOfPixels is 4; it must be 0 for no limit, or at least", minimum_size=5, maximum_size=4)
    refuse(scene, 'law is "weibull"; it must be one of gaussian', law="weibull")
    refuse(scene, "NumberOfLooks is -1; it must be a number above 0", looks=-1)
    refuse(scene[None], "image has 3 dimensions")


def test_wrong_pixels_and_masks_are_refused_in_words(scene):
    refuse(-scene, r"Pixel \[0, 0\] is -", law="gamma")
    refuse(scene, "Bernoulli", law="bernoulli")
    gap = scene.copy()
    gap[3, 5] = np.nan
    refuse(gap, r"Pixel \[5, 3\] is nan")
    assert len(detect_targets(gap, "gamma", 4, valid_mask=np.isfinite(gap))) == 2
    refuse(scene, "0 valid pixels", valid_mask=np.zeros(scene.shape, bool))
    refuse(scene, "valid_mask has the shape", valid_mask=np.ones((3, 3), bool))
    refuse(scene, "land_mask has the shape", land_mask=np.ones((3, 3), bool))
    refuse(scene, "0 valid pixels", land_mask=np.ones(scene.shape, bool))
    far = {"type": "Polygon", "coordinates": [square(1e6, 1e6, 50.0)]}
    refuse(scene, r"valid_mask has no polygon with a pixel of the image inside: the image's corners are at \[-0.5, -0.5\]", valid_mask=far)
    assert len(detect_targets(scene, "gamma", 4, land_mask=far)) == 2
    refuse(scene, "land_mask has a geometry of type LineString", land_mask={"type": "LineString", "coordinates": []})
    refuse(scene, "land_mask has a ring", land_mask={"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]})
    refuse(scene, "land_mask has a ring", TypeError, land_mask={"type": "Polygon", "coordinates": [5]})
    for geometry in ({"type": "Polygon"}, {"type": "MultiPolygon", "coordinates": 5}, {"type": "FeatureCollection", "features": None}):
        refuse(scene, "land_mask has a .* whose member .* is of type .*; it must be a list", TypeError, land_mask=geometry)
    refuse(scene, "land_mask has the point .*nan", land_mask={"type": "Polygon", "coordinates": [[[0, 0], [1, math.nan], [1, 1]]]})


def functions_of_regions(image, law, **start):
    """All functions that find regions in an image, as functions of the looks."""
    return {
        "segment_region": lambda looks: segment_region(image, law, looks, **start),
        "segment_regions": lambda looks: segment_regions(image, law, list(start.values()), looks),
        "partition_image": lambda looks: partition_image(image, law, looks),
        "partition_images": lambda looks: partition_images([image], law, looks)[0],
        "detect_targets": lambda looks: detect_targets(image, law, looks),
        "track_region": lambda looks: next(track_region([image], law, looks, **start)),
        "segment_volume": lambda looks: segment_volume(image[None], law, looks, start_slice=0, **start).slices[0],
    }


@pytest.mark.filterwarnings("ignore:looks is not given")
@pytest.mark.parametrize("law", LAWS)
def test_looks_of_0_are_those_that_nobody_gave(law):
    """In all functions of regions: an estimate for laws with looks, and 1 for the others."""
    mean = np.full((64, 64), 0.4)
    mean[20:44, 16:48] = 0.8
    image = draw(law, 4.0, mean, np.random.default_rng(5))

    def looks_of(found):
        return (found[0] if isinstance(found, Segmentations) else found).statistics.number_of_looks

    for name, function in functions_of_regions(image, law, initial_region=(16, 20, 32, 24)).items():
        expected = looks_of(function(None))
        assert [looks_of(function(looks)) for looks in (0, 0.0, np.float32(0))] == [expected] * 3, name
        assert (expected == 1.0) == (law not in ("gamma", "rayleigh")), name


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)], ids=str)
def test_images_without_pixels_are_refused_in_words(shape):
    image = np.zeros(shape, np.float32)
    for function in (*functions_of_regions(image, "gamma").values(), lambda _: estimate_looks(image)):
        with pytest.raises(ValueError, match=rf"has the shape \((1, )?{re.escape(str(shape)[1:])}; it must have pixels"):
            function(1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("quantity, value, law", [("db", 400.0, "gamma"), ("db", 780.0, "rayleigh"), ("amplitude", 1e30, "gamma")])
def test_pixels_beyond_float32_after_their_conversion(quantity, value, law):
    """They are refused by their place, without a warning of NumPy, and a mask leaves them out."""
    image = np.random.default_rng(4).gamma(4.0, 0.25, (60, 70)).astype(np.float32)
    image[20, 30] = value
    with pytest.raises(ValueError, match=r"Pixel \[30, 20\] is inf"):
        partition_image(image, law, 4, quantity=quantity)
    found = partition_image(image, law, 4, quantity=quantity, valid_mask=image != value)
    assert found.labels[20, 30] == 0 and np.count_nonzero(found.labels == 0) == 1


def test_laws_of_this_file_are_all(scene):
    assert set(LAWS) == set(noise_laws())
