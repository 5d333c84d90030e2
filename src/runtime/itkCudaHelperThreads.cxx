// SPDX-License-Identifier: Apache-2.0
#include "itkCudaHelperThreads.h"

#include "itkCudaSettings.h"

#include <algorithm>

namespace itk::cuda
{
std::atomic<unsigned int> HelperThreads::s_Active{ 0 };

HelperThreads::HelperThreads(unsigned int wanted)
{
  const unsigned int limit = GetNumberOfTransferThreads();
  unsigned int       active = s_Active;
  do
  {
    m_Number = std::min(wanted, limit - std::min(limit, active));
  } while (!s_Active.compare_exchange_weak(active, active + m_Number));
}

HelperThreads::~HelperThreads()
{
  this->Join();
  s_Active -= m_Number;
}
} // namespace itk::cuda
