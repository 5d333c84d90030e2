// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSymmetricEigenAnalysisImageFilter_h
#define itkCudaSymmetricEigenAnalysisImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailTensorEngine.h"
#include "itkCudaDeviceTensorFilters.h"
#include "itkSymmetricEigenAnalysisImageFilter.h"

#include <string>

namespace itk
{
/** \class CudaSymmetricEigenAnalysisImageFilter
 * \brief SymmetricEigenAnalysisImageFilter on an NVIDIA GPU: the eigenvalues of every pixel, a symmetric tensor.
 *
 * All parameters and defaults are those of the superclass. OrderEigenValuesBy() orders the eigenvalues by value
 * (default), by magnitude, or not at all. Without order they come as the method finds them, which is not the order of
 * the superclass's method.
 *
 * Tensors of two and three rows are computed by Jacobi's rotations, which are as accurate where eigenvalues are equal
 * or nearly equal as elsewhere: within 1e-6 of the largest magnitude in float, 1e-13 in double. The arithmetic is
 * double if the input or the output is of double, int or unsigned int. A tensor with a NaN or infinite element gives
 * NaN. It changes no other pixel.
 *
 * Backend says where to compute. Automatic (default) takes the GPU if one is usable and the images fit into its memory.
 * Otherwise the same arithmetic runs on ITK's threads, with the same bits. Cuda throws CudaError instead of falling
 * back. The superclass computes what the GPU does not support: other pixels than symmetric tensors of two or three
 * rows, and outputs that are not arrays of as many components. Dimension must be the number of the tensors' rows:
 * another one is an exception, because the superclass would write beyond its arrays.
 *
 * Where input or output is a CudaDeviceImage, CudaDeviceEigenAnalysisFilter is the superclass. The whole image is
 * computed on the device where the input lies, with the bits of images of the host. There is no fallback to the host.
 *
 * \code
 * auto filter = itk::CudaSymmetricEigenAnalysisImageFilter<TensorImageType, VectorImageType>::New();
 * filter->SetInput(hessian->GetOutput());
 * filter->OrderEigenValuesBy(itk::EigenValueOrderEnum::OrderByMagnitude);
 * filter->Update();
 * \endcode
 *
 * \sa CudaHessianRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaSymmetricEigenAnalysisImageFilter
  : public CudaFilterSuperclass<TInputImage,
                                TOutputImage,
                                SymmetricEigenAnalysisImageFilter,
                                CudaDeviceEigenAnalysisFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaSymmetricEigenAnalysisImageFilter);

  using Self = CudaSymmetricEigenAnalysisImageFilter;
  using Superclass =
    CudaFilterSuperclass<TInputImage, TOutputImage, SymmetricEigenAnalysisImageFilter, CudaDeviceEigenAnalysisFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;

  itkNewMacro(Self);
  itkTypeMacro(CudaSymmetricEigenAnalysisImageFilter, SymmetricEigenAnalysisImageFilter);

  itkCudaFilterBackendMacro();

protected:
  CudaSymmetricEigenAnalysisImageFilter() = default;
  ~CudaSymmetricEigenAnalysisImageFilter() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  void
  GenerateDeviceImage();
  CudaDetail::CudaEigenPlan
  MakePlan() const;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaSymmetricEigenAnalysisImageFilter.hxx"
#endif

#endif
