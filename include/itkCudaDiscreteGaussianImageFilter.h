// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDiscreteGaussianImageFilter_h
#define itkCudaDiscreteGaussianImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianFirPlan.h"
#include "itkCudaDeviceDiscreteGaussianFilter.h"
#include "itkDiscreteGaussianImageFilter.h"

#include <string>

namespace itk
{
/** \class CudaDiscreteGaussianImageFilter
 * \brief DiscreteGaussianImageFilter on an NVIDIA GPU: convolution with a discrete Gaussian along all axes.
 *
 * Convolves the image along each of the first FilterDimensionality axes with the kernel of itk::GaussianOperator (T.
 * Lindeberg's discrete Gaussian), of any radius. All parameters, defaults and exceptions are those of the superclass:
 * Variance per axis (default 0) in physical units, or in pixels with UseImageSpacing off; MaximumError (default 0.01)
 * and MaximumKernelWidth (default 32 pixels), which cut the kernel; boundary conditions for the input and for the
 * images between the axes (default: the end value repeats). It streams as its superclass does.
 *
 * On the GPU, images of float, char and short types with float outputs are summed in float, relative to each pixel's
 * own value; all others are summed in double. The result differs from the superclass's by at most 1e-6 of the largest
 * absolute pixel value. Integer outputs have the superclass's bits, because this filter truncates after every axis as
 * the superclass does.
 *
 * Backend says where to compute. Automatic (default) takes the GPU if one is usable, the types are supported, and two
 * images fit into its memory; otherwise the superclass runs on the host. Cuda throws CudaError instead of falling back.
 * Host is the superclass. The GPU supports these boundary conditions: zero-flux Neumann; constant, for scalar pixels;
 * periodic, for whole images wider than the kernel. Other boundary conditions run on the host, and so does
 * FilterDimensionality 0, which copies the image.
 *
 * Where input or output is a CudaDeviceImage, CudaDeviceDiscreteGaussianFilter is the superclass. The whole image is
 * filtered. There is no fallback to the host: other boundary conditions end in an exception. FilterDimensionality 0
 * copies on the device.
 *
 * A pixel costs two to four floating-point operations for each weight of the kernels.
 *
 * A NaN or infinite pixel spoils the pixels that the kernel reaches, as in the superclass.
 *
 * \exception ExceptionObject if Variance is so large that ITK's kernel is not a number: from about 710 square pixels on
 * exp(Variance), which it contains, is beyond double. The superclass gives NaN then, and so does a filter that the
 * object factory made for it.
 *
 * \code
 * auto filter = itk::CudaDiscreteGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetVariance(4.0);
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaDiscreteGaussianImageFilter
  : public CudaFilterSuperclass<TInputImage,
                                TOutputImage,
                                DiscreteGaussianImageFilter,
                                CudaDeviceDiscreteGaussianFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDiscreteGaussianImageFilter);

  using Self = CudaDiscreteGaussianImageFilter;
  using Superclass =
    CudaFilterSuperclass<TInputImage, TOutputImage, DiscreteGaussianImageFilter, CudaDeviceDiscreteGaussianFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;

  static constexpr unsigned int ImageDimension = TOutputImage::ImageDimension;

  itkNewMacro(Self);
  itkTypeMacro(CudaDiscreteGaussianImageFilter, DiscreteGaussianImageFilter);

  itkCudaFilterBackendMacro();
  itkCudaFilterStreamingMacro();

  /** As the superclass's. Between filters of images of the host, results may stay on the device
   * (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaDiscreteGaussianImageFilter() = default;
  ~CudaDiscreteGaussianImageFilter() override = default;

  void
  GenerateData() override;
  /** \exception ExceptionObject unless each Variance is finite and 0 or more, and each MaximumError above 0 and
   * below 1. ITK's class makes NaN of others, or goes on without an end. */
  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  using RegionType = typename TInputImage::RegionType;

  /** The plan for the output's requested region. It sets the region of the input that it reads, and `unsupported` to
   * the reason why the device cannot run it, or to nullptr. */
  CudaDetail::CudaGaussianFirPlan
  MakePlan(RegionType & inputRegion, const char *& unsupported) const;

private:
  void
  VerifyInputHasPixels() const;
  void
  GenerateHostImage();
  bool
  GenerateDataOnDevice(const CudaDetail::CudaGaussianFirPlan & plan, const RegionType & inputRegion);
  void
  GenerateDeviceImage();

  CudaDetail::CudaGaussianFirPass
  MakePass(unsigned int axis) const;

  template <typename TImage>
  static bool
  SetContinuation(CudaDetail::CudaGaussianFirPass & pass, const ImageBoundaryCondition<TImage> * condition);
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaDiscreteGaussianImageFilter.hxx"
#endif

#endif
