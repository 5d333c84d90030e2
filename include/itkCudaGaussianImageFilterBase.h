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
 * It adds Approximation (default Deriche), Backend (default Automatic) and DeviceIndex (default -1, the
 * configuration's). BackendUsed and BackendReason say where the last run computed, and why there.
 * CudaRecursiveGaussianImageFilter explains these parameters. A subclass makes the plan; this class does the rest. The
 * plan runs on the device. On the host TSuperclass runs; if it does not have the approximation, the plan runs on ITK's
 * threads.
 *
 * Where input or output is a CudaDeviceImage, TSuperclass holds the parameters alone (CudaFilterSuperclass). The plan
 * is queued on the device where the input lies, for the whole image, and Update() returns; there is no fallback to the
 * host. An input of the host is uploaded to the device of DeviceIndex first, and an output of the host is downloaded
 * before Update() returns.
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

  /** The engines' work for this filter. It throws for parameters out of range. It is called for images that the engines
   * support only, and when the input has its information, but not always its pixels. */
  virtual CudaDetail::CudaGaussianPlan
  MakePlan() const = 0;

  /** Sigma along every axis, and the input's spacing. */
  CudaDetail::CudaGaussianParameters
  MakeParameters() const;

  /** Throws unless the input's lines along all axes have the four pixels that ITK's recursive filters demand. */
  virtual void
  VerifyLineLengths() const;

  /** Gives a new `filter` the parameters of this one. This class copies Sigma and NormalizeAcrossScale. */
  virtual void
  CopyParametersTo(TSuperclass & filter) const;

  /** Runs TSuperclass on the host. A composite runs as a new object (CudaHostFilter), because ITK's composites do not
   * run again after an exception. */
  virtual void
  GenerateDataBySuperclass();

  /** Returns why TSuperclass on the host is expected to be faster for a filter in a chain, or an empty string if it is
   * not. */
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

  /** ITK's filter along one axis has no pipeline inside. It runs again after exceptions, and it streams. */
  static constexpr bool IsComposite =
    !std::is_base_of_v<RecursiveSeparableImageFilter<InputImageType, OutputImageType>, TSuperclass>;
  static constexpr bool IsOnDevice = CudaHasDeviceImage<InputImageType, OutputImageType>;
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
  bool
  TakesInputMemory() const;

  CudaFiltersEnums::Approximation m_Approximation{ CudaFiltersEnums::Approximation::Deriche };
  bool                            m_KeepInput{ IsOnDevice }; // whether the plan of the run must
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaGaussianImageFilterBase.hxx"
#endif

#endif
