// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_AccurateConstants_h
#define CudaFilters_gaussian_plan_AccurateConstants_h

// Written by tools/fit_gaussian_exponentials.py, which says what these are: half of the kernel of order k is
// Re sum_j AccurateAmplitude[k][j] exp(AccurateExponent[j] n / sigma), n >= 0, before normalisation.

namespace itk::cuda::gaussian
{
constexpr unsigned int AccurateNumberOfPolePairs = 3;

/** Real and imaginary part. */
struct AccurateConstant
{
  double Real;
  double Imaginary;
};

// clang-format off
constexpr AccurateConstant AccurateExponent[AccurateNumberOfPolePairs] = {
  { -2.1794336851040002, 0.51096281864000004 },
  { -2.130627733666, 1.57796004308 },
  { -2.0345048259970002, 2.808071000719 }
};
constexpr AccurateConstant AccurateAmplitude[3][AccurateNumberOfPolePairs] = {
  { { 3.2453715050030012, -7.0401205201777302 }, { -2.3978888572137618, 0.69774232198942698 }, { 0.15251429180721887, 0.078979973782625695 } },
  { { -3.484431041646002, 16.987939301887071 }, { 4.0178819429461035, -5.2707077757445822 }, { -0.53345090130010098, 0.26978966610877109 } },
  { { -1.0255603358476826, -38.738111927142995 }, { -0.30082657557147829, 17.602188626870515 }, { 0.32576968639649451, -2.0696552222704074 } }
};
// clang-format on
} // namespace itk::cuda::gaussian

#endif
