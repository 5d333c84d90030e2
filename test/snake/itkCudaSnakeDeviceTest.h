// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeDeviceTest_h
#define itkCudaSnakeDeviceTest_h

#include "itkCudaFiltersConfiguration.h"

#include <gtest/gtest.h>

#include <string>

namespace itk::cuda
{
/** Skips without a usable GPU. */
class SnakeDeviceTest : public ::testing::Test
{
protected:
  const int m_Device = CudaFiltersConfiguration::GetDeviceIndex();

  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << reason;
    }
  }
};
} // namespace itk::cuda

#endif
