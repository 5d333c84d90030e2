// SPDX-License-Identifier: Apache-2.0
#include "runtime/DetailNames.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaStressFilterCase.h"

namespace itk::cuda::test
{
namespace
{
template <typename TFilter>
class DiscreteCase : public StressFilterCase<TFilter>
{
public:
  DiscreteCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
  {
    constexpr unsigned int      dimension = TFilter::ImageDimension;
    typename TFilter::ArrayType variance;
    for (unsigned int d = 0; d < dimension; ++d)
    {
      variance[d] = random.LogUniform(0.1, 30.0);
    }
    const double error = random.LogUniform(0.001, 0.1);
    const auto   width = static_cast<unsigned int>(random.Integer(3, 48));
    const auto   axes = static_cast<unsigned int>(random.Integer(1, dimension));
    if (random.Chance(0.3))
    {
      this->RequestRandomPart(random);
    }
    this->SetParameters = [=](TFilter * filter) {
      filter->SetVariance(variance);
      filter->SetMaximumError(error);
      filter->SetMaximumKernelWidth(width);
      filter->SetFilterDimensionality(axes);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetMaximumError(2.0); };
    this->IsItkOnTheHost = true;
    std::ostringstream text;
    text << "variance " << variance << ", maximum error " << error << ", kernels of at most " << width
         << " pixels along " << axes << " axes";
    this->Describe(text.str());
  }
};

template <typename TFilter>
class PartitionedCase : public StressFilterCase<TFilter>
{
public:
  PartitionedCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
  {
    using PartitionEnum = CudaFiltersEnums::Partition;
    using BordersEnum = CudaFiltersEnums::LineBorders;
    using StorageEnum = CudaFiltersEnums::IntermediateStorage;

    const auto size = this->GetImage()->GetLargestPossibleRegion().GetSize();
    const auto shortest = *std::min_element(size.begin(), size.end());
    const auto sigma = random.LogUniform(0.5, 30.0);
    const auto partition = random.Choose({ PartitionEnum::OneWay, PartitionEnum::TwoWay, PartitionEnum::Exact });
    const auto borders = random.Choose({ BordersEnum::AsPublished, BordersEnum::Exact });
    const auto storage = random.Choose({ StorageEnum::Local, StorageEnum::Global });
    const auto lines = random.Choose({ 4u, 8u, 16u, 32u, 64u });
    const auto blocks = random.Integer(0, CudaMaximumNumberOfSections(shortest)); // 0: automatic
    const bool window = random.Chance(0.3);
    this->SetParameters = [=](TFilter * filter) {
      window ? filter->SetFilterWindow(2.0 * sigma) : filter->SetSigma(sigma);
      filter->SetPartition(partition);
      filter->SetLineBorders(borders);
      filter->SetIntermediateStorage(storage);
      filter->SetLinesPerBlock(lines);
      filter->SetNumberOfBlocks(std::max<uint64_t>(1, blocks));
      filter->SetAutomaticNumberOfBlocks(blocks == 0);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetLinesPerBlock(5); };
    std::ostringstream text;
    text << partition << ", borders " << borders << ", " << storage << ", " << lines << " lines per block, " << blocks
         << " blocks, sigma " << sigma << (window ? " pixels" : "");
    this->Describe(text.str());
  }
};

template <typename TInput, typename TOutput = TInput>
using Partitioned = CudaPartitionedRecursiveGaussianImageFilter<TInput, TOutput>;
} // namespace

StressCasePointer
MakeDiscreteStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<DiscreteCase,
                        CudaDiscreteGaussianImageFilter<Image<float, 2>>,
                        CudaDiscreteGaussianImageFilter<Image<short, 3>>,
                        CudaDiscreteGaussianImageFilter<Image<unsigned char, 2>, Image<double, 2>>>(random, backend);
}

StressCasePointer
MakePartitionedStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<PartitionedCase,
                        Partitioned<Image<unsigned char, 2>>,
                        Partitioned<Image<float, 3>>,
                        Partitioned<VectorImage<short, 2>>,
                        Partitioned<Image<double, 2>>,
                        Partitioned<Image<unsigned int, 3>, Image<float, 3>>>(random, backend);
}
} // namespace itk::cuda::test
