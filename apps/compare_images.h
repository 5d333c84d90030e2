// SPDX-License-Identifier: Apache-2.0
#ifndef compare_images_h
#define compare_images_h

#include <string>
#include <vector>

namespace command
{
struct CompareJob
{
  std::string         Input; // empty: a cube of Size pixels a side
  unsigned int        Size{ 256 };
  std::vector<double> Sigma; // of each axis: 2 or 3
  int                 Runs{ 5 };
  std::string         RawPrefix; // empty: no raw files
  std::string         Backend;
  int                 DeviceIndex;
};

struct CompareOutcome
{
  std::vector<size_t> Size;
  std::vector<double> Spacing;
  std::string         BackendUsed;
  std::string         BackendReason;
  std::string         Device; // name of the GPU; empty on the host
  double              Milliseconds{ 0.0 };
  double              ItkMilliseconds{ 0.0 };
  float               LargestDifferenceFromFloat32{ 0.0F };
  float               LargestDifferenceFromFloat64{ 0.0F };
};

/** Runs this module's filter and ITK's filter in turn, and compares times and results. */
CompareOutcome
CompareImages(const CompareJob & job);
} // namespace command

#endif
