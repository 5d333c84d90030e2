// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaVesselnessImageFilter_h
#define itkCudaVesselnessImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaVesselnessEnums.h"
#include "itkImageToImageFilter.h"
#include "itkVectorImage.h"

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
/** \class CudaVesselnessImageFilter
 * \brief Enhances vessels and other lines by the largest measure of the Hessians of several scales, on an NVIDIA GPU.
 *
 * Sigmas are the scales in physical units. HessianMeasure selects the measure that is computed from the eigenvalues of
 * each pixel's Hessian: Objectness (default), Frangi, Sato, Jerman or Meijering. docs/user/vesselness.md has formulas
 * and sources. With BrightObject (default on) the filter looks for bright lines on dark ground. With
 * NormalizeAcrossScale (default on) it multiplies second derivatives by sigma squared, so that thick and thin lines
 * respond alike.
 *
 * The parameters of the measures and their defaults:
 * - Objectness: ObjectDimension 0 finds blobs, 1 (default) lines, 2 plates. ScaleObjectnessMeasure (default on)
 *   multiplies the measure by the largest eigenvalue.
 * - Objectness and Frangi: Alpha (0.5), Beta (0.5) and Gamma, each finite and above 0. Gamma is NaN by default, which
 *   stands for half of the largest norm of the Hessians of each scale, as in Frangi's paper.
 * - Sato: SatoAlpha (0.25), from 0 to 1; SatoGamma12 (1) and SatoGamma23 (1), each 0, 0.5 or 1. scikit-image's formula
 *   has SatoAlpha 0, SatoGamma12 0 and SatoGamma23 0.5.
 * - Jerman: Tau (0.5), from 0 to 1.
 *
 * Update() throws an ExceptionObject if a parameter of the selected measure has another value.
 *
 * Approximation (Deriche), BoundaryMode (Nearest) and BoundaryValue are the parameters of
 * CudaHessianRecursiveGaussianImageFilter.
 *
 * The first output is the response; it is 0 where no scale responds. GenerateScaleOutput and GenerateHessianOutput
 * (off) request two further outputs: the sigma with the largest response, and the Hessian at this sigma, the upper
 * triangle row after row. Both are 0 where the response is 0. A NaN pixel sets the responses of the lines through it
 * to 0.
 *
 * Images have two or three dimensions and arithmetic pixels; the response is of float or double. Backend selects where
 * the filter runs. Automatic (default) uses the GPU if one is usable and the images fit into its memory. Otherwise the
 * same steps run on ITK's threads. Cuda throws CudaError instead of falling back.
 * If SetDevices() names several GPUs and the images do not fit into the memory of one, their slabs are dealt to all.
 *
 * \code
 * auto filter = itk::CudaVesselnessImageFilter<ImageType, ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigmas({ 1.0, 2.0, 4.0 });
 * filter->SetHessianMeasure("Jerman");
 * filter->Update();
 * \endcode
 *
 * \sa CudaMultiScaleHessianBasedMeasureImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaVesselnessImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaVesselnessImageFilter);

  using Self = CudaVesselnessImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using RealType = typename TOutputImage::PixelType;
  using HessianMeasureEnum = CudaVesselnessEnums::HessianMeasure;
  using ApproximationEnum = CudaFiltersEnums::Approximation;
  using BoundaryModeEnum = CudaFiltersEnums::BoundaryMode;

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using HessianImageType = VectorImage<RealType, ImageDimension>;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "images have two or three dimensions");
  static_assert(std::is_arithmetic_v<typename TInputImage::PixelType>, "pixels are numbers");
  static_assert(std::is_floating_point_v<RealType>, "the response is of float or double");

  itkNewMacro(Self);
  itkTypeMacro(CudaVesselnessImageFilter, ImageToImageFilter);

  /** The standard deviations of the scales in physical units: at least one, each finite and above 0. */
  void
  SetSigmas(const std::vector<double> & sigmas);
  itkGetConstReferenceMacro(Sigmas, std::vector<double>);
  void
  AddSigma(double sigma);
  void
  ClearSigmas();

  /** The measure of the Hessians: Objectness (default), Frangi, Sato, Jerman or Meijering. */
  itkSetGetCudaEnumMacro(HessianMeasure, HessianMeasureEnum);

  /** Whether bright objects on dark ground are looked for (default on), or dark ones on bright ground. */
  itkSetMacro(BrightObject, bool);
  itkGetConstMacro(BrightObject, bool);
  itkBooleanMacro(BrightObject);

  /** Whether second derivatives are multiplied by sigma squared; default on. */
  itkSetMacro(NormalizeAcrossScale, bool);
  itkGetConstMacro(NormalizeAcrossScale, bool);
  itkBooleanMacro(NormalizeAcrossScale);

  /** What Objectness looks for: blobs (0), lines (1, default) or plates (2). */
  itkSetMacro(ObjectDimension, unsigned int);
  itkGetConstMacro(ObjectDimension, unsigned int);

  /** Whether Objectness is multiplied by the largest eigenvalue; default on. */
  itkSetMacro(ScaleObjectnessMeasure, bool);
  itkGetConstMacro(ScaleObjectnessMeasure, bool);
  itkBooleanMacro(ScaleObjectnessMeasure);

  /** Alpha and Beta, each finite and above 0. */
  itkSetMacro(Alpha, double);
  itkGetConstMacro(Alpha, double);
  itkSetMacro(Beta, double);
  itkGetConstMacro(Beta, double);

  /** Gamma. NaN (default) stands for half of the largest norm of each scale's Hessians. Another value must be finite
   * and above 0, and is used for all scales. */
  itkSetMacro(Gamma, double);
  itkGetConstMacro(Gamma, double);

  /** Sato's alpha, from 0 to 1 (default 0.25), and the exponents gamma12 and gamma23, each 0, 0.5 or 1 (default). */
  itkSetMacro(SatoAlpha, double);
  itkGetConstMacro(SatoAlpha, double);
  itkSetMacro(SatoGamma12, double);
  itkGetConstMacro(SatoGamma12, double);
  itkSetMacro(SatoGamma23, double);
  itkGetConstMacro(SatoGamma23, double);

  /** Jerman's tau, from 0 to 1 (default 0.5): eigenvalues below tau times the largest one of a scale fade. */
  itkSetMacro(Tau, double);
  itkGetConstMacro(Tau, double);

  /** The exponentials that approximate the Gaussian: Deriche (default) or Accurate. */
  itkSetGetCudaEnumMacro(Approximation, ApproximationEnum);

  /** How lines continue beyond their ends; default Nearest. */
  itkSetGetCudaEnumMacro(BoundaryMode, BoundaryModeEnum);

  /** The value beyond the ends of lines in the BoundaryMode Constant; default 0. */
  itkSetMacro(BoundaryValue, double);
  itkGetConstMacro(BoundaryValue, double);

  /** Whether the image of the sigmas is computed; default off. */
  itkSetMacro(GenerateScaleOutput, bool);
  itkGetConstMacro(GenerateScaleOutput, bool);
  itkBooleanMacro(GenerateScaleOutput);

  /** Whether the image of the Hessians is computed; default off. */
  itkSetMacro(GenerateHessianOutput, bool);
  itkGetConstMacro(GenerateHessianOutput, bool);
  itkBooleanMacro(GenerateHessianOutput);

  /** Returns the image of the sigma that gave each response. */
  const TOutputImage *
  GetScaleOutput() const;
  TOutputImage *
  GetScaleOutput();

  /** Returns the image of the Hessian at that sigma: xx, xy, xz, yy, yz, zz in three dimensions. */
  const HessianImageType *
  GetHessianOutput() const;
  HessianImageType *
  GetHessianOutput();

  itkCudaFilterBackendMacro();
  itkCudaFilterDevicesMacro();

#if !defined(ITK_WRAPPING_PARSER)
  /** Computes on an array in GPU memory, on the array's device and on the stream of the array's owner, without waiting
   * on the host. It is meant for wrappings. The filter's input image must have the array's size; its pixels are not
   * read. Backend, GenerateScaleOutput and GenerateHessianOutput are ignored. See CudaQueueOnStream().
   * \exception CudaError if the GPU fails
   * \exception ExceptionObject if a parameter or an array does not suit */
  void
  QueueOnStream(const CudaDetail::CudaArrayImage & input, const CudaDetail::CudaMultiScaleArrays & outputs);
#endif

  using Superclass::MakeOutput;
  ProcessObject::DataObjectPointer
  MakeOutput(ProcessObject::DataObjectPointerArraySizeType index) override;
  itkCudaNumberedOutputsMacro();

protected:
  CudaVesselnessImageFilter();
  ~CudaVesselnessImageFilter() override = default;

  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  VerifyInputInformation() ITKv5_CONST override;
  void
  GenerateOutputInformation() override;
  void
  GenerateInputRequestedRegion() override;
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  static constexpr unsigned int HessianComponents = CudaDetail::CudaTensorComponents(ImageDimension);

  CudaDetail::CudaVesselnessMeasure
  GetMeasure() const;
  CudaDetail::CudaMultiScalePlan
  MakePlan() const;
  CudaDetail::CudaMultiScaleOutputs
  AllocateImages();

  std::vector<double> m_Sigmas;
  HessianMeasureEnum  m_HessianMeasure{ HessianMeasureEnum::Objectness };
  bool                m_BrightObject{ true };
  bool                m_NormalizeAcrossScale{ true };
  unsigned int        m_ObjectDimension{ 1 };
  bool                m_ScaleObjectnessMeasure{ true };
  double              m_Alpha{ 0.5 };
  double              m_Beta{ 0.5 };
  double              m_Gamma{ std::numeric_limits<double>::quiet_NaN() };
  double              m_SatoAlpha{ 0.25 };
  double              m_SatoGamma12{ 1.0 };
  double              m_SatoGamma23{ 1.0 };
  double              m_Tau{ 0.5 };
  ApproximationEnum   m_Approximation{ ApproximationEnum::Deriche };
  BoundaryModeEnum    m_BoundaryMode{ BoundaryModeEnum::Nearest };
  double              m_BoundaryValue{ 0.0 };
  bool                m_GenerateScaleOutput{ false };
  bool                m_GenerateHessianOutput{ false };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaVesselnessImageFilter.hxx"
#endif

#endif
