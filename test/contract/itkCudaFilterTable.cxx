// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFilterTable.h"

namespace itk::cuda::test
{
const std::vector<FilterRow> &
GetFilterRows()
{
  using OfConstant = FilterRow::OfConstant;
  static const std::vector<FilterRow> rows{
    { "recursive",
      MakeRecursiveStressCase,
      OfConstant::SameOrZero,
      "Sigma",
      MakeRecursiveSemantics,
      MakeRecursiveDeviceCall },
    { "smoothing",
      MakeSmoothingStressCase,
      OfConstant::Same,
      "Sigma",
      MakeSmoothingSemantics,
      MakeSmoothingDeviceCall },
    { "magnitude",
      MakeMagnitudeStressCase,
      OfConstant::Zero,
      "Sigma",
      MakeMagnitudeSemantics,
      MakeMagnitudeDeviceCall },
    { "laplacian",
      MakeLaplacianStressCase,
      OfConstant::Zero,
      "Sigma",
      MakeLaplacianSemantics,
      MakeLaplacianDeviceCall },
    { "gradient", MakeGradientStressCase, OfConstant::Zero, "Sigma", MakeGradientSemantics, MakeGradientDeviceCall },
    { "hessian", MakeHessianStressCase, OfConstant::Zero, "Sigma", MakeHessianSemantics, MakeHessianDeviceCall },
    { "discrete",
      MakeDiscreteStressCase,
      OfConstant::Same,
      "MaximumError",
      MakeDiscreteSemantics,
      MakeDiscreteDeviceCall },
    { "partitioned",
      MakePartitionedStressCase,
      OfConstant::Same,
      "LinesPerBlock",
      MakePartitionedSemantics,
      MakePartitionedDeviceCall },
    { "structure_tensor",
      MakeStructureTensorStressCase,
      OfConstant::Zero,
      "Sigma",
      nullptr,
      MakeStructureTensorDeviceCall },
    { "objectness", MakeObjectnessStressCase, OfConstant::OneValue, "ObjectDimension", nullptr, nullptr },
    { "eigenvalues", MakeEigenvaluesStressCase, OfConstant::OneValue, "Dimension", nullptr, MakeEigenvaluesDeviceCall },
    { "multi_scale", MakeMultiScaleStressCase, OfConstant::Zero, "HessianToMeasureFilter", nullptr, nullptr },
    { "vesselness", MakeVesselnessStressCase, OfConstant::Zero, "Sigmas", nullptr, nullptr },
    { "snake",
      MakeSnakeStressCase,
      OfConstant::OneValue,
      "MaximumNumberOfNodes",
      MakeSnakeSemantics,
      MakeSnakeDeviceCall },
    { "snake_batch", MakeSnakeBatchStressCase, OfConstant::Zero, "MaximumNumberOfNodes", nullptr, nullptr },
    { "partition", MakePartitionStressCase, OfConstant::Anything, "BlockSize", nullptr, nullptr },
    { "detection", MakeDetectionStressCase, OfConstant::Zero, "ProbabilityOfFalseAlarm", nullptr, nullptr },
  };
  return rows;
}
} // namespace itk::cuda::test
