// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedRecursiveGaussianImageFilter_h
#define itkCudaPartitionedRecursiveGaussianImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "itkCudaDeviceImageFilter.h"
#include "itkImageToImageFilter.h"

namespace itk
{
/** \class CudaPartitionedRecursiveGaussianImageFilter
 * \brief Gaussian smoothing by the recursive filter of Young and van Vliet, with lines divided among GPU threads.
 *
 * The filter smooths every line along every axis by a forward pass followed by a backward pass, each a recursion of
 * order three (Young and van Vliet, Signal Processing 44, 1995). The second pass needs the complete result of the
 * first, so in principle one thread has to process the whole line. Partition selects how a line is divided
 * nevertheless:
 * - OneWay does not divide it.
 * - TwoWay divides it into a left half, one central pixel and a right half, which are processed concurrently, as
 *   published by Lee, Ko and Choe (EURASIP Journal on Image and Video Processing 2014:33). The left half is filtered
 *   forward and then backward, the right half backward and then forward. The central pixel is the sum of its neighbours
 *   weighted by a Gaussian that is truncated at half of FilterWindow; it replaces the pixels that a half would have
 *   read beyond the centre. TwoWay is an approximation: its PSNR against OneWay was 32 to 82 dB on the images of
 *   docs/developer/two_way_paper.md.
 * - Exact (default) divides it into NumberOfBlocks blocks. Each block computes its end state from its own pixels,
 *   concurrently with the others, and a scan combines the states. The result equals OneWay's up to rounding (2e-6 of
 *   the largest absolute pixel value in float).
 *
 * Sigma is measured in the image's physical units (default 1). FilterWindow is the paper's window N, in pixels
 * regardless of the spacing. WindowToSigmaRatio relates the window to Sigma (default 2, which is the paper's sigma = N
 * / 2). Sigma and FilterWindow replace each other: the one that was set last is used. Below a Sigma of 0.5 pixels the
 * smoothing fades out, and below 0.306 pixels there is no smoothing.
 *
 * LineBorders selects how the second pass starts at the end of a line. With Exact (default) the line repeats its last
 * value (Triggs and Sdika, IEEE Transactions on Signal Processing 54, 2006); with AsPublished the first pass's result
 * repeats its last value. TwoWay starts each pass as published. IntermediateStorage selects where a thread stores the
 * first pass's result: in its local memory (default) or in the image. LinesPerBlock is the number of lines that a block
 * of threads works on: 4, 8, 16 (default), 32 or 64. On the host it is the number of lines of a work item. Neither of
 * these two parameters changes the result by more than rounding.
 *
 * Every axis needs at least four pixels. Images of float, char and short types are computed in float, images of double
 * and int types in double; integer outputs are truncated toward zero and clamped to their range. Constant images are
 * preserved exactly. The filter always computes the whole image. A pixel costs about 40 floating-point operations for
 * each axis, independently of Sigma.
 *
 * Backend selects where the filter runs, as in the other filters; on the host, the same computations run on ITK's
 * threads. If the input or the output is a CudaDeviceImage there is no fallback to the host, as in
 * CudaGaussianImageFilterBase.
 *
 * A NaN or infinite pixel spoils its line in every pass. With TwoWay it spoils only its half, unless it is the line's
 * first pixel or near the middle.
 *
 * \code
 * auto filter = itk::CudaPartitionedRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigma(4.0);
 * filter->SetPartition("TwoWay");
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaPartitionedRecursiveGaussianImageFilter
  : public CudaFilterSuperclass<TInputImage, TOutputImage, ImageToImageFilter, CudaDeviceImageFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaPartitionedRecursiveGaussianImageFilter);

  using Self = CudaPartitionedRecursiveGaussianImageFilter;
  using Superclass = CudaFilterSuperclass<TInputImage, TOutputImage, ImageToImageFilter, CudaDeviceImageFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using PartitionEnum = CudaFiltersEnums::Partition;
  using LineBordersEnum = CudaFiltersEnums::LineBorders;
  using IntermediateStorageEnum = CudaFiltersEnums::IntermediateStorage;

  static constexpr unsigned int ImageDimension = TOutputImage::ImageDimension;

  itkNewMacro(Self);
  itkTypeMacro(CudaPartitionedRecursiveGaussianImageFilter, ImageToImageFilter);

  /** The standard deviation in physical units, greater than 0. Setting it replaces FilterWindow. */
  void
  SetSigma(double sigma);
  itkGetConstMacro(Sigma, double);

  /** The paper's window in pixels, greater than 0. Setting it replaces Sigma by a standard deviation of FilterWindow /
   * WindowToSigmaRatio pixels along every axis. */
  void
  SetFilterWindow(double window);
  itkGetConstMacro(FilterWindow, double);

  /** Whether FilterWindow is used instead of Sigma, because it was set last. */
  itkGetConstMacro(UseFilterWindow, bool);

  /** FilterWindow divided by the standard deviation, greater than 0. */
  itkSetMacro(WindowToSigmaRatio, double);
  itkGetConstMacro(WindowToSigmaRatio, double);

  /** How lines are divided: OneWay, TwoWay or Exact (default). */
  itkSetGetCudaEnumMacro(Partition, PartitionEnum);

  /** How the second pass of a line starts: Exact (default) or AsPublished. */
  itkSetGetCudaEnumMacro(LineBorders, LineBordersEnum);

  /** Where a thread of the GPU keeps the result of the first pass: Local (default) or Global. */
  itkSetGetCudaEnumMacro(IntermediateStorage, IntermediateStorageEnum);

  /** The number of blocks into which an Exact partition divides every line, from 1 to a sixteenth of the shortest
   * line's pixels. Setting it switches AutomaticNumberOfBlocks off. */
  void
  SetNumberOfBlocks(SizeValueType number);
  itkGetConstMacro(NumberOfBlocks, SizeValueType);

  /** Whether the number of blocks is chosen from the length of the lines along each axis (default on). */
  itkSetMacro(AutomaticNumberOfBlocks, bool);
  itkGetConstMacro(AutomaticNumberOfBlocks, bool);
  itkBooleanMacro(AutomaticNumberOfBlocks);

  /** How many lines a block of threads of the GPU filters; default 16. */
  itkSetMacro(LinesPerBlock, unsigned int);
  itkGetConstMacro(LinesPerBlock, unsigned int);

  itkCudaFilterBackendMacro();

  /** Updates the output as the superclass does, except that the result may stay on the device between two filters of
   * host images (CudaFiltersConfiguration::SetKeepOnDevice()). */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaPartitionedRecursiveGaussianImageFilter() = default;
  ~CudaPartitionedRecursiveGaussianImageFilter() override = default;

  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  VerifyInputInformation() ITKv5_CONST override;
  void
  GenerateInputRequestedRegion() override;
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  /** Returns the parameters without the image's spacing. */
  CudaDetail::CudaPartitionedGaussianParameters
  GetParameters() const;
  CudaDetail::CudaPartitionedGaussianPlan
  MakePlan() const;
  /** Runs the plan on the host in double, for pixel types that the engines do not support. */
  void
  RunAsDouble(const CudaDetail::CudaPartitionedGaussianPlan & plan);

  double                  m_Sigma{ 1.0 };
  double                  m_FilterWindow{ 2.0 };
  bool                    m_UseFilterWindow{ false };
  double                  m_WindowToSigmaRatio{ 2.0 };
  PartitionEnum           m_Partition{ PartitionEnum::Exact };
  LineBordersEnum         m_LineBorders{ LineBordersEnum::Exact };
  IntermediateStorageEnum m_IntermediateStorage{ IntermediateStorageEnum::Local };
  SizeValueType           m_NumberOfBlocks{ 1 };
  bool                    m_AutomaticNumberOfBlocks{ true };
  unsigned int            m_LinesPerBlock{ 16 };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaPartitionedRecursiveGaussianImageFilter.hxx"
#endif

#endif
