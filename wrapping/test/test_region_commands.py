# SPDX-License-Identifier: Apache-2.0
"""The parts segment and partition of the command itk-cudafilters."""
import csv
import json
import re

import numpy as np
import pytest
from command import DATA, expect_failure, expect_wrong_arguments, keys_of_report, run, write_meta_image
from scenes import ORIGIN, SHAPE, SPACING, draw, inside, overlap

from itk_cudafilters import Image, detect_targets, partition_image, read_image, segment_region, write_image
from itk_cudafilters._pictures import draw_overlay


def scene_image():
    return Image(draw("gamma"), SPACING, ORIGIN)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "in.mha"
    write_image(scene_image(), path)
    return path


def test_partition(capsys, tmp_path, scene):
    ends = {"labels": "tif", "polygons": "geojson", "table": "csv", "means": "mha", "overlay": "png", "report": "json"}
    names = {name: tmp_path / f"{name}.{end}" for name, end in ends.items()}
    outputs = [word for name, path in names.items() for word in (f"--{name}", path)]
    assert run("partition", scene, "--law", "GAMMA", "--looks", 1, "--segment-cost", 12, *outputs) == 0
    printed = capsys.readouterr()
    expected = partition_image(scene_image(), "gamma", looks=1, segment_cost=12)
    assert f"divided with backend {expected.statistics.backend}" in printed.out
    assert printed.err.endswith("labels.tif': TIFF files keep no origin\n")
    assert f"\n{len(expected)} regions, " in printed.out
    labels = read_image(names["labels"]).array
    assert labels.dtype == np.uint16
    np.testing.assert_array_equal(labels, np.asarray(expected.labels))
    means = read_image(names["means"])
    np.testing.assert_array_equal(means.array, np.asarray(expected.means))
    assert means.spacing == SPACING and means.origin == ORIGIN
    lines = list(csv.DictReader(names["table"].open(encoding="utf-8")))
    assert list(lines[0]) == [*expected.table, "neighbours"]
    for name in ("region", "pixels", "mean", "area"):
        np.testing.assert_array_equal([float(line[name]) for line in lines], expected.table[name])
    assert [[int(word) for word in line["neighbours"].split()] for line in lines] == expected.neighbours
    collection = json.loads(names["polygons"].read_text())
    for feature, rings in zip(collection["features"], expected.polygons, strict=True):
        np.testing.assert_array_equal(feature["geometry"]["coordinates"][0][:-1], rings[0])
        assert set(feature["properties"]) == {*lines[0], "coordinates", "input"}
    report = json.loads(names["report"].read_text())
    keys = keys_of_report("partition")
    assert set(report) == set(keys) and report["regions"] == len(expected) and set(report["seconds"]) == {"read", "filter"}
    assert set(collection["partition"]) == set(keys[keys.index("law") : keys.index("description_of_one_region") + 1])
    picture = read_image(names["overlay"]).array
    scale = picture.shape[0] // SHAPE[0]
    boundary = (picture == (255, 150, 30)).all(axis=-1)
    inner = labels[:, 1:] != labels[:, :-1]
    np.testing.assert_array_equal(boundary[scale // 2 :: scale, scale::scale][:, : inner.shape[1]] >= inner, True)


def ships_image():
    rng = np.random.default_rng(9)
    mean = np.full((80, 120), 10.0)
    mean[20:24, 30:40] = mean[60:66, 90:94] = 300.0
    return Image(rng.gamma(4.0, mean / 4.0).astype(np.float32), SPACING, ORIGIN)


def test_detect(capsys, tmp_path):
    ends = {"labels": "tif", "table": "csv", "overlay": "png", "report": "json"}
    names = {name: tmp_path / f"{name}.{end}" for name, end in ends.items()}
    outputs = [word for name, path in names.items() for word in (f"--{name}", path)]
    write_image(ships_image(), tmp_path / "in.mha")
    options = ("--law", "gamma", "--looks", 4, "--target-window", "5,3", "--guard-window", 17, "--outlines")
    assert run("detect", tmp_path / "in.mha", tmp_path / "out.geojson", *options, *outputs) == 0
    printed = capsys.readouterr()
    expected = detect_targets(ships_image(), "gamma", 4, target_window=(5, 3), guard_window=17, outlines=True)
    assert len(expected) == 2 and f"\n2 targets; {expected.statistics.number_of_pixels_above_threshold} of 9600 pixels" in printed.out
    np.testing.assert_array_equal(read_image(names["labels"]).array, expected.labels.array)
    lines = list(csv.DictReader(names["table"].open(encoding="utf-8")))
    for name, column in expected.table.items():
        np.testing.assert_array_equal([float(line[name]) for line in lines], column)
    collection = json.loads((tmp_path / "out.geojson").read_text())
    for feature, target in zip(collection["features"], expected, strict=True):
        np.testing.assert_array_equal(feature["geometry"]["coordinates"][0][:-1], target.outline.contour)
    report = json.loads(names["report"].read_text())
    assert set(report) == set(keys_of_report("detect")) and report["targets"] == 2 and report["target_window"] == [5, 3]
    assert (read_image(names["overlay"]).array == (255, 150, 30)).all(axis=-1).any()


def test_detect_beside_land(tmp_path):
    image = ships_image()
    write_image(image, tmp_path / "in.mha")
    land = np.zeros(image.shape, np.uint8)
    land[50:, 70:] = 1
    write_image(image.with_array(land), tmp_path / "land.mha")
    corners = image.to_physical(np.array([[69.5, 49.5], [200.0, 49.5], [200.0, 200.0], [69.5, 200.0]])).tolist()
    polygon = {"type": "Feature", "properties": None, "geometry": {"type": "Polygon", "coordinates": [corners + corners[:1]]}}
    (tmp_path / "land.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [polygon]}))
    for name in ("land.mha", "land.geojson"):
        given = ("--law", "gamma", "--looks", 4, "--land-mask", tmp_path / name, "--labels", tmp_path / "labels.mha")
        assert run("detect", tmp_path / "in.mha", *given, "--report", tmp_path / "report.json") == 0
        expected = detect_targets(image, "gamma", 4, land_mask=land)
        np.testing.assert_array_equal(read_image(tmp_path / "labels.mha").array, expected.labels.array)
        assert json.loads((tmp_path / "report.json").read_text())["tested_pixels"] == (land == 0).sum()


def test_detect_beside_no_land(tmp_path):
    """A file without polygons, or with empty ones, has no land."""
    image = ships_image()
    write_image(image, tmp_path / "in.mha")
    empty = {"type": "Polygon", "coordinates": []}
    for content in ({"type": "FeatureCollection", "features": []}, empty, {"type": "GeometryCollection", "geometries": [empty]}):
        (tmp_path / "land.geojson").write_text(json.dumps(content))
        given = ("--law", "gamma", "--looks", 4, "--land-mask", tmp_path / "land.geojson", "--report", tmp_path / "report.json")
        assert run("detect", tmp_path / "in.mha", *given) == 0
        assert json.loads((tmp_path / "report.json").read_text())["tested_pixels"] == image.array.size
        found = detect_targets(image, "gamma", 4, land_mask=content)
        assert found.statistics == detect_targets(image, "gamma", 4, land_mask=[]).statistics == detect_targets(image, "gamma", 4).statistics


def test_detect_refuses_land_that_is_none(capsys, tmp_path):
    write_image(ships_image(), tmp_path / "in.mha")
    (tmp_path / "bad.geojson").write_text("{")
    (tmp_path / "line.geojson").write_text('{"type": "LineString", "coordinates": [[1, 2], [3, 4]]}')
    messages = {"bad.geojson": "is no GeoJSON file with polygons", "missing.json": "does not exist or cannot be opened"}
    for name, message in (*messages.items(), ("line.geojson", "has a geometry of type LineString")):
        said = expect_failure(capsys, "detect", tmp_path / "in.mha", "--law", "gamma", "--looks", 4, "--land-mask", tmp_path / name)
        assert message in said


def test_partition_from_labels_and_masks(tmp_path, scene):
    parts, valid = np.zeros(SHAPE, np.uint16), np.ones(SHAPE, np.uint8)
    parts[:, 100:], valid[:40] = 300, 0
    for name, pixels in (("parts", parts), ("valid", valid)):
        write_image(scene_image().with_array(pixels), tmp_path / f"{name}.mha")
    given = ["--initial-labels", tmp_path / "parts.mha", "--valid-mask", tmp_path / "valid.mha", "--no-allow-merging"]
    given += ["--maximum-number-of-iterations", 1, "--labels", tmp_path / "labels.mha"]
    assert run("partition", scene, "--law", "gamma", *given) == 0
    labels = read_image(tmp_path / "labels.mha").array
    assert (labels[:40] == 0).all() and set(np.unique(labels)) == {0, 1, 2}


def test_segment(capsys, tmp_path, scene, backend):
    names = {name: tmp_path / f"out.{end}" for name, end in {"label": "mha", "contour": "geojson", "report": "json"}.items()}
    outputs = [word for name, path in names.items() for word in (f"--{name}", path)]
    assert run("segment", scene, "--law", "GAMMA", "--inside-value", 200, "--backend", backend, *outputs) == 0
    printed = capsys.readouterr()
    assert "segmented with backend " in printed.out and printed.err == ""
    expected = segment_region(scene_image(), "gamma", inside_value=200)
    label = read_image(names["label"])
    assert label.dtype == np.uint8
    np.testing.assert_array_equal(label.array, np.asarray(expected.label))
    assert label.spacing == SPACING and label.origin == ORIGIN
    (feature,) = json.loads(names["contour"].read_text())["features"]
    np.testing.assert_array_equal(feature["geometry"]["coordinates"][0][:-1], expected.contour)
    report = json.loads(names["report"].read_text())
    assert set(report) == set(keys_of_report("segment"))
    first = keys_of_report("segment")
    assert set(feature["properties"]) == {*first[: first.index("physical_perimeter") + 1], "coordinates"}
    assert report["law"] == "gamma" and report["stop"] == "converged" and report["converged"] is True
    assert report["inside"] == {"pixels": expected.statistics.inside.number_of_pixels, "mean": pytest.approx(60, rel=0.1), "variance": None}
    assert set(report["record"][0]) == {"what", "block_side", "step", "nodes", "pixels_inside", "criterion", "change"}
    assert set(report["seconds"]) == {"read", "filter", "samples", "sums", "start", "moves", "removal"}


def test_segment_from_files(tmp_path, scene):
    expected = segment_region(scene_image(), "gamma", looks=1, initial_region=(70, 60, 50, 40))
    mask = np.zeros(SHAPE, np.uint16)
    mask[60:100, 70:120] = 256
    write_image(mask, tmp_path / "mask.png")
    write_image(scene_image().with_array(mask), tmp_path / "mask.mha")
    ring = [[x * SPACING[0] + ORIGIN[0], y * SPACING[1] + ORIGIN[1]] for x, y in ((69.5, 59.5), (119.5, 59.5), (119.5, 99.5), (69.5, 99.5))]
    polygon = {"type": "Polygon", "coordinates": [ring + ring[:1]]}
    (tmp_path / "physical.geojson").write_text(json.dumps(polygon))
    pixel = {"type": "Polygon", "coordinates": [[[69.5, 59.5], [119.5, 59.5], [119.5, 99.5], [69.5, 99.5], [69.5, 59.5]]]}
    feature = {"type": "Feature", "properties": {"coordinates": "pixel"}, "geometry": pixel}
    (tmp_path / "pixel.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    starts = {
        "--initial-region": "70,60,50,40",
        "--initial-mask": tmp_path / "mask.mha",
        "--initial-contour": tmp_path / "physical.geojson",
    }
    for option, value in [*starts.items(), ("--initial-contour", tmp_path / "pixel.geojson")]:
        assert run("segment", scene, "--law", "gamma", "--looks", 1, option, value, "--label", tmp_path / "label.png") == 0
        np.testing.assert_array_equal(read_image(tmp_path / "label.png").array, np.asarray(expected.label))


def test_segment_with_a_mask_of_valid_pixels(tmp_path, scene):
    valid = np.ones(SHAPE, np.uint8)
    valid[:, :30] = 0
    write_image(scene_image().with_array(valid), tmp_path / "valid.mha")
    report = tmp_path / "report.json"
    assert run("segment", scene, "--law", "gamma", "--valid-mask", tmp_path / "valid.mha", "--report", report) == 0
    found = json.loads(report.read_text())
    assert found["inside"]["pixels"] + found["outside"]["pixels"] == valid.sum()


def test_parameters_of_segment_reach_the_filter(tmp_path, scene):
    parameters = ["--schedule", "AsPublished", "--maximum-step", 16, "--minimum-edge-length", 8, "--minimum-gain", 1e-3]
    parameters += ["--no-use-description-length", "--maximum-number-of-iterations", 40, "--maximum-number-of-nodes", 100]
    parameters += ["--minimum-region-size", 100, "--start", "margin-rectangle", "--looks", 2.5]
    assert run("segment", scene, "--law", "gamma", *parameters, "--report", tmp_path / "report.json") == 0
    expected = segment_region(
        scene_image(),
        "gamma",
        schedule="as_published",
        maximum_step=16,
        minimum_edge_length=8.0,
        minimum_gain=1e-3,
        use_description_length=False,
        maximum_number_of_iterations=40,
        maximum_number_of_nodes=100,
        minimum_region_size=100,
        start="margin_rectangle",
        number_of_looks=2.5,
    ).statistics
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["criterion"] == pytest.approx(expected.criterion, rel=1e-12)
    assert report["stop"] == expected.stop and len(report["record"]) == len(expected.record)


def test_segment_before_a_local_background(capsys, tmp_path, scene):
    start = ["--initial-region", "60,40,30,30", "--local-background", "--margin", 12]
    assert run("segment", scene, "--law", "gamma", "--looks", 1, *start, "--label", tmp_path / "label.mha") == 0
    local = {"initial_region": (60, 40, 30, 30), "local_background": True, "margin": 12}
    expected = segment_region(scene_image(), "gamma", 1, **local)
    assert expected.label.array.any()
    np.testing.assert_array_equal(read_image(tmp_path / "label.mha").array, expected.label.array)
    capsys.readouterr()
    for wrong, words in ((["--local-background"], "without a start"), (["--margin", 12], "--margin is 12, and --local-background is not set")):
        assert words in expect_wrong_arguments(capsys, "segment", scene, "--law", "gamma", *wrong)


def test_segment_takes_the_luminance_of_colours_and_single_slices(tmp_path):
    grey = draw("poisson", np.uint8)
    colours = np.repeat(grey[..., None], 3, axis=2)
    write_image(Image(colours, has_components=True), tmp_path / "colour.png")
    write_image(grey[None], tmp_path / "slice.mha")
    for name in ("colour.png", "slice.mha"):
        assert run("segment", tmp_path / name, "--law", "poisson", "--label", tmp_path / "label.png") == 0
        assert overlap(read_image(tmp_path / "label.png").array) > 0.95


def test_images_that_cannot_be_segmented(capsys, tmp_path, scene):
    for part, done in (("segment", "segmented"), ("partition", "divided")):
        text = expect_failure(capsys, part, DATA / "HeadT1Volume.nii.gz", "--law", "gamma")
        assert "has 3 dimensions" in text and f"can be {done}" in text
    write_meta_image(tmp_path / "int.mha", np.ones((1, 20, 20, 1), "i4"))
    assert "pixels of type int, which are not supported" in expect_failure(capsys, "segment", tmp_path / "int.mha", "--law", "gamma")
    write_meta_image(tmp_path / "vector.mha", np.ones((1, 20, 20, 2), "f4"), 2)
    assert "has 2 components per pixel" in expect_failure(capsys, "segment", tmp_path / "vector.mha", "--law", "gamma")
    assert "'none.mha' does not exist" in expect_failure(capsys, "segment", scene, "--law", "gamma", "--valid-mask", "none.mha")
    for part, option, name in (("segment", "--label", "l.txt"), ("partition", "--labels", "l.txt"), ("partition", "--means", "m.svg")):
        text = expect_failure(capsys, part, scene, "--law", "gamma", option, tmp_path / name)
        assert f"{name}' belongs to none of the known formats" in text


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        "7",
        '{"type": "Point", "coordinates": [1, 2]}',
        '{"type": "FeatureCollection", "features": []}',
        '{"type": "FeatureCollection", "features": null}',
        '{"type": "Feature", "geometry": null}',
        '{"type": "Polygon", "coordinates": 3}',
        '{"type": "Polygon", "coordinates": [["a", "b"]]}',
        '{"type": "Polygon", "coordinates": ' + 200_000 * "[",
        '{"type": "Polygon", "properties": ' + 200_000 * "[" + 200_000 * "]" + "}",
    ],
    ids=lambda text: text[:60],
)
def test_contours_that_are_none(capsys, tmp_path, scene, text):
    (tmp_path / "bad.geojson").write_text(text)
    said = expect_failure(capsys, "segment", scene, "--law", "gamma", "--initial-contour", tmp_path / "bad.geojson")
    assert said.endswith("bad.geojson' is no GeoJSON file with polygons\n")


def test_pixels_without_a_value_are_refused(capsys, tmp_path):
    """With a word on the option that leaves them out."""
    pixels = np.random.default_rng(2).gamma(1.0, 10.0, (40, 50)).astype(np.float32)
    pixels[5, 5] = -3.4e38
    write_image(pixels, tmp_path / "no_data.mha")
    pixels[5, 5] = np.nan
    write_image(pixels, tmp_path / "nan.mha")
    write_image((np.isfinite(pixels)).astype(np.uint8), tmp_path / "valid.png")
    for part in ("segment", "partition"):
        text = expect_failure(capsys, part, tmp_path / "nan.mha", "--law", "gamma")
        assert "Pixel [5, 5] is nan; NoiseLaw Gamma needs values of 0 or more" in text and "left out by --valid-mask" in text
        text = expect_failure(capsys, part, tmp_path / "no_data.mha", "--law", "gaussian")
        assert "Pixel [5, 5] is -3.4e+38" in text and "would lose the digits of the others. Leave such pixels out by --valid-mask" in text
        for name in ("nan", "no_data"):
            assert run(part, tmp_path / f"{name}.mha", "--law", "gamma", "--valid-mask", tmp_path / "valid.png") == 0
        capsys.readouterr()


def test_contours_in_folders_and_that_cross_themselves(capsys, tmp_path, scene):
    assert "Is a directory" in expect_failure(capsys, "segment", scene, "--law", "gamma", "--initial-contour", tmp_path)
    ring = [[10, 0], [30, 40], [30, 0], [10, 40], [10, 0]]
    (tmp_path / "crossing.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    text = expect_failure(capsys, "segment", scene, "--law", "gamma", "--initial-contour", tmp_path / "crossing.geojson")
    assert "crosses or touches itself" in text


def test_the_first_polygon_of_a_file_is_the_start(tmp_path, scene):
    """Also if there is a point before it, or if it is the only part of a MultiPolygon, as QGIS writes it."""
    ring = [[9.5, 9.5], [29.5, 9.5], [29.5, 49.5], [9.5, 49.5], [9.5, 9.5]]
    point = {"type": "Feature", "properties": None, "geometry": {"type": "Point", "coordinates": [1, 2]}}
    for kind, coordinates in (("Polygon", [ring]), ("MultiPolygon", [[ring]])):
        feature = {"type": "Feature", "properties": {"coordinates": "pixel"}, "geometry": {"type": kind, "coordinates": coordinates}}
        (tmp_path / "c.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [point, feature]}))
        options = ("--schedule", "as-published", "--initial-contour", tmp_path / "c.geojson", "--report", tmp_path / "r.json")
        assert run("segment", scene, "--law", "gamma", "--looks", 1, *options) == 0
        assert json.loads((tmp_path / "r.json").read_text())["record"][0]["pixels_inside"] == 20 * 40


def test_a_contour_in_pixels_of_a_slice_of_a_volume(tmp_path):
    pixels = np.random.default_rng(3).gamma(2.0, 10.0, (1, 24, 32)).astype(np.float32)
    write_image(Image(pixels, (1.0, 2.0, 5.0), (10.0, 20.0, 30.0)), tmp_path / "slice.mha")
    ring = [[0.5, 0.5], [5.5, 0.5], [5.5, 4.5], [0.5, 4.5], [0.5, 0.5]]
    feature = {"type": "Feature", "properties": {"coordinates": "pixel"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (tmp_path / "c.geojson").write_text(json.dumps(feature))
    options = ("--looks", 2, "--schedule", "as-published", "--initial-contour", tmp_path / "c.geojson", "--report", tmp_path / "r.json")
    assert run("segment", tmp_path / "slice.mha", "--law", "gamma", *options) == 0
    assert json.loads((tmp_path / "r.json").read_text())["record"][0]["pixels_inside"] == 20


def test_files_of_segment_are_starts(capsys, tmp_path):
    """On the radar sample, with a start and steps of which the result is known."""
    sample, label, contour, report = DATA / "sar_fields_1000x500.png", tmp_path / "l.png", tmp_path / "c.geojson", tmp_path / "r.json"
    model = ("segment", sample, "--law", "rayleigh", "--looks", 1, "--report", report)
    search = ("--initial-region", "700,140,28,95", "--maximum-step", 2, "--minimum-edge-length", 16)
    assert run(*model, *search, "--label", label, "--contour", contour) == 0
    assert "inside 3203 pixels" in capsys.readouterr().out
    assert json.loads(report.read_text())["inside"]["pixels"] == 3203 == (read_image(label).array != 0).sum()
    assert run(*model, "--schedule", "as-published", "--initial-contour", contour) == 0
    assert json.loads(report.read_text())["record"][0]["pixels_inside"] == 3203
    assert run(*model, "--schedule", "as-published", "--initial-mask", label) == 0
    assert json.loads(report.read_text())["record"][0]["pixels_inside"] == pytest.approx(3203, rel=0.01)


def test_partition_of_a_picture_without_noise(capsys, tmp_path):
    """Two rectangles: every number of the answer is known."""
    pixels = np.full((40, 60), 100, np.uint8)
    pixels[10:30, 20:40] = 200
    write_image(Image(pixels, (0.5, 1.0), (9.25, -0.5)), tmp_path / "in.mha")
    names = {name: tmp_path / f"x.{end}" for name, end in (("polygons", "geojson"), ("table", "csv"), ("report", "json"), ("labels", "tif"))}
    outputs = [word for name, path in names.items() for word in (f"--{name}", path)]
    assert run("partition", tmp_path / "in.mha", "--law", "gaussian", *outputs, "--overlay", tmp_path / "o.png") == 0
    assert "\n2 regions, 8 nodes, " in capsys.readouterr().out
    report = json.loads(names["report"].read_text())
    assert (report["regions"], report["nodes"], report["edges"], report["stop"]) == (2, 8, 8, "converged")
    feature = json.loads(names["polygons"].read_text())["features"][1]
    assert feature["properties"]["coordinates"] == "physical"
    assert feature["geometry"]["coordinates"] == [[[19, 9], [29, 9], [29, 29], [19, 29], [19, 9]]]
    row = list(csv.DictReader(names["table"].open(encoding="utf-8")))[1]
    expected = {"pixels": 400, "mean": 200, "mean_square": 40000, "area": 400, "perimeter": 80, "x_min": 20, "y_min": 10, "x_max": 40, "y_max": 30}
    assert {name: float(row[name]) for name in expected} == expected and row["neighbours"] == "1"
    np.testing.assert_array_equal(read_image(names["labels"]).array, np.where(pixels == 200, 2, 1))
    assert (read_image(tmp_path / "o.png").array == (255, 150, 30)).all(axis=-1).any()
    for options in (("gaussian", "--initial-labels", tmp_path / "in.mha"), ("bernoulli", "--foreground-threshold", 150), ("bernoulli", "--foreground-threshold", 150, "--labels-only")):
        assert run("partition", tmp_path / "in.mha", "--law", *options, "--means", tmp_path / "means.mha", "--report", names["report"]) == 0
        np.testing.assert_array_equal(read_image(tmp_path / "means.mha").array, pixels)
    assert json.loads(names["report"].read_text())["stop"] == "labels_only"


def test_names_of_values_are_those_of_the_functions(capsys, tmp_path, scene):
    report = tmp_path / "r.json"
    assert run("segment", scene, "--law", "Log-Normal", "--schedule", "AsPublished", "--maximum-number-of-iterations", 1, "--report", report) == 0
    found = json.loads(report.read_text())
    assert (found["law"], found["schedule"], found["stop"]) == ("log_normal", "as_published", "maximum_number_of_iterations")
    assert "not converged: stopped by maximum_number_of_iterations\n" in capsys.readouterr().out
    assert run("partition", scene, "--law", "Rayleigh", "--looks", 2.5, "--labels-only") == 0
    assert "; 2.5 looks per pixel; " in capsys.readouterr().out
    assert run("segment", scene, "--law", "gamma", "--looks", 2.5, "--no-use-description-length", "--report", report) == 0
    assert "; 2.5 looks per pixel\n" in capsys.readouterr().out and json.loads(report.read_text())["number_of_looks"] == 2.5


def test_segment_estimates_the_looks(capsys, tmp_path):
    """As the function does, and with its warning as a line of the command."""
    rng = np.random.default_rng(5)
    mean = np.where(np.hypot(*(np.indices((120, 160)) - 60)) < 40, 60.0, 20.0)
    write_image((rng.gamma(9.0, mean / 9.0)).astype(np.float32), tmp_path / "in.mha")
    report = tmp_path / "r.json"
    assert run("segment", tmp_path / "in.mha", "--law", "gamma", "--report", report) == 0
    found = json.loads(report.read_text())["number_of_looks"]
    assert 7.0 < found < 11.0
    said = capsys.readouterr().err
    assert re.fullmatch(r"itk-cudafilters segment: --looks is not given, and ([\d.]+) per pixel are estimated .*; --looks \1 says so .*\n", said)


def test_overlay(tmp_path, scene):
    assert run("segment", scene, "--law", "gamma", "--overlay", tmp_path / "overlay.png") == 0
    picture = read_image(tmp_path / "overlay.png").array
    scale = 5  # 1000 / 200
    assert picture.shape == (SHAPE[0] * scale, SHAPE[1] * scale, 3) and picture.dtype == np.uint8
    found = segment_region(scene_image(), "gamma")
    label = np.kron(np.asarray(found.label), np.ones((scale, scale), np.uint8))
    pixels = draw("gamma").astype(np.float64)
    low, high = np.percentile(pixels, [0.5, 99.5])
    grey = np.floor(np.clip(255.0 * (pixels - low) / (high - low), 0.0, 255.0) + 0.5).astype(np.uint8)
    expected = np.repeat(np.kron(grey, np.ones((scale, scale), np.uint8))[..., None], 3, axis=2)
    padded = np.pad(label, 1, mode="edge")
    edge = np.zeros(label.shape, bool)
    for down, right in ((0, 1), (2, 1), (1, 0), (1, 2)):
        edge |= padded[down : down + label.shape[0], right : right + label.shape[1]] != label
    expected[edge] = (255, 150, 30)
    corners = np.round(scale * (found.contour_in_pixels + 0.5)).astype(int)
    for x, y in corners:
        expected[y - 3 : y + 3, x - 3 : x + 3] = 0
    for x, y in corners:
        expected[y - 2 : y + 2, x - 2 : x + 2] = 255
    np.testing.assert_array_equal(picture, expected)
    np.testing.assert_array_equal(inside(found.contour_in_pixels + 0.5, SHAPE), np.asarray(found.label) != 0)


def test_overlay_without_a_significant_boundary(tmp_path, capsys):
    noise = np.random.default_rng(1).exponential(5.0, (400, 1300)).astype(np.float32)
    noise[0, 0] = 1e-3
    write_image(noise, tmp_path / "noise.mha")
    assert run("segment", tmp_path / "noise.mha", "--law", "gamma", "--overlay", tmp_path / "overlay.png") == 0
    assert "no significant boundary" in capsys.readouterr().out
    picture = read_image(tmp_path / "overlay.png").array
    assert picture.shape == (400, 1300, 3)
    assert (picture[..., 0] == picture[..., 1]).all() and (picture[..., 0] == picture[..., 2]).all()


def test_overlay_of_one_value():
    found = segment_region(draw("gaussian"), "gaussian")
    picture = draw_overlay(np.ones(SHAPE, np.float32), found)
    assert set(np.unique(picture.reshape(-1, 3), axis=0).ravel()) == {0, 30, 150, 255}
