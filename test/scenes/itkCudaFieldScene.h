// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFieldScene_h
#define itkCudaFieldScene_h

#include "itkImage.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::cuda::test
{
/** A synthetic radar scene of fields: unions of Voronoi cells, each with a mean of its own, under speckle. */
struct FieldScene
{
  using ImageType = Image<unsigned short, 2>;

  unsigned int Width{ 768 };
  unsigned int Height{ 512 };
  unsigned int NumberOfCells{ 110 };
  unsigned int NumberOfRegions{ 60 };
  unsigned int Looks{ 1 };
  double       Contrast{ 2.0 }; // smallest ratio of the means of neighbours
  uint64_t     Seed{ 1 };

  /** Label of each pixel, from 0 to NumberOfRegions - 1. */
  std::vector<uint32_t>
  MakeTruth() const;

  /** Intensities. \param truth as MakeTruth() gives it */
  ImageType::Pointer
  MakeImage(const std::vector<uint32_t> & truth) const;
};

/** How well a map of labels agrees with the truth. */
struct PartitionScore
{
  double AdjustedRandIndex; // Hubert and Arabie, Journal of Classification 2, 1985
  double Recall;            // share of the true boundary within two pixels of a boundary found
  double Precision;         // share of the boundary found within two pixels of a true one
  double Distance;          // mean distance of the two boundaries from each other, in pixels
};

PartitionScore
ScorePartition(const std::vector<uint32_t> & truth, const std::vector<uint32_t> & labels, unsigned int width);
} // namespace itk::cuda::test

#endif
