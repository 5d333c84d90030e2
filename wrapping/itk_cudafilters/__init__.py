# SPDX-License-Identifier: Apache-2.0
"""Gaussian filters, vesselness and segmentation on NVIDIA GPUs and on the host, with the conventions of NumPy.

The package also installs its ITK filters into itk itself, as classes and functions:

    import itk
    smoothed = itk.cuda_smoothing_recursive_gaussian_image_filter(image, sigma=2.0)

This module adds functions for arrays:

* `gaussian_filter()` and its relatives smooth and differentiate arrays with the conventions of NumPy and scipy.ndimage.
  The module `ndimage` has scipy's signatures; the module `stream` filters images that are larger than memory.
* `vesselness()`, `frangi()`, `sato()` and `meijering()` enhance lines; `structure_tensor()` measures directions.
* `segment_region()` divides an image into two regions by a polygon, `segment_regions()` finds the outlines of many
  targets, `track_region()` and `segment_volume()` follow one through frames or slices, and `partition_image()` divides an image into all its homogeneous regions. `write_geojson()`, `write_svg()`, `write_geopackage()` and `write_table()` write the results to files;
  `to_geodataframe()` makes a table of geopandas of them. `estimate_looks()` measures the speckle of a radar image.
* `detect_targets()` finds small targets, such as ships, with a constant rate of false alarms.
* `to_device()` and `from_dlpack()` return images that stay on a GPU; `to_host()` copies them back.
* `read_image()` and `write_image()` read and write image files, whose pixels and place in space an `Image` holds.
* `info()` reports whether the filters run on a GPU, and if not, why; `python -m itk_cudafilters` prints this report.
* `enable()` and `with override():` substitute these filters where a program creates ITK's Gaussian filters.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ndimage, stream
    from ._detection import Detection, Detections, DetectionStatistics, detect_targets
    from ._device import from_dlpack, to_device, to_host
    from ._devices import map_devices
    from ._features import to_geodataframe
    from ._files import write_geojson, write_geopackage, write_svg, write_table
    from ._gaussian import (
        difference_of_gaussians,
        gaussian_filter,
        gaussian_filter1d,
        gaussian_gradient,
        gaussian_gradient_magnitude,
        gaussian_hessian,
        gaussian_laplace,
        unsharp_mask,
    )
    from ._image import Image
    from ._image_files import read_image, write_image
    from ._info import Backend, Device, Info, info
    from ._override import disable, enable, override
    from ._partition import Partition, PartitionStatistics, partition_image, partition_images
    from ._radar import estimate_looks
    from ._segmentation import NoiseLaw, RegionStatistics, Segmentation, Statistics, Step, noise_laws, segment_region
    from ._segment_regions import SegmentedRegion, Segmentations, segment_regions
    from ._sequences import TrackedRegion, VolumeSegmentation, segment_volume, track_region
    from ._structure_tensor import structure_tensor, structure_tensor_eigenvalues
    from ._vesselness import frangi, meijering, sato, vesselness

    __version__: str

__all__ = [
    "Backend",
    "Detection",
    "DetectionStatistics",
    "Detections",
    "Device",
    "Image",
    "Info",
    "NoiseLaw",
    "Partition",
    "PartitionStatistics",
    "RegionStatistics",
    "Segmentation",
    "Segmentations",
    "SegmentedRegion",
    "Statistics",
    "Step",
    "TrackedRegion",
    "VolumeSegmentation",
    "detect_targets",
    "difference_of_gaussians",
    "disable",
    "enable",
    "estimate_looks",
    "frangi",
    "from_dlpack",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient",
    "gaussian_gradient_magnitude",
    "gaussian_hessian",
    "gaussian_laplace",
    "info",
    "map_devices",
    "meijering",
    "ndimage",
    "noise_laws",
    "override",
    "partition_image",
    "partition_images",
    "read_image",
    "sato",
    "segment_region",
    "segment_regions",
    "segment_volume",
    "stream",
    "structure_tensor",
    "structure_tensor_eigenvalues",
    "to_device",
    "to_geodataframe",
    "to_host",
    "track_region",
    "unsharp_mask",
    "vesselness",
    "write_geojson",
    "write_geopackage",
    "write_image",
    "write_svg",
    "write_table",
]

# The modules are imported when something of them is first used: each part of the command uses few of them.
_MODULES = {
    "_detection": "Detection DetectionStatistics Detections detect_targets",
    "_device": "from_dlpack to_device to_host",
    "_devices": "map_devices",
    "_features": "to_geodataframe",
    "_files": "write_geojson write_geopackage write_svg write_table",
    "_gaussian": "difference_of_gaussians gaussian_filter gaussian_filter1d gaussian_gradient gaussian_gradient_magnitude "
    "gaussian_hessian gaussian_laplace unsharp_mask",
    "_image": "Image",
    "_image_files": "read_image write_image",
    "_info": "Backend Device Info info",
    "_override": "disable enable override",
    "_partition": "Partition PartitionStatistics partition_image partition_images",
    "_radar": "estimate_looks",
    "_segmentation": "NoiseLaw RegionStatistics Segmentation Statistics Step noise_laws segment_region",
    "_segment_regions": "SegmentedRegion Segmentations segment_regions",
    "_sequences": "TrackedRegion VolumeSegmentation segment_volume track_region",
    "_structure_tensor": "structure_tensor structure_tensor_eigenvalues",
    "_vesselness": "frangi meijering sato vesselness",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Returns a name of a module, a module, or `__version__`."""
    if name == "__version__":
        from importlib.metadata import version  # it takes long to import

        return version("itk-cudafilters")
    if name in _MODULE_OF:
        found = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = found
        return found
    if name in ("ndimage", "stream"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
