// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionPartitionImageFilter_h
#define itkCudaRegionPartitionImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaNoiseLaws.h"
#include "itkCudaRegionPartition.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"

#include <type_traits>

namespace itk
{
/** \class CudaRegionPartitionImageFilter
 * \brief Divides a whole two-dimensional image into homogeneous polygonal regions by the shortest description.
 *
 * The pixels of each region are taken as independent samples of one distribution (NoiseLaw) whose parameters are
 * estimated. How many regions there are, where their boundaries run and how many nodes these have follows from one
 * criterion, the length of a description of the image in nats (Rissanen, Automatica 14, 1978):
 *
 * D = sum over regions of [w L + (a / 2) log n + log N] + c S
 *
 * L is the negative log-likelihood of a region's pixels, n their number, a the number of parameters that the law
 * estimates (2 for Gaussian and LogNormal, else 1), N the number of pixels of the image, S the number of straight edges
 * between regions, c SegmentCost. log N says where a region begins, c where an edge ends. w is the number of
 * independent samples that a pixel stands for. Edges along the border of the image cost nothing. The smaller D, the
 * better; no parameter weighs the length of boundaries or the number of regions.
 *
 * Polygonal partitions by such a description are those of Galland, Bertaux and Refregier (IEEE Transactions on Image
 * Processing 12, 2003); the laws of two regions are those of Ruch and Refregier (Optics Letters 26, 2001). The search
 * has these stages. Blocks of pixels are regions first, and pairs of neighbours are merged as long as that lowers D and
 * both are the other's best (Koepfler, Lopez and Morel, SIAM Journal on Numerical Analysis 31, 1994). Then regions
 * compete for the pixels along their boundaries (Zhu and Yuille, IEEE PAMI 18, 1996), and connected parts are merged
 * again. From here on the partition is a planar map, whose boundaries are straightened along chains of nodes; nodes are
 * moved and removed, and regions merged, until an iteration lowers D by less than 1 nat. No stage is random, and the
 * number of threads does not change the result.
 *
 * NumberOfLooks matters most for radar images. For Gamma and Rayleigh it is the number of independent looks per pixel.
 * Speckle of real products is correlated between pixels, so this number is smaller than the equivalent number of looks
 * of the product; with a number that is too large speckle becomes regions. By default it is estimated from the image.
 *
 * The first output is the label image: regions count from 1, and pixels that are not valid are 0. It is the raster of
 * the polygons: a pixel belongs to the region that its centre lies in. The second output is the CudaRegionPartition,
 * GetPartition(): polygons that share their edges, a table of regions, and a tree of merges to coarser partitions.
 *
 * A segmentation by another method is refined if it is given as InitialLabels: its 4-connected parts take the place of
 * the first stages. With MaximumNumberOfIterations 1 and AllowMergingOff() it becomes polygons of few nodes, a region
 * for each part.
 *
 * The filter needs the whole image. The time grows in proportion to the number of pixels, and most of it goes to images
 * of many regions. If there is an observer, the filter invokes IterationEvent after every iteration on the polygons;
 * an observer does not change the result. Progress is reported, and AbortGenerateData honoured, between steps.
 *
 * On the GPU the filter makes labels and polygons. The table of regions and the tree are made on the host. The results
 * of the two backends are equal bit for bit. The GPU takes images of at most 2^30 pixels.
 *
 * \code
 * auto filter = itk::CudaRegionPartitionImageFilter<itk::Image<float, 2>>::New();
 * filter->SetInput(intensity);
 * filter->SetNoiseLaw("Gamma");
 * filter->Update();
 * for (unsigned int region = 1; region <= filter->GetNumberOfRegions(); ++region)
 * {
 *   const auto rings = filter->GetPartition()->GetPhysicalRings(region);
 *   const double mean = filter->GetPartition()->GetRegion(region).Mean;
 * }
 * \endcode
 *
 * Image and label image are images of the host or CudaDeviceImages, each by its type. A device image is divided on its
 * device. Masks and initial labels are images of the host.
 *
 * \tparam TInputImage two-dimensional, of unsigned char, unsigned short, short or float
 * \tparam TOutputImage of unsigned int, or of unsigned short for at most 65,535 regions
 *
 * \exception ExceptionObject if a parameter, mask or label cannot be, the law cannot describe a pixel, or the label
 * image cannot hold the number of regions; the message names it
 * \exception CudaError if Backend is Cuda
 *
 * \sa CudaRegionPartition
 * \sa CudaRegionSnakeImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = Image<unsigned int, 2>>
class ITK_TEMPLATE_EXPORT CudaRegionPartitionImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRegionPartitionImageFilter);

  using Self = CudaRegionPartitionImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaRegionPartitionImageFilter, ImageToImageFilter);

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using RegionType = typename InputImageType::RegionType;
  using OutputPixelType = typename OutputImageType::PixelType;
  using MaskImageType = Image<unsigned char, 2>;
  using LabelImageType = Image<unsigned int, 2>;
  using NoiseLawEnum = CudaFiltersEnums::NoiseLaw;
  using StopEnum = CudaRegionPartitionStop;

  static_assert(InputImageType::ImageDimension == 2 && OutputImageType::ImageDimension == 2,
                "CudaRegionPartitionImageFilter divides two-dimensional images");
  static_assert(std::is_same<OutputPixelType, unsigned int>::value ||
                  std::is_same<OutputPixelType, unsigned short>::value,
                "Labels of CudaRegionPartitionImageFilter are unsigned int or unsigned short");

  itkCudaFilterBackendMacro();

  /** A mask of the image's size: pixels where it is 0 have the label 0 and count nowhere. Boundaries run across them.
   * All pixels of ValidMask and of InitialLabels must be in memory. */
  itkSetInputMacro(ValidMask, MaskImageType);
  itkGetInputMacro(ValidMask, MaskImageType);

  /** A segmentation of the image's size to start from. Each 4-connected part of one value becomes a region. */
  itkSetInputMacro(InitialLabels, LabelImageType);
  itkGetInputMacro(InitialLabels, LabelImageType);

  /** What can be set as NoiseLaw, with the values that each law allows. */
  static std::vector<CudaNoiseLawInformation>
  GetNoiseLaws()
  {
    return CudaNoiseLaws();
  }

  /** Distribution of the pixels, one of GetNoiseLaws(). It has no default: Update() throws an ExceptionObject until it
   * is set. Bernoulli needs an image of 0 and one other value, or a ForegroundThreshold. The common variance of
   * GaussianCommonVariance is one for the whole image. */
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

  /** For the laws Gamma and Rayleigh: the number of independent looks per pixel, > 0; it need not be an integer, and is
   * below 1 where neighbouring pixels are correlated. 0 (default): estimated from the image. GetNumberOfLooksUsed()
   * gives the number that a run took. */
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

  /** What an edge between two regions costs, in nats. The published code, 2 + log(4 m_x m_y) nats for edges that extend
   * over m_x by m_y pixels on average, takes 7.5 nats for 8 by 8 pixels and 10 for 27 by 27. A larger cost gives fewer
   * nodes and fewer small regions. Default: 9. */
  void
  SetSegmentCost(double cost)
  {
    this->SetParameter(m_Parameters.SegmentCost, cost);
  }
  double
  GetSegmentCost() const
  {
    return m_Parameters.SegmentCost;
  }

  /** Side of the blocks that the search starts from, in pixels: a power of two up to 64. Smaller blocks find narrower
   * regions where noise is low, as in magnetic resonance, for which 2 is right. Default: 4. */
  void
  SetBlockSize(unsigned int size)
  {
    this->SetParameter(m_Parameters.BlockSize, size);
  }
  unsigned int
  GetBlockSize() const
  {
    return m_Parameters.BlockSize;
  }

  /** Valid pixels below which no move of a boundary may bring a region, 1 or more. Default: 8. */
  void
  SetMinimumNumberOfPixels(uint64_t number)
  {
    this->SetParameter(m_Parameters.MinimumNumberOfPixels, number);
  }
  uint64_t
  GetMinimumNumberOfPixels() const
  {
    return m_Parameters.MinimumNumberOfPixels;
  }

  /** Iterations on the polygons, 1 or more. Default: 12. */
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

  /** Whether polygons may be merged. Off keeps every region that the iterations begin with; InitialLabels keep all
   * their parts. Default: on. */
  void
  SetAllowMerging(bool allow)
  {
    this->SetParameter(m_Parameters.AllowMerging, allow);
  }
  bool
  GetAllowMerging() const
  {
    return m_Parameters.AllowMerging;
  }
  itkBooleanMacro(AllowMerging);

  /** Whether the search ends with the label map, before polygons. Boundaries then follow the sides of pixels, and the
   * partition has a table and no edges. Default: off. */
  void
  SetLabelsOnly(bool only)
  {
    this->SetParameter(m_Parameters.LabelsOnly, only);
  }
  bool
  GetLabelsOnly() const
  {
    return m_Parameters.LabelsOnly;
  }
  itkBooleanMacro(LabelsOnly);

  /** Polygons, table and merge tree, an output of its own, named "Partition". */
  CudaRegionPartition *
  GetPartition();
  const CudaRegionPartition *
  GetPartition() const;

  /** Results of the last run; they are those of the partition. */
  SizeValueType
  GetNumberOfRegions() const
  {
    return this->GetPartition()->GetNumberOfRegions();
  }
  /** D of the partition, and D of the image as one region, in nats. */
  double
  GetDescription() const
  {
    return this->GetPartition()->GetDescription();
  }
  double
  GetDescriptionOfOneRegion() const
  {
    return this->GetPartition()->GetDescriptionOfOneRegion();
  }
  /** NumberOfLooks, or the number that was estimated; 1 for laws without looks. */
  double
  GetNumberOfLooksUsed() const
  {
    return this->GetPartition()->GetResult().NumberOfLooks;
  }
  unsigned int
  GetNumberOfIterations() const
  {
    return this->GetPartition()->GetResult().NumberOfIterations;
  }
  /** GetConverged(): whether no limit stopped the search. GetStop(): what stopped it. */
  bool
  GetConverged() const
  {
    return this->GetStop() == StopEnum::Converged;
  }
  StopEnum
  GetStop() const
  {
    return this->GetPartition()->GetResult().Stop;
  }

  /** In an observer of IterationEvent: the iteration that has just ended, from 1, and what it led to. */
  unsigned int
  GetCurrentIteration() const
  {
    return m_CurrentIteration;
  }
  SizeValueType
  GetCurrentNumberOfRegions() const
  {
    return m_CurrentNumberOfRegions;
  }
  double
  GetCurrentDescription() const
  {
    return m_CurrentDescription;
  }

protected:
  CudaRegionPartitionImageFilter();
  ~CudaRegionPartitionImageFilter() override = default;

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

  void
  GenerateData() override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  CudaDetail::CudaRegionPartitionParameters m_Parameters;

  unsigned int  m_CurrentIteration{ 0 };
  SizeValueType m_CurrentNumberOfRegions{ 0 };
  double        m_CurrentDescription{ 0.0 };

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

  static constexpr bool IsInputOnDevice = CudaIsDeviceImage<InputImageType>::value;
  static constexpr bool IsOutputOnDevice = CudaIsDeviceImage<OutputImageType>::value;

  CudaDetail::CudaRegionPartitionObserver
  MakeObserver();
  CudaRegionPartitionResult
  Divide();
  CudaRegionPartitionResult
  Run(const CudaDetail::CudaRegionPartitionInput & input);
  CudaRegionPartitionResult
  RunOnDevice(const CudaDetail::CudaRegionPartitionInput &    input,
              int                                             device,
              const CudaDetail::CudaRegionPartitionObserver & observer);
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaRegionPartitionImageFilter.hxx"
#endif

#endif
