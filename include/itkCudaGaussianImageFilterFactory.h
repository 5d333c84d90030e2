// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterFactory_h
#define itkCudaGaussianImageFilterFactory_h

#include "CudaFiltersExport.h"
#include "itkObjectFactoryBase.h"

namespace itk
{
/** \class CudaGaussianImageFilterFactory
 * \brief Gives a program that asks for ITK's Gaussian filters those of this module.
 *
 * While the factory is registered, `New()` of ITK's RecursiveGaussian, SmoothingRecursiveGaussian,
 * GradientRecursiveGaussian, GradientMagnitudeRecursiveGaussian, LaplacianRecursiveGaussian, HessianRecursiveGaussian
 * and DiscreteGaussianImageFilter, and of SymmetricEigenAnalysis, HessianToObjectnessMeasure and
 * MultiScaleHessianBasedMeasureImageFilter, returns the class of the same name that begins with Cuda. They are
 * subclasses: the program needs no change. Filters that exist already stay what they are. Backend,
 * CudaFiltersConfiguration and the environment variable `ITK_CUDAFILTERS_BACKEND` say where they compute.
 *
 * The factory overrides filters of images of two and three dimensions with pixels of unsigned char, short, unsigned
 * short, int, float and double. Outputs are of the same type, float or double; gradients are covariant vectors, and
 * Hessians symmetric tensors, of float or double. In four dimensions it overrides outputs of the input's type, and of
 * the filters inside ITK's composites; no gradients, and not for int. Filters of tensors, and measures over several
 * scales, are overridden in two and three dimensions: tensors of float or double, results of float or double. The
 * measures of several scales are computed on the device if HessianToMeasureFilter is the objectness.
 * GetClassOverrideDescriptions(), or the program `itk-cudafilters info --overrides`, lists all. Other instantiations
 * stay ITK's.
 *
 * A CudaRecursiveGaussianImageFilter that was made by the factory, with Backend Automatic, takes the GPU only for large
 * images, where upload, one pass and download are faster than the host. Programs and ITK's other filters chain several
 * single passes, and each of them moves the image to the device and back.
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

  /** Registers one factory of this class, in front of the others, unless one is registered. ITK's list of factories is
   * not protected: no filter should be made in another thread meanwhile.
   * \exception ExceptionObject in a build with CudaFilters_BUILD_OVERRIDES off */
  static void
  RegisterFactories();

  /** Takes all factories of this class from the list, however they were registered. No filter should be made in another
   * thread meanwhile. */
  static void
  UnRegisterFactories();

  /** Whether a factory of this class is registered. */
  static bool
  IsRegistered();

protected:
  CudaGaussianImageFilterFactory();
  ~CudaGaussianImageFilterFactory() override = default;
};
} // end namespace itk

#endif
