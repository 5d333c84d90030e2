// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDiscreteGaussianImageFilter_h
#define itkCudaDiscreteGaussianImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkCudaDeviceDiscreteGaussianFilter.h"
#include "itkDiscreteGaussianImageFilter.h"

#include <string>

namespace itk
{
/** \class CudaDiscreteGaussianImageFilter
 * \brief DiscreteGaussianImageFilter on an NVIDIA GPU: convolution with a discrete Gaussian along all axes.
 *
 * The filter convolves the image along each of the first FilterDimensionality axes with the kernel of
 * itk::GaussianOperator (T. Lindeberg's discrete Gaussian), of any radius. The parameters, defaults and exceptions are
 * the superclass's: Variance per axis (default 0) in squared physical units, or in squared pixels if UseImageSpacing is
 * off; MaximumError (default 0.01) and MaximumKernelWidth (default 32 pixels), which truncate the kernel; and boundary
 * conditions for the input and for the images between the axes (default: the end value repeats). It streams as its
 * superclass does.
 *
 * On the GPU, images of float, char and short types with float outputs are summed in float, relative to each pixel's
 * own value; all others are summed in double. The result differs from the superclass's by at most 1e-6 of the largest
 * absolute pixel value. Integer outputs are bit-identical to the superclass's, because this filter truncates after
 * every axis as the superclass does.
 *
 * Backend selects where the filter runs. Automatic (default) uses the GPU if one is usable, the types are supported,
 * and two images fit into its memory; otherwise the superclass runs on the host. Cuda throws CudaError instead of
 * falling back. Host runs the superclass. The GPU supports these boundary conditions: zero-flux Neumann; constant, for
 * scalar pixels; periodic, for whole images wider than the kernel. With other boundary conditions the filter runs on
 * the host, and so it does with FilterDimensionality 0, which copies the image.
 *
 * If the input or the output is a CudaDeviceImage, CudaDeviceDiscreteGaussianFilter is the superclass, and the whole
 * image is filtered. There is no fallback to the host: other boundary conditions throw an exception, and
 * FilterDimensionality 0 copies on the device.
 *
 * A pixel costs two to four floating-point operations for each weight of the kernels.
 *
 * A NaN or infinite pixel spoils all pixels within the kernel's reach, as in the superclass.
 *
 * \exception ExceptionObject if Variance is so large that ITK's kernel becomes NaN: above about 710 square pixels,
 * exp(Variance), which the kernel contains, overflows double. The superclass returns NaN in this case, and so does a
 * filter that the object factory created in its place.
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

  /** Updates the output as the superclass does, except that the result may stay on the device between two filters of
   * host images (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaDiscreteGaussianImageFilter() = default;
  ~CudaDiscreteGaussianImageFilter() override = default;

  void
  GenerateData() override;
  /** \exception ExceptionObject unless each Variance is finite and not negative, and each MaximumError is above 0 and
   * below 1. With other values ITK's class returns NaN or does not terminate. */
  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  using RegionType = typename TInputImage::RegionType;

  /** Returns the plan for the output's requested region. Sets `inputRegion` to the region of the input that the plan
   * reads, and `unsupported` to the reason why the device cannot run the plan, or to nullptr if it can. */
  CudaDetail::CudaGaussianFirPlan
  MakePlan(RegionType & inputRegion, const char *& unsupported) const;

private:
  void
  VerifyInputHasPixels() const;
  void
  RunPlan(const CudaDetail::CudaGaussianFirPlan & plan, const RegionType & inputRegion, const char * unsupported);

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
