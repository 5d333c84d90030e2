# SPDX-License-Identifier: Apache-2.0
"""Algorithms for the toolbox of QGIS, which the scripts of examples/qgis add to it."""
from __future__ import annotations

import json
from typing import Any

from qgis.core import (
    QgsFeatureRequest,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingParameterBand,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterEnum,
    QgsProcessingParameterExtent,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterLayer,
    QgsProcessingParameterVectorDestination,
)

from ._detection import detect_targets
from ._files import write_geopackage
from ._image_files import read_image
from ._partition import partition_image
from ._segmentation import noise_laws

_QUANTITIES = (None, "intensity", "amplitude", "db")
_WHOLE, _REAL = QgsProcessingParameterNumber.Integer, QgsProcessingParameterNumber.Double


class _SceneAlgorithm(QgsProcessingAlgorithm):  # type: ignore[misc]
    """Reads a band of a raster layer or a part of it, and writes polygons as a GeoPackage. QGIS runs it in a thread."""

    _name, _title, _help = "", "", ""

    def name(self) -> str:
        return self._name

    def displayName(self) -> str:
        return self._title

    def group(self) -> str:
        return "ITK CUDA filters"

    def groupId(self) -> str:
        return "itk_cudafilters"

    def shortHelpString(self) -> str:
        return self._help

    def createInstance(self) -> Any:
        return type(self)()

    def initAlgorithm(self, config: Any = None) -> None:
        self._laws = list(noise_laws())
        laws = [f"{name}: {law.description}" for name, law in noise_laws().items()]
        self.addParameter(QgsProcessingParameterRasterLayer("INPUT", "Scene"))
        self.addParameter(QgsProcessingParameterBand("BAND", "Band", 1, "INPUT", optional=True))
        self.addParameter(QgsProcessingParameterExtent("EXTENT", "Part of the scene", optional=True))
        self.addParameter(QgsProcessingParameterEnum("LAW", "Distribution of the pixels", laws, defaultValue=self._laws.index("gamma")))
        quantities = ["as the law describes them", "intensity", "amplitude", "decibels"]
        self.addParameter(QgsProcessingParameterEnum("QUANTITY", "What the pixels are", quantities, defaultValue=0))
        self._add_number("LOOKS", "Independent looks per pixel (0: estimated)", 0.0, 0.0, kind=_REAL)
        self._add_parameters()
        self.addParameter(QgsProcessingParameterVectorDestination("OUTPUT", "Polygons", QgsProcessing.TypeVectorPolygon))

    def _add_number(self, name: str, title: str, value: float, least: float, greatest: float = 1e9, kind: Any = _WHOLE) -> None:
        self.addParameter(QgsProcessingParameterNumber(name, title, kind, value, minValue=least, maxValue=greatest))

    def _add_parameters(self) -> None:
        """Adds the parameters of the algorithm itself. All algorithms have the scene, its law and the file."""
        raise NotImplementedError

    def _compute(self, scene: Any, law: str, looks: float, layer: Any, parameters: Any, context: Any) -> Any:
        """Returns the result of an Image, which write_geopackage() takes."""
        raise NotImplementedError

    def processAlgorithm(self, parameters: dict[str, Any], context: Any, feedback: Any) -> dict[str, Any]:
        layer = self.parameterAsRasterLayer(parameters, "INPUT", context)
        if layer is None:
            raise QgsProcessingException("INPUT is no raster layer")
        if layer.providerType() != "gdal":
            raise QgsProcessingException(f"INPUT is of the provider '{layer.providerType()}'; it must be a file: export it as GeoTIFF")
        path = self.parameterAsOutputLayer(parameters, "OUTPUT", context)
        if not path.lower().endswith(".gpkg"):
            raise QgsProcessingException(f"OUTPUT is '{path}'; it must be a new GeoPackage, whose name ends with .gpkg")
        extent = self.parameterAsExtent(parameters, "EXTENT", context, layer.crs())
        bounds = None if extent.isEmpty() else (extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum())
        # A file of one band is read without rasterio.
        band = (self.parameterAsInt(parameters, "BAND", context) or 1) if layer.bandCount() > 1 else None
        quantity = _QUANTITIES[self.parameterAsEnum(parameters, "QUANTITY", context)]
        law = self._laws[self.parameterAsEnum(parameters, "LAW", context)]
        looks = self.parameterAsDouble(parameters, "LOOKS", context)
        try:
            scene = read_image(layer.source(), band=band, bounds=bounds, quantity=quantity)
            feedback.pushInfo(f"{scene}, {scene.crs}")
            found = self._compute(scene, law, looks, layer, parameters, context)
            feedback.pushInfo(f"{found}; computed on: {found.statistics.backend}")
            write_geopackage(found, path, layer=self._name)
        except (ImportError, OSError, RuntimeError, TypeError, ValueError) as failure:
            raise QgsProcessingException(str(failure)) from failure
        return {"OUTPUT": path}


class PartitionScene(_SceneAlgorithm):
    """Divides a scene into all its homogeneous regions."""

    _name, _title = "partition_scene", "Partition of a scene"
    _help = (
        "Divides a noisy scene into polygons of homogeneous regions without gaps, whose number follows from the noise. "
        "The attributes are those of partition_image() of the Python package itk_cudafilters, such as mean, contrast and gain."
    )

    def _add_parameters(self) -> None:
        self._add_number("SEGMENT_COST", "Cost of an edge in nats; more gives fewer regions", 9.0, 0.0, kind=_REAL)
        self._add_number("GAIN", "Join regions whose boundary is worth no more nats than this", 0.0, 0.0, kind=_REAL)

    def _compute(self, scene: Any, law: str, looks: float, layer: Any, parameters: Any, context: Any) -> Any:
        found = partition_image(scene, law, looks, self.parameterAsDouble(parameters, "SEGMENT_COST", context))
        gain = self.parameterAsDouble(parameters, "GAIN", context)
        return found.merge(nats=gain) if gain > 0.0 else found


class DetectTargets(_SceneAlgorithm):
    """Finds small bright targets with a constant rate of false alarms."""

    _name, _title = "detect_targets", "Targets of a scene"
    _help = (
        "Finds small bright targets, such as ships, with a constant rate of false alarms. The attributes are those of "
        "detect_targets() of the Python package itk_cudafilters, such as significance and the means of target and background."
    )

    def _add_parameters(self) -> None:
        self._add_number("FALSE_ALARMS", "Probability of a false alarm per pixel: 10 to the minus", 6, 1, 300)
        self._add_number("TARGET_WINDOW", "Side of the smallest target in pixels, odd", 3, 1, 16383)
        self._add_number("GUARD_WINDOW", "Twice the side of the largest target in pixels, odd", 15, 1, 16383)
        self._add_number("BACKGROUND_WINDOW", "Side of the surroundings in pixels, odd", 31, 1, 16383)
        polygons = [QgsProcessing.TypeVectorPolygon]
        self.addParameter(QgsProcessingParameterFeatureSource("LAND", "Land, where no targets are searched", polygons, optional=True))
        self.addParameter(QgsProcessingParameterBoolean("OUTLINES", "Outlines of the targets, not rectangles", True))

    def _compute(self, scene: Any, law: str, looks: float, layer: Any, parameters: Any, context: Any) -> Any:
        names = ("target_window", "guard_window", "background_window")
        windows = {name: self.parameterAsInt(parameters, name.upper(), context) for name in names}
        land = self.parameterAsSource(parameters, "LAND", context)
        polygons = []
        if land is not None:
            request = QgsFeatureRequest().setDestinationCrs(layer.crs(), context.transformContext())
            polygons = [json.loads(feature.geometry().asJson(17)) for feature in land.getFeatures(request)]
        return detect_targets(
            scene, law, looks, probability_of_false_alarm=10.0 ** -self.parameterAsInt(parameters, "FALSE_ALARMS", context),
            outlines=self.parameterAsBool(parameters, "OUTLINES", context), land_mask=polygons or None, **windows,
        )
