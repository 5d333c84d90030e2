// SPDX-License-Identifier: Apache-2.0
#include "runtime/Process.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#ifdef __linux__
#  include <sys/resource.h>
#endif

// Reads the limits of this process from its control groups and from the system.

namespace itk::cuda
{
namespace
{
/** The mount point of one cgroup hierarchy, read from /proc/self/mountinfo. */
struct Mount
{
  bool        IsVersion2;
  std::string Root; // path of the mounted group
  std::string Point;
};

/** Paths of this process's control groups, read from /proc/self/cgroup. A path is empty if there is no such group. */
struct Groups
{
  std::string Version1;
  std::string Version2;
};

bool
HasMemory(const std::string & commaSeparated)
{
  return (',' + commaSeparated + ',').find(",memory,") != std::string::npos;
}

/** Parses lines like "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw", which may have any number
 * of fields before the dash. The last field lists the controllers of version 1. */
std::vector<Mount>
ReadMounts(const std::string & root)
{
  std::vector<Mount> mounts;
  std::ifstream      file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);)
  {
    std::istringstream fields(line);
    std::string        field, type, options;
    Mount              mount;
    fields >> field >> field >> field >> mount.Root >> mount.Point;
    while (fields >> field && field != "-")
    {}
    fields >> type >> field >> options;
    mount.IsVersion2 = type == "cgroup2";
    if (mount.IsVersion2 || (type == "cgroup" && HasMemory(options)))
    {
      mounts.push_back(mount);
    }
  }
  return mounts;
}

/** Parses lines like "4:cpu,memory:/path" (version 1) and "0::/path" (version 2). */
Groups
ReadGroups(const std::string & root)
{
  Groups        groups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
  {
    std::istringstream fields(line);
    std::string        number, controllers, path;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (HasMemory(controllers))
    {
      groups.Version1 = path;
    }
    else if (controllers.empty())
    {
      groups.Version2 = path;
    }
  }
  return groups;
}

/** Returns the group's folder relative to the mount point, such as "/a/b". Returns an empty string, which stands for
 * the mount point itself, if the group is outside of the mounted part. This happens in a container that mounts its own
 * group but reports the path that the group has on the host. */
std::string
GetFolder(const Mount & mount, const std::string & group)
{
  const std::string prefix = mount.Root == "/" ? "" : mount.Root;
  const std::string folder = group.substr(0, prefix.size()) == prefix ? group.substr(prefix.size()) : "";
  const bool        isBelow = folder.size() > 1 && folder.front() == '/' && folder.find("/..") == std::string::npos;
  return isBelow ? folder : "";
}

/** Reads a number of bytes from a file. Returns no value for "max", for the number that version 1 writes if there is no
 * limit (the multiple of the page size below 2^63), and for any other text. */
std::optional<size_t>
ReadLimit(const std::string & path)
{
  constexpr uint64_t unlimited = uint64_t{ 1 } << 62;
  std::ifstream      file(path);
  std::string        text;
  std::getline(file, text);
  const char * const end = text.data() + text.size();
  uint64_t           bytes = 0;
  const auto         result = std::from_chars(text.data(), end, bytes);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || bytes >= unlimited)
  {
    return {};
  }
  return static_cast<size_t>(bytes);
}
} // namespace

std::optional<size_t>
GetCgroupMemoryLimit(const std::string & root)
{
  std::optional<size_t> least;
  const Groups          groups = ReadGroups(root);
  for (const Mount & mount : ReadMounts(root))
  {
    const std::string & group = mount.IsVersion2 ? groups.Version2 : groups.Version1;
    const std::string   name = mount.IsVersion2 ? "/memory.max" : "/memory.limit_in_bytes";
    if (group.empty())
    {
      continue;
    }
    std::string folder = GetFolder(mount, group);
    while (true)
    {
      const std::optional<size_t> limit = ReadLimit(root + mount.Point + folder + name);
      least = limit ? std::min(*limit, least.value_or(*limit)) : least;
      if (folder.empty())
      {
        break;
      }
      folder.erase(folder.rfind('/'));
    }
  }
  return least;
}

std::optional<size_t>
GetAddressSpaceLimit()
{
#ifdef __linux__
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
  {
    return static_cast<size_t>(limit.rlim_cur);
  }
#endif
  return {};
}
} // namespace itk::cuda
