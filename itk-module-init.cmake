# Finds CUDA, which is optional, and decides for which GPUs the device code is built. ITK includes this file before the module;
# CMakeLists.txt does so too. The architectures are set before the language is enabled, or CMake would look for a GPU.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES
      "80-real;90"
      CACHE STRING "GPU architectures of the device code")
endif()

if(NOT DEFINED CudaFilters_USE_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CudaFilters_CUDA_FOUND ON)
  else()
    set(CudaFilters_CUDA_FOUND OFF)
    message(STATUS "CudaFilters: no CUDA compiler found, building for the host only")
  endif()
  option(CudaFilters_USE_CUDA "Build the GPU code (needs nvcc of CUDA 12 or newer)" ${CudaFilters_CUDA_FOUND})
endif()

if(CudaFilters_USE_CUDA)
  enable_language(CUDA)
  find_package(CUDAToolkit 12 REQUIRED)
endif()
