// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceTensorFilters_h
#define itkCudaDeviceTensorFilters_h

#include "itkCudaDeviceGaussianFilters.h"
#include "itkMultiScaleHessianBasedMeasureImageFilter.h"
#include "itkSymmetricEigenAnalysis.h"

#include <algorithm>

// The superclasses of filters of device images. They have the parameters and defaults of ITK's filters of tensors and
// access no pixels.

namespace itk
{
/** \class CudaDeviceEigenAnalysisFilter
 * \brief The parameters of SymmetricEigenAnalysisImageFilter, for device images.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceEigenAnalysisFilter : public CudaDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceEigenAnalysisFilter);

  using Self = CudaDeviceEigenAnalysisFilter;
  using Superclass = CudaDeviceImageFilter<TInputImage, TOutputImage>;
  using EigenValueOrderEnum = itk::EigenValueOrderEnum;

  itkTypeMacro(CudaDeviceEigenAnalysisFilter, CudaDeviceImageFilter);

  /** Sets the order of the eigenvalues; default: by value. */
  void
  OrderEigenValuesBy(EigenValueOrderEnum order)
  {
    if (m_Order != order)
    {
      m_Order = order;
      this->Modified();
    }
  }
  void
  SetOrderEigenValuesBy(EigenValueOrderEnum order)
  {
    this->OrderEigenValuesBy(order);
  }
  EigenValueOrderEnum
  GetOrderEigenValuesBy() const
  {
    return m_Order;
  }

  /** The number of rows of the tensors; default: the dimension of the image. */
  itkSetMacro(Dimension, unsigned int);
  itkGetConstMacro(Dimension, unsigned int);

protected:
  CudaDeviceEigenAnalysisFilter() = default;
  ~CudaDeviceEigenAnalysisFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "OrderEigenValuesBy: " << m_Order << std::endl;
    os << indent << "Dimension: " << m_Dimension << std::endl;
  }

private:
  EigenValueOrderEnum m_Order{ EigenValueOrderEnum::OrderByValue };
  unsigned int        m_Dimension{ TInputImage::ImageDimension };
};

/** \class CudaDeviceObjectnessFilter
 * \brief The parameters of HessianToObjectnessMeasureImageFilter, for device images.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceObjectnessFilter : public CudaDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceObjectnessFilter);

  using Self = CudaDeviceObjectnessFilter;
  using Superclass = CudaDeviceImageFilter<TInputImage, TOutputImage>;

  itkTypeMacro(CudaDeviceObjectnessFilter, CudaDeviceImageFilter);

  /** Smaller values keep lines that are nearly plates; default 0.5. */
  itkSetMacro(Alpha, double);
  itkGetConstMacro(Alpha, double);
  /** Smaller values suppress blobs; default 0.5. */
  itkSetMacro(Beta, double);
  itkGetConstMacro(Beta, double);
  /** Responses fade where the norm of the Hessian is below it; default 5. */
  itkSetMacro(Gamma, double);
  itkGetConstMacro(Gamma, double);
  /** Whether the measure is multiplied by the largest eigenvalue; default on. */
  itkSetMacro(ScaleObjectnessMeasure, bool);
  itkGetConstMacro(ScaleObjectnessMeasure, bool);
  itkBooleanMacro(ScaleObjectnessMeasure);
  /** What is looked for: blobs (0), lines (1, default) or plates (2). */
  itkSetMacro(ObjectDimension, unsigned int);
  itkGetConstMacro(ObjectDimension, unsigned int);
  /** Whether bright objects on dark ground are looked for (default on), or dark ones on bright ground. */
  itkSetMacro(BrightObject, bool);
  itkGetConstMacro(BrightObject, bool);
  itkBooleanMacro(BrightObject);

protected:
  CudaDeviceObjectnessFilter() = default;
  ~CudaDeviceObjectnessFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "Alpha: " << m_Alpha << std::endl;
    os << indent << "Beta: " << m_Beta << std::endl;
    os << indent << "Gamma: " << m_Gamma << std::endl;
    os << indent << "ScaleObjectnessMeasure: " << m_ScaleObjectnessMeasure << std::endl;
    os << indent << "ObjectDimension: " << m_ObjectDimension << std::endl;
    os << indent << "BrightObject: " << m_BrightObject << std::endl;
  }

private:
  double       m_Alpha{ 0.5 };
  double       m_Beta{ 0.5 };
  double       m_Gamma{ 5.0 };
  unsigned int m_ObjectDimension{ 1 };
  bool         m_BrightObject{ true };
  bool         m_ScaleObjectnessMeasure{ true };
};

/** \class CudaDeviceMultiScaleFilter
 * \brief The parameters and outputs of MultiScaleHessianBasedMeasureImageFilter, for device images.
 *
 * The images of scales and Hessians are device images if the response is one.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceMultiScaleFilter : public CudaDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceMultiScaleFilter);

  using Self = CudaDeviceMultiScaleFilter;
  using Superclass = CudaDeviceImageFilter<TInputImage, TOutputImage>;
  using HessianImageType = THessianImage;
  using ScalesImageType = CudaImageBeside<TOutputImage, float>;
  using HessianToMeasureFilterType = ImageToImageFilter<THessianImage, TOutputImage>;
  using SigmaStepMethodEnum = MultiScaleHessianBasedMeasureImageFilterEnums::SigmaStepMethod;
  using DataObjectPointerArraySizeType = ProcessObject::DataObjectPointerArraySizeType;

  static_assert(CudaIsDeviceImage<THessianImage>::value == CudaIsDeviceImage<TOutputImage>::value,
                "The images of Hessians and of responses must both lie on the device, or both on the host");

  itkTypeMacro(CudaDeviceMultiScaleFilter, CudaDeviceImageFilter);

  /** The smallest scale, in physical units; default 0.2. */
  itkSetMacro(SigmaMinimum, double);
  itkGetConstMacro(SigmaMinimum, double);
  /** The largest scale, in physical units; default 2. */
  itkSetMacro(SigmaMaximum, double);
  itkGetConstMacro(SigmaMaximum, double);
  /** The number of scales; default 10. */
  itkSetMacro(NumberOfSigmaSteps, unsigned int);
  itkGetConstMacro(NumberOfSigmaSteps, unsigned int);
  /** The filter that computes the measure of the Hessians of a scale. */
  itkSetObjectMacro(HessianToMeasureFilter, HessianToMeasureFilterType);
  itkGetModifiableObjectMacro(HessianToMeasureFilter, HessianToMeasureFilterType);
  /** Whether negative measures count as 0; default on. */
  itkSetMacro(NonNegativeHessianBasedMeasure, bool);
  itkGetConstMacro(NonNegativeHessianBasedMeasure, bool);
  itkBooleanMacro(NonNegativeHessianBasedMeasure);
  /** How the scales follow each other: EquispacedSigmaSteps or LogarithmicSigmaSteps (default). */
  itkSetEnumMacro(SigmaStepMethod, SigmaStepMethodEnum);
  itkGetConstMacro(SigmaStepMethod, SigmaStepMethodEnum);
  void
  SetSigmaStepMethodToEquispaced()
  {
    this->SetSigmaStepMethod(SigmaStepMethodEnum::EquispacedSigmaSteps);
  }
  void
  SetSigmaStepMethodToLogarithmic()
  {
    this->SetSigmaStepMethod(SigmaStepMethodEnum::LogarithmicSigmaSteps);
  }
  /** Whether the image of the sigmas is computed; default off. */
  itkSetMacro(GenerateScalesOutput, bool);
  itkGetConstMacro(GenerateScalesOutput, bool);
  itkBooleanMacro(GenerateScalesOutput);
  /** Whether the image of the Hessians is computed; default off. */
  itkSetMacro(GenerateHessianOutput, bool);
  itkGetConstMacro(GenerateHessianOutput, bool);
  itkBooleanMacro(GenerateHessianOutput);

  /** Returns the image of the sigma that gave each response. */
  const ScalesImageType *
  GetScalesOutput() const
  {
    return static_cast<const ScalesImageType *>(this->ProcessObject::GetOutput(1));
  }
  /** Returns the image of the Hessian at that sigma. */
  const HessianImageType *
  GetHessianOutput() const
  {
    return static_cast<const HessianImageType *>(this->ProcessObject::GetOutput(2));
  }

protected:
  CudaDeviceMultiScaleFilter()
  {
    this->ProcessObject::SetNumberOfRequiredOutputs(3);
    this->ProcessObject::SetNthOutput(1, ScalesImageType::New().GetPointer());
    this->ProcessObject::SetNthOutput(2, HessianImageType::New().GetPointer());
  }
  ~CudaDeviceMultiScaleFilter() override = default;

  using Superclass::MakeOutput;
  DataObject::Pointer
  MakeOutput(DataObjectPointerArraySizeType index) override
  {
    return index == 1   ? DataObject::Pointer(ScalesImageType::New().GetPointer())
           : index == 2 ? DataObject::Pointer(HessianImageType::New().GetPointer())
                        : Superclass::MakeOutput(index);
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "SigmaMinimum: " << m_SigmaMinimum << std::endl;
    os << indent << "SigmaMaximum: " << m_SigmaMaximum << std::endl;
    os << indent << "NumberOfSigmaSteps: " << m_NumberOfSigmaSteps << std::endl;
    os << indent << "SigmaStepMethod: " << m_SigmaStepMethod << std::endl;
    os << indent << "HessianToMeasureFilter: " << m_HessianToMeasureFilter.GetPointer() << std::endl;
    os << indent << "NonNegativeHessianBasedMeasure: " << m_NonNegativeHessianBasedMeasure << std::endl;
    os << indent << "GenerateScalesOutput: " << m_GenerateScalesOutput << std::endl;
    os << indent << "GenerateHessianOutput: " << m_GenerateHessianOutput << std::endl;
  }

private:
  double                                       m_SigmaMinimum{ 0.2 };
  double                                       m_SigmaMaximum{ 2.0 };
  unsigned int                                 m_NumberOfSigmaSteps{ 10 };
  SigmaStepMethodEnum                          m_SigmaStepMethod{ SigmaStepMethodEnum::LogarithmicSigmaSteps };
  bool                                         m_NonNegativeHessianBasedMeasure{ true };
  bool                                         m_GenerateScalesOutput{ false };
  bool                                         m_GenerateHessianOutput{ false };
  typename HessianToMeasureFilterType::Pointer m_HessianToMeasureFilter;
};
} // end namespace itk

#endif
