// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSlabs_h
#define itkCudaSlabs_h

#include "CudaFiltersExport.h"
#include "itkCudaFiltersEnums.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace itk
{
class MultiThreaderBase;

/** Number of planes of a chunk, which is the unit in which an image is cut along its last axis. The last chunk may be
 * shorter. */
constexpr size_t CudaSlabChunkLength = 128;

/** The report of a filter's last run, as plain data.
 *
 * A plane consists of all pixels with one index along the image's last axis. A slab is the part of the image that is
 * filtered at a time: one or several chunks of CudaSlabChunkLength planes.
 *
 * \ingroup CudaFilters */
struct CudaSlabReport
{
  /** How the image was processed:
   * - `Whole`: one upload, kernels, one download.
   * - `Overlapped`: the image fits into the device's memory, and uploads, kernels and downloads of its chunks overlap.
   * - `OneSweep`: each plane is uploaded once and downloaded once; the device holds a few chunks.
   * - `TwoSweeps`: as OneSweep, after a first sweep that uploads each plane and keeps the end states of the chunks.
   * - `Columns`: the lines along the last axis are not cut; each plane is uploaded twice and downloaded twice. */
  enum Schedule : uint8_t
  {
    Whole,
    Overlapped,
    OneSweep,
    TwoSweeps,
    Columns
  };

  Schedule         Used{ Whole };        // how the image was processed
  bool             OnHost{ false };      // computed on the host
  size_t           NumberOfSlabs{ 1 };   // 1 for Whole
  size_t           ChunksPerSlab{ 0 };   // 0 if the image was not cut into chunks
  unsigned int     LookAhead{ 0 };       // number of chunks on either side that a chunk needs; 0: all
  std::vector<int> Devices;              // as given; slab i ran on device i modulo their number
  uint64_t         BytesUp{ 0 };         // copied to the devices
  uint64_t         BytesDown{ 0 };       // copied from the devices
  uint64_t         BytesBetween{ 0 };    // copied from device to device: plane 0 and the states of chunks
  size_t           PeakDeviceBytes{ 0 }; // the largest number of bytes that the run held on one device
};

/** Returns "Whole", "Overlapped", "OneSweep", "TwoSweeps" or "Columns". */
CudaFilters_EXPORT std::string
                   CudaSlabScheduleToString(CudaSlabReport::Schedule schedule);

/** Prints the report on one line. */
CudaFilters_EXPORT std::ostream &
                   operator<<(std::ostream & out, const CudaSlabReport & report);

/** Fills `pixels` with whole planes, in the order of itk::Image, with the components of a pixel adjacent. */
using CudaSlabSource = std::function<void(size_t firstPlane, size_t planes, void * pixels)>;

/** Receives whole planes, in the layout of CudaSlabSource. */
using CudaSlabSink = std::function<void(size_t firstPlane, size_t planes, const void * pixels)>;

/** State that runs over parts of one image share: plane 0 and, if a plan needs all chunks, the states with which lines
 * enter each chunk. The first run computes them, so that later runs with the same plan and image need not request the
 * planes again. */
class CudaSlabStates;

/** Options of a run in slabs. Only `OnHost` changes the bits of the result. */
struct CudaSlabOptions
{
  /** The devices that take slabs in turn; a device that is named several times has several queues. Empty: the
   * configuration's device. Where several are given, all must have the same compute capability, because the bits of
   * others may differ. */
  std::vector<int>            Devices;
  size_t                      DeviceMemoryLimit{ 0 }; // bytes on each device; 0: the configuration's
  CudaFiltersEnums::Streaming Streaming{ CudaFiltersEnums::Streaming::Automatic }; // whether the image is cut
  bool                        OnHost{ false };     // on the threads of `Threader`, in double
  size_t                      ChunksPerSlab{ 0 };  // 0: chosen automatically
  MultiThreaderBase *         Threader{ nullptr }; // nullptr: a new one

  /** The planes that the sink receives. The range must begin and end between two chunks or at the image's ends. The
   * source is asked for these planes, for the chunks on either side that they need, and for plane 0. */
  size_t FirstPlane{ 0 };
  size_t NumberOfPlanes{ 0 }; // 0: all from FirstPlane on

  std::shared_ptr<CudaSlabStates> States; // shared by several runs over parts of one image; see CudaMakeSlabStates()
};
} // end namespace itk

#endif
