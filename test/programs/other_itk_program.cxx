// SPDX-License-Identifier: Apache-2.0

// Looks like a program of another version of ITK, and loads what lies in ITK_AUTOLOAD_PATH as that ITK would. It fails
// unless each library says that it has no factory, and leaves no library of this ITK in the process.

#include "itkConfigure.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <iostream>
#include <link.h>

#ifdef ITK_LOAD_FUNCTION_NAME
#  define LOAD_FUNCTION_STRING_OF(name) #  name
#  define LOAD_FUNCTION_STRING(name) LOAD_FUNCTION_STRING_OF(name)
constexpr const char * loadFunctionName = LOAD_FUNCTION_STRING(ITK_LOAD_FUNCTION_NAME);
#else
constexpr const char * loadFunctionName = "itkLoad";
#endif

namespace itk
{
class Version
{
public:
  static const char *
  GetITKVersion();
};

const char *
Version::GetITKVersion()
{
  return OTHER_ITK_VERSION;
}
} // namespace itk

int
main()
{
  const char * const folder = std::getenv("ITK_AUTOLOAD_PATH");
  int                numberOfRefusals = 0;
  for (const auto & entry : std::filesystem::directory_iterator(folder ? folder : ""))
  {
    void * const library = dlopen(entry.path().c_str(), RTLD_LAZY);
    if (!library || dlsym(library, loadFunctionName))
    {
      std::cerr << entry.path() << ": " << (library ? "has a factory" : dlerror()) << std::endl;
      return EXIT_FAILURE;
    }
    ++numberOfRefusals;
  }
  const bool hasThisITK = dl_iterate_phdr(
    [](dl_phdr_info * info, size_t, void *) -> int {
      return std::strstr(info->dlpi_name, "libITKCommon") || std::strstr(info->dlpi_name, "CudaFilters.");
    },
    nullptr);
  if (numberOfRefusals == 0 || hasThisITK)
  {
    std::cerr << numberOfRefusals << " libraries refused, ITK loaded: " << hasThisITK << std::endl;
    return EXIT_FAILURE;
  }
  std::cout << itk::Version::GetITKVersion() << ": refused" << std::endl;
  return EXIT_SUCCESS;
}
