# SPDX-License-Identifier: Apache-2.0
"""The wrapped filters, and what the tests need to know of each."""
import functools
import re
from dataclasses import dataclass, field

import itk
import pytest
from images import DIMENSIONS, DTYPES, image_type, random_image

SCALAR_KEYS = [(t, d) for t in DTYPES for d in DIMENSIONS]


def snake_case(name):
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


def scalar_key(pixel_type, dimension):
    return image_type(pixel_type, dimension), image_type(pixel_type, dimension)


def gradient_key(pixel_type, dimension):
    return image_type(pixel_type, dimension), itk.Image[itk.CovariantVector[itk.F, dimension], dimension]


def hessian_key(pixel_type, dimension):
    return (image_type(pixel_type, dimension),)


def snake_label(pixel_type, dimension):
    # ITK prefers outputs of the input's type where both are wrapped.
    return image_type(itk.US if pixel_type == itk.US else itk.UC, dimension)


def partition_label(pixel_type, dimension):
    return image_type(itk.US if pixel_type == itk.US else itk.UI, dimension)


def vesselness_response(pixel_type, dimension):
    return image_type(itk.D if pixel_type == itk.D else itk.F, dimension)


def hessian_output(pixel_type, dimension):
    return itk.Image[itk.SymmetricSecondRankTensor[itk.D, dimension], dimension]


@dataclass(frozen=True, eq=False)
class Filter:
    name: str
    superclass: str
    key: callable = scalar_key
    """Template parameters for a pixel type and a dimension."""
    output: callable = image_type
    inputs: list = field(default_factory=lambda: SCALAR_KEYS)
    parameters: dict = field(default_factory=lambda: {"Sigma": 1.75})
    """Of a run that is not the default's."""
    required: dict = field(default_factory=dict)
    """Those that have no default."""

    @property
    def wrapped(self):
        return getattr(itk, self.name)

    @property
    def function(self):
        required = {snake_case(name): value for name, value in self.required.items()}
        return functools.partial(getattr(itk, snake_case(self.name)), **required)

    def new(self, pixel_type=itk.F, dimension=2, **parameters):
        return self.wrapped[self.key(pixel_type, dimension)].New(**{**self.required, **parameters})

    def run(self, image, **parameters):
        """A filter that has run."""
        instance = self.wrapped.New(image, **{**self.required, **self.parameters, **parameters})
        instance.Update()
        return instance

    def __str__(self):
        return self.name.removeprefix("Cuda").removesuffix("ImageFilter")


RECURSIVE = Filter("CudaRecursiveGaussianImageFilter", "RecursiveGaussianImageFilter")
SMOOTHING = Filter("CudaSmoothingRecursiveGaussianImageFilter", "SmoothingRecursiveGaussianImageFilter")
GRADIENT = Filter(
    "CudaGradientRecursiveGaussianImageFilter",
    "GradientRecursiveGaussianImageFilter",
    key=gradient_key,
    output=lambda pixel_type, dimension: gradient_key(pixel_type, dimension)[1],
)
MAGNITUDE = Filter("CudaGradientMagnitudeRecursiveGaussianImageFilter", "GradientMagnitudeRecursiveGaussianImageFilter")
LAPLACIAN = Filter("CudaLaplacianRecursiveGaussianImageFilter", "LaplacianRecursiveGaussianImageFilter")
HESSIAN = Filter(
    "CudaHessianRecursiveGaussianImageFilter", "HessianRecursiveGaussianImageFilter", key=hessian_key, output=hessian_output
)
DISCRETE = Filter("CudaDiscreteGaussianImageFilter", "DiscreteGaussianImageFilter")
PARTITIONED = Filter("CudaPartitionedRecursiveGaussianImageFilter", "ImageToImageFilter")
SNAKE = Filter(
    "CudaRegionSnakeImageFilter",
    "ImageToImageFilter",
    key=lambda pixel_type, dimension: (image_type(pixel_type, dimension), snake_label(pixel_type, dimension)),
    output=snake_label,
    inputs=[(t, 2) for t in (itk.UC, itk.US, itk.SS, itk.F)],
    parameters={"MaximumStep": 4, "NoiseLaw": itk.CudaFiltersEnums.NoiseLaw_Gaussian},
    required={"NoiseLaw": itk.CudaFiltersEnums.NoiseLaw_Gaussian},
)
PARTITION = Filter(
    "CudaRegionPartitionImageFilter",
    "ImageToImageFilter",
    key=lambda pixel_type, dimension: (image_type(pixel_type, dimension), partition_label(pixel_type, dimension)),
    output=partition_label,
    inputs=[(t, 2) for t in (itk.UC, itk.US, itk.SS, itk.F)],
    parameters={"SegmentCost": 12.0, "NoiseLaw": itk.CudaFiltersEnums.NoiseLaw_Gaussian},
    required={"NoiseLaw": itk.CudaFiltersEnums.NoiseLaw_Gaussian},
)
# Not among FILTERS: its response is of float or double, whatever the image.
VESSELNESS = Filter(
    "CudaVesselnessImageFilter",
    "ImageToImageFilter",
    key=lambda pixel_type, dimension: (image_type(pixel_type, dimension), vesselness_response(pixel_type, dimension)),
    output=vesselness_response,
    inputs=[(t, d) for t in (itk.UC, itk.US, itk.SS, itk.F, itk.D) for d in (2, 3)],
    parameters={"Beta": 0.6},
)

GAUSSIANS = (RECURSIVE, SMOOTHING, GRADIENT, MAGNITUDE, LAPLACIAN, HESSIAN, DISCRETE, PARTITIONED)
# Those of two dimensions, whose outputs are labels.
REGION_FILTERS = (SNAKE, PARTITION)
FILTERS = (*GAUSSIANS, *REGION_FILTERS)
# Those with one number per pixel of the output.
SCALAR_GAUSSIANS = tuple(f for f in GAUSSIANS if f.key is scalar_key)
# Those that compute what a filter of ITK computes.
OF_ITK = tuple(f for f in GAUSSIANS if f.superclass != "ImageToImageFilter")

ALL_FILTERS = pytest.mark.parametrize("tested", FILTERS, ids=str)
ALL_GAUSSIANS = pytest.mark.parametrize("tested", GAUSSIANS, ids=str)
ALL_SCALAR_GAUSSIANS = pytest.mark.parametrize("tested", SCALAR_GAUSSIANS, ids=str)
ALL_INPUTS = pytest.mark.parametrize(
    "tested, pixel_type, dimension", [(f, *key) for f in FILTERS for key in f.inputs], ids=str
)


def some_image(tested, pixel_type=itk.F, dimension=None, seed=0):
    return random_image(pixel_type, dimension or (2 if tested in REGION_FILTERS else 3), seed)
