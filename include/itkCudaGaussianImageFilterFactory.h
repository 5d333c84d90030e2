// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterFactory_h
#define itkCudaGaussianImageFilterFactory_h

#include "CudaFiltersExport.h"
#include "itkObjectFactoryBase.h"

namespace itk
{
/** \class CudaGaussianImageFilterFactory
 * \brief Creates this module's Gaussian filters for programs that ask for ITK's.
 *
 * While the factory is registered, `New()` of ITK's RecursiveGaussian, SmoothingRecursiveGaussian,
 * GradientRecursiveGaussian, GradientMagnitudeRecursiveGaussian, LaplacianRecursiveGaussian, HessianRecursiveGaussian
 * and DiscreteGaussianImageFilter, and of SymmetricEigenAnalysis, HessianToObjectnessMeasure and
 * MultiScaleHessianBasedMeasureImageFilter, returns the class of the same name that begins with Cuda. These are
 * subclasses, so the program needs no change. Filters that already exist are not replaced. Backend,
 * CudaFiltersConfiguration and the environment variable `ITK_CUDAFILTERS_BACKEND` select where they run.
 *
 * The factory overrides filters of images of two and three dimensions with pixels of unsigned char, short, unsigned
 * short, int, float and double. Outputs are of the same type, float or double; gradients are covariant vectors, and
 * Hessians symmetric tensors, of float or double. In four dimensions it overrides filters whose output is of the
 * input's type, and the filters inside ITK's composites, but no gradients, and nothing for int. Filters of tensors, and
 * measures over several scales, are overridden in two and three dimensions for tensors of float or double and results
 * of float or double. Measures over several scales are computed on the device if HessianToMeasureFilter is the
 * objectness. GetClassOverrideDescriptions(), or the program `itk-cudafilters info --overrides`, lists all overrides.
 * Other instantiations remain ITK's.
 *
 * A CudaRecursiveGaussianImageFilter that the factory created uses the GPU with Backend Automatic only for large
 * images, for which upload, one pass and download are faster than the host. The reason is that programs and ITK's other
 * filters chain several single passes, each of which moves the image to the device and back.
 *
 * The factory can be registered in three ways:
 * - by RegisterFactories();
 * - in a dynamically linked program that knows nothing of this module, by setting the environment variable
 *   `ITK_AUTOLOAD_PATH` to the folder of the library CudaFiltersAutoload;
 * - in a program linked to CudaFilters::Override, by setting the environment variable `ITK_CUDAFILTERS_OVERRIDE` to 1.
 *
 * \code
 * itk::CudaGaussianImageFilterFactory::RegisterFactories();
 * auto filter = itk::SmoothingRecursiveGaussianImageFilter<ImageType>::New();
 * std::cout << filter->GetNameOfClass() << '\n'; // CudaSmoothingRecursiveGaussianImageFilter
 * \endcode
 *
 * \sa CudaFiltersConfiguration
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaGaussianImageFilterFactory : public ObjectFactoryBase
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaGaussianImageFilterFactory);

  using Self = CudaGaussianImageFilterFactory;
  using Superclass = ObjectFactoryBase;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);
  itkTypeMacro(CudaGaussianImageFilterFactory, ObjectFactoryBase);

  const char *
  GetITKSourceVersion() const override;
  const char *
  GetDescription() const override;

  /** Registers one factory of this class in front of the others, unless one is already registered. ITK's list of
   * factories is not thread-safe, so no other thread should create a filter meanwhile.
   * \exception ExceptionObject in a build with CudaFilters_BUILD_OVERRIDES off */
  static void
  RegisterFactories();

  /** Removes all factories of this class from the list, however they were registered. No other thread should create a
   * filter meanwhile. */
  static void
  UnRegisterFactories();

  /** Returns whether a factory of this class is registered. */
  static bool
  IsRegistered();

protected:
  CudaGaussianImageFilterFactory();
  ~CudaGaussianImageFilterFactory() override = default;
};
} // end namespace itk

#endif
