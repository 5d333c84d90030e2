// SPDX-License-Identifier: Apache-2.0

// Eigenvalues and measures on the device: the bits of the host, of hostile tensors too. Filters of tensors, measures
// over several scales, structure tensors and statistics on device images: the bits of images of the host; slabs: the
// bits of the whole image; memory; faults. All device memory is poisoned with NaN.

#include "runtime/device/Call.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailTensorEngine.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "runtime/device/Device.h"
#include "support/itkCudaFaultWalk.h"
#include "gaussian/Engine.h"
#include "gaussian/device/LinePasses.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaImageStatistics.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "multiscale/MultiScaleDevice.h"
#include "pointwise/TensorDevice.h"
#include "itkCudaStructureTensorImageFilter.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaVesselnessImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;
using QuantityEnum = CudaStructureTensorEnums::Quantity;

template <typename TOutput>
using HessianBeside =
  CudaImageBeside<TOutput, SymmetricSecondRankTensor<typename TOutput::PixelType, TOutput::ImageDimension>>;

template <typename TInput, typename TOutput>
using MultiScaleFilter = CudaMultiScaleHessianBasedMeasureImageFilter<TInput, HessianBeside<TOutput>, TOutput>;

template <typename TInput, typename TOutput>
using EigenFilter = CudaSymmetricEigenAnalysisImageFilter<TInput, TOutput>;

template <typename TFilter>
void
SetScales(TFilter & filter, double sigmaMaximum = 2.5)
{
  using Objectness =
    CudaHessianToObjectnessMeasureImageFilter<typename TFilter::HessianImageType, typename TFilter::OutputImageType>;
  filter.SetHessianToMeasureFilter(Objectness::New());
  filter.SetSigmaMinimum(1.0);
  filter.SetSigmaMaximum(sigmaMaximum);
  filter.SetNumberOfSigmaSteps(3);
}

CudaMultiScalePlan
MakeScalePlan(unsigned int dimension, std::vector<double> sigmas)
{
  CudaMultiScalePlan plan;
  plan.Measure = MakeObjectnessMeasure(dimension, 0.5, 0.5, 5.0, 1, true, true);
  plan.Sigmas = std::move(sigmas);
  plan.Spacing.assign(dimension, 1.0);
  return plan;
}

class TensorDeviceGpuTest : public DeviceFilterTest
{
protected:
  /** Random tensors, some of them zero, equal, of rank one, tiny, huge or not finite. */
  template <typename T>
  std::vector<T>
  MakeTensors(size_t count, unsigned int dimension)
  {
    const unsigned int                     components = CudaTensorComponents(dimension);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<T>                         tensors(count * components);
    for (size_t i = 0; i < count; ++i)
    {
      T * const    tensor = &tensors[i * components];
      const size_t kind = this->Random(0, 15);
      const double scale = kind == 0 ? 0.0 : kind == 1 ? 1e-30 : kind == 2 ? 1e30 : 10.0;
      const double noise = kind < 8 ? 1.0 : std::pow(10.0, -static_cast<double>(kind - 6));
      const double u[] = { uniform(m_Generator), uniform(m_Generator), uniform(m_Generator) };
      unsigned int element = 0;
      for (unsigned int row = 0; row < dimension; ++row)
      {
        for (unsigned int column = row; column < dimension; ++column)
        {
          const double line = kind < 8 ? 0.0 : kind < 12 ? -u[row] * u[column] : row == column ? -1.0 : 0.0;
          tensor[element++] = static_cast<T>(scale * (line + noise * uniform(m_Generator)));
        }
      }
      if (this->Random(0, 99) == 0)
      {
        tensor[this->Random(0, components - 1)] =
          kind % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      }
    }
    return tensors;
  }

  template <typename T, typename TPlan>
  void
  CheckThatBitsAreThoseOfTheHost(const TPlan & plan, size_t results, const std::string & what)
  {
    const Extent size{ this->Random(1, 70), this->Random(1, 40), this->Random(1, 20), 1 };
    HostImage<T> input(size, CudaTensorComponents(plan.Dimension));
    HostImage<T> onDevice(size, results);
    HostImage<T> onHost(size, results);
    input.Pixels = this->MakeTensors<T>(GetProduct(size), plan.Dimension);
    input.View.Data = input.Pixels.data();
    std::fill(onDevice.Pixels.begin(), onDevice.Pixels.end(), std::numeric_limits<T>::quiet_NaN());

    CudaFilterBackend backend;
    backend.Requested = CudaFiltersEnums::Backend::Cuda;
    backend.DeviceIndex = device;
    ASSERT_TRUE(backend.SelectDevice(nullptr, CudaWorkingSet(plan, input.View, onDevice.View)));
    ASSERT_TRUE(CudaRunOnDevice(plan, input.View, onDevice.View, backend, nullptr));
    CudaRunOnHost(plan, input.View, onHost.View, MultiThreaderBase::New(), nullptr);
    // NaN has many bits.
    for (size_t i = 0; i < onHost.Pixels.size(); ++i)
    {
      if (std::isnan(onHost.Pixels[i]) && std::isnan(onDevice.Pixels[i]))
      {
        onDevice.Pixels[i] = onHost.Pixels[i];
      }
    }
    ExpectSamePixels(onDevice.Pixels, onHost.Pixels, what);
  }

  template <typename T>
  void
  CheckAllPlans()
  {
    for (const unsigned int dimension : { 2u, 3u })
    {
      const std::string name = std::to_string(dimension) + " rows of " + (sizeof(T) == 4 ? "float" : "double");
      for (const auto order :
           { CudaEigenValueOrder::ByValue, CudaEigenValueOrder::ByMagnitude, CudaEigenValueOrder::None })
      {
        this->CheckThatBitsAreThoseOfTheHost<T>(MakeEigenPlan(dimension, order), dimension, "eigenvalues, " + name);
      }
      for (unsigned int repeat = 0; repeat < 20; ++repeat)
      {
        const bool bright = repeat % 2 == 0;
        const auto random = [this] { return 0.1 * static_cast<double>(this->Random(0, 20)); };
        const auto measure = MakeObjectnessMeasure(
          dimension, random(), random(), random(), repeat % dimension, bright, this->Random(0, 1) == 0);
        this->CheckThatBitsAreThoseOfTheHost<T>(measure, 1, "objectness, " + name);
        const double halves = 0.5 * static_cast<double>(this->Random(0, 2));
        this->CheckThatBitsAreThoseOfTheHost<T>(
          MakeSatoMeasure(dimension, 0.25, halves, 1.0 - halves, bright), 1, "Sato, " + name);
        this->CheckThatBitsAreThoseOfTheHost<T>(MakeJermanMeasure(dimension, random(), bright), 1, "Jerman, " + name);
        this->CheckThatBitsAreThoseOfTheHost<T>(MakeMeijeringMeasure(dimension, bright), 1, "Meijering, " + name);
      }
    }
  }

  template <typename TInput, typename TOutput>
  void
  CheckScales(const typename TInput::SizeType & size)
  {
    const auto image = MakeRandomImage<TInput>(size);
    ExpectSameBits<MultiScaleFilter, TInput, TOutput>(
      image.GetPointer(), [](auto & filter) { SetScales(filter); }, "several scales");
  }

  /** Scales and Hessians of device images are those of images of the host. */
  void
  CheckFurtherOutputs()
  {
    using ImageType = Image<float, 3>;
    const auto image = MakeRandomImage<ImageType>({ { 31, 22, 17 } });
    const auto run = [](auto filter, auto input) {
      SetScales(*filter);
      filter->GenerateScalesOutputOn();
      filter->GenerateHessianOutputOn();
      filter->SetInput(input);
      filter->SetBackend("cuda");
      filter->Update();
      return filter;
    };
    const auto host = run(MultiScaleFilter<ImageType, ImageType>::New(), image);
    using DeviceType = DeviceOf<ImageType>;
    const auto resident = run(MultiScaleFilter<DeviceType, DeviceType>::New(), CudaUpload(image.GetPointer(), device));
    const auto down = run(MultiScaleFilter<DeviceType, ImageType>::New(), CudaUpload(image.GetPointer(), device));
    using HessianType = HessianBeside<ImageType>;
    EXPECT_TRUE(AreSame<ImageType>(CudaDownload<ImageType>(resident->GetScalesOutput()), host->GetScalesOutput()));
    EXPECT_TRUE(
      AreSame<HessianType>(CudaDownload<HessianType>(resident->GetHessianOutput()), host->GetHessianOutput()));
    EXPECT_TRUE(AreSame<ImageType>(down->GetScalesOutput(), host->GetScalesOutput()));
    EXPECT_TRUE(AreSame<HessianType>(down->GetHessianOutput(), host->GetHessianOutput()));
  }

  /** Vesselness on both backends. The Gaussian filters differ in roundings, so a bound is stated of the largest
   * response. Where a rounding decides a sign, a few pixels are beyond it. */
  template <typename TImage>
  void
  CheckVesselness(const typename TImage::SizeType & size,
                  const std::string &               measure,
                  const std::string &               mode,
                  double                            bound,
                  double                            share)
  {
    const auto image = MakeRandomImage<TImage>(size);
    const auto run = [&](const char * backend) {
      const auto filter = CudaVesselnessImageFilter<TImage, TImage>::New();
      filter->SetInput(image);
      filter->SetSigmas({ 1.0, 2.5 });
      filter->SetHessianMeasure(measure);
      filter->SetBoundaryMode(mode);
      filter->SetApproximation(mode == "reflect" ? "accurate" : "deriche");
      filter->GenerateScaleOutputOn();
      filter->SetBackend(backend);
      filter->Update();
      return filter;
    };
    const auto         onDevice = run("cuda");
    const auto         onHost = run("host");
    const auto * const found = onDevice->GetOutput()->GetBufferPointer();
    const auto * const expected = onHost->GetOutput()->GetBufferPointer();
    const size_t       count = image->GetBufferedRegion().GetNumberOfPixels();
    const auto         largest = static_cast<double>(*std::max_element(expected, expected + count));
    ASSERT_GT(largest, 0.0);
    size_t others = 0, scales = 0;
    for (size_t i = 0; i < count; ++i)
    {
      const double error = std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
      others += error <= bound * largest ? 0 : 1;
      const bool isSameScale =
        onDevice->GetScaleOutput()->GetBufferPointer()[i] == onHost->GetScaleOutput()->GetBufferPointer()[i];
      scales += isSameScale || static_cast<double>(expected[i]) <= bound * largest ? 0 : 1;
    }
    const double allowed = std::max(2.0, share * static_cast<double>(count));
    EXPECT_LE(static_cast<double>(others), allowed) << measure << ' ' << mode;
    EXPECT_TRUE(measure != "objectness" || static_cast<double>(scales) <= allowed) << scales << " other scales";
  }

  /** Groups of planes have the bits of one Hessian of the whole image. */
  template <typename T>
  void
  CheckGroups(unsigned int dimension, const Extent & size)
  {
    const cuda::StreamLease  stream(device);
    const CudaMultiScalePlan plan = MakeScalePlan(dimension, { 1.0, 2.5 });
    const size_t             components = CudaTensorComponents(dimension);
    HostImage<T>             host(size, 1);
    for (T & pixel : host.Pixels)
    {
      pixel = static_cast<T>(this->Random(0, 200));
    }
    const auto allocate = [&](size_t planes) {
      return cuda::DeviceImage({ { size[0], size[1], size[2], 1, planes } }, GetComponentType<T>(), stream);
    };
    const cuda::DeviceImage input = allocate(1);
    const cuda::DeviceImage images[2][3] = { { allocate(1), allocate(1), allocate(components) },
                                             { allocate(1), allocate(1), allocate(components) } };
    UploadQuietly(host.View, input.GetView(), stream);

    const cuda::multiscale::Slab slab = cuda::multiscale::MakeWholeSlab(plan, input.GetView());
    const size_t bytes = cuda::multiscale::GetMultiScaleWorkspace(plan, input.GetView(), slab, nullptr, device);
    const cuda::DeviceBuffer memory(bytes, stream);
    cuda::multiscale::RunMultiScale(plan,
                                    input.GetView(),
                                    slab,
                                    nullptr,
                                    { images[0][0].GetView(), images[0][1].GetView(), images[0][2].GetView() },
                                    { memory.GetPointer(), bytes },
                                    stream,
                                    nullptr);

    const cuda::DeviceImage          hessian = allocate(components);
    const cuda::pointwise::BestScale best{ images[1][0].GetView(), images[1][1].GetView(), images[1][2].GetView() };
    for (size_t scale = 0; scale < plan.Sigmas.size(); ++scale)
    {
      const CudaGaussianPlan passes = plan.MakeHessianPlan(plan.Sigmas[scale]);
      const size_t needed = cuda::gaussian::GetGaussianWorkspace(passes, input.GetView(), hessian.GetView(), device);
      const cuda::DeviceBuffer workspace(needed, stream);
      cuda::gaussian::RunGaussian(
        passes, input.GetView(), hessian.GetView(), { workspace.GetPointer(), needed }, stream);
      cuda::pointwise::RunMeasureMaximum(plan.Measure, hessian.GetView(), plan.Sigmas[scale], scale == 0, best, stream);
    }
    for (unsigned int i = 0; i < 3; ++i)
    {
      const size_t planes = images[0][i].GetView().Size.back();
      HostImage<T> found(size, planes), expected(size, planes);
      cuda::Download(images[0][i].GetView(), found.View, stream, nullptr);
      cuda::Download(images[1][i].GetView(), expected.View, stream, nullptr);
      ExpectSamePixels(found.Pixels, expected.Pixels, "output " + std::to_string(i));
    }
  }

  /** With a limit of memory an image runs in slabs, with the bits of the whole image. */
  void
  CheckSlabs(unsigned int dimension, const Extent & size, const std::vector<double> & sigmas)
  {
    const CudaMultiScalePlan plan = MakeScalePlan(dimension, sigmas);
    HostImage<float>         input(size, 1);
    for (float & pixel : input.Pixels)
    {
      pixel = static_cast<float>(this->Random(0, 200));
    }
    HostImage<float>     responses[2] = { { size, 1 }, { size, 1 } };
    HostImage<float>     scales[2] = { { size, 1 }, { size, 1 } };
    cuda::TransferCounts counts[3];
    size_t               needed = 0;
    for (unsigned int run = 0; run < 2; ++run)
    {
      const CudaMultiScaleOutputs outputs{ responses[run].View, scales[run].View, {} };
      counts[run] = cuda::GetTransferCounts();
      needed = CudaMultiScaleWorkingSet(plan, input.View, outputs);
      if (run == 1)
      {
        Configuration::SetDeviceMemoryLimit(Configuration::GetDeviceBytesInUse() + needed + mebibyte);
      }
      CudaFilterBackend backend;
      backend.Requested = CudaFiltersEnums::Backend::Cuda;
      backend.DeviceIndex = device;
      ASSERT_TRUE(backend.SelectDevice(nullptr, needed));
      ASSERT_TRUE(CudaRunOnDevice(plan, input.View, outputs, backend, nullptr));
    }
    Configuration::SetDeviceMemoryLimit(0);
    counts[2] = cuda::GetTransferCounts();
    EXPECT_EQ(counts[1].Uploads - counts[0].Uploads, 1u) << "the whole image";
    EXPECT_GT(counts[2].Uploads - counts[1].Uploads, 2u) << "slabs";
    ExpectSamePixels(responses[1].Pixels, responses[0].Pixels, "responses");
    ExpectSamePixels(scales[1].Pixels, scales[0].Pixels, "scales");
  }

  /** The device filters lines in float, the host in double, so a bound is stated, of the largest component. */
  template <typename T, unsigned int VDimension>
  void
  CheckStructureTensor(double bound, const char * approximation)
  {
    using InputType = Image<T, VDimension>;
    using TensorType = Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>;
    using VectorType = Image<Vector<T, VDimension>, VDimension>;
    const auto image = MakeRandomImage<InputType>(this->RandomSize<VDimension>(50));
    const auto run = [&image, approximation](auto filter, QuantityEnum quantity, const char * backend) {
      filter->SetInput(image);
      filter->SetQuantity(quantity);
      filter->SetApproximation(approximation);
      filter->SetBackend(backend);
      filter->Update();
      return filter;
    };
    const auto check = [&](auto make, QuantityEnum quantity, double allowed) {
      const auto   onDevice = run(make(), quantity, "cuda");
      const auto   onHost = run(make(), quantity, "host");
      const size_t count = GetNumberOfBytes(onHost->GetOutput()) / sizeof(T);
      const T *    found = reinterpret_cast<const T *>(onDevice->GetOutput()->GetBufferPointer());
      const T *    expected = reinterpret_cast<const T *>(onHost->GetOutput()->GetBufferPointer());
      double       largest = 0.0, error = 0.0;
      for (size_t i = 0; i < count; ++i)
      {
        const double difference = std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
        ASSERT_TRUE(std::isfinite(difference)) << quantity << ", " << i;
        error = std::max(error, difference);
        largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
      }
      EXPECT_LE(error, allowed * largest) << quantity;
    };
    using Components = CudaStructureTensorImageFilter<InputType, TensorType>;
    using Vectors = CudaStructureTensorImageFilter<InputType, VectorType>;
    using Scalars = CudaStructureTensorImageFilter<InputType, InputType>;
    check([] { return Components::New(); }, QuantityEnum::Components, bound);
    check([] { return Vectors::New(); }, QuantityEnum::Eigenvalues, bound);
    check([] { return Scalars::New(); }, QuantityEnum::Coherence, 10.0 * bound);

    ExpectSameBits<CudaStructureTensorImageFilter, InputType, TensorType>(
      image.GetPointer(),
      [approximation](auto & filter) {
        filter.SetIntegrationSigma(1.5);
        filter.SetApproximation(approximation);
      },
      "structure tensor");
    ExpectSameBits<CudaStructureTensorImageFilter, InputType, VectorType>(
      image.GetPointer(), [](auto & filter) { filter.SetQuantity(QuantityEnum::Orientation); }, "orientation");
    ExpectSameBits<CudaStructureTensorImageFilter, InputType, VectorType>(
      image.GetPointer(), [](auto & filter) { filter.SetQuantity(QuantityEnum::Eigenvalues); }, "eigenvalues");
    ExpectSameBits<CudaStructureTensorImageFilter, InputType, InputType>(
      image.GetPointer(), [](auto & filter) { filter.SetQuantity(QuantityEnum::Coherence); }, "coherence");
  }

  /** Products made with the passes before them have the bits of passes and products one after the other. */
  template <typename T>
  void
  CheckProductPass(unsigned int dimension, const Extent & size, bool hasKernel)
  {
    const cuda::StreamLease        stream(device);
    std::vector<cuda::DeviceImage> memory;
    const auto                     allocate = [&] {
      memory.emplace_back(
        cuda::DeviceView::SizeType{ { size[0], size[1], size[2], 1, 1 } }, GetComponentType<T>(), stream);
      cuda::ClearPadding(memory.back().GetView(), stream);
      return memory.back().GetView();
    };
    CudaGaussianPlan              plan;
    cuda::gaussian::ProductPass   pass;
    std::vector<cuda::DeviceView> gradient, expected;
    for (unsigned int i = 0; i < dimension; ++i)
    {
      const auto kernel = MakeDericheImpulseResponse(i == 0 ? 1 : 0, 1.7, 0.6, false);
      plan.Passes.push_back({ 0, i, { { kernel, dimension + i, CudaGaussianCombine::Store } } });
      pass.Images.push_back(allocate());
      HostImage<T> host(size, 1);
      for (T & pixel : host.Pixels)
      {
        pixel = static_cast<T>(this->Random(0, 20000)) / 128;
      }
      UploadQuietly(host.View, pass.Images.back(), stream);
    }
    pass.Passes = plan.Passes;
    std::vector<cuda::DeviceView> images = pass.Images;
    for (unsigned int i = 0; i < dimension; ++i)
    {
      gradient.push_back(allocate());
      images.push_back(gradient.back());
    }
    pass.Images = images;
    // The first products take the place of the sources.
    for (size_t i = 0; i < CudaTensorComponents(dimension); ++i)
    {
      expected.push_back(allocate());
      pass.Products.push_back(i < dimension ? images[i] : allocate());
    }
    plan.NumberOfImages = 2 * dimension;
    cuda::gaussian::RunPlan(plan, images, { nullptr, 0 }, stream);
    cuda::pointwise::RunGradientProducts(gradient, expected, stream);
    // Three tiles of 4 KB for each of eight warps, and their tables.
    const bool hasRoom = cuda::GetDeviceProperties(device).SharedMemoryPerBlockOptin >= 100000;
    ASSERT_EQ(cuda::gaussian::HasProductKernel(pass, device), hasKernel && hasRoom);
    if (!hasKernel || !hasRoom)
    {
      return;
    }
    cuda::gaussian::RunProductPass(pass, stream);
    for (size_t i = 0; i < expected.size(); ++i)
    {
      HostImage<T> found(size, 1), separate(size, 1);
      cuda::Download(pass.Products[i], found.View, stream, nullptr);
      cuda::Download(expected[i], separate.View, stream, nullptr);
      ExpectSamePixels(found.Pixels, separate.Pixels, "product " + std::to_string(i));
    }
  }

  template <typename TImage>
  void
  CheckStatistics(const typename TImage::SizeType & size)
  {
    const auto image = MakeRandomImage<TImage>(size);
    const auto uploaded = CudaUpload(static_cast<const TImage *>(image.GetPointer()), device);
    for (const size_t number : { size_t{ 0 }, size_t{ 1 }, size_t{ 37 }, CudaHistogramBins::MaximumNumber })
    {
      const CudaHistogramBins   bins{ number, 20.0, 150.0 };
      const CudaImageStatistics found = CudaComputeStatistics(uploaded.GetPointer(), bins);
      const CudaImageStatistics expected = CudaComputeStatistics(image.GetPointer(), bins);
      EXPECT_EQ(found.NumberOfPixels, expected.NumberOfPixels);
      EXPECT_EQ(found.Minimum, expected.Minimum);
      EXPECT_EQ(found.Maximum, expected.Maximum);
      EXPECT_EQ(found.Sum, expected.Sum);
      EXPECT_EQ(found.Mean, expected.Mean);
      EXPECT_EQ(found.Variance, expected.Variance);
      EXPECT_EQ(found.Histogram, expected.Histogram);
    }
  }
};
} // namespace

TEST_F(TensorDeviceGpuTest, AllPlansHaveTheBitsOfTheHost)
{
  this->CheckAllPlans<float>();
  this->CheckAllPlans<double>();
}

TEST_F(TensorDeviceGpuTest, EigenvaluesAreThoseOfTheHost)
{
  using InputType = Image<SymmetricSecondRankTensor<float, 3>, 3>;
  using OutputType = Image<Vector<float, 3>, 3>;
  const auto image = MakeRandomImage<InputType>({ { 33, 20, 9 } });
  for (const auto order : { EigenValueOrderEnum::OrderByValue, EigenValueOrderEnum::OrderByMagnitude })
  {
    ExpectSameBits<EigenFilter, InputType, OutputType>(
      image.GetPointer(), [order](auto & filter) { filter.OrderEigenValuesBy(order); }, "eigenvalues");
  }
}

TEST_F(TensorDeviceGpuTest, ObjectnessIsThatOfTheHost)
{
  using InputType = Image<SymmetricSecondRankTensor<double, 2>, 2>;
  const auto image = MakeRandomImage<InputType>({ { 133, 70 } });
  ExpectSameBits<CudaHessianToObjectnessMeasureImageFilter, InputType, Image<float, 2>>(
    image.GetPointer(), [](auto & filter) { filter.BrightObjectOff(); }, "objectness");
}

TEST_F(TensorDeviceGpuTest, ScalesAreThoseOfTheHost)
{
  this->CheckScales<Image<short, 3>, Image<float, 3>>({ { 16, 40, 9 } });
  this->CheckScales<Image<float, 2>, Image<double, 2>>({ { 75, 61 } });
  this->CheckFurtherOutputs();
}

TEST_F(TensorDeviceGpuTest, ImagesOfThreePixelsAlongAnAxisEndInAnException)
{
  using DeviceType = CudaDeviceImage<float, 3>;
  const auto image = MakeRandomImage<Image<float, 3>>({ { 8, 8, 3 } });
  const auto filter = MultiScaleFilter<DeviceType, DeviceType>::New();
  filter->SetInput(CudaUpload(static_cast<const Image<float, 3> *>(image.GetPointer()), device));
  EXPECT_THROW(filter->Update(), ExceptionObject) << "no measure";
  SetScales(*filter);
  EXPECT_THROW(filter->Update(), ExceptionObject);
}

TEST_F(TensorDeviceGpuTest, VesselnessIsThatOfTheHost)
{
  // The planes of the first image are more than a group that the device works on at a time.
  this->CheckVesselness<Image<float, 3>>({ { 131, 128, 300 } }, "objectness", "nearest", 1e-5, 1e-4);
  this->CheckVesselness<Image<double, 2>>({ { 45, 29 } }, "objectness", "nearest", 1e-9, 1e-4);
  for (const std::string measure : { "objectness", "frangi", "sato", "jerman", "meijering" })
  {
    this->CheckVesselness<Image<float, 3>>({ { 20, 23, 26 } }, measure, "nearest", 2e-4, 1e-3);
    this->CheckVesselness<Image<float, 3>>({ { 20, 23, 26 } }, measure, "reflect", 2e-4, 1e-3);
  }
}

TEST_F(TensorDeviceGpuTest, GroupsOfPlanesHaveTheBitsOfTheWholeImage)
{
  this->CheckGroups<float>(3, { 131, 128, 300, 1 });
  this->CheckGroups<double>(3, { 128, 130, 270, 1 });
  this->CheckGroups<float>(2, { 2049, 5000, 1, 1 });
}

TEST_F(TensorDeviceGpuTest, SlabsHaveTheBitsOfTheWholeImage)
{
  this->CheckSlabs(3, { 203, 62, 900, 1 }, { 1.0, 4.0 });
  this->CheckSlabs(3, { 64, 60, 1300, 1 }, { 2.0, 25.0 });
  this->CheckSlabs(2, { 501, 1100, 1, 1 }, { 3.0 });
}

TEST_F(TensorDeviceGpuTest, ScalesTakeNineImagesOfMemory)
{
  using DeviceType = CudaDeviceImage<float, 3>;
  constexpr double pixels = 256.0 * 256.0 * 256.0;
  const auto       image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { 256, 256, 256 } });
  image->SetDeviceIndex(device);
  image->Allocate(true);
  const auto filter = MultiScaleFilter<DeviceType, DeviceType>::New();
  SetScales(*filter);
  filter->SetInput(image);
  this->GetMemory().ResetPeak();
  filter->Update();
  const double images = static_cast<double>(this->GetMemory().GetPeak()) / (pixels * sizeof(float));
  std::cout << images << " images of memory, input and response included" << std::endl;
  EXPECT_LE(images, 9.0);
  EXPECT_GE(images, 2.0);
}

/** What follows from the largest value of each scale takes one upload more, and no download of an image. */
TEST_F(TensorDeviceGpuTest, LargestValuesOfScalesStayOnTheDevice)
{
  const auto image = MakeRandomImage<Image<float, 3>>({ { 35, 40, 29 } });
  for (const char * const measure : { "Frangi", "Jerman" })
  {
    const auto filter = CudaVesselnessImageFilter<Image<float, 3>, Image<float, 3>>::New();
    filter->SetHessianMeasure(measure);
    filter->SetSigmas({ 1.0, 1.7, 3.0 });
    filter->SetInput(image);
    filter->SetBackend("cuda");
    const cuda::TransferCounts before = cuda::GetTransferCounts();
    filter->Update();
    EXPECT_EQ(cuda::GetTransferCounts().Uploads - before.Uploads, 1u) << measure;
    EXPECT_EQ(cuda::GetTransferCounts().Downloads - before.Downloads, 1u) << measure;
  }
}

/** Only finite Hessians count, and the padding of rows does not. */
TEST_F(TensorDeviceGpuTest, TheLargestNormIsFound)
{
  const auto check = [this](auto zero, const Extent & size, double scale) {
    using T = decltype(zero);
    const cuda::StreamLease stream(device);
    HostImage<T>            host(size, 3); // the upper triangle of matrices of two rows
    double                  expected = 0.0;
    for (size_t i = 0; i < host.Pixels.size(); i += 3)
    {
      T * const hessian = &host.Pixels[i];
      for (size_t c = 0; c < 3; ++c)
      {
        hessian[c] = static_cast<T>(scale * (static_cast<double>(this->Random(0, 1000000)) / 1024 - 500));
      }
      const size_t kind = this->Random(0, 99);
      hessian[kind % 3] = kind < 3   ? std::numeric_limits<T>::quiet_NaN()
                          : kind < 6 ? std::numeric_limits<T>::infinity()
                                     : hessian[kind % 3];
      const double norm = std::hypot(std::hypot(double(hessian[0]), std::sqrt(2.0) * hessian[1]), double(hessian[2]));
      expected = kind >= 6 ? std::max(expected, norm) : expected;
    }
    const cuda::DeviceImage  image({ { size[0], size[1], size[2], 1, 3 } }, GetComponentType<T>(), stream);
    const cuda::DeviceBuffer largest(sizeof(double), stream);
    UploadQuietly(host.View, image.GetView(), stream);
    cuda::pointwise::RunLargest(
      MakeFrobeniusNorm(2), image.GetView(), static_cast<double *>(largest.GetPointer()), stream);
    double found = -1.0;
    ITK_CUDA_CALL(
      cudaMemcpyAsync(&found, largest.GetPointer(), sizeof(found), cudaMemcpyDeviceToHost, stream.GetStream()));
    stream.Synchronize();
    EXPECT_NEAR(found, expected, 4 * std::numeric_limits<T>::epsilon() * expected)
      << size[0] << " x " << size[1] << " x " << size[2] << ", " << scale;
  };
  for (const Extent & size : { Extent{ 1, 1, 1, 1 }, Extent{ 31, 2, 1, 1 }, Extent{ 1001, 70, 40, 1 } })
  {
    for (const double scale : { 1.0, 1e-30, 1e30 }) // squares of float underflow and overflow
    {
      check(0.0f, size, scale);
      check(0.0, size, scale);
    }
  }
}

// Float and double, and two and three dimensions.
TEST_F(TensorDeviceGpuTest, StructureTensorsAreThoseOfTheHost)
{
  for (const char * const approximation : { "Deriche", "Accurate" })
  {
    this->CheckStructureTensor<float, 3>(1e-5, approximation);
    this->CheckStructureTensor<double, 2>(1e-10, approximation);
  }
}

TEST_F(TensorDeviceGpuTest, ProductsOfPassesHaveTheBitsOfProductsBehindThem)
{
  for (const unsigned int dimension : { 2u, 3u })
  {
    this->CheckProductPass<float>(dimension, { 128, 33, 7, 1 }, true);
    this->CheckProductPass<float>(dimension, { 131, 20, 5, 1 }, true);
    this->CheckProductPass<float>(dimension, { 2777, 9, 3, 1 }, true);
    this->CheckProductPass<float>(dimension, { 5, 40, 6, 1 }, true);
    this->CheckProductPass<double>(dimension, { 203, 17, 4, 1 }, true);
    this->CheckProductPass<float>(dimension, { 20000, 2, 2, 1 }, false);
  }
}

TEST_F(TensorDeviceGpuTest, StatisticsHaveTheBitsOfTheHost)
{
  this->CheckStatistics<Image<float, 3>>({ { 131, 67, 45 } });
  this->CheckStatistics<Image<float, 3>>({ { 128, 64, 40 } });
  this->CheckStatistics<Image<float, 2>>({ { 4099, 1025 } }); // more chunks than lanes
  this->CheckStatistics<Image<double, 2>>({ { 301, 203 } });
  this->CheckStatistics<Image<short, 4>>({ { 13, 11, 9, 17 } });
  this->CheckStatistics<Image<float, 3>>({ { 13, 1, 9 } }); // padding between slices of one row
  this->CheckStatistics<Image<unsigned char, 1>>({ { 1 } });
}

namespace
{
/** Walks through the faults of a filter on the GPU. `set` sets its parameters. */
template <typename TFilter, typename TSet>
void
WalkFaultsOf(const std::string & name, const typename TFilter::InputImageType::SizeType & size, const TSet & set)
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    GTEST_SKIP() << reason;
  }
  const auto image = MakeRandomImage<typename TFilter::InputImageType>(size);
  const auto filter = TFilter::New();
  set(*filter);
  filter->SetInput(image);
  filter->SetBackend("cuda");
  WalkFaults<float>(name, [&filter] {
    filter->Modified();
    filter->Update();
    const auto * const output = filter->GetOutput();
    const auto * const values = reinterpret_cast<const float *>(output->GetBufferPointer());
    return std::vector<float>(values, values + GetNumberOfBytes(output) / sizeof(float));
  });
}
} // namespace

TEST(TensorFaultGpu, SeveralScales)
{
  using Filter = MultiScaleFilter<Image<float, 3>, Image<float, 3>>;
  WalkFaultsOf<Filter>("several scales", { { 40, 33, 20 } }, [](auto & filter) { SetScales(filter); });
}

TEST(TensorFaultGpu, Vesselness)
{
  using Filter = CudaVesselnessImageFilter<Image<float, 2>, Image<float, 2>>;
  WalkFaultsOf<Filter>("vesselness", { { 90, 61 } }, [](auto & filter) {
    filter.SetHessianMeasure("Frangi"); // looks for the largest norm first
    filter.SetSigmas({ 1.0, 2.0 });
  });
}

TEST(TensorFaultGpu, StructureTensor)
{
  WalkFaultsOf<CudaStructureTensorImageFilter<Image<float, 2>>>("structure tensor", { { 80, 70 } }, [](auto &) {});
}
