// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeImageFilter_h
#define itkCudaRegionSnakeImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailRegionSnakeParameters.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaNoiseLaws.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkPolyLineParametricPath.h"

namespace itk
{
/** \class CudaRegionSnakeImageFilter
 * \brief Segments a two-dimensional image into a target and a background by the polygon that explains the image best.
 *
 * The pixels of each region are taken as independent samples of one distribution (NoiseLaw) whose parameters are
 * estimated. The filter minimises the criterion J, the negative log-likelihood of the image given the boundary, by
 * moving the polygon's nodes and by inserting nodes into long edges. At the end (UseDescriptionLength) it removes nodes
 * as long as that lowers the description length J + k log N, for k nodes in an image of N pixels (Ruch and Refregier,
 * Optics Letters 26, 2001). Nothing is smoothed, and no parameter weighs the length of the boundary.
 *
 * Sums over regions are sums along the polygon's edges (Chesnaud, Refregier and Boulet, IEEE PAMI 21, 1999), as
 * parallelised by Perrot, Domas and Couturier (GPU implementation of a region based algorithm for large images
 * segmentation, 2011). They are exact integers here, and the polygon is simple at all times.
 *
 * The first output is the label image: InsideValue in the target and OutsideValue elsewhere. The second output is the
 * polygon, GetContour(), in continuous index: the corner of pixels X is index X - 1/2. The last vertex is not repeated,
 * the area is positive in physical x, y, and the first vertex is the smallest in (y, x) of the index. GetContourPoint()
 * gives physical points in double. If only the polygon and the statistics are wanted, MakeLabelImageOff() saves the
 * time and the memory of the label image.
 *
 * The boundary is not significant if one region describes the image at least as well as two regions and the polygon.
 * The label image is all OutsideValue then; the polygon stays available.
 *
 * The polygon starts from the first of these that is given: an initial path, an initial mask, an initial region.
 * Otherwise Start says where.
 *
 * The filter needs the whole image. If there is an observer, the filter invokes IterationEvent after every change of
 * the polygon. An observer does not change the result. Progress is reported when a level begins and about ten times a
 * second; AbortGenerateData is honoured there.
 *
 * Image and label image may be device images (CudaDeviceImage), each by its type; parameters, defaults and results are
 * those of images of the host, bit for bit. The run is then on a GPU, without a fallback to the host: on that of the
 * image if it is a device image, else on the one that DeviceIndex or the configuration names. Update() waits for the
 * contour and the statistics; the labels of a device image may still be queued. They are new memory at each run. Masks
 * are images of the host, of which a ValidMask is uploaded for the run.
 *
 * \tparam TInputImage two-dimensional, of unsigned char, unsigned short, short or float; Image or CudaDeviceImage
 * \tparam TOutputImage of an integer type; a CudaDeviceImage is of unsigned char or unsigned short
 *
 * \exception ExceptionObject if a parameter, mask or start cannot be, or the law cannot describe a pixel; the message
 * names it
 * \exception CudaError if Backend is Cuda and the GPU cannot be used; with a device image also if Backend is Host, if
 * DeviceIndex is not the input's, or if the device's memory has run out
 *
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = Image<unsigned char, 2>>
class ITK_TEMPLATE_EXPORT CudaRegionSnakeImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRegionSnakeImageFilter);

  using Self = CudaRegionSnakeImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaRegionSnakeImageFilter, ImageToImageFilter);

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using RegionType = typename InputImageType::RegionType;
  using OutputPixelType = typename OutputImageType::PixelType;
  using PathType = PolyLineParametricPath<2>;
  using MaskImageType = Image<unsigned char, 2>;
  using PointType = Point<double, 2>;
  using NoiseLawEnum = CudaFiltersEnums::NoiseLaw;
  using ScheduleEnum = CudaFiltersEnums::Schedule;
  using StartEnum = CudaFiltersEnums::Start;
  using StopEnum = CudaRegionSnakeStop;

  static_assert(InputImageType::ImageDimension == 2 && OutputImageType::ImageDimension == 2,
                "CudaRegionSnakeImageFilter segments two-dimensional images");
  static_assert(std::is_integral<OutputPixelType>::value, "The labels of CudaRegionSnakeImageFilter are integers");
  static_assert(!CudaIsDeviceImage<OutputImageType>::value || std::is_same<OutputPixelType, unsigned char>::value ||
                  std::is_same<OutputPixelType, unsigned short>::value,
                "Labels of CudaRegionSnakeImageFilter in a CudaDeviceImage are unsigned char or unsigned short");

  itkCudaFilterBackendMacro();

  /** The polygon that the search starts from, in continuous index. Its vertices are rounded to the corners of pixels.
   * The rounded polygon must be simple, lie in the image, and leave MinimumRegionSize pixels inside and outside. */
  itkSetInputMacro(InitialPath, PathType);
  itkGetInputMacro(InitialPath, PathType);

  /** A mask of the image's size: the search starts from the outer boundary of its largest 4-connected component. All
   * pixels of InitialMask and of ValidMask must be in memory. */
  itkSetInputMacro(InitialMask, MaskImageType);
  itkGetInputMacro(InitialMask, MaskImageType);

  /** A mask of the image's size: pixels where it is 0 belong to no region and count nowhere. */
  itkSetInputMacro(ValidMask, MaskImageType);
  itkGetInputMacro(ValidMask, MaskImageType);

  /** The rectangle that the search starts from; a region without pixels (the default) for none. */
  itkSetMacro(InitialRegion, RegionType);
  itkGetConstReferenceMacro(InitialRegion, RegionType);

  /** Where the search starts without an initial path, mask or region. Default: Automatic. */
  void
  SetStart(StartEnum start)
  {
    this->SetParameter(m_Parameters.Start, start);
  }
  void
  SetStart(const std::string & name)
  {
    this->SetStart(CudaStartFromString(name));
  }
  StartEnum
  GetStart() const
  {
    return m_Parameters.Start;
  }

  /** What can be set as NoiseLaw, with the values that each law allows. */
  static std::vector<CudaNoiseLawInformation>
  GetNoiseLaws()
  {
    return CudaNoiseLaws();
  }

  /** Distribution of the pixels, one of GetNoiseLaws(). It has no default: Update() throws an ExceptionObject until it
   * is set. Bernoulli needs an image of 0 and one other value, or a ForegroundThreshold. */
  void
  SetNoiseLaw(NoiseLawEnum law)
  {
    this->SetParameter(m_Parameters.NoiseLaw, std::optional<NoiseLawEnum>(law));
  }
  void
  SetNoiseLaw(const std::string & name)
  {
    this->SetNoiseLaw(CudaNoiseLawFromString(name));
  }
  /** \exception ExceptionObject if it is not set */
  NoiseLawEnum
  GetNoiseLaw() const
  {
    if (!m_Parameters.NoiseLaw)
    {
      itkExceptionMacro("NoiseLaw is not set; SetNoiseLaw() takes " << CudaNoiseLawNames());
    }
    return *m_Parameters.NoiseLaw;
  }

  /** For the laws Gamma and Rayleigh: the number of independent looks whose intensities were averaged, > 0. It need not
   * be an integer. Pixels are that average under Gamma, and its square root under Rayleigh. Default: 1. */
  void
  SetNumberOfLooks(double number)
  {
    this->SetParameter(m_Parameters.NumberOfLooks, number);
  }
  double
  GetNumberOfLooks() const
  {
    return m_Parameters.NumberOfLooks;
  }

  /** Bernoulli law: pixels above it are ones. Default: not a number, for images of 0 and one other value. */
  void
  SetForegroundThreshold(double threshold)
  {
    this->SetParameter(m_Parameters.ForegroundThreshold, threshold);
  }
  double
  GetForegroundThreshold() const
  {
    return m_Parameters.ForegroundThreshold;
  }

  /** CoarseToFine (default) or AsPublished. */
  void
  SetSchedule(ScheduleEnum schedule)
  {
    this->SetParameter(m_Parameters.Schedule, schedule);
  }
  void
  SetSchedule(const std::string & name)
  {
    this->SetSchedule(CudaScheduleFromString(name));
  }
  ScheduleEnum
  GetSchedule() const
  {
    return m_Parameters.Schedule;
  }

  /** Distance of the first moves in cells of the coarsest level, at most a quarter of its shorter side. It is halved
   * after every insertion of nodes. Default: 32. */
  void
  SetMaximumStep(unsigned int step)
  {
    this->SetParameter(m_Parameters.MaximumStep, step);
  }
  unsigned int
  GetMaximumStep() const
  {
    return m_Parameters.MaximumStep;
  }

  /** Edges longer than this get a node in the middle. The unit is a cell of the level; cells of the last level are
   * pixels. Default: 32.
   */
  void
  SetMinimumEdgeLength(double length)
  {
    this->SetParameter(m_Parameters.MinimumEdgeLength, length);
  }
  double
  GetMinimumEdgeLength() const
  {
    return m_Parameters.MinimumEdgeLength;
  }

  /** A move must lower J by this, in nats; 1e-6 (default) or more. */
  void
  SetMinimumGain(double gain)
  {
    this->SetParameter(m_Parameters.MinimumGain, gain);
  }
  double
  GetMinimumGain() const
  {
    return m_Parameters.MinimumGain;
  }

  /** Whether nodes are removed at the end, up to four neighbours at once, as long as that shortens the description.
   * Default: on. */
  void
  SetUseDescriptionLength(bool use)
  {
    this->SetParameter(m_Parameters.UseDescriptionLength, use);
  }
  bool
  GetUseDescriptionLength() const
  {
    return m_Parameters.UseDescriptionLength;
  }
  itkBooleanMacro(UseDescriptionLength);

  /** Nodes that the polygon may have at any time, 4 or more. Default: 4096. */
  void
  SetMaximumNumberOfNodes(unsigned int number)
  {
    this->SetParameter(m_Parameters.MaximumNumberOfNodes, number);
  }
  unsigned int
  GetMaximumNumberOfNodes() const
  {
    return m_Parameters.MaximumNumberOfNodes;
  }

  /** Iterations, in each of which every node is tried once. Default: 10000. */
  void
  SetMaximumNumberOfIterations(unsigned int number)
  {
    this->SetParameter(m_Parameters.MaximumNumberOfIterations, number);
  }
  unsigned int
  GetMaximumNumberOfIterations() const
  {
    return m_Parameters.MaximumNumberOfIterations;
  }

  /** Valid pixels that each region has to have, 1 or more. Default: 16. */
  void
  SetMinimumRegionSize(uint64_t size)
  {
    this->SetParameter(m_Parameters.MinimumRegionSize, size);
  }
  uint64_t
  GetMinimumRegionSize() const
  {
    return m_Parameters.MinimumRegionSize;
  }

  /** Labels, which must differ. Defaults: 1 and 0. */
  itkSetMacro(InsideValue, OutputPixelType);
  itkGetConstMacro(InsideValue, OutputPixelType);
  itkSetMacro(OutsideValue, OutputPixelType);
  itkGetConstMacro(OutsideValue, OutputPixelType);

  /** Whether the label image is made. Default: on. If it is off, the label image has its geometry but no pixels: its
   * buffered region is empty and no memory is allocated. A filter that reads it throws an exception, because its
   * iterators find the pixels outside of the buffered region. Polygon and statistics are the same. */
  itkSetMacro(MakeLabelImage, bool);
  itkGetConstMacro(MakeLabelImage, bool);
  itkBooleanMacro(MakeLabelImage);

  /** The polygon, an output of its own, named "Contour". */
  PathType *
  GetContour();
  const PathType *
  GetContour() const;

  /** The polygon in physical space. */
  SizeValueType
  GetNumberOfContourPoints() const
  {
    return m_ContourPoints.size();
  }
  /** \exception ExceptionObject if there is no such point */
  PointType
  GetContourPoint(SizeValueType i) const;

  /** Number of valid pixels, mean and variance of the regions. Mean and variance are those of the pixels; for the
   * log-normal law, of their logarithm. The variance is not a number for laws that need no squares of pixels
   * (GetNoiseLaws()). */
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

  /** J of the polygon, J of the image as one region, and J + k log N of the polygon, in nats. */
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

  /** Whether the description by two regions and the polygon, after removal of nodes, is shorter than that by one
   * region. */
  bool
  GetSignificantBoundary() const
  {
    return m_Result.SignificantBoundary;
  }

  unsigned int
  GetNumberOfIterations() const
  {
    return m_Result.NumberOfIterations;
  }

  /** GetConverged(): whether no limit stopped the search. GetStop(): what stopped it. */
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

  /** History of the polygon: J, nodes, level, step and what each change did to J. */
  const std::vector<CudaRegionSnakeStep> &
  GetRecord() const
  {
    return m_Result.Record;
  }

  /** The results of the last run, with its times. */
  const CudaRegionSnakeResult &
  GetResult() const
  {
    return m_Result;
  }

  /** In an observer of IterationEvent: the entry of the record that was just made, and the polygon, on corners of
   * pixels counted from the first pixel of the image. */
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

  /** Requests the whole input. */
  void
  GenerateInputRequestedRegion() override;

  /** Always produces the whole label image, whichever output is requested. */
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;

  /** Without MakeLabelImage the label image has no pixels, so ITK would always run the filter again. The label image is
   * up to date if the contour is. The result of a filter before this one may stay on the device
   * (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

  void
  GenerateData() override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  static constexpr bool IsInputOnDevice = CudaIsDeviceImage<InputImageType>::value;
  static constexpr bool IsOutputOnDevice = CudaIsDeviceImage<OutputImageType>::value;

  CudaDetail::CudaRegionSnakeParameters m_Parameters;
  RegionType                            m_InitialRegion;
  OutputPixelType                       m_InsideValue{ 1 };
  OutputPixelType                       m_OutsideValue{ 0 };
  bool                                  m_MakeLabelImage{ true };

  CudaRegionSnakeResult  m_Result;
  std::vector<PointType> m_ContourPoints;
  CudaRegionSnakeStep    m_CurrentStep{};
  CudaSnakePolygon       m_CurrentPolygon;

  template <typename TValue>
  void
  SetParameter(TValue & parameter, TValue value)
  {
    const bool bothAreNoNumbers = parameter != parameter && value != value;
    if (parameter != value && !bothAreNoNumbers)
    {
      parameter = value;
      this->Modified();
    }
  }

  /** It does not compare the number of pixels, which may be 0 modulo 2^64. */
  bool
  HasInitialRegion() const;
  CudaSnakePolygon
  GetStartPolygon() const;
  CudaDetail::CudaRegionSnakeObserver
  MakeObserver();
  void
  PrepareLabels();
  /** The input with the pixels of the image of the host. */
  CudaDetail::CudaRegionSnakeInput
  AddPixels(CudaDetail::CudaRegionSnakeInput input) const;
  /** Makes the result. Returns the device that a label image lies on that is a device image. */
  int
  Segment(const CudaDetail::CudaRegionSnakeInput & input);
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
