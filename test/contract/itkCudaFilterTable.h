// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFilterTable_h
#define itkCudaFilterTable_h

#include "itkCudaDeviceCall.h"
#include "semantics/itkCudaSemanticsScene.h"
#include "stress/itkCudaStressCase.h"

#include <string>
#include <vector>

namespace itk::cuda::test
{
/** A filter of the module. The contract suite, the semantics suite and the stress program try all filters of the table:
 * a new filter is a new row. */
struct FilterRow
{
  /** What an image of one value, 7, becomes. */
  enum class OfConstant
  {
    Same,
    Zero,
    SameOrZero, // depending on the case's parameters
    OneValue,   // in all components of all pixels
    Anything    // labels depend on the blocks that the search starts from
  };

  std::string Name;
  /** Makes a random case: types of pixels, image and parameters. */
  StressCaseMaker MakeCase;
  OfConstant      Constant;
  /** The parameter that a case spoils, as it is called in the exception. */
  std::string SpoiledParameter;
  /** Makes what the semantics suite tries. It is nullptr for filters whose input is not an image of numbers. */
  std::vector<SemanticsKind> (*MakeSemanticsKinds)();
  /** Makes a filter of device images, unless it is nullptr. */
  DeviceCallMaker MakeDeviceCall;
};

const std::vector<FilterRow> &
GetFilterRows();
} // namespace itk::cuda::test

#endif
