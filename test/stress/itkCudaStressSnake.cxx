// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSnakeBatchFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaStressFilterCase.h"
#include "itkImageRegionIterator.h"

namespace itk::cuda::test
{
namespace
{
using MaskType = Image<unsigned char, 2>;

/** An ellipse of other brightness in noise: whole numbers of 1 and more, which every law describes. */
template <typename TImage>
typename TImage::Pointer
MakeScene(StressRandom & random)
{
  using PixelType = typename TImage::PixelType;
  const auto   image = TImage::New();
  const double longest = std::min(700.0, static_cast<double>(random.GetLongestSide()));
  const size_t width = static_cast<size_t>(random.LogUniform(16.0, longest));
  const size_t height = static_cast<size_t>(random.LogUniform(16.0, longest));
  image->SetRegions(typename TImage::RegionType({ { -7, 11 } }, { { width, height } }));
  SetRandomGeometry(image.GetPointer(), random);
  image->Allocate();
  const double contrast = random.Uniform(1.0, 3.0);
  const double radius = random.Uniform(0.2, 0.4);
  for (size_t i = 0; i < width * height; ++i)
  {
    const double x = (static_cast<double>(i % width) / width - 0.5) / radius;
    const double y = (static_cast<double>(i / width) / height - 0.45) / radius;
    const double mean = x * x + y * y < 1.0 ? 20.0 * contrast : 20.0;
    image->GetBufferPointer()[i] = static_cast<PixelType>(std::floor(mean + random.Uniform(-15.0, 15.0)));
  }
  return image;
}

/** A mask of the image's size, of 1 where `isSet` says so. */
template <typename TImage, typename TIsSet>
MaskType::Pointer
MakeMask(const TImage * image, const TIsSet & isSet)
{
  const auto mask = MaskType::New();
  mask->CopyInformation(image);
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate();
  const size_t width = image->GetLargestPossibleRegion().GetSize(0);
  const size_t height = image->GetLargestPossibleRegion().GetSize(1);
  for (size_t i = 0; i < width * height; ++i)
  {
    mask->GetBufferPointer()[i] = isSet(i % width, i / width) ? 1 : 0;
  }
  return mask;
}

uint64_t
HashPath(const DataObject * data)
{
  const auto * const vertices = static_cast<const PolyLineParametricPath<2> *>(data)->GetVertexList();
  uint64_t           hash = vertices->Size();
  for (unsigned int i = 0; i < vertices->Size(); ++i)
  {
    const double vertex[] = { vertices->ElementAt(i)[0], vertices->ElementAt(i)[1] };
    hash = HashBytes(vertex, sizeof(vertex), hash);
  }
  return hash;
}

template <typename TFilter>
class SnakeCase : public StressFilterCase<TFilter>
{
public:
  using InputImageType = typename TFilter::InputImageType;

  SnakeCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(MakeScene<InputImageType>(random), backend)
  {
    using ScheduleEnum = CudaFiltersEnums::Schedule;
    using StartEnum = CudaFiltersEnums::Start;

    const auto region = this->GetImage()->GetLargestPossibleRegion();
    const auto laws = CudaNoiseLaws();
    const auto law = laws[random.Integer(0, laws.size() - 1)].Law;
    const auto schedule = random.Choose({ ScheduleEnum::CoarseToFine, ScheduleEnum::AsPublished });
    const auto start = random.Choose({ StartEnum::Automatic, StartEnum::MarginRectangle });
    const auto step = static_cast<unsigned int>(random.Integer(1, 40));
    const auto edge = random.LogUniform(4.0, 64.0);
    const bool removal = random.Chance(0.5);
    const auto nodes = static_cast<unsigned int>(random.Choose({ 64u, 512u, 4096u }));

    const size_t width = region.GetSize(0);
    const size_t height = region.GetSize(1);
    if (random.Chance(0.3))
    {
      m_ValidMask = MakeMask(this->GetImage(), [&](size_t, size_t) { return !random.Chance(0.1); });
    }
    const auto                   given = random.Integer(0, 5);
    typename TFilter::RegionType rectangle;
    if (given == 0)
    {
      m_InitialMask = MakeMask(this->GetImage(), [&](size_t x, size_t y) {
        return 4 * x > width && 4 * x < 3 * width && 4 * y > height && 4 * y < 3 * height;
      });
    }
    else if (given == 1)
    {
      rectangle = region;
      rectangle.ShrinkByRadius({ { 1 + width / 5, 1 + height / 5 } });
    }

    this->SetParameters = [=](TFilter * filter) {
      filter->SetNoiseLaw(law);
      filter->SetForegroundThreshold(30.0);
      filter->SetSchedule(schedule);
      filter->SetStart(start);
      filter->SetMaximumStep(step);
      filter->SetMinimumEdgeLength(edge);
      filter->SetUseDescriptionLength(removal);
      filter->SetMaximumNumberOfNodes(nodes);
      filter->SetInitialRegion(rectangle);
      // Updates change the regions of inputs, so that every filter has images of its own.
      filter->SetInitialMask(m_InitialMask ? SharePixels(m_InitialMask.GetPointer()) : nullptr);
      filter->SetValidMask(m_ValidMask ? SharePixels(m_ValidMask.GetPointer()) : nullptr);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetMaximumNumberOfNodes(1); };
    std::ostringstream text;
    text << law << ", " << schedule << ", start " << start
         << (given == 0   ? " (mask)"
             : given == 1 ? " (region)"
                          : "")
         << ", step " << step << ", edges from " << edge << ", at most " << nodes << " nodes"
         << (removal ? ", removal" : "") << (m_ValidMask ? ", valid mask" : "");
    this->Describe(text.str());
  }

protected:
  std::vector<StressOutput>
  GetOutputs(TFilter * filter) const override
  {
    const auto contour = filter->GetContour();
    return { MakeStressOutput(filter->GetOutput()), { contour, HashPath, HashPath(contour), 0 } };
  }

private:
  MaskType::Pointer m_ValidMask;
  MaskType::Pointer m_InitialMask;
};

/** Rectangles or labels all over the scene. */
template <typename TFilter>
class SnakeBatchCase : public StressFilterCase<TFilter>
{
public:
  using InputImageType = typename TFilter::InputImageType;
  using LabelImageType = typename TFilter::LabelImageType;
  using RegionType = typename TFilter::RegionType;

  SnakeBatchCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(MakeScene<InputImageType>(random), backend)
  {
    const auto              region = this->GetImage()->GetLargestPossibleRegion();
    const auto              laws = CudaNoiseLaws();
    const auto              law = laws[random.Integer(0, laws.size() - 1)].Law;
    const auto              margin = random.Choose({ 0u, 8u, 100u });
    const auto              number = random.Integer(0, 10);
    std::vector<RegionType> starts;
    for (size_t i = 0; i < number; ++i)
    {
      RegionType start;
      for (unsigned int d = 0; d < 2; ++d)
      {
        const auto size = random.Integer(4, std::min<size_t>(region.GetSize(d) / 2, 24));
        start.SetSize(d, size);
        start.SetIndex(d,
                       region.GetIndex(d) + static_cast<IndexValueType>(random.Integer(0, region.GetSize(d) - size)));
      }
      starts.push_back(start);
    }
    if (random.Chance(0.3))
    {
      m_Labels = LabelImageType::New();
      m_Labels->CopyInformation(this->GetImage());
      m_Labels->SetRegions(region);
      m_Labels->Allocate(true);
      for (size_t i = 0; i < starts.size(); ++i)
      {
        for (ImageRegionIterator<LabelImageType> pixel(m_Labels, starts[i]); !pixel.IsAtEnd(); ++pixel)
        {
          pixel.Set(static_cast<unsigned int>(3 * i + 2));
        }
      }
      starts.clear();
    }
    if (random.Chance(0.3))
    {
      m_ValidMask = MakeMask(this->GetImage(), [&](size_t, size_t) { return !random.Chance(0.1); });
    }
    this->SetParameters = [=](TFilter * filter) {
      filter->SetNoiseLaw(law);
      filter->SetForegroundThreshold(30.0);
      filter->SetMargin(margin);
      filter->SetMaximumNumberOfNodes(48); // searches in noise would otherwise take long
      filter->ClearStarts();
      for (const RegionType & start : starts)
      {
        filter->AddInitialRegion(start);
      }
      filter->SetInitialLabels(m_Labels ? SharePixels(m_Labels.GetPointer()) : nullptr);
      filter->SetValidMask(m_ValidMask ? SharePixels(m_ValidMask.GetPointer()) : nullptr);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetMaximumNumberOfNodes(1); };
    std::ostringstream text;
    text << law << ", margin " << margin << ", " << number << (m_Labels ? " labels" : " rectangles")
         << (m_ValidMask ? ", valid mask" : "");
    this->Describe(text.str());
  }

protected:
  std::vector<StressOutput>
  GetOutputs(TFilter * filter) const override
  {
    return { MakeStressOutput(filter->GetOutput()) };
  }

private:
  typename LabelImageType::Pointer m_Labels;
  MaskType::Pointer                m_ValidMask;
};

template <typename TInput, typename TOutput>
using SnakeBatch = CudaRegionSnakeBatchFilter<Image<TInput, 2>, Image<TOutput, 2>>;

template <typename TInput, typename TOutput>
using Snake = CudaRegionSnakeImageFilter<Image<TInput, 2>, Image<TOutput, 2>>;
} // namespace

StressCasePointer
MakeSnakeStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<SnakeCase,
                        Snake<unsigned char, unsigned char>,
                        Snake<unsigned short, unsigned char>,
                        Snake<short, unsigned short>,
                        Snake<float, unsigned char>>(random, backend);
}

StressCasePointer
MakeSnakeBatchStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<SnakeBatchCase,
                        SnakeBatch<unsigned char, unsigned char>,
                        SnakeBatch<unsigned short, unsigned int>,
                        SnakeBatch<float, unsigned short>>(random, backend);
}
} // namespace itk::cuda::test
