// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterBase_h
#define itkCudaGaussianImageFilterBase_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailSlabRequests.h"
#include "itkCudaDetailWorkScope.h"
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
 * It adds Approximation (default Deriche), BoundaryMode (default Nearest), BoundaryValue (default 0), Backend (default
 * Automatic) and DeviceIndex (default -1, the configuration's). BackendUsed and BackendReason say where the last run
 * computed, and why there. CudaRecursiveGaussianImageFilter explains these parameters. A subclass makes the plan; this
 * class does the rest. The plan runs on the device. On the host TSuperclass runs; if it does not have the approximation
 * or the boundary mode, or if its code has no digits left at the sigma (above 1,000 pixels along an axis, or below
 * 0.212 for a derivative), the plan runs on ITK's threads. A filter that the object factory made for ITK's class runs
 * TSuperclass at every sigma.
 *
 * With BoundaryMode Nearest lines continue beyond their ends with their edge values, as in ITK. The other modes are
 * those of scipy.ndimage (CudaFiltersEnums::BoundaryMode), and BoundaryValue is the value of the mode Constant. They
 * are exact for every sigma, and lines may be shorter than four pixels.
 *
 * Where input or output is a CudaDeviceImage, TSuperclass holds the parameters alone (CudaFilterSuperclass). The plan
 * is queued on the device where the input lies, for the whole image, and Update() returns; there is no fallback to the
 * host. An input of the host is uploaded to the device of DeviceIndex first, and an output of the host is downloaded
 * before Update() returns.
 *
 * Streaming (default Automatic, the configuration's) says whether the image is cut into slabs along its last axis.
 * Automatic does it on the device if the image does not fit into its memory, or into DeviceMemoryLimit (default 0, the
 * configuration's). On always does it; then the host computes what the device does, in double. In a pipeline the filter
 * then asks its input for the planes that it needs, 128 at a time, and keeps those that it still needs until the next
 * request. If requests follow each other along the last axis, its source makes each plane once; with a Sigma for which
 * a line's pixels depend on the whole line, twice. Other requests give the same pixels, and the source makes some
 * planes again. How an image is divided into requests does not change a bit. Off never cuts. GetSlabReport() says what
 * the last run did (docs/user/larger_than_memory.md).
 *
 * Parameters that the input's spacing or size make impossible are refused before the input's source runs.
 *
 * \tparam TSuperclass filter of one image, with Sigma and NormalizeAcrossScale
 *
 * \exception ExceptionObject if a line has less than four pixels and BoundaryMode is Nearest; if sigma or spacing are
 * out of range; if the input holds less pixels than it says; if the output has less components than the filter gives;
 * if Streaming of the filter is On and the images cannot be cut: device images, images of a type that the GPU does not
 * support, with a mask, or with a BoundaryMode that slabs do not have;
 * if BoundaryMode is Constant and BoundaryValue is not finite; if Approximation is not Deriche or BoundaryMode not
 * Nearest, or TSuperclass has no digits at the sigma, and the images are of a type that the GPU does not support
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
  itkCudaFilterStreamingMacro();

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

  void
  SetBoundaryMode(CudaFiltersEnums::BoundaryMode mode)
  {
    if (m_BoundaryMode != mode)
    {
      m_BoundaryMode = mode;
      this->Modified();
    }
  }
  void
  SetBoundaryMode(const std::string & name)
  {
    this->SetBoundaryMode(CudaBoundaryModeFromString(name));
  }
  CudaFiltersEnums::BoundaryMode
  GetBoundaryMode() const
  {
    return m_BoundaryMode;
  }

  void
  SetBoundaryValue(double value)
  {
    if (!(m_BoundaryValue == value))
    {
      m_BoundaryValue = value;
      this->Modified();
    }
  }
  double
  GetBoundaryValue() const
  {
    return m_BoundaryValue;
  }

  /** As the superclass's. Between filters of images of the host, results may stay on the device
   * (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

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

  /** How lines continue beyond their ends. */
  CudaDetail::CudaGaussianBoundary
  GetBoundary() const
  {
    return { m_BoundaryMode, m_BoundaryValue };
  }

  /** The four pixels that ITK's recursive filters demand of a line; 0 in modes that ITK does not have. */
  SizeValueType
  GetMinimumLineLength() const
  {
    return m_BoundaryMode == CudaFiltersEnums::BoundaryMode::Nearest ? 4 : 0;
  }

  /** Whether TSuperclass can do what the parameters ask for. Otherwise the plan runs on the host. */
  virtual bool
  IsSuperclassEnough() const
  {
    return m_Approximation == CudaFiltersEnums::Approximation::Deriche &&
           m_BoundaryMode == CudaFiltersEnums::BoundaryMode::Nearest;
  }

  /** Whether TSuperclass would run for a sigma that its code cannot do (CudaFindSigmaBeyondITK()). A program that asked
   * for ITK's class has ITK's results. The plan's passes are those of images that the engines support. */
  bool
  IsSigmaBeyondSuperclass(const CudaDetail::CudaGaussianPlan & plan) const
  {
    return !m_CudaBackend.IsOverride && CudaDetail::CudaFindSigmaBeyondITK(plan) > 0.0;
  }

  /** Whether there is another input, of which slabs know nothing. */
  virtual bool
  HasFurtherInput() const
  {
    return false;
  }

  /** Adds to the plan what comes from further inputs. Their pixels are in memory. */
  virtual void
  AddInputsTo(CudaDetail::CudaGaussianPlan &) const
  {}

  /** Throws unless the input's lines along all axes have GetMinimumLineLength() pixels. */
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
  EnlargeOutputRequestedRegion(DataObject * output) override;
  void
  GenerateInputRequestedRegion() override;
  void
  ReleaseInputs() override;
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

  /** Components of the output, and the largest region's shape. */
  CudaDetail::CudaImageView
  GetWholeOutputShape(const CudaDetail::CudaGaussianPlan & plan) const;
  CudaDetail::CudaImageView
  GetWholeInputShape() const;

  /** How the image is cut. \exception ExceptionObject if it cannot be cut */
  CudaDetail::CudaGaussianSlabShape
  GetSlabShape(const CudaDetail::CudaGaussianPlan & plan) const;

  /** Why the image cannot be cut into slabs; empty if it can. */
  std::string
  GetSlabObstacle() const;

  /** The part of `region`, or of the image if it is the largest region, between planes of the slabs' axis. */
  template <typename TRegion>
  static TRegion
  GetPlanes(TRegion region, unsigned int axis, const CudaDetail::CudaSlabRequests::Planes & planes);

  /** The planes that are in the image's memory. */
  template <typename TImage>
  static CudaDetail::CudaSlabRequests::Planes
  GetHeldPlanes(const TImage * image, unsigned int axis);

  /** Whether a request for the whole image finds all pixels in memory already. */
  bool
  HasWholeInput() const;

  /** Whether the run would overwrite pixels that slabs read again. */
  bool
  OverwritesInputOfSlabs() const;

  void
  KeepOverlap();
  void
  PullPlanes(unsigned int                                 axis,
             const CudaDetail::CudaSlabRequests::Planes & planes,
             void *                                       pixels,
             CudaDetail::CudaWorkScope &                  work);
  void
  ReleaseTakenPlanes(unsigned int axis, const CudaDetail::CudaSlabRequests::Planes & planes);
  void
  WarnOfWholeInput(SizeValueType planes) const;
  void
  GenerateSlabs(CudaDetail::CudaWorkScope & work);
  bool
  GenerateWholeInSlabs(const CudaDetail::CudaGaussianPlan & plan);

  bool
  SelectDevice(const CudaDetail::CudaGaussianPlan & plan);
  bool
  GenerateDataOnDevice(const CudaDetail::CudaGaussianPlan & plan);
  void
  GenerateDataOnHost(const CudaDetail::CudaGaussianPlan & plan);
  void
  GenerateHostImage(CudaDetail::CudaWorkScope & work);
  void
  GenerateDeviceImage();
  bool
  TakesInputMemory() const;

  CudaFiltersEnums::Approximation m_Approximation{ CudaFiltersEnums::Approximation::Deriche };
  CudaFiltersEnums::BoundaryMode  m_BoundaryMode{ CudaFiltersEnums::BoundaryMode::Nearest };
  double                          m_BoundaryValue{ 0.0 };
  bool                            m_KeepInput{ IsOnDevice }; // whether the run's plan must

  CudaDetail::CudaSlabRequests m_SlabRequests;
  bool                         m_WarnedOfWholeInput{ false };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaGaussianImageFilterBase.hxx"
#endif

#endif
