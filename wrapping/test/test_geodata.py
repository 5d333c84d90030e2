# SPDX-License-Identifier: Apache-2.0
"""Scenes on maps: what is read of them, what their pixels are, their looks, and polygons as geodata. The references are
rasterio, shapely, pyogrio and NumPy."""
import json
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest
from command import DATA, ROOT, expect_failure, expect_wrong_arguments, run

from itk_cudafilters import Image, _image_files, detect_targets, estimate_looks, partition_image, read_image, segment_region, segment_regions
from itk_cudafilters import to_geodataframe, track_region, write_geojson, write_geopackage, write_image

rasterio = pytest.importorskip("rasterio")
pyogrio = pytest.importorskip("pyogrio")
shapely = pytest.importorskip("shapely")
import rasterio.shutil  # noqa: E402
import rasterio.warp  # noqa: E402
import rasterio.windows  # noqa: E402
from rasterio.transform import Affine  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

CRS = "EPSG:32633"
NO_DATA = 0
BORDER = ((7, 11), (9, 13))  # rows above and below, columns on the left and on the right
AFFINES = {
    "north-up": Affine(10.1, 0.0, 600000.3, 0.0, -9.7, 5400000.7),
    "south-up": Affine(10.1, 0.0, 600000.3, 0.0, 9.7, 5400000.7),
    "rotated": Affine(8.5, 5.3, 600000.3, 5.6, -8.1, 5400000.7),
    "sheared": Affine(10.0, 1.5, 600000.3, 0.4, -9.0, 5400000.7),
}
ALL_AFFINES = pytest.mark.parametrize("name", AFFINES)


def amplitude():
    """A part of the radar image with bright fields, inside a border without data."""
    pixels = read_image(DATA / "sar_fields_1000x500.png").array[90:290, 560:860]
    return np.pad(np.maximum(pixels, 1), BORDER, constant_values=NO_DATA)


def valid_pixels():
    return np.pad(np.ones((200, 300), bool), BORDER)


def write_raster(path, pixels, transform=AFFINES["north-up"], crs=CRS, tags=None, mask=None, **profile):
    bands = pixels if pixels.ndim == 3 else pixels[None]
    size = {"count": len(bands), "height": bands.shape[1], "width": bands.shape[2]}
    with (
        rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
        rasterio.open(path, "w", driver="GTiff", dtype=bands.dtype, crs=crs, transform=transform, **size, **profile) as file,
    ):
        file.write(bands)
        file.update_tags(**(tags or {}))
        if mask is not None:
            file.write_mask(mask)
    return path


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """Files of the same pixels on maps of all kinds."""
    folder = tmp_path_factory.mktemp("scenes")
    how = {"nodata": NO_DATA, "compress": "deflate", "tiled": True, "blockxsize": 64, "blockysize": 64}
    return {name: write_raster(folder / f"{name}.tif", amplitude(), affine, **how) for name, affine in AFFINES.items()}


@pytest.fixture(scope="module")
def expected():
    """The partition of the array without a map."""
    return partition_image(amplitude(), "rayleigh", valid_mask=valid_pixels())


def move(points, transform):
    """Points, N x 2, by an affine map of rasterio, which counts pixels from the outer corner of the first one."""
    a, b, c, d, e, f = tuple(transform)[:6]
    return np.asarray(points) @ [[a, d], [b, e]] + (c, f)


def vertices(rings):
    """A value that tells polygons apart whatever vertex their rings begin with and which way they go."""
    return sorted(map(tuple, np.round(np.concatenate([np.asarray(ring)[:, :2] for ring in rings]), 5).tolist()))


def open_rings(geometry):
    polygons = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
    return [np.array(ring[:-1]) for polygon in polygons for ring in polygon]


# Polygons by the command


@ALL_AFFINES
def test_partition_as_geopackage(tmp_path, scenes, expected, name, capsys):
    """The polygons are those of the array functions at their place on the map, valid, oriented and in the file's reference
    system. Pixels of the border are in no statistic."""
    assert run("partition", scenes[name], tmp_path / "out.gpkg", "--law", "rayleigh") == 0
    assert capsys.readouterr().out.endswith(f"out.gpkg: {len(expected)} polygons in coordinates of {CRS}\n")
    meta, _, encoded, columns = pyogrio.raw.read(tmp_path / "out.gpkg", layer="regions")
    shapes = shapely.from_wkb(encoded)
    assert meta["crs"] == CRS and len(shapes) == len(expected) > 10
    assert shapely.is_valid(shapes).all() and shapely.coverage_is_valid(shapes)
    for shape, rings in zip(shapes, expected.polygons_in_pixels, strict=True):
        assert shape.exterior.is_ccw and not any(ring.is_ccw for ring in shape.interiors)
        found = [np.array(ring.coords)[:-1] for ring in (shape.exterior, *shape.interiors)]
        np.testing.assert_allclose(vertices(found), vertices(move(ring + 0.5, AFFINES[name]) for ring in rings), rtol=0, atol=2e-5)
    table = dict(zip(meta["fields"], columns))
    labels = np.asarray(expected.labels)
    assert (labels == 0).sum() == (~valid_pixels()).sum() and ((labels == 0) == ~valid_pixels()).all()
    assert table["pixels"].sum() == valid_pixels().sum()
    pixels = amplitude().astype(np.float64)
    np.testing.assert_allclose(table["mean"], [pixels[labels == number].mean() for number in table["region"]], rtol=1e-12)
    np.testing.assert_allclose(table["physical_area"], shapely.area(shapes), rtol=1e-9)
    np.testing.assert_allclose(table["physical_perimeter"], shapely.length(shapes), rtol=1e-9)


@ALL_AFFINES
def test_detection_as_geopackage(tmp_path, scenes, name, capsys):
    """Outlines of targets and their attributes are those of the array function at their place on the map; land in longitude and
    latitude is left out."""
    corners = np.array([[60.0, 30.0], [200.0, 30.0], [200.0, 160.0], [60.0, 160.0]])
    degrees = np.stack(rasterio.warp.transform(CRS, "EPSG:4326", *move(corners, AFFINES[name]).T.tolist()), axis=-1).tolist()
    (tmp_path / "land.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [degrees + degrees[:1]]}))
    land = np.zeros(amplitude().shape, bool)
    land[30:160, 60:200] = True
    options = ("--law", "rayleigh", "--looks", 1, "--probability-of-false-alarm", 1e-4, "--outlines")
    assert run("detect", scenes[name], tmp_path / "out.gpkg", *options, "--land-mask", tmp_path / "land.geojson") == 0
    found = detect_targets(
        amplitude(), "rayleigh", 1, probability_of_false_alarm=1e-4, outlines=True, valid_mask=valid_pixels(), land_mask=land
    )
    assert capsys.readouterr().out.endswith(f"out.gpkg: {len(found)} polygons in coordinates of {CRS}\n") and len(found) > 10
    meta, _, encoded, columns = pyogrio.raw.read(tmp_path / "out.gpkg", layer="regions")
    table = dict(zip(meta["fields"], columns))
    shapes = shapely.from_wkb(encoded)
    assert meta["crs"] == CRS and shapely.is_valid(shapes).all()
    for shape, target, x, y in zip(shapes, found, table["x"], table["y"], strict=True):
        left, top, width, height = target.region
        box = np.array([[left, top], [left + width, top], [left + width, top + height], [left, top + height]])
        ring = target.outline.contour_in_pixels + 0.5 if target.outline.significant_boundary else box
        expected = vertices([move(ring, AFFINES[name])])
        np.testing.assert_allclose(vertices([np.array(shape.exterior.coords)[:-1]]), expected, rtol=0, atol=2e-5)
        assert shape.exterior.is_ccw
        np.testing.assert_allclose((x, y), move(np.add(target.centroid_in_pixels, 0.5)[None], AFFINES[name])[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(table["significance"], [target.significance for target in found])
    np.testing.assert_array_equal(table["pixels"], [target.number_of_pixels for target in found])


@ALL_AFFINES
def test_partition_as_geojson(tmp_path, scenes, expected, name):
    """Longitudes and latitudes are those of the vertices to 1e-9 degrees, there and back, and rings are as RFC 7946 has
    them."""
    assert run("partition", scenes[name], "--law", "rayleigh", tmp_path / "out.geojson") == 0
    collection = json.loads((tmp_path / "out.geojson").read_text())
    assert "crs" not in collection and len(collection["features"]) == len(expected)
    for feature, rings in zip(collection["features"], expected.polygons_in_pixels, strict=True):
        assert feature["properties"]["coordinates"] == "geographic"
        shape = shapely.geometry.shape(feature["geometry"])
        assert shape.is_valid and shape.exterior.is_ccw and not any(ring.is_ccw for ring in shape.interiors)
        assert all(ring[0] == ring[-1] for ring in feature["geometry"]["coordinates"])
        on_map = np.concatenate([move(ring + 0.5, AFFINES[name]) for ring in rings])
        degrees = np.stack(rasterio.warp.transform(CRS, "EPSG:4326", *on_map.T.tolist()), axis=-1)
        found = np.concatenate(open_rings(feature["geometry"]))
        # Each vertex has its nearest one within 1e-9 degrees.
        distance = np.abs(found[:, None] - degrees[None]).max(axis=-1)
        assert len(found) == len(degrees) and distance.min(axis=0).max() < 1e-9 and distance.min(axis=1).max() < 1e-9
        back = np.stack(rasterio.warp.transform("EPSG:4326", CRS, *found.T.tolist()), axis=-1)
        corners = move(back, ~AFFINES[name])
        np.testing.assert_allclose(corners, np.rint(corners), rtol=0, atol=1e-6)


@ALL_AFFINES
def test_segment_of_a_window(tmp_path, scenes, name):
    """A part of the scene has the polygon of the same part of the array, at its place on the map of the whole."""
    column, row, width, height = 120, 30, 150, 160
    part = (slice(row, row + height), slice(column, column + width))
    how = {"looks": 0.7, "initial_region": (25, 30, 40, 90), "maximum_step": 2}
    expected = segment_region(amplitude()[part], "rayleigh", **how)
    window = ["--window", f"{column},{row},{width},{height}", "--initial-region", "25,30,40,90", "--maximum-step", 2, "--looks", 0.7]
    assert run("segment", scenes[name], tmp_path / "out.gpkg", "--law", "rayleigh", *window) == 0
    meta, _, encoded, columns = pyogrio.raw.read(tmp_path / "out.gpkg")
    (shape,), table = shapely.from_wkb(encoded), dict(zip(meta["fields"], columns))
    assert shape.is_valid and shape.exterior.is_ccw and meta["crs"] == CRS
    on_map = move(expected.contour_in_pixels + 0.5 + (column, row), AFFINES[name])
    np.testing.assert_allclose(vertices([shape.exterior.coords[:-1]]), vertices([on_map]), rtol=0, atol=2e-5)
    pixels, inside = amplitude()[part].astype(np.float64), np.asarray(expected.label) != 0
    assert table["pixels"] == inside.sum() and table["significant_boundary"][0]
    np.testing.assert_allclose([table["mean_inside"][0], table["mean_outside"][0]], [pixels[inside].mean(), pixels[~inside].mean()])
    np.testing.assert_allclose(table["contrast"], pixels[inside].mean() / pixels[~inside].mean())
    statistics = expected.statistics
    np.testing.assert_allclose(table["gain"], statistics.criterion_of_one_region - statistics.description_length)
    plain = shapely.Polygon(expected.contour_in_pixels)
    np.testing.assert_allclose([table["area"][0], table["perimeter"][0]], [plain.area, plain.length])
    np.testing.assert_allclose([table["physical_area"][0], table["physical_perimeter"][0]], [shape.area, shape.length])


def test_contour_in_degrees_starts_the_snake(tmp_path, scenes):
    """A file of the command, and one of a map program, which does not say that its coordinates are longitudes."""
    how = ["--law", "rayleigh", "--looks", 0.7, "--maximum-step", 2]
    assert run("segment", scenes["rotated"], tmp_path / "a.geojson", *how, "--initial-region", "154,69,50,100") == 0
    collection = json.loads((tmp_path / "a.geojson").read_text())
    del collection["features"][0]["properties"]
    (tmp_path / "b.geojson").write_text(json.dumps(collection))
    polygon = segment_region(amplitude(), "rayleigh", 0.7, initial_region=(154, 69, 50, 100), maximum_step=2, valid_mask=valid_pixels())
    again = segment_region(
        amplitude(), "rayleigh", 0.7, initial_contour=polygon.contour, maximum_step=2, valid_mask=valid_pixels()
    )
    for name in ("a", "b"):
        files = ("--initial-contour", tmp_path / f"{name}.geojson", "--label", tmp_path / "l.tif")
        assert run("segment", scenes["rotated"], *files, *how) == 0
        np.testing.assert_array_equal(read_image(tmp_path / "l.tif").array, np.asarray(again.label))


@pytest.mark.parametrize("system", ["EPSG:32632", "EPSG:3857", "EPSG:4326", None])
def test_reference_systems_of_files_of_polygons(tmp_path, scenes, system, capsys):
    """GDAL and QGIS name that of a GeoJSON file by a member that RFC 7946 no longer has; without it, it is longitude and latitude."""
    corners = np.array([[60.0, 30.0], [200.0, 30.0], [200.0, 160.0], [60.0, 160.0]])
    ring = rasterio.warp.transform(CRS, system or "EPSG:4326", *move(corners, AFFINES["rotated"]).T.tolist())
    ring = np.stack(ring, axis=-1).tolist()
    polygon = {"type": "Polygon", "coordinates": [ring + ring[:1]]}
    content = {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"coordinates": "geographic"}, "geometry": polygon}]}
    if system is not None:
        name = "urn:ogc:def:crs:OGC:1.3:CRS84" if system == "EPSG:4326" else system.replace("EPSG:", "urn:ogc:def:crs:EPSG::")
        content["crs"] = {"type": "name", "properties": {"name": name}}
    (tmp_path / "polygon.geojson").write_text(json.dumps(content))
    land = np.zeros(amplitude().shape, bool)
    land[30:160, 60:200] = True
    model, given = ("--law", "rayleigh", "--looks", 1), ("--labels", tmp_path / "l.tif")
    assert run("detect", scenes["rotated"], *given, *model, "--land-mask", tmp_path / "polygon.geojson") == 0
    expected = detect_targets(amplitude(), "rayleigh", 1, valid_mask=valid_pixels(), land_mask=land)
    np.testing.assert_array_equal(read_image(tmp_path / "l.tif").array, expected.labels)
    given = ("--label", tmp_path / "l.tif")
    assert run("segment", scenes["rotated"], *given, *model, "--initial-contour", tmp_path / "polygon.geojson") == 0
    expected = segment_region(amplitude(), "rayleigh", 1, valid_mask=valid_pixels(), initial_region=(60, 30, 140, 130))
    np.testing.assert_array_equal(read_image(tmp_path / "l.tif").array, expected.label)
    if system == "EPSG:32632":
        capsys.readouterr()
        del content["crs"]
        (tmp_path / "polygon.geojson").write_text(json.dumps(content))
        for part, option in (("detect", "--land-mask"), ("segment", "--initial-contour")):
            given = (part, scenes["rotated"], *model, option, tmp_path / "polygon.geojson")
            assert "which is no longitude and latitude in degrees" in expect_failure(capsys, *given)


# Reading


@ALL_AFFINES
@pytest.mark.parametrize("point", [False, True])
@pytest.mark.parametrize("crs", [CRS, "EPSG:4326", None, "+proj=laea +lat_0=52 +lon_0=10 +ellps=GRS80"])
def test_place_of_pixels(tmp_path, name, point, crs):
    """The place of an image, of a part of it and of what is written of it is that of rasterio, whether coordinates are those
    of pixels' centres or of their corners. The reader of this package and rasterio agree."""
    pixels = np.random.default_rng(1).integers(1, 255, (23, 31), np.uint8)
    path = write_raster(tmp_path / "in.tif", pixels, AFFINES[name], crs, {"AREA_OR_POINT": "Point"} if point else None)
    with rasterio.open(path) as file:
        transform, system = file.transform, file.crs
        rows, columns = np.mgrid[:23, :31].reshape(2, -1)
        centres = np.stack(file.xy(rows, columns), axis=-1)
        part = file.window_transform(rasterio.windows.Window(5, 7, 20, 11))
    whole, same, window = read_image(path), read_image(path, band=1), read_image(path, window=(5, 7, 20, 11))
    assert (whole.spacing, whole.origin) == (same.spacing, same.origin) and (whole.direction == same.direction).all()
    np.testing.assert_array_equal(whole.array, same.array)
    np.testing.assert_allclose(whole.to_physical(np.stack([columns, rows], axis=-1)), centres, rtol=0, atol=5e-9)
    np.testing.assert_array_equal(window.array, pixels[7:18, 5:25])
    assert same.transform == tuple(transform)[:6] and window.transform == tuple(part)[:6]
    assert (same.crs is None) == (crs is None) and (crs is None or rasterio.crs.CRS.from_user_input(same.crs) == system)
    assert whole.crs == same.crs
    write_image(window, tmp_path / "out.tif")
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.transform == part and (crs is None or file.crs == system)
        np.testing.assert_array_equal(file.read(1), window.array)


@ALL_AFFINES
def test_bounds_are_those_of_all_pixels_that_they_meet(scenes, name):
    rng = np.random.default_rng(2)
    transform, (height, width) = AFFINES[name], amplitude().shape
    rows, columns = np.mgrid[:height, :width].reshape(2, -1)
    offsets = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    corners = np.stack([columns, rows], axis=-1)[:, None] + offsets
    cells = shapely.polygons(move(corners.reshape(-1, 2), transform).reshape(-1, 4, 2))
    for _ in range(4):
        first = move([rng.uniform(0, width), rng.uniform(0, height)], transform)
        box = np.concatenate([first, first + rng.uniform(30, 900, 2)])
        meets = shapely.intersects(shapely.box(*box), cells).reshape(height, width)
        rows, columns = (np.flatnonzero(meets.any(axis=axis)) for axis in (1, 0))
        found = read_image(scenes[name], bounds=box.tolist())
        corner = np.rint(move(found.transform[2::3], ~transform)).astype(int)
        expected = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
        if name in ("north-up", "south-up"):
            assert (*corner, *(corner + found.shape[::-1])) == expected
        else:  # the smallest upright window of a turned rectangle, whose corners may be outside of the raster
            assert (corner <= expected[:2]).all() and (corner + found.shape[::-1] >= expected[2:]).all()


@pytest.mark.parametrize("crs", [CRS, "+proj=laea +lat_0=52 +lon_0=10 +ellps=GRS80"])
def test_reference_systems_that_are_given_are_written(tmp_path, crs):
    """Also in place of the file's own."""
    image = Image(amplitude()[:20, :30], (10.0, 20.0), (600005.0, 5399990.0), [[1, 0], [0, -1]], metadata={"crs": crs})
    write_image(image, tmp_path / "out.tif")
    image = read_image(tmp_path / "out.tif")
    image.metadata["crs"] = "EPSG:3035"
    write_image(image, tmp_path / "other.tif")
    for name, system in (("out", crs), ("other", "EPSG:3035")):
        with rasterio.open(tmp_path / f"{name}.tif") as file:
            assert file.crs == rasterio.crs.CRS.from_user_input(system) and tuple(file.transform)[:6] == (10, 0, 600000, 0, -20, 5400000)


def test_bands_and_masks(tmp_path):
    """Chosen bands, no data of every kind, and scales, against rasterio's masked arrays."""
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 9, (3, 40, 51)).astype(np.int16)
    mask = rng.random((40, 51)) < 0.8
    kinds = {"none": {}, "value": {"nodata": 4}, "mask": {"mask": mask}}
    for kind, how in kinds.items():
        path = write_raster(tmp_path / f"{kind}.tif", pixels, **how)
        with rasterio.open(path) as file:
            masked = file.read(masked=True)
        for band in (1, 3, [2], [3, 1], None):
            numbers = [1, 2, 3] if band is None else np.atleast_1d(band)
            found = read_image(path, band=band)
            chosen = masked[np.array(numbers) - 1]
            assert found.has_components == (len(numbers) > 1) and found.dtype == np.int16
            np.testing.assert_array_equal(np.atleast_3d(found.array), np.moveaxis(chosen.data, 0, -1))
            valid = np.ones(chosen.shape, bool) if found.valid is None else np.moveaxis(np.atleast_3d(found.valid), -1, 0)
            np.testing.assert_array_equal(valid, ~np.ma.getmaskarray(chosen))
    single = read_image(write_raster(tmp_path / "single.tif", pixels[0], mask=mask, compress="deflate"))  # without rasterio
    np.testing.assert_array_equal(single.valid, mask)
    np.testing.assert_array_equal(read_image(tmp_path / "single.tif", band=1).valid, mask)
    np.testing.assert_array_equal(read_image(tmp_path / "single.tif", window=(3, 4, 20, 10)).valid, mask[4:14, 3:23])
    path = write_raster(tmp_path / "scaled.tif", pixels[0], nodata=4)
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5,), (-20.0,)
    scaled = read_image(path)
    assert scaled.dtype == np.float32
    np.testing.assert_array_equal(scaled.valid, pixels[0] != 4)
    np.testing.assert_array_equal(scaled.array[scaled.valid], pixels[0][pixels[0] != 4] * 0.5 - 20.0)


def test_cloud_optimized_scenes(tmp_path, scenes):
    """Files with overviews, as a whole and in parts."""
    expected = read_image(scenes["rotated"])
    with rasterio.open(scenes["rotated"]) as file:
        how = {"compress": "zstd", "predictor": 2, "blocksize": 128, "overviews": "auto"}
        rasterio.shutil.copy(file, tmp_path / "cog.tif", driver="COG", **how)
    with rasterio.open(tmp_path / "cog.tif") as file:
        assert file.overviews(1)
    whole, part = read_image(tmp_path / "cog.tif"), read_image(tmp_path / "cog.tif", window=(100, 70, 150, 90))
    assert (whole.transform, whole.crs, whole.no_data) == (expected.transform, CRS, NO_DATA)
    np.testing.assert_array_equal(whole.array, expected.array)
    np.testing.assert_array_equal(part.array, expected.array[70:160, 100:250])


@pytest.mark.parametrize("has_rasterio", [True, False])
@pytest.mark.parametrize("layout", [{}, {"tiled": True, "blockxsize": 128, "blockysize": 128}], ids=["strips", "tiles"])
def test_unknown_compression_is_an_error(tmp_path, monkeypatch, layout, has_rasterio):
    """A file of a compression that nobody knows is no image of zeros."""
    with rasterio.open(tmp_path / "x.tif", "w", driver="GTiff", width=300, height=200, count=1, dtype="uint8", **layout) as file:
        file.write(np.full((200, 300), 7, np.uint8), 1)
    tag, unknown = (struct.pack("<HHIHH", 259, 3, 1, scheme, 0) for scheme in (1, 60000))
    stored = (tmp_path / "x.tif").read_bytes()
    assert stored.count(tag) == 1
    (tmp_path / "x.tif").write_bytes(stored.replace(tag, unknown))
    if not has_rasterio:
        monkeypatch.setattr(_image_files, "find_spec", lambda name: None)
    with pytest.raises(OSError, match="compressed by the scheme 60000, which needs the package rasterio"):
        read_image(tmp_path / "x.tif")


def test_masked_pixels_are_in_no_region(tmp_path):
    pixels = amplitude() + np.uint8(1) * (amplitude() == 0)
    mask = valid_pixels().copy()
    mask[60:90, 100:140] = False
    image = read_image(write_raster(tmp_path / "m.tif", pixels, mask=mask))
    found, expected = partition_image(image, "rayleigh"), partition_image(pixels, "rayleigh", valid_mask=mask)
    np.testing.assert_array_equal(np.asarray(found.labels), np.asarray(expected.labels))
    np.testing.assert_array_equal(np.asarray(found.labels) == 0, ~mask)
    with pytest.warns(UserWarning, match="mask of pixels without data is not written"):
        write_image(image, tmp_path / "n.tif")


def test_complex_pixels(tmp_path):
    rng = np.random.default_rng(4)
    values = (rng.normal(size=(30, 40)) + 1j * rng.normal(size=(30, 40))).astype(np.complex64)
    path = write_raster(tmp_path / "slc.tif", values)
    np.testing.assert_allclose(read_image(path, quantity="amplitude").array, np.abs(values), rtol=1e-6)
    np.testing.assert_allclose(read_image(path, quantity="intensity").array, np.abs(values) ** 2, rtol=1e-6)
    for how in ({}, {"band": 1}, {"band": 1, "quantity": "db"}):
        with pytest.raises(OSError, match="complex"):
            read_image(path, **how)


def test_other_formats_are_read_by_rasterio(tmp_path):
    pixels = amplitude()[:40, :60]
    with rasterio.open(write_raster(tmp_path / "in.tif", pixels)) as file:
        rasterio.shutil.copy(file, tmp_path / "scene.vrt", driver="VRT")
    np.testing.assert_array_equal(read_image(tmp_path / "scene.vrt").array, pixels)
    (tmp_path / "text.txt").write_text("This is no image.")
    with pytest.raises(OSError, match="is in none of the known formats"):
        read_image(tmp_path / "text.txt")


WRONG_PARTS = [
    ({"band": 2}, "band is 2; it must be the number of a band of '.*', from 1 to 1"),
    ({"band": 0}, "band is 0"),
    ({"band": []}, r"band is \[\]"),
    ({"band": "red"}, "band is 'red'"),
    ({"window": (0, 0, 10)}, r"window is \(0, 0, 10\); it must be four whole numbers"),
    ({"window": (0, 0, 2.5, 3)}, "window is .*; it must be four whole numbers"),
    ({"window": (310, 0, 20, 20)}, r"window is \(310, 0, 20, 20\); it must be \(x, y, width, height\) of a part of the 322 x 218 pixels"),
    ({"window": (-1, 0, 20, 20)}, "window is"),
    ({"window": (0, 0, 0, 20)}, "window is"),
    ({"bounds": (0, 0, 1, 1)}, r"bounds is .* that meets the raster, whose bounds are \(600000.3, "),
    ({"bounds": (600100, 5399000, 600000, 5399500)}, "bounds is"),
    ({"bounds": (np.nan, 0, 1, 1)}, "bounds is .*; it must be four numbers"),
    ({"quantity": "decibel"}, "quantity is 'decibel'; it must be one of intensity, amplitude, db, or None"),
]


@pytest.mark.parametrize("how, message", WRONG_PARTS, ids=str)
def test_parts_that_a_scene_does_not_have(scenes, how, message):
    with pytest.raises(ValueError, match=message):
        read_image(scenes["north-up"], **how)


def test_damaged_scenes(tmp_path, scenes):
    """They are refused or read, and nothing else."""
    rng, whole, path = np.random.default_rng(9), scenes["rotated"].read_bytes(), tmp_path / "in.tif"
    refused = 0
    for trial in range(40):
        content = np.frombuffer(whole, np.uint8).copy()
        if trial % 2:
            content = content[: rng.integers(1, len(content))]
        else:
            content[rng.integers(0, len(content), 8)] = rng.integers(0, 256, 8)
        path.write_bytes(content.tobytes())
        try:
            assert read_image(path, window=(50, 40, 200, 150)).shape == (150, 200)
        except (OSError, ValueError):
            refused += 1
    assert refused >= 20
    assert read_image(scenes["rotated"], window=(50, 40, 200, 150)).shape == (150, 200)


def test_two_parts_at_once(scenes):
    with pytest.raises(TypeError, match="window and bounds are given"):
        read_image(scenes["north-up"], window=(0, 0, 9, 9), bounds=(0, 0, 1, 1))


# What pixels are


def quantities():
    """The same scene as intensities, amplitudes and decibels."""
    rng = np.random.default_rng(5)
    mean = np.full((120, 150), 2.0)
    mean[30:80, 40:110] = 9.0
    intensity = (mean * rng.gamma(4.0, 0.25, mean.shape)).astype(np.float32)
    return {"intensity": intensity, "amplitude": np.sqrt(intensity), "db": 10.0 * np.log10(intensity)}


@pytest.mark.parametrize("law, needed", [("gamma", "intensity"), ("rayleigh", "amplitude"), ("log_normal", "intensity")])
def test_pixels_are_converted_to_what_the_law_needs(law, needed):
    given = quantities()
    for function in (segment_region, partition_image):
        looks = {} if law == "log_normal" else {"looks": 4.0}
        expected = function(given[needed], law, **looks)
        for quantity in ("db",) if law == "log_normal" else given:
            for image in (given[quantity], Image(given[quantity], (10.0, 10.0), (5.0, 7.0), quantity=quantity)):
                found = function(image, law, quantity=None if isinstance(image, Image) else quantity, **looks)
                pixels = [np.asarray(each.label if function is segment_region else each.labels) for each in (found, expected)]
                np.testing.assert_array_equal(*pixels)
                assert found.statistics.quantity == needed and expected.statistics.quantity is None
                if function is partition_image:
                    np.testing.assert_allclose(found.table["mean"], expected.table["mean"], rtol=1e-5, atol=1e-6)


def test_other_laws_take_pixels_as_they_are():
    decibels = quantities()["db"]
    found, expected = partition_image(decibels, "gaussian", quantity="db"), partition_image(decibels, "gaussian")
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.statistics.quantity == "db"


def test_values_for_no_data_are_not_converted():
    """Neither -9999 decibels nor NaN become pixels."""
    decibels = quantities()["db"].copy()
    hidden = np.zeros(decibels.shape, bool)
    hidden[:, :20] = True
    expected = partition_image(decibels, "gamma", 4.0, quantity="db", valid_mask=~hidden)
    for value in (-9999.0, 9999.0, np.nan):
        decibels[hidden] = value
        found = partition_image(Image(decibels, no_data=value, quantity="db"), "gamma", 4.0)
        np.testing.assert_array_equal(np.asarray(found.labels), expected.labels)
        assert found.labels.quantity is None
        assert estimate_looks(Image(decibels, no_data=value, quantity="db")) == estimate_looks(decibels, "db", valid_mask=~hidden)


def test_decibels_given_as_intensity():
    """A message that asks."""
    for function in (segment_region, partition_image):
        for law in ("gamma", "rayleigh"):
            with pytest.raises(ValueError, match=r'Pixel \[\d+, \d+\] is -.*Is the image in decibels\? Then give quantity="db"'):
                function(quantities()["db"], law, 4.0)
    for quantity in ("intensity", "amplitude"):
        question = rf'Pixel \[\d+, \d+\] is -.*; {quantity} has values of 0 or more.*Then give quantity="db"'
        with pytest.raises(ValueError, match=question):
            estimate_looks(quantities()["db"], quantity)
        with pytest.raises(ValueError, match=question):  # by squares and roots nobody would see it
            partition_image(quantities()["db"], "rayleigh" if quantity == "intensity" else "gamma", 4.0, quantity=quantity)
    valid = quantities()["db"] >= 0
    partition_image(quantities()["db"], "gamma", 4.0, quantity="amplitude", valid_mask=valid)


def test_quantities_that_contradict_each_other():
    image = Image(quantities()["db"], quantity="dB")
    for call in (lambda: segment_region(image, "gamma", quantity="intensity"), lambda: estimate_looks(image, "amplitude")):
        with pytest.raises(ValueError, match="the image says 'db'"):
            call()
    with pytest.raises(ValueError, match="quantity is 'decibels'; it must be one of"):
        segment_region(image, "gamma", quantity="decibels")


def test_kinds_of_images_keep_their_kind():
    xarray = pytest.importorskip("xarray")
    decibels = quantities()["db"]
    array = xarray.DataArray(decibels, dims=("y", "x"), coords={"y": 50.0 - 0.5 * np.arange(120), "x": 7.0 + 0.5 * np.arange(150)})
    found = partition_image(array, "gamma", 4.0, quantity="db")
    np.testing.assert_array_equal(found.labels.values, partition_image(decibels, "gamma", 4.0, quantity="db").labels)
    np.testing.assert_array_equal(found.labels.y, array.y)


# Looks


def make_scene(kind, rng):
    """Mean intensities: homogeneous, or fields of random polygons with bright targets, dark roads and a textured corner."""
    height, width = 400, 500
    if kind == "homogeneous":
        return np.full((height, width), 50.0)
    rows, columns = np.mgrid[:height, :width]
    sites = rng.random((150, 2)) * (height, width)
    nearest, least = np.zeros((height, width), int), np.full((height, width), np.inf)
    for number, (y, x) in enumerate(sites):
        distance = (rows - y) ** 2 + (columns - x) ** 2
        nearest, least = np.where(distance < least, number, nearest), np.minimum(distance, least)
    mean = (50.0 * 1.6 ** rng.integers(-3, 4, len(sites)))[nearest]
    for y, x in rng.integers(0, height - 4, (100, 2)):
        mean[y : y + 3, x : x + 3] *= 20.0
    for x in rng.integers(0, width - 2, 8):
        mean[:, x : x + 2] *= 0.2
    mean[:120, :120] *= rng.gamma(2.0, 0.5, (120, 120))
    return mean


@pytest.mark.parametrize("looks", [1.0, 2.0, 4.4, 16.0])
@pytest.mark.parametrize("kind", ["homogeneous", "structure"])
def test_estimated_looks(kind, looks):
    """Within 10 % of the truth, from intensities, amplitudes of 8 and 16 bits, and decibels. Bytes clip the brightest pixels."""
    rng = np.random.default_rng(int(10 * looks))
    mean = make_scene(kind, rng)
    intensity = (mean * rng.gamma(looks, 1.0 / looks, mean.shape)).astype(np.float32)
    found = {
        "intensity": estimate_looks(intensity),
        "db": estimate_looks(10.0 * np.log10(intensity), "db"),
        "amplitude": estimate_looks(np.sqrt(intensity), "amplitude"),
        "16 bits": estimate_looks(np.rint(20.0 * np.sqrt(intensity)).astype(np.uint16), "amplitude"),
        "8 bits": estimate_looks(np.rint(6.0 * np.sqrt(intensity)).clip(0, 255).astype(np.uint8), "amplitude"),
    }
    for name, value in found.items():
        assert abs(value / looks - 1.0) < 0.1, (name, value)
    assert found["db"] == pytest.approx(found["intensity"], rel=1e-4) == pytest.approx(found["amplitude"], rel=1e-4)


def test_estimated_looks_of_correlated_speckle():
    """Independent looks per pixel: the variance of means of large blocks is that of so many. Without correlation both numbers
    are equal."""
    scipy = pytest.importorskip("scipy.ndimage")
    rng = np.random.default_rng(6)
    plain = rng.gamma(4.4, 1 / 4.4, (600, 600))
    assert estimate_looks(plain, correlated=True) == pytest.approx(4.4, rel=0.1)
    waves = scipy.gaussian_filter(rng.normal(size=(2, 4, 600, 600)), (0, 0, 0.6, 0.6))
    speckle = (waves**2).sum(axis=0).mean(axis=0)
    speckle /= speckle.mean()
    blocks = speckle.reshape(50, 12, 50, 12).mean(axis=(1, 3))
    independent = 1.0 / blocks.var() / 144
    assert independent < 2.6 and estimate_looks(speckle) == pytest.approx(4.0, rel=0.1)
    # Means of 4 x 4 pixels are still somewhat correlated.
    assert independent < estimate_looks(speckle, correlated=True) < 1.35 * independent


def test_looks_that_cannot_be_estimated():
    images = (np.ones((20, 200), np.float32), np.full((200, 200), 255, np.uint8), np.zeros((200, 200), np.float32), np.ones((3, 3)))
    for image in images:
        with pytest.raises(ValueError, match="image has 0 windows of 7 x 7 pixels that hold data and speckle; 20 are needed"):
            estimate_looks(image)
    speckle = np.random.default_rng(7).exponential(size=(100, 100)).astype(np.float32)
    with pytest.raises(ValueError, match="image has 0 windows of 16 x 16 pixels"):
        estimate_looks(speckle[:10], correlated=True)
    with pytest.raises(ValueError, match="image has 0 windows"):
        estimate_looks(speckle, valid_mask=np.zeros((100, 100), np.uint8))
    with pytest.raises(TypeError, match="correlated is 1; it must be True or False"):
        estimate_looks(speckle, correlated=1)
    with pytest.raises(ValueError, match="image has 3 dimensions"):
        estimate_looks(np.ones((3, 40, 40), np.float32))
    assert estimate_looks(speckle) == pytest.approx(1.0, rel=0.1)  # the next call works


def test_zeros_without_data_do_not_count():
    """Of floats; integers are 0 where the speckle is dark."""
    speckle = np.random.default_rng(8).gamma(4.0, 0.25, (150, 150)).astype(np.float32)
    framed = np.pad(speckle, 50)
    assert estimate_looks(framed) == pytest.approx(estimate_looks(speckle), rel=0.03)


def test_looks_of_the_command(tmp_path, scenes):
    report = tmp_path / "r.json"
    assert run("partition", scenes["rotated"], "--law", "rayleigh", "--looks", "estimate", "--report", report) == 0
    expected = estimate_looks(amplitude(), "amplitude", correlated=True, valid_mask=valid_pixels())
    assert json.loads(report.read_text())["number_of_looks"] == pytest.approx(expected)


def test_looks_of_the_command_are_those_of_the_sea(tmp_path):
    rng = np.random.default_rng(3)
    land = np.zeros((300, 400), bool)
    land[:, 100:] = True
    pixels = rng.gamma(np.where(land, 1.0, 8.0), np.where(land, 400.0, 12.0)).astype(np.float32)
    write_raster(tmp_path / "sea.tif", pixels)
    left, top = AFFINES["north-up"] * (100, 0)
    right, bottom = AFFINES["north-up"] * (400, 300)
    coast = [[left, top], [left, bottom], [right, bottom], [right, top], [left, top]]
    polygon = {"type": "Polygon", "coordinates": [coast], "crs": {"type": "name", "properties": {"name": CRS}}}
    (tmp_path / "land.geojson").write_text(json.dumps(polygon))
    report = tmp_path / "r.json"
    for mask in ([], ["--land-mask", tmp_path / "land.geojson"]):
        command = ["detect", tmp_path / "sea.tif", tmp_path / "out.gpkg", "--law", "gamma", "--looks", "estimate", "--report", report]
        assert run(*command, *mask) == 0
        looks = json.loads(report.read_text())["number_of_looks"]
        assert (looks == pytest.approx(8.0, rel=0.1)) == bool(mask)
    assert looks == pytest.approx(estimate_looks(pixels, "intensity", correlated=True, valid_mask=~land))


# Attributes and files


def test_gain_of_a_region_is_that_of_its_merge(expected):
    """By merging one step after the other."""
    gains, table = np.full(len(expected), np.nan), expected.table
    for first, second, change in zip(*expected.merges.values()):
        for number in (first, second):
            if np.isnan(gains[number - 1]):
                gains[number - 1] = change
    np.testing.assert_array_equal(table["gain"], gains)
    one_less = expected.merge(number=len(expected) - 1)
    assert one_less.statistics.description - expected.statistics.description == pytest.approx(np.nanmin(gains), rel=1e-6)


def test_means_and_contrast_of_neighbours(expected):
    labels, pixels, table = np.asarray(expected.labels), amplitude().astype(np.float64), expected.table
    around = [pixels[np.isin(labels, numbers)].mean() for numbers in expected.neighbours]
    np.testing.assert_allclose(table["mean_outside"], around, rtol=1e-12)
    np.testing.assert_allclose(table["contrast"], table["mean"] / around, rtol=1e-12)
    alone = partition_image(np.full((20, 30), 3, np.uint8), "gamma", 1.0)
    assert len(alone) == 1 and all(np.isnan(alone.table[name]).all() for name in ("gain", "contrast", "mean_outside"))
    assert json.loads(json.dumps(alone.__geo_interface__, allow_nan=False))["features"][0]["properties"]["gain"] is None


def test_lists_of_results(tmp_path, scenes, expected):
    """Snakes and a partition in one file, with the number of the result."""
    image = read_image(scenes["rotated"])
    starts = [(154, 69, 50, 100), (100, 30, 30, 30)]
    snakes = [segment_region(image, "rayleigh", 0.7, initial_region=start, maximum_step=2) for start in starts]
    write_geopackage([*snakes, partition_image(image, "rayleigh")], tmp_path / "all.gpkg", layer="found")
    meta, _, encoded, columns = pyogrio.raw.read(tmp_path / "all.gpkg", layer="found")
    table = dict(zip(meta["fields"], columns))
    assert table["result"].tolist() == [1, 2] + [3] * len(expected) and meta["crs"] == CRS
    assert np.isnan(table["region"][:2]).all() and table["law"][:2].tolist() == ["rayleigh"] * 2 and table["law"][2] is None
    np.testing.assert_allclose(vertices([shapely.from_wkb(encoded[1]).exterior.coords[:-1]]), vertices([snakes[1].contour]))
    write_geojson(snakes, tmp_path / "two.geojson", {"mission": "x"})
    features = json.loads((tmp_path / "two.geojson").read_text())["features"]
    assert [feature["properties"]["result"] for feature in features] == [1, 2] and features[0]["properties"]["mission"] == "x"
    write_geojson([], tmp_path / "none.geojson")
    assert json.loads((tmp_path / "none.geojson").read_text())["features"] == []
    other = segment_region(read_image(write_raster(tmp_path / "o.tif", amplitude(), crs="EPSG:32632", nodata=0)), "rayleigh", 0.7)
    with pytest.raises(ValueError, match="2 reference systems, EPSG:32632, EPSG:32633; they must have one"):
        write_geopackage([snakes[0], other], tmp_path / "no.gpkg")
    for wrong in ("text", 3, [snakes[0], "text"], None):
        with pytest.raises(TypeError, match="results (is|holds)"):
            write_geopackage(wrong, tmp_path / "no.gpkg")
    assert not (tmp_path / "no.gpkg").exists()


def test_tracks_are_written_like_other_results(tmp_path):
    rng = np.random.default_rng(8)
    frames = []
    for time in range(4):
        pixels = rng.gamma(4.0, 25.0, (80, 120)).astype(np.uint16) + 1
        if time != 2:  # the target is gone: no pixel is valid where it was
            pixels[25:60, 20 + 5 * time : 70 + 5 * time] *= 4
        else:
            pixels[15:70, 10:100] = NO_DATA
        path = tmp_path / f"{time}.tif"
        write_raster(path, pixels, AFFINES["rotated"], nodata=NO_DATA)
        frames.append(read_image(path))
    track = list(track_region(frames, "gamma", 4, minimum_edge_length=8))
    assert [region.is_lost for region in track] == [False, False, True, False]

    write_geojson(track, tmp_path / "track.geojson")
    features = json.loads((tmp_path / "track.geojson").read_text())["features"]
    assert [feature["properties"]["frame"] for feature in features] == [0, 1, 2, 3] and features[2]["geometry"] is None
    for region, feature in zip(track, features):
        if not region.is_lost:
            # The corners by rasterio's own affine, counted from the corner of the first pixel.
            x, y = region.contour_in_pixels.T + 0.5
            a, b, c, d, e, f, *_ = AFFINES["rotated"]
            longitudes, latitudes = rasterio.warp.transform(CRS, "EPSG:4326", a * x + b * y + c, d * x + e * y + f)
            expected = {tuple(np.round(point, 9)) for point in zip(longitudes, latitudes)}
            assert {tuple(np.round(point, 9)) for point in feature["geometry"]["coordinates"][0]} == expected
    write_geopackage(iter(track), tmp_path / "track.gpkg")
    table = pyogrio.read_dataframe(tmp_path / "track.gpkg")
    assert table.crs == CRS and table["frame"].tolist() == [0, 1, 2, 3] and table.geometry.isna().tolist() == [False, False, True, False]
    assert to_geodataframe(track).geometry[0].equals(shapely.Polygon(track[0].contour))


def test_geodataframe(scenes, expected):
    geopandas = pytest.importorskip("geopandas")
    found = partition_image(read_image(scenes["north-up"]), "rayleigh")
    frame = found.to_geodataframe()
    assert isinstance(frame, geopandas.GeoDataFrame) and frame.crs == CRS and frame.is_valid.all()
    np.testing.assert_allclose(frame.area, frame["physical_area"])
    assert list(frame.columns) == [*expected.table, "geometry"]
    snake = segment_region(read_image(scenes["north-up"]), "rayleigh", 0.7)
    assert len(snake.to_geodataframe()) == 1 and snake.to_geodataframe("EPSG:32632").crs == "EPSG:32632"
    both = to_geodataframe([snake, found], coordinates="geographic")
    assert both.crs.to_authority() == ("EPSG", "4326") and len(both) == 1 + len(found)
    np.testing.assert_allclose(both.total_bounds, frame.to_crs("EPSG:4326").total_bounds, rtol=0, atol=1e-6)
    assert expected.to_geodataframe().crs is None


def placed(pixels):
    return Image(pixels, (10.0, 10.0), (600005.0, 5399995.0), [[1, 0], [0, -1]], metadata={"crs": CRS})


def find_detections(image):
    return detect_targets(image, "gamma", 4)


def find_outlines(image):
    return detect_targets(image, "gamma", 4, outlines=True)


def find_regions(image):
    return segment_regions(image, "gamma", [(40, 30, 12, 12)], 4)


def find_regions_of_starts(image):
    return segment_regions(image, "gamma", [(40, 30, 12, 12)] if image.array.max() > 10.0 else np.empty((0, 4), np.int64), 4)


def find_two(image):
    return [find_outlines(image), find_regions(image)]


@pytest.mark.parametrize("find", [find_detections, find_outlines, find_regions, find_regions_of_starts, find_two], ids=lambda find: find.__name__)
def test_results_without_polygons_have_the_columns_of_others(tmp_path, find):
    geopandas = pytest.importorskip("geopandas")
    noise = np.random.default_rng(5).gamma(4.0, 0.25, (90, 120)).astype(np.float32)
    bright = noise.copy()
    bright[33:39, 43:49] *= 40.0
    frames, tables = [], []
    for number, pixels in enumerate((noise, bright)):
        found = find(placed(pixels))
        frames.append(to_geodataframe(found))
        write_geopackage(found, tmp_path / f"{number}.gpkg")
        meta, _, geometries, columns = pyogrio.raw.read(tmp_path / f"{number}.gpkg")
        tables.append((meta["crs"], meta["fields"].tolist(), meta["dtypes"].tolist(), [column.dtype for column in columns]))
        assert len(geometries) == len(frames[-1])
    nothing, some = frames
    assert len(nothing) == 0 < len(some) and nothing.crs == some.crs == CRS
    assert nothing.dtypes.to_dict() == some.dtypes.to_dict() and list(nothing.columns) == list(some.columns)
    assert tables[0] == tables[1]
    both = geopandas.pd.concat([nothing, some], ignore_index=True)
    assert both.crs == CRS and both.dtypes.to_dict() == some.dtypes.to_dict() and both.equals(some.reset_index(drop=True))
    for driver, name in (("GPKG", "o.gpkg"), ("GeoJSON", "o.geojson")):
        nothing.to_file(tmp_path / name, driver=driver)
        assert len(geopandas.read_file(tmp_path / name)) == 0
    if find is find_regions:
        table = find(placed(noise)).table
        assert {name: column.dtype for name, column in table.items()} == {name: column.dtype for name, column in find(placed(bright)).table.items()}


def test_outlines_without_significance_keep_their_columns():
    """They are asked for, and no target has one."""
    geopandas = pytest.importorskip("geopandas")
    noise = np.random.default_rng(71).gamma(4.0, 1.0, (300, 300)).astype(np.float32)
    found = detect_targets(noise, "gamma", 4, probability_of_false_alarm=1e-3, outlines=True)
    kinds = [target.outline.significant_boundary for target in found]
    frame = found.to_geodataframe()
    assert isinstance(frame, geopandas.GeoDataFrame) and not all(kinds) and frame["outline_gain"].notna().tolist() == kinds
    assert [feature["properties"]["outline_area"] is None for feature in found.__geo_interface__["features"]] == [not kind for kind in kinds]


def test_reference_system_of_a_data_array(tmp_path):
    """As rioxarray keeps it."""
    xarray = pytest.importorskip("xarray")
    pixels = quantities()["intensity"]
    array = xarray.DataArray(
        pixels,
        dims=("y", "x"),
        coords={"y": 5400000.0 - 10.0 * np.arange(120), "x": 600000.0 + 10.0 * np.arange(150), "spatial_ref": 0},
    )
    array.spatial_ref.attrs["crs_wkt"] = rasterio.crs.CRS.from_string(CRS).to_wkt()
    found = partition_image(array, "gamma", 4.0)
    write_geopackage(found, tmp_path / "out.gpkg")
    assert pyogrio.read_info(tmp_path / "out.gpkg")["crs"] == CRS
    assert rasterio.crs.CRS.from_string(Image.of(array).crs) == rasterio.crs.CRS.from_string(CRS)


@pytest.mark.parametrize("name", ["south-up", "rotated"])
def test_parts_without_data_are_cut_off(tmp_path, scenes, name):
    """What is left of the regions covers exactly the pixels with data, also around a hole and where stripes cut boundaries."""
    image = read_image(scenes[name])
    image.valid_mask = np.ones(image.shape, bool)
    image.valid_mask[60:90, 100:140] = False
    image.valid_mask[100:200, 50:260:7] = False
    found = partition_image(image, "rayleigh")
    write_geopackage(found, tmp_path / "clipped.gpkg", clip=True)
    meta, _, encoded, values = pyogrio.raw.read(tmp_path / "clipped.gpkg")
    shapes, table = shapely.from_wkb(encoded), dict(zip(meta["fields"], values))
    assert shapely.is_valid(shapes).all() and meta["geometry_type"] == "MultiPolygon"
    rows, columns = np.nonzero(image.valid)
    squares = np.stack([columns, rows], axis=-1)[:, None] + [[0, 0], [1, 0], [1, 1], [0, 1]]
    cells = shapely.polygons(move(squares.reshape(-1, 2), AFFINES[name]).reshape(-1, 4, 2))
    cell = abs(AFFINES[name].determinant)
    assert shapely.area(shapes).sum() == pytest.approx(len(cells) * cell, rel=1e-9)
    assert shapely.union_all(shapes).symmetric_difference(shapely.union_all(cells)).area < 1e-6 * cell * len(cells)
    np.testing.assert_allclose(table["physical_area"], shapely.area(shapes))
    np.testing.assert_allclose(table["area"], shapely.area(shapes) / cell, rtol=1e-9)
    np.testing.assert_allclose(table["physical_perimeter"], shapely.length(shapes))
    assert table["pixels"].sum() == len(cells) and (np.abs(table["area"] - table["pixels"]) < 0.25 * table["perimeter"] + 1).all()
    assert run("partition", scenes[name], tmp_path / "o.geojson", "--law", "rayleigh", "--clip", "--coordinates", "pixel") == 0
    features = json.loads((tmp_path / "o.geojson").read_text())["features"]
    bounds = shapely.total_bounds([shapely.geometry.shape(feature["geometry"]) for feature in features])
    assert bounds.tolist() == [8.5, 6.5, 308.5, 206.5]


def test_polygons_across_the_date_line(tmp_path):
    """They are cut at 180 degrees, and cover the same ground."""
    image = Image(quantities()["intensity"], (5000.0, 5000.0), (2.0e5, 6.5e6), [[1, 0], [0, -1]], metadata={"crs": "EPSG:32601"})
    write_geojson(partition_image(image, "gamma", 4.0), tmp_path / "out.geojson")
    shapes = [shapely.geometry.shape(each["geometry"]) for each in json.loads((tmp_path / "out.geojson").read_text())["features"]]
    assert any(shape.geom_type == "MultiPolygon" for shape in shapes)
    for shape in shapes:
        for part in getattr(shape, "geoms", [shape]):
            west, south, east, north = part.bounds
            assert -180.0 <= west < east <= 180.0 and east - west < 90.0 and part.exterior.is_ccw


def test_reference_systems_that_are_missing(tmp_path, capsys):
    path = write_raster(tmp_path / "plain.tif", amplitude(), Affine.identity(), None, nodata=0)
    law = ("--law", "rayleigh", "--window", "120,30,120,120")
    message = expect_wrong_arguments(capsys, "partition", path, tmp_path / "o.geojson", *law, "--coordinates", "geographic")
    assert "--crs is not given, and the image has no reference system" in message and "gdalwarp" in message
    assert run("partition", path, tmp_path / "o.gpkg", *law) == 0
    assert "the image has no reference system, and the file says so: --crs names one" in capsys.readouterr().err
    assert run("partition", path, tmp_path / "o.geojson", *law) == 0
    content = json.loads((tmp_path / "o.geojson").read_text())
    assert content["features"][0]["properties"]["coordinates"] == "physical"
    assert run("partition", path, tmp_path / "o.gpkg", *law, "--crs", CRS) == 0
    assert pyogrio.read_info(tmp_path / "o.gpkg")["crs"] == CRS
    capsys.readouterr()
    for name in ("o.gpkg", "o.geojson"):
        assert "--crs is 'EPSG:1'; it must be a reference system" in expect_wrong_arguments(
            capsys, "partition", path, tmp_path / name, *law, "--crs", "EPSG:1"
        )


WRONG_ARGUMENTS = [
    (["out.png"], "argument OUT: '.*out.png' is not the name of a file that ends in .gpkg, .geojson or .json"),
    (["a.gpkg", "b.gpkg"], "unrecognized arguments: .*b.gpkg"),
    (["o.gpkg", "--labels-only"], "argument --labels-only: not allowed with OUT"),
    (["--crs", CRS], "argument --crs: it is for OUT"),
    (["--clip"], "argument --clip: it is for OUT"),
    (["--coordinates", "pixel"], "argument --coordinates: it is for OUT"),
    (["o.gpkg", "--coordinates", "inches"], "argument --coordinates: .* it must be one of physical, pixel, geographic"),
    (["o.gpkg", "--band", "0"], "argument --band: '0' is not a whole number of 1 or more"),
    (["o.gpkg", "--band", "2"], "--band is 2; it must be the number of a band"),
    (["o.gpkg", "--window", "0,0,999,9"], "--window is"),
    (["o.gpkg", "--window", "0,0,9,9", "--bounds", "0,0,1,1"], "argument --bounds: not allowed with argument --window"),
    (["o.gpkg", "--bounds", "0,0,1"], "argument --bounds: '0,0,1' is not LEFT,BOTTOM,RIGHT,TOP"),
    (["o.gpkg", "--looks", "many"], "argument --looks/--number-of-looks: 'many' is not a number, or the word estimate"),
    (["o.gpkg", "--quantity", "watts"], "argument --quantity: .* it must be one of intensity, amplitude, db"),
    (["o.gpkg", "--polygons", "o.gpkg"], "'.*o.gpkg' of --polygons is that of OUT too"),
]


@pytest.mark.parametrize("arguments, message", WRONG_ARGUMENTS, ids=str)
def test_wrong_arguments(tmp_path, capsys, scenes, arguments, message):
    words = [tmp_path / word if "." in word and "," not in word else word for word in arguments]
    assert re.search(message, expect_wrong_arguments(capsys, "partition", scenes["north-up"], "--law", "rayleigh", *words))
    assert not list(tmp_path.iterdir())


def test_messages_of_the_command(tmp_path, capsys, scenes):
    decibels = write_raster(tmp_path / "db.tif", quantities()["db"])
    words = ("--law", "gamma", "--looks", 4)
    assert "Is the image in decibels? Then give --quantity db" in expect_failure(capsys, "partition", decibels, tmp_path / "o.gpkg", *words)
    assert run("partition", decibels, tmp_path / "o.gpkg", *words, "--quantity", "db") == 0
    assert "\nconverted from db to intensity for the law gamma\n" in capsys.readouterr().out
    bands = write_raster(tmp_path / "two.tif", np.stack([amplitude(), amplitude()]))
    assert "has 2 components per pixel: name one of them by --band" in expect_failure(capsys, "partition", bands, "--law", "rayleigh")
    assert "there is no folder" in expect_failure(capsys, "partition", scenes["sheared"], tmp_path / "no" / "o.gpkg", "--law", "rayleigh")


def test_standard_output(capsys, scenes):
    assert run("segment", scenes["north-up"], "-", "--law", "rayleigh", "--looks", 0.7, "--window", "120,30,150,160") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["features"][0]["properties"]["coordinates"] == "geographic" and "segmented" in captured.err


def test_masks_of_the_whole_scene_beside_a_window(tmp_path, scenes, monkeypatch):
    if sys.modules["itk"].__file__ == "the package itk is missing":
        monkeypatch.delitem(sys.modules, "itk")  # whose tolerances of geometries are taken where it is loaded
    mask = np.ones(amplitude().shape, np.uint8)
    mask[60:90, 150:180] = 0
    path = write_raster(tmp_path / "mask.tif", mask)
    how = ("--law", "rayleigh", "--looks", 0.7, "--window", "120,30,150,160", "--valid-mask", path, "--labels", tmp_path / "l.tif")
    assert run("partition", scenes["north-up"], *how) == 0
    labels = read_image(tmp_path / "l.tif")
    np.testing.assert_array_equal(labels.array == 0, mask[30:190, 120:270] == 0)
    with rasterio.open(tmp_path / "l.tif") as file:
        assert file.crs == CRS and tuple(file.transform)[2:6:3] == pytest.approx(move([120, 30], AFFINES["north-up"]), rel=1e-15)


def test_a_full_disk(tmp_path, expected):
    """A file that was there before is kept, nothing is left beside it, and the next call works."""
    for name in ("out.gpkg", "out.geojson"):
        (tmp_path / name).write_bytes(b"before")
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        for name, write in (("out.gpkg", write_geopackage), ("out.geojson", write_geojson)):
            with pytest.raises(OSError, match=f"{name}' could not be written: File too large"):
                write(expected, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out.gpkg": b"before", "out.geojson": b"before"}
    write_geopackage(expected, tmp_path / "out.gpkg")
    assert len(pyogrio.raw.read(tmp_path / "out.gpkg")[2]) == len(expected)


def test_packages_that_are_missing(tmp_path, monkeypatch, capsys, scenes, expected):
    image = read_image(scenes["north-up"])
    found = segment_region(image, "rayleigh", 0.7)
    monkeypatch.setitem(sys.modules, "pyogrio", None)
    with pytest.raises(ModuleNotFoundError, match=r"write_geopackage\(\) needs the package pyogrio: pip install rasterio pyogrio"):
        write_geopackage(found, tmp_path / "o.gpkg")
    assert "needs the package pyogrio" in expect_failure(capsys, "segment", scenes["sheared"], tmp_path / "o.gpkg", "--law", "rayleigh")
    for module in ("rasterio", "rasterio.warp"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match="conversion of coordinates needs the package rasterio: pip install rasterio pyogrio"):
        write_geojson(found, tmp_path / "o.geojson")
    with pytest.raises(ModuleNotFoundError, match="reading '.*' needs the package rasterio: pip install rasterio pyogrio"):
        read_image(scenes["north-up"], band=1)
    write_geojson(found, tmp_path / "o.geojson", coordinates="physical")
    degrees = Image(amplitude(), (1e-4, 1e-4), (12.0, 48.0), [[1, 0], [0, -1]], metadata={"crs": "EPSG:4326"}, no_data=0)
    write_geojson(segment_region(degrees, "rayleigh", 0.7), tmp_path / "d.geojson")  # needs no conversion
    (feature,) = json.loads((tmp_path / "d.geojson").read_text())["features"]
    assert feature["properties"]["coordinates"] == "geographic" and shapely.geometry.shape(feature["geometry"]).exterior.is_ccw
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_geodataframe\(\) needs the package geopandas"):
        expected.to_geodataframe()


def test_packages_are_imported_only_when_they_are_used():
    program = (
        "import sys; import itk_cudafilters as c; import numpy as np; from itk_cudafilters import _command, _files;"
        f"c.segment_region(c.read_image({str(DATA / 'sar_fields_1000x500.png')!r}).array[:99, :99], 'rayleigh', 1);"
        "print([name for name in ('rasterio', 'pyogrio', 'shapely', 'geopandas') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_images_of_maps():
    pixels = np.zeros((3, 4), np.float32)
    image = Image(pixels, (2.0, 3.0), (1.0, 1.5), valid_mask=pixels == 0, quantity="DB", metadata={"crs": CRS})
    assert image.transform == (2.0, 0.0, 0.0, 0.0, 3.0, 0.0) and image.crs == CRS and image.quantity == "db"
    assert image.with_array(pixels + 1).valid.all() and Image(pixels).crs is None and Image(pixels).valid is None
    with pytest.raises(ValueError, match=r"valid_mask has the shape \(4, 3\); it must be that of the pixels, \(3, 4\)"):
        Image(pixels, valid_mask=np.ones((4, 3)))
    with pytest.raises(ValueError, match="the image has 3 axes in space; a map has 2"):
        Image(np.zeros((2, 3, 4))).transform  # noqa: B018


def test_the_page(tmp_path, monkeypatch, capsys):
    """What docs/user/geodata.md tells users to do, in its order."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(DATA.parent)
    text = (ROOT / "docs" / "user" / "geodata.md").read_text(encoding="utf-8")
    namespace = {}
    for kind, block in re.findall(r"(?ms)^```(python|sh)\n(.*?)^```", text):
        if kind == "python":
            exec(compile(block, "geodata.md", "exec"), namespace)
        else:
            for line in block.splitlines():
                name, *arguments = shlex.split(line)
                assert name == "itk-cudafilters" and run(*arguments) == 0, line
    assert pyogrio.read_info("fields.gpkg")["features"] == len(namespace["fields"]) > len(namespace["bright"]) > 0
    assert "EPSG:32632" in capsys.readouterr().out and (tmp_path / "field.geojson").is_file()
