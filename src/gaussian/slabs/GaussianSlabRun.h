// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_GaussianSlabRun_h
#define CudaFilters_gaussian_slabs_GaussianSlabRun_h

#include "gaussian/slabs/Slabs.h"

#include <cstddef>
#include <memory>
#include <vector>

// The order of a run of a plan in slabs, which is the same on devices and on the host: the first plane of the image; if
// the plan needs all chunks, a sweep that computes their end states, from which all start states follow; and the slabs,
// whose end states are computed as soon as they are read, and whose planes are filtered as soon as the end states of
// the neighbouring slabs are known.

namespace itk::cuda::gaussian
{
/** \class GaussianSlabRun
 * \brief The order of a run, over the steps of the host (HostSlabRun) or of devices (DeviceSlabRun).
 */
class GaussianSlabRun : public SlabRun
{
public:
  GaussianSlabRun(const GaussianSlabRun &) = delete;
  GaussianSlabRun &
  operator=(const GaussianSlabRun &) = delete;

  SlabPlanes
  Next() override;

  /** Returns the report without bytes, devices and memory. */
  CudaSlabReport
  GetReport() const override;

protected:
  GaussianSlabRun(const SlabRunArguments & arguments, CudaSlabStates::Location location);

  /** Cuts the image into slabs. */
  void
  Cut(size_t chunksPerSlab);

  /** Returns whether the run is in its first sweep, for the end states of all chunks. */
  bool
  IsSweep() const
  {
    return m_Cut == &m_SweepCut;
  }

  /** Returns whether the end states of a slab are computed when it has been read. */
  bool
  NeedsEndStates() const
  {
    return this->IsSweep() || !m_Geometry.Shape.NeedsAllChunks;
  }

  /** Returns whether the slabs do not contain the first plane of the image. */
  bool
  BeginsBehindFirstPlane() const
  {
    return !m_FilterCut.Slabs.empty() && m_FilterCut.Slabs.front().FirstPlane > 0;
  }

  /** Returns the slabs of the present sweep. */
  const SlabCut &
  GetCut() const
  {
    return *m_Cut;
  }

  size_t
  GetNumberOfComponents() const
  {
    return m_Endpoints.Input.NumberOfComponents;
  }

  /** Returns the bytes of the planes that the source has given. */
  uint64_t
  GetBytesOfSource() const
  {
    return m_BytesOfSource;
  }

  // Steps

  /** Allocates the memory of the run. */
  virtual void
  Allocate()
  {}

  /** Keeps the image's first plane, which is not among the first slabs, or which an earlier run has left. */
  virtual void
  KeepFirstPlane(const CudaImageView & plane) = 0;

  /** Starts to read the slabs of GetCut() and to compute their end states or results. */
  virtual void
  StartSlabs(const CudaProgressFunction & progress) = 0;

  /** Returns planes as Next() does, for the slabs of GetCut(). */
  virtual SlabPlanes
  NextOfSlabs() = 0;

  /** Turns the end states of all chunks into their start states. */
  virtual void
  ConvertToStartStates() = 0;

  /** Returns the start states of all chunks, which later runs may share. */
  virtual std::shared_ptr<void>
  GetStartStates() = 0;

  virtual void
  SetStartStates(const std::shared_ptr<void> & starts) = 0;

  /** Return and set the states of the chunks of m_SweepCut, and of the ends of lines if the last chunk is among them.
   */
  virtual CudaSlabStates::StateBytes
  GetBytesOfStates() = 0;

  /** `bytes` must exist as long as the run. \exception ExceptionObject if they are more or fewer than its states */
  virtual void
  SetBytesOfStates(const CudaSlabStates::StateBytes & bytes) = 0;

  const CudaGaussianPlan                m_Plan;
  SlabGeometry                          m_Geometry;
  const unsigned int                    m_Axis;
  SlabEndpoints                         m_Endpoints;
  const CudaComponentType               m_Type; // of computation, if there is a device
  const std::shared_ptr<CudaSlabStates> m_States;
  const CudaProgressFunction            m_Progress;
  SlabCut                               m_FilterCut, m_SweepCut;

private:
  /** Prepares the filter of the first slab. Returns false if there is none, because the run is only for states. */
  bool
  Begin();
  /** Computes or converts the states that other runs need, as CudaSlabStates::Task says. */
  void
  ComputeStatesOfOthers();
  void
  SweepPlanes(float endOfProgress);
  void
  Sweep();
  /** Keeps the first plane of the image for later runs. */
  void
  NoteFirstPlane(const void * pixels);
  void
  RequestFirstPlane();

  const CudaSlabStates::Location m_Location;
  const CudaSlabSource           m_Source;
  bool                           m_IsComplete{ false };
  uint64_t                       m_BytesOfSource{ 0 };
  const SlabCut *                m_Cut{ nullptr };
};
} // namespace itk::cuda::gaussian

#endif
