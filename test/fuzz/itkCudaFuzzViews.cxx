// SPDX-License-Identifier: Apache-2.0

// Views of host memory: streams of bytes of transfers, parts, components, lines and conversions of any layout, each
// against a loop over the pixels.

#include "itkCudaFuzzInput.h"
#include "itkMultiThreaderBase.h"
#include "runtime/image/HostLines.h"
#include "runtime/image/PixelMapping.h"
#include "runtime/transfer/StridedBytes.h"

#include <numeric>

namespace itk::cuda::test
{
namespace
{
using Index = std::array<size_t, 4>;

/** Calls f(index) for all pixels, x first. */
template <typename TFunction>
void
ForEachIndex(const CudaImageView & view, const TFunction & f)
{
  Index index;
  for (index[3] = 0; index[3] < view.Size[3]; ++index[3])
    for (index[2] = 0; index[2] < view.Size[2]; ++index[2])
      for (index[1] = 0; index[1] < view.Size[1]; ++index[1])
        for (index[0] = 0; index[0] < view.Size[0]; ++index[0])
          f(index);
}

size_t
GetPosition(const CudaImageView & view, const Index & index)
{
  return std::inner_product(index.begin(), index.end(), view.Stride.begin(), size_t{ 0 });
}

/** A view with gaps and with axes in any order, in memory that ends where the view ends. */
struct ViewCase
{
  explicit ViewCase(FuzzInput & input)
  {
    View.ComponentType = static_cast<CudaComponentType>(input.Integer(0, 7));
    View.NumberOfComponents = input.Integer(1, 4);
    std::array<unsigned int, 4> order{ { 0, 1, 2, 3 } };
    for (unsigned int axis = 3; axis > 0; --axis)
    {
      std::swap(order[axis], order[input.Integer(0, 3) == 0 ? input.Integer(0, axis) : axis]);
    }
    size_t stride = View.NumberOfComponents;
    size_t elements = View.NumberOfComponents;
    for (const unsigned int axis : order)
    {
      View.Size[axis] = input.Integer(1, axis == 0 ? (input.Integer(0, 7) == 7 ? 70 : 5) : 4);
      View.Stride[axis] = stride + (input.Integer(0, 3) == 0 ? input.Integer(0, 5) : 0);
      elements += (View.Size[axis] - 1) * View.Stride[axis];
      stride = View.Size[axis] * View.Stride[axis];
    }
    Bytes.resize(elements * CudaComponentSize(View.ComponentType));
    View.Data = Bytes.data();
    for (size_t i = 0; i < Bytes.size(); ++i)
    {
      Bytes[i] = static_cast<char>(i * 0x9E3779B1u >> 24);
    }
  }

  size_t
  GetPixelSize() const
  {
    return View.NumberOfComponents * CudaComponentSize(View.ComponentType);
  }

  char *
  GetPixel(const Index & index)
  {
    return Bytes.data() + GetPosition(View, index) * CudaComponentSize(View.ComponentType);
  }

  CudaImageView     View;
  std::vector<char> Bytes;
};

void
FuzzStreams(FuzzInput & input)
{
  ViewCase          test(input);
  const size_t      row = test.View.Size[0] * test.GetPixelSize();
  const size_t      pitch = HasDenseRows(test.View) && input.Flag() ? row + input.Integer(0, 40) : 0;
  std::vector<char> expected;
  ForEachIndex(test.View, [&](const Index & index) {
    if (pitch != 0 && index[0] == 0)
    {
      expected.resize((expected.size() + pitch - 1) / pitch * pitch, 0);
    }
    expected.insert(expected.end(), test.GetPixel(index), test.GetPixel(index) + test.GetPixelSize());
  });
  const StridedBytes stream(test.View, pitch);
  FuzzRequire(stream.GetNumberOfBytes() == expected.size(), "the stream has another number of bytes");
  const size_t      cut = input.Integer(0, expected.size());
  const bool        bypasses = input.Flag();
  std::vector<char> before(cut, 'x');
  std::vector<char> behind(expected.size() - cut, 'x');
  stream.Gather(behind.data(), cut, expected.size(), bypasses);
  stream.Gather(before.data(), 0, cut, bypasses);
  FuzzRequire(std::equal(before.begin(), before.end(), expected.begin()) &&
                std::equal(behind.begin(), behind.end(), expected.begin() + static_cast<ptrdiff_t>(cut)),
              "gathered bytes differ");
  FuzzRequire(stream.GetFirstByte() == test.Bytes.data(), "another first byte");

  // Scattered to a copy whose pixels are others, the bytes make the same image and change nothing between its pixels.
  const std::vector<char> original = test.Bytes;
  ForEachIndex(test.View, [&](const Index & index) {
    for (size_t i = 0; i < test.GetPixelSize(); ++i)
    {
      test.GetPixel(index)[i] ^= 0x55;
    }
  });
  stream.Scatter(before.data(), 0, cut, bypasses);
  stream.Scatter(behind.data(), cut, expected.size(), bypasses);
  FuzzRequire(test.Bytes == original, "scattered bytes differ");
}

void
FuzzParts(FuzzInput & input)
{
  ViewCase                         test(input);
  const auto                       axis = static_cast<unsigned int>(input.Integer(0, 3));
  const auto                       first = input.Integer(0, test.View.Size[axis] - 1);
  const auto                       count = input.Integer(1, test.View.Size[axis] - first);
  const auto                       component = input.Integer(0, test.View.NumberOfComponents - 1);
  const auto                       part = GetComponent(Slice(test.View, axis, first, count), component);
  const auto                       size = CudaComponentSize(test.View.ComponentType);
  std::vector<std::vector<size_t>> visits(GetNumberOfRows(part));
  const auto                       packed = ViewAdjacent(part, nullptr);
  FuzzRequire(IsUniform(packed, 0, 3, 1), "adjacent pixels are not adjacent");
  const auto threader = MultiThreaderBase::New();
  threader->SetNumberOfWorkUnits(static_cast<ThreadIdType>(input.Integer(1, 2)));
  ForEachPixel(
    threader.GetPointer(),
    [&](size_t position, size_t number) { visits[number / part.Size[0]].push_back(position); },
    part,
    packed);
  size_t number = 0;
  ForEachIndex(part, [&](const Index & index) {
    Index whole = index;
    whole[axis] += first;
    const auto * const expected = test.GetPixel(whole) + component * size;
    const auto &       row = visits[number / part.Size[0]];
    const size_t       x = number % part.Size[0];
    FuzzRequire(x < row.size() && static_cast<char *>(part.Data) + row[x] * size == expected,
                "pixel " + std::to_string(number) + " of a part is elsewhere");
    ++number;
  });

  // All lines along an axis, in bundles of any width, are each component of each pixel once.
  constexpr size_t    knownWidth = 4;
  const auto          lines = static_cast<unsigned int>(input.Integer(0, 3));
  const size_t        width = input.Integer(1, 9);
  const LineBundles   bundles(test.View, lines, width);
  std::vector<size_t> positions;
  for (size_t i = 0; i < bundles.GetCount(); ++i)
  {
    const LineBundle bundle = bundles.Get(test.View, i);
    FuzzRequire(bundle.Length == test.View.Size[lines], "a line has another length");
    const auto visit = [&](size_t line, size_t n, size_t position) {
      FuzzRequire(position == bundle.GetPosition(line, n), "a pixel of a line has two positions");
      positions.push_back(position);
    };
    width == knownWidth ? bundle.ForEachPixel<knownWidth>(visit) : bundle.ForEachPixel(visit);
  }
  std::vector<size_t> expected;
  ForEachIndex(test.View, [&](const Index & index) {
    for (size_t c = 0; c < test.View.NumberOfComponents; ++c)
    {
      expected.push_back(GetPosition(test.View, index) + c);
    }
  });
  std::sort(positions.begin(), positions.end());
  std::sort(expected.begin(), expected.end());
  FuzzRequire(positions == expected, "lines do not visit each pixel once");
}

/** Converts and maps hostile numbers to all types. The reference clamps in long double, which holds all integers. */
void
FuzzConversions(FuzzInput & input)
{
  const double        value = input.Hostile();
  CudaPixelConversion conversion;
  conversion.Mapping = static_cast<CudaPixelMapping>(input.Integer(0, 4));
  conversion.Rounding = static_cast<CudaRounding>(input.Integer(0, 1));
  conversion.Shift = input.Parameter(1.0, 100.0);
  conversion.Scale = input.Parameter(0.01, 100.0);
  conversion.Lower = input.Parameter(1.0, 100.0);
  conversion.Upper = conversion.Lower + input.Parameter(1.0, 100.0);
  conversion.OutputMinimum = input.Parameter(1.0, 100.0);
  conversion.OutputMaximum = input.Parameter(1.0, 300.0);
  conversion.InsideValue = input.Hostile();
  conversion.OutsideValue = input.Hostile();
  conversion.Alpha = input.Parameter(0.1, 10.0);
  conversion.Beta = input.Parameter(0.1, 10.0);
  VisitComponentType(static_cast<CudaComponentType>(input.Integer(0, 7)), [&](auto zero) {
    using T = decltype(zero);
    const T converted = ConvertComponent<T>(value);
    if constexpr (std::is_integral_v<T>)
    {
      using Limits = std::numeric_limits<T>;
      const long double truncated = std::trunc(static_cast<long double>(value));
      const T           expected = std::isnan(value)                                         ? T{ 0 }
                                   : truncated <= static_cast<long double>(Limits::lowest()) ? Limits::lowest()
                                   : truncated >= static_cast<long double>(Limits::max())    ? Limits::max()
                                                                                          : static_cast<T>(truncated);
      FuzzRequire(converted == expected, "a number is converted to another one");
    }
    const auto mapping = MakePixelMapping<double>(conversion, std::is_integral_v<T>);
    const T    mapped = MapPixel<T>(value, mapping);
    if (conversion.Mapping == CudaPixelMapping::Threshold)
    {
      FuzzRequire(std::isnan(static_cast<double>(mapped)) || mapped == ConvertComponent<T>(conversion.InsideValue) ||
                    mapped == ConvertComponent<T>(conversion.OutsideValue),
                  "a threshold gives a third value");
    }
    MapPixel<T>(static_cast<float>(value), MakePixelMapping<float>(conversion, std::is_integral_v<T>));
    MapPixel<T>(ConvertComponent<int>(value), mapping);
  });
}
} // namespace

void
FuzzViews(FuzzInput & input)
{
  switch (input.Integer(0, 2))
  {
    case 0:
      return FuzzStreams(input);
    case 1:
      return FuzzParts(input);
    default:
      return FuzzConversions(input);
  }
}
} // namespace itk::cuda::test
