// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSymmetricEigen_h
#define itkCudaSymmetricEigen_h

#include "itkCudaDetailNames.h"
#include "itkCudaDetailTensorPlan.h"
#include "itkCudaHostDevice.h"
#include "itkCudaPowerOfTwo.h"

#include <cmath>
#include <limits>

// Eigenvalues and eigenvectors of symmetric 2 x 2 and 3 x 3 matrices by Jacobi's method (Golub and Van Loan, Matrix
// Computations, 8.5), with the same bits on the host and on the device: the room is compiled without contraction.
//
// Closed forms of the roots of a cubic lose half of the digits where two roots are nearly equal. Rotations lose none:
// they keep every eigenvalue within a few roundings of the largest one. The matrix is divided by a power of two near
// its largest element first, so no square overflows or vanishes.

namespace itk::cuda::pointwise
{
/** Elements of the upper triangle. */
template <unsigned int VDimension>
constexpr unsigned int TensorComponents = CudaTensorComponents(VDimension);

/** \struct EigenSystem
 * \brief Eigenvalues divided by Scale, a power of two, and unit eigenvectors, Vectors[i] that of Values[i].
 *
 * A zero matrix has eigenvalues 0 and the axes as eigenvectors. A matrix with an element that is not finite has NaN.
 */
template <typename T, unsigned int VDimension>
struct EigenSystem
{
  T Values[VDimension];
  T Vectors[VDimension][VDimension];
  T Scale;

  /** Eigenvalue i as it is; infinite if it is beyond the type's range. */
  ITK_CUDA_HOST_DEVICE T
  GetValue(unsigned int i) const
  {
    return Values[i] * Scale;
  }
};

/** \class JacobiRotations
 * \brief The rotations that make a scaled symmetric matrix diagonal.
 */
template <typename T, unsigned int VDimension, bool VWithVectors>
class JacobiRotations
{
public:
  using System = EigenSystem<T, VDimension>;

  ITK_CUDA_HOST_DEVICE explicit JacobiRotations(System & system)
    : m_System(system)
  {}

  /** Makes `system` that of the matrix whose upper triangle is given row after row. */
  ITK_CUDA_HOST_DEVICE void
  Solve(const T * tensor)
  {
    if (!this->Load(tensor))
    {
      this->SetAll(FloatBits<T>::NaN);
      return;
    }
    if constexpr (VDimension == 2)
    {
      // One rotation is the closed form.
      this->Rotate<0, 1, 0>(m_Off[0], nullptr, nullptr);
    }
    else
    {
      for (unsigned int sweep = 0; sweep < MaximumNumberOfSweeps && !this->IsDiagonal(); ++sweep)
      {
        this->Rotate<0, 1, 2>(m_Off[0], &m_Off[1], &m_Off[2]);
        this->Rotate<0, 2, 1>(m_Off[1], &m_Off[0], &m_Off[2]);
        this->Rotate<1, 2, 0>(m_Off[2], &m_Off[0], &m_Off[1]);
      }
    }
  }

private:
  // Elements below it, where the largest is 1 to 2, change no eigenvalue by more than the 16th part of a rounding.
  static constexpr T Negligible = std::numeric_limits<T>::epsilon() / 64;
  // Convergence is quadratic from the first sweep on: five are enough in double, three or four in float.
  static constexpr unsigned int MaximumNumberOfSweeps = 8;
  static constexpr unsigned int NumberOfOffDiagonals = VDimension * (VDimension - 1) / 2;

  System & m_System;
  T        m_Off[NumberOfOffDiagonals]; // (0, 1), (0, 2), (1, 2)

  /** Scales the matrix into the members. Returns false if an element is not finite. */
  ITK_CUDA_HOST_DEVICE bool
  Load(const T * tensor)
  {
    T largest = T{ 0 };
    T zero = T{ 0 };
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < TensorComponents<VDimension>; ++i)
    {
      const T magnitude = std::fabs(tensor[i]);
      largest = magnitude > largest ? magnitude : largest;
      zero += magnitude * T{ 0 }; // NaN for infinity and NaN
    }
    if (!(zero == T{ 0 }))
    {
      return false;
    }
    m_System.Scale = GetPowerOfTwo(largest);
    const T      inverse = T{ 1 } / m_System.Scale;
    unsigned int element = 0;
    unsigned int off = 0;
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      m_System.Values[i] = tensor[element++] * inverse;
      ITK_CUDA_UNROLL
      for (unsigned int j = i + 1; j < VDimension; ++j)
      {
        m_Off[off++] = tensor[element++] * inverse;
      }
    }
    this->SetVectors(T{ 0 }, T{ 1 });
    return true;
  }

  ITK_CUDA_HOST_DEVICE void
  SetVectors(T off, T diagonal)
  {
    if constexpr (VWithVectors)
    {
      ITK_CUDA_UNROLL
      for (unsigned int i = 0; i < VDimension; ++i)
      {
        ITK_CUDA_UNROLL
        for (unsigned int j = 0; j < VDimension; ++j)
        {
          m_System.Vectors[i][j] = i == j ? diagonal : off;
        }
      }
    }
  }

  ITK_CUDA_HOST_DEVICE void
  SetAll(T value)
  {
    m_System.Scale = T{ 1 };
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      m_System.Values[i] = value;
    }
    this->SetVectors(value, value);
  }

  ITK_CUDA_HOST_DEVICE bool
  IsDiagonal() const
  {
    bool isDiagonal = true;
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < NumberOfOffDiagonals; ++i)
    {
      isDiagonal = isDiagonal && std::fabs(m_Off[i]) <= Negligible;
    }
    return isDiagonal;
  }

  /** The rotation in the plane of axes P and Q that makes their element `pq` zero; `rp` and `rq` are those of the third
   * axis R. With d = a_qq - a_pp and h = 2 a_pq the tangent of its angle is the smaller root of t^2 + 2 (d/h) t - 1,
   * t = h / (d +- sqrt(d^2 + h^2)), so the angle is at most 45 degrees. */
  template <unsigned int P, unsigned int Q, unsigned int R>
  ITK_CUDA_HOST_DEVICE void
  Rotate(T & pq, T * rp, T * rq)
  {
    if (std::fabs(pq) <= Negligible)
    {
      return;
    }
    const T d = m_System.Values[Q] - m_System.Values[P];
    const T h = pq + pq;
    const T root = std::sqrt(d * d + h * h);
    const T tangent = h / (d < T{ 0 } ? d - root : d + root);
    const T cosine = T{ 1 } / std::sqrt(T{ 1 } + tangent * tangent);
    const T sine = tangent * cosine;
    m_System.Values[P] -= tangent * pq;
    m_System.Values[Q] += tangent * pq;
    pq = T{ 0 };
    if constexpr (VDimension == 3)
    {
      Turn(*rp, *rq, cosine, sine);
    }
    if constexpr (VWithVectors)
    {
      ITK_CUDA_UNROLL
      for (unsigned int i = 0; i < VDimension; ++i)
      {
        Turn(m_System.Vectors[P][i], m_System.Vectors[Q][i], cosine, sine);
      }
    }
  }

  ITK_CUDA_HOST_DEVICE static void
  Turn(T & p, T & q, T cosine, T sine)
  {
    const T old = p;
    p = cosine * old - sine * q;
    q = sine * old + cosine * q;
  }
};

/** Puts eigenvalues, and with them eigenvectors, into ascending order. */
template <bool VWithVectors, typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline void
SortEigenSystem(EigenSystem<T, VDimension> & system, CudaEigenValueOrder order)
{
  if (order == CudaEigenValueOrder::None)
  {
    return;
  }
  const bool byMagnitude = order == CudaEigenValueOrder::ByMagnitude;
  const auto sortPair = [&system, byMagnitude](unsigned int i, unsigned int j) {
    const T a = system.Values[i];
    const T b = system.Values[j];
    if (byMagnitude ? std::fabs(b) < std::fabs(a) : b < a)
    {
      system.Values[i] = b;
      system.Values[j] = a;
      if constexpr (VWithVectors)
      {
        ITK_CUDA_UNROLL
        for (unsigned int k = 0; k < VDimension; ++k)
        {
          const T component = system.Vectors[i][k];
          system.Vectors[i][k] = system.Vectors[j][k];
          system.Vectors[j][k] = component;
        }
      }
    }
  };
  sortPair(0, 1);
  if constexpr (VDimension == 3)
  {
    sortPair(1, 2);
    sortPair(0, 1);
  }
}

/** The ordered eigenvalues, and on request the eigenvectors, of the matrix whose upper triangle is given row after row.
 */
template <bool VWithVectors, typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline void
SolveEigenSystem(const T * tensor, CudaEigenValueOrder order, EigenSystem<T, VDimension> & system)
{
  static_assert(VDimension == 2 || VDimension == 3, "Matrices have two or three rows");
  JacobiRotations<T, VDimension, VWithVectors>(system).Solve(tensor);
  SortEigenSystem<VWithVectors>(system, order);
}
} // namespace itk::cuda::pointwise

#endif
