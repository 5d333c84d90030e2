// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceGaussianFilters_h
#define itkCudaDeviceGaussianFilters_h

#include "itkCudaDeviceImageFilter.h"
#include "itkFixedArray.h"
#include "itkRecursiveGaussianImageFilter.h"

#include <type_traits>

// The superclasses of filters of device images. They have the parameters and defaults of ITK's recursive Gaussian
// filters and access no pixels.

namespace itk
{
/** \class CudaDeviceGaussianFilter
 * \brief The parameters of a recursive Gaussian filter, for device images.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceGaussianFilter : public CudaDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceGaussianFilter);

  using Self = CudaDeviceGaussianFilter;
  using Superclass = CudaDeviceImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;
  using SigmaArrayType = FixedArray<double, ImageDimension>;

  itkTypeMacro(CudaDeviceGaussianFilter, CudaDeviceImageFilter);

  /** Sets the standard deviation in physical units; default 1. */
  void
  SetSigma(double sigma)
  {
    SigmaArrayType sigmas;
    sigmas.Fill(sigma);
    this->SetSigmas(sigmas);
  }
  double
  GetSigma() const
  {
    return m_SigmaArray[0];
  }

  /** Whether derivatives are normalised across scales; default off. */
  itkSetMacro(NormalizeAcrossScale, bool);
  itkGetConstMacro(NormalizeAcrossScale, bool);
  itkBooleanMacro(NormalizeAcrossScale);

protected:
  CudaDeviceGaussianFilter() { m_SigmaArray.Fill(1.0); }
  ~CudaDeviceGaussianFilter() override = default;

  /** Returns whether the user allows the filter to overwrite the input's memory. */
  virtual bool
  MayOverwriteInput() const
  {
    return false;
  }

  void
  SetSigmas(const SigmaArrayType & sigmas)
  {
    if (m_SigmaArray != sigmas)
    {
      m_SigmaArray = sigmas;
      this->Modified();
    }
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "SigmaArray: " << m_SigmaArray << std::endl;
    os << indent << "NormalizeAcrossScale: " << m_NormalizeAcrossScale << std::endl;
  }

  SigmaArrayType m_SigmaArray;
  bool           m_NormalizeAcrossScale{ false };
};

/** \class CudaDeviceAxesGaussianFilter
 * \brief The parameters of GradientRecursiveGaussianImageFilter, for device images: a sigma for each axis, and
 * UseImageDirection (default on).
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceAxesGaussianFilter : public CudaDeviceGaussianFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceAxesGaussianFilter);

  using Self = CudaDeviceAxesGaussianFilter;
  using Superclass = CudaDeviceGaussianFilter<TInputImage, TOutputImage>;
  using typename Superclass::SigmaArrayType;

  itkTypeMacro(CudaDeviceAxesGaussianFilter, CudaDeviceGaussianFilter);

  /** The standard deviation along each axis, in physical units. */
  void
  SetSigmaArray(const SigmaArrayType & sigmas)
  {
    this->SetSigmas(sigmas);
  }
  SigmaArrayType
  GetSigmaArray() const
  {
    return this->m_SigmaArray;
  }

  /** Whether the components are along physical axes (default on), or along those of the image. */
  itkSetMacro(UseImageDirection, bool);
  itkGetConstMacro(UseImageDirection, bool);
  itkBooleanMacro(UseImageDirection);

protected:
  CudaDeviceAxesGaussianFilter() = default;
  ~CudaDeviceAxesGaussianFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "UseImageDirection: " << (m_UseImageDirection ? "On" : "Off") << std::endl;
  }

private:
  bool m_UseImageDirection{ true };
};

/** \class CudaDeviceInPlaceGaussianFilter
 * \brief A Gaussian filter with InPlace (default off), like ITK's filters that derive from InPlaceImageFilter.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceInPlaceGaussianFilter : public CudaDeviceGaussianFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceInPlaceGaussianFilter);

  using Self = CudaDeviceInPlaceGaussianFilter;
  using Superclass = CudaDeviceGaussianFilter<TInputImage, TOutputImage>;

  itkTypeMacro(CudaDeviceInPlaceGaussianFilter, CudaDeviceGaussianFilter);

  /** Whether the filter may overwrite its input's memory, or release it; default off. */
  itkSetMacro(InPlace, bool);
  itkGetConstMacro(InPlace, bool);
  itkBooleanMacro(InPlace);

  /** Returns whether input and output are of the same type. */
  bool
  CanRunInPlace() const
  {
    return std::is_same_v<TInputImage, TOutputImage>;
  }

protected:
  CudaDeviceInPlaceGaussianFilter() = default;
  ~CudaDeviceInPlaceGaussianFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "InPlace: " << (m_InPlace ? "On" : "Off") << std::endl;
  }

private:
  bool m_InPlace{ false };
};

/** \class CudaDeviceSmoothingGaussianFilter
 * \brief The parameters of SmoothingRecursiveGaussianImageFilter, for device images: a sigma for each axis, and
 * InPlace.
 *
 * With InPlace on, the filter releases its input, as ITK's class does. The output takes the input's memory if the image
 * is its only holder, if the module allocated it, and if input and output are of the same type. Otherwise new memory is
 * allocated for the output.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceSmoothingGaussianFilter
  : public CudaDeviceInPlaceGaussianFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceSmoothingGaussianFilter);

  using Self = CudaDeviceSmoothingGaussianFilter;
  using Superclass = CudaDeviceInPlaceGaussianFilter<TInputImage, TOutputImage>;
  using typename Superclass::SigmaArrayType;

  itkTypeMacro(CudaDeviceSmoothingGaussianFilter, CudaDeviceInPlaceGaussianFilter);

  /** The standard deviation along each axis, in physical units. */
  void
  SetSigmaArray(const SigmaArrayType & sigmas)
  {
    this->SetSigmas(sigmas);
  }
  SigmaArrayType
  GetSigmaArray() const
  {
    return this->m_SigmaArray;
  }

protected:
  CudaDeviceSmoothingGaussianFilter() = default;
  ~CudaDeviceSmoothingGaussianFilter() override = default;

  bool
  MayOverwriteInput() const override
  {
    return this->GetInPlace() && this->CanRunInPlace();
  }
};

/** \class CudaDeviceLineGaussianFilter
 * \brief The parameters of RecursiveGaussianImageFilter, for device images: Direction (default 0), Order (default zero)
 * and InPlace.
 *
 * With InPlace on, the filter releases its input, as ITK's class does. New memory is always allocated for the output.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceLineGaussianFilter
  : public CudaDeviceInPlaceGaussianFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceLineGaussianFilter);

  using Self = CudaDeviceLineGaussianFilter;
  using Superclass = CudaDeviceInPlaceGaussianFilter<TInputImage, TOutputImage>;
  using GaussianOrderEnum = RecursiveGaussianImageFilterEnums::GaussianOrder;

  itkTypeMacro(CudaDeviceLineGaussianFilter, CudaDeviceInPlaceGaussianFilter);

  /** The axis along which the filter runs; default 0. */
  itkSetMacro(Direction, unsigned int);
  itkGetConstMacro(Direction, unsigned int);

  /** The order of the derivative: ZeroOrder (default), FirstOrder or SecondOrder. */
  itkSetEnumMacro(Order, GaussianOrderEnum);
  itkGetConstMacro(Order, GaussianOrderEnum);
  void
  SetZeroOrder()
  {
    this->SetOrder(GaussianOrderEnum::ZeroOrder);
  }
  void
  SetFirstOrder()
  {
    this->SetOrder(GaussianOrderEnum::FirstOrder);
  }
  void
  SetSecondOrder()
  {
    this->SetOrder(GaussianOrderEnum::SecondOrder);
  }

protected:
  CudaDeviceLineGaussianFilter() = default;
  ~CudaDeviceLineGaussianFilter() override = default;

  bool
  MayOverwriteInput() const override
  {
    return this->GetInPlace() && this->CanRunInPlace();
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "Direction: " << m_Direction << std::endl;
    os << indent << "Order: " << m_Order << std::endl;
  }

private:
  unsigned int      m_Direction{ 0 };
  GaussianOrderEnum m_Order{ GaussianOrderEnum::ZeroOrder };
};

/** An image of pixels of type `TPixel` on the same side as `TImage`: on the host or on the device.
 * \ingroup CudaFilters */
template <typename TImage, typename TPixel>
using CudaImageBeside = std::conditional_t<CudaIsDeviceImage<TImage>::value,
                                           CudaDeviceImage<TPixel, TImage::ImageDimension>,
                                           Image<TPixel, TImage::ImageDimension>>;
} // end namespace itk

#endif
