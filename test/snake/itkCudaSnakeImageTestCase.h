// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeImageTestCase_h
#define itkCudaSnakeImageTestCase_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Laws.h"
#include "snake/Run.h"
#include "snake/itkCudaSnakeTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace itk::cuda
{
constexpr CudaComponentType SnakePixelTypes[] = { CudaComponentType::UChar,
                                                  CudaComponentType::UShort,
                                                  CudaComponentType::Short,
                                                  CudaComponentType::Float };

/** An image of any pixel type, with what the engine needs to segment it. */
struct TypedCase
{
  size_t                    Width{ 0 };
  size_t                    Height{ 0 };
  CudaComponentType         Type{ CudaComponentType::UShort };
  std::vector<uint8_t>      Bytes; // of the pixels, row by row
  std::vector<uint8_t>      Valid; // empty: all
  std::array<int64_t, 2>    FirstIndex{ { 0, 0 } };
  CudaRegionSnakeParameters Parameters;
  std::string               Name;

  CudaImageView
  GetView() const
  {
    return MakeImageView(Bytes.data(), Type, Width, Height);
  }
  CudaImageView
  GetMask() const
  {
    return MakeImageView(Valid.data(), CudaComponentType::UChar, Width, Height);
  }

  /** What function(input) returns. */
  template <typename TFunction>
  auto
  WithInput(const TFunction & function) const
  {
    const CudaImageView  mask = this->GetMask();
    CudaRegionSnakeInput input;
    input.Image = this->GetView();
    input.FirstIndex = FirstIndex;
    input.ValidMask = Valid.empty() ? nullptr : &mask;
    return function(input);
  }

  TypedCase
  CutTo(const region::PixelRectangle & rectangle) const
  {
    TypedCase cut = *this;
    cut.Width = static_cast<size_t>(rectangle.Width);
    cut.Height = static_cast<size_t>(rectangle.Height);
    cut.Bytes.clear();
    cut.Valid.clear();
    const size_t bytes = CudaComponentSize(Type);
    for (int32_t y = rectangle.Y; y < rectangle.Y + rectangle.Height; ++y)
    {
      const size_t first = static_cast<size_t>(y) * Width + static_cast<size_t>(rectangle.X);
      const size_t end = first + cut.Width;
      cut.Bytes.insert(cut.Bytes.end(), Bytes.data() + first * bytes, Bytes.data() + end * bytes);
      if (!Valid.empty())
      {
        cut.Valid.insert(cut.Valid.end(), Valid.data() + first, Valid.data() + end);
      }
    }
    return cut;
  }
};

/** Returns function(zero), where zero is of the pixel type. */
template <typename TFunction>
auto
VisitPixelType(CudaComponentType type, const TFunction & function)
{
  return type == CudaComponentType::UChar    ? function(uint8_t{ 0 })
         : type == CudaComponentType::UShort ? function(uint16_t{ 0 })
         : type == CudaComponentType::Short  ? function(int16_t{ 0 })
                                             : function(0.0f);
}

/** The value of a pixel of 16 bits as one that the law describes, of a type. */
template <typename TPixel>
TPixel
ValueFor(CudaFiltersEnums::NoiseLaw law, uint16_t pixel, uint16_t mean, uint16_t largest)
{
  constexpr bool isReal = std::is_floating_point<TPixel>::value;
  using Law = CudaFiltersEnums::NoiseLaw;
  switch (law)
  {
    case Law::Bernoulli:
      return static_cast<TPixel>(pixel > mean ? (std::is_signed<TPixel>::value ? -3 : 3) : 0);
    case Law::Gaussian:
    case Law::GaussianCommonVariance:
      if (std::is_signed<TPixel>::value)
      {
        return static_cast<TPixel>((static_cast<int>(pixel) - 20000) / (isReal ? 7.0f : 2.0f));
      }
      break;
    default:
      break;
  }
  int shift = 0;
  while ((largest >> shift) >= (sizeof(TPixel) == 1 ? 255 : 32767))
  {
    ++shift;
  }
  const float part = isReal && law != Law::Poisson ? 0.37f : 0.0f;
  return static_cast<TPixel>(static_cast<float>((pixel >> shift) + (law == Law::LogNormal ? 1 : 0)) + part);
}

template <typename TPixel>
void
FillPixels(TypedCase & image, const std::vector<uint16_t> & pixels)
{
  uint64_t sum = 0;
  for (const uint16_t pixel : pixels)
  {
    sum += pixel;
  }
  const auto          mean = static_cast<uint16_t>(sum / pixels.size());
  const uint16_t      largest = *std::max_element(pixels.begin(), pixels.end());
  std::vector<TPixel> values;
  for (const uint16_t pixel : pixels)
  {
    values.push_back(ValueFor<TPixel>(*image.Parameters.NoiseLaw, pixel, mean, largest));
  }
  image.Bytes.resize(values.size() * sizeof(TPixel));
  std::memcpy(image.Bytes.data(), values.data(), image.Bytes.size());
}

/** A random scene with an image of that type that the law describes. */
inline TypedCase
RandomTypedCase(uint64_t seed, CudaFiltersEnums::NoiseLaw law, CudaComponentType type, bool masked, int32_t largestSide)
{
  Case      scene = RandomCase(seed, largestSide);
  TypedCase image;
  image.Width = static_cast<size_t>(scene.Width);
  image.Height = static_cast<size_t>(scene.Height);
  image.Type = type;
  image.FirstIndex = { { -5, 1000 } };
  image.Parameters = scene.Parameters;
  image.Parameters.NoiseLaw = law;
  image.Parameters.NumberOfLooks = 1.0 + static_cast<double>(seed % 3);
  image.Name = "seed " + std::to_string(seed) + ", law " + std::to_string(static_cast<int>(law)) + ", type " +
               std::to_string(static_cast<int>(type)) + (masked ? ", masked" : "");
  VisitPixelType(type, [&](auto zero) { FillPixels<decltype(zero)>(image, scene.Pixels); });
  if (masked)
  {
    image.Valid.resize(scene.Pixels.size());
    for (size_t i = 0; i < image.Valid.size(); ++i)
    {
      image.Valid[i] = static_cast<uint8_t>(SplitMix64(seed ^ (i << 20)) % 5); // not 0: valid, whatever it is
    }
  }
  return image;
}

/** Starts and parameters of some runs on an image or a rectangle of it; the object has to live as long as what it
 * gives.
 */
class RandomRuns
{
public:
  RandomRuns(const CudaRegionSnakeParameters & parameters, size_t width, size_t height)
    : m_Parameters(parameters)
    , m_Mask(width * height, 0)
    , m_MaskView(MakeImageView(m_Mask.data(), CudaComponentType::UChar, width, height))
  {
    const auto w = static_cast<int32_t>(width);
    const auto h = static_cast<int32_t>(height);
    m_Polygon = { { w / 8, h / 8 }, { w - w / 8, h / 7 }, { w / 2, h - h / 8 } };
    for (size_t y = height / 5; y < height - height / 5; ++y)
    {
      std::fill_n(m_Mask.begin() + static_cast<ptrdiff_t>(y * width + width / 6), width - width / 3, uint8_t{ 200 });
    }
  }

  std::vector<snake::SnakeRun>
  Get() const
  {
    using Start = CudaFiltersEnums::Start;
    using Schedule = CudaFiltersEnums::Schedule;
    std::vector<snake::SnakeRun> runs(4);
    for (snake::SnakeRun & run : runs)
    {
      run.Parameters = m_Parameters;
    }
    runs[0].Parameters.Start = Start::Automatic;
    runs[1].Parameters.Start = Start::MarginRectangle;
    runs[1].Parameters.MaximumNumberOfNodes = 300;
    runs[1].Parameters.UseDescriptionLength = !m_Parameters.UseDescriptionLength;
    runs[2].StartPolygon = &m_Polygon;
    runs[2].Parameters.MaximumNumberOfIterations = 30;
    runs[3].StartMask = &m_MaskView;
    runs[3].Parameters.Schedule =
      m_Parameters.Schedule == Schedule::AsPublished ? Schedule::CoarseToFine : Schedule::AsPublished;
    return runs;
  }

private:
  CudaRegionSnakeParameters m_Parameters;
  CudaSnakePolygon          m_Polygon;
  std::vector<uint8_t>      m_Mask;
  CudaImageView             m_MaskView;
};

/** What a call came to: its result, or the words of its exception. */
struct SnakeAnswer
{
  CudaRegionSnakeResult Result;
  std::string           Message;
};

template <typename TFunction>
SnakeAnswer
AnswerOf(const TFunction & function)
{
  SnakeAnswer answer;
  try
  {
    answer.Result = function();
  }
  catch (const ExceptionObject & exception)
  {
    answer.Message = exception.GetDescription();
  }
  return answer;
}

inline void
ExpectSameAnswers(const SnakeAnswer & a, const SnakeAnswer & b, const std::string & name)
{
  ASSERT_EQ(a.Message, b.Message) << name;
  if (a.Message.empty())
  {
    ExpectSameResults(a.Result, b.Result, name);
  }
}

/** The run as the filter would do it, on the host, on an image that is prepared for it alone. */
inline CudaRegionSnakeResult
RunAfresh(const TypedCase & image, const snake::SnakeRun & run)
{
  return image.WithInput([&](CudaRegionSnakeInput input) {
    CudaRegionSnakeParameters parameters = run.Parameters;
    parameters.NoiseLaw = image.Parameters.NoiseLaw;
    parameters.NumberOfLooks = image.Parameters.NumberOfLooks;
    parameters.ForegroundThreshold = image.Parameters.ForegroundThreshold;
    input.StartPolygon = run.StartPolygon;
    input.StartMask = run.StartMask;
    return CudaRegionSnakeOnHost(input, parameters, 1, run.Observer);
  });
}

// The tests of images on the host and on a device. `prepare` makes a SnakeImage of a TypedCase, as a pointer;
// run(image, snakeRun) runs on it, from any thread.

/** Any run on an image gives what it gives on an image of its own, also again and beside runs of another thread. */
template <typename TPrepare, typename TRun>
void
CompareRunsOfThreads(const TPrepare & prepare, const TRun & run, uint64_t firstSeed)
{
  std::cout << "seeds from " << firstSeed << std::endl;
  uint64_t seed = firstSeed;
  for (const auto law : region::AllLaws)
  {
    for (const auto type : SnakePixelTypes)
    {
      for (const bool masked : { false, true })
      {
        ++seed;
        const TypedCase          image = RandomTypedCase(seed, law, type, masked, seed % 9 == 0 ? 560 : 90);
        const auto               prepared = prepare(image);
        const RandomRuns         runs(image.Parameters, image.Width, image.Height);
        const auto               snakeRuns = runs.Get();
        std::vector<SnakeAnswer> answers[2];
        std::vector<std::thread> threads;
        for (const size_t thread : { 0, 1 })
        {
          threads.emplace_back([&, thread] {
            for (size_t i = 0; i < 2 * snakeRuns.size(); ++i)
            {
              const auto & snakeRun = snakeRuns[(i + 2 * thread) % snakeRuns.size()];
              answers[thread].push_back(AnswerOf([&] { return run(*prepared, snakeRun); }));
            }
          });
        }
        std::for_each(threads.begin(), threads.end(), [](std::thread & thread) { thread.join(); });
        for (size_t i = 0; i < snakeRuns.size(); ++i)
        {
          const SnakeAnswer expected = AnswerOf([&] { return RunAfresh(image, snakeRuns[i]); });
          for (const size_t turn : { i, i + snakeRuns.size() })
          {
            ExpectSameAnswers(expected, answers[0][turn], image.Name);
            ExpectSameAnswers(expected, answers[1][turn ^ 2], image.Name + ", second thread");
          }
        }
        if (::testing::Test::HasFatalFailure())
        {
          return;
        }
      }
    }
  }
}

/** A run on a rectangle of an image of integers gives what it gives on the image cut to it. The cells of the coarse
 * levels of large rectangles begin at their corner. */
template <typename TPrepare, typename TRun>
void
CompareRectangles(const TPrepare & prepare, const TRun & run, uint64_t firstSeed)
{
  std::cout << "seeds from " << firstSeed << std::endl;
  uint64_t seed = firstSeed;
  int      runsThatEnded = 0;
  int      runsThatWereRefused = 0;
  int      runsOfSeveralLevels = 0;
  for (uint64_t repetition = 0; repetition < 2; ++repetition)
  {
    for (const auto law : region::AllLaws)
    {
      for (const auto type : { CudaComponentType::UChar, CudaComponentType::UShort, CudaComponentType::Short })
      {
        if (law == CudaFiltersEnums::NoiseLaw::LogNormal)
        {
          continue; // the grid of its logarithms follows from the image's extrema
        }
        ++seed;
        const TypedCase image = RandomTypedCase(seed, law, type, seed % 2 == 0, seed % 7 == 0 ? 1600 : 120);
        const auto      prepared = prepare(image);
        const auto      w = static_cast<int32_t>(image.Width);
        const auto      h = static_cast<int32_t>(image.Height);
        const auto      random = [&seed](uint64_t what, int32_t choices) {
          return static_cast<int32_t>(SplitMix64(seed * 97 + what) % static_cast<uint64_t>(choices));
        };
        const int32_t x = random(0, w - 7);
        const int32_t y = random(1, h - 7);
        for (const region::PixelRectangle & rectangle :
             { region::PixelRectangle{ 0, 0, w, h },
               { 1, 1, w - 2, h - 2 },
               { x, y, 8 + random(2, w - x - 7), 8 + random(3, h - y - 7) },
               { w - 8, h - 4, 8, 4 }, // the smallest for two regions of 16 pixels
               { 16 * random(4, w / 16), 0, w - 16 * (w / 16 - 1) - w % 16, h } })
        {
          const TypedCase  cut = image.CutTo(rectangle);
          const RandomRuns runs(image.Parameters, cut.Width, cut.Height);
          for (snake::SnakeRun snakeRun : runs.Get())
          {
            const SnakeAnswer expected = AnswerOf([&] { return RunAfresh(cut, snakeRun); });
            snakeRun.Rectangle = rectangle;
            ++(expected.Message.empty() ? runsThatEnded : runsThatWereRefused);
            const auto & record = expected.Result.Record;
            runsOfSeveralLevels += !record.empty() && record.front().LevelExponent > 0 ? 1 : 0;
            ExpectSameAnswers(expected,
                              AnswerOf([&] { return run(*prepared, snakeRun); }),
                              image.Name + ", rectangle at (" + std::to_string(rectangle.X) + ", " +
                                std::to_string(rectangle.Y) + ") of " + std::to_string(rectangle.Width) + " x " +
                                std::to_string(rectangle.Height));
          }
          if (::testing::Test::HasFatalFailure())
          {
            return;
          }
        }
      }
    }
  }
  std::cout << runsThatEnded << " runs ended, " << runsThatWereRefused << " were refused" << std::endl;
  EXPECT_GT(runsThatEnded, 4 * runsThatWereRefused);
  EXPECT_GT(runsOfSeveralLevels, 10);
}

/** After any exception the image is as good as before. */
template <typename TPrepare, typename TRun>
void
CompareAfterExceptions(const TPrepare & prepare, const TRun & run)
{
  const TypedCase image =
    RandomTypedCase(4711, CudaFiltersEnums::NoiseLaw::Gamma, CudaComponentType::UShort, false, 200);
  const auto      w = static_cast<int32_t>(image.Width);
  const auto      h = static_cast<int32_t>(image.Height);
  snake::SnakeRun good;
  good.Parameters = image.Parameters;
  CudaRegionSnakeResult last;
  {
    const auto                  prepared = prepare(image);
    const CudaRegionSnakeResult expected = run(*prepared, good);
    const auto                  expectMessage = [&](const snake::SnakeRun & bad, const std::string & message) {
      const SnakeAnswer answer = AnswerOf([&] { return run(*prepared, bad); });
      EXPECT_NE(answer.Message.find(message), std::string::npos) << answer.Message;
      ExpectSameResults(expected, run(*prepared, good), "after " + message);
    };
    snake::SnakeRun bad = good;
    bad.Rectangle = { 1, 0, w, h };
    expectMessage(bad, "The rectangle has the corner (1, 0) and " + std::to_string(w) + " x " + std::to_string(h));
    bad.Rectangle = { -1, 0, 5, 5 };
    expectMessage(bad, "it must have pixels and lie in the image of " + std::to_string(w));
    bad.Rectangle = { 0, 0, 0, 5 };
    expectMessage(bad, "0 x 5 pixels");
    bad.Rectangle = { 3, 3, 5, 6 };
    expectMessage(bad, "has 30 valid pixels; two regions of MinimumRegionSize 16 need at least 32");
    bad = good;
    bad.Parameters.MinimumGain = 0.0;
    expectMessage(bad, "MinimumGain is 0");
    const CudaSnakePolygon outside{ { 0, 0 }, { w, 0 }, { w, h } };
    bad = good;
    bad.StartPolygon = &outside;
    bad.Rectangle = { 0, 0, w - 1, h };
    expectMessage(bad, "outside the image");
    const CudaImageView mask = MakeImageView(image.Bytes.data(), CudaComponentType::UChar, 3, 4);
    bad = good;
    bad.StartMask = &mask;
    expectMessage(bad, "The initial mask has 3 x 4 pixels");
    bad.StartPolygon = &outside;
    expectMessage(bad, "The initial mask has 3 x 4 pixels");
    snake::SnakeRun aborted = good;
    aborted.Observer.Progress = [](float) { return false; };
    EXPECT_EQ(run(*prepared, aborted).Stop, CudaRegionSnakeStop::Aborted);
    struct Stopped
    {};
    snake::SnakeRun stopped = good;
    stopped.Observer.Step = [](const CudaRegionSnakeState &) { throw Stopped(); };
    EXPECT_THROW(run(*prepared, stopped), Stopped);
    last = run(*prepared, good);
    ExpectSameResults(expected, last, "after an observer's exception");
  }
  ExpectSameResults(RunAfresh(image, good), last, "after the end of the image");
}
} // namespace itk::cuda

#endif
