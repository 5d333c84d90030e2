// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_Map_h
#define CudaFilters_partition_map_Map_h

#include "partition/labels/LabelMaker.h"
#include "partition/map/MapData.h"
#include "partition/refine/Refinement.h"
#include "partition/refine/Schedule.h"
#include "itkCudaRegionPartitionTypes.h"
#include "region/Tables.h"
#include "region/Threads.h"

#include <cstddef>
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

/** The map whose edges are the sides of pixels between different labels, straight ones joined. Nodes are in the order
 * of their rows and columns; edges in that of their first node, the one to larger Y first.
 * \exception ExceptionObject if the labels do not fit the image, or the regions' sums differ from those of the edges */
MapData
BuildMap(const LabelMap & labels, const region::Level & pixels, const region::Threads & threads);

/** \exception ExceptionObject if a map cannot have so many nodes */
void
CheckNumberOfNodes(size_t number);

/** The region of each pixel, row by row: that in which its centre lies, by the rule of the edges' sums.
 * \param labels of any values. The result takes their memory: the system clears new memory on one thread. */
std::vector<uint32_t>
RasterizeMap(const MapData & map, const region::Threads & threads, std::vector<uint32_t> labels = {});

/** What is wrong with a map, in words; nothing if it is planar and its sums are right. Compares all pairs of edges
 * whose rows overlap: for tests and debug builds. */
std::string
VerifyMap(const MapData & map, const region::Level & pixels);
} // namespace itk::cuda::partition

#endif
