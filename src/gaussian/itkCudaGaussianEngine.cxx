// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianEngine.h"

#include "itkCudaComputeType.h"
#include "itkCudaDevice.h"
#include "itkCudaError.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <vector>

namespace itk
{
namespace
{
using namespace cuda::gaussian;

/** Bytes for the tile states of a partitioned pass, at most: NumberOfStates states of two components for tiles of at
 * least 128 pixels, so a sixteenth of the image. */
size_t
GetPassWorkspace(size_t imageBytes)
{
  return imageBytes / 16;
}

bool
Overlap(const CudaImageView & a, const CudaImageView & b)
{
  return a.Data == b.Data;
}

/** Images on the device for a plan. Where each input component gives several output components, the input's are
 * filtered one after the other, and the results are planes of one image, in the output's order. */
class PlanImages
{
public:
  using SizeType = cuda::DeviceImage::SizeType;

  PlanImages(const CudaGaussianPlan &  plan,
             const CudaImageView &     input,
             CudaComponentType         type,
             const cuda::StreamLease & stream)
    : m_Plan(plan)
    , m_Input(cuda::GetPlanarSize(input), type, stream)
  {
    if (this->HasSeveralResults())
    {
      m_Output = cuda::DeviceImage(GetOutputSize(plan, input), type, stream);
    }
    for (unsigned int i = 1; i < plan.NumberOfImages; ++i)
    {
      const bool inOutput = this->HasSeveralResults() && this->GetResultIndex(i) < plan.Results.size();
      m_Others.push_back(inOutput ? cuda::DeviceImage()
                                  : cuda::DeviceImage(GetIntermediateSize(plan, input), type, stream));
    }
  }

  static size_t
  GetNumberOfBytes(const CudaGaussianPlan & plan, const CudaImageView & input, CudaComponentType type)
  {
    const size_t results = plan.Results.size();
    const size_t intermediates = plan.NumberOfImages - 1 - (results > 1 ? results : 0);
    return cuda::DeviceImage::GetNumberOfBytes(cuda::GetPlanarSize(input), type) +
           (results > 1 ? cuda::DeviceImage::GetNumberOfBytes(GetOutputSize(plan, input), type) : 0) +
           intermediates * cuda::DeviceImage::GetNumberOfBytes(GetIntermediateSize(plan, input), type);
  }

  const cuda::DeviceView &
  GetInput() const
  {
    return m_Input.GetView();
  }

  const cuda::DeviceView &
  GetOutput() const
  {
    if (this->HasSeveralResults())
    {
      return m_Output.GetView();
    }
    const unsigned int result = m_Plan.Results.front();
    return result == 0 ? m_Input.GetView() : m_Others[result - 1].GetView();
  }

  void
  Run(const cuda::StreamLease & stream) const
  {
    const size_t runs = this->HasSeveralResults() ? m_Input.GetView().Size.back() : 1;
    for (size_t component = 0; component < runs; ++component)
    {
      RunPlan(m_Plan, this->GetImages(component), stream);
    }
  }

private:
  bool
  HasSeveralResults() const
  {
    return m_Plan.Results.size() > 1;
  }

  size_t
  GetResultIndex(unsigned int image) const
  {
    return std::find(m_Plan.Results.begin(), m_Plan.Results.end(), image) - m_Plan.Results.begin();
  }

  static SizeType
  GetOutputSize(const CudaGaussianPlan & plan, const CudaImageView & input)
  {
    SizeType size = cuda::GetPlanarSize(input);
    size.back() *= plan.Results.size();
    return size;
  }

  static SizeType
  GetIntermediateSize(const CudaGaussianPlan & plan, const CudaImageView & input)
  {
    SizeType size = cuda::GetPlanarSize(input);
    size.back() = plan.Results.size() > 1 ? 1 : size.back();
    return size;
  }

  static cuda::DeviceView
  GetPlane(const cuda::DeviceView & view, size_t plane)
  {
    cuda::DeviceView single = view;
    const size_t     offset = plane * view.Stride.back() * CudaComponentSize(view.ComponentType);
    single.Data = static_cast<unsigned char *>(view.Data) + offset;
    single.Size.back() = 1;
    return single;
  }

  std::vector<cuda::DeviceView>
  GetImages(size_t component) const
  {
    const bool                    several = this->HasSeveralResults();
    std::vector<cuda::DeviceView> images;
    images.push_back(several ? GetPlane(m_Input.GetView(), component) : m_Input.GetView());
    for (unsigned int i = 1; i < m_Plan.NumberOfImages; ++i)
    {
      const size_t result = this->GetResultIndex(i);
      const bool   inOutput = several && result < m_Plan.Results.size();
      images.push_back(inOutput ? GetPlane(m_Output.GetView(), component * m_Plan.Results.size() + result)
                                : m_Others[i - 1].GetView());
    }
    return images;
  }

  const CudaGaussianPlan &       m_Plan;
  cuda::DeviceImage              m_Input;
  cuda::DeviceImage              m_Output;
  std::vector<cuda::DeviceImage> m_Others;
};

// The share of the work that each step reports: at any size the link is slower than the kernels.
constexpr float UploadShare = 0.48f;
constexpr float KernelShare = 0.04f;
} // namespace

size_t
CudaGaussianWorkingSet(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  const CudaComponentType type = cuda::GetComputeType(input, output);
  const size_t            image = cuda::DeviceImage::GetNumberOfBytes(cuda::GetPlanarSize(input), type);
  const size_t transfer = std::max(cuda::GetTransferWorkspace(input, type), cuda::GetTransferWorkspace(output, type));
  return PlanImages::GetNumberOfBytes(plan, input, type) + std::max(transfer, GetPassWorkspace(image));
}

void
CudaGaussianFilter(const CudaGaussianPlan &     plan,
                   const CudaImageView &        input,
                   const CudaImageView &        output,
                   int                          deviceIndex,
                   const CudaProgressFunction & progress)
{
  CudaVerifyComponents(input.NumberOfComponents, plan.Results.size(), output.NumberOfComponents);
  const cuda::DeviceGuard guard(deviceIndex);
  cuda::StreamLease       stream(deviceIndex);
  const PlanImages        images(plan, input, cuda::GetComputeType(input, output), stream);
  const auto              report = [&progress](float done) {
    if (progress)
    {
      progress(done);
    }
  };

  cuda::Upload(input, images.GetInput(), stream, [&](float done) { report(UploadShare * done); });
  images.Run(stream);
  try
  {
    constexpr float before = UploadShare + KernelShare;
    cuda::Download(images.GetOutput(), output, stream, [&](float done) { report(before + (1.0f - before) * done); });
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() == CudaError::Kind::OutOfMemory && Overlap(input, output))
    {
      // In place the input may be lost in part, so the host cannot take over.
      throw CudaError(error.GetFile(), error.GetLine(), CudaError::Kind::CallFailed, error.GetDescription());
    }
    throw;
  }
}
} // end namespace itk
