// SPDX-License-Identifier: Apache-2.0

// The library that ITK loads from ITK_AUTOLOAD_PATH. It is linked to no library of ITK's: a program of another version
// of ITK would get a second ITK from it. It looks which versions of ITK the process has. It loads CudaFilters only if
// they are the version that CudaFilters was built with.

#include "itkConfigure.h"

#include <cstdio>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <vector>

#ifndef ITK_LOAD_FUNCTION_NAME // of ITK before 6
#  define ITK_LOAD_FUNCTION_NAME itkLoad
#endif

namespace itk
{
class ObjectFactoryBase;
}

namespace
{
using LoadFunction = itk::ObjectFactoryBase * (*)();

/** Calls itk::Version::GetITKVersion(), a static function, of a library or program that has it. Returns nullptr for
 * others. */
const char *
FindITKVersion(const char * path)
{
  void * const module = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!module)
  {
    return nullptr;
  }
  void * const symbol = dlsym(module, "_ZN3itk7Version13GetITKVersionEv");
  dlclose(module);
  return symbol ? reinterpret_cast<const char * (*)()>(symbol)() : nullptr;
}

/** Versions of ITK in the process, one for each library that has or uses an ITK. */
std::vector<std::string>
FindITKVersions()
{
  std::vector<std::string> paths;
  dl_iterate_phdr(
    [](dl_phdr_info * info, size_t, void * found) {
      static_cast<std::vector<std::string> *>(found)->emplace_back(info->dlpi_name);
      return 0;
    },
    &paths);
  std::vector<std::string> versions;
  for (const std::string & path : paths)
  {
    // The program itself has no name.
    const char * const version = FindITKVersion(path.empty() ? nullptr : path.c_str());
    if (version)
    {
      versions.emplace_back(version);
    }
  }
  return versions;
}

/** Returns why CudaFilters cannot be loaded, or an empty string if it can. Versions may differ in the last number. */
std::string
FindObstacle()
{
  const std::string built = std::to_string(ITK_VERSION_MAJOR) + '.' + std::to_string(ITK_VERSION_MINOR) + '.' +
                            std::to_string(ITK_VERSION_PATCH);
  const std::string              compatible = built.substr(0, built.rfind('.') + 1);
  const std::vector<std::string> versions = FindITKVersions();
  for (const std::string & version : versions)
  {
    if (version.compare(0, compatible.size(), compatible) != 0)
    {
      return "the program runs ITK " + version + ", CudaFilters was built with ITK " + built;
    }
  }
  return versions.empty() ? "the version of the program's ITK is unknown, as it is in no shared library; CudaFilters "
                            "was built with ITK " +
                              built
                          : "";
}

/** The function of CudaFilters that returns the factory. If CudaFilters cannot be loaded, one line on stderr says so,
 * and the result is nullptr. */
LoadFunction
LoadCudaFilters()
{
  std::string obstacle = FindObstacle();
  if (obstacle.empty())
  {
    // It is never closed: ITK closes this library with its factories, but filters may live on.
    void * const library = dlopen(CudaFilters_LIBRARY_NAME, RTLD_LAZY | RTLD_NODELETE);
    void * const symbol = library ? dlsym(library, "itkCudaFiltersLoad") : nullptr;
    if (symbol)
    {
      return reinterpret_cast<LoadFunction>(symbol);
    }
    const char * const error = dlerror();
    obstacle = error ? error : "unknown error";
  }
  std::fprintf(stderr, "itkCudaFiltersAutoload: not loaded: %s\n", obstacle.c_str());
  return nullptr;
}

const LoadFunction loadFunction = LoadCudaFilters();
} // namespace

extern "C"
{
  [[gnu::used]] static LoadFunction
  itkCudaFiltersGetLoadFunction()
  {
    return loadFunction;
  }

  /** The function that ITK looks up and calls. ITK would use a null pointer that it returned. Therefore it is an
   * indirect function: looking it up gives what the function above returns. If that is nullptr, ITK finds no function
   * and goes on. */
  [[gnu::ifunc("itkCudaFiltersGetLoadFunction"), gnu::visibility("default")]] itk::ObjectFactoryBase *
  ITK_LOAD_FUNCTION_NAME();
}
