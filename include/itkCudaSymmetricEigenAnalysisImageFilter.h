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
 * The parameters and defaults are the superclass's. OrderEigenValuesBy() orders the eigenvalues by value (default), by
 * magnitude, or not at all. Unordered eigenvalues are in the order in which the method finds them, which differs from
 * the order of the superclass's method.
 *
 * A plane rotation diagonalises tensors of two rows. For tensors of three rows, a Householder reflection first splits
 * off the eigenvalue that lies farthest from the others, and a plane rotation diagonalises what remains (after D.
 * Eberly, A Robust Eigensolver for 3 x 3 Symmetric Matrices, 2014). The eigenvalues are as accurate for equal or
 * nearly equal ones as for others: within 1e-6 of the largest magnitude in float, and 1e-13 in double. The arithmetic
 * is double if the input or the output is of double, int or unsigned int. A tensor with a NaN or infinite element gives
 * NaN. It changes no other pixel.
 *
 * Backend selects where the filter runs. Automatic (default) uses the GPU if one is usable and the images fit into its
 * memory. Otherwise the same arithmetic runs on ITK's threads and gives the same bits. Cuda throws CudaError instead of
 * falling back. The superclass computes what the GPU does not support: pixels that are not symmetric tensors of two or
 * three rows, and outputs that are not arrays of as many components. Dimension must be the number of the tensors' rows.
 * Another value throws an exception, because the superclass would write beyond its arrays.
 *
 * If the input or the output is a CudaDeviceImage, CudaDeviceEigenAnalysisFilter is the superclass. The whole image is
 * computed on the input's device, and is bit-identical to the result for host images. There is no fallback to the host.
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
  CudaDetail::CudaEigenPlan
  MakePlan() const;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaSymmetricEigenAnalysisImageFilter.hxx"
#endif

#endif
