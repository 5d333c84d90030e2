// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_SymmetricEigen_h
#define CudaFilters_pointwise_SymmetricEigen_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailTensorEngine.h"
#include "runtime/HostDevice.h"
#include "runtime/image/Math.h"

#include <cmath>

// Eigenvalues and eigenvectors of symmetric 2 x 2 and 3 x 3 matrices, with bit-identical results on the host and on the
// device, because the code is compiled without contraction, and std::fma is correctly rounded everywhere.
//
// Closed forms of the roots of a cubic lose half of the digits where two roots are nearly equal. But one root is never
// near the others. With A = q I + B, where B has trace zero, it is the largest root of B if det B > 0, and otherwise
// the smallest. It is sufficient to compute this isolated root, and its eigenvector, to a few digits. A reflection H
// maps this eigenvector to an axis:
//
//   H B H = ( m c' )
//           ( c N  )
//
// c is small: its square is below the rounding error if the root has five digits in float, or ten in double. m is the
// isolated eigenvalue with full precision, because the Rayleigh quotient of a vector depends on the vector's error only
// to second order. The 2 x 2 matrix N has the other two eigenvalues, and their formula loses no digits where they are
// equal. (D. Eberly, A Robust Eigensolver for 3 x 3 Symmetric Matrices, Geometric Tools, 2014, splits off the root with
// full precision instead.) There are no iterations, so the threads of a warp do not diverge. The matrix is first
// divided by a power of two near its largest element, so that no square overflows or vanishes.

namespace itk::cuda::pointwise
{
/** Number of elements of the upper triangle. */
template <unsigned int VDimension>
constexpr unsigned int TensorComponents = CudaTensorComponents(VDimension);

/** \struct EigenSystem
 * \brief Eigenvalues divided by Scale, which is a power of two, and unit eigenvectors. Vectors[i] is the eigenvector
 * of Values[i].
 *
 * For a zero matrix, the eigenvalues are 0 and the eigenvectors are the axes. For a matrix with an element that is not
 * finite, all are NaN.
 */
template <typename T, unsigned int VDimension>
struct EigenSystem
{
  T Values[VDimension];
  T Vectors[VDimension][VDimension];
  T Scale;

  /** Returns eigenvalue i, unscaled. It is infinite if it is out of the range of the type. */
  ITK_CUDA_HOST_DEVICE T
  GetValue(unsigned int i) const
  {
    return Values[i] * Scale;
  }

  ITK_CUDA_HOST_DEVICE void
  SetNaN()
  {
    Scale = T{ 1 };
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      Values[i] = FloatBits<T>::NaN;
      ITK_CUDA_UNROLL
      for (unsigned int j = 0; j < VDimension; ++j)
      {
        Vectors[i][j] = FloatBits<T>::NaN;
      }
    }
  }
};

/** The upper triangle of a symmetric matrix. Load() divides it by a power of two. */
template <typename T, unsigned int VDimension>
struct SymmetricMatrix
{
  T Elements[TensorComponents<VDimension>];

  /** Loads a matrix, divides it by a power of two, and returns this scale. The largest magnitude is then at least 1 and
   * below 2, or below 4 at the upper end of the type's range. Elements that are not finite stay not finite. */
  ITK_CUDA_HOST_DEVICE T
  Load(const T * tensor)
  {
    T largest = std::fabs(tensor[0]);
    ITK_CUDA_UNROLL
    for (unsigned int i = 1; i < TensorComponents<VDimension>; ++i)
    {
      largest = std::fmax(largest, std::fabs(tensor[i]));
    }
    const T scale = GetPowerOfTwo(largest);
    const T inverse = InvertPowerOfTwo(scale);
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < TensorComponents<VDimension>; ++i)
    {
      Elements[i] = tensor[i] * inverse;
    }
    return scale;
  }
};

// An upper bound of the sum of squares of a scaled matrix. If it is exceeded, an element is not finite.
template <typename T>
constexpr T SquareLimit = T{ 256 };

/** The rotation that diagonalises the matrix with the rows (p, r) and (r, q). Its eigenvalues are p - t r and q + t r,
 * where t is the tangent of the angle. With d = q - p and h = 2 r, t is the smaller root of t^2 + 2 (d / h) t - 1,
 * which is t = h / (d +- root), root = sqrt(d^2 + h^2). The angle is at most 45 degrees. */
template <typename T>
struct PlaneRotation
{
  T Difference;
  T Root;
  T Twice;

  ITK_CUDA_HOST_DEVICE
  PlaneRotation(T p, T q, T r)
    : Difference(q - p)
    , Root(T{ 0 })
    , Twice(r + r)
  {
    Root = std::sqrt(std::fma(Difference, Difference, Twice * Twice));
  }

  ITK_CUDA_HOST_DEVICE T
  GetTangent() const
  {
    const T divisor = Difference < T{ 0 } ? Difference - Root : Difference + Root;
    return divisor == T{ 0 } ? T{ 0 } : Twice / divisor;
  }

  /** Rotates two orthogonal unit vectors in their plane. */
  template <unsigned int VDimension>
  ITK_CUDA_HOST_DEVICE void
  Turn(T (&p)[VDimension], T (&q)[VDimension]) const
  {
    const T tangent = this->GetTangent();
    const T cosine = T{ 1 } / std::sqrt(std::fma(tangent, tangent, T{ 1 }));
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      const T old = p[i];
      p[i] = cosine * std::fma(-tangent, q[i], old);
      q[i] = cosine * std::fma(tangent, old, q[i]);
    }
  }
};

template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetDot(const T (&a)[3], const T (&b)[3])
{
  return std::fma(a[0], b[0], std::fma(a[1], b[1], a[2] * b[2]));
}

/** \class Reflection
 * \brief The Householder reflection I - beta u u', u = (1, y, z), which maps a given direction to the first axis with
 * low accuracy.
 *
 * The reflection is orthogonal to full precision for any y and z.
 */
template <typename T>
struct Reflection
{
  T Y;
  T Z;
  T Beta;

  ITK_CUDA_HOST_DEVICE explicit Reflection(const T (&direction)[3])
  {
    const T inverse = GetRoughInverseRoot(GetDot(direction, direction));
    const T first = direction[0] * inverse;
    const T along = T{ 1 } + std::fabs(first);
    const T factor = std::copysign(inverse * GetRoughInverse(along), first);
    Y = direction[1] * factor;
    Z = direction[2] * factor;
    // `along` approximates beta = 2 / (1 + y^2 + z^2) with low accuracy, and one Newton step makes it fully accurate.
    const T half = std::fma(static_cast<T>(0.5), std::fma(Y, Y, Z * Z), static_cast<T>(0.5));
    Beta = along * std::fma(-half, along, T{ 2 });
  }

  /** Computes the rows of the reflection, with the opposite sign in the first one, which therefore is the direction up
   * to its sign. */
  ITK_CUDA_HOST_DEVICE void
  GetBasis(T (&basis)[3][3]) const
  {
    const T betaY = Beta * Y;
    const T betaZ = Beta * Z;
    basis[0][0] = Beta - T{ 1 };
    basis[0][1] = betaY;
    basis[0][2] = betaZ;
    basis[1][0] = -betaY;
    basis[1][1] = std::fma(-betaY, Y, T{ 1 });
    basis[1][2] = basis[2][1] = -(betaY * Z);
    basis[2][0] = -betaZ;
    basis[2][2] = std::fma(-betaZ, Z, T{ 1 });
  }

private:
  /** Returns 1 / x for 1 <= x <= 2 by Newton steps, with a relative error of at most 2e-5 in float and 2e-10 in double.
   */
  ITK_CUDA_HOST_DEVICE static T
  GetRoughInverse(T x)
  {
    constexpr unsigned int steps = sizeof(T) == 4 ? 2 : 3;
    T                      inverse = std::fma(static_cast<T>(-8.0 / 17.0), x, static_cast<T>(24.0 / 17.0));
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < steps; ++i)
    {
      inverse *= std::fma(-x, inverse, T{ 2 });
    }
    return inverse;
  }
};

/** \class TracelessMatrix
 * \brief A symmetric 3 x 3 matrix with trace zero, except for rounding, and the steps that split off its isolated
 * eigenvalue.
 */
template <typename T>
class TracelessMatrix
{
public:
  /** Subtracts the mean of the eigenvalues from a matrix. */
  ITK_CUDA_HOST_DEVICE
  TracelessMatrix(const SymmetricMatrix<T, 3> & matrix, T mean)
    : m_XX(matrix.Elements[0] - mean)
    , m_XY(matrix.Elements[1])
    , m_XZ(matrix.Elements[2])
    , m_YY(matrix.Elements[3] - mean)
    , m_YZ(matrix.Elements[4])
    , m_ZZ(matrix.Elements[5] - mean)
  {}

  /** Returns the sum of the squares of the eigenvalues. */
  ITK_CUDA_HOST_DEVICE T
  GetSquares() const
  {
    const T diagonal = std::fma(m_XX, m_XX, std::fma(m_YY, m_YY, m_ZZ * m_ZZ));
    return std::fma(T{ 2 }, std::fma(m_XY, m_XY, std::fma(m_XZ, m_XZ, m_YZ * m_YZ)), diagonal);
  }

  ITK_CUDA_HOST_DEVICE T
  GetTrace() const
  {
    return m_XX + m_YY + m_ZZ;
  }

  ITK_CUDA_HOST_DEVICE void
  Multiply(const T (&vector)[3], T (&product)[3]) const
  {
    product[0] = std::fma(m_XX, vector[0], std::fma(m_XY, vector[1], m_XZ * vector[2]));
    product[1] = std::fma(m_XY, vector[0], std::fma(m_YY, vector[1], m_YZ * vector[2]));
    product[2] = std::fma(m_XZ, vector[0], std::fma(m_YZ, vector[1], m_ZZ * vector[2]));
  }

  /** Computes the submatrix N, with rows (p, r) and (r, q), of H B H = B - u v' - v u', where w = B u and v = beta (w -
   * (beta / 2) (u' w) u). */
  ITK_CUDA_HOST_DEVICE void
  GetReflected(const Reflection<T> & h, T & p, T & r, T & q) const
  {
    const T wX = std::fma(m_XY, h.Y, std::fma(m_XZ, h.Z, m_XX));
    const T wY = std::fma(m_YY, h.Y, std::fma(m_YZ, h.Z, m_XY));
    const T wZ = std::fma(m_YZ, h.Y, std::fma(m_ZZ, h.Z, m_XZ));
    const T along = static_cast<T>(-0.5) * h.Beta * h.Beta * std::fma(h.Y, wY, std::fma(h.Z, wZ, wX));
    const T vY = std::fma(h.Beta, wY, along * h.Y);
    const T vZ = std::fma(h.Beta, wZ, along * h.Z);
    p = std::fma(T{ -2 } * h.Y, vY, m_YY);
    r = std::fma(-h.Y, vZ, std::fma(-h.Z, vY, m_YZ));
    q = std::fma(T{ -2 } * h.Z, vZ, m_ZZ);
  }

  /** Computes an eigenvector, not of unit length, of the isolated eigenvalue. It is the column of the adjugate of C - t
   * I that has the largest diagonal element. C is the matrix divided by sqrt(squares / 6), so that its eigenvalues
   * have the form 2 cos(angle), and t is its isolated eigenvalue. The adjugate is (l_2 - t) (l_3 - t) n n', where l_2
   * and l_3 differ from t by at least sqrt(3). */
  ITK_CUDA_HOST_DEVICE void
  GetIsolatedDirection(T squares, T (&direction)[3]) const
  {
    const T inverse = GetRoughInverseRoot(squares * static_cast<T>(1.0 / 6.0));
    T       xx = m_XX * inverse;
    T       yy = m_YY * inverse;
    T       zz = m_ZZ * inverse;
    const T xy = m_XY * inverse;
    const T xz = m_XZ * inverse;
    const T yz = m_YZ * inverse;
    const T xy2 = xy * xy;
    const T xz2 = xz * xz;
    const T yz2 = yz * yz;
    const T minors = std::fma(xx, std::fma(yy, zz, -yz2), -std::fma(yy, xz2, zz * xy2));
    const T isolated = GetIsolatedRoot(std::fma(xy * xz, yz, static_cast<T>(0.5) * minors)); // half of the determinant
    xx -= isolated;
    yy -= isolated;
    zz -= isolated;
    const T    adjugateXX = std::fma(yy, zz, -yz2);
    const T    adjugateYY = std::fma(xx, zz, -xz2);
    const T    adjugateZZ = std::fma(xx, yy, -xy2);
    const T    adjugateXY = std::fma(xz, yz, -(xy * zz));
    const T    adjugateXZ = std::fma(xy, yz, -(xz * yy));
    const T    adjugateYZ = std::fma(xy, xz, -(yz * xx));
    const bool isY = adjugateYY > adjugateXX;
    const bool isZ = adjugateZZ > (isY ? adjugateYY : adjugateXX);
    direction[0] = isZ ? adjugateXZ : isY ? adjugateXY : adjugateXX;
    direction[1] = isZ ? adjugateYZ : isY ? adjugateYY : adjugateXY;
    direction[2] = isZ ? adjugateZZ : isY ? adjugateYZ : adjugateXZ;
  }

private:
  /** Returns the isolated root of t^3 - 3 t = 2 s, -1 <= s <= 1. It is 2 cos(acos(s) / 3) for s >= 0, and an odd
   * function of s. It has no singularity near 0 <= |s| <= 1, so that a polynomial in |s| approximates it well. */
  ITK_CUDA_HOST_DEVICE static T
  GetIsolatedRoot(T s)
  {
    const T magnitude = std::fabs(s);
    // A minimax polynomial with an error of at most 7e-5.
    T t = std::fma(static_cast<T>(0.0191389), magnitude, static_cast<T>(-0.08214023));
    t = std::fma(t, magnitude, static_cast<T>(0.33095051));
    t = std::fma(t, magnitude, static_cast<T>(1.73211582));
    if constexpr (sizeof(T) == 8)
    {
      // One Newton step reduces the error to at most 4e-9.
      t = T{ 2 } * std::fma(t * t, t, magnitude) / (T{ 3 } * std::fma(t, t, T{ -1 }));
    }
    return s < T{ 0 } ? -t : t;
  }

  T m_XX, m_XY, m_XZ, m_YY, m_YZ, m_ZZ;
};

/** Returns the angle by which the approximate isolated eigenvector is tilted towards another one, to first order. If
 * the quotient is larger than the error of the approximate root can cause, all eigenvalues and the off-diagonal
 * element are within a few roundings of each other. No correction is needed then, and the result is 0. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetTilt(T element, T gap)
{
  constexpr T limit = static_cast<T>(sizeof(T) == 4 ? 1.7e-4 : 7.4e-9); // its square is below the rounding error
  const T     tilt = element / gap;
  return std::fabs(tilt) <= limit ? tilt : T{ 0 };
}

/** Computes the eigenvalues and, on request, eigenvectors of a scaled matrix, in no particular order. */
template <bool VWithVectors, typename T>
ITK_CUDA_HOST_DEVICE inline void
SolveScaled(const SymmetricMatrix<T, 2> & matrix, EigenSystem<T, 2> & system)
{
  const T                p = matrix.Elements[0];
  const T                r = matrix.Elements[1];
  const T                q = matrix.Elements[2];
  const PlaneRotation<T> rotation(p, q, r);
  const T                tangent = rotation.GetTangent();
  system.Values[0] = std::fma(-tangent, r, p);
  system.Values[1] = std::fma(tangent, r, q);
  if constexpr (VWithVectors)
  {
    system.Vectors[0][0] = system.Vectors[1][1] = T{ 1 };
    system.Vectors[0][1] = system.Vectors[1][0] = T{ 0 };
    rotation.Turn(system.Vectors[0], system.Vectors[1]);
  }
  if (!(rotation.Root <= SquareLimit<T>))
  {
    system.SetNaN();
  }
}

template <bool VWithVectors, typename T>
ITK_CUDA_HOST_DEVICE inline void
SolveScaled(const SymmetricMatrix<T, 3> & matrix, EigenSystem<T, 3> & system)
{
  const T mean = (matrix.Elements[0] + matrix.Elements[3] + matrix.Elements[5]) * static_cast<T>(1.0 / 3.0);
  const TracelessMatrix<T> traceless(matrix, mean);
  const T                  squares = traceless.GetSquares();
  // Below this limit the eigenvalues are equal to within a thousandth of a rounding, so that any basis is valid.
  // Without the limit the inverse root would be infinite.
  constexpr T least = FloatBits<T>::Epsilon * FloatBits<T>::Epsilon / T{ 16384 };
  T           direction[3];
  traceless.GetIsolatedDirection(std::fmax(squares, least), direction);
  const Reflection<T> reflection(direction);
  T                   p, r, q;
  traceless.GetReflected(reflection, p, r, q);
  const PlaneRotation<T> rotation(p, q, r);
  const T half = VWithVectors && rotation.Difference < T{ 0 } ? static_cast<T>(-0.5) : static_cast<T>(0.5);
  const T middle = static_cast<T>(0.5) * (p + q);
  const T isolated = traceless.GetTrace() - (p + q);
  const T ofSecond = std::fma(-half, rotation.Root, middle);
  const T ofThird = std::fma(half, rotation.Root, middle);
  system.Values[0] = isolated + mean;
  system.Values[1] = ofSecond + mean;
  system.Values[2] = ofThird + mean;
  if constexpr (VWithVectors)
  {
    // Rotates the basis, and removes the first-order error of the first vector, which has no effect on the eigenvalues
    // to working precision.
    T vectors[3][3];
    reflection.GetBasis(vectors);
    rotation.Turn(vectors[1], vectors[2]);
    T first[3];
    traceless.Multiply(vectors[0], first);
    const T tilt1 = GetTilt(GetDot(vectors[1], first), isolated - ofSecond);
    const T tilt2 = GetTilt(GetDot(vectors[2], first), isolated - ofThird);
    ITK_CUDA_UNROLL
    for (unsigned int i = 0; i < 3; ++i)
    {
      system.Vectors[0][i] = std::fma(tilt1, vectors[1][i], std::fma(tilt2, vectors[2][i], vectors[0][i]));
      system.Vectors[1][i] = std::fma(-tilt1, vectors[0][i], vectors[1][i]);
      system.Vectors[2][i] = std::fma(-tilt2, vectors[0][i], vectors[2][i]);
    }
  }
  if (!(squares <= SquareLimit<T>))
  {
    system.SetNaN();
  }
}

/** Sorts the eigenvalues, and the eigenvectors with them, in ascending order of their values or magnitudes. */
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
    const T    a = system.Values[i];
    const T    b = system.Values[j];
    const bool isSwapped = byMagnitude ? std::fabs(b) < std::fabs(a) : b < a;
    system.Values[i] = isSwapped ? b : a;
    system.Values[j] = isSwapped ? a : b;
    ITK_CUDA_UNROLL
    for (unsigned int k = 0; VWithVectors && k < VDimension; ++k)
    {
      const T p = system.Vectors[i][k];
      const T q = system.Vectors[j][k];
      system.Vectors[i][k] = isSwapped ? q : p;
      system.Vectors[j][k] = isSwapped ? p : q;
    }
  };
  sortPair(0, 1);
  if constexpr (VDimension == 3)
  {
    sortPair(1, 2);
    sortPair(0, 1);
  }
}

/** Computes the ordered eigenvalues and, on request, the eigenvectors of a matrix, whose upper triangle is given row by
 * row. */
template <bool VWithVectors, typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline void
SolveEigenSystem(const T * tensor, CudaEigenValueOrder order, EigenSystem<T, VDimension> & system)
{
  static_assert(VDimension == 2 || VDimension == 3, "Matrices have two or three rows");
  SymmetricMatrix<T, VDimension> matrix;
  system.Scale = matrix.Load(tensor);
  SolveScaled<VWithVectors>(matrix, system);
  SortEigenSystem<VWithVectors>(system, order);
}
} // namespace itk::cuda::pointwise

#endif
