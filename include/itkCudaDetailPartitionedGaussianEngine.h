// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPartitionedGaussianEngine_h
#define itkCudaDetailPartitionedGaussianEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailOperation.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace itk::CudaDetail
{
/** Filters every line of the image along one axis. */
struct CudaPartitionedGaussianPass
{
  unsigned int Axis{ 0 };
  double       SigmaInPixels{ 1.0 };
  size_t       CentralRadius{ 1 };    // TwoWay: half the window of the central pixel's convolution
  size_t       NumberOfSections{ 1 }; // Exact: number of sections of each line
};

/** Passes that run one after the other, and how each pass processes its lines. */
struct CudaPartitionedGaussianPlan
{
  using LinePartitionEnum = CudaFiltersEnums::Partition;
  using LineBordersEnum = CudaFiltersEnums::LineBorders;
  using IntermediateStorageEnum = CudaFiltersEnums::IntermediateStorage;

  LinePartitionEnum                        LinePartition{ LinePartitionEnum::Exact };
  LineBordersEnum                          LineBorders{ LineBordersEnum::Exact };
  IntermediateStorageEnum                  IntermediateStorage{ IntermediateStorageEnum::Local };
  unsigned int                             LinesPerBlock{ 16 };
  std::vector<CudaPartitionedGaussianPass> Passes;
  bool                                     KeepInput{ false }; // on the device the passes run on a copy of the input
};

/** The parameters of CudaPartitionedRecursiveGaussianImageFilter, and the image's spacing. */
struct CudaPartitionedGaussianParameters
{
  double                                               Sigma{ 1.0 }; // in physical units
  std::optional<double>                                FilterWindow; // in pixels, for every axis; replaces Sigma
  double                                               WindowToSigmaRatio{ 2.0 };
  CudaPartitionedGaussianPlan::LinePartitionEnum       LinePartition{ CudaFiltersEnums::Partition::Exact };
  CudaPartitionedGaussianPlan::LineBordersEnum         LineBorders{ CudaFiltersEnums::LineBorders::Exact };
  CudaPartitionedGaussianPlan::IntermediateStorageEnum IntermediateStorage{
    CudaFiltersEnums::IntermediateStorage::Local
  };
  unsigned int          LinesPerBlock{ 16 };
  std::optional<size_t> NumberOfSections; // of each line with Exact; if not set: CudaAutomaticNumberOfSections()
  std::vector<double>   Spacing;          // by axis
};

/** Checks the parameters that do not depend on the image.
 * \exception ExceptionObject naming the parameter that is out of range */
CudaFilters_EXPORT void
VerifyCudaPartitionedGaussianParameters(const CudaPartitionedGaussianParameters & parameters);

/** Returns the passes for an image with lines of these lengths, from the first axis to the last.
 * \exception ExceptionObject naming the parameter that is out of range, or that does not suit the lines */
CudaFilters_EXPORT CudaPartitionedGaussianPlan
MakePartitionedGaussianPlan(const CudaPartitionedGaussianParameters & parameters,
                            const std::vector<size_t> &               lineLengths);

/** The smallest number of pixels of a line that can be filtered. */
constexpr size_t CudaPartitionedMinimumLineLength = 4;

/** Returns the largest number of sections into which a line of that length can be cut. Sections have at least 16
 * pixels; there is always one section. */
CudaFilters_EXPORT size_t
CudaMaximumNumberOfSections(size_t lineLength);

/** Returns a number of sections for lines of that length that keeps a GPU busy. It depends only on the length, so that
 * the rounding of the result does, too. */
CudaFilters_EXPORT size_t
CudaAutomaticNumberOfSections(size_t lineLength);

/** Returns half the window of the central pixel's convolution, for a filter window of that many pixels; at least 1.
 * \exception ExceptionObject if the window is not greater than zero and finite */
CudaFilters_EXPORT size_t
CudaCentralPixelRadius(double filterWindow);
} // end namespace itk::CudaDetail

#endif
