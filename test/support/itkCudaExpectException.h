// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaExpectException_h
#define itkCudaExpectException_h

#include "itkMacro.h"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>

namespace itk::cuda::test
{
/** Returns the description of the exception that is thrown, or an empty string if there is no exception. */
inline std::string
GetException(const std::function<void()> & function)
{
  try
  {
    function();
  }
  catch (const ExceptionObject & exception)
  {
    return exception.GetDescription();
  }
  return {};
}

/** Returns the text without the addresses of objects, which occur in "CudaRegionSnakeImageFilter(0x5571157e40)". */
inline std::string
WithoutAddresses(const std::string & text)
{
  return std::regex_replace(text, std::regex("\\(0x[0-9a-f]+\\)"), "");
}

inline void
ExpectContains(const std::string & text, const std::string & part)
{
  EXPECT_NE(text.find(part), std::string::npos) << "text: " << text << "\npart: " << part;
}
} // namespace itk::cuda::test

#endif
