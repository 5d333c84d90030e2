# Uses of an image on the host do not compile with a device image: one test for each. The message names what it lacks.
set(CudaFilters_HOST_USE_COMPILERS ${CMAKE_CXX_COMPILER})
find_program(CudaFilters_OTHER_COMPILER NAMES clang++ clang++-14)
if(CudaFilters_OTHER_COMPILER AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # A distribution's ITK may know the compiler alone that it was built with.
  set(folders ${ITK_INCLUDE_DIRS})
  list(REMOVE_DUPLICATES folders)
  list(REMOVE_ITEM folders /usr/include)
  list(TRANSFORM folders PREPEND -isystem)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/HostUses/OtherCompiler.cxx)
  file(WRITE ${source} "#include \"itkImage.h\"\n")
  execute_process(
    COMMAND ${CudaFilters_OTHER_COMPILER} -std=c++17 -fsyntax-only ${folders} ${source}
    RESULT_VARIABLE code
    OUTPUT_QUIET ERROR_QUIET)
  if(code EQUAL 0)
    list(APPEND CudaFilters_HOST_USE_COMPILERS ${CudaFilters_OTHER_COMPILER})
  endif()
endif()

# cudafilters_add_host_use(name expected-regex header code [WITHOUT_CONTROL]); `code` sees `ImageType` and a pointer `image`.
function(cudafilters_add_host_use name expected header code)
  cmake_parse_arguments(ARG "WITHOUT_CONTROL" "" "" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/HostUses/${name}.cxx)
  file(
    CONFIGURE
    OUTPUT
    ${source}
    CONTENT
    "#include \"itkCudaDeviceImage.h\"
#include \"itkImage.h\"
#include \"@header@\"

using ImageType = IMAGE_TYPE;

void
Use(ImageType * image)
{
  @code@;
  (void)image;
}
"
    @ONLY)
  set(includes "$<TARGET_PROPERTY:CudaFiltersGTestDriver,INCLUDE_DIRECTORIES>")
  add_test(
    NAME CudaDeviceImageHostUse_${name}
    COMMAND
      ${CMAKE_COMMAND} -D source=${source} -D "compilers=${CudaFilters_HOST_USE_COMPILERS}" -D "includes=${includes}" -D
      "flags=${CMAKE_CXX_FLAGS}" -D "expected=${expected}" -D without_control=${ARG_WITHOUT_CONTROL} -P
      ${CMAKE_CURRENT_LIST_DIR}/ExpectNoHostUse.cmake)
  set_tests_properties(CudaDeviceImageHostUse_${name} PROPERTIES TIMEOUT 300)
endfunction()

# Members that an image of the host has.
cudafilters_add_host_use(GetPixel "GetPixel" itkImage.h "image->GetPixel({ { 0, 0, 0 } })")
cudafilters_add_host_use(SetPixel "SetPixel" itkImage.h "image->SetPixel({ { 0, 0, 0 } }, 1.0f)")
cudafilters_add_host_use(Subscript "operator\\[\\]|subscript" itkImage.h "(*image)[{ { 0, 0, 0 } }] = 1.0f")
cudafilters_add_host_use(GetBufferPointer "GetBufferPointer" itkImage.h "image->GetBufferPointer()")
cudafilters_add_host_use(FillBuffer "FillBuffer" itkImage.h "image->FillBuffer(1.0f)")
cudafilters_add_host_use(GetPixelContainer "GetPixelContainer" itkImage.h "image->GetPixelContainer()")
cudafilters_add_host_use(GetPixelAccessor "GetPixelAccessor" itkImage.h "image->GetPixelAccessor()")

# Iterators and ranges.
set(missing "GetPixel|PixelContainer|InternalPixelType|AccessorType|AccessorFunctorType|GetBufferPointer|IOPixelType")
cudafilters_add_host_use(ConstIterator "${missing}" itkImageRegionConstIterator.h
                         "itk::ImageRegionConstIterator<ImageType>(image, image->GetBufferedRegion()).Get()")
cudafilters_add_host_use(Iterator "${missing}" itkImageRegionIterator.h
                         "itk::ImageRegionIterator<ImageType>(image, image->GetBufferedRegion()).Set(1.0f)")
cudafilters_add_host_use(NeighborhoodIterator "${missing}" itkConstNeighborhoodIterator.h
                         "itk::ConstNeighborhoodIterator<ImageType>({ { 1, 1, 1 } }, image, image->GetBufferedRegion())")
cudafilters_add_host_use(BufferRange "${missing}" itkImageBufferRange.h "itk::ImageBufferRange<ImageType>(*image).size()")
cudafilters_add_host_use(
  AlgorithmCopy "${missing}" itkImageAlgorithm.h
  "itk::ImageAlgorithm::Copy(image, image, image->GetBufferedRegion(), image->GetBufferedRegion())")

# Filters that read pixels.
cudafilters_add_host_use(RecursiveGaussian "${missing}" itkRecursiveGaussianImageFilter.h
                         "itk::RecursiveGaussianImageFilter<ImageType, ImageType>::New()->Update()")
cudafilters_add_host_use(SmoothingRecursiveGaussian "${missing}|Rebind" itkSmoothingRecursiveGaussianImageFilter.h
                         "itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New()->Update()")
cudafilters_add_host_use(Cast "${missing}" itkCastImageFilter.h "itk::CastImageFilter<ImageType, ImageType>::New()->Update()")
cudafilters_add_host_use(Streaming "${missing}" itkStreamingImageFilter.h
                         "itk::StreamingImageFilter<ImageType, ImageType>::New()->Update()")
cudafilters_add_host_use(ChangeInformation "${missing}" itkChangeInformationImageFilter.h
                         "itk::ChangeInformationImageFilter<ImageType>::New()->Update()")
cudafilters_add_host_use(Median "${missing}" itkMedianImageFilter.h
                         "itk::MedianImageFilter<ImageType, ImageType>::New()->Update()")
cudafilters_add_host_use(Extract "${missing}" itkExtractImageFilter.h
                         "itk::ExtractImageFilter<ImageType, ImageType>::New()->Update()")
cudafilters_add_host_use(Resample "${missing}" itkResampleImageFilter.h
                         "itk::ResampleImageFilter<ImageType, ImageType>::New()->Update()")

# Helpers and files.
cudafilters_add_host_use(Duplicator "${missing}" itkImageDuplicator.h
                         "auto duplicator = itk::ImageDuplicator<ImageType>::New(); duplicator->Update()")
cudafilters_add_host_use(Calculator "${missing}" itkMinimumMaximumImageCalculator.h
                         "itk::MinimumMaximumImageCalculator<ImageType>::New()->Compute()")
cudafilters_add_host_use(Interpolator "${missing}" itkLinearInterpolateImageFunction.h
                         "itk::LinearInterpolateImageFunction<ImageType>::New()->SetInputImage(image)")
cudafilters_add_host_use(Writer "${missing}" itkImageFileWriter.h "itk::ImageFileWriter<ImageType>::New()->Update()")
cudafilters_add_host_use(Reader "${missing}" itkImageFileReader.h "itk::ImageFileReader<ImageType>::New()->Update()")

# A device image is no itk::Image, and not of any pixel type or dimension.
cudafilters_add_host_use(Conversion "convert|cannot initialize" itkImage.h "const itk::Image<float, 3> * const host = image; (void)host")
cudafilters_add_host_use(LongPixels "components of char, short, int, float or double" itkImage.h
                         "itk::CudaDeviceImage<long, 3>::New()" WITHOUT_CONTROL)
cudafilters_add_host_use(BoolPixels "components of char, short, int, float or double" itkImage.h
                         "itk::CudaDeviceImage<bool, 3>::New()" WITHOUT_CONTROL)
cudafilters_add_host_use(ComplexPixels "components of char, short, int, float or double" complex
                         "itk::CudaDeviceImage<std::complex<float>, 3>::New()" WITHOUT_CONTROL)
cudafilters_add_host_use(FiveDimensions "one to four dimensions" itkImage.h "itk::CudaDeviceImage<float, 5>::New()" WITHOUT_CONTROL)

# Filters with a device image on one side take images of the host on the other side, if the module supports their pixels.
cudafilters_add_host_use(
  MixedPixels "an Image or VectorImage of pixels that the module supports" itkCudaSmoothingRecursiveGaussianImageFilter.h
  "(itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, itk::Image<long, 3>>::New()->Update())")

# Mappings take device images alone, and downloads give images of the host alone.
cudafilters_add_host_use(MappedHostImage "the input must be a CudaDeviceImage" itkCudaPixelMappingImageFilter.h
                         "(itk::CudaPixelMappingImageFilter<itk::Image<float, 3>, ImageType>::New())" WITHOUT_CONTROL)
cudafilters_add_host_use(MappedPixels "an Image or VectorImage of pixels" itkCudaPixelMappingImageFilter.h
                         "(itk::CudaPixelMappingImageFilter<ImageType, itk::Image<long, 3>>::New())" WITHOUT_CONTROL)
cudafilters_add_host_use(DownloadToDevice "the output must be an Image or VectorImage" itkCudaDownloadImageFilter.h
                         "(itk::CudaDownloadImageFilter<ImageType, ImageType>::New())" WITHOUT_CONTROL)
