// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkCudaStressFilterCase.h"

#include <cmath>

namespace itk::cuda::test
{
namespace
{
/** An image of the size and geometry of another one, with pixels function(x, y). */
template <typename TImage, typename TFunction>
typename TImage::Pointer
MakeImageLike(const ImageBase<2> * other, const TFunction & function)
{
  const auto image = TImage::New();
  image->CopyInformation(other);
  image->SetRegions(other->GetLargestPossibleRegion());
  image->Allocate();
  const size_t width = image->GetLargestPossibleRegion().GetSize(0);
  const size_t height = image->GetLargestPossibleRegion().GetSize(1);
  for (size_t i = 0; i < width * height; ++i)
  {
    image->GetBufferPointer()[i] = static_cast<typename TImage::PixelType>(function(i % width, i / width));
  }
  return image;
}

/** Stripes and bars of other brightness in noise: whole numbers of 1 and more, which every law describes. */
template <typename TImage>
typename TImage::Pointer
MakeFields(StressRandom & random)
{
  const auto   geometry = TImage::New();
  const double longest = std::min(250.0, static_cast<double>(random.GetLongestSide()));
  const size_t width = static_cast<size_t>(random.LogUniform(2.0, longest));
  const size_t height = static_cast<size_t>(random.LogUniform(2.0, longest));
  geometry->SetRegions(typename TImage::RegionType({ { 5, -3 } }, { { width, height } }));
  SetRandomGeometry(geometry.GetPointer(), random);
  const uint64_t side = random.Integer(6, 60);
  const double   contrast = random.Uniform(1.0, 2.0);
  return MakeImageLike<TImage>(geometry, [&](size_t x, size_t y) {
    const double mean = 20.0 * std::pow(contrast, static_cast<double>((x / side + y / (side + 3)) % 3));
    return std::floor(mean + random.Uniform(-15.0, 15.0));
  });
}

/** All of the partition: boundaries, table and tree. */
uint64_t
HashPartition(const DataObject * data)
{
  const CudaRegionPartitionResult & result = static_cast<const CudaRegionPartition *>(data)->GetResult();
  const auto                        add = [](uint64_t hash, const auto & values) {
    return values.empty() ? hash : HashBytes(values.data(), values.size() * sizeof(values[0]), hash);
  };
  uint64_t hash = add(add(result.Regions.size(), result.Nodes), result.Edges);
  for (const CudaPartitionRegion & region : result.Regions)
  {
    const double numbers[] = { static_cast<double>(region.NumberOfPixels), region.Mean, region.Area, region.Perimeter };
    hash = add(HashBytes(numbers, sizeof(numbers), hash), region.Neighbors);
  }
  for (const auto & merge : result.Merges)
  {
    const double numbers[] = { static_cast<double>(merge.First), static_cast<double>(merge.Second), merge.Change };
    hash = HashBytes(numbers, sizeof(numbers), hash);
  }
  return HashBytes(&result.Description, sizeof(result.Description), hash);
}

template <typename TFilter>
class PartitionCase : public StressFilterCase<TFilter>
{
public:
  using InputImageType = typename TFilter::InputImageType;
  using MaskType = typename TFilter::MaskImageType;
  using LabelType = typename TFilter::LabelImageType;

  PartitionCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(MakeFields<InputImageType>(random), backend)
  {
    const auto law = CudaNoiseLaws()[random.Integer(0, CudaNoiseLaws().size() - 1)].Law;
    const auto looks = random.Choose({ 0.0, 1.0, 4.0 });
    const auto block = random.Choose({ 1u, 2u, 4u, 8u });
    const auto iterations = static_cast<unsigned int>(random.Integer(1, 12));
    const bool merging = random.Chance(0.7);
    const bool labelsOnly = random.Chance(0.4);
    if (random.Chance(0.3))
    {
      m_ValidMask = MakeImageLike<MaskType>(
        this->GetImage(), [&](size_t x, size_t y) { return x + y == 0 || !random.Chance(0.1) ? 1 : 0; });
    }
    const uint64_t square = random.Integer(3, 40);
    if (random.Chance(0.3))
    {
      m_InitialLabels = MakeImageLike<LabelType>(
        this->GetImage(), [square](size_t x, size_t y) { return (x / square + y / square) % 3; });
    }
    this->SetParameters = [=](TFilter * filter) {
      filter->SetNoiseLaw(law);
      filter->SetForegroundThreshold(30.0);
      filter->SetNumberOfLooks(looks);
      filter->SetSegmentCost(9.0);
      filter->SetBlockSize(block);
      filter->SetMaximumNumberOfIterations(iterations);
      filter->SetAllowMerging(merging);
      filter->SetLabelsOnly(labelsOnly);
      // Updates change the regions of inputs, so that every filter has images of its own.
      filter->SetValidMask(m_ValidMask ? SharePixels(m_ValidMask.GetPointer()) : nullptr);
      filter->SetInitialLabels(m_InitialLabels ? SharePixels(m_InitialLabels.GetPointer()) : nullptr);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetBlockSize(3); };
    std::ostringstream text;
    text << law << ", looks " << looks << ", block " << block << ", at most " << iterations << " iterations"
         << (merging ? "" : ", no merging") << (labelsOnly ? ", labels only" : "")
         << (m_ValidMask ? ", valid mask" : "")
         << (m_InitialLabels ? ", squares of " + std::to_string(square) + " pixels as labels" : "");
    this->Describe(text.str());
  }

protected:
  std::vector<StressOutput>
  GetOutputs(TFilter * filter) const override
  {
    CudaRegionPartition * const partition = filter->GetPartition();
    return { MakeStressOutput(filter->GetOutput()), { partition, HashPartition, HashPartition(partition), 0 } };
  }

private:
  typename MaskType::Pointer  m_ValidMask;
  typename LabelType::Pointer m_InitialLabels;
};

template <typename TInput, typename TOutput>
using Partition = CudaRegionPartitionImageFilter<Image<TInput, 2>, Image<TOutput, 2>>;
} // namespace

StressCasePointer
MakePartitionStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<PartitionCase,
                        Partition<unsigned char, unsigned int>,
                        Partition<unsigned short, unsigned int>,
                        Partition<short, unsigned short>,
                        Partition<float, unsigned short>>(random, backend);
}
} // namespace itk::cuda::test
