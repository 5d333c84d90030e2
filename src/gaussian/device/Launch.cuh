// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_Launch_cuh
#define CudaFilters_gaussian_device_Launch_cuh

#include "runtime/device/Call.h"
#include "gaussian/plan/Coefficients.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/device/Edges.cuh"
#include "gaussian/device/Kernels.cuh"
#include "runtime/device/Launch.h"
#include "runtime/image/Math.h"

#include <cmath>
#include <type_traits>

// Code that the launches of line passes and of strips share: tables for an impulse response's poles, the edge states
// of lines, and the scan over chunks.

namespace itk::cuda::gaussian
{
/** Returns function(zero, pairs), where `zero` has the type of the pixels of `source`, and `pairs`, the pass's number
 * of pole pairs, is a std::integral_constant. */
template <typename TFunction>
auto
VisitPass(const CudaGaussianLinePass & pass, const DeviceView & source, const TFunction & function)
{
  const auto visitPairs = [&](auto zero) {
    return pass.Results.front().Kernel.NumberOfPolePairs == 3
             ? function(zero, std::integral_constant<unsigned int, 3>())
             : function(zero, std::integral_constant<unsigned int, 2>());
  };
  return source.ComponentType == CudaComponentType::Double ? visitPairs(0.0) : visitPairs(0.0f);
}

/** Makes the weights of a segment's pixels in its end states. They use that the state n pixels after a pixel of value 1
 * is A^n (1, e), where A advances a state over a pixel. */
template <typename T, unsigned int VPairs, unsigned int VLength>
EndWeights<T, VPairs, VLength>
MakeEndWeights(const CudaGaussianImpulseResponse & kernel)
{
  EndWeights<T, VPairs, VLength> weights;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    const double coupling = std::abs(1.0 - kernel.Pole[j]);
    const auto   impulse = [&](unsigned int n) {
      return Apply(MakeStatePower(kernel.Pole[j], n), PolePairState<double>{ 1.0, coupling });
    };
    for (unsigned int k = 0; k < VLength / 2; ++k)
    {
      const PolePairState<double> near = impulse(k);
      const PolePairState<double> far = impulse(VLength - 1 - k);
      weights.Even[k].Pair[j] = { static_cast<T>(0.5 * (near.U + far.U)), static_cast<T>(0.5 * (near.V + far.V)) };
      weights.Odd[k].Pair[j] = { static_cast<T>(0.5 * (near.U - far.U)), static_cast<T>(0.5 * (near.V - far.V)) };
    }
  }
  return weights;
}

/** The first pixels of the whole lines, which are subtracted from the pixels of a pass. */
template <typename T>
struct FirstPixels
{
  const T * Data;
  size_t    Stride; // elements between the first pixels of two consecutive groups of lines
};

template <typename T>
FirstPixels<T>
GetFirstPixels(const CudaGaussianLinePass & pass, const DeviceView & source, const LineCut & cut)
{
  const DeviceView & image = cut.BeginIsCut() ? cut.First : source;
  return { static_cast<const T *>(image.Data), MakeLineGeometry(image, pass.Axis).OuterStride };
}

/** Returns the properties of a pass and its source that determine its schedule. The caller adds the properties of the
 * device. */
inline LineProblem
MakeLineProblem(const CudaGaussianLinePass & pass, const DeviceView & source)
{
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  return { GetAxisKind(pass.Axis),
           source.Size[pass.Axis],
           kernel.SigmaInPixels,
           static_cast<unsigned int>(CudaComponentSize(source.ComponentType)),
           kernel.NumberOfPolePairs };
}

/** Sums the edge states of a source's lines into `states`, [sweep and pole pair][line]. */
template <typename T, unsigned int VPairs>
void
LaunchEdges(const CudaGaussianLinePass & pass,
            const LineSchedule &         schedule,
            const DeviceView &           source,
            PolePairState<T> *           states,
            const Context &              context)
{
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  const AxisKind                      kind = GetAxisKind(pass.Axis);
  EdgeArguments<T, VPairs>            arguments{};
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  const size_t      length = arguments.Geometry.LineLength;
  const LineProblem problem = MakeLineProblem(pass, source);
  arguments.Rule =
    MakeEdgeRule<T, VPairs>(kernel, schedule.Boundary, length, GetFilledLength(schedule, problem), GetWindow(problem));
  arguments.States = states;
  const auto run = kind == AxisKind::Contiguous ? SumEdgesKernel<T, VPairs, AxisKind::Contiguous>
                                                : SumEdgesKernel<T, VPairs, AxisKind::Strided>;
  const dim3 grid(GetNumberOfBlocks(DivideUp(arguments.Geometry.GetNumberOfLines(), EdgeThreads)), 2);
  ITK_CUDA_CALL(LaunchKernel(run, grid, dim3(EdgeThreads), 0, context.GetStream(), arguments));
}

/** Sums the edge states of a pass into memory that it takes from the workspace. Returns nullptr if there are none to
 * sum. */
template <typename T, unsigned int VPairs>
const PolePairState<T> *
MakeEdges(const CudaGaussianLinePass & pass,
          const LineSchedule &         schedule,
          const DeviceView &           source,
          Workspace &                  workspace,
          const Context &              context)
{
  const size_t bytes = GetEdgeBytes(pass, schedule, source);
  if (bytes == 0)
  {
    return nullptr;
  }
  auto * const states = static_cast<PolePairState<T> *>(workspace.Take(bytes));
  LaunchEdges<T, VPairs>(pass, schedule, source, states, context);
  return states;
}

/** Turns the end states at `states` into start states, in place. */
template <typename T, unsigned int VPairs>
void
LaunchScan(const CudaGaussianLinePass & pass,
           const LineSchedule &         schedule,
           const DeviceView &           source,
           const LineCut &              cut,
           const PolePairState<T> *     edges,
           PolePairState<T> *           states,
           const Context &              context)
{
  constexpr unsigned int              threads = 128;
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  const FirstPixels<T>                first = GetFirstPixels<T>(pass, source, cut);
  ScanArguments<T, VPairs>            arguments{};
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.First = first.Data;
  arguments.FirstStride = first.Stride;
  arguments.LookAhead = schedule.LookAhead;
  arguments.EndIsCut = cut.EndIsCut;
  arguments.States = states;
  const size_t ofSweep = VPairs * arguments.Geometry.GetNumberOfLines();
  arguments.Before = edges ? edges : static_cast<const PolePairState<T> *>(cut.StatesBefore);
  arguments.Behind = edges ? edges + ofSweep : static_cast<const PolePairState<T> *>(cut.StatesBehind);
  arguments.Dynamics = MakeLineDynamics<T, VPairs>(kernel);
  const StoredStates stored =
    GetStoredStates(schedule, GetAxisKind(pass.Axis), arguments.Geometry.LineLength, sizeof(T));
  arguments.NumberOfChunks = stored.Number;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    arguments.Power[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], stored.Step));
    arguments.LastPower[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], stored.Last));
  }
  const size_t count = NumberOfStates<VPairs> * arguments.Geometry.GetNumberOfLines();
  const auto   scan = schedule.LookAhead > 0 ? ScanChunksKernel<T, VPairs, true> : ScanChunksKernel<T, VPairs, false>;
  ITK_CUDA_CALL(
    LaunchKernel(scan, MakeGrid(DivideUp(count, threads)), dim3(threads), 0, context.GetStream(), arguments));
}
} // namespace itk::cuda::gaussian

#endif
