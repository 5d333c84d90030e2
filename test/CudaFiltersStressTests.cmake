# The stress program: random calls of all filters in several threads. Exit status 77 means skipped.
find_package(CLI11 REQUIRED)
cudafilters_add_test_program(CudaFiltersStressTest stress/itkCudaFiltersStressTest.cxx stress/itkCudaStressMemory.cxx)
target_link_libraries(CudaFiltersStressTest PRIVATE CudaFiltersFilterTable CLI11::CLI11)

# cudafilters_add_stress_test(name labels arguments...)
function(cudafilters_add_stress_test name labels)
  add_test(NAME ${name} COMMAND CudaFiltersStressTest ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS "${labels}")
endfunction()
cudafilters_add_stress_test(CudaFiltersStressHost "" --backend host --threads 4 --seconds 6 --cases 60)
cudafilters_add_stress_test(CudaFiltersStressSlowHost "slow" --backend host --threads 8 --seconds 60 --seed 2)
cudafilters_add_stress_test(CudaFiltersStressSlowGpuEightThreads "slow;gpu" --backend cuda --threads 8 --seconds 60 --seed 3)
cudafilters_add_stress_test(CudaFiltersStressSlowGpuTwoThreads "slow;gpu" --backend cuda --threads 2 --seconds 30 --seed 4)
cudafilters_add_stress_test(CudaFiltersStressSlowGpuMixed "slow;gpu" --backend mixed --threads 8 --seconds 30 --seed 5)
cudafilters_add_stress_test(CudaFiltersStressSlowGpuLarge "slow;gpu" --backend cuda --threads 4 --seconds 60 --seed 8
                            --filters large --cases 30)
# Each case is a new one. The whole of it, on a GPU: --backend cuda --threads 8 --count 100000
cudafilters_add_stress_test(CudaFiltersStressCountHost "" --backend host --threads 4 --count 60 --check-every 20)
cudafilters_add_stress_test(CudaFiltersStressSlowCountHost "slow" --backend host --threads 8 --count 1000 --check-every 100 --seed 6)
cudafilters_add_stress_test(CudaFiltersStressSlowGpuCount "slow;gpu" --backend cuda --threads 8 --count 20000 --seed 7)
