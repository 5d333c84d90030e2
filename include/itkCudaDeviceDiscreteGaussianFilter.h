// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceDiscreteGaussianFilter_h
#define itkCudaDeviceDiscreteGaussianFilter_h

#include "itkCudaDeviceImageFilter.h"
#include "itkFixedArray.h"
#include "itkNumericTraits.h"
#include "itkZeroFluxNeumannBoundaryCondition.h"

#include <cmath>

namespace itk
{
/** \class CudaDeviceDiscreteGaussianFilter
 * \brief The parameters of DiscreteGaussianImageFilter with their defaults, for device images.
 *
 * Boundary conditions are objects for host images with the same pixels, because ITK's boundary conditions read pixels
 * on the host.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceDiscreteGaussianFilter : public CudaDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceDiscreteGaussianFilter);

  using Self = CudaDeviceDiscreteGaussianFilter;
  using Superclass = CudaDeviceImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using OutputPixelType = typename TOutputImage::PixelType;
  using RealOutputPixelType = typename NumericTraits<OutputPixelType>::RealType;
  using RealOutputPixelValueType = typename NumericTraits<RealOutputPixelType>::ValueType;
  using HostInputImageType = typename CudaHostImageOf<TInputImage>::Type;
  using RealOutputImageType = Image<OutputPixelType, ImageDimension>;
  using BoundaryConditionType = ImageBoundaryCondition<HostInputImageType>;
  using InputBoundaryConditionPointerType = BoundaryConditionType *;
  using RealBoundaryConditionPointerType = ImageBoundaryCondition<RealOutputImageType> *;
  using ArrayType = FixedArray<double, ImageDimension>;
  using SigmaArrayType = ArrayType;

  itkTypeMacro(CudaDeviceDiscreteGaussianFilter, CudaDeviceImageFilter);

  /** The variance along each axis in squared physical units, or in squared pixels if UseImageSpacing is off; default
   * 0. */
  itkSetMacro(Variance, ArrayType);
  itkGetConstMacro(Variance, const ArrayType);
  void
  SetVariance(double variance)
  {
    this->SetVariance(MakeArray(variance));
  }
  template <typename T>
  void
  SetVariance(const T * variances)
  {
    this->SetVariance(MakeArray(variances));
  }

  /** Sets the standard deviation, which is the square root of the variance. */
  void
  SetSigma(double sigma)
  {
    this->SetVariance(sigma * sigma);
  }
  double
  GetSigma() const
  {
    return std::sqrt(m_Variance[0]);
  }
  void
  SetSigmaArray(const ArrayType & sigmas)
  {
    ArrayType variances;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      variances[d] = sigmas[d] * sigmas[d];
    }
    this->SetVariance(variances);
  }
  ArrayType
  GetSigmaArray() const
  {
    ArrayType sigmas;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      sigmas[d] = std::sqrt(m_Variance[d]);
    }
    return sigmas;
  }

  /** The largest error of the truncated kernel along each axis, between 0 and 1; default 0.01. */
  itkSetMacro(MaximumError, ArrayType);
  itkGetConstMacro(MaximumError, const ArrayType);
  void
  SetMaximumError(double error)
  {
    this->SetMaximumError(MakeArray(error));
  }
  template <typename T>
  void
  SetMaximumError(const T * errors)
  {
    this->SetMaximumError(MakeArray(errors));
  }

  /** The largest width of the kernel in pixels; default 32. */
  itkSetMacro(MaximumKernelWidth, unsigned int);
  itkGetConstMacro(MaximumKernelWidth, unsigned int);

  /** The number of axes that are filtered, from the first one on; default: all. With 0 the input is copied. */
  itkSetMacro(FilterDimensionality, unsigned int);
  itkGetConstMacro(FilterDimensionality, unsigned int);

  /** Whether Variance is in physical units instead of pixels; default on. */
  itkSetMacro(UseImageSpacing, bool);
  itkGetConstMacro(UseImageSpacing, bool);
  itkBooleanMacro(UseImageSpacing);

  /** The boundary conditions of the first pass and of the passes after it. The filter does not own them. Default:
   * zero-flux Neumann. */
  itkSetMacro(InputBoundaryCondition, InputBoundaryConditionPointerType);
  itkGetConstMacro(InputBoundaryCondition, InputBoundaryConditionPointerType);
  itkSetMacro(RealBoundaryCondition, RealBoundaryConditionPointerType);
  itkGetConstMacro(RealBoundaryCondition, RealBoundaryConditionPointerType);

protected:
  CudaDeviceDiscreteGaussianFilter() = default;
  ~CudaDeviceDiscreteGaussianFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "Variance: " << m_Variance << std::endl;
    os << indent << "MaximumError: " << m_MaximumError << std::endl;
    os << indent << "MaximumKernelWidth: " << m_MaximumKernelWidth << std::endl;
    os << indent << "FilterDimensionality: " << m_FilterDimensionality << std::endl;
    os << indent << "UseImageSpacing: " << (m_UseImageSpacing ? "On" : "Off") << std::endl;
    os << indent << "InputBoundaryCondition: " << m_InputBoundaryCondition << std::endl;
    os << indent << "RealBoundaryCondition: " << m_RealBoundaryCondition << std::endl;
  }

private:
  static ArrayType
  MakeArray(double value)
  {
    ArrayType array;
    array.Fill(value);
    return array;
  }

  template <typename T>
  static ArrayType
  MakeArray(const T * values)
  {
    ArrayType array;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      array[d] = values[d];
    }
    return array;
  }

  ZeroFluxNeumannBoundaryCondition<HostInputImageType>  m_InputDefaultBoundaryCondition;
  ZeroFluxNeumannBoundaryCondition<RealOutputImageType> m_RealDefaultBoundaryCondition;

  ArrayType                         m_Variance{ MakeArray(0.0) };
  ArrayType                         m_MaximumError{ MakeArray(0.01) };
  unsigned int                      m_MaximumKernelWidth{ 32 };
  unsigned int                      m_FilterDimensionality{ ImageDimension };
  bool                              m_UseImageSpacing{ true };
  InputBoundaryConditionPointerType m_InputBoundaryCondition{ &m_InputDefaultBoundaryCondition };
  RealBoundaryConditionPointerType  m_RealBoundaryCondition{ &m_RealDefaultBoundaryCondition };
};
} // end namespace itk

#endif
