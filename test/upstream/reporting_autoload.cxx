// SPDX-License-Identifier: Apache-2.0

// The factory for ITK_AUTOLOAD_PATH, which writes down what a program asks it for: at the program's end, one line for
// each class of the family, "overridden" or "passed", into the file that the environment variable
// ITK_CUDAFILTERS_REPORT names.

#include "itkCudaGaussianImageFilterFactory.h"

#include <cstdlib>
#include <cxxabi.h>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <string>

namespace
{
/** Written when the library is finalised, for which it stays loaded. */
class Report
{
public:
  ~Report()
  {
    const char * const path = std::getenv("ITK_CUDAFILTERS_REPORT");
    if (path)
    {
      std::ofstream file(path);
      for (const auto & [name, overridden] : m_Classes)
      {
        file << (overridden ? "overridden " : "passed ") << name << '\n';
      }
    }
  }

  void
  Add(const char * mangled, bool overridden)
  {
    int                                           status = 0;
    const std::unique_ptr<char, void (*)(void *)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                       std::free);
    static const std::regex                       family(
      "itk::(\\w*RecursiveGaussian|DiscreteGaussian|SymmetricEigenAnalysis|HessianToObjectnessMeasure|"
                            "MultiScaleHessianBasedMeasure)ImageFilter<.*");
    static const std::regex own("itk::Cuda.*");
    if (status == 0 && std::regex_match(name.get(), family) && !std::regex_match(name.get(), own))
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_Classes[name.get()] = overridden;
    }
  }

private:
  std::mutex                  m_Mutex;
  std::map<std::string, bool> m_Classes;
};

Report report;

class ReportingFactory : public itk::CudaGaussianImageFilterFactory
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(ReportingFactory);

  using Self = ReportingFactory;
  using Superclass = itk::CudaGaussianImageFilterFactory;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

protected:
  ReportingFactory() = default;
  ~ReportingFactory() override = default;

  itk::LightObject::Pointer
  CreateObject(const char * name) override
  {
    const itk::LightObject::Pointer object = Superclass::CreateObject(name);
    report.Add(name, object.IsNotNull());
    return object;
  }
};
} // namespace

extern "C" itk::ObjectFactoryBase *
itkLoad()
{
  static const ReportingFactory::Pointer factory = ReportingFactory::New();
  return factory;
}
