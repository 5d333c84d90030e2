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
 * All parameters, defaults and exceptions are those of the superclass: Alpha (default 0.5), Beta (0.5), Gamma (5),
 * ObjectDimension (1: lines), BrightObject (on) and ScaleObjectnessMeasure (on). docs/user/vesselness.md has the
 * formula.
 *
 * Pixels are tensors of two or three rows. They are computed in float, or in double if the input or the output is of
 * double, int or unsigned int. In double the result is the superclass's to 1e-12 of its largest value. In float it is
 * within 1e-5 of that. It may be another one where the formula itself jumps: where a rounding decides the sign of an
 * eigenvalue, or which of two eigenvalues of different signs is the larger one.
 *
 * A tensor with a NaN or infinite element gives NaN, or 0 in images of integers. It changes no other pixel. For integer
 * outputs the result is truncated and clamped to the type's range.
 *
 * Backend says where to compute. Automatic (default) takes the GPU if one is usable and the images fit into its memory.
 * Otherwise the same arithmetic runs on ITK's threads, with the same bits. Cuda throws CudaError instead of falling
 * back. Images that the GPU does not support, for example of tensors of four rows, are computed by the superclass.
 *
 * Where input or output is a CudaDeviceImage, CudaDeviceObjectnessFilter is the superclass. The whole image is computed
 * on the device where the input lies, with the bits of images of the host. There is no fallback to the host.
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
