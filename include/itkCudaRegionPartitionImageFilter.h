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
 * The filter models the pixels of each region as independent samples of one distribution (NoiseLaw) and estimates its
 * parameters. One criterion decides how many regions there are, where their boundaries run, and how many nodes these
 * have: the length of a description of the image in nats (Rissanen, Automatica 14, 1978)
 *
 * D = sum over regions of [w L + (a / 2) log n + log N] + c S
 *
 * Here L is the negative log-likelihood of a region's pixels, n is their number, a is the number of parameters that the
 * law estimates (2 for Gaussian and LogNormal, otherwise 1), N is the number of pixels of the image, S is the number of
 * straight edges between regions, and c is SegmentCost. log N encodes where a region begins, and c where an edge ends.
 * w is the number of independent samples that a pixel stands for. Edges along the border of the image cost nothing. A
 * smaller D is better; no parameter weighs the length of boundaries or the number of regions.
 *
 * Polygonal partitions by such a description are due to Galland, Bertaux and Refregier (IEEE Transactions on Image
 * Processing 12, 2003); the noise laws are taken from the segmentation into two regions of Ruch and Refregier (Optics
 * Letters 26, 2001). The search has these stages:
 * - The first regions are blocks of pixels. Pairs of neighbours are merged as long as that lowers D and each is the
 *   other's best partner (Koepfler, Lopez and Morel, SIAM Journal on Numerical Analysis 31, 1994).
 * - Regions compete for the pixels along their boundaries (Zhu and Yuille, IEEE PAMI 18, 1996), and connected parts are
 *   merged again.
 * - The partition becomes a planar map, whose boundaries are straightened along chains of nodes. Nodes are moved and
 *   removed, and regions merged, until an iteration lowers D by less than 1 nat.
 *
 * No stage is random, and the number of threads does not change the result.
 *
 * NumberOfLooks matters most for radar images. For Gamma and Rayleigh it is the number of independent looks per pixel.
 * The speckle of real products is correlated between pixels, so this number is smaller than the product's equivalent
 * number of looks. If it is set too large, speckle becomes regions. By default it is estimated from the image.
 *
 * The first output is the label image: regions are numbered from 1, and pixels that are not valid are 0. The label
 * image is the raster of the polygons: a pixel belongs to the region that contains its centre. The second output is the
 * CudaRegionPartition, GetPartition(): polygons that share their edges, a table of regions, and a tree of merges to
 * coarser partitions.
 *
 * InitialLabels refine a segmentation by another method: its 4-connected parts replace the result of the first stages.
 * With MaximumNumberOfIterations 1 and AllowMergingOff() the filter turns it into polygons with few nodes, one region
 * for each part.
 *
 * The filter needs the whole image. Its time is proportional to the number of pixels, and grows with the number of
 * regions. If it has an observer of IterationEvent, it invokes this event after every iteration on the polygons;
 * observers do not change the result. Between steps, the filter reports progress and checks AbortGenerateData.
 *
 * On the GPU the filter computes labels and polygons; the table of regions and the tree are computed on the host. The
 * results of the two backends are equal bit for bit. The GPU takes images of at most 2^30 pixels, and the
 * host of at most 2^31 - 1.
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
 * The image and the label image may each be a host image or a CudaDeviceImage, depending on the template arguments. A
 * device image is processed on its device. Masks and initial labels are host images.
 *
 * \tparam TInputImage two-dimensional, of unsigned char, unsigned short, short or float
 * \tparam TOutputImage of unsigned int, or of unsigned short for at most 65,535 regions
 *
 * \exception ExceptionObject if a parameter, a mask or a label is invalid, if the law cannot describe a pixel, or if
 * the label image cannot hold the number of regions; the message names it
 * \exception CudaError if the GPU cannot be used and Backend is Cuda or one of the images is a device image; with a
 * device image also if Backend is Host
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

  /** A mask of the image's size. Pixels where it is 0 get the label 0 and are ignored by all sums; boundaries run
   * across them. All pixels of ValidMask and of InitialLabels must be in memory. */
  itkSetInputMacro(ValidMask, MaskImageType);
  itkGetInputMacro(ValidMask, MaskImageType);

  /** A segmentation of the image's size from which the search starts. Each 4-connected part of one value becomes a
   * region. */
  itkSetInputMacro(InitialLabels, LabelImageType);
  itkGetInputMacro(InitialLabels, LabelImageType);

  /** Returns the laws that NoiseLaw accepts, with the pixel values that each law allows. */
  static std::vector<CudaNoiseLawInformation>
  GetNoiseLaws()
  {
    return CudaNoiseLaws();
  }

  /** Sets the distribution of the pixels, one of GetNoiseLaws(). There is no default: Update() throws an
   * ExceptionObject until a law is set. Bernoulli needs an image of 0 and one other value, or a ForegroundThreshold.
   * GaussianCommonVariance has one variance for the whole image. */
  itkSetGetCudaNoiseLawMacro();

  /** Sets the number of independent looks per pixel, for the laws Gamma and Rayleigh. 0 (default) estimates it from the
   * image. Another value must be above 0, at most 1e9, and need not be an integer; it is below 1 where neighbouring
   * pixels are correlated. GetNumberOfLooksUsed() returns the number that a run used. */
  itkSetGetCudaParameterMacro(NumberOfLooks, double);

  /** Sets the threshold of the Bernoulli law: pixels above it count as ones. Default: NaN, for images of 0 and one
   * other value. */
  itkSetGetCudaParameterMacro(ForegroundThreshold, double);

  /** Sets the cost of an edge between two regions, in nats. The published code takes 2 + log(4 m_x m_y) nats for edges
   * that extend over m_x by m_y pixels on average, which is 7.5 nats for 8 by 8 pixels and 10 for 27 by 27. A larger
   * cost, up to 1e100, gives fewer nodes and fewer small regions. Default: 9. */
  itkSetGetCudaParameterMacro(SegmentCost, double);

  /** Sets the side of the blocks that the search starts from, in pixels: a power of two up to 64. Smaller blocks find
   * narrower regions if the noise is low, as in magnetic resonance images, for which 2 is right. Default: 4. */
  itkSetGetCudaParameterMacro(BlockSize, unsigned int);

  /** Sets the smallest number of valid pixels to which moving a boundary may reduce a region, 1 or more. Default: 8. */
  itkSetGetCudaParameterMacro(MinimumNumberOfPixels, uint64_t);

  /** Sets the largest number of iterations on the polygons, 1 or more. Default: 12. */
  itkSetGetCudaParameterMacro(MaximumNumberOfIterations, unsigned int);

  /** Sets whether polygons may be merged. If it is off, every region that exists when the iterations begin is kept, so
   * that all parts of InitialLabels are kept. Default: on. */
  itkSetGetCudaParameterMacro(AllowMerging, bool);
  itkBooleanMacro(AllowMerging);

  /** Sets whether the search ends with the label map, before polygons are made. Boundaries then follow the sides of
   * pixels, and the partition has a table but no edges. Default: off. */
  itkSetGetCudaParameterMacro(LabelsOnly, bool);
  itkBooleanMacro(LabelsOnly);

  /** Returns the polygons, the table and the merge tree, which are an output of their own, named "Partition". */
  CudaRegionPartition *
  GetPartition();
  const CudaRegionPartition *
  GetPartition() const;

  /** Returns the number of regions of the last run's partition. */
  SizeValueType
  GetNumberOfRegions() const
  {
    return this->GetPartition()->GetNumberOfRegions();
  }
  /** Return D of the partition, and D of the image as one region, in nats. */
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
  /** Returns NumberOfLooks or its estimate; 1 for laws without looks. */
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
  /** GetConverged() returns whether the search converged, which means that no limit stopped it. GetStop() returns why
   * the search stopped. */
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

  /** For observers of IterationEvent: return the number of the iteration that has just ended, counted from 1, and the
   * number of regions and the description after it. */
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
