// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_SymmetricEigen_h
#define CudaFilters_pointwise_SymmetricEigen_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailTensorEngine.h"
#include "runtime/HostDevice.h"
#include "runtime/image/Math.h"

#include <cmath>

// Eigenvalues and eigenvectors of symmetric 2 x 2 and 3 x 3 matrices, with the same bits on the host and on the device:
// the room is compiled without contraction, and std::fma is the same everywhere.
//
// Closed forms of the roots of a cubic lose half of the digits where two roots are nearly equal. One root, though, is
// never near the others: with A = q I + B, B of trace zero, it is the largest of B's where det B > 0, and else the
// least. It needs few digits. A reflection turns its eigenvector, which is as rough, into an axis:
//
//   H B H = ( m c' )   c small: its square is below rounding, in float after five digits of the root, in double after
//   ten
//           ( c N  )
//
// m is the isolated eigenvalue to the last digits, because errors of a vector enter its Rayleigh quotient by their
// squares. N, 2 x 2, has the other two, and its formula loses nothing where they are equal (D. Eberly, A Robust
// Eigensolver for 3 x 3 Symmetric Matrices, Geometric Tools, 2014, splits off the root with full precision instead).
// There are no iterations, so all threads of a warp take the same way. The matrix is divided by a power of two near its
// largest element first, so no square overflows or vanishes.

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

/** The upper triangle of a symmetric matrix, or of one divided by the power of two that `Load` returns. */
template <typename T, unsigned int VDimension>
struct SymmetricMatrix
{
  T Elements[TensorComponents<VDimension>];

  /** Returns the scale, so that the largest magnitude is from 1 to below 2, or below 4 at the end of the type's range.
   * Elements that are not finite stay so. */
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

// Sums of squares of scaled matrices are below it. Others have an element that is not finite.
template <typename T>
constexpr T SquareLimit = T{ 256 };

/** The eigenvalues p - t r and q + t r of the matrix of rows (p, r) and (r, q): with d = q - p and h = 2 r the tangent
 * t of the rotation's angle is the smaller root of t^2 + 2 (d / h) t - 1, t = h / (d +- root), root = sqrt(d^2 + h^2).
 * The angle is at most 45 degrees. */
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

  /** Turns two unit vectors. */
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
 * \brief Householder's reflection I - beta u u', u = (1, y, z), which turns a given direction into the first axis, but
 * for rough digits.
 *
 * Whatever y and z are, it is orthogonal to the last digits.
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
    // beta = 2 / (1 + y^2 + z^2) is `along` but for the rough digits, and one step of Newton's adds the others.
    const T half = std::fma(static_cast<T>(0.5), std::fma(Y, Y, Z * Z), static_cast<T>(0.5));
    Beta = along * std::fma(-half, along, T{ 2 });
  }

  /** Its rows. The first, with the other sign, has the direction. */
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
  /** 1 / x of 1 <= x <= 2, within 2e-5 of itself in float and within 2e-10 in double, by Newton's steps. */
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
 * \brief A 3 x 3 matrix of trace zero, but for roundings, and the reflection that splits off its isolated eigenvalue.
 */
template <typename T>
class TracelessMatrix
{
public:
  /** The matrix less the mean of its eigenvalues. */
  ITK_CUDA_HOST_DEVICE
  TracelessMatrix(const SymmetricMatrix<T, 3> & matrix, T mean)
    : m_XX(matrix.Elements[0] - mean)
    , m_XY(matrix.Elements[1])
    , m_XZ(matrix.Elements[2])
    , m_YY(matrix.Elements[3] - mean)
    , m_YZ(matrix.Elements[4])
    , m_ZZ(matrix.Elements[5] - mean)
  {}

  /** The sum of the squares of the eigenvalues. */
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

  /** N of H B H, rows (p, r) and (r, q): H B H = B - u v' - v u' with w = B u and v = beta (w - (beta / 2) (u' w) u).
   */
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

  /** An eigenvector of the isolated eigenvalue, not of unit length: the column of the adjugate of C - t I that has the
   * largest diagonal element. C is the matrix over sqrt(squares / 6), whose eigenvalues are 2 cos(angle), and t its
   * isolated one. The adjugate is (l_2 - t) (l_3 - t) n n', and l_2 and l_3 are at least sqrt(3) away from t. */
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
  /** The root of t^3 - 3 t = 2 s, -1 <= s <= 1, that is 2 cos(acos(s) / 3) for s >= 0, and of the same magnitude for
   * -s. It has no singularity near 0 <= |s| <= 1. */
  ITK_CUDA_HOST_DEVICE static T
  GetIsolatedRoot(T s)
  {
    const T magnitude = std::fabs(s);
    // Within 7e-5 (least maximal error).
    T t = std::fma(static_cast<T>(0.0191389), magnitude, static_cast<T>(-0.08214023));
    t = std::fma(t, magnitude, static_cast<T>(0.33095051));
    t = std::fma(t, magnitude, static_cast<T>(1.73211582));
    if constexpr (sizeof(T) == 8)
    {
      // Newton's step: within 4e-9.
      t = T{ 2 } * std::fma(t * t, t, magnitude) / (T{ 3 } * std::fma(t, t, T{ -1 }));
    }
    return s < T{ 0 } ? -t : t;
  }

  T m_XX, m_XY, m_XZ, m_YY, m_YZ, m_ZZ;
};

/** The angle by which an isolated eigenvector leans to another one. If it is larger than rough digits make it, all
 * eigenvalues are within some roundings, and the elements between the two as well: they need no correction. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetTilt(T element, T gap)
{
  constexpr T limit = static_cast<T>(sizeof(T) == 4 ? 1.7e-4 : 7.4e-9); // its square is below rounding
  const T     tilt = element / gap;
  return std::fabs(tilt) <= limit ? tilt : T{ 0 };
}

/** Solves a scaled matrix into `system`, in no order. */
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
  // Below it the eigenvalues are equal but for the thousandth of a rounding. Any basis will do, and without the limit
  // the inverse root would be infinite.
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
    // The basis turned, and what is left of the first vector in the other two, which the eigenvalues do not notice.
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

/** The ordered eigenvalues, and on request the eigenvectors, of the matrix whose upper triangle is given row after row.
 */
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
