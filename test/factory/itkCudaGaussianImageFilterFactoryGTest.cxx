// SPDX-License-Identifier: Apache-2.0

// The object factory: what it overrides and what not, that it can be registered again and again, that results on the
// host stay ITK's bit for bit, and when a single pass that it made leaves the host.

#include "itkCudaGaussianImageFilterFactory.h"

#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "gaussian/plan/Tuning.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkGradientRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkLaplacianRecursiveGaussianImageFilter.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkVectorImage.h"

#include <set>
#include <string>
#include <vector>

namespace itk::cuda::test
{
namespace
{
using Factory = CudaGaussianImageFilterFactory;

class CudaGaussianFactoryTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    Factory::RegisterFactories();
  }
  void
  TearDown() override
  {
    Factory::UnRegisterFactories();
    CudaFiltersConfiguration::SetBackend(BackendEnum::Automatic);
  }
};

class CudaGaussianFactoryGpuTest : public CudaGaussianFactoryTest
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << "no GPU: " << reason;
    }
    CudaGaussianFactoryTest::SetUp();
  }
};

size_t
CountRegistered()
{
  const auto factories = ObjectFactoryBase::GetRegisteredFactories();
  return std::count_if(factories.begin(), factories.end(), [](const ObjectFactoryBase * factory) {
    return dynamic_cast<const Factory *>(factory) != nullptr;
  });
}

template <typename TFilter>
std::string
GetClass()
{
  return TFilter::New()->GetNameOfClass();
}

/** Returns how many of these classes of ITK the factory overrides. It does not instantiate them. */
template <typename... TFilters>
size_t
CountOverrides()
{
  const auto                  names = Factory::New()->GetClassOverrideNames();
  const std::set<std::string> overrides(names.begin(), names.end());
  return (overrides.count(typeid(TFilters).name()) + ...);
}

/** Expects that the whole family is overridden for this input and outputs by default. */
template <typename TImage>
void
ExpectOverrides()
{
  EXPECT_EQ((CountOverrides<RecursiveGaussianImageFilter<TImage>,
                            SmoothingRecursiveGaussianImageFilter<TImage>,
                            GradientMagnitudeRecursiveGaussianImageFilter<TImage>,
                            LaplacianRecursiveGaussianImageFilter<TImage>,
                            HessianRecursiveGaussianImageFilter<TImage>,
                            DiscreteGaussianImageFilter<TImage>>()),
            6u)
    << typeid(TImage).name();
  if constexpr (TImage::ImageDimension < 4)
  {
    EXPECT_EQ(CountOverrides<GradientRecursiveGaussianImageFilter<TImage>>(), 1u) << typeid(TImage).name();
  }
}

template <typename TImage>
typename TImage::Pointer
MakeInput()
{
  typename TImage::SizeType size;
  size.Fill(TImage::ImageDimension == 2 ? 31 : 13);
  return MakeDataImage<TImage>(MakeRegion<TImage::ImageDimension>(size), DataKind::Uniform, 100.0);
}

/** Runs ITK's filter, or what the factory gives for it. */
template <typename TFilter, typename TSetParameters>
typename TFilter::OutputImageType::Pointer
Run(const TSetParameters & setParameters, std::string & nameOfClass)
{
  const auto filter = TFilter::New();
  nameOfClass = filter->GetNameOfClass();
  filter->SetInput(MakeInput<typename TFilter::InputImageType>());
  setParameters(*filter);
  filter->Update();
  return filter->GetOutput();
}

template <typename TFilter, typename TSetParameters>
void
Expect_the_bits_of_ITK_on_the_host(const TSetParameters & setParameters)
{
  using OutputImageType = typename TFilter::OutputImageType;
  std::string itkName;
  std::string name;
  CudaFiltersConfiguration::SetBackend(BackendEnum::Host);
  Factory::RegisterFactories();
  const typename OutputImageType::ConstPointer overridden = Run<TFilter>(setParameters, name);
  Factory::UnRegisterFactories();
  const typename OutputImageType::ConstPointer expected = Run<TFilter>(setParameters, itkName);
  EXPECT_EQ(name, "Cuda" + itkName);
  EXPECT_TRUE(HasSameBits<OutputImageType>(overridden, expected)) << name;
}

template <typename TImage>
typename RecursiveGaussianImageFilter<TImage>::Pointer
MakePass(unsigned int side)
{
  typename TImage::SizeType size;
  size.Fill(side);
  const auto filter = RecursiveGaussianImageFilter<TImage>::New();
  filter->SetInput(MakeDataImage<TImage>(MakeRegion<TImage::ImageDimension>(size), DataKind::Uniform));
  return filter;
}
} // namespace

TEST_F(CudaGaussianFactoryTest, RegistersOnceAndGoesWhole)
{
  using SmoothingType = SmoothingRecursiveGaussianImageFilter<Image<float, 2>>;
  EXPECT_EQ(CountRegistered(), 1u);
  Factory::RegisterFactories();
  EXPECT_EQ(CountRegistered(), 1u);
  EXPECT_TRUE(Factory::IsRegistered());
  Factory::UnRegisterFactories();
  EXPECT_EQ(CountRegistered(), 0u);
  Factory::UnRegisterFactories();
  EXPECT_FALSE(Factory::IsRegistered());
  EXPECT_EQ(GetClass<SmoothingType>(), "SmoothingRecursiveGaussianImageFilter");
  Factory::RegisterFactories();
  EXPECT_EQ(CountRegistered(), 1u);
  EXPECT_EQ(GetClass<SmoothingType>(), "CudaSmoothingRecursiveGaussianImageFilter");
}

TEST_F(CudaGaussianFactoryTest, UnregistersWhatOthersRegistered)
{
  ObjectFactoryBase::RegisterFactory(Factory::New());
  EXPECT_EQ(CountRegistered(), 2u);
  Factory::UnRegisterFactories();
  EXPECT_EQ(CountRegistered(), 0u);
}

TEST_F(CudaGaussianFactoryTest, OverridesDefaultOutputsOfAllInputs)
{
  ExpectOverrides<Image<unsigned char, 2>>();
  ExpectOverrides<Image<short, 3>>();
  ExpectOverrides<Image<unsigned short, 2>>();
  ExpectOverrides<Image<int, 3>>();
  ExpectOverrides<Image<float, 2>>();
  ExpectOverrides<Image<float, 3>>();
  ExpectOverrides<Image<double, 3>>();
  ExpectOverrides<Image<float, 4>>();
}

// Each entry of the list is made through ITK's look-up, and no other entry takes its place.
TEST_F(CudaGaussianFactoryTest, EveryEntryMakesItsClass)
{
  const auto factory = Factory::New();
  const auto classes = factory->GetClassOverrideNames();
  const auto subclasses = factory->GetClassOverrideWithNames();
  const auto descriptions = factory->GetClassOverrideDescriptions();
  ASSERT_EQ(classes.size(), subclasses.size());
  EXPECT_EQ(std::set<std::string>(classes.begin(), classes.end()).size(), classes.size());
  EXPECT_EQ(std::set<std::string>(descriptions.begin(), descriptions.end()).size(), classes.size());
  auto subclass = subclasses.begin();
  auto description = descriptions.begin();
  for (const std::string & name : classes)
  {
    const LightObject::Pointer object = ObjectFactoryBase::CreateInstance(name.c_str());
    ASSERT_NE(object, nullptr) << *description;
    object->UnRegister(); // ITK's look-up holds one reference more
    const LightObject & made = *object;
    EXPECT_EQ(typeid(made).name(), *subclass) << *description;
    EXPECT_EQ("Cuda" + description->substr(0, description->find('<')), made.GetNameOfClass());
    ++subclass;
    ++description;
  }
}

TEST_F(CudaGaussianFactoryTest, LeavesOtherInstantiationsToITK)
{
  // ITK's Python package has this gradient of two components in three dimensions.
  EXPECT_EQ((CountOverrides<GradientRecursiveGaussianImageFilter<Image<float, 3>, Image<CovariantVector<float, 2>, 3>>,
                            SmoothingRecursiveGaussianImageFilter<VectorImage<float, 2>>,
                            SmoothingRecursiveGaussianImageFilter<Image<char, 2>>,
                            RecursiveGaussianImageFilter<Image<float, 2>, Image<short, 2>>>()),
            0u);
  EXPECT_EQ(
    (CountOverrides<GradientRecursiveGaussianImageFilter<Image<float, 3>, Image<CovariantVector<float, 3>, 3>>>()), 1u);
}

// Of images of float the passes inside of ITK's composites are overridden as well.
TEST_F(CudaGaussianFactoryTest, KeepsTheBitsOfITKOnTheHost)
{
  using ImageType = Image<float, 2>;
  const auto setSigma = [](auto & filter) {
    filter.SetSigma(1.7);
    filter.SetNormalizeAcrossScale(true);
  };
  Expect_the_bits_of_ITK_on_the_host<RecursiveGaussianImageFilter<ImageType>>(setSigma);
  Expect_the_bits_of_ITK_on_the_host<SmoothingRecursiveGaussianImageFilter<ImageType>>(setSigma);
  Expect_the_bits_of_ITK_on_the_host<GradientRecursiveGaussianImageFilter<ImageType>>(setSigma);
  Expect_the_bits_of_ITK_on_the_host<GradientMagnitudeRecursiveGaussianImageFilter<ImageType>>(setSigma);
  Expect_the_bits_of_ITK_on_the_host<LaplacianRecursiveGaussianImageFilter<ImageType>>(setSigma);
  Expect_the_bits_of_ITK_on_the_host<HessianRecursiveGaussianImageFilter<ImageType>>(setSigma);
  Expect_the_bits_of_ITK_on_the_host<DiscreteGaussianImageFilter<ImageType>>(
    [](auto & filter) { filter.SetVariance(2.5); });
}

TEST_F(CudaGaussianFactoryTest, SmallPassesStayOnTheHost)
{
  using ImageType = Image<float, 2>;
  EXPECT_NE(CudaGaussianHostPreference(0, 256), "");
  EXPECT_EQ(CudaGaussianHostPreference(0, size_t{ 1 } << 27), "");
  EXPECT_EQ(CudaGaussianHostPreference(2, size_t{ 1 } << 27), "");

  const auto   filter = MakePass<ImageType>(16);
  auto * const overridden = dynamic_cast<CudaRecursiveGaussianImageFilter<ImageType> *>(filter.GetPointer());
  ASSERT_NE(overridden, nullptr);
  overridden->Update();
  EXPECT_EQ(overridden->GetBackendUsed(), BackendEnum::Host);
  EXPECT_EQ(overridden->GetBackendReason(), CudaGaussianHostPreference(0, 256));

  // Who asks for this module's class gets the GPU if there is one.
  const auto own = CudaRecursiveGaussianImageFilter<ImageType>::New();
  own->SetInput(filter->GetInput());
  own->Update();
  EXPECT_NE(own->GetBackendReason(), CudaGaussianHostPreference(0, 256));
}

TEST_F(CudaGaussianFactoryTest, PassesFollowTheTable)
{
  size_t previous = 0;
  for (const gaussian::SinglePassTime & time : gaussian::SinglePassTimes)
  {
    EXPECT_GT(time.Values, previous);
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      const size_t kind = axis == 0 ? 0 : 1;
      const bool   onDevice = CudaGaussianHostPreference(axis, time.Values).empty();
      EXPECT_EQ(onDevice, time.Device[kind] < time.Host[kind]) << time.Values << " values along axis " << axis;
      EXPECT_EQ(CudaGaussianHostPreference(axis, time.Values + 1).empty(), onDevice);
    }
    previous = time.Values;
  }
  EXPECT_NE(CudaGaussianHostPreference(0, gaussian::SinglePassTimes[0].Values - 1), "");
}

TEST_F(CudaGaussianFactoryGpuTest, DemandedBackendIsObeyed)
{
  using ImageType = Image<float, 2>;
  const auto   filter = MakePass<ImageType>(16);
  auto * const overridden = dynamic_cast<CudaRecursiveGaussianImageFilter<ImageType> *>(filter.GetPointer());
  ASSERT_NE(overridden, nullptr);
  UpdateOn(overridden, BackendEnum::Cuda);
  UpdateOn(overridden, BackendEnum::Host);
  overridden->SetBackend(BackendEnum::Automatic);
  CudaFiltersConfiguration::SetBackend(BackendEnum::Cuda);
  overridden->Update();
  EXPECT_EQ(overridden->GetBackendUsed(), BackendEnum::Cuda);
}
} // namespace itk::cuda::test
