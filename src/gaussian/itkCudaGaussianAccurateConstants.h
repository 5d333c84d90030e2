// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianAccurateConstants_h
#define itkCudaGaussianAccurateConstants_h

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
  { -2.183983264523, 0.50149847392000002 },
  { -2.1260017310369999, 1.5531293767550001 },
  { -2.0181847318899999, 2.777401329156 }
};
constexpr AccurateConstant AccurateAmplitude[3][AccurateNumberOfPolePairs] = {
  { { 3.3265845840059063, -6.9746920807654691 }, { -2.477999658891894, 0.59269040169499876 }, { 0.15141881981218086, 0.098966068097590593 } },
  { { -3.7627661407447635, 16.907265058181533 }, { 4.3430919182884322, -5.1074224539444586 }, { -0.58032577754366876, 0.21950766435247049 } },
  { { -0.2408983260689066, -38.786896074173825 }, { -1.3225390821789027, 17.611268170898001 }, { 0.56306044290710489, -2.0622980338470702 } }
};
// clang-format on
} // namespace itk::cuda::gaussian

#endif
