// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterBase_h
#define itkCudaGaussianImageFilterBase_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDeviceGaussianFilters.h"
#include "itkRecursiveSeparableImageFilter.h"

#include <string>
#include <type_traits>

namespace itk
{
class CudaGaussianOverrideAccess;

/** \class CudaGaussianImageFilterBase
 * \brief One of ITK's recursive Gaussian filters, as the superclass of the filter that computes the same on a GPU.
 *
 * It adds Approximation (default Deriche), Backend (default Automatic), DeviceIndex (default -1, which is the
 * configuration's), and what became of them, BackendUsed and BackendReason; CudaRecursiveGaussianImageFilter says what
 * they mean. A subclass makes the plan. All else is done here: the plan runs on the device, or on ITK's threads where
 * the approximation is not TSuperclass's, or TSuperclass itself runs.
 *
 * Where input and output are CudaDeviceImage, TSuperclass holds the parameters alone (CudaGaussianSuperclass). The plan
 * is queued on the device where the input lies, for the whole image, and Update() returns; there is no fallback to the
 * host.
 *
 * Parameters that the input's spacing or size make impossible are refused before the input's source runs.
 *
 * \tparam TSuperclass filter of one image, with Sigma and NormalizeAcrossScale
 *
 * \exception ExceptionObject if a line has less than four pixels; if sigma or spacing are out of range; if the input
 * holds less pixels than it says; if the output has less components than the filter gives; if Approximation is Accurate
 * and the images are of a type that the GPU does not support
 *
 * \exception CudaError if Backend is Cuda and the GPU cannot be used; for device images also if Backend is Host,
 * DeviceIndex is not the input's, or the device's memory has run out
 *
 * \code
 * template <typename TInputImage, typename TOutputImage>
 * class CudaLaplacianRecursiveGaussianImageFilter
 *   : public CudaGaussianImageFilterBase<LaplacianRecursiveGaussianImageFilter<TInputImage, TOutputImage>>
 * {
 *   // ...
 *   CudaGaussianPlan
 *   MakePlan() const override
 *   {
 *     return MakeLaplacianPlan(this->MakeParameters());
 *   }
 * };
 * \endcode
 *
 * \ingroup CudaFilters
 */
template <typename TSuperclass>
class ITK_TEMPLATE_EXPORT CudaGaussianImageFilterBase : public TSuperclass
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaGaussianImageFilterBase);

  using Self = CudaGaussianImageFilterBase;
  using Superclass = TSuperclass;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = typename Superclass::InputImageType;
  using OutputImageType = typename Superclass::OutputImageType;

  itkTypeMacro(CudaGaussianImageFilterBase, TSuperclass);

  itkCudaFilterBackendMacro();

  void
  SetApproximation(CudaFiltersEnums::Approximation approximation)
  {
    if (m_Approximation != approximation)
    {
      m_Approximation = approximation;
      this->Modified();
    }
  }
  void
  SetApproximation(const std::string & name)
  {
    this->SetApproximation(CudaApproximationFromString(name));
  }
  CudaFiltersEnums::Approximation
  GetApproximation() const
  {
    return m_Approximation;
  }

protected:
  CudaGaussianImageFilterBase() = default;
  ~CudaGaussianImageFilterBase() override = default;

  /** What the engines do for this filter. Throws for parameters out of range. The input has its information then, but
   * not always its pixels; it is called for images that the engines support only. */
  virtual CudaDetail::CudaGaussianPlan
  MakePlan() const = 0;

  /** Sigma along every axis, and the input's spacing. */
  CudaDetail::CudaGaussianParameters
  MakeParameters() const;

  /** Throws unless the input's lines have the four pixels that ITK's recursive filters demand; here, along all axes. */
  virtual void
  VerifyLineLengths() const;

  /** Gives `filter`, which is new, the parameters of this one; here, Sigma and NormalizeAcrossScale. */
  virtual void
  CopyParametersTo(TSuperclass & filter) const;

  /** Runs TSuperclass on the host; if it is a composite, as a new object (CudaHostFilter), because ITK's composites do
   * not run again after an exception. */
  virtual void
  GenerateDataBySuperclass();

  /** Why TSuperclass on the host is faster for a filter that is one of a chain; empty: it is not. */
  virtual std::string
  GetHostPreference() const
  {
    return {};
  }

  void
  VerifyInputInformation() ITKv5_CONST override;
  void
  AllocateOutputs() override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  friend class CudaGaussianOverrideAccess;

  using InputTraits = CudaDetail::CudaImageTraits<InputImageType>;
  using OutputTraits = CudaDetail::CudaImageTraits<OutputImageType>;

  /** ITK's filter along one axis has no pipeline inside: it runs again after exceptions, and streams. */
  static constexpr bool IsComposite =
    !std::is_base_of_v<RecursiveSeparableImageFilter<InputImageType, OutputImageType>, TSuperclass>;
  static constexpr bool IsOnDevice = CudaIsDeviceImage<InputImageType>::value;
  static constexpr bool AreImagesSupported = IsOnDevice || (InputTraits::IsSupported && OutputTraits::IsSupported);

  /** One of ITK's classes has a GetSigma() that is not const. */
  double
  GetConstSigma() const
  {
    return const_cast<Self *>(this)->GetSigma();
  }

  bool
  SelectDevice(const CudaDetail::CudaGaussianPlan & plan);
  bool
  GenerateDataOnDevice(const CudaDetail::CudaGaussianPlan & plan);
  void
  GenerateDataOnHost(const CudaDetail::CudaGaussianPlan & plan);
  void
  GenerateHostImage();
  void
  GenerateDeviceImage();

  CudaFiltersEnums::Approximation m_Approximation{ CudaFiltersEnums::Approximation::Deriche };
  bool                            m_KeepInput{ IsOnDevice }; // whether the plan of the run must
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaGaussianImageFilterBase.hxx"
#endif

#endif
