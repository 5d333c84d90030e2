// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleHessianBasedMeasureImageFilter_h
#define itkCudaMultiScaleHessianBasedMeasureImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkMultiScaleHessianBasedMeasureImageFilter.h"

#include <string>
#include <vector>

namespace itk
{
/** \class CudaMultiScaleHessianBasedMeasureImageFilter
 * \brief MultiScaleHessianBasedMeasureImageFilter on an NVIDIA GPU: the largest objectness of several scales.
 *
 * All parameters, defaults and outputs are those of the superclass: SigmaMinimum (default 0.2) and SigmaMaximum (2) in
 * physical units, NumberOfSigmaSteps (10), SigmaStepMethod (logarithmic), NonNegativeHessianBasedMeasure (on), and the
 * images of the winning scale and Hessian with GenerateScalesOutput and GenerateHessianOutput (off). The Hessians are
 * normalised across scales.
 *
 * If HessianToMeasureFilter is a HessianToObjectnessMeasureImageFilter or a CudaHessianToObjectnessMeasureImageFilter,
 * its parameters are read, and the filter itself does not run. The image is uploaded once. For each scale the Hessian,
 * the measure and the maximum follow each other on the GPU. Images of Hessians exist there one component to a plane, in
 * float, or in double if the input or the output is of double, int or unsigned int.
 *
 * Responses differ from the superclass's by at most 1e-5 of the largest one, but where the measure itself jumps; see
 * CudaHessianToObjectnessMeasureImageFilter. Where two scales' responses are as near to each other, the other scale may
 * win. docs/objectness.md has the formula.
 *
 * Backend says where to compute. Automatic (default) takes the GPU if one is usable and the images fit into its memory.
 * Otherwise the same steps run on ITK's threads. Cuda throws CudaError instead of falling back. The superclass computes
 * what is not supported: other measures, responses that are not of float or double, and images of other dimensions than
 * two and three.
 *
 * \code
 * auto objectness = itk::HessianToObjectnessMeasureImageFilter<TensorImageType, ImageType>::New();
 * auto filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, TensorImageType, ImageType>::New();
 * filter->SetInput(image);
 * filter->SetHessianToMeasureFilter(objectness);
 * filter->SetSigmaMinimum(1.0);
 * filter->SetSigmaMaximum(4.0);
 * filter->SetNumberOfSigmaSteps(5);
 * filter->Update();
 * \endcode
 *
 * \sa CudaHessianRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename THessianImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaMultiScaleHessianBasedMeasureImageFilter
  : public MultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaMultiScaleHessianBasedMeasureImageFilter);

  using Self = CudaMultiScaleHessianBasedMeasureImageFilter;
  using Superclass = MultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using HessianImageType = THessianImage;
  using OutputImageType = TOutputImage;
  using typename Superclass::ScalesImageType;

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  itkNewMacro(Self);
  itkTypeMacro(CudaMultiScaleHessianBasedMeasureImageFilter, MultiScaleHessianBasedMeasureImageFilter);

  itkCudaFilterBackendMacro();

protected:
  CudaMultiScaleHessianBasedMeasureImageFilter() = default;
  ~CudaMultiScaleHessianBasedMeasureImageFilter() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  const char *
  GetObstacle() const;
  CudaDetail::CudaMultiScalePlan
  MakePlan() const;
  std::vector<double>
  GetSigmas() const;
  CudaDetail::CudaMultiScaleOutputs
  AllocateImages();
  void
  RunPlan();
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaMultiScaleHessianBasedMeasureImageFilter.hxx"
#endif

#endif
