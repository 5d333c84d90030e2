// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceGaussianSlabs_h
#define itkCudaDeviceGaussianSlabs_h

#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaSlabs.h"

#include <vector>

namespace itk
{
namespace CudaDetail
{
/** Runs the plan over an image whose parts lie on devices; see itk::CudaGaussianFilterSlabs(). Each output has the
 * planes of its input and lies on the same device.
 *
 * \exception ExceptionObject if the parts do not follow the rules, or the plan cannot be cut: a mask, or another
 * BoundaryMode than Nearest
 *
 * \exception CudaError */
CudaFilters_EXPORT CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &                 plan,
                        const std::vector<CudaDeviceImageView> & inputs,
                        const std::vector<CudaDeviceImageView> & outputs);

/** Gives access to the plan of a filter. It is never constructed. */
template <typename TFilter>
struct CudaPlanOfFilter : public TFilter
{
  static CudaGaussianPlan
  Make(const TFilter & filter)
  {
    return (filter.*(&CudaPlanOfFilter::MakePlan))();
  }
};
} // namespace CudaDetail

/** Filters an image that is larger than the memory of a GPU, and lies in parts on several of them.
 *
 * The parts follow each other along the last axis. All but the last one have the same number of planes, a multiple of
 * CudaSlabChunkLength, and the last one has as many or fewer. A part is filtered on its own device; only its first
 * plane and 16 bytes of states for each line, chunk within the reach of sigma, and neighbour travel between devices (32
 * in double). The result has the bits that the filter gives for the image in slabs, however it is divided. A device may
 * have several parts. Parts are not changed, and filtering takes memory for the results besides, and some planes.
 *
 * \code
 * std::vector<ImageType::Pointer> parts; // CudaDeviceImage<float, 3>, with parts[i]->SetDeviceIndex(i)
 * auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
 * filter->SetSigma(4.0); // in physical units
 * const auto smooth = itk::CudaGaussianFilterSlabs(*filter, parts);
 * \endcode
 *
 * \param filter a Gaussian filter from device images to device images: smoothing, derivatives along one axis, gradient,
 * gradient magnitude, Laplacian or Hessian. It has the parameters; its input becomes the first part.
 * \param parts images of one spacing and direction, whose regions continue each other or all begin at the same index
 * \param report receives devices, slabs and bytes, unless it is nullptr
 * \return the parts of the result, each on the device of its input and with its geometry. All work is done.
 *
 * \exception ExceptionObject if the parts do not follow the rules above, or the filter's parameters are out of range
 * \exception CudaError
 *
 * \ingroup CudaFilters */
template <typename TFilter>
std::vector<typename TFilter::OutputImageType::Pointer>
CudaGaussianFilterSlabs(TFilter &                                                      filter,
                        const std::vector<typename TFilter::InputImageType::Pointer> & parts,
                        CudaSlabReport *                                               report = nullptr)
{
  using OutputImageType = typename TFilter::OutputImageType;
  static_assert(CudaIsDeviceImage<typename TFilter::InputImageType>::value && CudaIsDeviceImage<OutputImageType>::value,
                "CudaGaussianFilterSlabs: input and output of the filter must be device images");
  std::vector<typename OutputImageType::Pointer> outputs;
  std::vector<CudaDeviceImageView>               from;
  std::vector<CudaDeviceImageView>               to;
  if (parts.empty())
  {
    itkGenericExceptionMacro("CudaGaussianFilterSlabs: parts is empty; it must have at least one image");
  }
  filter.SetInput(parts.front());
  filter.UpdateOutputInformation();
  for (const auto & part : parts)
  {
    if (part->GetSpacing() != parts.front()->GetSpacing() || part->GetDirection() != parts.front()->GetDirection())
    {
      itkGenericExceptionMacro(<< "Part " << from.size() << " has another spacing or direction than part 0");
    }
    const auto output = OutputImageType::New();
    output->CopyInformation(part);
    output->SetRegions(part->GetBufferedRegion());
    output->SetNumberOfComponentsPerPixel(filter.GetOutput()->GetNumberOfComponentsPerPixel());
    output->SetDeviceIndex(part->GetDeviceIndex());
    output->Allocate();
    from.push_back(part->GetDeviceView());
    to.push_back(output->GetDeviceView());
    outputs.push_back(output);
  }
  const CudaSlabReport found =
    CudaDetail::CudaGaussianFilterSlabs(CudaDetail::CudaPlanOfFilter<TFilter>::Make(filter), from, to);
  if (report)
  {
    *report = found;
  }
  return outputs;
}
} // end namespace itk

#endif
