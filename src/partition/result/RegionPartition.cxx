// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionPartition.h"

#include "partition/result/Result.h"

#include <algorithm>

namespace itk
{
namespace
{
/** Returns whether the transform from index space to physical space includes a reflection. */
bool
IsMirrored(const ImageBase<2> & geometry)
{
  const auto & direction = geometry.GetDirection();
  const double determinant = direction[0][0] * direction[1][1] - direction[0][1] * direction[1][0];
  return determinant * geometry.GetSpacing()[0] * geometry.GetSpacing()[1] < 0.0;
}

/** Returns the number of merges up to the first one whose change exceeds `change`. */
size_t
CountMerges(const std::vector<CudaPartitionMerge> & merges, double change)
{
  const auto end = std::find_if(
    merges.begin(), merges.end(), [change](const CudaPartitionMerge & merge) { return !(merge.Change <= change); });
  return static_cast<size_t>(end - merges.begin());
}
} // namespace

CudaRegionPartition::CudaRegionPartition()
  : m_Geometry(GeometryType::New())
{
  this->ListEdgesOfRegions();
}

void
CudaRegionPartition::SetResult(CudaRegionPartitionResult result, const GeometryType * geometry)
{
  if (geometry == nullptr)
  {
    itkExceptionMacro("The geometry is null; it must be that of the image");
  }
  const auto requireBelow = [this](const char * name, size_t i, const char * what, uint32_t value, size_t end) {
    if (value >= end)
    {
      itkExceptionMacro(<< name << ' ' << i << " names " << what << ' ' << value << "; the largest is "
                        << static_cast<int64_t>(end) - 1);
    }
  };
  const size_t regions = result.Regions.size();
  for (size_t i = 0; i < result.Edges.size(); ++i)
  {
    const CudaPartitionEdge & edge = result.Edges[i];
    requireBelow("Edge", i, "node", std::max(edge.Start, edge.End), result.Nodes.size());
    requireBelow("Edge", i, "region", std::max(edge.Left, edge.Right), regions + 1);
  }
  std::vector<bool> merged(regions + 1, false);
  for (size_t i = 0; i < result.Merges.size(); ++i)
  {
    const CudaPartitionMerge & merge = result.Merges[i];
    requireBelow("Merge", i, "region", merge.Second, regions + 1);
    if (merge.First < 1 || merge.First >= merge.Second || merged[merge.First] || merged[merge.Second])
    {
      itkExceptionMacro("Merge " << i << " makes region " << merge.Second << " a part of region " << merge.First
                                 << "; the first must be the smaller one, and none may be a part of another yet");
    }
    merged[merge.Second] = true;
  }
  const auto copy = GeometryType::New();
  copy->CopyInformation(geometry);
  m_Result = std::move(result);
  m_Geometry = copy;
  this->ListEdgesOfRegions();
  this->Modified();
}

/** A counting sort. An edge with the same region on both sides bounds no region. */
void
CudaRegionPartition::ListEdgesOfRegions()
{
  m_FirstEdges.assign(m_Result.Regions.size() + 2, 0);
  const auto forEach = [this](const auto & function) {
    for (size_t i = 0; i < m_Result.Edges.size(); ++i)
    {
      const CudaPartitionEdge & edge = m_Result.Edges[i];
      if (edge.Left != edge.Right)
      {
        function(edge.Left, static_cast<uint32_t>(i));
        function(edge.Right, static_cast<uint32_t>(i));
      }
    }
  };
  forEach([this](uint32_t region, uint32_t) { ++m_FirstEdges[region + 1]; });
  for (size_t i = 1; i < m_FirstEdges.size(); ++i)
  {
    m_FirstEdges[i] += m_FirstEdges[i - 1];
  }
  m_EdgesOfRegions.resize(m_FirstEdges.back());
  std::vector<size_t> places = m_FirstEdges;
  forEach([&](uint32_t region, uint32_t edge) { m_EdgesOfRegions[places[region]++] = edge; });
}

void
CudaRegionPartition::RequireRegion(uint32_t number) const
{
  if (number < 1 || number > this->GetNumberOfRegions())
  {
    itkExceptionMacro("Region " << number << " was asked for; regions count from 1 to " << this->GetNumberOfRegions());
  }
}

const CudaPartitionRegion &
CudaRegionPartition::GetRegion(uint32_t number) const
{
  this->RequireRegion(number);
  return m_Result.Regions[number - 1];
}

std::vector<CudaRegionPartition::RingType>
CudaRegionPartition::GetRings(uint32_t number) const
{
  this->RequireRegion(number);
  std::vector<cuda::partition::RingEdge> edges;
  edges.reserve(m_FirstEdges[number + 1] - m_FirstEdges[number]);
  for (size_t i = m_FirstEdges[number]; i < m_FirstEdges[number + 1]; ++i)
  {
    const CudaPartitionEdge & edge = m_Result.Edges[m_EdgesOfRegions[i]];
    if (edge.Left == number)
    {
      edges.push_back({ edge.Start, edge.End });
    }
    else
    {
      edges.push_back({ edge.End, edge.Start });
    }
  }
  return cuda::partition::MakeRings(std::move(edges), m_Result.Nodes);
}

bool
CudaRegionPartition::IsOuterRing(const RingType & ring)
{
  return cuda::partition::TwiceTheArea(ring) > 0;
}

std::vector<CudaRegionPartition::PhysicalRingType>
CudaRegionPartition::GetPhysicalRings(uint32_t number) const
{
  const bool                    mirrored = IsMirrored(*m_Geometry);
  std::vector<PhysicalRingType> rings;
  for (RingType & corners : this->GetRings(number))
  {
    if (mirrored)
    {
      std::reverse(corners.begin() + 1, corners.end());
    }
    PhysicalRingType ring;
    ring.reserve(corners.size());
    for (const CudaSnakePoint & corner : corners)
    {
      ring.push_back(this->TransformCornerToPhysicalPoint(corner));
    }
    rings.push_back(std::move(ring));
  }
  return rings;
}

CudaRegionPartition::PointType
CudaRegionPartition::TransformCornerToPhysicalPoint(const CudaSnakePoint & corner) const
{
  const auto                 first = m_Geometry->GetLargestPossibleRegion().GetIndex();
  ContinuousIndex<double, 2> index;
  index[0] = static_cast<double>(first[0]) + corner.X - 0.5;
  index[1] = static_cast<double>(first[1]) + corner.Y - 0.5;
  PointType point;
  m_Geometry->TransformContinuousIndexToPhysicalPoint(index, point);
  return point;
}

size_t
CudaRegionPartition::CountMergesTo(SizeValueType number) const
{
  if (number == 0)
  {
    itkExceptionMacro("The number of regions is 0; it must be 1 or more");
  }
  const SizeValueType regions = this->GetNumberOfRegions();
  return std::min<size_t>(m_Result.Merges.size(), regions > number ? regions - number : 0);
}

std::vector<uint32_t>
CudaRegionPartition::GetRegionsAfterMerges(double change) const
{
  return cuda::partition::FollowMergeTree(m_Result, CountMerges(m_Result.Merges, change));
}

std::vector<uint32_t>
CudaRegionPartition::GetRegionsAfterMergesTo(SizeValueType number) const
{
  return cuda::partition::FollowMergeTree(m_Result, this->CountMergesTo(number));
}

CudaRegionPartition::Pointer
CudaRegionPartition::MakeMerged(size_t merges) const
{
  const Pointer merged = New();
  merged->SetResult(cuda::partition::CutMergeTree(m_Result, merges), m_Geometry);
  return merged;
}

CudaRegionPartition::Pointer
CudaRegionPartition::GetMerged(double change) const
{
  return this->MakeMerged(CountMerges(m_Result.Merges, change));
}

CudaRegionPartition::Pointer
CudaRegionPartition::GetMergedTo(SizeValueType number) const
{
  return this->MakeMerged(this->CountMergesTo(number));
}

void
CudaRegionPartition::Initialize()
{
  Superclass::Initialize();
  m_Result = CudaRegionPartitionResult();
  m_Geometry = GeometryType::New();
  this->ListEdgesOfRegions();
}

void
CudaRegionPartition::Graft(const DataObject * data)
{
  if (data == nullptr)
  {
    return; // as other ITK data objects do
  }
  const auto * const other = dynamic_cast<const Self *>(data);
  if (other == nullptr)
  {
    itkExceptionMacro("A " << data->GetNameOfClass() << " cannot be grafted onto a CudaRegionPartition");
  }
  this->SetResult(other->m_Result, other->m_Geometry);
}

void
CudaRegionPartition::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "NumberOfRegions: " << this->GetNumberOfRegions() << std::endl;
  os << indent << "NumberOfNodes: " << this->GetNumberOfNodes() << std::endl;
  os << indent << "NumberOfEdges: " << this->GetNumberOfEdges() << std::endl;
  os << indent << "NumberOfMerges: " << m_Result.Merges.size() << std::endl;
  os << indent << "Description: " << m_Result.Description << std::endl;
  os << indent << "DescriptionOfOneRegion: " << m_Result.DescriptionOfOneRegion << std::endl;
  os << indent << "NumberOfLooks: " << m_Result.NumberOfLooks << std::endl;
  os << indent << "NumberOfIterations: " << m_Result.NumberOfIterations << std::endl;
  os << indent << "Stop: " << m_Result.Stop << std::endl;
  os << indent << "Origin: " << m_Geometry->GetOrigin() << std::endl;
  os << indent << "Spacing: " << m_Geometry->GetSpacing() << std::endl;
  os << indent << "Direction: " << std::endl << m_Geometry->GetDirection();
  os << indent << "Index: " << m_Geometry->GetLargestPossibleRegion().GetIndex() << std::endl;
  os << indent << "Size: " << m_Geometry->GetLargestPossibleRegion().GetSize() << std::endl;
}
} // end namespace itk
