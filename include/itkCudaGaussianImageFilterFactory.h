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
 * and DiscreteGaussianImageFilter returns the class of the same name that begins with Cuda. They are subclasses, so the
 * program goes on unchanged; filters that exist already stay what they are. Where they compute, say their Backend,
 * CudaFiltersConfiguration and the environment variable `ITK_CUDAFILTERS_BACKEND`.
 *
 * Overridden are images of two and three dimensions with pixels of unsigned char, short, unsigned short, int, float and
 * double; outputs of the same type, float and double; for gradients covariant vectors, for Hessians symmetric tensors
 * of float and double. In four dimensions only outputs of the input's type, those of the filters inside ITK's
 * composites, and no gradients; not for int. GetClassOverrideDescriptions(), or the program
 * `itk-cudafilters info --overrides`, lists all. Other instantiations stay ITK's.
 *
 * A CudaRecursiveGaussianImageFilter that was made by the factory, with Backend Automatic, takes the GPU only for
 * images so large that upload, one pass and download are faster than the host: programs and ITK's other filters chain
 * several of these, and each moves the image to the device and back.
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

  /** Registers one factory of this class, in front of the others; nothing if there is one. ITK's list of factories is
   * not protected: no filter should be made in another thread meanwhile. */
  static void
  RegisterFactories();

  /** Takes all factories of this class, however they were registered, from the list; nothing if there is none. The same
   * holds for other threads. */
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
