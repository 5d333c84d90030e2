// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterBase_h
#define itkCudaGaussianImageFilterBase_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailPlanRun.h"
#include "itkCudaDeviceGaussianFilters.h"
#include "itkRecursiveSeparableImageFilter.h"

#include <string>
#include <type_traits>

namespace itk
{
class CudaGaussianOverrideAccess;

/** \class CudaGaussianImageFilterBase
 * \brief Common base of the recursive Gaussian filters: inherits from ITK's filter and computes its result on a GPU.
 *
 * It adds Approximation (default Deriche), BoundaryMode (default Nearest), BoundaryValue (default 0), Backend (default
 * Automatic) and DeviceIndex (default -1, which stands for the configuration's device). BackendUsed and BackendReason
 * tell where the last run was computed, and why there. CudaRecursiveGaussianImageFilter explains these parameters.
 *
 * A subclass provides the plan (MakePlan()), and this class runs it. On the device, the plan itself runs. On the host,
 * TSuperclass runs if it can. The plan runs on ITK's threads instead if TSuperclass does not have the approximation or
 * the boundary mode, or if its code loses all significant digits at this sigma (above 1,000 pixels along an axis, or
 * below 0.212 pixels for a derivative). If the object factory created the filter in place of ITK's class, TSuperclass
 * runs at every sigma, so that the program gets ITK's results.
 *
 * With BoundaryMode Nearest, lines continue beyond their ends with their edge values, as in ITK. The other modes are
 * the modes of scipy.ndimage (CudaFiltersEnums::BoundaryMode), and BoundaryValue is the value of the mode Constant.
 * They are exact for every sigma, and lines may be shorter than four pixels.
 *
 * If the input or the output is a CudaDeviceImage, TSuperclass only holds the parameters (CudaFilterSuperclass). The
 * filter queues the plan for the whole image on the input's device, and Update() returns without waiting; there is no
 * fallback to the host. A host input is first uploaded to the device of DeviceIndex, and a host output is downloaded
 * before Update() returns.
 *
 * Streaming (default Automatic, which stands for the configuration's value) says whether the filter cuts the image into
 * slabs along its last axis. Automatic does so on the device if the image does not fit into its memory, or into
 * DeviceMemoryLimit (default 0, which stands for the configuration's limit), and for images of 64 MiB or more that fit,
 * if transfers and kernels that overlap take less time. On always does so, and the host then
 * computes the same as the device, but in double. In a pipeline with Streaming On, the filter requests only the input
 * planes that it needs, 128 at a time, and keeps the planes that the next request still needs. If requests follow each
 * other along the last axis, the source generates each plane once, or twice if Sigma is so large that each pixel of a
 * line depends on the whole line. Other orders of requests give the same pixels, but the source generates some planes
 * again. The division into requests does not change a bit of the result. Off never cuts the image. GetSlabReport()
 * describes the last run (docs/user/larger_than_memory.md).
 *
 * SetDevices() names several GPUs, to which the slabs are dealt in turn, with the bits of a run on one of them. They
 * must have the same compute capability. An image that is not cut, or a device image, runs on one GPU: the first of
 * them, or its own (docs/user/several_gpus.md).
 *
 * The filter refuses parameters that do not suit the input's spacing or size before the input's source runs.
 *
 * \tparam TSuperclass filter of one image, with Sigma and NormalizeAcrossScale
 *
 * \exception ExceptionObject if a line has less than four pixels and BoundaryMode is Nearest; if sigma or spacing are
 * out of range; if the input holds fewer pixels than its regions say; if the output has fewer components than the
 * filter computes; if the filter's Streaming is On and the images cannot be cut (device images, images of a type that
 * the GPU does not support, images with a mask, or a BoundaryMode that slabs do not support); if BoundaryMode is
 * Constant and BoundaryValue is not finite; or if the GPU does not support the image type and TSuperclass cannot do the
 * work either, because Approximation is not Deriche, BoundaryMode is not Nearest, or no significant digits are left at
 * this sigma
 *
 * \exception CudaError if Backend is Cuda and the GPU cannot be used; for device images also if Backend is Host, if
 * DeviceIndex is not the input's device, or if the device has run out of memory
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

  /** The exponentials that approximate the Gaussian: Deriche (default), with the results of ITK, or Accurate. */
  itkSetGetCudaNamedParameterMacro(Approximation, CudaFiltersEnums::Approximation);
  /** How lines continue beyond their ends; default Nearest, as in ITK. */
  itkSetGetCudaNamedParameterMacro(BoundaryMode, CudaFiltersEnums::BoundaryMode);
  /** The value beyond the ends of lines in the BoundaryMode Constant; default 0. */
  itkSetGetCudaParameterMacro(BoundaryValue, double);

  /** Updates the output as the superclass does, except that the result may stay on the device between two filters of
   * host images (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaGaussianImageFilterBase() = default;
  ~CudaGaussianImageFilterBase() override = default;

  /** Returns the plan that the engines run for this filter. Throws if parameters are out of range. It is called only
   * for images of at most CudaDetail::CudaImageView::MaximumDimension dimensions, after the input's information has
   * been updated, but not always after its pixels have. */
  virtual CudaDetail::CudaGaussianPlan
  MakePlan() const = 0;

  /** Returns the filter's parameters, with Sigma along every axis and the input's spacing. */
  CudaDetail::CudaGaussianParameters
  MakeParameters() const;

  /** Returns how lines continue beyond their ends. */
  CudaDetail::CudaGaussianBoundary
  GetBoundary() const
  {
    return { m_Parameters.BoundaryMode, m_Parameters.BoundaryValue };
  }

  /** Returns the smallest number of pixels of a line: 4 in the mode Nearest, as ITK's recursive filters demand, and 0
   * in the modes that ITK does not have. */
  SizeValueType
  GetMinimumLineLength() const
  {
    return m_Parameters.BoundaryMode == CudaFiltersEnums::BoundaryMode::Nearest ? 4 : 0;
  }

  /** Returns whether TSuperclass supports the parameters. If it does not, the plan runs on the host. */
  virtual bool
  IsSuperclassEnough() const
  {
    return m_Parameters.Approximation == CudaFiltersEnums::Approximation::Deriche &&
           m_Parameters.BoundaryMode == CudaFiltersEnums::BoundaryMode::Nearest;
  }

  /** Returns whether a sigma of `plan` is out of the range in which TSuperclass's code works
   * (CudaFindSigmaBeyondITK()). It is always false for a filter that the object factory created, because a program that
   * asked for ITK's class gets ITK's results. */
  bool
  IsSigmaBeyondSuperclass(const CudaDetail::CudaGaussianPlan & plan) const
  {
    return !m_CudaBackend.IsOverride && CudaDetail::CudaFindSigmaBeyondITK(plan) > 0.0;
  }

  /** Returns whether the filter has another input. Slabs support only one. */
  virtual bool
  HasFurtherInput() const
  {
    return false;
  }

  /** Adds the further inputs to the plan. Their pixels are in memory when it is called. */
  virtual void
  AddInputsTo(CudaDetail::CudaGaussianPlan &) const
  {}

  /** Throws unless the input has at least GetMinimumLineLength() pixels along every axis. */
  virtual void
  VerifyLineLengths() const;

  /** Copies the parameters of this filter to the new filter `filter`. This class copies Sigma and
   * NormalizeAcrossScale. */
  virtual void
  CopyParametersTo(TSuperclass & filter) const;

  /** Runs TSuperclass on the host. A composite filter runs as a new object (CudaHostFilter), because ITK's composites
   * do not run again after an exception. */
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

  /** Whether TSuperclass has an internal pipeline. ITK's filter along one axis has none, so it runs again after
   * exceptions, and it streams. */
  static constexpr bool IsComposite =
    !std::is_base_of_v<RecursiveSeparableImageFilter<InputImageType, OutputImageType>, TSuperclass>;
  static constexpr bool IsOnDevice = CudaHasDeviceImage<InputImageType, OutputImageType>;
  static constexpr bool AreImagesSupported = IsOnDevice || (InputTraits::IsSupported && OutputTraits::IsSupported);

  /** Returns Sigma. The cast is needed because one of ITK's classes has a GetSigma() that is not const. */
  double
  GetConstSigma() const
  {
    return const_cast<Self *>(this)->GetSigma();
  }

  /** Returns the shape of the whole output: the size of the largest possible region, and the number of components that
   * the plan gives. */
  CudaDetail::CudaImageView
  GetWholeOutputShape(const CudaDetail::CudaGaussianPlan & plan) const;
  CudaDetail::CudaImageView
  GetWholeInputShape() const;

  /** Returns how the image is cut. \exception ExceptionObject if it cannot be cut */
  CudaDetail::CudaGaussianSlabShape
  GetSlabShape(const CudaDetail::CudaGaussianPlan & plan) const;

  /** Returns why the image cannot be cut into slabs, or an empty string if it can. */
  std::string
  GetSlabObstacle() const;

  /** Returns `region` restricted to `planes` along `axis`. The planes count from the begin of `region`, which callers
   * pass as the largest possible region. */
  template <typename TRegion>
  static TRegion
  GetPlanes(TRegion region, unsigned int axis, const CudaDetail::CudaSlabRequests::Planes & planes);

  /** Returns the planes that the image's memory holds; no planes if the buffered region is smaller than the largest
   * possible region along another axis. */
  template <typename TImage>
  static CudaDetail::CudaSlabRequests::Planes
  GetHeldPlanes(const TImage * image, unsigned int axis);

  /** Returns whether the whole output is requested and all input pixels are already in memory, without a source that
   * could make others. */
  bool
  HasWholeInput() const;

  /** Returns whether the run would overwrite input pixels that a later slab reads again. */
  bool
  OverwritesInputOfSlabs() const;

  /** Copies the planes of the last request's output that the next request repeats. It must run before ITK frees the
   * output's memory. */
  void
  KeepOverlap();
  /** Copies planes of the input to `pixels`. The planes that the input does not hold yet are first requested from its
   * source, as StreamingImageFilter does. */
  void
  PullPlanes(unsigned int                                 axis,
             const CudaDetail::CudaSlabRequests::Planes & planes,
             void *                                       pixels,
             CudaDetail::CudaWorkScope &                  work);
  /** Releases the input's memory if `planes`, which the engine has taken, end with the last plane that it holds. If the
   * source delivered the whole image instead, it stays, and the filter warns once. */
  void
  ReleaseTakenPlanes(unsigned int axis, const CudaDetail::CudaSlabRequests::Planes & planes);
  /** Warns that the input's source has made the whole image although only `planes` planes were requested. */
  void
  WarnOfWholeInput(SizeValueType planes) const;
  /** Computes the requested planes of a filter with Streaming On. If the whole output is requested and all input
   * pixels are in memory, one run cuts the image (CudaPlanRun), unless it would overwrite pixels that it
   * reads again. Otherwise a session takes the input's planes when it needs them (PullPlanes()). */
  void
  GenerateSlabs(CudaDetail::CudaWorkScope & work);

  CudaDetail::CudaPlanRun<Self>
  MakeRun();
  CudaDetail::CudaGaussianPlan
  MakeKeepingPlan();
  bool
  SelectDevice(const CudaDetail::CudaGaussianPlan & plan);
  void
  GenerateHostImage(CudaDetail::CudaWorkScope & work);
  void
  GenerateDeviceImage();
  bool
  TakesInputMemory() const;

  struct Parameters
  {
    CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
    CudaFiltersEnums::BoundaryMode  BoundaryMode{ CudaFiltersEnums::BoundaryMode::Nearest };
    double                          BoundaryValue{ 0.0 };
  };

  Parameters m_Parameters;
  bool       m_KeepInput{ IsOnDevice }; // whether MakePlan() makes a plan that keeps its input

  CudaDetail::CudaSlabRequests m_SlabRequests;
  bool                         m_WarnedOfWholeInput{ false };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaGaussianImageFilterBase.hxx"
#endif

#endif
