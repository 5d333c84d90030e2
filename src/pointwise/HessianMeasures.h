// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_HessianMeasures_h
#define CudaFilters_pointwise_HessianMeasures_h

#include "itkCudaDetailTensorEngine.h"
#include "runtime/HostDevice.h"
#include "runtime/image/NegativeExponential.h"
#include "pointwise/SymmetricEigen.h"

#include <cmath>
#include <limits>

// Measures of a Hessian's eigenvalues, in two and three dimensions, with bit-identical results on the host and on the
// device. docs/user/vesselness.md describes them in full.
//
// l_1, l_2, l_3 are the eigenvalues in the order that each measure states. Where a formula is written for bright
// objects, the eigenvalues are negated for dark ones.
//
//   Objectness  L. Antiga, Generalizing vesselness with respect to dimensionality and shape, Insight Journal, 2007, as
//               itk::HessianToObjectnessMeasureImageFilter computes it.
//   Frangi      A. F. Frangi et al., Multiscale vessel enhancement filtering, MICCAI 1998, LNCS 1496, 130-137:
//               objectness of lines, without the factor |l_D|.
//   Sato        Y. Sato et al., Three-dimensional multi-scale line filter for segmentation and visualization of
//               curvilinear structures in medical images, Medical Image Analysis 2(2), 1998, 143-168.
//   Jerman      T. Jerman et al., Enhancement of vascular structures in 3D and 2D angiographic images, IEEE
//               Transactions on Medical Imaging 35(9), 2016, 2107-2118.
//   Meijering   E. Meijering et al., Design and validation of a tool for neurite tracing and analysis in fluorescence
//               microscopy images, Cytometry 58A(2), 2004, 167-176.
//
// Ratios are computed from the scaled eigenvalues, so that no product of eigenvalues overflows or vanishes.

namespace itk::cuda::pointwise
{
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
Square(T x)
{
  return x * x;
}

/** \struct MeasureParameters
 * \brief A plan's parameters in the type in which pixels are computed. Divisors are replaced by their reciprocals.
 */
template <typename T>
struct MeasureParameters
{
  CudaHessianMeasureKind Kind;
  bool                   IsBright;

  bool         HasAlpha; // Alpha is not 0
  bool         HasBeta;
  bool         HasGamma;
  bool         IsScaled;
  unsigned int ObjectDimension;
  T            AlphaFactor; // 1 / (2 alpha^2)
  T            BetaFactor;
  T            InverseGamma;

  T            SatoAlpha;
  unsigned int SatoHalves12; // twice the exponent
  unsigned int SatoHalves23;

  T JermanFloor;

  explicit MeasureParameters(const CudaHessianMeasure & measure)
    : Kind(measure.Kind)
    , IsBright(measure.BrightObject)
    , HasAlpha(std::fabs(measure.Alpha) > 0.0)
    , HasBeta(std::fabs(measure.Beta) > 0.0)
    , HasGamma(std::fabs(measure.Gamma) > 0.0)
    , IsScaled(measure.ScaleObjectnessMeasure)
    , ObjectDimension(measure.ObjectDimension)
    , AlphaFactor(Clamp(0.5 / Square(measure.Alpha)))
    , BetaFactor(Clamp(0.5 / Square(measure.Beta)))
    , InverseGamma(GetFromScale(CudaHessianMeasureKind::Objectness, measure.Gamma))
    , SatoAlpha(static_cast<T>(measure.SatoAlpha))
    , SatoHalves12(static_cast<unsigned int>(2.0 * measure.SatoGamma12))
    , SatoHalves23(static_cast<unsigned int>(2.0 * measure.SatoGamma23))
    , JermanFloor(GetFromScale(CudaHessianMeasureKind::Jerman, measure.JermanFloor))
  {}

  /** Returns the member that depends on the scale: InverseGamma for `parameter` = Gamma of objectness, or JermanFloor
   * for Jerman's floor. */
  ITK_CUDA_HOST_DEVICE static T
  GetFromScale(CudaHessianMeasureKind kind, double parameter)
  {
    return Clamp(kind == CudaHessianMeasureKind::Jerman ? parameter : 1.0 / std::fabs(parameter));
  }

  /** Sets the member that depends on the scale. */
  ITK_CUDA_HOST_DEVICE void
  SetFromScale(T value)
  {
    if (Kind == CudaHessianMeasureKind::Jerman)
    {
      JermanFloor = value;
    }
    else
    {
      InverseGamma = value;
    }
  }

private:
  ITK_CUDA_HOST_DEVICE static T
  Clamp(double x)
  {
    constexpr double greatest = static_cast<double>(FloatBits<T>::Greatest);
    return static_cast<T>(x < greatest ? x : greatest);
  }
};

/** Returns 1 - exp(-R_A^2 / (2 alpha^2)) for R_A^2. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetFactorA(const MeasureParameters<T> & p, T squaredRatio)
{
  return NegativeExponential<T>(squaredRatio * p.AlphaFactor).GetOneMinus();
}

/** Returns exp(-R_B^2 / (2 beta^2)) for R_B^2. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetFactorB(const MeasureParameters<T> & p, T squaredRatio)
{
  return NegativeExponential<T>(squaredRatio * p.BetaFactor).Get();
}

/** Returns the objectness, with |l_1| <= |l_2| <= |l_3|, M = ObjectDimension, D = VDimension.
 *
 *   R_A = |l_(M+1)| / (product of |l_j|, j > M + 1)^(1 / (D - M - 1)), for M < D - 1
 *   R_B = |l_M| / (product of |l_j|, j > M)^(1 / (D - M)), for M > 0
 *   S^2 = sum of l_j^2
 *
 *   O = (1 - exp(-R_A^2 / (2 alpha^2))) exp(-R_B^2 / (2 beta^2)) (1 - exp(-S^2 / (2 gamma^2))) |l_D|
 *
 * O is 0 if one of the l_j, j > M, has the wrong sign, which is positive for bright objects. As in ITK, alpha = 0 and
 * gamma = 0 leave out their factor, beta = 0 or a product of 0 makes O 0, and the last factor is optional. */
template <unsigned int VObjectDimension, typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline T
GetObjectnessOf(const MeasureParameters<T> & p, const EigenSystem<T, VDimension> & system)
{
  constexpr int d = VDimension;
  constexpr int m = VObjectDimension;
  T             behindA = T{ 1 }; // product of |l_j|, j > M + 1
  T             behindB = T{ 1 }; // product of |l_j|, j > M
  T             squares = T{ 0 };
  bool          isObject = true;
  ITK_CUDA_UNROLL
  for (int i = 0; i < d; ++i)
  {
    const T value = system.Values[i];
    const T magnitude = std::fabs(value);
    isObject = isObject && (i < m || !(p.IsBright ? value > T{ 0 } : value < T{ 0 }));
    behindA = i > m ? behindA * magnitude : behindA;
    behindB = i >= m ? behindB * magnitude : behindB;
    squares = std::fma(value, value, squares);
  }
  if (!isObject)
  {
    return T{ 0 };
  }

  // All ratios are squared. A geometric mean of two eigenvalues then needs no root, but a single eigenvalue must be
  // squared.
  const T divisorA = m + 2 == d ? behindA * behindA : behindA;
  const T divisorB = m + 1 == d ? behindB * behindB : behindB;
  if ((m + 1 < d && !(divisorA > T{ 0 })) || (m > 0 && !(divisorB > T{ 0 } && p.HasBeta)))
  {
    return T{ 0 };
  }
  T objectness = T{ 1 };
  if constexpr (m > 0 && m + 1 < d)
  {
    if (p.HasAlpha)
    {
      // One division gives both ratios. The scaled |l_D| is at least 1, or 1e-7 if the matrix is subnormal, so R_A^2
      // vanishes where the product does.
      const T product = divisorA * divisorB;
      if (product < FloatBits<T>::Least)
      {
        return T{ 0 };
      }
      const T inverse = T{ 1 } / product;
      objectness = GetFactorA(p, Square(system.Values[m]) * divisorB * inverse);
      objectness *= GetFactorB(p, Square(system.Values[m - 1]) * divisorA * inverse);
    }
    else
    {
      objectness = GetFactorB(p, Square(system.Values[m - 1]) / divisorB);
    }
  }
  else if constexpr (m > 0)
  {
    objectness = GetFactorB(p, Square(system.Values[m - 1]) / divisorB);
  }
  else if (p.HasAlpha)
  {
    objectness = GetFactorA(p, Square(system.Values[m]) / divisorA);
  }
  if (p.HasGamma)
  {
    const T factor = p.InverseGamma * system.Scale;
    objectness *= NegativeExponential<T>(static_cast<T>(0.5) * squares * Square(factor)).GetOneMinus();
  }
  return p.IsScaled ? objectness * std::fabs(system.GetValue(VDimension - 1)) : objectness;
}

template <typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline T
GetObjectness(const MeasureParameters<T> & p, const EigenSystem<T, VDimension> & system)
{
  if (p.ObjectDimension == 1)
  {
    return GetObjectnessOf<1>(p, system);
  }
  return p.ObjectDimension == 0 ? GetObjectnessOf<0>(p, system) : GetObjectnessOf<VDimension - 1>(p, system);
}

/** Returns x^(halves / 2), for 0, 1 or 2 halves. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
RaiseToHalves(T x, unsigned int halves)
{
  return halves == 0 ? T{ 1 } : halves == 1 ? std::sqrt(x) : x;
}

/** Returns Sato's line measure, with l_1 >= l_2 >= l_3.
 *
 *   |l_3| (l_2 / l_3)^gamma23 (1 + l_1 / |l_2|)^gamma12        if l_3 <= l_2 < 0 and l_1 <= 0
 *   |l_3| (l_2 / l_3)^gamma23 (1 - alpha l_1 / |l_2|)^gamma12  if l_3 <= l_2 < 0 < l_1 < |l_2| / alpha
 *   0                                                          otherwise
 *
 * In two dimensions there is only one eigenvalue across a line, so l_3 = l_2. With alpha = 0, gamma12 = 0 and gamma23
 * = 1/2 the measure is the geometric mean of the eigenvalues across the line, sqrt(l_2 l_3), as in scikit-image. */
template <typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline T
GetSatoMeasure(const MeasureParameters<T> & p, const EigenSystem<T, VDimension> & system)
{
  const T * const v = system.Values; // ascending
  const T         along = p.IsBright ? v[VDimension - 1] : -v[0];
  const T         largest = p.IsBright ? -v[0] : v[VDimension - 1]; // |l_3|
  const T         across = p.IsBright ? -v[VDimension - 2] : v[1];  // |l_2|
  if (!(across > T{ 0 }))
  {
    return T{ 0 };
  }
  const T ratio = along / across;
  const T similarity = along > T{ 0 } ? T{ 1 } - p.SatoAlpha * ratio : T{ 1 } + ratio;
  if (along > T{ 0 } && !(similarity > T{ 0 }))
  {
    return T{ 0 };
  }
  return largest * RaiseToHalves(across / largest, p.SatoHalves23) * RaiseToHalves(similarity, p.SatoHalves12) *
         system.Scale;
}

/** Returns Jerman's measure, with |l_1| <= |l_2| <= |l_3| and with the sign that makes the eigenvalues of an object
 * positive.
 *
 * With l_r = max(l_3, floor), where floor is tau times the largest l_3 of the image, and r = l_2 / l_r, the measure is
 *
 *   0                          if l_2 <= 0 or l_3 <= 0
 *   1                          if r >= 1/2
 *   27 r^2 (1 - r) / (1 + r)^3 otherwise
 *
 * In two dimensions l_2, the larger eigenvalue, also takes the place of l_3. */
template <typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline T
GetJermanMeasure(const MeasureParameters<T> & p, const EigenSystem<T, VDimension> & system)
{
  const T sign = p.IsBright ? T{ -1 } : T{ 1 };
  const T largest = sign * system.Values[VDimension - 1];
  const T second = sign * system.Values[1]; // in two dimensions this is the largest one
  if (!(second > T{ 0 } && largest > T{ 0 }))
  {
    return T{ 0 };
  }
  const T floor = p.JermanFloor / system.Scale;
  const T ratio = second / (largest > floor ? largest : floor);
  const T sum = T{ 1 } + ratio;
  return ratio >= static_cast<T>(0.5) ? T{ 1 } : T{ 27 } * ratio * ratio * (T{ 1 } - ratio) / (sum * sum * sum);
}

/** Returns Meijering's measure. Let l'_i = l_i - (sum of the other l_j) / (D + 1), and l' the one with the largest
 * magnitude. The measure is -l' for bright objects if l' < 0, l' for dark objects if l' > 0, and otherwise 0. The
 * factor 1 / (D + 1) makes the filter maximally flat along a line. The paper treats two dimensions, with a factor of
 * 1/3, and divides by the largest value of the image. */
template <typename T, unsigned int VDimension>
ITK_CUDA_HOST_DEVICE inline T
GetMeijeringMeasure(const MeasureParameters<T> & p, const EigenSystem<T, VDimension> & system)
{
  const T * const v = system.Values; // ascending
  T               trace = T{ 0 };
  ITK_CUDA_UNROLL
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    trace += v[i];
  }
  constexpr T factor = T{ 1 } / static_cast<T>(VDimension + 1);
  const T     least = v[0] - (trace - v[0]) * factor;
  const T     greatest = v[VDimension - 1] - (trace - v[VDimension - 1]) * factor;
  const T     object = p.IsBright ? -least : greatest;
  const T     other = p.IsBright ? greatest : -least;
  return object > T{ 0 } && object >= other ? object * system.Scale : T{ 0 };
}

/** Returns the Frobenius norm of a Hessian, whose upper triangle is given row by row, also where squares overflow or
 * underflow. It is NaN if an element is not finite. */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline T
GetFrobeniusNorm(const T * hessian)
{
  constexpr unsigned int components = VDimension * (VDimension + 1) / 2;
  T                      largest = T{ 0 };
  ITK_CUDA_UNROLL
  for (unsigned int c = 0; c < components; ++c)
  {
    const T magnitude = std::fabs(hessian[c]);
    largest = magnitude > largest || !(magnitude == magnitude) ? magnitude : largest;
  }
  // The sum of the elements' squares is at most nine times the largest of them.
  constexpr bool isFloat = sizeof(T) == sizeof(float);
  constexpr T    least = static_cast<T>(isFloat ? 0x1p-50 : 0x1p-480);
  constexpr T    most = static_cast<T>(isFloat ? 0x1p60 : 0x1p500);
  const T        scale = largest >= least && largest <= most ? T{ 1 } : largest;
  if (scale == T{ 0 })
  {
    return scale;
  }
  T sum = T{ 0 };
  ITK_CUDA_UNROLL
  for (unsigned int row = 0, c = 0; row < VDimension; ++row)
  {
    ITK_CUDA_UNROLL
    for (unsigned int column = row; column < VDimension; ++column, ++c)
    {
      const T square = Square(hessian[c] / scale);
      sum += column == row ? square : square + square; // the symmetric matrix has the others twice
    }
  }
  return scale * std::sqrt(sum);
}

/** Returns the measure of a Hessian, whose upper triangle is given row by row. It is NaN if an element is not finite.
 */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline T
GetHessianMeasure(const MeasureParameters<T> & p, const T * hessian)
{
  using Kind = CudaHessianMeasureKind;
  if (p.Kind == Kind::FrobeniusNorm)
  {
    return GetFrobeniusNorm<VDimension>(hessian);
  }
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<false>(hessian, CudaEigenValueOrder::None, system);
  if (!(system.Values[0] == system.Values[0]))
  {
    return system.Values[0];
  }
  // The order is a constant in each case, so that sorting has no branches.
  switch (p.Kind)
  {
    case Kind::Objectness:
      SortEigenSystem<false>(system, CudaEigenValueOrder::ByMagnitude);
      return GetObjectness(p, system);
    case Kind::Sato:
      SortEigenSystem<false>(system, CudaEigenValueOrder::ByValue);
      return GetSatoMeasure(p, system);
    case Kind::Jerman:
      SortEigenSystem<false>(system, CudaEigenValueOrder::ByMagnitude);
      return GetJermanMeasure(p, system);
    case Kind::Meijering:
      SortEigenSystem<false>(system, CudaEigenValueOrder::ByValue);
      return GetMeijeringMeasure(p, system);
    case Kind::FrobeniusNorm:
      break;
  }
  return T{ 0 };
}
} // namespace itk::cuda::pointwise

#endif
