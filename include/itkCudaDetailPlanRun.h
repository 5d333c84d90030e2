// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPlanRun_h
#define itkCudaDetailPlanRun_h

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "itkCudaDetailSlabRequests.h"
#include "itkCudaDeviceImageFilter.h"

#include <functional>
#include <type_traits>
#include <utility>

// Runs the plan of a filter for its requested output: on device images (CudaRunPlanOnDeviceImages()), on host images
// (CudaPlanRun), or on both (CudaRunPlan()).

namespace itk::CudaDetail
{
/** Selects the device of such a filter: the device of the input, or the one to which the input is uploaded. Checks that
 * the input holds the pixels that the output's requested region needs, and sets the device of an output that is a
 * device image.
 * \return the device
 * \exception CudaError of kind NotUsable with a reason in words if the filter's settings name another place or the
 * device cannot be used
 * \exception ExceptionObject if the input lacks pixels */
template <typename TInputImage, typename TOutputImage>
int
CudaPrepareDeviceRun(CudaFilterBackend & backend, const TInputImage * input, TOutputImage * output)
{
  const auto region = output->GetRequestedRegion();
  int        device = -1;
  if constexpr (CudaIsDeviceImage<TInputImage>::value)
  {
    input->GetDeviceView(region, "The input");
    device = input->GetDeviceIndex();
    CudaSelectDeviceOfImage(backend, device);
  }
  else
  {
    CudaVerifyBufferedRegion(input, region, "The input");
    device = CudaSelectDeviceOfOutput(backend);
  }
  if constexpr (CudaIsDeviceImage<TOutputImage>::value)
  {
    output->SetDeviceIndex(device);
  }
  else
  {
    CudaUsePooledOutput(output);
  }
  return device;
}

/** Allocates memory on `device` for the pixels of a host image. */
inline CudaDeviceImageView
CudaAllocateBeside(const CudaImageView & pixels, int device)
{
  const auto & size = pixels.Size;
  return CudaAllocateDeviceImage(
    { { size[0], size[1], size[2], size[3], pixels.NumberOfComponents } }, pixels.ComponentType, device, false);
}

/** Returns the pixels of a device image, or a copy on `device` of the pixels of a host image. If CudaQueueUpload() was
 * called, `finishUpload` is set to the function that it returned. */
template <typename TImage>
CudaDeviceImageView
CudaGetOnDevice(const TImage *                           image,
                const typename TImage::RegionType &      region,
                int                                      device,
                const CudaProgressFunction &             progress,
                [[maybe_unused]] std::function<void()> & finishUpload)
{
  if constexpr (CudaIsDeviceImage<TImage>::value)
  {
    return image->GetDeviceView(region, "The input");
  }
  else
  {
    const CudaImageView       pixels = MakeCudaImageView(image, region, "The input");
    const CudaDeviceImageView copy = CudaAllocateBeside(pixels, device);
    finishUpload = CudaQueueUpload(pixels, copy, progress);
    return copy;
  }
}

/** Runs the plan for the output's requested region. The output, which must be allocated, becomes bit-identical to the
 * result of CudaRunOnDevice() for the same images on the host. For a device image the work is only queued; a host image
 * is complete on return. `progress` is called while pixels cross the link.
 * \exception CudaError, or what `progress` throws */
template <typename TPlan, typename TInputImage, typename TOutputImage>
void
CudaRunOnDeviceImages(const TPlan &                plan,
                      const TInputImage *          input,
                      TOutputImage *               output,
                      int                          device,
                      const CudaProgressFunction & progress)
{
  const auto                region = output->GetRequestedRegion();
  std::function<void()>     finishUpload = [] {};
  const CudaDeviceImageView source = CudaGetOnDevice(input, region, device, progress, finishUpload);
  if constexpr (CudaIsDeviceImage<TOutputImage>::value)
  {
    CudaQueueOnDevice(plan, source, output->GetDeviceView(region));
    finishUpload();
  }
  else
  {
    const CudaImageView       pixels = MakeCudaImageView(static_cast<const TOutputImage *>(output), region);
    const CudaDeviceImageView result = CudaAllocateBeside(pixels, device);
    CudaQueueOnDevice(plan, source, result);
    finishUpload();
    CudaDownloadFromDevice(result, pixels, {}, progress);
  }
}
/** Runs the plan of a filter for its requested output if its input, its output or both are device images. Calls
 * `allocate` to allocate the output. */
template <typename TFilter, typename TPlan, typename TAllocate>
void
CudaRunPlanOnDeviceImages(TFilter & filter, CudaFilterBackend & backend, const TPlan & plan, const TAllocate & allocate)
{
  const CudaProgressFunction progress = MakeCudaProgressFunction(&filter);
  const int                  device = CudaPrepareDeviceRun(backend, filter.GetInput(), filter.GetOutput());
  progress(0.0f);
  allocate();
  CudaRunOnDeviceImages(plan, filter.GetInput(), filter.GetOutput(), device, progress);
}

template <typename TPlan, typename = void>
constexpr bool CudaHasKeepInput = false;
template <typename TPlan>
constexpr bool CudaHasKeepInput<TPlan, std::void_t<decltype(TPlan::KeepInput)>> = true;

/** Returns the plan that does not overwrite its input. Plans without KeepInput never do. */
template <typename TPlan>
TPlan
CudaKeepInput(TPlan plan)
{
  if constexpr (CudaHasKeepInput<TPlan>)
  {
    plan.KeepInput = true;
  }
  return plan;
}

/** \class CudaPlanRun
 * \brief A run of the plan of a filter of host images, for the filter's requested output.
 *
 * On the device it runs in slabs if the backend says so. Otherwise pixels that the pipeline keeps on the device do not
 * cross the link (itkCudaDetailKeepOnDevice.h). \ingroup CudaFilters */
template <typename TFilter>
class CudaPlanRun
{
public:
  using InputImageType = typename TFilter::InputImageType;
  using OutputImageType = typename TFilter::OutputImageType;
  using RegionType = typename InputImageType::RegionType;

  /** Prepares a run. `inputRegion` contains the pixels that the run reads, and `allocate` allocates the filter's
   * output.
   */
  CudaPlanRun(TFilter &             filter,
              CudaFilterBackend &   backend,
              std::function<void()> allocate,
              const RegionType &    inputRegion)
    : m_Filter(filter)
    , m_Backend(backend)
    , m_Allocate(std::move(allocate))
    , m_InputRegion(inputRegion)
  {}

  CudaPlanRun(TFilter & filter, CudaFilterBackend & backend, std::function<void()> allocate)
    : CudaPlanRun(filter, backend, std::move(allocate), filter.GetOutput()->GetRequestedRegion())
  {}

  /** Decides where the plan runs, as CudaFilterBackend::SelectDevice() does. */
  template <typename TPlan>
  bool
  SelectDevice(const TPlan & plan, const char * unsupported = nullptr, bool canCut = false)
  {
    return m_Backend.SelectDevice(
      unsupported, CudaWorkingSet(plan, this->GetInputShape(), this->GetOutputShape()), canCut);
  }

  /** Runs the plan on the device that SelectDevice() chose.
   * \param makeKeepingPlan returns the plan that does not overwrite its input
   * \return false if the device ran out of memory and the host has to do the work */
  template <typename TPlan, typename TMakeKeepingPlan>
  bool
  RunOnDevice(const TPlan & plan, const TMakeKeepingPlan & makeKeepingPlan)
  {
    if (m_Backend.RunsInSlabs())
    {
      CudaDownloadKeptInput(m_Filter);
      return this->RunInSlabs(plan);
    }
    const int                 device = m_Backend.GetSelectedDeviceIndex();
    CudaUpdateScope * const   consumer = CudaFindConsumer(m_Filter, device);
    const CudaDeviceImageView kept = CudaGetKeptInput(m_Filter, m_InputRegion, device);
    m_Backend.TookInputOnDevice = kept.Memory != nullptr;
    m_Backend.KeptOutputOnDevice = consumer != nullptr;
    if (!consumer)
    {
      this->Allocate();
    }
    m_Backend.ReportWholeRun(0, 0); // pixels that stay on the device do not cross the link
    if (consumer || kept.Memory)
    {
      return this->RunKeepingPixels(makeKeepingPlan(), kept, consumer);
    }
    if (this->GetRegion().GetNumberOfPixels() == 0)
    {
      return true;
    }
    const CudaImageView input = this->GetInput();
    const CudaImageView output = this->GetOutput();
    m_Backend.ReportWholeRun(input.GetNumberOfBytes(), output.GetNumberOfBytes());
    return CudaRunOnDevice(plan, input, output, m_Backend, MakeCudaProgressFunction(&m_Filter));
  }

  /** Runs the plan in slabs, on the device or on the host as the backend says. Returns false if the device ran out of
   * memory and the host has to do the work. */
  template <typename TPlan>
  bool
  RunInSlabs([[maybe_unused]] const TPlan & plan)
  {
    this->Allocate();
    if constexpr (std::is_same_v<TPlan, CudaGaussianPlan> || std::is_same_v<TPlan, CudaGaussianFirPlan>)
    {
      if (this->GetRegion().GetNumberOfPixels() > 0)
      {
        const CudaProgressFunction progress = MakeCudaProgressFunction(&m_Filter);
        return CudaRunInSlabs(plan, this->GetInput(), this->GetOutput(), m_Backend, this->GetThreader(), progress);
      }
    }
    return true;
  }

  /** Prepares the filter's images for a run on the host. */
  void
  PrepareHost()
  {
    m_Backend.ReportWholeRun(0, 0);
    CudaDownloadKeptInput(m_Filter);
  }

  template <typename TPlan>
  void
  RunOnHost(const TPlan & plan)
  {
    this->Allocate();
    if (this->GetRegion().GetNumberOfPixels() > 0)
    {
      const CudaProgressFunction progress = MakeCudaProgressFunction(&m_Filter);
      CudaRunOnHost(plan, this->GetInput(), this->GetOutput(), this->GetThreader(), progress);
    }
  }

private:
  const RegionType &
  GetRegion() const
  {
    return m_Filter.GetOutput()->GetRequestedRegion();
  }

  CudaImageView
  GetInputShape() const
  {
    const size_t components = m_Filter.GetInput()->GetNumberOfComponentsPerPixel();
    return MakeCudaImageShape<InputImageType>(m_InputRegion, components);
  }

  CudaImageView
  GetOutputShape() const
  {
    const size_t components = m_Filter.GetOutput()->GetNumberOfComponentsPerPixel();
    return MakeCudaImageShape<OutputImageType>(this->GetRegion(), components);
  }

  CudaImageView
  GetInput() const
  {
    return MakeCudaImageView(m_Filter.GetInput(), m_InputRegion);
  }

  CudaImageView
  GetOutput() const
  {
    return MakeCudaImageView(static_cast<const OutputImageType *>(m_Filter.GetOutput()), this->GetRegion());
  }

  MultiThreaderBase *
  GetThreader() const
  {
    m_Filter.GetMultiThreader()->SetNumberOfWorkUnits(m_Filter.GetNumberOfWorkUnits());
    return m_Filter.GetMultiThreader();
  }

  void
  Allocate() const
  {
    CudaUsePooledOutput(m_Filter.GetOutput());
    m_Allocate();
  }

  /** Runs a plan whose input is kept on the device, or whose output will be. The plan must keep its input, because the
   * host needs it if the device's memory runs out. */
  template <typename TPlan>
  bool
  RunKeepingPixels(const TPlan & plan, const CudaDeviceImageView & kept, CudaUpdateScope * consumer)
  {
    const CudaProgressFunction progress = MakeCudaProgressFunction(&m_Filter);
    const bool                 onDevice =
      m_Backend.TryOnDevice([&] { this->QueueKeepingPixels(plan, kept, consumer, progress); }, progress);
    m_Backend.TookInputOnDevice = m_Backend.TookInputOnDevice && onDevice;
    m_Backend.KeptOutputOnDevice = m_Backend.KeptOutputOnDevice && onDevice;
    return onDevice;
  }

  template <typename TPlan>
  void
  QueueKeepingPixels(const TPlan &                plan,
                     const CudaDeviceImageView &  kept,
                     CudaUpdateScope *            consumer,
                     const CudaProgressFunction & progress)
  {
    const int             device = m_Backend.GetSelectedDeviceIndex();
    std::function<void()> finishUpload = [] {};
    progress(0.0f);
    const CudaDeviceImageView source =
      kept.Memory ? kept : CudaGetOnDevice(m_Filter.GetInput(), m_InputRegion, device, progress, finishUpload);
    // Some plans compute the whole input region, although the output holds only a part of it.
    const CudaDeviceImageView whole = CudaAllocateBeside(
      MakeCudaImageShape<OutputImageType>(m_InputRegion, m_Filter.GetOutput()->GetNumberOfComponentsPerPixel()),
      device);
    CudaQueueOnDevice(plan, source, whole);
    finishUpload();
    const CudaDeviceImageView result = CudaCrop(whole, m_InputRegion, this->GetRegion());
    if (consumer)
    {
      progress(1.0f);
      consumer->Keep(result, this->GetRegion());
    }
    else
    {
      CudaDownloadFromDevice(result, this->GetOutput(), {}, progress);
    }
  }

  TFilter &                   m_Filter;
  CudaFilterBackend &         m_Backend;
  const std::function<void()> m_Allocate;
  const RegionType            m_InputRegion;
};

/** Runs the plan of a filter for its requested output, wherever its images are. Host images are filtered on the device
 * or on the host, as `backend` decides. Calls `allocate` to allocate the output. */
template <typename TFilter, typename TPlan, typename TAllocate>
void
CudaRunPlan(TFilter & filter, CudaFilterBackend & backend, const TPlan & plan, const TAllocate & allocate)
{
  const auto makeKeepingPlan = [&plan] { return CudaKeepInput(plan); };
  if constexpr (CudaHasDeviceImage<typename TFilter::InputImageType, typename TFilter::OutputImageType>)
  {
    CudaRunPlanOnDeviceImages(filter, backend, makeKeepingPlan(), allocate);
  }
  else
  {
    CudaVerifyInputPixels(filter, filter.GetOutput()->GetRequestedRegion());
    CudaPlanRun<TFilter> run(filter, backend, allocate);
    if (!run.SelectDevice(plan) || !run.RunOnDevice(plan, makeKeepingPlan))
    {
      run.PrepareHost();
      run.RunOnHost(plan);
    }
  }
}
} // end namespace itk::CudaDetail

#endif
