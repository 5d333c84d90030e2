// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFuzzRegions_h
#define itkCudaFuzzRegions_h

#include "itkCudaFuzzInput.h"
#include "itkCudaRegionSnakeTypes.h"

#include <optional>

namespace itk::cuda::test
{
/** An image of a type that the segmentation methods take, with a mask or without one. */
class FuzzScene
{
public:
  // Braces, because arguments in parentheses would be read in an order that differs between compilers.
  FuzzScene(FuzzInput & input, size_t longestSide)
    : Image{ DrawSize(input, longestSide),
             1,
             input.Choose({ CudaComponentType::Float,
                            CudaComponentType::UChar,
                            CudaComponentType::UShort,
                            CudaComponentType::Short }) }
    , m_Mask(Image.View.Size, 1, CudaComponentType::UChar)
    , m_HasMask(input.Integer(0, 3) == 3)
  {
    Image.Fill(input, input.Integer(0, 3) != 3);
    if (m_HasMask)
    {
      m_Mask.Fill(input, input.Flag());
    }
  }

  const CudaDetail::CudaImageView *
  GetMask() const
  {
    return m_HasMask ? &m_Mask.View : nullptr;
  }

  size_t
  GetWidth() const
  {
    return Image.View.Size[0];
  }

  size_t
  GetHeight() const
  {
    return Image.View.Size[1];
  }

  bool
  IsValid(size_t pixel) const
  {
    return !m_HasMask || m_Mask.Get(pixel) != 0.0;
  }

  size_t
  GetNumberOfValidPixels() const
  {
    size_t number = 0;
    for (size_t i = 0; i < GetWidth() * GetHeight(); ++i)
    {
      number += this->IsValid(i) ? 1 : 0;
    }
    return number;
  }

  FuzzImage Image;

private:
  static FuzzImage::SizeType
  DrawSize(FuzzInput & input, size_t longestSide)
  {
    // Most images are small, so that a second has many cases.
    const size_t longest = input.Integer(0, 7) == 7 ? longestSide : std::min<size_t>(longestSide, 11);
    const size_t width = input.Integer(1, longest);
    return { { width, input.Integer(1, longest), 1, 1 } };
  }

  FuzzImage  m_Mask;
  const bool m_HasMask;
};

/** Sets what all methods know of a law. */
template <typename TParameters>
void
FuzzLaw(FuzzInput & input, TParameters & parameters)
{
  const auto law = input.Integer(0, 7);
  if (law < 7)
  {
    parameters.NoiseLaw = static_cast<CudaFiltersEnums::NoiseLaw>(law);
  }
  if (input.Flag())
  {
    parameters.NumberOfLooks = input.Parameter(0.3, 30.0);
  }
  if (law == static_cast<uint64_t>(CudaFiltersEnums::NoiseLaw::Bernoulli) && input.Flag())
  {
    parameters.ForegroundThreshold = input.Parameter(1.0, 100.0);
  }
}

/** Returns whether the centre of a pixel lies in a ring of corners, by the number of edges to its left. */
inline bool
FuzzContains(const CudaSnakePolygon & ring, size_t x, size_t y)
{
  bool isInside = false;
  for (size_t i = 0; i < ring.size(); ++i)
  {
    const auto & a = ring[i];
    const auto & b = ring[(i + 1) % ring.size()];
    const double centre = static_cast<double>(y) + 0.5;
    if ((a.Y < centre) != (b.Y < centre))
    {
      // Centres on an edge are beyond it; twice the coordinates are integers, so that the comparison is exact.
      const int64_t rise = 2 * (static_cast<int64_t>(b.Y) - a.Y);
      const int64_t left =
        (2 * static_cast<int64_t>(y) + 1 - 2 * static_cast<int64_t>(a.Y)) * 2 * (static_cast<int64_t>(b.X) - a.X) +
        2 * a.X * rise - (2 * static_cast<int64_t>(x) + 1) * rise;
      isInside ^= rise > 0 ? left <= 0 : left >= 0;
    }
  }
  return isInside;
}

/** Returns twice the area of a ring. */
inline int64_t
FuzzTwiceArea(const CudaSnakePolygon & ring)
{
  int64_t area = 0;
  for (size_t i = 0; i < ring.size(); ++i)
  {
    const auto & a = ring[i];
    const auto & b = ring[(i + 1) % ring.size()];
    area += static_cast<int64_t>(a.X) * b.Y - static_cast<int64_t>(b.X) * a.Y;
  }
  return area;
}

/** Returns whether no two edges of a ring meet but at the node between them. */
inline bool
FuzzIsSimple(const CudaSnakePolygon & ring)
{
  const auto cross = [](const CudaSnakePoint & a, const CudaSnakePoint & b, const CudaSnakePoint & c) {
    const int64_t area = (static_cast<int64_t>(b.X) - a.X) * (static_cast<int64_t>(c.Y) - a.Y) -
                         (static_cast<int64_t>(b.Y) - a.Y) * (static_cast<int64_t>(c.X) - a.X);
    return area > 0 ? 1 : area < 0 ? -1 : 0;
  };
  const auto isBetween = [](const CudaSnakePoint & a, const CudaSnakePoint & b, const CudaSnakePoint & c) {
    return std::min(a.X, b.X) <= c.X && c.X <= std::max(a.X, b.X) && std::min(a.Y, b.Y) <= c.Y &&
           c.Y <= std::max(a.Y, b.Y);
  };
  const auto touches = [&](const CudaSnakePoint & a, const CudaSnakePoint & b, const CudaSnakePoint & c) {
    return cross(a, b, c) == 0 && isBetween(a, b, c);
  };
  const size_t n = ring.size();
  for (size_t i = 0; i < n; ++i)
  {
    const auto & a = ring[i];
    const auto & b = ring[(i + 1) % n];
    if (a.X == b.X && a.Y == b.Y)
    {
      return false;
    }
    for (size_t j = i + 1; j < n; ++j)
    {
      const auto & c = ring[j];
      const auto & d = ring[(j + 1) % n];
      if (j == i + 1 || (j + 1) % n == i)
      {
        // Neighbours share a node; the other end of neither may lie on the other.
        const bool isNext = j == i + 1;
        if (isNext ? touches(a, b, d) || (n > 2 && touches(c, d, a)) : touches(a, b, c) || touches(c, d, b))
        {
          return false;
        }
        continue;
      }
      if ((cross(a, b, c) * cross(a, b, d) < 0 && cross(c, d, a) * cross(c, d, b) < 0) || touches(a, b, c) ||
          touches(a, b, d) || touches(c, d, a) || touches(c, d, b))
      {
        return false;
      }
    }
  }
  return true;
}
} // namespace itk::cuda::test

#endif
