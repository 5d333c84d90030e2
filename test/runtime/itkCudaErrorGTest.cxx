// SPDX-License-Identifier: Apache-2.0
#include "itkCudaError.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace
{
itk::CudaError
MakeError(itk::CudaError::Kind kind)
{
  return { "somewhere.cxx", 42, kind, "cudaMalloc(&p, 8) failed: cudaErrorUnknown (unknown error)" };
}
} // namespace

TEST(CudaError, Carries_kind_place_and_description)
{
  const itk::CudaError error = MakeError(itk::CudaError::Kind::OutOfMemory);
  EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::OutOfMemory);
  EXPECT_EQ(std::string(error.GetDescription()), "cudaMalloc(&p, 8) failed: cudaErrorUnknown (unknown error)");
  EXPECT_EQ(std::string(error.GetFile()), "somewhere.cxx");
  EXPECT_EQ(error.GetLine(), 42u);
  EXPECT_EQ(std::string(error.GetNameOfClass()), "CudaError");
  EXPECT_NE(std::string(error.what()).find("cudaErrorUnknown"), std::string::npos);
}

TEST(CudaError, Is_caught_as_an_ITK_exception)
{
  bool caught = false;
  try
  {
    throw MakeError(itk::CudaError::Kind::CallFailed);
  }
  catch (const itk::ExceptionObject & exception)
  {
    caught = true;
    EXPECT_NE(dynamic_cast<const itk::CudaError *>(&exception), nullptr);
  }
  EXPECT_TRUE(caught);
}

TEST(CudaError, Copies_keep_everything)
{
  static_assert(std::is_nothrow_copy_constructible<itk::CudaError>::value, "exceptions are copied when thrown");
  const itk::CudaError error = MakeError(itk::CudaError::Kind::CallFailed);
  const itk::CudaError copy(error);
  EXPECT_EQ(copy.GetKind(), itk::CudaError::Kind::CallFailed);
  EXPECT_EQ(std::string(copy.GetDescription()), error.GetDescription());

  itk::CudaError assigned = MakeError(itk::CudaError::Kind::NotUsable);
  assigned = error;
  EXPECT_EQ(assigned.GetKind(), itk::CudaError::Kind::CallFailed);
}
