// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionPartition_h
#define itkCudaRegionPartition_h

#include "CudaFiltersExport.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkDataObject.h"
#include "itkImageBase.h"
#include "itkPoint.h"

#include <cstdint>
#include <vector>

namespace itk
{
/** \class CudaRegionPartition
 * \brief An image divided into regions, as a planar map: nodes, edges that two regions share, and a table of regions.
 *
 * CudaRegionPartitionImageFilter makes it. Nodes are corners of pixels: pixel (x, y), counted from the first pixel, has
 * the corners (x, y) to (x + 1, y + 1). Edges are straight and meet at nodes only. Each knows the region on its left
 * and on its right; region 0 is what lies outside of the image. Regions count from 1. Polygons of regions are put
 * together from edges, so neighbours have the same vertices along their boundary.
 *
 * Merges holds a tree: which two regions are joined next, and what that adds to the description of the image in nats.
 * GetMerged() follows it to a partition of fewer regions.
 *
 * The partition keeps origin, spacing, direction and first index of its image, by which it gives physical points.
 *
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaRegionPartition : public DataObject
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRegionPartition);

  using Self = CudaRegionPartition;
  using Superclass = DataObject;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaRegionPartition, DataObject);

  using GeometryType = ImageBase<2>;
  using PointType = Point<double, 2>;
  using RingType = CudaSnakePolygon;
  using PhysicalRingType = std::vector<PointType>;

  /** Takes a partition of an image with the geometry given.
   * \exception ExceptionObject if an edge or a merge names a node or a region that is not there */
  void
  SetResult(CudaRegionPartitionResult result, const GeometryType * geometry);

  const CudaRegionPartitionResult &
  GetResult() const
  {
    return m_Result;
  }

  /** Origin, spacing, direction and region of the image. */
  const GeometryType *
  GetGeometry() const
  {
    return m_Geometry;
  }

  SizeValueType
  GetNumberOfRegions() const
  {
    return m_Result.Regions.size();
  }
  SizeValueType
  GetNumberOfNodes() const
  {
    return m_Result.Nodes.size();
  }
  SizeValueType
  GetNumberOfEdges() const
  {
    return m_Result.Edges.size();
  }

  const std::vector<CudaSnakePoint> &
  GetNodes() const
  {
    return m_Result.Nodes;
  }
  const std::vector<CudaPartitionEdge> &
  GetEdges() const
  {
    return m_Result.Edges;
  }
  /** The table; entry i is region i + 1. */
  const std::vector<CudaPartitionRegion> &
  GetRegions() const
  {
    return m_Result.Regions;
  }
  const std::vector<CudaPartitionMerge> &
  GetMerges() const
  {
    return m_Result.Merges;
  }

  /** \exception ExceptionObject if there is no region of that number */
  const CudaPartitionRegion &
  GetRegion(uint32_t number) const;

  /** D, the description of the image by this partition, and D of the image as one region, in nats. */
  double
  GetDescription() const
  {
    return m_Result.Description;
  }
  double
  GetDescriptionOfOneRegion() const
  {
    return m_Result.DescriptionOfOneRegion;
  }

  /** The polygon of a region: its outer ring, then its holes. The region lies on the left with x to the right and y
   * upwards: an outer ring has a positive area, a hole a negative one. No ring visits a node twice, the first vertex is
   * the smallest in (y, x) and is not repeated at the end, and nodes on straight lines are kept. So polygons are valid
   * in the sense of OGC Simple Features, and neighbours share all vertices.
   *
   * Where the pixels of a region are not connected by their sides there are several outer rings, each followed by its
   * holes. Without edges (LabelsOnly) there is no ring. The cost is proportional to the region's edges, with a
   * logarithm.
   * \exception ExceptionObject if there is no region of that number, or its edges form no rings */
  std::vector<RingType>
  GetRings(uint32_t number) const;

  /** Whether a ring of GetRings() is an outer one. */
  static bool
  IsOuterRing(const RingType & ring);

  /** The same in physical space. If that mirrors index space the order of vertices is reversed: outer rings go
   * counter-clockwise in physical x, y, holes clockwise, as GeoJSON (RFC 7946) has it. */
  std::vector<PhysicalRingType>
  GetPhysicalRings(uint32_t number) const;

  /** The physical point of a corner of pixels, (0, 0) being the outer corner of the first pixel. */
  PointType
  TransformCornerToPhysicalPoint(const CudaSnakePoint & corner) const;

  /** For each region the number of the one that it belongs to once all merges are done that come before the first one
   * with a change above `change`, in nats. Entry i is that of region i; entry 0 is 0. Merged regions have the smallest
   * of their numbers. Merges come in the order of the tree, which always takes the pair of least change. */
  std::vector<uint32_t>
  GetRegionsAfterMerges(double change) const;

  /** The same once `number` regions are left, or as few as the tree leads to.
   * \exception ExceptionObject if it is 0 */
  std::vector<uint32_t>
  GetRegionsAfterMergesTo(SizeValueType number) const;

  /** The partition after these merges: without the edges within merged regions, with regions numbered from 1 in the
   * order of their smallest numbers here, and with the rest of the tree. Description is that of this partition with the
   * changes added. The tree does not say how they divide among regions: Description of a region that was merged is not
   * a number. */
  Pointer
  GetMerged(double change) const;
  Pointer
  GetMergedTo(SizeValueType number) const;

  /** Forgets everything. */
  void
  Initialize() override;

  /** Takes the content of another partition. \exception ExceptionObject if `data` is none */
  void
  Graft(const DataObject * data) override;

protected:
  CudaRegionPartition();
  ~CudaRegionPartition() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  CudaRegionPartitionResult m_Result;
  GeometryType::Pointer     m_Geometry;
  // Region r bounds edges m_EdgesOfRegions[m_FirstEdges[r]] up to, not including, m_EdgesOfRegions[m_FirstEdges[r +
  // 1]].
  std::vector<size_t>   m_FirstEdges;
  std::vector<uint32_t> m_EdgesOfRegions;

  void
  ListEdgesOfRegions();
  void
  RequireRegion(uint32_t number) const;
  size_t
  CountMergesTo(SizeValueType number) const;
  Pointer
  MakeMerged(size_t merges) const;
};
} // end namespace itk

#endif
