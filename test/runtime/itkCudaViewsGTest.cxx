// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/HostLines.h"
#include "runtime/image/Views.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <utility>
#include <vector>

// Compares views of parts of images with lists of the addresses of all their components.

namespace
{
using itk::CudaComponentType;
using namespace itk::cuda;

constexpr int Cases = 300;

using Addresses = std::vector<const char *>;

/** A view with the members that the templates need, and with five axes as views of device memory have. */
struct PlanarView
{
  void *                Data{ nullptr };
  CudaComponentType     ComponentType{ CudaComponentType::Float };
  std::array<size_t, 5> Size{ { 1, 1, 1, 1, 1 } };
  std::array<size_t, 5> Stride{ { 1, 1, 1, 1, 1 } };
};

/** Returns the number of components that are adjacent in a pixel. */
size_t
CountComponents(const CudaImageView & view)
{
  return view.NumberOfComponents;
}
size_t
CountComponents(const PlanarView &)
{
  return 1;
}

/** Returns the address of one component of the pixel with this index. */
template <typename TView, typename TIndex>
const char *
GetAddress(const TView & view, const TIndex & index, size_t component)
{
  size_t position = component;
  for (size_t axis = 0; axis < index.size(); ++axis)
  {
    position += index[axis] * view.Stride[axis];
  }
  return static_cast<const char *>(view.Data) + position * itk::CudaComponentSize(view.ComponentType);
}

/** Calls f(index) for all pixels of an image of this size, along the first axis first. */
template <typename TSize, typename TFunction>
void
VisitIndices(const TSize & size, const TFunction & f)
{
  size_t count = 1;
  for (const size_t length : size)
  {
    count *= length;
  }
  for (size_t i = 0; i < count; ++i)
  {
    TSize  index{};
    size_t rest = i;
    for (size_t axis = 0; axis < size.size(); ++axis)
    {
      index[axis] = rest % size[axis];
      rest /= size[axis];
    }
    f(index);
  }
}

template <typename TView>
Addresses
ListAddresses(const TView & view)
{
  Addresses addresses;
  VisitIndices(view.Size, [&](const auto & index) {
    for (size_t component = 0; component < CountComponents(view); ++component)
    {
      addresses.push_back(GetAddress(view, index, component));
    }
  });
  return addresses;
}

/** Random views. Their memory is never read. */
class RandomViews
{
public:
  size_t
  Draw(size_t first, size_t last)
  {
    return std::uniform_int_distribution<size_t>(first, last)(m_Generator);
  }

  /** Returns a view with gaps between some of the axes. */
  template <typename TView>
  TView
  Make(size_t components)
  {
    const CudaComponentType types[] = { CudaComponentType::UChar, CudaComponentType::Short, CudaComponentType::Double };
    TView                   view;
    view.Data = m_Memory.data();
    view.ComponentType = types[this->Draw(0, 2)];
    size_t stride = components;
    for (size_t axis = 0; axis < view.Size.size(); ++axis)
    {
      view.Size[axis] = this->Draw(1, 4);
      view.Stride[axis] = stride;
      stride *= view.Size[axis];
      stride += this->Draw(0, 3) == 0 ? this->Draw(1, 5) : 0;
    }
    return view;
  }

  CudaImageView
  MakeHost()
  {
    const size_t  components = this->Draw(1, 3);
    CudaImageView view = this->Make<CudaImageView>(components);
    view.NumberOfComponents = components;
    view.Stride[0] += this->Draw(0, 3) == 0 ? 1 : 0;
    return view;
  }

private:
  std::mt19937_64   m_Generator{ test::GetSeed() };
  std::vector<char> m_Memory = std::vector<char>(1 << 20);
};

/** Compares a slice with the addresses of the view whose index along the axis is in the range. */
template <typename TView>
void
CheckSlice(const TView & view, RandomViews & random)
{
  const auto   axis = static_cast<unsigned int>(random.Draw(0, view.Size.size() - 1));
  const size_t first = random.Draw(0, view.Size[axis] - 1);
  const size_t count = random.Draw(0, view.Size[axis] - first);
  Addresses    expected;
  VisitIndices(view.Size, [&](const auto & index) {
    for (size_t component = 0; component < CountComponents(view); ++component)
    {
      if (index[axis] >= first && index[axis] < first + count)
      {
        expected.push_back(GetAddress(view, index, component));
      }
    }
  });
  EXPECT_EQ(ListAddresses(Slice(view, axis, first, count)), expected);
}

TEST(CudaViews, Slices_have_the_pixels_of_their_range)
{
  RandomViews random;
  for (int i = 0; i < Cases; ++i)
  {
    CheckSlice(random.MakeHost(), random);
    CheckSlice(random.Make<PlanarView>(1), random);
  }
}

TEST(CudaViews, A_component_has_one_address_of_each_pixel)
{
  RandomViews random;
  for (int i = 0; i < Cases; ++i)
  {
    const CudaImageView view = random.MakeHost();
    const size_t        component = random.Draw(0, view.NumberOfComponents - 1);
    Addresses           expected;
    VisitIndices(view.Size, [&](const auto & index) { expected.push_back(GetAddress(view, index, component)); });
    EXPECT_EQ(ListAddresses(GetComponent(view, component)), expected);
  }
}

TEST(CudaViews, Adjacent_pixels_have_consecutive_addresses)
{
  RandomViews random;
  for (int i = 0; i < Cases; ++i)
  {
    const CudaImageView shape = random.MakeHost();
    std::vector<char>   memory(shape.GetNumberOfBytes());
    const CudaImageView view = ViewAdjacent(shape, memory.data());
    Addresses           expected;
    for (size_t byte = 0; byte < memory.size(); byte += itk::CudaComponentSize(shape.ComponentType))
    {
      expected.push_back(&memory[byte]);
    }
    EXPECT_EQ(ListAddresses(view), expected);
    EXPECT_TRUE(HasDenseRows(view));
    for (unsigned int axis = 0; axis < CudaImageView::MaximumDimension; ++axis)
    {
      EXPECT_EQ(GetBytesOfPlane(view, axis), memory.size() / view.Size[axis]);
    }
  }
}

/** Packs a view from an axis on. Blocks of the axes below are copies of the first one, one behind the other. */
TEST(CudaViews, Packed_axes_follow_one_another)
{
  RandomViews random;
  for (int i = 0; i < Cases; ++i)
  {
    const auto       view = random.Make<PlanarView>(1);
    const auto       axis = static_cast<unsigned int>(random.Draw(1, 4));
    const PlanarView packed = PackFrom(view, axis);
    const auto       bytes = itk::CudaComponentSize(view.ComponentType) * view.Stride[axis - 1] * view.Size[axis - 1];
    PlanarView       block = view;
    std::fill(block.Size.begin() + axis, block.Size.end(), 1);
    const Addresses ofBlock = ListAddresses(block);
    const Addresses all = ListAddresses(packed);
    for (size_t k = 0; k < all.size(); ++k)
    {
      EXPECT_EQ(all[k], ofBlock[k % ofBlock.size()] + k / ofBlock.size() * bytes);
    }
  }
}

/** Positions are uniform if the difference of each address and the one before is the stride. */
TEST(CudaViews, Uniform_axes_have_equal_distances)
{
  RandomViews random;
  int         uniform = 0;
  for (int i = 0; i < Cases; ++i)
  {
    auto view = random.Make<PlanarView>(1);
    for (size_t & length : view.Size)
    {
      length = random.Draw(0, 1) == 0 ? 1 : length;
    }
    const auto   first = static_cast<unsigned int>(random.Draw(0, 4));
    const auto   last = static_cast<unsigned int>(random.Draw(first, 4));
    const size_t stride = random.Draw(0, 3) == 0 ? view.Stride[first] + 1 : view.Stride[first];
    PlanarView   part = view;
    for (unsigned int axis = 0; axis < 5; ++axis)
    {
      part.Size[axis] = axis < first || axis > last ? 1 : view.Size[axis];
    }
    const Addresses addresses = ListAddresses(part);
    bool            expected = true;
    for (size_t k = 1; k < addresses.size(); ++k)
    {
      expected = expected && addresses[k] == addresses[k - 1] + stride * itk::CudaComponentSize(view.ComponentType);
    }
    EXPECT_EQ(IsUniform(view, first, last, stride), expected);
    uniform += expected ? 1 : 0;
  }
  EXPECT_GT(uniform, Cases / 10);
  EXPECT_LT(uniform, Cases * 9 / 10);
}

/** An image of one row and five slices, as DeviceImage lays it out, has padding between the slices. */
TEST(CudaViews, Rows_of_slices_of_one_row_are_apart)
{
  PlanarView view;
  view.Size = { { 10, 1, 5, 1, 1 } };
  view.Stride = { { 1, 12, 12, 60, 60 } };
  EXPECT_FALSE(IsUniform(view, 0, 3, 1));
  EXPECT_TRUE(IsUniform(view, 1, 3, 12));
}

TEST(CudaViews, Threads_visit_each_pixel_once)
{
  const auto  threader = itk::MultiThreaderBase::New();
  RandomViews random;
  for (int i = 0; i < Cases; ++i)
  {
    const CudaImageView view = random.MakeHost();
    CudaImageView       other = random.MakeHost();
    other.Size = view.Size;
    std::vector<std::pair<size_t, size_t>> expected, visited(view.GetNumberOfPixels());
    VisitIndices(view.Size, [&](const auto & index) {
      std::pair<size_t, size_t> positions;
      for (size_t axis = 0; axis < index.size(); ++axis)
      {
        positions.first += index[axis] * view.Stride[axis];
        positions.second += index[axis] * other.Stride[axis];
      }
      expected.push_back(positions);
    });
    std::vector<unsigned char> numbers(view.GetNumberOfBytes());
    const CudaImageView        dense = ViewAdjacent(GetComponent(view, 0), numbers.data());
    ForEachPixel(
      threader,
      [&visited](size_t position, size_t inOther, size_t number) {
        visited[number] = { position, inOther };
      },
      view,
      other,
      dense);
    EXPECT_EQ(visited, expected);
  }
}
} // namespace
