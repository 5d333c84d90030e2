// SPDX-License-Identifier: Apache-2.0
#include "snake/Batch.h"
#include "region/Checks.h"
#include "snake/Plan.h"
#include "snake/Start.h"
#include "itkMacro.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

// Runs the snake on the windows of many starts in one image, and draws the label image of the results.

namespace itk::cuda::snake
{
namespace
{
constexpr int32_t MinimumAutomaticMargin = 16;

/** A bounding box, of pixels from First to Last. It is empty at first. */
struct Box
{
  LatticePoint First{ std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::max() };
  LatticePoint Last{ -1, -1 };

  void
  Add(const LatticePoint & first, const LatticePoint & last)
  {
    First = { std::min(First.X, first.X), std::min(First.Y, first.Y) };
    Last = { std::max(Last.X, last.X), std::max(Last.Y, last.Y) };
  }
};

struct WindowStart
{
  PixelRectangle   Window;
  CudaSnakePolygon Polygon; // relative to the window's corner; empty: the run traces the pixels of the label
  uint32_t         Label{ 0 };
};

/** Returns the box with a margin around it, as far as the image reaches. */
PixelRectangle
MakeWindow(const Box & box, uint32_t margin, const PixelRectangle & whole)
{
  const int64_t longer = std::max(box.Last.X - box.First.X, box.Last.Y - box.First.Y) + int64_t{ 1 };
  const int64_t around = margin > 0 ? int64_t{ margin } : std::max<int64_t>(longer, MinimumAutomaticMargin);
  const auto    x0 = static_cast<int32_t>(std::max<int64_t>(0, box.First.X - around));
  const auto    y0 = static_cast<int32_t>(std::max<int64_t>(0, box.First.Y - around));
  const auto    x1 = static_cast<int32_t>(std::min<int64_t>(whole.Width, box.Last.X + around + 1));
  const auto    y1 = static_cast<int32_t>(std::min<int64_t>(whole.Height, box.Last.Y + around + 1));
  return { x0, y0, x1 - x0, y1 - y0 };
}

/** Returns the pixels of a row of the labels. */
const uint32_t *
GetRow(const CudaImageView & labels, int64_t y)
{
  return static_cast<const uint32_t *>(labels.Data) + y * static_cast<int64_t>(labels.Stride[1]);
}

/** Returns the bounding boxes of all labels above 0. */
std::map<uint32_t, Box>
FindBoxes(const CudaImageView & labels, const Threads & threads)
{
  const auto              width = static_cast<int32_t>(labels.Size[0]);
  std::map<uint32_t, Box> boxes;
  std::mutex              mutex;
  threads.ForRanges(labels.Size[1], 64, [&](size_t begin, size_t end) {
    std::map<uint32_t, Box> found;
    for (auto y = static_cast<int32_t>(begin); y < static_cast<int32_t>(end); ++y)
    {
      const uint32_t * const row = GetRow(labels, y);
      for (int32_t x = 0; x < width;)
      {
        const int32_t  first = x;
        const uint32_t label = row[x];
        while (x < width && row[x] == label)
        {
          ++x;
        }
        if (label != 0)
        {
          found[label].Add({ first, y }, { x - 1, y });
        }
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    for (const auto & [label, box] : found)
    {
      boxes[label].Add(box.First, box.Last);
    }
  });
  return boxes;
}

/** Checks the starts, and returns them with their windows. */
std::vector<WindowStart>
MakeStarts(const CudaRegionSnakeStarts &     starts,
           const PixelRectangle &            whole,
           const CudaRegionSnakeParameters & parameters,
           const Threads &                   threads)
{
  std::vector<WindowStart> made;
  if (starts.Labels != nullptr)
  {
    CheckSize(*starts.Labels,
              CudaComponentType::UInt,
              static_cast<size_t>(whole.Width),
              static_cast<size_t>(whole.Height),
              "The label image of the starts");
    if (!starts.Polygons.empty())
    {
      itkGenericExceptionMacro("Both polygons and a label image are given as starts; give one of them");
    }
    for (const auto & [label, box] : FindBoxes(*starts.Labels, threads))
    {
      made.push_back({ MakeWindow(box, starts.Margin, whole), {}, label });
    }
  }
  for (size_t i = 0; i < starts.Polygons.size(); ++i)
  {
    WindowStart start;
    try
    {
      start.Polygon = CheckStartPolygon(starts.Polygons[i], whole.Width, whole.Height, parameters.MaximumNumberOfNodes);
    }
    catch (const ExceptionObject & error)
    {
      const std::string prefix = "ITK ERROR: ";
      const std::string words = error.GetDescription();
      itkGenericExceptionMacro("Start " << i << " of " << starts.Polygons.size() << ": "
                                        << (words.find(prefix) == 0 ? words.substr(prefix.size()) : words));
    }
    Box box;
    for (const LatticePoint & corner : start.Polygon)
    {
      // The corner X is the left one of pixel X and the right one of pixel X - 1.
      box.Add(corner, { corner.X - 1, corner.Y - 1 });
    }
    start.Window = MakeWindow(box, starts.Margin, whole);
    for (LatticePoint & corner : start.Polygon)
    {
      corner = { corner.X - start.Window.X, corner.Y - start.Window.Y };
    }
    made.push_back(std::move(start));
  }
  return made;
}

/** A mask of the pixels that have a label in a window. A run can start from it. */
class LabelMask
{
public:
  LabelMask(const CudaImageView & labels, const WindowStart & start)
  {
    m_Pixels.reserve(static_cast<size_t>(start.Window.Width) * start.Window.Height);
    for (int32_t y = 0; y < start.Window.Height; ++y)
    {
      const uint32_t * const row = GetRow(labels, start.Window.Y + y) + start.Window.X;
      std::transform(row, row + start.Window.Width, std::back_inserter(m_Pixels), [&](uint32_t label) {
        return static_cast<unsigned char>(label == start.Label);
      });
    }
    m_View.Data = m_Pixels.data();
    m_View.ComponentType = CudaComponentType::UChar;
    m_View.Size = { { static_cast<size_t>(start.Window.Width), static_cast<size_t>(start.Window.Height), 1, 1 } };
    m_View.Stride = { { 1, m_View.Size[0], m_Pixels.size(), m_Pixels.size() } };
  }

  LabelMask(const LabelMask &) = delete;
  LabelMask &
  operator=(const LabelMask &) = delete;

  const CudaImageView &
  GetView() const
  {
    return m_View;
  }

private:
  std::vector<unsigned char> m_Pixels;
  CudaImageView              m_View;
};

/** Traces the outlines of labels whose runs have no coarse level, so that these runs start from polygons. */
void
TraceLabels(std::vector<WindowStart> &        starts,
            const CudaImageView &             labels,
            const CudaRegionSnakeParameters & parameters,
            const Threads &                   threads)
{
  threads.ForRanges(starts.size(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      if (GetCoarseExponent(parameters.Schedule, starts[i].Window) == 0)
      {
        const LabelMask  mask(labels, starts[i]);
        CudaSnakePolygon polygon = TraceMask(mask.GetView(), 0, parameters.MaximumNumberOfNodes);
        if (polygon.size() <= parameters.MaximumNumberOfNodes)
        {
          starts[i].Polygon = std::move(polygon);
        }
      }
    }
  });
}

/** \class BatchObserver
 * \brief Reports the progress of runs in several threads to an observer that is called from the thread of the
 * constructor, and keeps the first exception. */
class BatchObserver
{
public:
  BatchObserver(const CudaRegionSnakeObserver & observer, size_t numberOfRuns)
    : m_Observer(observer)
    , m_NumberOfRuns(numberOfRuns)
  {}

  /** Returns whether runs are to end. */
  bool
  IsOver() const
  {
    return m_IsOver;
  }

  /** Returns an observer for one of the runs. */
  CudaRegionSnakeObserver
  MakeObserver()
  {
    CudaRegionSnakeObserver observer;
    observer.ReportsLevels = false;
    observer.Progress = [this](float) { return this->Report(); };
    return observer;
  }

  void
  EndRun()
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      ++m_NumberOfEndedRuns;
    }
    m_Ended.notify_all();
    this->Report();
  }

  /** Reports progress until all runs have ended, if this is the observer's thread. Call it when no run is left to
   * begin.
   */
  void
  WaitForOthers()
  {
    constexpr auto               betweenReports = std::chrono::milliseconds(50);
    std::unique_lock<std::mutex> lock(m_Mutex);
    while (this->IsThreadOfObserver() && !m_IsOver && m_NumberOfEndedRuns < m_NumberOfRuns)
    {
      m_Ended.wait_for(lock, betweenReports);
      lock.unlock();
      this->Report();
      lock.lock();
    }
  }

  /** Reports the share of the work that is done in advance, or of the runs that have ended if that is larger. Does
   * nothing in other threads than the observer's. Returns whether runs go on. */
  bool
  Report(double shareInAdvance = 0.0)
  {
    if (m_Observer.Progress && !m_IsOver && this->IsThreadOfObserver())
    {
      const auto runs = static_cast<double>(std::max<size_t>(m_NumberOfRuns, 1));
      m_Share = std::max({ m_Share, shareInAdvance, static_cast<double>(m_NumberOfEndedRuns) / runs });
      m_IsOver = !m_Observer.Progress(static_cast<float>(m_Share)) || m_IsOver;
    }
    return !m_IsOver;
  }

  /** Keeps an exception, unless another one came first, and ends all runs. */
  void
  Fail(std::exception_ptr error)
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_Error = m_Error ? m_Error : std::move(error);
      m_IsOver = true;
    }
    m_Ended.notify_all();
  }

  /** Throws the exception that was kept. */
  void
  Rethrow() const
  {
    if (m_Error)
    {
      std::rethrow_exception(m_Error);
    }
  }

private:
  const CudaRegionSnakeObserver & m_Observer;
  const size_t                    m_NumberOfRuns;
  const std::thread::id           m_Thread{ std::this_thread::get_id() };
  std::atomic<size_t>             m_NumberOfEndedRuns{ 0 };
  std::atomic<bool>               m_IsOver{ false };
  double                          m_Share{ 0.0 }; // reported last
  std::mutex                      m_Mutex;
  std::condition_variable         m_Ended;
  std::exception_ptr              m_Error;

  bool
  IsThreadOfObserver() const
  {
    return std::this_thread::get_id() == m_Thread;
  }
};

/** Returns the run of a start that has a polygon. */
SnakeRun
MakeRun(const WindowStart &               start,
        const CudaRegionSnakeParameters & parameters,
        const CudaRegionSnakeObserver &   observer)
{
  return { parameters, start.Window, start.Polygon.empty() ? nullptr : &start.Polygon, nullptr, observer };
}

/** Runs the snake on one window. A start without enough valid pixels in it or around it has no polygon. */
template <typename TRun>
CudaRegionSnakeRegion
RunWindow(const WindowStart & start, const CudaImageView * labels, SnakeRun run, const TRun & function)
{
  std::optional<LabelMask> mask;
  if (run.StartPolygon == nullptr)
  {
    mask.emplace(*labels, start);
    run.StartMask = &mask->GetView();
  }
  CudaRegionSnakeRegion region;
  static_cast<CudaRegionSnakeResult &>(region) = RunInWindow(run, function);
  region.WindowCorner = { start.Window.X, start.Window.Y };
  region.WindowSize = { start.Window.Width, start.Window.Height };
  region.StartLabel = start.Label;
  return region;
}

/** What rows of a label image say about the regions of a batch. */
struct LabelCounts
{
  std::map<std::pair<size_t, size_t>, uint64_t> CommonPixels; // of two regions, with or without the label of a third
  std::map<size_t, uint64_t>                    HiddenPixels; // of a region, with the label of another one
};

/** Writes rows of the label image of a batch. */
template <typename TPixel>
class LabelRows
{
public:
  LabelRows(const std::vector<CudaRegionSnakeRegion> & regions,
            const std::vector<CudaSnakeRowSpans> &     spans,
            const CudaImageView &                      labels)
    : m_Regions(regions)
    , m_Spans(spans)
    , m_Labels(labels)
  {}

  /** Writes the rows begin to end - 1, and counts their pixels. Regions are drawn from the last to the first, so that
   * the lower label remains. */
  LabelCounts
  Write(int32_t begin, int32_t end) const
  {
    LabelCounts                    counts;
    std::vector<std::vector<Span>> drawn(static_cast<size_t>(end - begin));
    for (int32_t y = begin; y < end; ++y)
    {
      std::fill_n(this->GetRow(y), m_Labels.Size[0], TPixel{ 0 });
    }
    for (size_t i = m_Regions.size(); i-- > 0;)
    {
      const int32_t top = m_Spans[i].First.empty() ? 0 : m_Regions[i].Polygon.front().Y;
      const auto    height = static_cast<int32_t>(m_Spans[i].First.size()) - 1;
      for (int32_t y = std::max(begin, top); y < std::min(end, top + height); ++y)
      {
        this->WriteRow(i, y, static_cast<size_t>(y - top), drawn[static_cast<size_t>(y - begin)], counts);
      }
    }
    return counts;
  }

private:
  /** Adjacent pixels of a region in a row. */
  struct Span
  {
    size_t  Region;
    int32_t Begin;
    int32_t End;
  };

  const std::vector<CudaRegionSnakeRegion> & m_Regions;
  const std::vector<CudaSnakeRowSpans> &     m_Spans; // of rows that count from the top of the polygon
  const CudaImageView &                      m_Labels;

  TPixel *
  GetRow(int32_t y) const
  {
    return static_cast<TPixel *>(m_Labels.Data) + static_cast<size_t>(y) * m_Labels.Stride[1];
  }

  /** Writes a region's pixels of a row. `drawn` has the spans of the regions before, and gets those of this one. */
  void
  WriteRow(size_t region, int32_t y, size_t rowOfSpans, std::vector<Span> & drawn, LabelCounts & counts) const
  {
    const CudaSnakeRowSpans & spans = m_Spans[region];
    const size_t              numberOfOthers = drawn.size();
    for (size_t i = spans.First[rowOfSpans]; i < spans.First[rowOfSpans + 1]; i += 2)
    {
      const Span     span{ region, spans.Columns[i], spans.Columns[i + 1] };
      TPixel * const row = this->GetRow(y);
      bool           hides = false;
      for (int32_t x = span.Begin; x < span.End; ++x)
      {
        if (row[x] != 0)
        {
          ++counts.HiddenPixels[static_cast<size_t>(row[x]) - 1];
          hides = true;
        }
        row[x] = static_cast<TPixel>(region + 1);
      }
      for (size_t k = 0; hides && k < numberOfOthers; ++k)
      {
        const int32_t common = std::min(span.End, drawn[k].End) - std::max(span.Begin, drawn[k].Begin);
        if (common > 0)
        {
          counts.CommonPixels[{ region, drawn[k].Region }] += static_cast<uint64_t>(common);
        }
      }
      drawn.push_back(span);
    }
  }
};
} // namespace

CudaRegionSnakeBatch
RunBatch(const SnakeImage &                image,
         const CudaRegionSnakeStarts &     starts,
         const CudaRegionSnakeParameters & parameters,
         const CudaRegionSnakeObserver &   observer,
         const Threads &                   threads,
         BatchBackend &                    backend)
{
  std::vector<WindowStart> made = MakeStarts(starts, image.GetWhole(), parameters, threads);
  if (starts.Labels != nullptr)
  {
    TraceLabels(made, *starts.Labels, parameters, threads);
  }
  CudaRegionSnakeBatch batch;
  batch.Regions.resize(made.size());
  BatchObserver         progress(observer, made.size());
  std::vector<SnakeRun> runs;
  for (const WindowStart & start : made)
  {
    runs.push_back(MakeRun(start, parameters, progress.MakeObserver()));
  }
  if (progress.Report())
  {
    backend.RunTogether(runs, [&](double share) { return progress.Report(share); });
  }
  std::atomic<size_t> next{ 0 };
  const auto          runAll = [&](const Threads & threadsOfRun) {
    try
    {
      for (size_t i = next++; i < made.size() && !progress.IsOver(); i = next++)
      {
        batch.Regions[i] = RunWindow(
          made[i], starts.Labels, runs[i], [&](const SnakeRun & run) { return backend.Run(i, run, threadsOfRun); });
        progress.EndRun();
      }
      progress.WaitForOthers();
    }
    catch (...)
    {
      progress.Fail(std::current_exception());
    }
  };
  if (made.size() < threads.GetNumber())
  {
    runAll(threads);
  }
  else
  {
    threads.ForRanges(threads.GetNumber(), 1, [&](size_t, size_t) { runAll(Threads(1)); });
  }
  progress.Rethrow();
  batch.IsAborted = progress.IsOver();
  return batch;
}
} // namespace itk::cuda::snake

namespace itk::CudaDetail
{
std::vector<CudaRegionSnakeOverlap>
CudaWriteRegionSnakeLabels(std::vector<CudaRegionSnakeRegion> & regions,
                           const CudaImageView &                labels,
                           unsigned int                         numberOfThreads)
{
  const cuda::region::Threads    threads(numberOfThreads);
  std::vector<CudaSnakeRowSpans> spans(regions.size());
  threads.ForRanges(regions.size(), 64, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      regions[i].NumberOfHiddenPixels = 0;
      if (!regions[i].SignificantBoundary)
      {
        continue;
      }
      CudaSnakePolygon polygon = regions[i].Polygon;
      const int32_t    top = polygon.front().Y; // the smallest, because the polygon is canonical
      int32_t          bottom = top;
      for (CudaSnakePoint & corner : polygon)
      {
        bottom = std::max(bottom, corner.Y);
        corner.Y -= top;
      }
      spans[i] = ComputeCudaSnakeRowSpans(polygon, bottom - top);
    }
  });
  cuda::snake::LabelCounts counts;
  std::mutex               mutex;
  const auto               write = [&](auto zero) {
    using PixelType = decltype(zero);
    if (regions.size() > std::numeric_limits<PixelType>::max())
    {
      itkGenericExceptionMacro("There are " << regions.size() << " regions; the label image's pixels hold at most "
                                            << std::numeric_limits<PixelType>::max() << " labels");
    }
    const cuda::snake::LabelRows<PixelType> rows(regions, spans, labels);
    threads.ForRanges(labels.Size[1], 64, [&](size_t begin, size_t end) {
      const cuda::snake::LabelCounts    found = rows.Write(static_cast<int32_t>(begin), static_cast<int32_t>(end));
      const std::lock_guard<std::mutex> lock(mutex);
      for (const auto & [pair, number] : found.CommonPixels)
      {
        counts.CommonPixels[pair] += number;
      }
      for (const auto & [region, number] : found.HiddenPixels)
      {
        regions[region].NumberOfHiddenPixels += number;
      }
    });
  };
  switch (labels.ComponentType)
  {
    case CudaComponentType::UChar:
      write(uint8_t{ 0 });
      break;
    case CudaComponentType::UShort:
      write(uint16_t{ 0 });
      break;
    case CudaComponentType::UInt:
      write(uint32_t{ 0 });
      break;
    default:
      itkGenericExceptionMacro("The label image has another pixel type than 8, 16 or 32 bits without sign");
  }
  std::vector<CudaRegionSnakeOverlap> listed;
  for (const auto & [pair, number] : counts.CommonPixels)
  {
    listed.push_back({ pair.first, pair.second, number });
  }
  return listed;
}
} // end namespace itk::CudaDetail
