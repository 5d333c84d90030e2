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

/** Planes of a chunk: the unit in which an image is cut along its last axis. The last chunk may be shorter. */
constexpr size_t CudaSlabChunkLength = 128;

/** What the last run of a filter did. It is plain data.
 *
 * A plane is all pixels of one index along the image's last axis. A slab is what is filtered at once: one chunk of
 * CudaSlabChunkLength planes, or several.
 *
 * \ingroup CudaFilters */
struct CudaSlabReport
{
  /** `Whole`: one upload, kernels, one download. `Overlapped`: the image fits into the device's memory; chunks of it
   * are uploaded, filtered and downloaded at the same time. `OneSweep`: each plane is uploaded once and downloaded
   * once; the device holds a few chunks. `TwoSweeps`: the same after a sweep that uploads each plane and keeps the
   * totals of the chunks. `Columns`: the lines along the last axis are not cut; each plane goes up twice and comes back
   * twice. */
  enum Schedule : uint8_t
  {
    Whole,
    Overlapped,
    OneSweep,
    TwoSweeps,
    Columns
  };

  Schedule         Used{ Whole };
  bool             OnHost{ false };
  size_t           NumberOfSlabs{ 1 };
  size_t           ChunksPerSlab{ 0 }; // 0: the image was not cut into chunks
  unsigned int     LookAhead{ 0 };     // chunks on either side that a chunk needs; 0: all
  std::vector<int> Devices;            // as given: one of them several times counts as several
  uint64_t         BytesUp{ 0 };
  uint64_t         BytesDown{ 0 };
  size_t           PeakDeviceBytes{ 0 }; // most that the run held on one device at a time
};

/** "Whole", "Overlapped", "OneSweep", "TwoSweeps" or "Columns". */
CudaFilters_EXPORT std::string
                   CudaSlabScheduleToString(CudaSlabReport::Schedule schedule);

/** One line. */
CudaFilters_EXPORT std::ostream &
                   operator<<(std::ostream & out, const CudaSlabReport & report);

/** Fills `pixels` with whole planes, in the order of itk::Image, with the components of a pixel adjacent. */
using CudaSlabSource = std::function<void(size_t firstPlane, size_t planes, void * pixels)>;

/** Takes whole planes, as CudaSlabSource fills them. */
using CudaSlabSink = std::function<void(size_t firstPlane, size_t planes, const void * pixels)>;

/** What runs over parts of one image have found: plane 0 and, if a plan needs all chunks, the states with which lines
 * enter each chunk. The first run finds them, later runs of the same plan and image need not ask for them. */
class CudaSlabStates;

/** How a run in slabs is done. The members do not change the bits of the result, except `OnHost`. */
struct CudaSlabOptions
{
  std::vector<int>            Devices;                // empty: the configuration's device
  size_t                      DeviceMemoryLimit{ 0 }; // bytes on each device; 0: the configuration's
  CudaFiltersEnums::Streaming Streaming{ CudaFiltersEnums::Streaming::Automatic };
  bool                        OnHost{ false };     // on the threads of `Threader`, in double
  size_t                      ChunksPerSlab{ 0 };  // 0: chosen
  MultiThreaderBase *         Threader{ nullptr }; // nullptr: a new one

  /** Planes that the sink gets. They begin and end between two chunks or at the image's ends. The source is asked for
   * these, for the chunks on either side that they need, and for plane 0. */
  size_t FirstPlane{ 0 };
  size_t NumberOfPlanes{ 0 }; // 0: all from FirstPlane on

  std::shared_ptr<CudaSlabStates> States; // for several runs over parts of one image; see CudaMakeSlabStates()
};
} // end namespace itk

#endif
