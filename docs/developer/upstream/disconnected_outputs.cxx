// SPDX-License-Identifier: Apache-2.0
// The program of disconnected_outputs.md.
#include "itkHessianToObjectnessMeasureImageFilter.h"
#include "itkMultiScaleHessianBasedMeasureImageFilter.h"
#include <iostream>

using ImageType = itk::Image<float, 2>;
using HessianType = itk::Image<itk::SymmetricSecondRankTensor<double, 2>, 2>;
using FilterType = itk::MultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType, ImageType>;

void
Print(FilterType & filter)
{
  const bool isHessian = dynamic_cast<const HessianType *>(filter.GetIndexedOutputs()[2].GetPointer()) != nullptr;
  std::cout << "the output of Hessians is an image of " << (isHessian ? "tensors" : "something else") << '\n';
}

int
main()
{
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<2>{ { 20, 20 } });
  image->Allocate(true);
  const auto measure = itk::HessianToObjectnessMeasureImageFilter<HessianType, ImageType>::New();
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetHessianToMeasureFilter(measure);
  filter->SetGenerateHessianOutput(true);
  filter->Update();
  Print(*filter);
  const HessianType::Pointer kept = const_cast<HessianType *>(filter->GetHessianOutput());
  kept->DisconnectPipeline();
  Print(*filter);
}
