// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaConstantFalseAlarmRateImageFilter_h
#define itkCudaConstantFalseAlarmRateImageFilter_h

#include "itkCudaDetailDetectionEngine.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaNoiseLaws.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"

#include <type_traits>
#include <vector>

namespace itk
{
/** \class CudaConstantFalseAlarmRateImageFilter
 * \brief Detects bright targets on a two-dimensional image with a constant rate of false alarms (CFAR).
 *
 * Three windows lie around each pixel: the target window, and the background window without the guard window, which is
 * the ring that the target is compared with. If all of these pixels are noise of one distribution (NoiseLaw), a mean of
 * the target window as high as the one found, or higher, has a probability that follows from the numbers of pixels and
 * the sums. Where it is at most ProbabilityOfFalseAlarm, the pixel is above the threshold. The probability is that of
 * an exact test of the law for the numbers of valid pixels in the windows, so that the rate is the same at borders, in
 * masked images and in bright and dark surroundings:
 *
 * - Gamma: the ratio of the means has the F distribution with 2 L n_T and 2 L n_R degrees of freedom, for L looks and
 *   n_T and n_R pixels of target and ring. Rayleigh: the same for the mean squares.
 * - Gaussian and LogNormal: the difference of the means, divided by its standard deviation as estimated from the ring,
 *   has Student's distribution with n_R - 1 degrees of freedom. GaussianCommonVariance: the deviation is estimated from
 *   target and ring, with n_T + n_R - 2 degrees of freedom.
 * - Poisson: given the sum of both, that of the target has a binomial distribution (Przyborowski and Wilenski,
 *   Biometrika 31, 1940). Bernoulli: it has a hypergeometric distribution (Fisher's exact test).
 *
 * Sums of the last two laws take steps. Their probability is the mid-p, P(sum is higher) + P(sum is equal) / 2
 * (Lancaster, Biometrika 48, 1961), with which the rate of false alarms is right on the average over the steps, and
 * differs from ProbabilityOfFalseAlarm where the target window has few counts.
 *
 * The detector is the one that radar engineers know from ship detection (Crisp, The state of the art in ship detection
 * in synthetic aperture radar imagery, 2004), but its thresholds are exact for the law instead of those of a Gaussian
 * distribution.
 *
 * Pixels above the threshold that touch at sides or corners are a target, if their number lies from
 * MinimumNumberOfPixels to MaximumNumberOfPixels. The output is the label image of the targets, which are numbered from
 * 1 in the order of their first pixels; GetDetections() returns their table. A target of few pixels that is far
 * brighter than its background is seen by all windows that it touches, so that the number of its pixels grows with the
 * target window.
 *
 * The guard window keeps the pixels of the target out of the ring. It should be at least twice as large as the largest
 * target, because a pixel at the end of a target must not see the other end.
 *
 * The filter needs the whole image. Its time is proportional to the number of pixels; it does not depend on the sizes
 * of the windows, except for the first rows of each of 64. It reports progress and checks AbortGenerateData between
 * parts of the image. Sums are exact integers, and the results on the GPU and on the host are equal bit for bit. An
 * image has at most 2^31 - 1 pixels.
 *
 * \code
 * auto filter = itk::CudaConstantFalseAlarmRateImageFilter<itk::Image<float, 2>>::New();
 * filter->SetInput(intensity);
 * filter->SetNoiseLaw("Gamma");
 * filter->SetNumberOfLooks(4.4);
 * filter->SetProbabilityOfFalseAlarm(1e-9);
 * filter->Update();
 * for (const itk::CudaDetection & ship : filter->GetDetections())
 * {
 *   std::cout << ship.Centroid[0] << ' ' << ship.Centroid[1] << ' ' << ship.Significance << std::endl;
 * }
 * \endcode
 *
 * The image and the label image may each be a host image or a CudaDeviceImage, depending on the template arguments. A
 * device image is processed on its device. The mask is a host image.
 *
 * \tparam TInputImage two-dimensional, of unsigned char, unsigned short, short or float
 * \tparam TOutputImage of unsigned int, or of unsigned short for at most 65,535 targets
 *
 * \exception ExceptionObject if a parameter or the mask is invalid, if the background window is larger than the image,
 * if the law cannot describe a pixel, or if the label image cannot hold the number of targets; the message names it
 * \exception CudaError if the GPU cannot be used and Backend is Cuda or one of the images is a device image; with a
 * device image also if Backend is Host
 *
 * \sa CudaRegionSnakeImageFilter
 * \sa CudaRegionPartitionImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = Image<unsigned int, 2>>
class ITK_TEMPLATE_EXPORT CudaConstantFalseAlarmRateImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaConstantFalseAlarmRateImageFilter);

  using Self = CudaConstantFalseAlarmRateImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaConstantFalseAlarmRateImageFilter, ImageToImageFilter);

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using RegionType = typename InputImageType::RegionType;
  using OutputPixelType = typename OutputImageType::PixelType;
  using MaskImageType = Image<unsigned char, 2>;
  using NoiseLawEnum = CudaFiltersEnums::NoiseLaw;
  using WindowType = Size<2>;

  static_assert(InputImageType::ImageDimension == 2 && OutputImageType::ImageDimension == 2,
                "CudaConstantFalseAlarmRateImageFilter searches two-dimensional images");
  static_assert(std::is_same<OutputPixelType, unsigned int>::value ||
                  std::is_same<OutputPixelType, unsigned short>::value,
                "Labels of CudaConstantFalseAlarmRateImageFilter are unsigned int or unsigned short");

  itkCudaFilterBackendMacro();

  /** A mask of the image's size, such as the sea without the land. Pixels where it is 0 are in no window and in no
   * target. All pixels of ValidMask must be in memory. */
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

  /** Sets the number of independent looks per pixel, for the laws Gamma and Rayleigh: a number above 0, which need not
   * be an integer, and at most 1e9. Too large a number makes more false alarms. Default: 1. */
  itkSetGetCudaParameterMacro(NumberOfLooks, double);

  /** Sets the threshold of the Bernoulli law: pixels above it count as ones. Default: NaN, for images of 0 and one
   * other value. */
  itkSetGetCudaParameterMacro(ForegroundThreshold, double);

  /** Sets the probability that a window of noise alone is above the threshold: above 0 and at most 0.1. An image of N
   * pixels has about N times as many pixels above the threshold, in fewer components. Default: 1e-6. */
  itkSetGetCudaParameterMacro(ProbabilityOfFalseAlarm, double);

  /** Set the sizes of the windows in pixels, each side an odd number. The guard window must be at least as large as the
   * target window, and the background window larger than the guard window. Defaults: 3 x 3, 15 x 15 and 31 x 31. */
  itkSetGetCudaParameterMacro(TargetWindow, WindowType);
  itkSetGetCudaParameterMacro(GuardWindow, WindowType);
  itkSetGetCudaParameterMacro(BackgroundWindow, WindowType);

  /** Set the limits of the number of pixels of a target; a maximum of 0 is none. Defaults: 1 and 0. */
  itkSetGetCudaParameterMacro(MinimumNumberOfPixels, uint64_t);
  itkSetGetCudaParameterMacro(MaximumNumberOfPixels, uint64_t);

  /** Returns the table of the targets of the last run; entry i has the label i + 1. */
  const std::vector<CudaDetection> &
  GetDetections() const
  {
    return m_Result.Detections;
  }
  SizeValueType
  GetNumberOfDetections() const
  {
    return m_Result.Detections.size();
  }
  /** Return how many pixels the last run tested, which are the valid ones with a valid pixel in their ring, and how
   * many of these are above the threshold, with those of components that are too small or too large. */
  SizeValueType
  GetNumberOfTestedPixels() const
  {
    return m_Result.NumberOfTestedPixels;
  }
  SizeValueType
  GetNumberOfPixelsAboveThreshold() const
  {
    return m_Result.NumberOfPixelsAboveThreshold;
  }

protected:
  CudaConstantFalseAlarmRateImageFilter() = default;
  ~CudaConstantFalseAlarmRateImageFilter() override = default;

  void
  VerifyPreconditions() ITKv5_CONST override;

  /** Requests the whole input. */
  void
  GenerateInputRequestedRegion() override;

  /** Always produces the whole label image, because a target may lie anywhere. */
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;

  void
  GenerateData() override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  CudaDetail::CudaDetectionParameters m_Parameters;
  CudaDetectionResult                 m_Result;

  static constexpr bool IsInputOnDevice = CudaIsDeviceImage<InputImageType>::value;
  static constexpr bool IsOutputOnDevice = CudaIsDeviceImage<OutputImageType>::value;

  using ResultType = std::optional<CudaDetectionResult>;

  ResultType
  Detect(const CudaDetail::CudaDetectionInput & input);
  ResultType
  DetectOnDevice(const CudaDetail::CudaDetectionInput & input, int device);
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaConstantFalseAlarmRateImageFilter.hxx"
#endif

#endif
