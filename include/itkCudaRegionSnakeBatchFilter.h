// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeBatchFilter_h
#define itkCudaRegionSnakeBatchFilter_h

#include "itkCudaRegionSnakeFilterBase.h"
#include "itkPolyLineParametricPath.h"

#include <vector>

namespace itk
{
/** \class CudaRegionSnakeBatchFilter
 * \brief Segments many small targets in one two-dimensional image, each by the polygon that explains its surroundings
 * best.
 *
 * Each start is the beginning of one search of CudaRegionSnakeImageFilter, in a window: the bounding box of the start
 * and a Margin around it, as far as the image reaches. So the background of a target is what surrounds it. The image is
 * converted to integers and summed once for all searches, which run concurrently. A polygon is the one that
 * CudaRegionSnakeImageFilter finds in the image cropped to the window, with the same parameters, bit for bit if the
 * image is of an integer type and the law is not log-normal. Otherwise only the grid of the samples is that of the
 * whole image.
 *
 * Starts are rectangles (AddInitialRegion()), polygons (AddInitialPath()), or the areas of a label image
 * (SetInitialLabels()), for example the components above the threshold of a detector. Results are in the order in which
 * the starts were added, or in that of ascending labels.
 *
 * The output is the label image: i + 1 in region i if its boundary is significant, and 0 elsewhere. Where regions
 * overlap, the lower label wins, and GetOverlaps() lists the pairs. GetRegion() returns the polygon of a region in
 * corners of pixels, with its statistics, and GetContourPoints() returns it in physical space.
 *
 * A start without MinimumRegionSize valid pixels in it or in the rest of its window is no error: the Stop of its result
 * is RegionTooSmall, and it has no polygon. A region without a significant boundary has a polygon, but no label.
 *
 * MinimumEdgeLength is 3 and MaximumStep is 4 by default, for targets of some dozens to some thousands of pixels.
 *
 * The filter reports progress and checks AbortGenerateData at least ten times a second. The image may be a
 * CudaDeviceImage, and the search is then on its device.
 *
 * \tparam TInputImage two-dimensional, of unsigned char, unsigned short, short or float; Image or CudaDeviceImage
 * \tparam TOutputImage Image of unsigned char, unsigned short or unsigned int
 *
 * \exception ExceptionObject if a parameter, a mask or a start is invalid, if the law cannot describe a pixel, or if
 * the label image's type cannot hold the number of starts; the message names it
 * \exception CudaError if Backend is Cuda and the GPU cannot be used
 *
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = Image<unsigned int, 2>>
class ITK_TEMPLATE_EXPORT CudaRegionSnakeBatchFilter : public CudaRegionSnakeFilterBase<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRegionSnakeBatchFilter);

  using Self = CudaRegionSnakeBatchFilter;
  using Superclass = CudaRegionSnakeFilterBase<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaRegionSnakeBatchFilter, CudaRegionSnakeFilterBase);

  using typename Superclass::InputImageType;
  using typename Superclass::OutputImageType;
  using typename Superclass::RegionType;
  using typename Superclass::OutputPixelType;
  using PathType = PolyLineParametricPath<2>;
  using LabelImageType = Image<unsigned int, 2>;
  using PointType = Point<double, 2>;

  static_assert(!CudaIsDeviceImage<OutputImageType>::value, "The label image is in host memory");
  static_assert(std::is_same<OutputPixelType, unsigned char>::value ||
                  std::is_same<OutputPixelType, unsigned short>::value ||
                  std::is_same<OutputPixelType, unsigned int>::value,
                "Labels of CudaRegionSnakeBatchFilter are unsigned char, unsigned short or unsigned int");

  /** Adds a rectangle as the next start. */
  void
  AddInitialRegion(const RegionType & region);

  /** Adds a polygon, in continuous index, as the next start. Its vertices are rounded to pixel corners, and the rounded
   * polygon must be simple and lie in the image. The path is copied. */
  void
  AddInitialPath(const PathType * path);

  /** Removes all rectangles and polygons. */
  void
  ClearStarts();

  /** Returns the number of rectangles and polygons. */
  SizeValueType
  GetNumberOfStarts() const
  {
    return m_Starts.size();
  }

  /** Sets a label image of the input's size, which replaces rectangles and polygons. Each value above 0 is a start: the
   * search begins at the outer boundary of the largest 4-connected component of the pixels with this value. */
  itkSetInputMacro(InitialLabels, LabelImageType);
  itkGetInputMacro(InitialLabels, LabelImageType);

  /** Sets how many pixels a window extends beyond the bounding box of its start. 0 (default): as many as the longer
   * side of the box, and at least 16. */
  itkSetMacro(Margin, unsigned int);
  itkGetConstMacro(Margin, unsigned int);

  /** Returns the number of results, which is the number of starts. */
  SizeValueType
  GetNumberOfRegions() const
  {
    return m_Regions.size();
  }

  /** Returns the result of start i. \exception ExceptionObject if there is no such start */
  const CudaRegionSnakeRegion &
  GetRegion(SizeValueType i) const;

  /** Returns the results of all starts. */
  const std::vector<CudaRegionSnakeRegion> &
  GetRegions() const
  {
    return m_Regions;
  }

  /** Returns the polygon of region i in physical space, with positive area in x, y. The first vertex is not repeated.
   * \exception ExceptionObject if there is no such region */
  const std::vector<PointType> &
  GetContourPoints(SizeValueType i) const;

  /** Returns the pairs of regions that overlap, in ascending order. They are found with the label image. */
  const std::vector<CudaRegionSnakeOverlap> &
  GetOverlaps() const
  {
    return m_Overlaps;
  }

protected:
  CudaRegionSnakeBatchFilter();
  ~CudaRegionSnakeBatchFilter() override = default;

  void
  VerifyPreconditions() ITKv5_CONST override;

  void
  GenerateData() override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  using Superclass::m_Parameters;

  std::vector<std::vector<ContinuousIndex<double, 2>>> m_Starts;
  unsigned int                                         m_Margin{ 0 };
  std::vector<CudaRegionSnakeRegion>                   m_Regions;
  std::vector<std::vector<PointType>>                  m_ContourPoints;
  std::vector<CudaRegionSnakeOverlap>                  m_Overlaps;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaRegionSnakeBatchFilter.hxx"
#endif

#endif
