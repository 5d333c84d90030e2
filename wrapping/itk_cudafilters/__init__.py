# SPDX-License-Identifier: Apache-2.0
"""What the package itk-cudafilters adds to itk beside its filters.

The filters are classes and functions of itk itself, found there once the package is installed:

    import itk
    smoothed = itk.cuda_smoothing_recursive_gaussian_image_filter(image, sigma=2.0)

`info()` says whether they run on a GPU, and why; `python -m itk_cudafilters` prints it. `enable()` and `with override():` give
this module's filters to programs that ask for ITK's. `segment_region()` divides an image into two regions by a polygon, which
`write_geojson()` and `write_svg()` write to files.
"""
from importlib.metadata import version as _version

from ._files import write_geojson, write_svg
from ._info import Backend, Device, Info, info
from ._override import disable, enable, override
from ._segmentation import NoiseLaw, RegionStatistics, Segmentation, Statistics, Step, noise_laws, segment_region

__version__ = _version("itk-cudafilters")

__all__ = [
    "Backend",
    "Device",
    "Info",
    "NoiseLaw",
    "RegionStatistics",
    "Segmentation",
    "Statistics",
    "Step",
    "disable",
    "enable",
    "info",
    "noise_laws",
    "override",
    "segment_region",
    "write_geojson",
    "write_svg",
]
