// SPDX-License-Identifier: Apache-2.0
#include "ArrayFilter.h"

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailSlabRequests.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

namespace cudafilters
{
namespace
{
using itk::CudaComponentType;
using itk::CudaDetail::CudaGaussianPlan;
using itk::CudaDetail::CudaImageView;
using itk::CudaDetail::CudaProgressFunction;

/** Converts a result to the type of the output. */
template <typename TTo, typename TFrom>
TTo
Convert(TFrom value)
{
  if constexpr (std::is_integral_v<TTo>)
  {
    // All limits of the integer types are numbers of double.
    const double number = value;
    if (!(number >= std::numeric_limits<TTo>::min()))
    {
      return number != number ? TTo(0) : std::numeric_limits<TTo>::min();
    }
    return static_cast<TTo>(std::min<double>(number, std::numeric_limits<TTo>::max()));
  }
  else
  {
    return static_cast<TTo>(value);
  }
}

CudaComponentType
GetComputeType(const HostArray & input, const HostArray & output)
{
  const auto needsDouble = [](CudaComponentType type) {
    return type == CudaComponentType::Double || type == CudaComponentType::Int || type == CudaComponentType::UInt;
  };
  return needsDouble(input.Type) || needsDouble(output.Type) ? CudaComponentType::Double : CudaComponentType::Float;
}

/** Returns the part of an array at an index along its first or its last axis. */
HostArray
TakeIndex(HostArray array, bool first, size_t index)
{
  const auto place = first ? 0 : array.Shape.size() - 1;
  array.Data = GetElement(array, index * array.Strides[place]);
  array.Shape.erase(array.Shape.begin() + place);
  array.Strides.erase(array.Strides.begin() + place);
  return array;
}

template <typename TIterator>
size_t
Multiply(TIterator begin, TIterator end)
{
  return std::accumulate(begin, end, size_t{ 1 }, std::multiplies<>());
}

/** Gives a view through which an array is transferred. Where the array's own layout does not allow that, it is the view
 * of a copy in adjacent memory. The view of an array without data is empty. */
class Transferred
{
public:
  explicit Transferred(const HostArray & array)
  {
    if (array.Data && !this->TryView(array))
    {
      m_Copy.emplace(array.Shape, array.Type);
      this->TryView(m_Copy->Get());
    }
  }

  const CudaImageView &
  GetView() const
  {
    return m_View;
  }

  /** Copies the array, if a copy is transferred instead. */
  void
  Load(const HostArray & array, itk::MultiThreaderBase * threader) const
  {
    if (m_Copy)
    {
      CopyPixels(array, m_Copy->Get(), threader);
    }
  }

  /** Copies to the array what has been transferred instead of it. */
  void
  Store(const HostArray & array, itk::MultiThreaderBase * threader) const
  {
    if (m_Copy)
    {
      CopyPixels(m_Copy->Get(), array, threader);
    }
  }

private:
  /** Takes a view of the array, whose first axes are merged if a view has no room for all. */
  bool
  TryView(HostArray array)
  {
    while (array.Shape.size() > CudaImageView::MaximumDimension)
    {
      if (array.Strides[0] != array.Strides[1] * array.Shape[1])
      {
        return false;
      }
      array.Shape[1] *= array.Shape[0];
      array.Shape.erase(array.Shape.begin());
      array.Strides.erase(array.Strides.begin());
    }
    m_View = MakeView(array);
    return CanTransfer(m_View);
  }

  CudaImageView          m_View;
  std::optional<Scratch> m_Copy;
};

} // namespace

bool
HoldsNonFinite(const HostArray & array, itk::MultiThreaderBase * threader)
{
  std::atomic<bool> found{ false };
  const auto        look = [&](auto zero) {
    using T = decltype(zero);
    ForEachRow({ array }, threader, [&](const Row & row) {
      const T * const pixels = row.Get<T>(0);
      int             others = 0;
      for (size_t x = 0; x < row.Size; ++x)
      {
        others |= std::abs(pixels[x * row.Strides[0]]) <= std::numeric_limits<T>::max() ? 0 : 1;
      }
      if (others != 0)
      {
        found = true;
      }
    });
  };
  if (array.Type == CudaComponentType::Float)
  {
    look(0.0f);
  }
  else if (array.Type == CudaComponentType::Double)
  {
    look(0.0);
  }
  return found;
}

namespace
{
/** Runs passes, and the steps that combine their results, computing in T. */
template <typename T>
class FilterRun
{
public:
  FilterRun(const ArrayFilter & filter, const CudaProgressFunction & progress)
    : m_Filter(filter)
    , m_Progress(progress)
    , m_BoundaryValue(filter.BoundaryValue)
    , m_Threader(itk::MultiThreaderBase::New())
  {
    m_Backend.Requested = filter.Backend;
    m_Backend.DeviceIndex = filter.DeviceIndex;
    m_Backend.Streaming = filter.Streaming;
    m_Backend.DeviceMemoryLimit = filter.DeviceMemoryLimit;
  }

  ~FilterRun()
  {
    if (m_Filter.Ran)
    {
      *m_Filter.Ran = m_Backend;
    }
  }

  FilterRun(const FilterRun &) = delete;
  FilterRun &
  operator=(const FilterRun &) = delete;

  bool
  RunOnAll(const HostArray & input, const HostArray & output)
  {
    if (this->PrefersArrays(input))
    {
      const Arrays ran = this->RunOnArrays(input, nullptr, output);
      if (ran != Arrays::NotRun)
      {
        return ran == Arrays::Complete;
      }
    }
    m_LooksAt = this->LooksForNonFinite(input) ? input.Data : nullptr;
    this->RunOnEveryPixel(input, output);
    return !m_HasFound;
  }

  void
  RunOnValid(const HostArray & input, const HostArray * valid, const HostArray & output)
  {
    if (this->RunOnArrays(input, valid, output) == Arrays::NotRun)
    {
      this->RunOnValidOfItems(input, valid, output);
    }
  }

private:
  /** What a run on arrays in the memory of a GPU has done. */
  enum class Arrays
  {
    NotRun,
    Complete,
    FoundNonFinite // and stored no output
  };

  bool
  LooksForNonFinite(const HostArray & input) const
  {
    return m_Filter.KeepsNaN && (input.Type == CudaComponentType::Float || input.Type == CudaComponentType::Double);
  }

  bool
  CanMask() const
  {
    return m_Filter.MinimumWeight > 0.0;
  }

  /** Returns whether any pass of the terms has the property. */
  template <typename TProperty>
  bool
  HasPass(const TProperty & property) const
  {
    const auto & terms = m_Filter.Terms;
    return std::any_of(terms.begin(), terms.end(), [&](const ArrayTerm & term) {
      return std::any_of(term.Passes.begin(), term.Passes.end(), property);
    });
  }

  /** Returns whether a run on arrays, which are in the device's memory as a whole, transfers fewer pixels than one or
   * more plans. If pixels that are NaN turn up, it can leave them out without another upload. This matters where the
   * upload does not overlap with the run of the plan. */
  bool
  PrefersArrays(const HostArray & input) const
  {
    if (m_Filter.Output != ArrayOutput::Components)
    {
      return true;
    }
    const std::vector<LinePass> & passes = m_Filter.Terms.front().Passes;
    bool                          isOnePlan = std::ptrdiff_t(passes.size()) <= GetMaximumNumberOfPasses(input);
    for (size_t i = 1; i < passes.size(); ++i)
    {
      isOnePlan = isOnePlan && this->CanFollow(passes[i], passes[i - 1], input);
    }
    const auto isCutNowhere = [](const LinePass & pass) {
      return pass.Mode != itk::CudaFiltersEnums::BoundaryMode::Nearest;
    };
    // Of a small image, another upload takes less time than a wait for the search in each run.
    constexpr size_t leastPixels = size_t{ 1 } << 20;
    const bool       isSmall = Multiply(input.Shape.begin(), input.Shape.end()) < leastPixels;
    return m_Filter.Terms.size() == 1 && (!isOnePlan || (!isSmall && this->LooksForNonFinite(input) &&
                                                         this->CanMask() && this->HasPass(isCutNowhere)));
  }

  /** Runs the filter on arrays in the memory of a GPU, with the bits of RunTerms() and RunMaskedPasses() there.
   * \param valid the mask, or nullptr */
  Arrays
  RunOnArrays(const HostArray & input, const HostArray * valid, const HostArray & output)
  {
    using itk::CudaDetail::CudaArrayMask;
    using itk::CudaDetail::CudaArrayMemory;
    const auto hasBoundaryValue = [this](const LinePass & pass) {
      return pass.Mode == itk::CudaFiltersEnums::BoundaryMode::Constant && m_Filter.BoundaryValue != 0.0;
    };
    const std::vector<ArrayTerm> & terms = m_Filter.Terms;
    const bool                     masks = valid || (this->LooksForNonFinite(input) && this->CanMask());
    if (m_IsOnHost || terms.size() > itk::CudaDetail::CudaArrayTerms::MaximumNumberOfResults ||
        (masks && this->HasPass(hasBoundaryValue)))
    {
      return Arrays::NotRun;
    }
    const HostArray                       maskArray = valid ? *valid : HostArray();
    const Transferred                     from(input);
    const Transferred                     mask(maskArray);
    const Transferred                     to(output);
    const itk::CudaDetail::CudaHostArrays arrays{ from.GetView(), mask.GetView(), to.GetView(), ComputeType };
    const size_t images = std::max<size_t>(masks ? 4 : 1, TermPlan(terms, false).GetNumberOfImages() - 2);
    if (!m_Backend.SelectDevice(nullptr, CudaWorkingSet(arrays, images), true))
    {
      m_IsOnHost = true;
    }
    if (m_IsOnHost || m_Backend.RunsInSlabs())
    {
      return Arrays::NotRun;
    }

    from.Load(input, m_Threader);
    mask.Load(maskArray, m_Threader);
    const auto   beginOfItem = input.Shape.end() - static_cast<std::ptrdiff_t>(m_Filter.NumberOfItemAxes);
    const size_t items = Multiply(input.Shape.begin(), beginOfItem);
    Arrays       ran = Arrays::Complete;
    const auto   queue = [&](const CudaArrayMemory & memory, const void * validPixels, void * result) {
      const bool looks = this->LooksForNonFinite(input);
      if (validPixels || (looks && CudaFindNonFinite(memory, Multiply(input.Shape.begin(), input.Shape.end()))))
      {
        if (!this->CanMask())
        {
          ran = Arrays::FoundNonFinite;
          return false;
        }
        std::vector<itk::CudaDetail::CudaArrayPass> passes;
        for (const LinePass & pass : terms.front().Passes)
        {
          passes.push_back(MakeArrayPass({ beginOfItem, input.Shape.end() }, pass, m_Filter));
        }
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QueueMaskedItems(
          passes, CudaArrayMask{ validPixels, looks, nan, m_Filter.MinimumWeight }, memory, result, items);
        return true;
      }
      CudaQueueTermsOnStream(MakeArrayTerms(m_Filter, input.Shape), memory, result);
      return true;
    };
    if (!CudaRunOnDevice(arrays, m_Backend, queue, m_Progress))
    {
      m_IsOnHost = true;
      return Arrays::NotRun;
    }
    if (ran == Arrays::Complete)
    {
      to.Store(output, m_Threader);
    }
    return ran;
  }

  void
  RunOnValidOfItems(const HostArray & input, const HostArray * valid, const HostArray & output)
  {
    if (input.Shape.size() == m_Filter.NumberOfItemAxes)
    {
      this->RunOnValidOfItem(input, valid, output);
      return;
    }
    for (size_t i = 0; i < input.Shape.front(); ++i)
    {
      const HostArray validOfPart = valid ? TakeIndex(*valid, true, i) : HostArray();
      this->RunOnValidOfItems(TakeIndex(input, true, i), valid ? &validOfPart : nullptr, TakeIndex(output, true, i));
    }
  }

  static constexpr CudaComponentType ComputeType =
    std::is_same_v<T, double> ? CudaComponentType::Double : CudaComponentType::Float;

  void
  RunOnEveryPixel(const HostArray & input, const HostArray & output)
  {
    const std::vector<ArrayTerm> &        terms = m_Filter.Terms;
    const bool                            isCombined = m_Filter.Output != ArrayOutput::Components;
    std::vector<std::unique_ptr<Scratch>> scratch(terms.size());
    std::vector<HostArray>                results;
    for (size_t i = 0; i < terms.size(); ++i)
    {
      if (!isCombined && this->StoresDirectly(terms[i], input, GetComponent(input, output, i)))
      {
        results.push_back(GetComponent(input, output, i));
        continue;
      }
      scratch[i] = std::make_unique<Scratch>(input.Shape, ComputeType);
      results.push_back(scratch[i]->Get());
    }
    this->RunTerms(input, results);
    if (isCombined)
    {
      this->Combine(results, output);
      return;
    }
    for (size_t i = 0; i < terms.size(); ++i)
    {
      if (scratch[i])
      {
        this->StoreProduct(results[i], terms[i].Factor, GetComponent(input, output, i));
      }
    }
  }

  /** Returns whether the last pass of a term can store the component. The passes on the host convert from double, but
   * results of integer types are truncated numbers of the type of the computation. */
  bool
  StoresDirectly(const ArrayTerm & term, const HostArray & input, const HostArray & component)
  {
    const bool isFloat = component.Type == CudaComponentType::Float || component.Type == CudaComponentType::Double;
    return term.Factor == 1.0 &&
           (isFloat || this->SelectDevice(this->MakePart({ term.Passes.front() }, input, component)));
  }

  static HostArray
  GetComponent(const HostArray & input, const HostArray & output, size_t i)
  {
    return output.Shape.size() == input.Shape.size() ? output : TakeIndex(output, false, i);
  }

  void
  RunTerms(const HostArray & input, const std::vector<HostArray> & results)
  {
    const std::vector<ArrayTerm> & terms = m_Filter.Terms;
    const std::vector<LinePass> &  first = terms.front().Passes;
    if (terms.size() == 1 || this->SelectDevice(this->MakePart({ first.front() }, input, results.front())))
    {
      for (size_t i = 0; i < terms.size(); ++i)
      {
        this->RunPasses(terms[i].Passes, input, results[i]);
      }
      return;
    }
    const TermPlan                        plan(terms, true);
    std::vector<HostArray>                images{ input };
    std::vector<std::unique_ptr<Scratch>> scratch;
    images.insert(images.end(), results.begin(), results.end());
    while (images.size() < plan.GetNumberOfImages())
    {
      scratch.push_back(std::make_unique<Scratch>(input.Shape, ComputeType));
      images.push_back(scratch.back()->Get());
    }
    for (const TermPlan::Step & step : plan.GetSteps())
    {
      this->RunPassOnHost(step.Pass, images[step.Source], images[step.Destination]);
    }
  }

  /** Runs passes one after the other, each on the result of the one before. On a GPU passes of the same mode are one
   * plan, so that the pixels cross the link once in each direction. */
  void
  RunPasses(const std::vector<LinePass> & passes, const HostArray & input, const HostArray & result)
  {
    std::unique_ptr<Scratch> scratch;
    const auto               getNext = [&](auto end) -> const HostArray & {
      if (end == passes.end() || result.Type == ComputeType)
      {
        return result;
      }
      if (!scratch)
      {
        scratch = std::make_unique<Scratch>(input.Shape, ComputeType);
      }
      return scratch->Get();
    };
    HostArray source = input;
    for (auto begin = passes.begin(); begin != passes.end();)
    {
      auto end = begin + 1;
      while (end != passes.end() && end - begin < GetMaximumNumberOfPasses(input) &&
             this->CanFollow(*end, end[-1], input))
      {
        ++end;
      }
      if (m_IsOnHost || !this->RunOnDevice({ begin, end }, source, getNext(end)))
      {
        end = begin + 1;
        this->RunPassOnHost(*begin, source, getNext(end));
      }
      source = getNext(end);
      begin = end;
    }
  }

  /** Returns the number of passes that a plan can have. Of an image with more axes than a view, one axis is left to the
   * adjacent pixels, without which the image cannot be transferred. */
  static std::ptrdiff_t
  GetMaximumNumberOfPasses(const HostArray & array)
  {
    constexpr std::ptrdiff_t most = CudaImageView::MaximumDimension;
    const auto               isLong = [](size_t size) { return size > 1; };
    return std::count_if(array.Shape.begin(), array.Shape.end(), isLong) > most ? most - 1 : most;
  }

  /** Returns whether a plan can have a pass behind another one. If the image is cut into slabs, the first pass must be
   * the one across them, which is along the first axis of more than one pixel. */
  bool
  CanFollow(const LinePass & pass, const LinePass & previous, const HostArray & array) const
  {
    return pass.Mode == previous.Mode && array.Shape[this->GetAxis(previous, array)] > 1;
  }

  size_t
  GetAxis(const LinePass & pass, const HostArray & array) const
  {
    return array.Shape.size() - m_Filter.NumberOfItemAxes + pass.Axis;
  }

  /** A plan, and the views of a source and a result. Axes that no view has room for come one index after the other. */
  struct Part
  {
    CudaGaussianPlan        Plan;
    CudaImageView           Source, Result;
    std::vector<SharedAxis> OtherAxes;
  };

  /** Returns the plan of passes of the same mode along at most four axes. */
  Part
  MakePart(const std::vector<LinePass> & passes, const HostArray & source, const HostArray & result) const
  {
    std::vector<size_t> filtered;
    for (const LinePass & pass : passes)
    {
      filtered.push_back(this->GetAxis(pass, source));
    }
    const std::vector<SharedAxis> axes = MergeAxes({ source, result }, filtered);
    // Axes of one pixel come last, so that the lines along the last of the others are those of contiguous pixels.
    std::vector<size_t> order(axes.size());
    std::iota(order.begin(), order.end(), size_t{ 0 });
    std::stable_partition(order.begin(), order.end(), [&](size_t i) { return axes[i].Size > 1; });

    Part part;
    part.Source.ComponentType = source.Type;
    part.Result.ComponentType = result.Type;
    std::vector<unsigned int> places(axes.size());
    unsigned int              number = 0;
    size_t                    room = CudaImageView::MaximumDimension - filtered.size();
    for (const size_t i : order)
    {
      const bool isFiltered = std::find(filtered.begin(), filtered.end(), i) != filtered.end();
      if (!isFiltered && room == 0)
      {
        part.OtherAxes.push_back(axes[i]);
        continue;
      }
      room -= isFiltered ? 0 : 1;
      part.Source.Size[number] = part.Result.Size[number] = axes[i].Size;
      part.Source.Stride[number] = axes[i].Strides[0];
      part.Result.Stride[number] = axes[i].Strides[1];
      places[i] = number++;
    }
    part.Plan.Boundary = { passes.front().Mode, m_BoundaryValue };
    part.Plan.NumberOfImages = 2;
    for (size_t i = 0; i < passes.size(); ++i)
    {
      const auto from = static_cast<unsigned int>(i % 2);
      const auto kernel = itk::CudaDetail::MakeGaussianImpulseResponse(
        m_Filter.Approximation, passes[i].Order, passes[i].Sigma, 1.0, false);
      part.Plan.Passes.push_back({ places[filtered[i]], from, { { kernel, 1 - from } } });
    }
    part.Plan.Results = { static_cast<unsigned int>(passes.size() % 2) };
    return part;
  }

  /** Calls run(source, result) with the views of a part. It returns whether it could run, which ends the calls. */
  template <typename TRun>
  static bool
  ForEachView(Part & part, const HostArray & source, const HostArray & result, const TRun & run)
  {
    size_t count = 1;
    for (const SharedAxis & axis : part.OtherAxes)
    {
      count *= axis.Size;
    }
    for (size_t i = 0; i < count; ++i)
    {
      size_t offsets[2] = { 0, 0 };
      size_t rest = i;
      for (const SharedAxis & axis : part.OtherAxes)
      {
        offsets[0] += rest % axis.Size * axis.Strides[0];
        offsets[1] += rest % axis.Size * axis.Strides[1];
        rest /= axis.Size;
      }
      part.Source.Data = GetElement(source, offsets[0]);
      part.Result.Data = GetElement(result, offsets[1]);
      if (!run(part.Source, part.Result))
      {
        return false;
      }
    }
    return true;
  }

  /** Looks for NaN and infinity in the source of a pass, if it is the pixels in which to look. */
  void
  LookOnHost(const HostArray & source)
  {
    if (m_LooksAt == source.Data)
    {
      m_LooksAt = nullptr;
      m_HasFound = HoldsNonFinite(source, m_Threader);
    }
  }

  void
  RunPassOnHost(const LinePass & pass, const HostArray & source, const HostArray & result)
  {
    this->LookOnHost(source);
    if (m_HasFound)
    {
      return;
    }
    Part part = this->MakePart({ pass }, source, result);
    ForEachView(part, source, result, [&](const CudaImageView & from, const CudaImageView & to) {
      CudaRunOnHost(part.Plan, from, to, m_Threader, m_Progress);
      return true;
    });
  }

  /** Decides whether the plan runs on a GPU. Once it has been the host, it remains the host. */
  bool
  SelectDevice(const Part & part)
  {
    const bool canCut = part.Plan.Boundary.Mode != itk::CudaFiltersEnums::BoundaryMode::Wrap;
    m_IsOnHost =
      m_IsOnHost || !m_Backend.SelectDevice(nullptr, CudaWorkingSet(part.Plan, part.Source, part.Result), canCut);
    return !m_IsOnHost;
  }

  /** Returns false if the host must run the passes, because it was selected or the device's memory has run out. */
  bool
  RunOnDevice(const std::vector<LinePass> & passes, const HostArray & source, const HostArray & result)
  {
    Part part = this->MakePart(passes, source, result);
    if (!this->SelectDevice(part))
    {
      return false;
    }
    if (!CanTransfer(part.Source))
    {
      const Scratch adjacent(source.Shape, source.Type);
      CopyPixels(source, adjacent.Get(), m_Threader);
      m_LooksAt = m_LooksAt == source.Data ? adjacent.Get().Data : m_LooksAt;
      return this->RunOnDevice(passes, adjacent.Get(), result);
    }
    if (!CanTransfer(part.Result))
    {
      const Scratch adjacent(result.Shape, ComputeType);
      if (!this->RunOnDevice(passes, source, adjacent.Get()))
      {
        return false;
      }
      this->StoreProduct(adjacent.Get(), 1.0, result);
      return true;
    }
    if (m_Backend.RunsInSlabs())
    {
      this->LookOnHost(source);
    }
    const bool looks = m_LooksAt == source.Data;
    m_IsOnHost = !ForEachView(part, source, result, [&](const CudaImageView & from, const CudaImageView & to) {
      if (m_HasFound)
      {
        return true;
      }
      if (looks)
      {
        return CudaRunAndFindNonFinite(part.Plan, from, to, m_Backend, m_Progress, m_HasFound);
      }
      return m_Backend.RunsInSlabs() ? CudaRunInSlabs(part.Plan, from, to, m_Backend, m_Threader, m_Progress)
                                     : CudaRunOnDevice(part.Plan, from, to, m_Backend, m_Progress);
    });
    m_LooksAt = looks && !m_IsOnHost ? nullptr : m_LooksAt;
    return !m_IsOnHost;
  }

  /** Stores values that compute(row, x, count, values) writes for pixels x to x + count of a row. */
  template <typename TCompute>
  void
  Store(const std::vector<HostArray> & inputs, const HostArray & output, const TCompute & compute)
  {
    const size_t           last = inputs.size();
    std::vector<HostArray> arrays(last + 1, output);
    std::copy(inputs.begin(), inputs.end(), arrays.begin());
    VisitType(output.Type, [&](auto zero) {
      using TOutput = decltype(zero);
      ForEachRow(arrays, m_Threader, [&](const Row & row) {
        constexpr size_t blockSize = 1024;
        T                values[blockSize];
        for (size_t begin = 0; begin < row.Size; begin += blockSize)
        {
          const size_t count = std::min(blockSize, row.Size - begin);
          compute(row, begin, count, values);
          TOutput * const pixels = row.Get<TOutput>(last) + begin * row.Strides[last];
          for (size_t x = 0; x < count; ++x)
          {
            pixels[x * row.Strides[last]] = Convert<TOutput>(values[x]);
          }
        }
      });
    });
  }

  void
  StoreProduct(const HostArray & result, double factor, const HostArray & output)
  {
    this->Store({ result }, output, [&](const Row & row, size_t begin, size_t count, T * values) {
      const T * const pixels = row.Get<T>(0) + begin * row.Strides[0];
      for (size_t x = 0; x < count; ++x)
      {
        values[x] = pixels[x * row.Strides[0]] * static_cast<T>(factor);
      }
    });
  }

  /** Stores the sum or the length of the results, which are in adjacent memory. */
  void
  Combine(const std::vector<HostArray> & results, const HostArray & output)
  {
    const bool isLength = m_Filter.Output == ArrayOutput::Length;
    const auto get = [&](const Row & row, size_t i, size_t x) {
      return row.Get<T>(i)[x * row.Strides[i]] * static_cast<T>(m_Filter.Terms[i].Factor);
    };
    this->Store(results, output, [&](const Row & row, size_t begin, size_t count, T * values) {
      for (size_t i = 0; i < results.size(); ++i)
      {
        for (size_t x = 0; x < count; ++x)
        {
          const T value = get(row, i, begin + x);
          const T summand = isLength ? value * value : value;
          values[x] = i == 0 ? summand : values[x] + summand;
        }
      }
      for (size_t x = 0; isLength && x < count; ++x)
      {
        // Squares below the lower limit may have lost digits, but at it and above they are below the rounding error.
        constexpr bool isFloat = std::is_same_v<T, float>;
        constexpr T    least = isFloat ? 0x1p-100 : 0x1p-960;
        constexpr T    most = isFloat ? 0x1p126 : 0x1p1022;
        if (values[x] >= least && values[x] <= most)
        {
          values[x] = std::sqrt(values[x]);
          continue;
        }
        values[x] = std::abs(get(row, 0, begin + x));
        for (size_t i = 1; i < results.size(); ++i)
        {
          values[x] = std::hypot(values[x], get(row, i, begin + x));
        }
      }
    });
  }

  /** Converts the pixels of an array to the type of the computation. */
  void
  ConvertPixels(const HostArray & input, const HostArray & copy)
  {
    VisitType(input.Type, [&](auto zero) {
      using TInput = decltype(zero);
      this->Store({ input }, copy, [](const Row & row, size_t begin, size_t count, T * values) {
        const TInput * const pixels = row.Get<TInput>(0) + begin * row.Strides[0];
        for (size_t x = 0; x < count; ++x)
        {
          values[x] = static_cast<T>(pixels[x * row.Strides[0]]);
        }
      });
    });
  }

  enum Flag : unsigned char
  {
    Hidden,    // not valid
    Counting,  // valid, and a number unless KeepsNaN is off
    NotANumber // valid, but NaN or infinite
  };

  /** Sets the flag of each pixel. Returns whether all pixels count. */
  bool
  FindFlags(const HostArray & pixels, const HostArray * valid, const HostArray & flags)
  {
    std::vector<HostArray> arrays{ pixels, flags };
    if (valid)
    {
      arrays.push_back(*valid);
    }
    std::atomic<bool> allCount{ true };
    ForEachRow(arrays, m_Threader, [&](const Row & row) {
      for (size_t x = 0; x < row.Size; ++x)
      {
        const bool isValid = !valid || row.Get<unsigned char>(2)[x * row.Strides[2]] != 0;
        const bool isNumber = !m_Filter.KeepsNaN || std::isfinite(row.Get<T>(0)[x * row.Strides[0]]);
        const Flag flag = !isValid ? Hidden : (isNumber ? Counting : NotANumber);
        row.Get<unsigned char>(1)[x * row.Strides[1]] = flag;
        if (flag != Counting)
        {
          allCount = false;
        }
      }
    });
    return allCount;
  }

  /** Returns the value that is subtracted from the pixels. */
  T
  FindReferenceValue(const T * pixels, const unsigned char * flags, size_t count) const
  {
    for (const LinePass & pass : m_Filter.Terms.front().Passes)
    {
      if (pass.Mode == itk::CudaFiltersEnums::BoundaryMode::Constant)
      {
        return static_cast<T>(m_Filter.BoundaryValue);
      }
    }
    for (size_t i = 0; i < count; ++i)
    {
      if (flags[i] == Counting && std::isfinite(pixels[i]))
      {
        return pixels[i];
      }
    }
    return T(0);
  }

  void
  RunOnValidOfItem(const HostArray & input, const HostArray * valid, const HostArray & output)
  {
    const std::vector<LinePass> & passes = m_Filter.Terms.front().Passes;
    const Scratch                 values(input.Shape, ComputeType);
    const Scratch                 flags(input.Shape, CudaComponentType::UChar);
    this->ConvertPixels(input, values.Get());
    if (this->FindFlags(values.Get(), valid, flags.Get()))
    {
      this->RunOnEveryPixel(input, output);
      return;
    }
    size_t count = 1;
    for (const size_t size : input.Shape)
    {
      count *= size;
    }
    const T reference = this->FindReferenceValue(
      static_cast<const T *>(values.Get().Data), static_cast<const unsigned char *>(flags.Get().Data), count);
    const Scratch weights(input.Shape, ComputeType);
    ForEachRow({ values.Get(), weights.Get(), flags.Get() }, m_Threader, [&](const Row & row) {
      T * const value = row.Get<T>(0);
      T * const weight = row.Get<T>(1);
      for (size_t x = 0; x < row.Size; ++x)
      {
        const bool counts = row.Get<unsigned char>(2)[x] == Counting;
        value[x] = counts ? value[x] - reference : T(0);
        weight[x] = counts ? T(1) : T(0);
      }
    });
    // Beyond their ends, lines continue with valid pixels of the reference value.
    m_BoundaryValue = 1.0;
    this->RunPasses(passes, weights.Get(), weights.Get());
    m_BoundaryValue = 0.0;
    this->RunPasses(passes, values.Get(), values.Get());
    m_BoundaryValue = m_Filter.BoundaryValue;
    const auto divide = [&](const Row & row, size_t begin, size_t number, T * quotients) {
      for (size_t x = 0; x < number; ++x)
      {
        const T    weight = row.Get<T>(1)[(begin + x) * row.Strides[1]];
        const bool isKnown = weight >= static_cast<T>(m_Filter.MinimumWeight) &&
                             row.Get<unsigned char>(2)[(begin + x) * row.Strides[2]] != NotANumber;
        quotients[x] = isKnown ? row.Get<T>(0)[(begin + x) * row.Strides[0]] / weight + reference
                               : std::numeric_limits<T>::quiet_NaN();
      }
    };
    this->Store({ values.Get(), weights.Get(), flags.Get() }, output, divide);
  }

  const ArrayFilter &                   m_Filter;
  const CudaProgressFunction &          m_Progress;
  double                                m_BoundaryValue;
  const itk::MultiThreaderBase::Pointer m_Threader;
  itk::CudaDetail::CudaFilterBackend    m_Backend;
  bool                                  m_IsOnHost{ false };
  const void *                          m_LooksAt{ nullptr }; // the pixels in which to look for NaN and infinity
  bool                                  m_HasFound{ false };  // such pixels, so that nobody wants the results
};

/** Calls run(filterRun) with a FilterRun of the type of the computation. */
template <typename TRun>
void
VisitFilterRun(const ArrayFilter &          filter,
               const HostArray &            input,
               const HostArray &            output,
               const CudaProgressFunction & progress,
               const TRun &                 run)
{
  if (GetComputeType(input, output) == CudaComponentType::Double)
  {
    FilterRun<double> filterRun(filter, progress);
    run(filterRun);
  }
  else
  {
    FilterRun<float> filterRun(filter, progress);
    run(filterRun);
  }
}
} // namespace

TermPlan::TermPlan(const std::vector<ArrayTerm> & terms, bool overwrites)
  : m_Terms(terms)
  , m_Overwrites(overwrites)
  , m_NumberOfImages(1 + terms.size())
{
  std::vector<size_t> all(terms.size());
  std::iota(all.begin(), all.end(), size_t{ 0 });
  this->Plan(0, 0, all);
}

/** Plans the passes of some terms from pass `level` on. */
void
TermPlan::Plan(size_t level, size_t source, std::vector<size_t> terms)
{
  const auto getPass = [&](size_t term) -> const LinePass & { return m_Terms[term].Passes[level]; };
  while (!terms.empty())
  {
    const LinePass & pass = getPass(terms.front());
    const auto end = std::stable_partition(terms.begin(), terms.end(), [&](size_t i) { return getPass(i) == pass; });
    const std::vector<size_t> group(terms.begin(), end);
    terms.erase(terms.begin(), end);
    if (level + 1 == m_Terms.front().Passes.size())
    {
      for (const size_t term : group)
      {
        m_Steps.push_back({ pass, source, 1 + term });
      }
      continue;
    }
    const bool   isOver = m_Overwrites && source != 0 && terms.empty();
    const size_t image = isOver ? source : this->TakeImage();
    m_Steps.push_back({ pass, source, image });
    this->Plan(level + 1, image, group);
    if (!isOver)
    {
      m_Free.push_back(image);
    }
  }
}

size_t
TermPlan::TakeImage()
{
  if (m_Free.empty())
  {
    return m_NumberOfImages++;
  }
  const size_t image = m_Free.back();
  m_Free.pop_back();
  return image;
}

itk::CudaDetail::CudaArrayPass
MakeArrayPass(const std::vector<size_t> & shape, const LinePass & pass, const ArrayFilter & filter)
{
  const auto kernel =
    itk::CudaDetail::MakeGaussianImpulseResponse(filter.Approximation, pass.Order, pass.Sigma, 1.0, false);
  const auto                                  place = shape.begin() + static_cast<std::ptrdiff_t>(pass.Axis);
  const size_t                                outer = Multiply(shape.begin(), place);
  const size_t                                inner = Multiply(place + 1, shape.end());
  const itk::CudaDetail::CudaGaussianBoundary boundary{ pass.Mode, filter.BoundaryValue };
  // With inner 1 the lines are contiguous, which the filter expects along its first axis.
  if (inner == 1)
  {
    return { MakeGaussianLinePlan(0, kernel, boundary), { { *place, outer, 1, 1, 1 } } };
  }
  return { MakeGaussianLinePlan(1, kernel, boundary), { { inner, *place, outer, 1, 1 } } };
}

itk::CudaDetail::CudaArrayTerms
MakeArrayTerms(const ArrayFilter & filter, const std::vector<size_t> & shape)
{
  using itk::CudaDetail::CudaArrayCombine;
  const TermPlan                  plan(filter.Terms, false);
  itk::CudaDetail::CudaArrayTerms terms;
  terms.NumberOfImages = plan.GetNumberOfImages();
  terms.Combine = filter.Output == ArrayOutput::Length ? CudaArrayCombine::Length : CudaArrayCombine::Sum;
  for (TermPlan::Step step : plan.GetSteps())
  {
    step.Pass.Axis += shape.size() - filter.NumberOfItemAxes;
    terms.Steps.push_back({ MakeArrayPass(shape, step.Pass, filter), step.Source, step.Destination });
  }
  for (const ArrayTerm & term : filter.Terms)
  {
    terms.Factors.push_back(term.Factor);
  }
  return terms;
}

void
QueueMaskedItems(const std::vector<itk::CudaDetail::CudaArrayPass> & passes,
                 itk::CudaDetail::CudaArrayMask                      mask,
                 itk::CudaDetail::CudaArrayMemory                    memory,
                 void *                                              output,
                 size_t                                              items)
{
  const auto & size = passes.front().Size;
  const size_t count = Multiply(size.begin(), size.end());
  const size_t bytes = count * itk::CudaComponentSize(memory.ComponentType);
  for (size_t i = 0; i < items; ++i)
  {
    CudaQueueMaskedOnStream(passes, mask, memory, output);
    memory.Data = static_cast<unsigned char *>(memory.Data) + bytes;
    output = static_cast<unsigned char *>(output) + bytes;
    mask.Valid = mask.Valid ? static_cast<const unsigned char *>(mask.Valid) + count : nullptr;
  }
}

bool
RunOnAll(const ArrayFilter &          filter,
         const HostArray &            input,
         const HostArray &            output,
         const CudaProgressFunction & progress)
{
  bool isDone = false;
  VisitFilterRun(filter, input, output, progress, [&](auto & run) { isDone = run.RunOnAll(input, output); });
  return isDone;
}

void
RunOnValid(const ArrayFilter &          filter,
           const HostArray &            input,
           const HostArray *            valid,
           const HostArray &            output,
           const CudaProgressFunction & progress)
{
  VisitFilterRun(filter, input, output, progress, [&](auto & run) { run.RunOnValid(input, valid, output); });
}
} // namespace cudafilters
