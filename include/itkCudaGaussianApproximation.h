// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianApproximation_h
#define itkCudaGaussianApproximation_h

#include "itkCudaFiltersEnums.h"

#include <string>

/** The parameter Approximation of a recursive Gaussian filter, and the member behind it. It stands in each class
 * itself, not in a base, because Python sees only methods of wrapped classes. */
#define itkCudaGaussianApproximationMacro()                                                              \
  void SetApproximation(itk::CudaFiltersEnums::Approximation approximation)                              \
  {                                                                                                      \
    if (m_Approximation != approximation)                                                                \
    {                                                                                                    \
      m_Approximation = approximation;                                                                   \
      this->Modified();                                                                                  \
    }                                                                                                    \
  }                                                                                                      \
  void SetApproximation(const std::string & name)                                                        \
  {                                                                                                      \
    this->SetApproximation(itk::CudaApproximationFromString(name));                                      \
  }                                                                                                      \
  itk::CudaFiltersEnums::Approximation GetApproximation() const                                          \
  {                                                                                                      \
    return m_Approximation;                                                                              \
  }                                                                                                      \
                                                                                                         \
private:                                                                                                 \
  itk::CudaFiltersEnums::Approximation m_Approximation{ itk::CudaFiltersEnums::Approximation::Deriche }; \
                                                                                                         \
public:                                                                                                  \
  static_assert(true, "")

#endif
