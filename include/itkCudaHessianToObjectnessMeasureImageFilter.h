// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHessianToObjectnessMeasureImageFilter_h
#define itkCudaHessianToObjectnessMeasureImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailTensorEngine.h"
#include "itkCudaDeviceTensorFilters.h"
#include "itkHessianToObjectnessMeasureImageFilter.h"

#include <string>

namespace itk
{
/** \class CudaHessianToObjectnessMeasureImageFilter
 * \brief HessianToObjectnessMeasureImageFilter on an NVIDIA GPU: enhances blobs, lines or plates by the eigenvalues of
 * an image of Hessians.
 *
 * The parameters, defaults and exceptions are the superclass's: Alpha (default 0.5), Beta (0.5), Gamma (5),
 * ObjectDimension (1: lines), BrightObject (on) and ScaleObjectnessMeasure (on). docs/user/vesselness.md has the
 * formula.
 *
 * Pixels are tensors of two or three rows. They are computed in float, or in double if the input or the output is of
 * double, int or unsigned int. In double the result differs from the superclass's by at most 1e-12 of its largest
 * value, and in float by at most 1e-5 of it. The difference may be larger where the formula itself is discontinuous:
 * where rounding decides the sign of an eigenvalue, or which of two eigenvalues of different signs has the larger
 * magnitude.
 *
 * A tensor with a NaN or infinite element gives NaN, or 0 in images of integers. It changes no other pixel. For integer
 * outputs the result is truncated and clamped to the type's range.
 *
 * Backend selects where the filter runs. Automatic (default) uses the GPU if one is usable and the images fit into its
 * memory. Otherwise the same arithmetic runs on ITK's threads and gives the same bits. Cuda throws CudaError instead of
 * falling back. The superclass computes images that the GPU does not support, for example images of tensors with four
 * rows.
 *
 * If the input or the output is a CudaDeviceImage, CudaDeviceObjectnessFilter is the superclass. The whole image is
 * computed on the input's device, and is bit-identical to the result for host images. There is no fallback to the host.
 *
 * \code
 * auto filter = itk::CudaHessianToObjectnessMeasureImageFilter<TensorImageType, ImageType>::New();
 * filter->SetInput(hessian->GetOutput());
 * filter->SetObjectDimension(1);
 * filter->Update();
 * \endcode
 *
 * \sa CudaHessianRecursiveGaussianImageFilter
 * \sa CudaSymmetricEigenAnalysisImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaHessianToObjectnessMeasureImageFilter
  : public CudaFilterSuperclass<TInputImage,
                                TOutputImage,
                                HessianToObjectnessMeasureImageFilter,
                                CudaDeviceObjectnessFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaHessianToObjectnessMeasureImageFilter);

  using Self = CudaHessianToObjectnessMeasureImageFilter;
  using Superclass =
    CudaFilterSuperclass<TInputImage, TOutputImage, HessianToObjectnessMeasureImageFilter, CudaDeviceObjectnessFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;

  itkNewMacro(Self);
  itkTypeMacro(CudaHessianToObjectnessMeasureImageFilter, HessianToObjectnessMeasureImageFilter);

  itkCudaFilterBackendMacro();

protected:
  CudaHessianToObjectnessMeasureImageFilter() = default;
  ~CudaHessianToObjectnessMeasureImageFilter() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  CudaDetail::CudaHessianMeasure
  MakeMeasure() const;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaHessianToObjectnessMeasureImageFilter.hxx"
#endif

#endif
