// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleHessianBasedMeasureImageFilter_h
#define itkCudaMultiScaleHessianBasedMeasureImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDeviceTensorFilters.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkMultiScaleHessianBasedMeasureImageFilter.h"

#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
/** \class CudaMultiScaleHessianBasedMeasureImageFilter
 * \brief MultiScaleHessianBasedMeasureImageFilter on an NVIDIA GPU: the largest objectness of several scales.
 *
 * The parameters, defaults and outputs are the superclass's: SigmaMinimum (default 0.2) and SigmaMaximum (2) in
 * physical units, NumberOfSigmaSteps (10), SigmaStepMethod (logarithmic), NonNegativeHessianBasedMeasure (on), and the
 * images of the best scale and its Hessian with GenerateScalesOutput and GenerateHessianOutput (off). The Hessians are
 * normalised across scales.
 *
 * If HessianToMeasureFilter is a HessianToObjectnessMeasureImageFilter or a CudaHessianToObjectnessMeasureImageFilter,
 * this filter reads its parameters, and the measure filter itself does not run. The image is uploaded once. The GPU
 * then computes the Hessian, the measure and the maximum for each scale in turn. It stores Hessians only for a part of
 * the image at a time, in float, or in double if the input or the output is of double, int or unsigned int. An image
 * that does not fit into the GPU's memory is computed in slabs across its last axis, as long as SigmaMaximum is at most
 * 32 pixels there (17 in double). Slabs do not change a bit of the result. If SetDevices() names several GPUs, such
 * slabs are dealt to all.
 *
 * Responses differ from the superclass's by at most 1e-5 of the largest response, except where the measure itself is
 * discontinuous; see CudaHessianToObjectnessMeasureImageFilter. Where the responses of two scales are as close as that,
 * the other scale may be chosen. docs/user/vesselness.md has the formula.
 *
 * Backend selects where the filter runs. Automatic (default) uses the GPU if one is usable and the images fit into its
 * memory. Otherwise the same steps run on ITK's threads. Cuda throws CudaError instead of falling back. The superclass
 * computes what the GPU does not support: other measures, responses that are not of float or double, and images that
 * have neither two nor three dimensions.
 *
 * If the input or the output is a CudaDeviceImage, CudaDeviceMultiScaleFilter is the superclass. The whole image is
 * computed on the input's device, and the images of scales and Hessians are device images if the response is one.
 * HessianToMeasureFilter must then be a CudaHessianToObjectnessMeasureImageFilter of such images, whose parameters are
 * read. There is no fallback to the host: unsupported parameters throw an exception.
 *
 * \code
 * auto objectness = itk::HessianToObjectnessMeasureImageFilter<TensorImageType, ImageType>::New();
 * auto filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, TensorImageType, ImageType>::New();
 * filter->SetInput(image);
 * filter->SetHessianToMeasureFilter(objectness);
 * filter->SetSigmaMinimum(1.0);
 * filter->SetSigmaMaximum(4.0);
 * filter->SetNumberOfSigmaSteps(5);
 * filter->Update();
 * \endcode
 *
 * \sa CudaHessianRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename THessianImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaMultiScaleHessianBasedMeasureImageFilter
  : public std::conditional_t<CudaHasDeviceImage<TInputImage, TOutputImage>,
                              CudaDeviceMultiScaleFilter<TInputImage, THessianImage, TOutputImage>,
                              MultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaMultiScaleHessianBasedMeasureImageFilter);

  using Self = CudaMultiScaleHessianBasedMeasureImageFilter;
  using Superclass =
    std::conditional_t<CudaHasDeviceImage<TInputImage, TOutputImage>,
                       CudaDeviceMultiScaleFilter<TInputImage, THessianImage, TOutputImage>,
                       MultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using HessianImageType = THessianImage;
  using OutputImageType = TOutputImage;
  using typename Superclass::ScalesImageType;

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  itkNewMacro(Self);
  itkTypeMacro(CudaMultiScaleHessianBasedMeasureImageFilter, MultiScaleHessianBasedMeasureImageFilter);

  itkCudaFilterBackendMacro();
  itkCudaFilterDevicesMacro();

  using Superclass::MakeOutput;
  itkCudaNumberedOutputsMacro();

protected:
  CudaMultiScaleHessianBasedMeasureImageFilter() = default;
  ~CudaMultiScaleHessianBasedMeasureImageFilter() override = default;

  /** Throws if a scale is not finite or not above 0. A filter that the object factory created in place of ITK's class
   * accepts what ITK's class accepts. */
  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  /** The class whose object holds the measure's parameters. */
  using ObjectnessType = typename CudaHessianToObjectnessMeasureImageFilter<THessianImage, TOutputImage>::Superclass;

  const char *
  GetObstacle() const;
  CudaDetail::CudaMultiScalePlan
  MakePlan() const;
  std::vector<double>
  GetSigmas() const;
  template <typename TAllocate>
  void
  AllocateImages(const TAllocate & allocate);
  CudaDetail::CudaMultiScaleOutputs
  AllocateHostImages();
  CudaDetail::CudaMultiScaleDeviceOutputs
  AllocateDeviceImages(int device);
  void
  GenerateHostImages();
  void
  GenerateDeviceImages();
  void
  RunPlan();
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaMultiScaleHessianBasedMeasureImageFilter.hxx"
#endif

#endif
