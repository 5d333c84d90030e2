// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionDeviceEvaluator.h"

#include "itkCudaDevice.h"
#include "itkCudaPartitionEvaluation.h"
#include "itkCudaPartitionProcessor.cuh"
#include "itkCudaStream.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Nodes in memory at a time: many enough for all threads of a device. */
constexpr size_t LargestPart = size_t{ 1 } << 20;

/** The image as polygons on the device see it. */
template <typename TScene>
struct DeviceEdges
{
  TScene Scene;

  __device__ Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const
  {
    Moments sums = region::SumEdge(Scene.Pixels, p, q);
    sums.SumOfSquares = Scene.Squares ? sums.SumOfSquares : 0;
    return sums;
  }
};

/** A processor that copies from and to the host. */
class EvaluationProcessor
{
public:
  EvaluationProcessor(const region::DeviceSums & sums, bool squares, const Context & context)
    : m_Processor(sums, squares, context)
    , m_Context(context)
  {}

  template <typename T>
  auto
  Allocate(size_t number) const
  {
    return m_Processor.Allocate<T>(number);
  }
  template <typename T>
  auto
  Upload(const T * data, size_t number) const
  {
    auto array = m_Processor.Allocate<T>(number);
    ITK_CUDA_CALL(
      cudaMemcpyAsync(array.Get(), data, number * sizeof(T), cudaMemcpyHostToDevice, m_Context.GetStream()));
    return array;
  }
  /** Waits for all work that was queued. */
  template <typename T>
  void
  Download(const T * data, size_t number, T * out) const
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(out, data, number * sizeof(T), cudaMemcpyDeviceToHost, m_Context.GetStream()));
    ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
  }
  template <typename TStep>
  void
  For(size_t number, const TStep & step) const
  {
    m_Processor.For(number, step);
  }
  template <typename TFunction>
  void
  VisitPixels(const TFunction & function) const
  {
    m_Processor.VisitScene([&](const auto & scene) { function(DeviceEdges<std::decay_t<decltype(scene)>>{ scene }); });
  }

private:
  DeviceProcessor m_Processor;
  Context         m_Context;
};

class DeviceEvaluator : public Evaluator
{
public:
  DeviceEvaluator(std::shared_ptr<const region::DeviceSums> sums, bool squares)
    : m_Sums(std::move(sums))
    , m_Squares(squares)
    , m_Stream(m_Sums->GetDevice())
  {}

  void
  SearchChains(const ChainBatch & chains, double segmentCost, double * costs, uint8_t * spans) const override
  {
    this->Evaluate([&](const Evaluator & evaluator) { evaluator.SearchChains(chains, segmentCost, costs, spans); });
  }
  void
  WeighMoves(const MoveBatch & moves, double * gains) const override
  {
    this->Evaluate([&](const Evaluator & evaluator) { evaluator.WeighMoves(moves, gains); });
  }

private:
  const std::shared_ptr<const region::DeviceSums> m_Sums;
  const bool                                      m_Squares;
  const StreamLease                               m_Stream; // its end waits for what reads the sums

  /** Between the calls, others use the calling thread's device. */
  template <typename TFunction>
  void
  Evaluate(const TFunction & function) const
  {
    const DeviceGuard         guard(m_Sums->GetDevice());
    const EvaluationProcessor processor(*m_Sums, m_Squares, m_Stream);
    function(Evaluation<EvaluationProcessor>(processor, LargestPart));
  }
};
} // namespace

std::shared_ptr<const Evaluator>
MakeDeviceEvaluator(std::shared_ptr<const region::DeviceSums> sums, bool squares)
{
  return std::make_shared<DeviceEvaluator>(std::move(sums), squares);
}

size_t
GetDeviceEvaluatorBytes(size_t pixels)
{
  // Few label maps turn at more than one of eight corners of pixels.
  constexpr size_t pixelsOfANode = 8;
  return GetEvaluationBytes(std::min(LargestPart, pixels / pixelsOfANode));
}
} // namespace itk::cuda::partition
