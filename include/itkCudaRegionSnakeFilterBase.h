// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeFilterBase_h
#define itkCudaRegionSnakeFilterBase_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaNoiseLaws.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkContinuousIndex.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"

#include <string>
#include <vector>

namespace itk
{
/** \class CudaRegionSnakeFilterBase
 * \brief Common base of the filters that segment a two-dimensional image by polygons: the law of the pixels, the
 * parameters of the search, the mask of valid pixels, and where the filter runs.
 *
 * The filters need the whole image and always compute the whole label image.
 *
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaRegionSnakeFilterBase : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRegionSnakeFilterBase);

  using Self = CudaRegionSnakeFilterBase;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkTypeMacro(CudaRegionSnakeFilterBase, ImageToImageFilter);

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using RegionType = typename InputImageType::RegionType;
  using OutputPixelType = typename OutputImageType::PixelType;
  using MaskImageType = Image<unsigned char, 2>;
  using NoiseLawEnum = CudaFiltersEnums::NoiseLaw;
  using ScheduleEnum = CudaFiltersEnums::Schedule;

  static_assert(InputImageType::ImageDimension == 2 && OutputImageType::ImageDimension == 2,
                "Region snakes segment two-dimensional images");
  static_assert(std::is_integral<OutputPixelType>::value, "The labels of region snakes are integers");

  itkCudaFilterBackendMacro();

  /** A mask of the image's size. Pixels where it is 0 belong to no region and are ignored by all sums. */
  itkSetInputMacro(ValidMask, MaskImageType);
  itkGetInputMacro(ValidMask, MaskImageType);

  /** Returns the laws that NoiseLaw accepts, with the pixel values that each law allows. */
  static std::vector<CudaNoiseLawInformation>
  GetNoiseLaws()
  {
    return CudaNoiseLaws();
  }

  /** Sets the distribution of the pixels, one of GetNoiseLaws(). There is no default: Update() throws an
   * ExceptionObject until a law is set. Bernoulli needs an image of 0 and one other value, or a ForegroundThreshold. */
  itkSetGetCudaNoiseLawMacro();

  /** Sets the number of independent looks whose intensities were averaged, for the laws Gamma and Rayleigh. It must be
   * above 0 and at most 1e9, and need not be an integer. Pixels are this average under Gamma, and its square root under
   * Rayleigh. Default: 1. */
  itkSetGetCudaParameterMacro(NumberOfLooks, double);

  /** Sets the threshold of the Bernoulli law: pixels above it count as ones. Default: NaN, for images of 0 and one
   * other value. */
  itkSetGetCudaParameterMacro(ForegroundThreshold, double);

  /** Sets the schedule, CoarseToFine (default) or AsPublished. */
  itkSetGetCudaNamedParameterMacro(Schedule, ScheduleEnum);

  /** Sets the distance of the first moves, in cells of the coarsest level. It is limited to a quarter of the coarsest
   * level's shorter side, and halved after every insertion of nodes. Default: 32, and 4 for CudaRegionSnakeBatchFilter.
   */
  itkSetGetCudaParameterMacro(MaximumStep, unsigned int);

  /** Sets the length above which an edge gets a node in its middle. The unit is a cell of the level; cells of the last
   * level are pixels. Default: 32, and 3 for CudaRegionSnakeBatchFilter. */
  itkSetGetCudaParameterMacro(MinimumEdgeLength, double);

  /** Sets by how much a move must lower J, in nats; 1e-6 (default) or more. */
  itkSetGetCudaParameterMacro(MinimumGain, double);

  /** Sets whether nodes are removed at the end, up to four neighbours at once, as long as that shortens the
   * description. Default: on. */
  itkSetGetCudaParameterMacro(UseDescriptionLength, bool);
  itkBooleanMacro(UseDescriptionLength);

  /** Sets the largest number of nodes that the polygon may have at any time, 4 or more. Default: 4096. */
  itkSetGetCudaParameterMacro(MaximumNumberOfNodes, unsigned int);

  /** Sets the largest number of iterations. An iteration tries every node once. Default: 10000. */
  itkSetGetCudaParameterMacro(MaximumNumberOfIterations, unsigned int);

  /** Sets the smallest number of valid pixels of each region, 1 or more. Default: 16. */
  itkSetGetCudaParameterMacro(MinimumRegionSize, uint64_t);

  /** Whether the filter computes the label image. Default: on. If it is off, the label image has its geometry but no
   * pixels: its buffered region is empty, and no memory is allocated. A filter that reads it throws an exception,
   * because its iterators find the pixels outside of the buffered region. Polygons and statistics do not change. */
  itkSetMacro(MakeLabelImage, bool);
  itkGetConstMacro(MakeLabelImage, bool);
  itkBooleanMacro(MakeLabelImage);

protected:
  CudaRegionSnakeFilterBase() = default;
  ~CudaRegionSnakeFilterBase() override = default;

  static constexpr bool IsInputOnDevice = CudaIsDeviceImage<InputImageType>::value;
  static constexpr bool IsOutputOnDevice = CudaIsDeviceImage<OutputImageType>::value;

  CudaDetail::CudaRegionSnakeParameters m_Parameters;

  void
  VerifyPreconditions() ITKv5_CONST override;

  /** Requests the whole input. */
  void
  GenerateInputRequestedRegion() override;

  /** Always produces the whole label image, whichever output is requested. */
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;

  /** Updates the output unless it is up to date. Without MakeLabelImage, the label image has no pixels, so ITK would
   * run the filter again at every update; here it counts as up to date. The result of the filter before this one may
   * stay on the device (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** Checks the input, and returns its shape and first index. */
  CudaDetail::CudaRegionSnakeInput
  MakeInput() const;

  /** Allocates the label image on the host. On a device, the labels' memory is allocated after the run, when the run
   * has released its own memory. */
  void
  PrepareLabels();

  /** Runs the search where the backend says. Calls ofDeviceImage(view) for pixels in device memory, onDevice(input,
   * index) for pixels that a device takes from host memory, or onHost(input). `bytes` is the device memory of the run.
   * Returns the index of the device for a label image that is a device image. */
  template <typename TOfDeviceImage, typename TOnDevice, typename TOnHost>
  int
  RunOnBackend(const CudaDetail::CudaRegionSnakeInput & input,
               size_t                                   bytes,
               const TOfDeviceImage &                   ofDeviceImage,
               const TOnDevice &                        onDevice,
               const TOnHost &                          onHost);

  using IndexPointType = ContinuousIndex<double, 2>;

  /** Rounds vertices in continuous index to the nearest corners, which count from the image's first pixel. `name` is
   * that of the polygon. \exception ExceptionObject if a vertex lies outside of the image */
  CudaSnakePolygon
  RoundToCorners(const std::vector<IndexPointType> & vertices, const std::string & name) const;

  /** Returns corners of pixels in continuous index, in the order in which their area is positive in physical x, y. The
   * first one remains the first. */
  std::vector<IndexPointType>
  GetContourIndices(CudaSnakePolygon polygon) const;

private:
  bool m_MakeLabelImage{ true };

  /** Returns `input` with the pixels of a host image added. */
  CudaDetail::CudaRegionSnakeInput
  AddPixels(CudaDetail::CudaRegionSnakeInput input) const;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaRegionSnakeFilterBase.hxx"
#endif

#endif
