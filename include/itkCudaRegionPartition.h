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
 * CudaRegionPartitionImageFilter creates it. Nodes are pixel corners: pixel (x, y), counted from the first pixel, has
 * the corners (x, y) to (x + 1, y + 1). Edges are straight and meet only at nodes. Each edge stores the region on its
 * left and on its right; region 0 is the outside of the image, and the regions of the image are numbered from 1. The
 * polygons of regions are assembled from edges, so neighbours have the same vertices along their common boundary.
 *
 * Merges stores a tree: which two regions are joined next, and how much that adds to the description of the image in
 * nats. GetMerged() follows it to a partition with fewer regions.
 *
 * The partition keeps origin, spacing, direction and first index of its image, from which it computes physical points.
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

  /** Stores the partition of an image with the given geometry.
   * \exception ExceptionObject if an edge or a merge names a node or a region that does not exist */
  void
  SetResult(CudaRegionPartitionResult result, const GeometryType * geometry);

  /** Returns the whole result. */
  const CudaRegionPartitionResult &
  GetResult() const
  {
    return m_Result;
  }

  /** Returns origin, spacing, direction and region of the image. */
  const GeometryType *
  GetGeometry() const
  {
    return m_Geometry;
  }

  /** Return the numbers of regions, nodes and edges. */
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

  /** Return the nodes, which are corners of pixels, and the edges between them. */
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
  /** Returns the table; entry i is region i + 1. */
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

  /** Returns the region of that number. \exception ExceptionObject if it does not exist */
  const CudaPartitionRegion &
  GetRegion(uint32_t number) const;

  /** Return, in nats: D, the description of the image by this partition, and D of the image as one region. */
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

  /** Returns the polygon of a region: its outer ring, then its holes. With x to the right and y upwards, the region
   * lies on the left of its rings, so that an outer ring has a positive area and a hole a negative one. No ring visits
   * a node twice, the first vertex is the smallest in (y, x) and is not repeated at the end, and nodes on straight
   * lines are kept. As a result, polygons are valid in the sense of OGC Simple Features, and neighbours share all
   * vertices.
   *
   * If the pixels of a region are not all connected through their sides, there are several outer rings, each followed
   * by its holes. Without edges (LabelsOnly) there are no rings. The cost is O(n log n) for n edges of the region.
   * \exception ExceptionObject if there is no region of that number, or if its edges do not form rings */
  std::vector<RingType>
  GetRings(uint32_t number) const;

  /** Returns whether a ring of GetRings() is an outer one. */
  static bool
  IsOuterRing(const RingType & ring);

  /** Returns the rings of GetRings() in physical space. If physical space mirrors index space, the order of vertices is
   * reversed: outer rings are counter-clockwise in physical x, y, and holes clockwise, as GeoJSON (RFC 7946)
   * requires. */
  std::vector<PhysicalRingType>
  GetPhysicalRings(uint32_t number) const;

  /** Returns the physical point of a pixel corner. (0, 0) is the outer corner of the first pixel. */
  PointType
  TransformCornerToPhysicalPoint(const CudaSnakePoint & corner) const;

  /** Returns for each region the number of the region to which it belongs after all merges that precede the first merge
   * with a change above `change`, in nats. Entry i belongs to region i; entry 0 is 0. A merged region has the smallest
   * number of its parts. The merges are ordered as in the tree, which always takes the pair with the least change. */
  std::vector<uint32_t>
  GetRegionsAfterMerges(double change) const;

  /** Returns these numbers after merging down to `number` regions, or as far as the tree goes.
   * \exception ExceptionObject if `number` is 0 */
  std::vector<uint32_t>
  GetRegionsAfterMergesTo(SizeValueType number) const;

  /** Return the partition after these merges: without the edges within merged regions, with regions numbered from 1 in
   * the order of their smallest numbers here, and with the rest of the tree. Its Description is the description of this
   * partition plus the changes of the merges. The tree does not say how the changes divide among regions, so the
   * Description of a merged region is NaN. */
  Pointer
  GetMerged(double change) const;
  Pointer
  GetMergedTo(SizeValueType number) const;

  /** Drops the whole content. */
  void
  Initialize() override;

  /** Copies the content of another partition. \exception ExceptionObject if `data` is not a CudaRegionPartition */
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
  // The edges of region r are m_EdgesOfRegions[m_FirstEdges[r]] up to, but not including,
  // m_EdgesOfRegions[m_FirstEdges[r + 1]].
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
