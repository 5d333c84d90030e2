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
 * \brief The polygons of a partition: shared straight boundaries between regions, refined from a label map to the map
 * of least description.
 *
 * The method is the active grid of Galland, Bertaux and Refregier (IEEE Transactions on Image Processing 12, 2003),
 * with dynamic programming along boundaries, starting from any label map. The result depends neither on the number of
 * threads nor on the order of work. `pixels` and `threads` must outlive the object; the model is copied.
 */
class PlanarMap
{
public:
  /** Builds the map of the labels without simplification: its nodes are where pixel sides between different labels meet
   * or turn.
   * \exception ExceptionObject as BuildMap()
   */
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
  /** Returns a text that describes an inconsistency of the map, or an empty string. For tests and debug builds. */
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

/** Builds the map whose edges are the pixel sides between different labels, with collinear ones joined. Nodes are
 * sorted by row and column; edges are sorted by their first node, the one towards larger Y first.
 * \exception ExceptionObject if the labels do not fit the image, or the regions' sums differ from those of the edges
 */
MapData
BuildMap(const LabelMap & labels, const region::Level & pixels, const region::Threads & threads);

/** \exception ExceptionObject if the number of nodes exceeds the maximum */
void
CheckNumberOfNodes(size_t number);

/** Returns the region of each pixel, row by row: the region that contains the pixel's centre, with the tie rule of the
 * edge sums.
 * \param labels of any values. Their memory is reused for the result, because the system clears new memory on one
 * thread.
 */
std::vector<uint32_t>
RasterizeMap(const MapData & map, const region::Threads & threads, std::vector<uint32_t> labels = {});

/** Returns a text that describes an inconsistency of a map, or an empty string if it is planar and its sums are right.
 * Compares all pairs of edges whose rows overlap, and is therefore only for tests and debug builds. */
std::string
VerifyMap(const MapData & map, const region::Level & pixels);
} // namespace itk::cuda::partition

#endif
