// SPDX-License-Identifier: Apache-2.0
// The file of a distribution's ITK that names the compiler's features refuses all compilers but gcc, which has built
// that ITK. scripts/fuzz.sh compiles with clang, because libFuzzer is a part of it; this header comes before all
// others, and lets that file take clang for gcc 10. Nothing else sees the change.
#ifndef itkCudaClangWithGccITK_h
#define itkCudaClangWithGccITK_h

#if defined(__clang__) && __has_include(<itk_compiler_detection.h>)
#  pragma clang diagnostic push
#  pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#  pragma push_macro("__clang__")
#  pragma push_macro("__GNUC__")
#  undef __clang__
#  undef __GNUC__
#  define __GNUC__ 10
#  include <itk_compiler_detection.h>
#  pragma pop_macro("__GNUC__")
#  pragma pop_macro("__clang__")
#  pragma clang diagnostic pop
#endif

#endif
