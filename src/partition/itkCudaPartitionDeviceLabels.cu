// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionDeviceLabels.h"

#include "itkCudaPartitionLabelSearch.h"
#include "itkCudaPartitionProcessor.cuh"

#include <utility>

namespace itk::cuda::partition
{
namespace
{
using Search = LabelSearch<DeviceProcessor>;

Search
MakeSearch(const DeviceProcessor & processor, const Model & model, const region::DeviceSums & sums)
{
  return Search(processor, model, sums.GetDescription().Width, sums.GetDescription().Height);
}

DeviceLabelMap
TakeMap(Search & search, bool finished)
{
  DeviceLabelMap map;
  map.Finished = finished;
  map.NumberOfRegions = search.GetNumberOfRegions();
  map.Labels = search.TakeLabels().TakeMemory();
  map.Regions = search.TakeRegions().TakeMemory();
  return map;
}
} // namespace

DeviceLabelMap
MakeLabelMapOnDevice(const region::DeviceSums &         sums,
                     const Model &                      model,
                     int32_t                            blockSize,
                     const std::function<bool(float)> & progress,
                     const Context &                    context)
{
  const DeviceProcessor processor(sums, region::UsesSquares(model.Law.Law), context);
  Search                search = MakeSearch(processor, model, sums);
  const bool            finished = search.Search(blockSize, progress);
  return TakeMap(search, finished);
}

DeviceLabelMap
MakeLabelMapOfOnDevice(DeviceBuffer               labels,
                       const region::DeviceSums & sums,
                       const Model &              model,
                       const Context &            context)
{
  const DeviceProcessor processor(sums, region::UsesSquares(model.Law.Law), context);
  Search                search = MakeSearch(processor, model, sums);
  search.StartFrom(DeviceProcessor::Array<uint32_t>(std::move(labels)));
  return TakeMap(search, true);
}

size_t
GetLabelSearchBytes(size_t width, size_t height, size_t blockSize)
{
  // Bytes of each cell and edge of EdgeGraph, with its temporary memory; of a pixel of components and their edges, of
  // which there is one for four pixels where a quarter of them is at a boundary.
  constexpr size_t perCell = sizeof(Moments) + sizeof(double) + sizeof(uint64_t) + 3 * sizeof(uint32_t) + 1;
  constexpr size_t perEdge = 2 * (sizeof(uint64_t) + sizeof(uint32_t) + sizeof(double)) + 3 * sizeof(uint64_t) + 8;
  constexpr size_t perPixel = 4 * sizeof(uint32_t) + perEdge / 4;
  const size_t     cells = ((width - 1) / blockSize + 1) * ((height - 1) / blockSize + 1);
  return std::max(cells * (perCell + 2 * perEdge), width * height * perPixel);
}
} // namespace itk::cuda::partition
