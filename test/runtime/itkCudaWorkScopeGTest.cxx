// SPDX-License-Identifier: Apache-2.0
// An interpreter's lock is released while a filter of this module works, and held while anything else of a pipeline
// does. The contract suite verifies the first for each filter; here are pipelines.
#include "itkCommand.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaInterpreterLock.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageSource.h"
#include "itkMedianImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace
{
using itk::CudaDetail::CudaWorkScope;
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using itk::cuda::test::InterpreterLock;

using ImageType = itk::Image<float, 3>;
using SmootherType = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;

void
RequireLock(const char * what)
{
  if (!InterpreterLock::IsHeld())
  {
    itkGenericExceptionMacro(<< what << " without the interpreter's lock");
  }
}

/** Produces a slope with a bright square in an interpreter. */
class InterpretedSource : public itk::ImageSource<ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(InterpretedSource);
  using Self = InterpretedSource;
  using Superclass = itk::ImageSource<ImageType>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(InterpretedSource, ImageSource);
  itkSetMacro(Planes, itk::SizeValueType);
  itkGetConstMacro(Runs, unsigned int);

protected:
  InterpretedSource() = default;

  void
  GenerateOutputInformation() override
  {
    RequireLock("GenerateOutputInformation()");
    this->GetOutput()->SetLargestPossibleRegion({ { { 24, 20, m_Planes } } });
  }
  void
  GenerateData() override
  {
    RequireLock("GenerateData()");
    ++m_Runs;
    this->AllocateOutputs();
    ImageType * const image = this->GetOutput();
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetRequestedRegion()); !it.IsAtEnd(); ++it)
    {
      const auto & index = it.GetIndex();
      const bool   isInside = index[0] > 11 && index[0] < 17 && index[1] > 7 && index[1] < 12;
      it.Set(0.25F * static_cast<float>(index[0] + index[2]) + (isInside ? 40.0F : 0.0F));
    }
  }

private:
  itk::SizeValueType m_Planes{ 16 };
  unsigned int       m_Runs{ 0 };
};

/** A filter in an interpreter, whose output is its input plus 1. */
class InterpretedFilter : public itk::ImageToImageFilter<ImageType, ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(InterpretedFilter);
  using Self = InterpretedFilter;
  using Superclass = itk::ImageToImageFilter<ImageType, ImageType>;
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
    const auto                                   region = this->GetOutput()->GetRequestedRegion();
    itk::ImageRegionConstIterator<ImageType>     from(this->GetInput(), region);
    itk::ImageRegionIteratorWithIndex<ImageType> to(this->GetOutput(), region);
    for (; !to.IsAtEnd(); ++to, ++from)
    {
      to.Set(from.Get() + 1);
    }
  }
};

std::vector<float>
GetPixels(const ImageType * image)
{
  return { image->GetBufferPointer(), image->GetBufferPointer() + image->GetPixelContainer()->Size() };
}

/** Calls a function at each report of the filter's progress. */
void
OnProgress(itk::ProcessObject * filter, const std::function<void()> & function)
{
  filter->AddObserver(itk::ProgressEvent(), [function](const itk::EventObject &) { function(); });
}

TEST(CudaWorkScope, ReleasesTheLockAndAcquiresItAgain)
{
  const InterpreterLock lock;
  {
    CudaWorkScope work;
    EXPECT_FALSE(InterpreterLock::IsHeld());
    {
      const CudaWorkScope inner; // belongs to a filter inside a filter
      EXPECT_FALSE(InterpreterLock::IsHeld());
    }
    EXPECT_FALSE(InterpreterLock::IsHeld());
    work.CallOthers([] {
      EXPECT_TRUE(InterpreterLock::IsHeld());
      {
        const CudaWorkScope ofAnother;
        EXPECT_FALSE(InterpreterLock::IsHeld());
      }
      EXPECT_TRUE(InterpreterLock::IsHeld());
    });
    EXPECT_FALSE(InterpreterLock::IsHeld());
    ExpectContains(GetException([&] { work.CallOthers([] { itkGenericExceptionMacro("of others"); }); }), "of others");
    EXPECT_FALSE(InterpreterLock::IsHeld());
  }
  EXPECT_TRUE(InterpreterLock::IsHeld());
}

TEST(CudaWorkScope, IsNothingWithoutHooks)
{
  CudaWorkScope work;
  EXPECT_TRUE(InterpreterLock::IsHeld());
  work.CallOthers([] { EXPECT_TRUE(InterpreterLock::IsHeld()); });
}

/** ITK's superclass computes one of the approximations, and the module's plan the other. A source that another thread
 * modifies during the run must not be updated within it, because it needs the lock. */
TEST(CudaWorkScope, DoesNotUpdateASourceThatIsModifiedMeanwhile)
{
  for (const char * const approximation : { "Deriche", "Accurate" })
  {
    SCOPED_TRACE(approximation);
    const InterpreterLock lock;
    const auto            source = InterpretedSource::New();
    const auto            smoother = SmootherType::New();
    smoother->SetInput(source->GetOutput());
    smoother->SetBackend("host");
    smoother->SetApproximation(approximation);
    smoother->SetNumberOfWorkUnits(1); // ITK reports from one of several threads, which may have nothing to report
    smoother->Update();
    const std::vector<float> expected = GetPixels(smoother->GetOutput());
    unsigned int             reports = 0;
    OnProgress(smoother, [&] {
      ++reports;
      source->Modified();
    });
    smoother->Modified();
    smoother->Update();
    EXPECT_GT(reports, 0u);
    EXPECT_EQ(source->GetRuns(), 1u);
    EXPECT_EQ(GetPixels(smoother->GetOutput()), expected);
  }
}

TEST(CudaWorkScope, IsNotTheWorkOfAnInterpretersFilterBetweenTwo)
{
  const auto run = [] {
    const auto source = InterpretedSource::New();
    const auto median = itk::MedianImageFilter<ImageType, ImageType>::New();
    median->SetInput(source->GetOutput());
    const auto first = SmootherType::New();
    first->SetInput(median->GetOutput());
    const auto between = InterpretedFilter::New();
    between->SetInput(first->GetOutput());
    const auto second = SmootherType::New();
    second->SetSigma(2.0);
    second->InPlaceOn();
    second->SetInput(between->GetOutput());
    const auto last = InterpretedFilter::New();
    last->SetInput(second->GetOutput());
    last->Update();
    return GetPixels(last->GetOutput());
  };
  const std::vector<float> expected = run();
  const InterpreterLock    lock;
  EXPECT_EQ(run(), expected);
  EXPECT_EQ(InterpreterLock::GetTimesReleased(), 2);
  EXPECT_TRUE(InterpreterLock::IsHeld());
}

TEST(CudaWorkScope, EndsWhileSlabsAskForPlanes)
{
  for (const double sigma : { 4.0, 40.0 }) // one sweep over the planes, and two
  {
    const auto source = InterpretedSource::New();
    source->SetPlanes(600);
    const auto between = InterpretedFilter::New();
    between->SetInput(source->GetOutput());
    const auto smoother = SmootherType::New();
    smoother->SetInput(between->GetOutput());
    smoother->SetSigma(sigma);
    smoother->SetBackend("host");
    smoother->SetStreaming("on");
    smoother->Update();
    const std::vector<float> expected = GetPixels(smoother->GetOutput());

    const InterpreterLock lock;
    unsigned int          reportsWithLock = 0;
    OnProgress(smoother, [&reportsWithLock] { reportsWithLock += InterpreterLock::IsHeld() ? 1 : 0; });
    const auto pieces = itk::StreamingImageFilter<ImageType, ImageType>::New();
    pieces->SetInput(smoother->GetOutput());
    pieces->SetNumberOfStreamDivisions(5);
    smoother->Modified();
    const unsigned int runs = source->GetRuns();
    pieces->Update();
    EXPECT_TRUE(InterpreterLock::IsHeld());
    EXPECT_GT(source->GetRuns(), runs + 4) << "planes that were asked for within runs of the filter";
    EXPECT_EQ(reportsWithLock, 0u);
    EXPECT_EQ(GetPixels(pieces->GetOutput()), expected);
  }
}
} // namespace
