// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRunInThreads_h
#define itkCudaRunInThreads_h

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace itk::cuda::test
{
/** Runs a function in several threads at once, each with its number, and expects that it returns no error. */
inline void
RunInThreads(unsigned int number, const std::function<std::string(unsigned int)> & function)
{
  std::vector<std::string> errors(number);
  std::vector<std::thread> threads;
  for (unsigned int index = 0; index < number; ++index)
  {
    threads.emplace_back([index, &errors, &function] {
      try
      {
        errors[index] = function(index);
      }
      catch (const std::exception & exception)
      {
        errors[index] = exception.what();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(errors, std::vector<std::string>(number));
}
} // namespace itk::cuda::test

#endif
