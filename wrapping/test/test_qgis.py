# SPDX-License-Identifier: Apache-2.0
"""The algorithms for QGIS, from a GeoTIFF to the polygons of a GeoPackage. Without QGIS small classes take the place of its own."""
import importlib.util
import json
import pathlib
import sys
import types

import numpy as np
import pytest

import itk_cudafilters
from itk_cudafilters import Image, write_image

geopandas = pytest.importorskip("geopandas")
rasterio = pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

SCRIPTS = pathlib.Path(__file__).parents[2] / "examples" / "qgis"
HAS_QGIS = importlib.util.find_spec("qgis") is not None
LAWS = list(itk_cudafilters.noise_laws())


class StandIn:
    """A class of QGIS that remembers what it was made of."""

    Integer = Double = TypeVectorPolygon = 0

    def __init__(self, *arguments, **keywords):
        self.arguments, self.keywords = arguments, keywords


class Parameter(StandIn):
    place_of_default = None

    def default(self):
        place = self.place_of_default
        return self.keywords.get("defaultValue", self.arguments[place] if place and len(self.arguments) > place else None)


class Band(Parameter):
    place_of_default = 2


class Number(Parameter):
    place_of_default = 3


class Rectangle:
    def __init__(self, text):
        self.sides = [float(side) for side in text.split(",")] if text else []

    def isEmpty(self):
        return not self.sides

    def __getattr__(self, name):
        return lambda: self.sides[("xMinimum", "xMaximum", "yMinimum", "yMaximum").index(name)]


class Layer:
    def __init__(self, path):
        self.path = str(path)
        with rasterio.open(path) as file:
            self.count, self.system = file.count, file.crs

    def source(self):
        return self.path

    def providerType(self):
        return "gdal"

    def bandCount(self):
        return self.count

    def crs(self):
        return self.system


class Source:
    def __init__(self, path):
        self.features = json.loads(pathlib.Path(path).read_text())["features"]

    def getFeatures(self, request):
        for feature in self.features:
            text = json.dumps(feature["geometry"])
            yield types.SimpleNamespace(geometry=lambda text=text: types.SimpleNamespace(asJson=lambda precision: text))


class Request(StandIn):
    def setDestinationCrs(self, system, context):
        return self


class Algorithm:
    """QgsProcessingAlgorithm with values of parameters that are already of the right kind."""

    def create(self):
        made = self.createInstance()
        made.known = {}
        made.initAlgorithm()
        return made

    def addParameter(self, parameter):
        self.known[parameter.arguments[0]] = parameter
        return True

    def value(self, parameters, name, context, *others):
        return parameters.get(name, self.known[name].default())

    parameterAsInt = parameterAsDouble = parameterAsBool = parameterAsEnum = parameterAsOutputLayer = value

    def parameterAsRasterLayer(self, parameters, name, context):
        return Layer(parameters[name]) if pathlib.Path(parameters[name]).is_file() else None

    def parameterAsSource(self, parameters, name, context):
        return Source(parameters[name]) if name in parameters else None

    def parameterAsExtent(self, parameters, name, context, crs):
        return Rectangle(parameters.get(name))

    def run(self, parameters, context, feedback):
        try:
            return self.processAlgorithm(parameters, context, feedback), True
        except sys.modules["qgis.core"].QgsProcessingException as failure:
            feedback.reportError(str(failure))
            return {}, False


@pytest.fixture(scope="module", autouse=True)
def qgis():
    """The module qgis.core, or one of stand-ins."""
    if HAS_QGIS:
        from qgis import core

        application = core.QgsApplication([], False)
        application.initQgis()
        yield core
        return
    core = types.ModuleType("qgis.core")
    source = pathlib.Path(itk_cudafilters.__file__).with_name("_qgis.py").read_text(encoding="utf-8")
    names = source[source.index("from qgis.core import (") : source.index(")\n")].split("(")[1].replace(",", " ").split()
    special = {
        "QgsFeatureRequest": Request, "QgsProcessingAlgorithm": Algorithm, "QgsProcessingParameterBand": Band,
        "QgsProcessingParameterBoolean": Band, "QgsProcessingParameterNumber": Number,
        "QgsProcessingException": type("QgsProcessingException", (Exception,), {}),
    }
    for name in (*names, "QgsProcessingContext"):
        setattr(core, name, special.get(name, Parameter))
    core.QgsProcessingContext.transformContext = lambda self: None
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "qgis", types.ModuleType("qgis"))
        patch.setitem(sys.modules, "qgis.core", core)
        yield core
        sys.modules.pop("itk_cudafilters._qgis", None)


def load(script):
    """Returns the algorithm that QGIS finds in a script: the only class of algorithms."""
    from qgis.core import QgsProcessingAlgorithm

    specification = importlib.util.spec_from_file_location(script, SCRIPTS / f"{script}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    (found,) = (each for each in vars(module).values() if isinstance(each, type) and issubclass(each, QgsProcessingAlgorithm))
    return found().create()


class Feedback:
    """Keeps the messages of a run."""

    def __new__(cls):
        from qgis import core

        made = type("Feedback", (getattr(core, "QgsProcessingFeedback", object),), {"pushInfo": cls.keep, "reportError": cls.keep})()
        made.messages = []
        return made

    def keep(self, text, fatal=False):
        self.messages.append(text)


def run(script, **parameters):
    """Runs an algorithm, and returns what its file holds. Raises RuntimeError with the message of a run that failed."""
    from qgis import core

    algorithm, feedback = load(script), Feedback()
    given = {name: str(value) if isinstance(value, pathlib.Path) else value for name, value in parameters.items()}
    results, done = algorithm.run(given, core.QgsProcessingContext(), feedback)
    if not done:
        raise RuntimeError("; ".join(feedback.messages))
    assert results == {"OUTPUT": given["OUTPUT"]} and any("computed on: " in message for message in feedback.messages)
    return geopandas.read_file(results["OUTPUT"], layer=script)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A radar scene of 3 looks with a field and two ships, pixels of 10 m, and its file."""
    rng = np.random.default_rng(1)
    mean = np.ones((150, 180), np.float32)
    mean[30:90, 40:110] = 6.0
    mean[120:124, 20:26] = mean[130:134, 150:156] = 80.0
    pixels = rng.gamma(3.0, mean / 3.0).astype(np.float32)
    place = {"spacing": (10.0, 10.0), "origin": (600005.0, 5399995.0), "direction": [[1, 0], [0, -1]]}
    path = tmp_path_factory.mktemp("scene") / "scene.tif"
    write_image(Image(pixels, **place, metadata={"crs": "EPSG:32633"}), path)
    return path


def pixels_in(shape, file):
    """The mask of the pixels whose centres are inside of a polygon, by rasterio."""
    return ~rasterio.features.geometry_mask([shape], file.shape, file.transform)


def test_partition(scene, tmp_path):
    import rasterio.features

    found = run("partition_scene", INPUT=scene, LAW=LAWS.index("gamma"), QUANTITY=1, LOOKS=3.0, OUTPUT=tmp_path / "fields.gpkg")
    with rasterio.open(scene) as file:
        pixels = file.read(1)
        assert found.crs == file.crs and found.total_bounds.tolist() == list(file.bounds)
        assert found.area.sum() == pytest.approx(pixels.size * 100.0)
        assert len(found) == 4
        for row in found.itertuples():
            inside = pixels_in(row.geometry, file)
            assert abs(inside.sum() - row.pixels) <= 3  # a side may run through the centres of pixels
            assert pixels[inside].mean() == pytest.approx(row.mean, rel=1e-3)
        field = found.iloc[(found.area - 4200 * 100.0).abs().argmin()]
        assert pixels_in(field.geometry, file)[30:90, 40:110].mean() > 0.97


def test_partition_of_a_part_with_joined_regions(scene, tmp_path):
    output = tmp_path / "part.gpkg"
    options = dict(INPUT=scene, BAND=1, LAW=LAWS.index("gamma"), LOOKS=3.0, OUTPUT=output)
    found = run("partition_scene", EXTENT="600100,601300,5398900,5399900", GAIN=1e9, **options)
    assert len(found) == 1 and found.total_bounds.tolist() == [600100.0, 5398900.0, 601300.0, 5399900.0]
    assert len(run("partition_scene", EXTENT="600100,601300,5398900,5399900", **options)) == 2


def test_a_band_of_several(tmp_path, scene):
    path = tmp_path / "bands.tif"
    with rasterio.open(scene) as file:
        profile, pixels = {**file.profile, "count": 2}, file.read(1)
    with rasterio.open(path, "w", **profile) as file:
        file.write(np.stack([np.ones_like(pixels), pixels]))
    options = dict(INPUT=path, LAW=LAWS.index("gamma"), LOOKS=3.0)
    assert len(run("partition_scene", BAND=1, OUTPUT=tmp_path / "first.gpkg", **options)) == 1
    assert len(run("partition_scene", BAND=2, OUTPUT=tmp_path / "second.gpkg", **options)) == 4


def land(path, system):
    """A file of GeoJSON with a polygon around the second ship, in another reference system."""
    polygon = geopandas.GeoDataFrame(geometry=geopandas.GeoSeries.from_wkt(
        ["POLYGON((601400 5398500, 601700 5398500, 601700 5398800, 601400 5398800, 601400 5398500))"], crs="EPSG:32633"))
    polygon.to_crs(system).to_file(path, driver="GeoJSON")
    return path


@pytest.mark.parametrize("outlines", [True, False])
def test_detection(scene, tmp_path, outlines):
    options = dict(INPUT=scene, LAW=LAWS.index("gamma"), LOOKS=3.0, GUARD_WINDOW=17, BACKGROUND_WINDOW=41, FALSE_ALARMS=8)
    options |= {"OUTLINES": outlines}
    options |= {"EXTENT": "600000,601800,5398500,5399000", "OUTPUT": tmp_path / "ships.gpkg"}  # without the field
    found = run("detect_targets", **options)
    centres = found.geometry.centroid
    expected = [(600230.0, 5398780.0), (601530.0, 5398680.0)]
    assert len(found) == 2 and found.crs == "EPSG:32633"
    for (x, y), centre in zip(expected, centres):
        assert abs(centre.x - x) < 25.0 and abs(centre.y - y) < 25.0
    assert ("outline_gain" in found) == outlines
    found = run("detect_targets", LAND=land(tmp_path / "land.geojson", "EPSG:4326" if HAS_QGIS else "EPSG:32633"), **options)
    assert len(found) == 1 and abs(found.geometry.centroid.x[0] - 600230.0) < 25.0


def test_wrong_use(scene, tmp_path):
    options = dict(INPUT=scene, LAW=LAWS.index("gamma"), LOOKS=3.0, OUTPUT=tmp_path / "out.gpkg")
    with pytest.raises(RuntimeError, match="shp'; it must be a new GeoPackage"):
        run("partition_scene", **{**options, "OUTPUT": tmp_path / "out.shp"})
    with pytest.raises(RuntimeError, match="INPUT is no raster layer"):
        run("partition_scene", **{**options, "INPUT": tmp_path / "none.tif"})
    with pytest.raises(RuntimeError, match="guard_window|GuardWindow"):
        run("detect_targets", GUARD_WINDOW=41, **options)
    with pytest.raises(RuntimeError, match="bounds"):
        run("partition_scene", EXTENT="0,10,0,10", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not HAS_QGIS, reason="needs QGIS")
@pytest.mark.parametrize("script", ["partition_scene", "detect_targets"])
def test_qgis_accepts_the_parameters(qgis, scene, tmp_path, script):
    algorithm = load(script)
    given = {"INPUT": str(scene), "OUTPUT": str(tmp_path / "out.gpkg")}
    assert algorithm.checkParameterValues(given, qgis.QgsProcessingContext()) == (True, "")
    assert algorithm.displayName() and algorithm.shortHelpString() and algorithm.group()
