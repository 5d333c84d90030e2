// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/DeviceLabels.h"

#include "partition/labels/LabelSearch.h"
#include "partition/executor/DeviceExecutor.cuh"
#include "partition/executor/ArrayMemory.h"

#include <utility>

namespace itk::cuda::partition
{
namespace
{
using Search = LabelSearch<DeviceExecutor>;

Search
MakeSearch(const DeviceExecutor & executor, const Model & model, const region::DeviceSums & sums)
{
  return Search(executor, model, sums.GetDescription().Width, sums.GetDescription().Height);
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
  const size_t         bytes = GetLabelSearchBytes(static_cast<size_t>(sums.GetDescription().Width),
                                           static_cast<size_t>(sums.GetDescription().Height),
                                           static_cast<size_t>(blockSize));
  const DeviceExecutor executor(sums, region::UsesSquares(model.Law.Law), GetHeapBytes(bytes), context);
  return MakeLabelMapOnDevice(sums, model, blockSize, progress, executor);
}

DeviceLabelMap
MakeLabelMapOnDevice(const region::DeviceSums &         sums,
                     const Model &                      model,
                     int32_t                            blockSize,
                     const std::function<bool(float)> & progress,
                     const DeviceExecutor &             executor)
{
  Search     search = MakeSearch(executor, model, sums);
  const bool finished = search.Search(blockSize, progress);
  return TakeMap(search, finished);
}

DeviceLabelMap
MakeLabelMapOfOnDevice(ArrayMemory                labels,
                       const region::DeviceSums & sums,
                       const Model &              model,
                       const DeviceExecutor &     executor)
{
  Search search = MakeSearch(executor, model, sums);
  search.StartFrom(DeviceExecutor::Array<uint32_t>(std::move(labels)));
  return TakeMap(search, true);
}
} // namespace itk::cuda::partition
