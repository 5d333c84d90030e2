// SPDX-License-Identifier: Apache-2.0

// The library that ITK loads from ITK_AUTOLOAD_PATH. It is linked to no library of ITK's, so that a program of another
// version of ITK does not get a second ITK from it: it looks which ITK the process has, and loads CudaFilters only into
// the version that CudaFilters was built with.

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

/** itk::Version::GetITKVersion(), a static function, of a library or program that has it; nullptr elsewhere. */
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

/** Versions of ITK in the process, each library that sees one by itself. */
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

/** Why CudaFilters cannot be loaded; empty if it can. Versions that differ in the last number fit. */
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

/** The function of CudaFilters that gives the factory; nullptr if it was not loaded, which one line on stderr says. */
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

  /** What ITK looks up and calls. It would use a null pointer that the function returns. Looked up, an indirect
   * function is what the one above returns: without it, ITK finds none and goes on. */
  [[gnu::ifunc("itkCudaFiltersGetLoadFunction"), gnu::visibility("default")]] itk::ObjectFactoryBase *
  ITK_LOAD_FUNCTION_NAME();
}
