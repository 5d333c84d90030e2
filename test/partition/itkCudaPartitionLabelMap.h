// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionLabelMap_h
#define itkCudaPartitionLabelMap_h

#include "partition/itkCudaPartitionTestCase.h"
#include "partition/labels/LabelSearch.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::test
{
/** The labels of the pixels, and the sums of the regions by label; [0] has no samples. */
struct LabelMap
{
  std::vector<uint32_t>           Labels;
  std::vector<partition::Moments> Regions;
};

template <typename TExecutor>
LabelMap
GetLabelMap(const partition::LabelSearch<TExecutor> & search)
{
  const uint32_t * const           labels = search.GetPixels().Labels;
  const partition::Moments * const regions = search.GetRegions().Get();
  return { { labels, labels + search.GetNumberOfPixels() }, { regions, regions + search.GetNumberOfRegions() + 1 } };
}

/** The regions of an image, on the case's threads. */
inline LabelMap
MakeLabelMap(const PartitionCase & image, const PreparedCase & prepared, int32_t blockSize)
{
  const auto             executor = prepared.GetExecutor();
  partition::LabelSearch search(executor, prepared.Model, image.Width, image.Height);
  search.Search(blockSize, {});
  return GetLabelMap(search);
}

/** The regions of given labels. */
inline LabelMap
MakeLabelMapOf(const PartitionCase & image, const PreparedCase & prepared, const std::vector<uint32_t> & labels)
{
  const auto             executor = prepared.GetExecutor();
  partition::LabelSearch search(executor, prepared.Model, image.Width, image.Height);
  search.StartFrom(executor.Upload(labels.data(), labels.size()));
  return GetLabelMap(search);
}
} // namespace itk::cuda::test

#endif
