// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaResidentParts_h
#define itkCudaResidentParts_h

#include "itkCudaDeviceGaussianSlabs.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/image/HostLines.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/transfer/Transfer.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaSlabTest.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

// Images that lie in parts on devices, for the tests on GPUs and on fake ones.
namespace itk::cuda::test
{
using namespace itk::CudaDetail;

/** An image whose parts lie on devices, or memory for one. */
struct ResidentImage
{
  std::vector<CudaDeviceImageView> Parts;

  /** Cuts the planes of an image into parts of `chunks` chunks, on devices in turn. */
  ResidentImage(const SlabImage & image, size_t chunks, const std::vector<int> & devices)
    : m_Axis(image.GetAxis())
  {
    const size_t planes = chunks * CudaSlabChunkLength;
    for (size_t first = 0; first < image.GetNumberOfPlanes(); first += planes)
    {
      auto size = image.Shape.Size;
      size[m_Axis] = std::min(planes, image.GetNumberOfPlanes() - first);
      const DeviceView layout = DeviceImage::MakeView(
        { { size[0], size[1], size[2], size[3], image.Shape.NumberOfComponents } }, image.Shape.ComponentType, nullptr);
      Parts.emplace_back();
      Parts.back().ComponentType = layout.ComponentType;
      Parts.back().Size = layout.Size;
      Parts.back().Stride = layout.Stride;
      Parts.back().Memory =
        CudaDeviceImageMemory::Allocate(GetNumberOfBytes(layout), devices[(Parts.size() - 1) % devices.size()]);
    }
  }

  void
  Upload(SlabImage & image) const
  {
    this->VisitParts(image,
                     [](const CudaImageView & host, const CudaDeviceImageView & part, const cuda::Context & queue) {
                       const cuda::DeviceWriting writing(part, queue);
                       cuda::ClearPadding(cuda::GetDeviceView(part), queue);
                       cuda::Upload(host, cuda::GetDeviceView(part), queue, nullptr);
                     });
  }

  void
  Download(SlabImage & image) const
  {
    this->VisitParts(image,
                     [](const CudaImageView & host, const CudaDeviceImageView & part, const cuda::Context & queue) {
                       const cuda::DeviceReading reading(part, queue);
                       cuda::Download(cuda::GetDeviceView(part), host, queue, nullptr);
                     });
  }

private:
  template <typename TFunction>
  void
  VisitParts(SlabImage & image, const TFunction & function) const
  {
    size_t first = 0;
    for (const CudaDeviceImageView & part : Parts)
    {
      const cuda::DeviceGuard guard(part.Memory->GetDevice());
      const cuda::Context     queue = cuda::GetThreadContext(part.Memory->GetDevice());
      function(cuda::Slice(image.GetView(), m_Axis, first, part.Size[m_Axis]), part, queue);
      first += part.Size[m_Axis];
    }
  }

  const unsigned int m_Axis;
};

/** Expects that parts on devices, also several on one, have the bits of slabs that come from the host, and stay as they
 * are. */
inline void
CompareResidentParts(const std::vector<int> & devices)
{
  std::vector<SlabCase> cases;
  const auto            add = [&cases](SlabCase test, CudaComponentType type) {
    test.InputType = test.OutputType = type;
    cases.push_back(test);
  };
  const bool isFake = GetSlabMachine().IsFake;
  for (SlabCase test : MakeSlabCases())
  {
    if (test.InputType == CudaComponentType::Double) // all filters, with different sigmas
    {
      test.Size[0] = isFake ? 3 : test.Size[0];
      add(test, GetSlabMachine().Type);
      if (!isFake)
      {
        add(test, CudaComponentType::Double);
      }
    }
  }
  for (const double sigma : { 0.7, 12.0, 33.0, 150.0 })
  {
    for (const size_t length : { 100, 129, 640, isFake ? 641 : 1025 })
    {
      add(MakeSmoothingCase(length, sigma), GetSlabMachine().Type);
    }
  }
  for (const SlabCase & test : cases)
  {
    SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
    SlabImage expected = MakeSlabOutput(test.Plan, input, test.OutputType);
    CudaGaussianFilterSlabs(test.Plan, input.GetView(), expected.GetView(), GetSlabMachine().MakeOptions(1), nullptr);
    for (const size_t chunks : { 1, 3 })
    {
      SCOPED_TRACE(test.Name + ", parts of " + std::to_string(chunks) + " chunks");
      SlabImage           output = MakeSlabOutput(test.Plan, input, test.OutputType);
      const ResidentImage from(input, chunks, devices);
      const ResidentImage to(output, chunks, devices);
      from.Upload(input);
      GetSlabMachine().Prepare(false);
      const CudaSlabReport report = CudaGaussianFilterSlabs(test.Plan, from.Parts, to.Parts);
      to.Download(output);
      ASSERT_EQ(FindDifference(output, expected), expected.Bytes.size());
      EXPECT_EQ(report.BytesUp + report.BytesDown, 0u);
      EXPECT_EQ(report.NumberOfSlabs, from.Parts.size());
      EXPECT_EQ(report.BytesBetween > 0, from.Parts.size() > 1);
      SlabImage kept = MakeSlabImage(test.Size, test.Components, test.InputType);
      from.Download(kept);
      ASSERT_EQ(FindDifference(kept, input), input.Bytes.size());
    }
  }
}

/** Expects that each call may fail, and that the next run is right. */
inline void
WalkFaultsOfResidentParts(const std::vector<int> & devices)
{
  const SlabCase          test = MakeSmoothingCase(500, 33.0);
  const CudaComponentType type = GetSlabMachine().Type;
  SlabImage               input = MakeRandomImage(test.Size, 1, type, GetSeed());
  const ResidentImage     from(input, 2, devices);
  from.Upload(input);
  const size_t inUse = CudaFiltersConfiguration::GetDeviceBytesInUse();
  WalkFaults<unsigned char>("parts on devices", [&] {
    SlabImage           output = MakeSlabOutput(test.Plan, input, type);
    const ResidentImage to(output, 2, devices);
    CudaGaussianFilterSlabs(test.Plan, from.Parts, to.Parts);
    to.Download(output);
    return output.Bytes;
  });
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), inUse);
}

/** Expects that each rule for parts has a message. */
inline void
ExpectPartsThatAreRefused()
{
  const SlabCase      test = MakeSmoothingCase(300, 4.0);
  const SlabImage     image = MakeSlabImage(test.Size, 1, GetSlabMachine().Type);
  const ResidentImage from(image, 1, { 0 });
  const ResidentImage to(image, 1, { 0 });
  const auto          refused = [&](const CudaGaussianPlan &                 plan,
                           const std::vector<CudaDeviceImageView> & inputs,
                           const std::vector<CudaDeviceImageView> & outputs,
                           const std::string &                      message) {
    try
    {
      CudaGaussianFilterSlabs(plan, inputs, outputs);
      ADD_FAILURE() << "nothing was thrown: " << message;
    }
    catch (const ExceptionObject & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find(message), std::string::npos) << error.GetDescription();
    }
  };
  const auto & parts = from.Parts;
  refused(test.Plan, {}, {}, "There are 0 inputs and 0 outputs");
  refused(test.Plan, parts, { to.Parts[0] }, "There are 3 inputs and 1 outputs");
  refused(test.Plan, { parts[0], parts[2], parts[1] }, to.Parts, "Part 1 of the input has 44 planes");
  refused(test.Plan, { parts[2], parts[1] }, { to.Parts[2], to.Parts[1] }, "Part 0 of the input has 44 planes");
  refused(test.Plan, parts, parts, "Part 0 of the output must have other memory");
  refused(test.Plan, { parts[0] }, { to.Parts[2] }, "and 128 planes");
  auto other = parts;
  other[1].Size[0] = 8;
  refused(test.Plan, other, to.Parts, "Part 1 of the input differs from the first one");
  other = parts;
  other[1].Memory = nullptr;
  refused(test.Plan, other, to.Parts, "Part 1 of the input differs from the first one");
  other = parts;
  other[1].Stride[1] += 4;
  refused(test.Plan, other, to.Parts, "the memory that CudaDeviceImage::Allocate() makes");
  CudaGaussianPlan plan = test.Plan;
  plan.Boundary.Mode = CudaFiltersEnums::BoundaryMode::Reflect;
  refused(plan, parts, to.Parts, "for slabs on devices it must be Nearest");
  const ResidentImage ofBytes(MakeSlabImage(test.Size, 1, CudaComponentType::Short), 1, { 0 });
  refused(test.Plan, ofBytes.Parts, to.Parts, "must have pixels of float or double");
}
} // namespace itk::cuda::test

#endif
