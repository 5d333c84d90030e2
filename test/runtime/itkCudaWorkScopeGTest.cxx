// SPDX-License-Identifier: Apache-2.0
// An interpreter's lock is given up while a filter of this module works, and held while anything else of a pipeline
// does.
#include "itkCommand.h"
#include "itkCudaDetailWorkScope.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaStructureTensorImageFilter.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "itkCudaVesselnessImageFilter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageSource.h"
#include "itkMedianImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace
{
using itk::CudaDetail::CudaSetWorkHooks;
using itk::CudaDetail::CudaWorkScope;
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;

thread_local bool holdsLock = true; // the thread that runs the tests holds it initially
thread_local int  timesGivenUp = 0;

/** Holds the lock of an interpreter during its lifetime. */
class InterpreterLock
{
public:
  InterpreterLock()
  {
    timesGivenUp = 0;
    CudaSetWorkHooks({ [] {
                        ++timesGivenUp;
                        return std::exchange(holdsLock, false) ? static_cast<void *>(&holdsLock) : nullptr;
                      },
                       [](void * state) {
                         EXPECT_EQ(state, &holdsLock);
                         EXPECT_FALSE(holdsLock) << "taken twice";
                         holdsLock = true;
                       } });
  }
  ~InterpreterLock()
  {
    CudaSetWorkHooks({});
    holdsLock = true;
  }
};

void
RequireLock(const char * what)
{
  if (!holdsLock)
  {
    itkGenericExceptionMacro(<< what << " without the interpreter's lock");
  }
}

/** Produces an image in an interpreter: a bright square that is not aligned to anything, on a slope. */
template <typename TImage>
class InterpretedSource : public itk::ImageSource<TImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(InterpretedSource);
  using Self = InterpretedSource;
  using Superclass = itk::ImageSource<TImage>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(InterpretedSource, ImageSource);
  itkSetMacro(Size, typename TImage::SizeType);
  itkGetConstMacro(Runs, unsigned int);

protected:
  InterpretedSource() { m_Size.Fill(40); }

  void
  GenerateOutputInformation() override
  {
    RequireLock("GenerateOutputInformation()");
    this->GetOutput()->SetLargestPossibleRegion({ m_Size });
  }
  void
  GenerateData() override
  {
    RequireLock("GenerateData()");
    ++m_Runs;
    this->AllocateOutputs();
    TImage * const image = this->GetOutput();
    for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetRequestedRegion()); !it.IsAtEnd(); ++it)
    {
      const auto & index = it.GetIndex();
      const bool   isInside = index[0] > 11 && index[0] < 27 && index[1] > 7 && index[1] < 22;
      using ValueType = typename itk::CudaDetail::CudaPixelTraits<typename TImage::PixelType>::ComponentType;
      it.Set(typename TImage::PixelType(static_cast<ValueType>(0.25 * static_cast<double>(index[0]) + isInside * 40)));
    }
  }

private:
  typename TImage::SizeType m_Size;
  unsigned int              m_Runs{ 0 };
};

/** A filter in an interpreter, whose output is its input plus 1. */
template <typename TImage>
class InterpretedFilter : public itk::ImageToImageFilter<TImage, TImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(InterpretedFilter);
  using Self = InterpretedFilter;
  using Superclass = itk::ImageToImageFilter<TImage, TImage>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(InterpretedFilter, ImageToImageFilter);

protected:
  InterpretedFilter() = default;

  void
  GenerateInputRequestedRegion() override
  {
    RequireLock("GenerateInputRequestedRegion()");
    Superclass::GenerateInputRequestedRegion();
  }
  void
  GenerateData() override
  {
    RequireLock("GenerateData()");
    this->AllocateOutputs();
    const auto                                region = this->GetOutput()->GetRequestedRegion();
    itk::ImageRegionConstIterator<TImage>     from(this->GetInput(), region);
    itk::ImageRegionIteratorWithIndex<TImage> to(this->GetOutput(), region);
    for (; !to.IsAtEnd(); ++to, ++from)
    {
      to.Set(from.Get() + 1);
    }
  }
};

/** Records whether the lock was held at events. */
struct Watch
{
  explicit Watch(itk::ProcessObject * filter)
  {
    filter->AddObserver(itk::StartEvent(), [this](const itk::EventObject &) { Outside.push_back(holdsLock); });
    filter->AddObserver(itk::EndEvent(), [this](const itk::EventObject &) { Outside.push_back(holdsLock); });
    filter->AddObserver(itk::AbortEvent(), [this](const itk::EventObject &) { Outside.push_back(holdsLock); });
    filter->AddObserver(itk::ProgressEvent(), [this](const itk::EventObject &) {
      Inside.push_back(holdsLock);
      if (OnProgress)
      {
        OnProgress();
      }
    });
  }

  std::vector<bool>     Outside; // outside of the filter's own work
  std::vector<bool>     Inside;
  std::function<void()> OnProgress;
};

bool
IsAll(const std::vector<bool> & values, bool value)
{
  return !values.empty() && std::all_of(values.begin(), values.end(), [value](bool held) { return held == value; });
}

template <typename TImage>
std::vector<char>
GetBytes(const TImage * image)
{
  const auto * const first = reinterpret_cast<const char *>(image->GetBufferPointer());
  return { first, first + image->GetPixelContainer()->Size() * sizeof(typename TImage::InternalPixelType) };
}

/** Verifies the lock for a filter that runs on the host after a source in an interpreter. */
template <typename TFilter>
void
ExpectLockOutsideOfWork(const std::function<void(TFilter *)> & prepare)
{
  using SourceType = InterpretedSource<typename TFilter::InputImageType>;

  const auto make = [&](SourceType * source) {
    const auto filter = TFilter::New();
    filter->SetBackend("host");
    filter->SetNumberOfWorkUnits(
      1); // ITK reports progress from only one of several threads, which may not get to report
    prepare(filter);
    filter->SetInput(source->GetOutput());
    return filter;
  };
  const auto plainSource = SourceType::New();
  const auto plain = make(plainSource);
  plain->Update(); // without the interpreter's lock
  const std::vector<char> expected = GetBytes(plain->GetOutput());

  const InterpreterLock lock;
  const auto            source = SourceType::New();
  const auto            filter = make(source);
  Watch                 watch(filter);
  filter->Update();
  EXPECT_TRUE(holdsLock);
  EXPECT_GT(timesGivenUp, 0);
  EXPECT_EQ(source->GetRuns(), 1u);
  EXPECT_TRUE(IsAll(watch.Outside, true)) << "at the start and the end";
  EXPECT_TRUE(IsAll(watch.Inside, false)) << "at work";
  EXPECT_EQ(GetBytes(filter->GetOutput()), expected);

  // The source is modified during the run, as another thread may do. The run must not update the source again.
  watch.OnProgress = [&] {
    source->Modified();
    watch.OnProgress = nullptr;
  };
  filter->Modified();
  filter->Update();
  EXPECT_EQ(source->GetRuns(), 1u);
  EXPECT_EQ(GetBytes(filter->GetOutput()), expected);

  // One run ends with an exception and one is aborted.
  watch.OnProgress = [] { itkGenericExceptionMacro("from an observer"); };
  filter->Modified();
  ExpectContains(GetException([&] { filter->Update(); }), "from an observer");
  EXPECT_TRUE(holdsLock);
  watch.OnProgress = [&] { filter->AbortGenerateDataOn(); };
  watch.Outside.clear();
  filter->Modified();
  GetException([&] { filter->Update(); });
  EXPECT_TRUE(holdsLock);
  EXPECT_TRUE(IsAll(watch.Outside, true)) << "at the abort";
  watch.OnProgress = nullptr;
  filter->AbortGenerateDataOff();
  filter->Modified();
  filter->Update();
  EXPECT_TRUE(holdsLock);
  EXPECT_EQ(GetBytes(filter->GetOutput()), expected);
}

using ImageType = itk::Image<float, 2>;
using TensorType = itk::SymmetricSecondRankTensor<float, 2>;
using TensorImageType = itk::Image<TensorType, 2>;

template <typename TFilter>
void
ExpectLockOutsideOfGaussian()
{
  for (const char * const approximation :
       { "Deriche", "Accurate" }) // computed by ITK's superclass and by the module's plan
  {
    SCOPED_TRACE(approximation);
    ExpectLockOutsideOfWork<TFilter>([&](TFilter * filter) {
      filter->SetSigma(1.5);
      filter->SetApproximation(approximation);
    });
  }
}

TEST(CudaWorkScope, GivesUpTheLockAndTakesItAgain)
{
  const InterpreterLock lock;
  {
    CudaWorkScope work;
    EXPECT_FALSE(holdsLock);
    {
      const CudaWorkScope inner; // belongs to a filter inside a filter
      EXPECT_FALSE(holdsLock);
    }
    EXPECT_FALSE(holdsLock);
    work.CallOthers([] {
      EXPECT_TRUE(holdsLock);
      {
        const CudaWorkScope ofAnother;
        EXPECT_FALSE(holdsLock);
      }
      EXPECT_TRUE(holdsLock);
    });
    EXPECT_FALSE(holdsLock);
    ExpectContains(GetException([&] { work.CallOthers([] { itkGenericExceptionMacro("of others"); }); }), "of others");
    EXPECT_FALSE(holdsLock);
  }
  EXPECT_TRUE(holdsLock);
}

TEST(CudaWorkScope, IsNothingWithoutHooks)
{
  CudaWorkScope work;
  EXPECT_TRUE(holdsLock);
  work.CallOthers([] { EXPECT_TRUE(holdsLock); });
}

TEST(CudaWorkScope, IsTheWorkOfRecursiveGaussians)
{
  ExpectLockOutsideOfGaussian<itk::CudaRecursiveGaussianImageFilter<ImageType, ImageType>>();
  ExpectLockOutsideOfGaussian<itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>>();
  ExpectLockOutsideOfGaussian<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType, ImageType>>();
  ExpectLockOutsideOfGaussian<itk::CudaLaplacianRecursiveGaussianImageFilter<ImageType, ImageType>>();
  ExpectLockOutsideOfGaussian<
    itk::CudaGradientRecursiveGaussianImageFilter<ImageType, itk::Image<itk::CovariantVector<float, 2>, 2>>>();
  ExpectLockOutsideOfGaussian<itk::CudaHessianRecursiveGaussianImageFilter<ImageType, TensorImageType>>();
}

TEST(CudaWorkScope, IsTheWorkOfOtherGaussians)
{
  using DiscreteType = itk::CudaDiscreteGaussianImageFilter<ImageType, ImageType>;
  ExpectLockOutsideOfWork<DiscreteType>([](DiscreteType * filter) { filter->SetVariance(2.0); });
  using PartitionedType = itk::CudaPartitionedRecursiveGaussianImageFilter<ImageType, ImageType>;
  ExpectLockOutsideOfWork<PartitionedType>([](PartitionedType * filter) { filter->SetSigma(1.5); });
}

TEST(CudaWorkScope, IsTheWorkOfRegionFilters)
{
  using SnakeType = itk::CudaRegionSnakeImageFilter<ImageType>;
  ExpectLockOutsideOfWork<SnakeType>([](SnakeType * filter) { filter->SetNoiseLaw("gaussian"); });
  using PartitionType = itk::CudaRegionPartitionImageFilter<ImageType>;
  ExpectLockOutsideOfWork<PartitionType>([](PartitionType * filter) { filter->SetNoiseLaw("gaussian"); });
}

TEST(CudaWorkScope, IsTheWorkOfFiltersOfTensors)
{
  using VesselnessType = itk::CudaVesselnessImageFilter<ImageType, ImageType>;
  ExpectLockOutsideOfWork<VesselnessType>([](VesselnessType * filter) { filter->AddSigma(1.5); });
  using StructureType = itk::CudaStructureTensorImageFilter<ImageType, TensorImageType>;
  ExpectLockOutsideOfWork<StructureType>([](StructureType *) {});
  using ObjectnessType = itk::CudaHessianToObjectnessMeasureImageFilter<TensorImageType, ImageType>;
  ExpectLockOutsideOfWork<ObjectnessType>([](ObjectnessType * filter) { filter->SetObjectDimension(1); });
  using EigenType = itk::CudaSymmetricEigenAnalysisImageFilter<TensorImageType, itk::Image<itk::Vector<float, 2>, 2>>;
  ExpectLockOutsideOfWork<EigenType>([](EigenType * filter) { filter->SetDimension(2); });
  using ScalesType = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, TensorImageType, ImageType>;
  ExpectLockOutsideOfWork<ScalesType>([](ScalesType * filter) {
    using MeasureType = itk::HessianToObjectnessMeasureImageFilter<TensorImageType, ImageType>;
    const auto measure = MeasureType::New();
    measure->SetObjectDimension(1);
    filter->SetHessianToMeasureFilter(measure);
    filter->SetSigmaMinimum(1.0);
    filter->SetSigmaMaximum(2.0);
    filter->SetNumberOfSigmaSteps(2);
  });
}

TEST(CudaWorkScope, IsNotTheWorkOfAnInterpretersFilterBetweenTwo)
{
  using SmootherType = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  const auto run = [] {
    const auto source = InterpretedSource<ImageType>::New();
    const auto median = itk::MedianImageFilter<ImageType, ImageType>::New();
    median->SetInput(source->GetOutput());
    const auto first = SmootherType::New();
    first->SetInput(median->GetOutput());
    const auto between = InterpretedFilter<ImageType>::New();
    between->SetInput(first->GetOutput());
    const auto second = SmootherType::New();
    second->SetSigma(2.0);
    second->InPlaceOn();
    second->SetInput(between->GetOutput());
    const auto last = InterpretedFilter<ImageType>::New();
    last->SetInput(second->GetOutput());
    last->Update();
    return GetBytes(last->GetOutput());
  };
  const std::vector<char> expected = run();
  const InterpreterLock   lock;
  EXPECT_EQ(run(), expected);
  EXPECT_EQ(timesGivenUp, 2);
  EXPECT_TRUE(holdsLock);
}

TEST(CudaWorkScope, EndsWhileSlabsAskForPlanes)
{
  using VolumeType = itk::Image<float, 3>;
  using SmootherType = itk::CudaSmoothingRecursiveGaussianImageFilter<VolumeType, VolumeType>;
  for (const double sigma : { 4.0, 40.0 }) // one sweep over the planes, and two
  {
    const auto source = InterpretedSource<VolumeType>::New();
    source->SetSize({ { 24, 20, 600 } });
    const auto between = InterpretedFilter<VolumeType>::New();
    between->SetInput(source->GetOutput());
    const auto smoother = SmootherType::New();
    smoother->SetInput(between->GetOutput());
    smoother->SetSigma(sigma);
    smoother->SetBackend("host");
    smoother->SetStreaming("on");
    smoother->Update();
    const std::vector<char> expected = GetBytes(smoother->GetOutput());

    const InterpreterLock lock;
    Watch                 watch(smoother);
    const auto            pieces = itk::StreamingImageFilter<VolumeType, VolumeType>::New();
    pieces->SetInput(smoother->GetOutput());
    pieces->SetNumberOfStreamDivisions(5);
    smoother->Modified();
    const unsigned int runs = source->GetRuns();
    pieces->Update();
    EXPECT_TRUE(holdsLock);
    EXPECT_GT(source->GetRuns(), runs + 4) << "planes that were asked for within runs of the filter";
    EXPECT_TRUE(IsAll(watch.Outside, true));
    EXPECT_TRUE(IsAll(watch.Inside, false));
    EXPECT_EQ(GetBytes(pieces->GetOutput()), expected);
  }
}
} // namespace
