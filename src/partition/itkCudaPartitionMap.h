// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionMap_h
#define itkCudaPartitionMap_h

#include "itkCudaPartitionLabels.h"
#include "itkCudaPartitionMapData.h"
#include "itkCudaPartitionRefinement.h"
#include "itkCudaPartitionSchedule.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkCudaRegionTables.h"
#include "itkCudaRegionThreads.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace itk::cuda::partition
{
/** \class PlanarMap
 * \brief The polygons of a partition: shared straight boundaries between regions, from a label map to the map of least
 * description.
 *
 * The method is the active grid of Galland, Bertaux and Refregier (IEEE Transactions on Image Processing 12, 2003),
 * with dynamic programming along boundaries, from any label map. The result depends neither on the number of threads
 * nor on the order of work. Level, model and threads have to live as long.
 */
class PlanarMap
{
public:
  /** The map of the labels as they are: nodes where sides of pixels between different labels meet or turn.
   * \exception ExceptionObject as BuildMap() */
  PlanarMap(const LabelMap &        labels,
            const region::Level &   pixels,
            const Model &           model,
            uint64_t                minimumNumberOfPixels,
            const region::Threads & threads);

  /** Iterates until an iteration lowers the description by less than one nat. */
  CudaRegionPartitionStop
  Refine(const RefinementSchedule & schedule);

  uint32_t
  GetNumberOfIterations() const
  {
    return m_NumberOfIterations;
  }
  double
  GetDescription() const
  {
    return DescribeMap(m_Map, m_Model);
  }
  MapCounts
  GetCounts() const
  {
    return CountMap(m_Map);
  }
  const MapData &
  GetData() const
  {
    return m_Map;
  }
  /** What is wrong with the map, in words: nothing. For tests and debug builds. */
  std::string
  Verify() const;

private:
  const region::Level &   m_Pixels;
  const Model             m_Model;
  const uint64_t          m_MinimumNumberOfPixels;
  const region::Threads & m_Threads;
  MapData                 m_Map;
  uint32_t                m_NumberOfIterations{ 0 };

  CudaRegionPartitionStop
  Iterate(const RefinementSchedule & schedule, const RefinementPlan & plan);
  bool
  RunIteration(Refinement & refinement, const RefinementSchedule & schedule, bool isFirst);
  void
  VerifyInDebugBuilds() const;
};
} // namespace itk::cuda::partition

#endif
