// SPDX-License-Identifier: Apache-2.0
#include "runtime/Process.h"

#include "itkCudaFiltersConfiguration.h"
#include "itksys/SystemInformation.hxx"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace
{
using itk::cuda::GetCgroupMemoryLimit;

constexpr size_t gibibyte = size_t{ 1 } << 30;

// Lines as the kernel writes them
const std::string version2Mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw\n";
const std::string version1Mount = "33 24 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n";
const std::string otherMounts = "23 98 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
                                "34 24 0:30 / /sys/fs/cgroup/cpu rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n";
const std::string unlimitedVersion1 = "9223372036854771712\n"; // 2^63 less a page

/** A temporary folder with files of `/proc` and `/sys` that a test writes. It is removed at the end of the test. */
class CudaProcessLimits : public testing::Test
{
protected:
  void
  SetUp() override
  {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    m_Root = std::filesystem::path(testing::TempDir()) / ("CudaProcessLimits-" + name);
    this->RemoveAll();
  }

  void
  TearDown() override
  {
    this->RemoveAll();
  }

  void
  RemoveAll() const
  {
    std::filesystem::remove_all(m_Root);
  }

  void
  Write(const std::string & path, const std::string & text) const
  {
    const std::filesystem::path file = m_Root.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  void
  WriteProcess(const std::string & mounts, const std::string & groups) const
  {
    this->Write("/proc/self/mountinfo", mounts);
    this->Write("/proc/self/cgroup", groups);
  }

  std::optional<size_t>
  GetLimit() const
  {
    return GetCgroupMemoryLimit(m_Root.string());
  }

private:
  std::filesystem::path m_Root;
};
} // namespace

TEST_F(CudaProcessLimits, The_least_limit_of_the_groups_that_are_visible_counts)
{
  using Files = std::vector<std::pair<std::string, std::string>>;
  struct Row
  {
    std::string           What, Mounts, Groups;
    Files                 Limits;
    std::optional<size_t> Expected;
  };
  const std::string version1 = "memory.limit_in_bytes";
  const std::string container = "33 24 0:29 /docker/4711 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  const std::string together = "33 24 0:29 / /sys/fs/cgroup/all rw - cgroup cgroup rw,cpu,memory,pids\n";
  const std::string unified = "31 24 0:27 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw\n";
  std::vector<Row>  rows{
    { "own group, version 2",
       otherMounts + version2Mount,
       "0::/job\n",
       { { "/job/memory.max", "2147483648\n" } },
       2 * gibibyte },
    { "groups above, version 2",
       version2Mount,
       "0::/slurm/job_7/step_0/task_3\n",
       { { "/slurm/memory.max", "8589934592\n" },
         { "/slurm/job_7/memory.max", "4294967296\n" },
         { "/slurm/job_7/step_0/memory.max", "max\n" },
         { "/slurm/job_7/step_0/task_3/memory.max", "17179869184\n" } },
       4 * gibibyte },
    { "a container that sees its group as the mount point",
       version2Mount,
       "0::/\n",
       { { "/memory.max", "1073741824\n" } },
       gibibyte },
    { "max", version2Mount, "0::/job\n", { { "/job/memory.max", "max\n" } }, std::nullopt },
    { "zero", version2Mount, "0::/job\n", { { "/job/memory.max", "0\n" } }, size_t{ 0 } },
    { "groups above, version 1",
       version1Mount + otherMounts,
       "5:cpu,cpuacct:/elsewhere\n4:memory:/slurm/job_7\n1:name=systemd:/x\n",
       { { "/memory/" + version1, unlimitedVersion1 },
         { "/memory/slurm/" + version1, "2147483648\n" },
         { "/memory/slurm/job_7/" + version1, "3221225472\n" },
         { "/memory/elsewhere/" + version1, "4096\n" } },
       2 * gibibyte },
    { "controllers mounted together",
       together,
       "4:cpu,memory,pids:/job\n",
       { { "/all/job/" + version1, "2147483648\n" } },
       2 * gibibyte },
    { "a container with the path that its group has on the host",
       container,
       "4:memory:/docker/4711/inner\n",
       { { "/memory/" + version1, "2147483648\n" }, { "/memory/inner/" + version1, "1073741824\n" } },
       gibibyte },
    { "both versions, and the first controls the memory",
       unified + version1Mount,
       "4:memory:/job\n0::/user.slice\n",
       { { "/unified/user.slice/cgroup.procs", "1\n" }, { "/memory/job/" + version1, "2147483648\n" } },
       2 * gibibyte },
  };
  for (const std::string & number : { unlimitedVersion1,
                                      std::string("9223372036854710272\n"), // with pages of 64 KiB
                                      std::string("9223372036854775807\n"),
                                      std::string("18446744073709551615\n"),
                                      std::string("99999999999999999999999999\n") })
  {
    rows.push_back({ "no limit of version 1, " + number,
                     version1Mount,
                     "4:memory:/job\n",
                     { { "/memory/job/" + version1, number } },
                     std::nullopt });
  }
  // Groups outside of what is mounted leave the mount point.
  for (const std::string group : { "/docker/47112", "/another", "/../sibling", "no path", "/" })
  {
    rows.push_back(
      { "outside, " + group,
        "33 24 0:29 /docker/4711 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "0::" + group + "\n",
        { { "/memory.max", "2147483648\n" }, { "/../memory.max", "4096\n" }, { "/../sibling/memory.max", "4096\n" } },
        2 * gibibyte });
  }
  for (const Row & row : rows)
  {
    this->RemoveAll();
    this->WriteProcess(row.Mounts, row.Groups);
    for (const auto & [file, text] : row.Limits)
    {
      this->Write("/sys/fs/cgroup" + file, text);
    }
    EXPECT_EQ(this->GetLimit(), row.Expected) << row.What;
  }
}

TEST_F(CudaProcessLimits, No_limit_where_files_are_missing)
{
  EXPECT_EQ(GetLimit(), std::nullopt);
  Write("/proc/self/cgroup", "0::/job\n");
  EXPECT_EQ(GetLimit(), std::nullopt);
  Write("/proc/self/mountinfo", version2Mount);
  EXPECT_EQ(GetLimit(), std::nullopt);
}

TEST_F(CudaProcessLimits, No_limit_where_files_are_garbage)
{
  for (const std::string text : { "", "\n", "-5\n", "12 GB\n", "0x1000\n", "1e9\n", "maximum\n", "\x80\xff\n" })
  {
    WriteProcess(version2Mount, "0::/job\n");
    Write("/sys/fs/cgroup/job/memory.max", text);
    EXPECT_EQ(GetLimit(), std::nullopt) << '"' << text << '"';
    WriteProcess(text, "0::/job\n");
    EXPECT_EQ(GetLimit(), std::nullopt) << '"' << text << '"';
    WriteProcess(version2Mount, text);
    EXPECT_EQ(GetLimit(), std::nullopt) << '"' << text << '"';
  }
}

TEST_F(CudaProcessLimits, Default_cache_limit_is_an_eighth_of_the_least_memory_and_8_GiB_at_most)
{
  itksys::SystemInformation system;
  system.RunMemoryCheck();
  size_t memory = static_cast<size_t>(system.GetTotalPhysicalMemory()) << 20;
  memory = std::min(memory, GetCgroupMemoryLimit().value_or(memory));
  memory = std::min(memory, itk::cuda::GetAddressSpaceLimit().value_or(memory));
  EXPECT_EQ(itk::CudaFiltersConfiguration::GetHostCacheLimit(), std::min(memory / 8, 8 * gibibyte));
}
