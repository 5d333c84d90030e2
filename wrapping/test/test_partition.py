# SPDX-License-Identifier: Apache-2.0
"""A whole image divided into polygonal regions: labels, polygons, table, merges, files."""
import gc
import itertools
import json
import math
import sys
import weakref
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor

import itk
import numpy as np
import pytest
from filters import PARTITION
from scenes import ORIGIN, SPACING, inside, signed_area

from itk_cudafilters import partition_image, partition_images, write_geojson, write_geopackage, write_svg

SHAPE = (80, 96)
MEANS = np.array([np.nan, 40.0, 90.0, 140.0, 190.0])


def fields():
    """Two fields above, one below, and a square in the first."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    labels = np.where(y >= 48, 3, np.where(x >= 48, 2, 1))
    labels[12:32, 12:32] = 4
    return labels


def draw(law="gaussian", pixel=np.float32, seed=5):
    rng = np.random.default_rng(seed)
    means = MEANS[fields()]
    pixels = rng.normal(means, 8.0) if law == "gaussian" else rng.exponential(means)
    if np.issubdtype(pixel, np.integer):
        pixels = np.clip(np.rint(pixels), 0, 255)
    return pixels.astype(pixel)


def draw_image(direction=((1.0, 0.0), (0.0, 1.0)), pixels=None):
    image = itk.image_from_array(draw() if pixels is None else pixels)
    image.SetSpacing(SPACING)
    image.SetOrigin(ORIGIN)
    image.SetDirection(itk.matrix_from_array(np.asarray(direction, np.float64)))
    return image


def random_blocks(seed=7, values=3, side=4):
    """Labels with islands, holes, and corners where four parts meet."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, values, (SHAPE[0] // side, SHAPE[1] // side))
    return np.kron(blocks, np.ones((side, side), blocks.dtype))


def vectorise(labels, **parameters):
    return partition_image(
        draw(), "gaussian", initial_labels=labels, allow_merging=False, maximum_number_of_iterations=1, **parameters
    )


@pytest.fixture(scope="module")
def found():
    return partition_image(draw(), "gaussian")


def expect_polygons_of_labels(partition, labels):
    """The label image is the raster of the polygons, the areas of which add up to the image."""
    raster, area = np.zeros(labels.shape, int), 0.0
    for number, rings in enumerate(partition.polygons_in_pixels, 1):
        assert signed_area(rings[0]) > 0.0 and all(signed_area(hole) < 0.0 for hole in rings[1:])
        area += sum(signed_area(ring) for ring in rings)
        for ring in rings:
            raster += number * inside(ring + 0.5, labels.shape) * (1 if ring is rings[0] else -1)
    np.testing.assert_array_equal(raster, labels)
    assert area == labels.size


def expect_valid(polygons):
    """GEOS finds each polygon valid, and all of them a coverage without gaps and overlaps."""
    shapely = pytest.importorskip("shapely")
    shapes = [shapely.Polygon(rings[0], rings[1:]) for rings in polygons]
    assert all(shape.is_valid for shape in shapes)
    assert shapely.coverage_is_valid(shapes)
    return shapes


@pytest.mark.parametrize("pixel", [np.uint8, np.uint16, np.int16, np.float32, np.float64])
def test_fields_are_found(pixel, on_gpu):
    found = partition_image(draw(pixel=pixel), "gaussian")
    assert len(found) == 4 and found.statistics.stop == "converged"
    assert found.labels.dtype == np.uint32 and found.labels.shape == SHAPE
    counts = [np.bincount(found.labels[fields() == field]) for field in range(1, 5)]
    assert sum(count.sum() - count.max() for count in counts) <= 20
    assert found.statistics.description < found.statistics.description_of_one_region
    assert found.statistics.backend == ("cuda" if on_gpu else "host") and found.statistics.backend_reason


def test_polygons_are_the_labels(found):
    expect_polygons_of_labels(found, found.labels)
    expect_valid(found.polygons)


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_others_become_polygons(seed):
    blocks = random_blocks(seed, values=2)
    found = vectorise(blocks)
    expect_polygons_of_labels(found, found.labels)
    expect_valid(found.polygons)
    assert len(found) >= len(np.unique(blocks)) and sum(len(rings) > 1 for rings in found.polygons) > 0


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.uint32, np.uint64, bool])
def test_labels_of_any_integers(kind):
    blocks = random_blocks(values=2)
    np.testing.assert_array_equal(vectorise(blocks.astype(kind)).labels, vectorise(blocks).labels)


def test_labels_of_wrong_kinds_are_refused():
    blocks = random_blocks()
    with pytest.raises(TypeError, match=r"initial_labels has pixels of type float64; they must be integers"):
        vectorise(blocks.astype(float))
    with pytest.raises(ValueError, match=r"initial_labels has values from -1 to 1; they must be from 0 to 4294967295"):
        vectorise(blocks - 1)
    with pytest.raises(ValueError, match=r"initial_labels has the shape \(79, 96\); it must be the image's, \(80, 96\)"):
        vectorise(blocks[1:])
    with pytest.raises(TypeError, match="initial_labels is of type list"):
        vectorise(blocks.tolist())


def test_table_is_that_of_the_pixels(found):
    table, pixels = found.table, draw().astype(np.float64)
    assert {len(column) for column in table.values()} == {4}
    assert all(column.ndim == 1 for column in table.values())
    for index, number in enumerate(table["region"]):
        mask = found.labels == number
        assert table["pixels"][index] == mask.sum()
        assert table["mean"][index] == pytest.approx(pixels[mask].mean(), rel=1e-6)
        assert table["variance"][index] == pytest.approx(pixels[mask].var(), rel=1e-4)
        rows, columns = np.nonzero(mask)
        assert table["y_min"][index] <= rows.min() and rows.max() < table["y_max"][index]
        assert table["x_min"][index] <= columns.min() and columns.max() < table["x_max"][index]
        assert table["number_of_neighbours"][index] == len(found.neighbours[index])
        for other in found.neighbours[index]:
            assert number in found.neighbours[other - 1]
    assert table["area"].sum() == pixels.size
    assert table["perimeter"] == pytest.approx(
        [sum(np.hypot(*np.diff(np.append(ring, ring[:1], axis=0), axis=0).T).sum() for ring in rings) for rings in found.polygons]
    )


def test_edges_and_nodes_are_those_of_the_polygons(found):
    edges, nodes = found.edges, found.nodes_in_pixels
    assert edges.dtype == np.uint32 and edges.shape[1] == 4
    sides = {(*nodes[a], *nodes[b], left) for a, b, left, _ in edges} | {(*nodes[b], *nodes[a], right) for a, b, _, right in edges}
    of_rings = {
        (*p, *q, number)
        for number, rings in enumerate(found.polygons_in_pixels, 1)
        for ring in rings
        for p, q in zip(ring, np.roll(ring, -1, axis=0))
    }
    assert of_rings == {side for side in sides if side[-1] != 0}
    np.testing.assert_array_equal(found.nodes, nodes)


def test_means(found):
    expected = np.array([np.nan, *found.table["mean"]])[found.labels]
    np.testing.assert_allclose(found.means, expected, rtol=1e-6)
    assert found.means.dtype == np.float32
    logarithms = partition_image(draw() + 1.0, "log_normal")
    np.testing.assert_allclose(logarithms.means, np.exp(np.append(np.nan, logarithms.table["mean"]))[logarithms.labels], rtol=1e-5)


@pytest.mark.parametrize("threshold", [None, 100.0])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32], ids=lambda kind: kind.__name__)
def test_means_of_ones_and_zeros_are_those_of_the_image(kind, threshold):
    """Of two values, and of grey values on both sides of a threshold; those of merged regions, too. NumPy's means by label."""
    print("seed 3")
    rng = np.random.default_rng(3)
    ones = rng.random(SHAPE) < np.where(np.arange(SHAPE[0]) < 40, 0.2, 0.8)[:, np.newaxis]
    grey = rng.integers(0, 100, SHAPE) + 120 * ones
    pixels = (np.where(ones, 127, 0) if threshold is None else grey).astype(kind)
    valid = np.ones(SHAPE, bool)
    valid[:, :5] = False
    found = partition_image(pixels, "bernoulli", foreground_threshold=threshold, valid_mask=valid, segment_cost=1.0)
    assert len(found) > 1
    for each in (found, found.merge(number=1)):
        expected = np.full(SHAPE, np.nan)
        for number in range(1, len(each) + 1):
            expected[each.labels == number] = pixels[each.labels == number].mean(dtype=np.float64)
        np.testing.assert_allclose(each.means, expected, rtol=1e-7)  # float32


def test_mean_of_two_values_in_the_table():
    pixels = np.zeros(SHAPE, np.uint8)
    pixels[::5, :48] = 255
    pixels[:, 48:] = 255
    pixels[::5, 48:] = 0
    found = partition_image(pixels, "bernoulli", initial_labels=np.where(np.arange(96) < 48, 1, 2) * np.ones((80, 1), int),
                            allow_merging=False, maximum_number_of_iterations=1)
    expected = [pixels[found.labels == number].mean() for number in range(1, len(found) + 1)]
    np.testing.assert_allclose(found.table["mean"], expected, rtol=1e-15)


def test_pixels_that_are_not_valid():
    pixels, valid = draw(), np.ones(SHAPE, bool)
    pixels[:, 90:], valid[:, 90:] = np.nan, False
    found = partition_image(pixels, "gaussian", valid_mask=valid)
    np.testing.assert_array_equal(found.labels == 0, ~valid)
    np.testing.assert_array_equal(np.isnan(found.means), ~valid)
    assert found.table["pixels"].sum() == valid.sum()
    with pytest.raises(ValueError, match="is nan"):
        partition_image(pixels, "gaussian")


@pytest.mark.parametrize(
    ("law", "extreme", "words"),
    [
        ("gaussian", -3.4e38, r"-3.4e\+38"),
        ("gaussian_common_variance", 1e12, r"1e\+12"),
        ("gamma", 1e15, r"1e\+15"),
        ("rayleigh", 1e10, r"1e\+10"),
    ],
)
def test_extreme_pixels_are_refused_unless_they_are_masked(law, extreme, words):
    """Four pixels that would take the digits of all others away; under a mask they are as any other pixels there."""
    pixels, valid = np.abs(draw()), np.ones(SHAPE, bool)
    for y, x in ((3, 5), (3, 6), (40, 50), (79, 95)):
        pixels[y, x], valid[y, x] = extreme, False
    with pytest.raises(ValueError, match=rf"Pixel \[5, 3\] is {words}, the first of 4 so far above.* mask of valid pixels"):
        partition_image(pixels, law, looks=1)
    found = partition_image(pixels, law, looks=1, valid_mask=valid)
    expected = partition_image(np.where(valid, pixels, np.float32(100.0)), law, looks=1, valid_mask=valid)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.table["mean"], expected.table["mean"])
    means = [pixels[found.labels == label].mean(dtype=np.float64) for label in range(1, found.labels.max() + 1)]
    np.testing.assert_allclose(found.table["mean"], means, rtol=1e-6)


@pytest.mark.parametrize("by", ["number", "nats"])
def test_merges(by):
    whole = vectorise(random_blocks())
    changes = whole.merges["change"]
    number = len(whole) // 3
    nats = changes[: len(whole) - number].max()
    merged = whole.merge(number=number) if by == "number" else whole.merge(nats=nats)
    assert len(merged) <= number
    if by == "number":
        assert len(merged) == number
    taken = len(whole) - len(merged)
    assert merged.statistics.description == pytest.approx(whole.statistics.description + changes[:taken].sum())
    # Each region is made of whole ones.
    pairs = np.unique(np.stack([whole.labels.ravel(), merged.labels.ravel()]), axis=1)
    assert len(pairs[0]) == len(whole) and set(pairs[1]) == set(range(1, len(merged) + 1))
    expect_polygons_of_labels(merged, merged.labels)
    expect_valid(merged.polygons)
    for name in ("pixels", "area"):
        sums = np.bincount(pairs[1], whole.table[name][pairs[0] - 1])[1:]
        np.testing.assert_allclose(merged.table[name], sums)
    assert len(merged.merges["change"]) == len(merged) - 1
    np.testing.assert_array_equal(merged.merges["change"], changes[taken:])
    again = merged.merge(number=2)
    np.testing.assert_array_equal(again.labels, whole.merge(number=2).labels)
    assert len(whole.merge(nats=math.inf)) == len(whole.merge(number=1)) == 1
    assert len(whole.merge(nats=-math.inf)) == len(whole)


def test_wrong_merges(found):
    for arguments in ({}, {"nats": 1.0, "number": 2}):
        with pytest.raises(ValueError, match="nats or number, one of them"):
            found.merge(**arguments)
    with pytest.raises(ValueError, match="number is 0; it must be 1 or more"):
        found.merge(number=0)


@pytest.mark.parametrize("direction", [((1, 0), (0, 1)), ((0, -1), (1, 0)), ((-1, 0), (0, 1))], ids=["straight", "turned", "mirrored"])
def test_physical_polygons(direction, found):
    image = draw_image(direction)
    physical = partition_image(image, "gaussian")
    assert type(physical.labels) is itk.Image[itk.UI, 2] and type(physical.means) is itk.Image[itk.F, 2]
    for made in (physical.labels, physical.means, physical.merge(number=2).labels):
        assert made.GetSpacing() == image.GetSpacing() and made.GetOrigin() == image.GetOrigin()
        np.testing.assert_array_equal(itk.array_from_matrix(made.GetDirection()), direction)
    np.testing.assert_array_equal(itk.array_from_image(physical.labels), found.labels)
    matrix = np.array(direction) * SPACING
    for rings, in_pixels in zip(physical.polygons, found.polygons):
        assert signed_area(rings[0]) > 0.0 and all(signed_area(hole) < 0.0 for hole in rings[1:])
        for ring, corners in zip(rings, in_pixels):
            expected = ORIGIN + corners @ matrix.T
            assert {tuple(p) for p in np.round(ring, 9)} == {tuple(p) for p in np.round(expected, 9)}


def test_data_arrays_in_any_order_of_axes(found):
    xarray = pytest.importorskip("xarray")
    coords = {"x": 100.0 + 2.0 * np.arange(SHAPE[1]), "y": 50.0 - 0.5 * np.arange(SHAPE[0])}
    array = xarray.DataArray(draw().T.copy(), dims=("x", "y"), coords=coords)
    result = partition_image(array, "gaussian")
    assert result.labels.dims == ("x", "y") and result.labels.name == "labels"
    np.testing.assert_array_equal(result.labels.values.T, found.labels)
    assert result.means.dims == ("x", "y") and result.merge(number=2).labels.dims == ("x", "y")
    shapes = expect_valid(result.polygons)
    assert all(shape.exterior.is_ccw for shape in shapes)
    assert sum(shape.area for shape in shapes) == pytest.approx(SHAPE[0] * SHAPE[1])
    x_min, y_min, x_max, y_max = np.transpose([shape.bounds for shape in shapes])
    assert (x_min.min(), x_max.max()) == (99.0, 99.0 + 2.0 * SHAPE[1]) and (y_max.max(), y_min.min()) == (50.25, 50.25 - 0.5 * SHAPE[0])


def test_looks():
    speckle = draw("gamma")
    estimated = partition_image(speckle, "gamma").statistics.number_of_looks
    assert 0.5 < estimated < 1.3
    assert partition_image(speckle, "gamma", looks=0).statistics.number_of_looks == estimated
    assert partition_image(speckle, "gamma", 2.5).statistics.number_of_looks == 2.5
    assert partition_image(draw(), "gaussian").statistics.number_of_looks == 1.0


def test_parameters_reach_the_filter(found):
    dear = partition_image(draw("gamma"), "gamma", 1, segment_cost=60.0)
    assert len(dear.edges) < len(partition_image(draw("gamma"), "gamma", 1, segment_cost=2.0).edges)
    labels = partition_image(draw(), "gaussian", labels_only=True)
    assert labels.statistics.stop == "labels_only" and len(labels.edges) == 0 and labels.polygons[0] == []
    assert len(labels) >= 4 and labels.__geo_interface__["features"][0]["geometry"] is None
    limited = vectorise(random_blocks())
    assert limited.statistics.number_of_iterations == 1
    with pytest.raises(ValueError, match="BlockSize is 0"):
        partition_image(draw(), "gaussian", block_size=0)
    with pytest.raises(RuntimeError, match="cannot be used"):
        partition_image(draw(), "gaussian", backend="cuda", device_index=1000)
    with pytest.raises(ValueError, match='law is "cauchy"'):
        partition_image(draw(), "cauchy")
    np.testing.assert_array_equal(partition_image(draw(), "Gaussian", backend="HOST").labels, found.labels)


def test_several_images_at_once():
    images = [draw(seed=seed) for seed in range(5)]
    for together, alone in zip(partition_images(images, "gaussian", block_size=2), images, strict=True):
        np.testing.assert_array_equal(together.labels, partition_image(alone, "gaussian", block_size=2).labels)
    assert partition_images([], "gaussian") == []
    with pytest.raises(ValueError, match="initial_labels has 1 entries; it must have one for each of the 5 images"):
        partition_images(images, "gaussian", initial_labels=[random_blocks()])
    with pytest.raises(TypeError, match="no parameter colour"):
        partition_images(images, "gaussian", colour=1)


@pytest.fixture(params=[1, 2, 5])
def number_of_threads(request):
    """Of ITK: so many images are divided at the same time on the host."""
    before = itk.MultiThreaderBase.GetGlobalDefaultNumberOfThreads()
    itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(request.param)
    yield request.param
    itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(before)


def some_images(seed, number):
    """Of random sizes, types and kinds, some of them twice."""
    rng = np.random.default_rng(seed)
    images = []
    for _ in range(number):
        shape = rng.integers(1, 50, 2)
        pixels = np.clip(rng.exponential(np.where(np.arange(shape[1]) < 20, 10.0, 60.0), shape), 1, 255)
        pixels = pixels.astype(rng.choice(["uint8", "uint16", "int16", "float32", "float64"]))
        kind = rng.integers(4)
        image = [pixels, np.asfortranarray(pixels), draw_image(pixels=pixels.astype(np.float32)), images[-1] if images else pixels]
        images.append(image[kind])
    return images


@pytest.mark.parametrize("seed", range(3))
def test_many_images_of_all_kinds_have_their_results_in_order(number_of_threads, seed):
    images = some_images(seed, 130)
    for index, (together, image) in enumerate(zip(partition_images(images, "gamma", 1.0), images, strict=True)):
        alone = partition_image(image, "gamma", 1.0)
        assert type(together.labels) is type(alone.labels), index
        np.testing.assert_array_equal(np.asarray(together.labels), np.asarray(alone.labels), err_msg=f"image {index}")
        assert together.statistics == alone.statistics, index
        np.testing.assert_array_equal(together.nodes, alone.nodes, err_msg=f"image {index}")


@pytest.mark.parametrize("wrong", [0, 60, 129])
def test_a_wrong_image_among_many_is_refused_and_leaves_nothing_behind(number_of_threads, wrong):
    images = [draw(seed=seed)[:40, :40] for seed in range(130)]
    references = [weakref.ref(image) for image in images]
    good = images[wrong].copy()
    for value, kind, words in ((np.nan, ValueError, "finite"), ("complex", TypeError, "complex64")):
        images[wrong] = good.astype(np.complex64) if value == "complex" else np.where(good > 100, np.float32(value), good)
        with pytest.raises(kind, match=words):
            partition_images(images, "gaussian")
    images[wrong] = good
    assert [len(partition) for partition in partition_images(images[wrong : wrong + 1], "gaussian")] == [
        len(partition_image(good, "gaussian"))
    ]
    del images, good
    gc.collect()
    assert not any(reference() is not None for reference in references)


def test_one_image_of_a_pipeline_many_times_and_from_several_threads():
    smoother = itk.MedianImageFilter.New(draw_image(), Radius=1)
    smoother.Update()
    image = smoother.GetOutput()
    alone = partition_image(image, "gaussian")
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(partition_images, [image] * 12, "gaussian") for _ in range(4)]
        for together in itertools.chain.from_iterable(call.result() for call in calls):
            np.testing.assert_array_equal(np.asarray(together.labels), np.asarray(alone.labels))
            assert together.statistics == alone.statistics
    assert image.GetSource() == smoother and image.GetRequestedRegion() == image.GetLargestPossibleRegion()


@pytest.mark.parametrize("coordinates", ["physical", "pixel"])
def test_geojson(tmp_path, coordinates):
    partition = partition_image(draw_image(((-1, 0), (0, 1))), "gaussian")
    write_geojson(partition, tmp_path / "out.geojson", {"scene": 7}, coordinates=coordinates)
    collection = json.loads((tmp_path / "out.geojson").read_text())
    assert collection["partition"]["regions"] == 4 and collection["partition"]["law"] == "gaussian"
    assert coordinates in ("physical", "pixel") and coordinates.split("al")[0] in collection["description"]
    polygons = partition.polygons if coordinates == "physical" else partition.polygons_in_pixels
    for number, (feature, rings) in enumerate(zip(collection["features"], polygons, strict=True), 1):
        properties = feature["properties"]
        assert properties["region"] == number and properties["coordinates"] == coordinates and properties["scene"] == 7
        assert properties["neighbours"] == partition.neighbours[number - 1]
        assert feature["geometry"]["type"] == "Polygon"
        for written, ring in zip(feature["geometry"]["coordinates"], rings, strict=True):
            np.testing.assert_array_equal(written, np.append(ring, ring[:1], axis=0))
    with pytest.raises(ValueError, match='coordinates is "degrees"; it must be one of physical, pixel'):
        write_geojson(partition, tmp_path / "out.geojson", coordinates="degrees")


def test_geo_interface_is_for_shapely(found):
    shapely = pytest.importorskip("shapely")
    shapes = [shapely.geometry.shape(feature["geometry"]) for feature in found.__geo_interface__["features"]]
    assert shapely.coverage_is_valid(shapes) and sum(shape.area for shape in shapes) == found.labels.size


def test_geopackage(tmp_path, found):
    pyogrio, shapely = pytest.importorskip("pyogrio"), pytest.importorskip("shapely")
    for coordinates in ("pixel", "physical"):  # the second replaces the first
        write_geopackage(found, tmp_path / "out.gpkg", crs="EPSG:32632", coordinates=coordinates)
    meta, _, geometries, columns = pyogrio.raw.read(tmp_path / "out.gpkg", layer="regions")
    assert meta["crs"] == "EPSG:32632" and list(meta["fields"]) == list(found.table)
    assert pyogrio.read_info(tmp_path / "out.gpkg")["layer_metadata"]["COORDINATES"] == "physical"
    for column, expected in zip(columns, found.table.values(), strict=True):
        np.testing.assert_array_equal(column, expected)
    shapes = shapely.from_wkb(geometries)
    assert shapely.coverage_is_valid(shapes) and shapely.area(shapes).sum() == found.labels.size
    with pytest.raises(ValueError, match="no polygons; make a partition without labels_only"):
        write_geopackage(partition_image(draw(), "gaussian", labels_only=True), tmp_path / "out.gpkg")


def test_geopackage_without_its_packages(tmp_path, found, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyogrio", None)
    with pytest.raises(ModuleNotFoundError, match="needs the package pyogrio: pip install rasterio pyogrio"):
        write_geopackage(found, tmp_path / "out.gpkg")


def test_svg(tmp_path, found):
    write_svg(found, tmp_path / "out.svg", draw(), title="Fields & <more>")
    root = xml.etree.ElementTree.parse(tmp_path / "out.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == "Fields & <more>" and root.find(f"{space}image") is not None
    lines = root.find(f"{space}path").get("d")
    assert lines.count("M") == (found.edges[:, 2:] != 0).all(axis=1).sum()
    with pytest.raises(ValueError, match="image has the shape"):
        write_svg(found, tmp_path / "out.svg", draw()[1:])


def test_results_of_the_filter(found):
    divider = PARTITION.wrapped.New(draw_image(), NoiseLaw="gaussian")
    seen = []
    divider.AddObserver(itk.IterationEvent(), lambda: seen.append((divider.GetCurrentIteration(), divider.GetCurrentNumberOfRegions())))
    divider.Update()
    assert [iteration for iteration, _ in seen] == list(range(1, divider.GetNumberOfIterations() + 1))
    partition = divider.GetPartition()
    assert type(partition) is itk.CudaRegionPartition
    result = partition.GetResult()
    assert result["nodes"] == partition.GetNodes() and result["edges"] == partition.GetEdges()
    assert result["regions"] == partition.GetRegions() and result["merges"] == partition.GetMerges()
    assert result["regions"][0] == partition.GetRegion(1) and result["stop"] == divider.GetStop() == "Converged"
    assert len(result["nodes"]) == partition.GetNumberOfNodes() and len(result["edges"]) == partition.GetNumberOfEdges()
    assert result["description"] == divider.GetDescription() == partition.GetDescription()
    rings = partition.GetRings(1)
    np.testing.assert_array_equal(np.array(rings[0]) - 0.5, found.polygons_in_pixels[0][0])
    physical = np.array(partition.GetPhysicalRings(1)[0])
    np.testing.assert_allclose(physical, ORIGIN + (np.array(rings[0]) - 0.5) * SPACING, rtol=0.0, atol=1e-9)
    assert partition.GetRegionsAfterMergesTo(1) == [0, 1, 1, 1, 1]
    assert partition.GetMerged(math.inf).GetNumberOfRegions() == 1
    with pytest.raises(RuntimeError, match="Region 9 was asked for; regions count from 1 to 4"):
        partition.GetRings(9)
    assert "NumberOfRegions: 4" in str(partition)


def test_progress(capfd):
    pytest.importorskip("tqdm")
    partition_image(draw(), "gaussian", progress=True)
    assert "partition_image: 100%" in capfd.readouterr().err


def test_repr(found):
    assert repr(found).startswith("<Partition by the law gaussian: 4 regions, ")
