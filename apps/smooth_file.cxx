// SPDX-License-Identifier: Apache-2.0
#include "smooth_file.h"

#include "files.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkMetaImageIO.h"
#include "itkMultiThreaderBase.h"
#include "itkTimeProbe.h"

#include <itksys/SystemTools.hxx>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Planes are passed from the format's reader through the filter to the format's writer in the type of the file. Types
// are run-time values here, as in the engines, so that no filter is compiled for each type of file.
namespace
{
using command::SmoothJob;
using command::SmoothOutcome;
using itk::CudaDetail::CudaImageView;

/** Returns the files of a raw MetaImage. The last one holds the pixels. */
std::vector<std::string>
GetFilesOf(const std::string & name)
{
  const size_t dot = name.rfind('.');
  return name.substr(dot) == ".mhd" ? std::vector<std::string>{ name, name.substr(0, dot) + ".raw" }
                                    : std::vector<std::string>{ name };
}

std::string
FormatGigabytes(double bytes)
{
  std::ostringstream text;
  text << std::setprecision(3) << bytes / 1e9 << " GB";
  return text.str();
}

itk::CudaComponentType
GetComponentType(const itk::ImageIOBase & io)
{
  using IOComponent = itk::IOComponentEnum;
  switch (io.GetComponentType())
  {
    case IOComponent::UCHAR:
      return itk::CudaComponentType::UChar;
    case IOComponent::CHAR:
      return itk::CudaComponentType::Char;
    case IOComponent::USHORT:
      return itk::CudaComponentType::UShort;
    case IOComponent::SHORT:
      return itk::CudaComponentType::Short;
    case IOComponent::UINT:
      return itk::CudaComponentType::UInt;
    case IOComponent::INT:
      return itk::CudaComponentType::Int;
    case IOComponent::FLOAT:
      return itk::CudaComponentType::Float;
    case IOComponent::DOUBLE:
      return itk::CudaComponentType::Double;
    default:
      throw std::runtime_error(
        "pixels of type '" + command::GetComponentName(io) +
        "' are not supported; convert the image to integers of at most 32 bits, float or double");
  }
}

CudaImageView
GetShape(const itk::ImageIOBase & io)
{
  CudaImageView shape;
  shape.ComponentType = GetComponentType(io);
  shape.NumberOfComponents = io.GetNumberOfComponents();
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    shape.Size[axis] = io.GetDimensions(axis);
  }
  return shape;
}

itk::CudaDetail::CudaGaussianPlan
MakePlan(const SmoothJob & job, const itk::ImageIOBase & io)
{
  itk::CudaDetail::CudaGaussianParameters parameters;
  parameters.Sigma = job.Sigma;
  for (unsigned int axis = 0; axis < job.Sigma.size(); ++axis)
  {
    parameters.Spacing.push_back(io.GetSpacing(axis));
  }
  parameters.KeepInput = true;
  parameters.Approximation = itk::CudaApproximationFromString(job.Approximation);
  parameters.Boundary = { itk::CudaBoundaryModeFromString(job.BoundaryMode), job.BoundaryValue };
  return itk::CudaDetail::MakeSmoothingPlan(parameters);
}

itk::ImageIORegion
GetPlanes(const itk::ImageIOBase & io, unsigned int axis, size_t first, size_t count)
{
  itk::ImageIORegion region(io.GetNumberOfDimensions());
  for (unsigned int d = 0; d < io.GetNumberOfDimensions(); ++d)
  {
    region.SetSize(d, io.GetDimensions(d));
  }
  region.SetIndex(axis, static_cast<itk::IndexValueType>(first));
  region.SetSize(axis, count);
  return region;
}

/** Returns whether the reader can read a part of the image instead of the whole. */
bool
ReadsParts(itk::ImageIOBase & io, unsigned int axis)
{
  const itk::ImageIORegion part = GetPlanes(io, axis, 0, 1);
  io.SetUseStreamedReading(true);
  return io.GetDimensions(axis) > 1 && io.GenerateStreamableReadRegionFromRequestedRegion(part) == part;
}

/** Returns whether the format can be written in parts. Of ITK's formats these are raw MetaImages. */
bool
WritesParts(itk::ImageIOBase & io)
{
  return dynamic_cast<itk::MetaImageIO *>(&io) != nullptr && io.CanStreamWrite();
}

/** Returns the bytes needed for pixels: the chunks of 128 planes that the filter holds, one output chunk, and the
 * threads' rows. */
size_t
GetBytesNeeded(const CudaImageView & shape, const itk::CudaDetail::CudaGaussianSlabShape & slabs)
{
  const size_t plane = shape.GetNumberOfBytes() / slabs.NumberOfPlanes;
  const size_t image = shape.GetNumberOfBytes();
  const size_t chunks = std::min(slabs.LookAhead + size_t{ 4 }, slabs.NumberOfChunks + 2);
  // The filter states are stored as double.
  const size_t states =
    slabs.NeedsAllChunks ? image / itk::CudaComponentSize(shape.ComponentType) / slabs.ChunkLength * 64 : 0;
  constexpr size_t others = size_t{ 64 } << 20;
  return chunks * std::min(slabs.ChunkLength, slabs.NumberOfPlanes) * plane + states + others;
}

/** A raw MetaImage that is written in parts. ITK writes the header and the first plane. The pixels are written here,
 * because ITK 5.2 does not report a full disk. */
class PartialWriter
{
public:
  PartialWriter(const std::string & fileName, itk::ImageIOBase & description, unsigned int axis)
    : m_FileName(fileName)
    , m_PlaneBytes(static_cast<size_t>(description.GetImageSizeInBytes()) / description.GetDimensions(axis))
  {
    const size_t dataBytes = static_cast<size_t>(description.GetImageSizeInBytes());
    const auto   io = command::MakeWriter(fileName);
    command::Describe(*io, description);
    io->SetFileName(fileName);
    io->SetUseStreamedWriting(true);
    this->Remove();
    io->SetIORegion(GetPlanes(description, axis, 0, 1));
    try
    {
      io->Write(std::vector<char>(m_PlaneBytes).data());
    }
    catch (const itk::ExceptionObject & error) // ITK 5.4 tells of a disk that is full at once
    {
      this->Fail(fileName, error.GetDescription());
    }

    const std::string data = this->GetDataFileName();
    m_File = open(data.c_str(), O_WRONLY);
    struct stat status
    {};
    if (m_File < 0 || fstat(m_File, &status) != 0)
    {
      this->Fail(data);
    }
    if (static_cast<size_t>(status.st_size) < dataBytes)
    {
      errno = ENOSPC; // ITK could not extend the file to its full length
      this->Fail(data);
    }
    m_Offset = status.st_size - static_cast<off_t>(dataBytes);
    if (fallocate(m_File, 0, 0, status.st_size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    {
      this->Fail(data);
    }
  }

  /** A file that was not finished goes. */
  ~PartialWriter()
  {
    if (m_File >= 0)
    {
      close(m_File);
      this->Remove();
    }
  }

  PartialWriter(const PartialWriter &) = delete;
  PartialWriter &
  operator=(const PartialWriter &) = delete;

  void
  Write(size_t firstPlane, size_t planes, const void * pixels)
  {
    const auto * from = static_cast<const char *>(pixels);
    size_t       left = planes * m_PlaneBytes;
    off_t        place = m_Offset + static_cast<off_t>(firstPlane * m_PlaneBytes);
    while (left > 0)
    {
      const ssize_t written = pwrite(m_File, from, left, place);
      if (written < 0 && errno == EINTR)
      {
        continue;
      }
      if (written <= 0)
      {
        this->Fail(this->GetDataFileName());
      }
      from += written;
      left -= static_cast<size_t>(written);
      place += written;
    }
  }

  /** Closes the file and checks for errors, because some file systems report write errors only then. */
  void
  Close()
  {
    const int file = std::exchange(m_File, -1);
    if (close(file) != 0)
    {
      this->Fail(this->GetDataFileName());
    }
  }

private:
  /** Returns the name of the file that holds the pixels. */
  std::string
  GetDataFileName() const
  {
    return GetFilesOf(m_FileName).back();
  }

  void
  Remove() const
  {
    std::remove(m_FileName.c_str());
    std::remove(this->GetDataFileName().c_str());
  }

  [[noreturn]] void
  Fail(const std::string & fileName) const
  {
    this->Fail(fileName, std::strerror(errno));
  }

  [[noreturn]] void
  Fail(const std::string & fileName, const std::string & reason) const
  {
    this->Remove();
    throw std::runtime_error("'" + fileName + "' could not be written: " + reason);
  }

  const std::string m_FileName;
  const size_t      m_PlaneBytes;
  int               m_File{ -1 };
  off_t             m_Offset{ 0 };
};

/** Draws a progress bar with the current rate on a terminal. */
class Progress
{
public:
  explicit Progress(double bytes)
    : m_Bytes(bytes)
    , m_IsShown(isatty(STDERR_FILENO) != 0)
  {
    m_Clock.Start();
  }

  ~Progress()
  {
    if (m_IsShown)
    {
      std::cerr << '\n';
    }
  }

  void
  Show(float share)
  {
    if (m_IsShown)
    {
      constexpr int width = 40;
      const int     done = std::clamp(static_cast<int>(share * width), 0, width);
      m_Clock.Stop();
      const double seconds = m_Clock.GetTotal();
      m_Clock.Start();
      std::cerr << "\rsmoothing [" << std::string(done, '#') << std::string(width - done, ' ') << "] "
                << FormatGigabytes(seconds > 0.0 ? share * m_Bytes / seconds : 0.0) << "/s  " << std::flush;
    }
  }

private:
  const double   m_Bytes;
  const bool     m_IsShown;
  itk::TimeProbe m_Clock;
};

/** Runs on the device if it can be used and has enough memory, otherwise on the host if that is allowed. */
itk::CudaSlabReport
RunSlabs(const SmoothJob &           job,
         const itk::ImageIOBase &    io,
         size_t                      memory,
         const itk::CudaSlabSource & source,
         const itk::CudaSlabSink &   sink,
         Progress &                  progress,
         SmoothOutcome &             outcome)
{
  const auto                         plan = MakePlan(job, io);
  const CudaImageView                shape = GetShape(io);
  const auto                         threader = itk::MultiThreaderBase::New();
  itk::CudaDetail::CudaFilterBackend backend;
  backend.Requested = itk::CudaBackendFromString(job.Backend);
  backend.DeviceIndex = job.DeviceIndex;
  backend.DeviceMemoryLimit = job.DeviceMemoryLimit == 0 ? memory : std::min(memory, job.DeviceMemoryLimit);
  backend.Streaming = itk::CudaFiltersEnums::Streaming::On;
  bool       hasGiven = false;
  const auto noted = [&](size_t first, size_t planes, const void * pixels) {
    hasGiven = true;
    sink(first, planes, pixels);
  };
  const auto run = [&] {
    itk::CudaSlabOptions options = backend.MakeSlabOptions(threader);
    options.ChunksPerSlab = 1;
    return itk::CudaDetail::CudaGaussianFilterSlabs(
      plan, shape, shape, source, noted, options, [&](float share) { progress.Show(share); });
  };
  itk::CudaSlabReport report;
  bool                onHost = !backend.SelectDevice(nullptr, 0, true);
  if (!onHost)
  {
    try
    {
      report = run();
    }
    catch (const itk::CudaError & error)
    {
      onHost = !hasGiven && backend.FallBackToHost(error);
      if (!onHost)
      {
        throw;
      }
    }
  }
  if (onHost)
  {
    report = run();
  }
  outcome.BackendUsed = itk::CudaBackendToString(backend.Used);
  outcome.BackendReason = backend.Reason;
  return report;
}

/** Returns the file that is read and, if it is the header of a MetaImage, the file of pixels that it names. */
std::vector<std::string>
GetFilesOf(itk::ImageIOBase & io)
{
  std::vector<std::string> files{ io.GetFileName() };
  if (auto * const meta = dynamic_cast<itk::MetaImageIO *>(&io))
  {
    const std::string data = meta->GetMetaImagePointer()->ElementDataFileName();
    files.push_back(itksys::SystemTools::CollapseFullPath(
      data, itksys::SystemTools::GetFilenamePath(itksys::SystemTools::CollapseFullPath(files.front()))));
  }
  return files;
}

/** Checks that no output file is also an input file. \exception std::runtime_error if one is */
void
RequireOtherFiles(const std::string & output, itk::ImageIOBase & io)
{
  for (const std::string & written : GetFilesOf(output))
  {
    for (const std::string & read : GetFilesOf(io))
    {
      if (itksys::SystemTools::FileExists(written) && itksys::SystemTools::SameFile(written, read))
      {
        throw std::runtime_error("'" + written + "' belongs to '" + io.GetFileName() +
                                 "', which is read while the result is written: name another file, or leave out "
                                 "--memory");
      }
    }
  }
}
} // namespace

bool
command::CanSmoothFile(const SmoothJob & job, itk::ImageIOBase & io, size_t memory)
{
  const auto         writer = MakeWriter(job.Output);
  const auto         shape = GetShape(io);
  const unsigned int axis = itk::CudaDetail::CudaGetGaussianSlabShape(MakePlan(job, io), shape, shape).Axis;
  const bool         reads = ReadsParts(io, axis);
  if (reads && WritesParts(*writer))
  {
    RequireOtherFiles(job.Output, io);
    return true;
  }
  // Memory holds the pixels twice (input and result), and one component with its smoothed copy, in float.
  const double needed = 2.0 * static_cast<double>(io.GetImageSizeInBytes()) + 8.0 * shape.GetNumberOfPixels();
  if (needed > static_cast<double>(memory))
  {
    throw std::runtime_error("the format of '" + (reads ? job.Output : io.GetFileName()) + "', " +
                             (reads ? writer->GetNameOfClass() : io.GetNameOfClass()) + ", is not " +
                             (reads ? "written" : "read") + " in parts; the whole image takes " +
                             FormatGigabytes(needed) + ", more than --memory allows. Raw MetaImages (.mha, .mhd) are");
  }
  return false;
}

command::SmoothOutcome
command::SmoothFile(const SmoothJob & job, itk::ImageIOBase & io, size_t memory)
{
  const auto   shape = GetShape(io);
  const auto   slabs = itk::CudaDetail::CudaGetGaussianSlabShape(MakePlan(job, io), shape, shape);
  const size_t needed = GetBytesNeeded(shape, slabs);
  if (needed > memory)
  {
    throw std::runtime_error("--memory allows " + FormatGigabytes(static_cast<double>(memory)) + "; this sigma needs " +
                             FormatGigabytes(static_cast<double>(needed)) + " for the planes of '" + io.GetFileName() +
                             "' that it holds at a time");
  }
  SmoothOutcome outcome;
  const double  bytes = 2.0 * static_cast<double>(io.GetImageSizeInBytes());
  const double  seconds = Seconds([&] {
    PartialWriter writer(job.Output, io, slabs.Axis);
    Progress      progress(bytes);
    io.SetUseStreamedReading(true);
    outcome.Report = RunSlabs(
      job,
      io,
      memory,
      [&](size_t first, size_t planes, void * pixels) {
        outcome.ReadSeconds += Seconds([&] {
          io.SetIORegion(GetPlanes(io, slabs.Axis, first, planes));
          io.Read(pixels);
        });
      },
      [&](size_t first, size_t planes, const void * pixels) {
        outcome.WriteSeconds += Seconds([&] { writer.Write(first, planes, pixels); });
      },
      progress,
      outcome);
    writer.Close();
  });
  outcome.FilterSeconds = seconds - outcome.ReadSeconds - outcome.WriteSeconds;
  return outcome;
}
