// SPDX-License-Identifier: Apache-2.0

// Counts the bytes that a process copies between host and device, by the activity records of CUPTI. The driver loads
// this library where CUDA_INJECTION64_PATH names it, and calls InitializeInjection() when CUDA starts. At its exit the
// process writes the sums as JSON to the file that CUDA_TRAFFIC_FILE names. A kernel that reads or writes page-locked
// memory of the host makes no record.

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace
{
constexpr size_t BufferBytes = size_t{ 1 } << 20;
constexpr size_t BufferAlignment = 8;

/** Copies in one direction. */
struct Copies
{
  std::atomic<uint64_t> Bytes{ 0 };
  std::atomic<uint64_t> Count{ 0 };
};

struct Traffic
{
  Copies                HostToDevice;
  Copies                DeviceToHost;
  Copies                DeviceToDevice;
  Copies                Other;
  std::atomic<uint64_t> LostRecords{ 0 };
  std::string           Error; // what CUPTI refused
};

/** It is never destroyed: CUPTI's thread may hand over records while the process ends. */
Traffic &
GetTraffic()
{
  static auto * const traffic = new Traffic;
  return *traffic;
}

/** Whether the call succeeded. The first failure is kept for the report. */
bool
Check(CUptiResult result, const char * call)
{
  if (result == CUPTI_SUCCESS)
  {
    return true;
  }
  const char * text = nullptr;
  cuptiGetResultString(result, &text);
  if (GetTraffic().Error.empty())
  {
    GetTraffic().Error = std::string(call) + ": " + (text ? text : "unknown error");
  }
  return false;
}

Copies &
GetCopiesOf(uint8_t kind)
{
  switch (kind)
  {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return GetTraffic().HostToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return GetTraffic().DeviceToHost;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return GetTraffic().DeviceToDevice;
    default:
      return GetTraffic().Other;
  }
}

void CUPTIAPI
GiveBuffer(uint8_t ** buffer, size_t * size, size_t * maximumNumberOfRecords)
{
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(BufferAlignment, BufferBytes));
  *size = *buffer ? BufferBytes : 0;
  *maximumNumberOfRecords = 0; // as many as there is room for
}

void CUPTIAPI
TakeBuffer(CUcontext context, uint32_t stream, uint8_t * buffer, size_t, size_t validBytes)
{
  CUpti_Activity * record = nullptr;
  while (validBytes > 0 && cuptiActivityGetNextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS)
  {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
    {
      // All versions of the record begin alike.
      const auto & copy = *reinterpret_cast<const CUpti_ActivityMemcpy6 *>(record);
      Copies &     copies = GetCopiesOf(copy.copyKind);
      copies.Bytes += copy.bytes;
      ++copies.Count;
    }
  }
  size_t lost = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS)
  {
    GetTraffic().LostRecords += lost;
  }
  std::free(buffer);
}

void
WriteCopies(std::FILE * file, const char * name, const Copies & copies)
{
  std::fprintf(file,
               "  \"%s\": {\"bytes\": %llu, \"copies\": %llu},\n",
               name,
               static_cast<unsigned long long>(copies.Bytes),
               static_cast<unsigned long long>(copies.Count));
}

/** CUPTI's error texts hold neither quotes nor backslashes. */
void
WriteReport()
{
  Check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  const char * const name = std::getenv("CUDA_TRAFFIC_FILE");
  std::FILE * const  file = name ? std::fopen(name, "w") : nullptr;
  if (!file)
  {
    std::fprintf(stderr, "cuda_traffic: CUDA_TRAFFIC_FILE is '%s'; it must name a file to write\n", name ? name : "");
    return;
  }
  uint32_t version = 0;
  cuptiGetVersion(&version);
  const Traffic & traffic = GetTraffic();
  std::fprintf(file, "{\n  \"process\": %ld,\n  \"cupti\": %u,\n", static_cast<long>(getpid()), version);
  WriteCopies(file, "host_to_device", traffic.HostToDevice);
  WriteCopies(file, "device_to_host", traffic.DeviceToHost);
  WriteCopies(file, "device_to_device", traffic.DeviceToDevice);
  WriteCopies(file, "other", traffic.Other);
  std::fprintf(file,
               "  \"lost_records\": %llu,\n  \"error\": \"%s\"\n}\n",
               static_cast<unsigned long long>(traffic.LostRecords),
               traffic.Error.c_str());
  std::fclose(file);
}
} // namespace

/** The driver calls it, and asks for 1. */
extern "C" __attribute__((visibility("default"))) int
InitializeInjection()
{
  GetTraffic(); // before the function below, which uses it
  std::atexit(WriteReport);
  if (Check(cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer), "cuptiActivityRegisterCallbacks"))
  {
    Check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), "cuptiActivityEnable");
  }
  return 1;
}
