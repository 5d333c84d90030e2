// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeImageFilter_h
#define itkCudaRegionSnakeImageFilter_h

#include "itkCudaRegionSnakeFilterBase.h"
#include "itkPolyLineParametricPath.h"

namespace itk
{
/** \class CudaRegionSnakeImageFilter
 * \brief Segments a two-dimensional image into a target and a background by the polygon that explains the image best.
 *
 * The filter models the pixels of each region as independent samples of one distribution (NoiseLaw) and estimates its
 * parameters. It minimises the criterion J, the negative log-likelihood of the image given the boundary, by moving the
 * polygon's nodes and by inserting nodes into long edges. At the end (UseDescriptionLength) it removes nodes as long as
 * that lowers the description length J + k log N, for k nodes in an image of N pixels (Ruch and Refregier, Optics
 * Letters 26, 2001). Nothing is smoothed, and no parameter weighs the length of the boundary.
 *
 * Sums over regions are computed as sums along the polygon's edges (Chesnaud, Refregier and Boulet, IEEE PAMI 21,
 * 1999), as parallelised by Perrot, Domas and Couturier (GPU implementation of a region based algorithm for large
 * images segmentation, 2011). Here they are exact integers, and the polygon is simple at all times.
 *
 * The first output is the label image: InsideValue in the target and OutsideValue elsewhere. The second output is the
 * polygon, GetContour(), in continuous index, where the pixel corner X has the index X - 1/2. The last vertex does not
 * repeat the first one, the area is positive in physical x, y, and the first vertex is the smallest in (y, x) of the
 * index. GetContourPoint() returns physical points in double. If only the polygon and the statistics are needed,
 * MakeLabelImageOff() saves the time and the memory of the label image.
 *
 * The boundary is not significant if one region describes the image at least as well as two regions and the polygon.
 * The label image is then OutsideValue everywhere; the polygon is still available.
 *
 * The search starts from the initial path, mask or region, if one of them is given. Otherwise Start chooses the first
 * polygon.
 *
 * The filter needs the whole image. If it has an observer of IterationEvent, it invokes this event after every change
 * of the polygon. Observers do not change the result. The filter reports progress at the beginning of each level and
 * about ten times a second, and it checks AbortGenerateData at the same times.
 *
 * The image and the label image may each be a device image (CudaDeviceImage), depending on the template arguments.
 * Parameters, defaults and results are the same as for host images, bit for bit. The run is then on a GPU, without a
 * fallback to the host: on the GPU of the input if that is a device image, otherwise on the GPU that DeviceIndex or the
 * configuration names. Update() waits for the contour and the statistics, but the labels of a device image may still be
 * queued. They are stored in newly allocated memory at each run. Masks are host images; a ValidMask is uploaded for the
 * run.
 *
 * \tparam TInputImage two-dimensional, of unsigned char, unsigned short, short or float; Image or CudaDeviceImage
 * \tparam TOutputImage of an integer type; a CudaDeviceImage is of unsigned char or unsigned short
 *
 * \exception ExceptionObject if a parameter, a mask or the start is invalid, or if the law cannot describe a pixel; the
 * message names it
 * \exception CudaError if Backend is Cuda and the GPU cannot be used; with a device image also if Backend is Host, if
 * DeviceIndex is not the input's device, or if the device has run out of memory
 *
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = Image<unsigned char, 2>>
class ITK_TEMPLATE_EXPORT CudaRegionSnakeImageFilter : public CudaRegionSnakeFilterBase<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRegionSnakeImageFilter);

  using Self = CudaRegionSnakeImageFilter;
  using Superclass = CudaRegionSnakeFilterBase<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaRegionSnakeImageFilter, CudaRegionSnakeFilterBase);

  using typename Superclass::InputImageType;
  using typename Superclass::OutputImageType;
  using typename Superclass::RegionType;
  using typename Superclass::OutputPixelType;
  using typename Superclass::MaskImageType;
  using typename Superclass::NoiseLawEnum;
  using typename Superclass::ScheduleEnum;
  using PathType = PolyLineParametricPath<2>;
  using PointType = Point<double, 2>;
  using StartEnum = CudaFiltersEnums::Start;
  using StopEnum = CudaRegionSnakeStop;

  static_assert(!CudaIsDeviceImage<OutputImageType>::value || std::is_same<OutputPixelType, unsigned char>::value ||
                  std::is_same<OutputPixelType, unsigned short>::value,
                "Labels of CudaRegionSnakeImageFilter in a CudaDeviceImage are unsigned char or unsigned short");

  /** The polygon that the search starts from, in continuous index. Its vertices are rounded to pixel corners. The
   * rounded polygon must be simple, must lie in the image, and must leave MinimumRegionSize pixels inside and outside.
   * Only one of InitialPath, InitialMask and InitialRegion may be set. */
  itkSetInputMacro(InitialPath, PathType);
  itkGetInputMacro(InitialPath, PathType);

  /** A mask of the image's size. The search starts from the outer boundary of its largest 4-connected component. All
   * pixels of InitialMask and of ValidMask must be in memory. */
  itkSetInputMacro(InitialMask, MaskImageType);
  itkGetInputMacro(InitialMask, MaskImageType);

  /** The rectangle that the search starts from. A region without pixels (the default) means that no rectangle is
   * given. */
  itkSetMacro(InitialRegion, RegionType);
  itkGetConstReferenceMacro(InitialRegion, RegionType);

  /** Sets where the search starts if no initial path, mask or region is given. Default: Automatic. */
  itkSetGetCudaNamedParameterMacro(Start, StartEnum);

  /** The labels of the target and of the background, which must differ. Defaults: 1 and 0. */
  itkSetMacro(InsideValue, OutputPixelType);
  itkGetConstMacro(InsideValue, OutputPixelType);
  itkSetMacro(OutsideValue, OutputPixelType);
  itkGetConstMacro(OutsideValue, OutputPixelType);

  /** Returns the polygon, which is an output of its own, named "Contour". */
  PathType *
  GetContour();
  const PathType *
  GetContour() const;

  /** Returns the number of vertices of the polygon, which GetContourPoint() returns in physical space. */
  SizeValueType
  GetNumberOfContourPoints() const
  {
    return m_ContourPoints.size();
  }
  /** Returns vertex i of the polygon in physical space. \exception ExceptionObject if there is no such vertex */
  PointType
  GetContourPoint(SizeValueType i) const;

  /** Returns the number of valid pixels, the mean and the variance of a region. For the log-normal law, mean and
   * variance are computed from the logarithm of the pixels. The variance is NaN for laws that do not need the squares
   * of the pixels (GetNoiseLaws()). */
  const CudaRegionSnakeStatistics &
  GetInsideStatistics() const
  {
    return m_Result.Inside;
  }
  const CudaRegionSnakeStatistics &
  GetOutsideStatistics() const
  {
    return m_Result.Outside;
  }
  uint64_t
  GetInsideNumberOfPixels() const
  {
    return m_Result.Inside.NumberOfPixels;
  }
  uint64_t
  GetOutsideNumberOfPixels() const
  {
    return m_Result.Outside.NumberOfPixels;
  }
  double
  GetInsideMean() const
  {
    return m_Result.Inside.Mean;
  }
  double
  GetOutsideMean() const
  {
    return m_Result.Outside.Mean;
  }
  double
  GetInsideVariance() const
  {
    return m_Result.Inside.Variance;
  }
  double
  GetOutsideVariance() const
  {
    return m_Result.Outside.Variance;
  }

  /** Return, in nats: J of the polygon, J of the image as one region, and J + k log N of the polygon. */
  double
  GetCriterion() const
  {
    return m_Result.Criterion;
  }
  double
  GetCriterionOfOneRegion() const
  {
    return m_Result.CriterionOfOneRegion;
  }
  double
  GetDescriptionLength() const
  {
    return m_Result.DescriptionLength;
  }

  /** Returns whether two regions and the polygon, after the removal of nodes, describe the image in fewer nats than one
   * region does. */
  bool
  GetSignificantBoundary() const
  {
    return m_Result.SignificantBoundary;
  }

  /** Returns the number of iterations of all levels. */
  unsigned int
  GetNumberOfIterations() const
  {
    return m_Result.NumberOfIterations;
  }

  /** GetConverged() returns whether the search converged, which means that no limit stopped it. GetStop() returns why
   * the search stopped. */
  bool
  GetConverged() const
  {
    return m_Result.Stop == StopEnum::Converged;
  }
  StopEnum
  GetStop() const
  {
    return m_Result.Stop;
  }

  /** Returns the history of the polygon: J, the number of nodes, level and step, and how much each change lowered or
   * raised J. */
  const std::vector<CudaRegionSnakeStep> &
  GetRecord() const
  {
    return m_Result.Record;
  }

  /** Returns the results of the last run, with its times. */
  const CudaRegionSnakeResult &
  GetResult() const
  {
    return m_Result;
  }

  /** For observers of IterationEvent: return the record's newest entry, and the polygon in pixel corners that count
   * from the first pixel of the image. */
  const CudaRegionSnakeStep &
  GetCurrentStep() const
  {
    return m_CurrentStep;
  }
  const CudaSnakePolygon &
  GetCurrentPolygon() const
  {
    return m_CurrentPolygon;
  }

protected:
  CudaRegionSnakeImageFilter();
  ~CudaRegionSnakeImageFilter() override = default;

  using Superclass::MakeOutput;
  ProcessObject::DataObjectPointer
  MakeOutput(const ProcessObject::DataObjectIdentifierType & name) override;

  void
  VerifyPreconditions() ITKv5_CONST override;

  void
  GenerateData() override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  using Superclass::IsOutputOnDevice;
  using Superclass::m_Parameters;

  RegionType      m_InitialRegion;
  OutputPixelType m_InsideValue{ 1 };
  OutputPixelType m_OutsideValue{ 0 };

  CudaRegionSnakeResult  m_Result;
  std::vector<PointType> m_ContourPoints;
  CudaRegionSnakeStep    m_CurrentStep{};
  CudaSnakePolygon       m_CurrentPolygon;

  /** Returns whether InitialRegion has pixels. It compares the sizes along both axes, because the number of pixels may
   * be 0 modulo 2^64. */
  bool
  HasInitialRegion() const;
  CudaSnakePolygon
  GetStartPolygon() const;
  CudaDetail::CudaRegionSnakeObserver
  MakeObserver();
  void
  WriteLabels(int device);
  void
  WriteContour();
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaRegionSnakeImageFilter.hxx"
#endif

#endif
