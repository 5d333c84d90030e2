// SPDX-License-Identifier: Apache-2.0

// The library that ITK loads from ITK_AUTOLOAD_PATH. It is not linked to any library of ITK, because it would load a
// second ITK into a program that uses another version of ITK. It determines the versions of ITK in the process, and
// loads CudaFilters only if they match the version with which CudaFilters was built.

#include "itkConfigure.h"

#include <cstdio>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <vector>

#ifndef ITK_LOAD_FUNCTION_NAME // not defined before ITK 6
#  define ITK_LOAD_FUNCTION_NAME itkLoad
#endif

namespace itk
{
class ObjectFactoryBase;
}

namespace
{
using LoadFunction = itk::ObjectFactoryBase * (*)();

/** Returns the result of itk::Version::GetITKVersion(), a static function, of the given library or program, or nullptr
 * if it does not have this function. */
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

/** Returns the versions of ITK in the process, one for each library that contains or uses ITK. */
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
    // The program itself has an empty name, for which dlopen() takes nullptr.
    const char * const version = FindITKVersion(path.empty() ? nullptr : path.c_str());
    if (version)
    {
      versions.emplace_back(version);
    }
  }
  return versions;
}

/** Returns why CudaFilters cannot be loaded, or an empty string if it can. Versions may differ in their last number. */
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

/** Loads CudaFilters and returns its function that returns the factory. If CudaFilters cannot be loaded, prints the
 * reason in one line on stderr and returns nullptr. */
LoadFunction
LoadCudaFilters()
{
  std::string obstacle = FindObstacle();
  if (obstacle.empty())
  {
    // CudaFilters is never unloaded, because ITK closes this library together with its factories while filters may
    // still exist.
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

  /** Returns the factory to ITK, which looks this function up and calls it. It is an indirect function (ifunc), which
   * the dynamic linker resolves to the result of the function above. If this result is nullptr, ITK finds no function
   * and continues. A normal function could only return a null pointer, which ITK would dereference. */
  [[gnu::ifunc("itkCudaFiltersGetLoadFunction"), gnu::visibility("default")]] itk::ObjectFactoryBase *
  ITK_LOAD_FUNCTION_NAME();
}
