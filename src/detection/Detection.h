// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_detection_Detection_h
#define CudaFilters_detection_Detection_h

#include "itkCudaDetailDetectionEngine.h"
#include "detection/ComponentFunctors.h"
#include "detection/WindowFunctors.h"
#include "executor/DisjointSets.h"
#include "region/Checks.h"
#include "region/Samples.h"
#include "runtime/DetailNames.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace itk::cuda::detection
{
/** The largest number of pixels of an image: 31 bits hold the index of a pixel. */
constexpr size_t MaximumPixels = (size_t{ 1 } << 31) - 1;

/** What a caller asks for, in addition to the image. The struct owns nothing. */
struct DetectionRequest
{
  const CudaDetectionParameters & Parameters;
  CudaComponentType               LabelType;
  const CudaDetectionProgress &   Progress;                           // may be empty
  int64_t                         PixelsOfPart{ int64_t{ 1 } << 24 }; // tested before Progress is called again
};

/** \class Detection
 * \brief Finds the targets of an image: the pixels above the threshold, their connected components, and a table of
 * these.
 *
 * The executor holds the image (executor/Executor.h says what it must offer). The results of all executors are
 * bit-identical.
 */
template <typename TExecutor>
class Detection
{
public:
  Detection(const TExecutor & executor, const region::SamplesDescription & samples, const DetectionRequest & request)
    : m_Executor(executor)
    , m_Samples(samples)
    , m_Parameters(request.Parameters)
    , m_Request(request)
    , m_Shape(MakeShape(request.Parameters, samples))
    , m_Test{ { request.Parameters.NoiseLaw.value(),
                request.Parameters.NumberOfLooks,
                static_cast<int64_t>(samples.NumberOfValidPixels) },
              region::Log(request.Parameters.ProbabilityOfFalseAlarm) }
  {}

  /** Returns the targets, and writes the label image, unless the progress observer stops the run.
   * \param writeLabels calls the function that it gets once, with a pointer to uint16_t or uint32_t in executor memory
   * and the stride of its rows
   * \exception ExceptionObject if the labels cannot hold the number of targets */
  template <typename TWriteLabels>
  std::optional<CudaDetectionResult>
  Run(const TWriteLabels & writeLabels)
  {
    CudaDetectionResult result;
    if (!this->FindPixels(result))
    {
      return {};
    }
    this->FindComponents();
    const std::vector<uint32_t> numbers = this->MakeTable(result.Detections);
    writeLabels([&](auto * labels, size_t stride) { this->WriteLabels(numbers, labels, stride); });
    return result;
  }

private:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;

  static constexpr float ShareOfWindows = 0.9f; // of the time

  const TExecutor &                  m_Executor;
  const region::SamplesDescription & m_Samples;
  const CudaDetectionParameters &    m_Parameters;
  const DetectionRequest &           m_Request;
  const WindowShape                  m_Shape;
  const LawTest                      m_Test;
  Array<uint32_t>                    m_Words; // PixelBits
  Array<uint32_t>                    m_Ranks; // number of pixels above the threshold before each word
  size_t                             m_NumberOfPixels{ 0 };
  Array<uint32_t>                    m_Pixels;     // the indices of these pixels
  Array<uint32_t>                    m_Components; // the component of each of them, counted from 1
  size_t                             m_NumberOfComponents{ 0 };
  Array<Component>                   m_Table; // of component i + 1

  static WindowShape
  MakeShape(const CudaDetectionParameters & parameters, const region::SamplesDescription & samples)
  {
    const auto reach = [](const Size<2> & window) {
      return Reach{ static_cast<int32_t>(window[0] / 2), static_cast<int32_t>(window[1] / 2) };
    };
    return { { reach(parameters.TargetWindow), reach(parameters.GuardWindow), reach(parameters.BackgroundWindow) },
             samples.Width,
             samples.Height };
  }

  bool
  GoesOn(float share) const
  {
    return !m_Request.Progress || m_Request.Progress(share);
  }

  PixelBits
  GetBits() const
  {
    return { m_Words.Get(), m_Shape.Width };
  }
  size_t
  GetNumberOfWords() const
  {
    return this->GetBits().GetWordsPerRow() * static_cast<size_t>(m_Shape.Height);
  }

  /** Tests all pixels, and lists those above the threshold. \return false if the observer stops the run */
  bool
  FindPixels(CudaDetectionResult & result)
  {
    const size_t words = this->GetNumberOfWords();
    const auto   tested = m_Executor.template Allocate<uint64_t>(1);
    m_Words = m_Executor.template Allocate<uint32_t>(words);
    m_Executor.Fill(m_Words.Get(), words, 0);
    m_Executor.Fill(tested.Get(), 1, 0);
    const auto    strips = static_cast<int32_t>((m_Shape.Height - 1) / RowsOfStrip + 1);
    const int64_t pixelsOfStrip = static_cast<int64_t>(m_Shape.Width) * RowsOfStrip;
    const auto    stripsOfPart =
      static_cast<int32_t>(std::clamp<int64_t>(m_Request.PixelsOfPart / pixelsOfStrip, 1, strips));
    for (int32_t first = 0; first < strips; first += stripsOfPart)
    {
      if (!this->GoesOn(ShareOfWindows * static_cast<float>(first) / static_cast<float>(strips)))
      {
        return false;
      }
      this->TestStrips(first, std::min(strips - first, stripsOfPart), tested.Get());
    }
    m_Ranks = m_Executor.template Allocate<uint32_t>(words + 1);
    m_NumberOfPixels =
      m_Executor.ExclusiveScanAndRead(functors::CountPixelsOfWord{ m_Words.Get() }, words, m_Ranks.Get());
    m_Pixels = m_Executor.template Allocate<uint32_t>(m_NumberOfPixels);
    m_Executor.ParallelFor(words, functors::ListPixels{ this->GetBits(), m_Ranks.Get(), m_Pixels.Get() });
    result.NumberOfTestedPixels = m_Executor.Read(tested.Get());
    result.NumberOfPixelsAboveThreshold = m_NumberOfPixels;
    return this->GoesOn(ShareOfWindows);
  }

  void
  TestStrips(int32_t first, int32_t number, uint64_t * tested) const
  {
    m_Executor.VisitScene([&](const auto & scene) {
      using SceneType = std::decay_t<decltype(scene)>;
      const functors::FindPixels<SceneType, Atomics> find{ scene, m_Shape, m_Test, this->GetBits(), tested, first };
      if constexpr (TExecutor::IsCoarseGrained)
      {
        using TileType = functors::FindPixelsOfTile<SceneType, Atomics>;
        m_Executor.ParallelFor(static_cast<size_t>(number) * TileType::GetNumberOfTiles(m_Shape.Width),
                               TileType{ find });
      }
      else
      {
        m_Executor.ParallelFor(static_cast<size_t>(number) * static_cast<size_t>(m_Shape.Width),
                               functors::FindPixelsOfColumn<SceneType, Atomics>{ find });
      }
    });
  }

  /** Finds the components and their most significant pixels. */
  void
  FindComponents()
  {
    const size_t pixels = m_NumberOfPixels;
    const auto   parents = m_Executor.template Allocate<uint32_t>(pixels);
    const auto   logs = m_Executor.template Allocate<double>(pixels);
    m_Components = m_Executor.template Allocate<uint32_t>(pixels);
    m_Executor.ParallelFor(pixels, executor::functors::Iota{ parents.Get() });
    m_Executor.ParallelFor(
      pixels, functors::UniteNeighbors<Atomics>{ this->GetBits(), m_Ranks.Get(), m_Pixels.Get(), parents.Get() });
    m_NumberOfComponents = executor::NumberSets(m_Executor, parents.Get(), pixels, m_Components.Get());
    m_Table = m_Executor.template Allocate<Component>(m_NumberOfComponents);
    m_Executor.Fill(m_Table.Get(), m_NumberOfComponents, 0);
    m_Executor.VisitScene([&](const auto & scene) {
      using SceneType = std::decay_t<decltype(scene)>;
      m_Executor.ParallelFor(pixels,
                             functors::SumComponents<SceneType, Atomics>{
                               scene, m_Shape, m_Test, m_Pixels.Get(), m_Components.Get(), m_Table.Get(), logs.Get() });
      m_Executor.ParallelFor(
        pixels, functors::FindPeaks<Atomics>{ m_Pixels.Get(), m_Components.Get(), logs.Get(), m_Table.Get() });
      m_Executor.ParallelFor(m_NumberOfComponents,
                             functors::SumPeaks<SceneType>{ scene, m_Shape, m_Test, m_Table.Get() });
    });
  }

  /** Makes the table of the components of allowed sizes. \return the new number of each component, with the entry 0 for
   * pixels of none */
  std::vector<uint32_t>
  MakeTable(std::vector<CudaDetection> & detections) const
  {
    const uint64_t         maximum = m_Parameters.MaximumNumberOfPixels;
    std::vector<Component> table(m_NumberOfComponents);
    m_Executor.Download(m_Table.Get(), table.size(), table.data());
    std::vector<uint32_t> numbers(table.size() + 1, 0);
    for (size_t i = 0; i < table.size(); ++i)
    {
      const uint64_t pixels = table[i].NumberOfPixels;
      if (pixels >= m_Parameters.MinimumNumberOfPixels && (maximum == 0 || pixels <= maximum))
      {
        detections.push_back(this->Describe(table[i]));
        numbers[i + 1] = static_cast<uint32_t>(detections.size());
      }
    }
    region::CheckLargestLabel("The detection", detections.size(), "targets", m_Request.LabelType);
    return numbers;
  }

  CudaDetection
  Describe(const Component & component) const
  {
    constexpr double logTen = 2.30258509299404568402;
    const NoiseLaw   law = m_Test.Law.Law;
    const auto       pixels = static_cast<double>(component.NumberOfPixels);
    CudaDetection    detection;
    detection.NumberOfPixels = component.NumberOfPixels;
    detection.BoundingBox = { { component.GetLeft(m_Shape.Width),
                                component.GetTop(m_Shape.Height),
                                static_cast<int32_t>(component.Right) + 1,
                                static_cast<int32_t>(component.Bottom) + 1 } };
    detection.Centroid = { { static_cast<double>(component.SumOfX) / pixels,
                             static_cast<double>(component.SumOfY) / pixels } };
    detection.Peak = { { static_cast<int32_t>(component.GetPeak() % static_cast<uint32_t>(m_Shape.Width)),
                         static_cast<int32_t>(component.GetPeak() / static_cast<uint32_t>(m_Shape.Width)) } };
    detection.Significance = -component.LogFalseAlarm / logTen;
    detection.Statistic = m_Test.GetLikelihoodRatio(component.AtPeak);
    detection.Target = region::MakeStatistics(component.AtPeak.Target, m_Samples, law);
    detection.Background = region::MakeStatistics(component.AtPeak.Ring, m_Samples, law);
    return detection;
  }

  template <typename TLabel>
  void
  WriteLabels(const std::vector<uint32_t> & numbers, TLabel * labels, size_t stride) const
  {
    const auto onExecutor = m_Executor.Upload(numbers.data(), numbers.size());
    m_Executor.ParallelFor(static_cast<size_t>(m_Shape.Width) * static_cast<size_t>(m_Shape.Height),
                           functors::ClearLabels<TLabel>{ m_Shape.Width, labels, stride });
    m_Executor.ParallelFor(m_NumberOfPixels,
                           functors::WriteLabels<TLabel>{
                             m_Pixels.Get(), m_Components.Get(), onExecutor.Get(), m_Shape.Width, labels, stride });
  }
};

/** \exception ExceptionObject if the image or its mask is not valid, or if it is smaller than the windows */
void
CheckInput(const CudaDetectionInput & input, const CudaDetectionParameters & parameters);
} // namespace itk::cuda::detection

#endif
