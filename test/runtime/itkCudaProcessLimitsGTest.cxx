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
    std::filesystem::remove_all(m_Root);
    std::filesystem::create_directories(m_Root);
  }

  void
  TearDown() override
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

TEST_F(CudaProcessLimits, Limit_of_the_own_group_version_2)
{
  WriteProcess(otherMounts + version2Mount, "0::/job\n");
  Write("/sys/fs/cgroup/job/memory.max", "2147483648\n");
  EXPECT_EQ(GetLimit(), 2 * gibibyte);
}

TEST_F(CudaProcessLimits, Least_limit_of_all_groups_above_version_2)
{
  WriteProcess(version2Mount, "0::/slurm/job_7/step_0/task_3\n");
  Write("/sys/fs/cgroup/slurm/memory.max", "8589934592\n");
  Write("/sys/fs/cgroup/slurm/job_7/memory.max", "4294967296\n");
  Write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  Write("/sys/fs/cgroup/slurm/job_7/step_0/task_3/memory.max", "17179869184\n");
  EXPECT_EQ(GetLimit(), 4 * gibibyte);
}

TEST_F(CudaProcessLimits, Container_sees_its_own_group_as_the_mount_point)
{
  WriteProcess(version2Mount, "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(GetLimit(), gibibyte);
}

TEST_F(CudaProcessLimits, Max_is_no_limit)
{
  WriteProcess(version2Mount, "0::/job\n");
  Write("/sys/fs/cgroup/job/memory.max", "max\n");
  EXPECT_EQ(GetLimit(), std::nullopt);
}

TEST_F(CudaProcessLimits, Limit_of_zero_is_a_limit)
{
  WriteProcess(version2Mount, "0::/job\n");
  Write("/sys/fs/cgroup/job/memory.max", "0\n");
  EXPECT_EQ(GetLimit(), size_t{ 0 });
}

TEST_F(CudaProcessLimits, Least_limit_of_all_groups_above_version_1)
{
  WriteProcess(version1Mount + otherMounts, "5:cpu,cpuacct:/elsewhere\n4:memory:/slurm/job_7\n1:name=systemd:/x\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", unlimitedVersion1);
  Write("/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "3221225472\n");
  Write("/sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(GetLimit(), 2 * gibibyte);
}

TEST_F(CudaProcessLimits, Huge_numbers_of_version_1_are_no_limit)
{
  for (const std::string & number : { unlimitedVersion1,
                                      std::string("9223372036854710272\n"), // with pages of 64 KiB
                                      std::string("9223372036854775807\n"),
                                      std::string("18446744073709551615\n"),
                                      std::string("99999999999999999999999999\n") })
  {
    WriteProcess(version1Mount, "4:memory:/job\n");
    Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", number);
    EXPECT_EQ(GetLimit(), std::nullopt) << number;
  }
}

TEST_F(CudaProcessLimits, Controllers_mounted_together_version_1)
{
  WriteProcess("33 24 0:29 / /sys/fs/cgroup/all rw - cgroup cgroup rw,cpu,memory,pids\n", "4:cpu,memory,pids:/job\n");
  Write("/sys/fs/cgroup/all/job/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(GetLimit(), 2 * gibibyte);
}

TEST_F(CudaProcessLimits, Container_with_the_path_that_its_group_has_on_the_host_version_1)
{
  WriteProcess("33 24 0:29 /docker/4711 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
               "4:memory:/docker/4711/inner\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(GetLimit(), gibibyte);
}

TEST_F(CudaProcessLimits, Group_outside_of_what_is_mounted_leaves_the_mount_point)
{
  for (const std::string group : { "/docker/47112", "/another", "/../sibling", "no path", "/" })
  {
    WriteProcess("33 24 0:29 /docker/4711 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::" + group + "\n");
    Write("/sys/fs/cgroup/memory.max", "2147483648\n");
    Write("/sys/fs/memory.max", "4096\n");
    Write("/sys/fs/sibling/memory.max", "4096\n");
    EXPECT_EQ(GetLimit(), 2 * gibibyte) << group;
  }
}

TEST_F(CudaProcessLimits, Both_versions_at_once)
{
  const std::string unified = "31 24 0:27 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw\n";
  WriteProcess(unified + version1Mount, "4:memory:/job\n0::/user.slice\n");
  Write("/sys/fs/cgroup/unified/user.slice/cgroup.procs", "1\n"); // its memory is controlled by version 1
  Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(GetLimit(), 2 * gibibyte);
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
