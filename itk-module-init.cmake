# Finds CUDA, which is optional, and decides for which GPUs the device code is built. ITK includes this file before the module;
# CMakeLists.txt does so too. The architectures are set before the language is enabled, or CMake would look for a GPU.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(architectures "80-real;90")
  if(CudaFilters_BUILD_PYTHON)
    # The Python package is for the GPUs of this machine. Without one it is for one architecture, because each takes minutes.
    execute_process(
      COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      RESULT_VARIABLE status
      OUTPUT_VARIABLE capabilities
      ERROR_QUIET)
    set(architectures 90)
    if(status EQUAL 0 AND capabilities MATCHES "[0-9]\\.[0-9]")
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" architectures "${capabilities}")
      string(REPLACE "." "" architectures "${architectures}")
      list(REMOVE_DUPLICATES architectures)
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES
      "${architectures}"
      CACHE STRING "GPU architectures of the device code")
endif()

# NVIDIA's packages put nvcc there without adding the folder to PATH.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(nvcc nvcc HINTS /usr/local/cuda/bin NO_CACHE)
  if(nvcc)
    set(ENV{CUDACXX} ${nvcc})
  endif()
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
  message(STATUS "CudaFilters: GPU code for the architectures ${CMAKE_CUDA_ARCHITECTURES}")
endif()
